//! Tests of PCC's utility, start, probing and moving, against sequences worked out by hand.

use super::*;
use crate::Controller;

fn pcc(settings: &[(&str, &str)]) -> Pcc {
    let mut parameters = Parameters::defaults(ENTRY.parameters);
    for (name, value) in settings {
        parameters.set(name, value).unwrap();
    }
    let start = Start { now: Time::ZERO, mss_bytes: 1420, initial_window_bytes: 14_200, seed: 1 };
    Pcc::new(&parameters, &start)
}

/// Returns an interval of one second with an RTT of 20 ms.
fn ended(number: u32, packets: f64, lost: f64) -> Ended {
    let rtt = Span::from_ms(20);
    Ended { number, current: number + 3, rate: 0.0, packets, lost, seconds: 1.0, rtt, slope: None }
}

/// Returns a scheme after the start, at 100 Mbit/s, with the paper's utility: without loss more packets are better.
fn probing() -> Pcc {
    let mut pcc = pcc(&[("utility", "paper"), ("initial_rate", "50")]);
    pcc.begin(0);
    pcc.on_interval_end(&Ended { rate: 100.0, ..ended(0, 500.0, 0.0) });
    pcc.begin(1);
    pcc.on_interval_end(&ended(1, 1.0, 0.0));
    assert_eq!((pcc.phase, pcc.rate), (Phase::Probing, 100.0));
    pcc
}

/// Sends four probes from interval `first` on; in each pair the higher (`true`) or the lower one is better.
fn probe(pcc: &mut Pcc, first: u32, higher_wins: [bool; 2]) {
    for number in first..first + 4 {
        pcc.begin(number);
    }
    let probes = pcc.probes;
    for (pair, wins) in higher_wins.into_iter().enumerate() {
        for at in [2 * pair, 2 * pair + 1] {
            let is_higher = probes[at].rate > probes[at ^ 1].rate;
            let packets = if is_higher == wins { 200.0 } else { 100.0 };
            pcc.on_interval_end(&ended(first + at as u32, packets, 0.0));
        }
    }
}

#[test]
fn the_rtt_term_is_one_half_while_the_rtt_stays() {
    let mut pcc = pcc(&[]);
    let no_loss = 1.0 / (1.0 + libm::exp(-5.0));
    for _ in 0..2 {
        let utility = pcc.utility(&ended(0, 100.0, 0.0));
        assert!((utility - 100.0 * no_loss * 0.5 / 20_000.0 * 1000.0).abs() < 1e-12, "{utility}");
    }
    // With 1 % more RTT the term falls from 0.5 to 1 / (1 + e^0.099), and the division costs 1 % more; 5.9 % in total.
    let longer = Ended { rtt: Span::from_us(20_200), ..ended(0, 100.0, 0.0) };
    let fall = 1.0 - pcc.utility(&longer) / (100.0 * no_loss * 0.5 / 20.0);
    assert!((fall - 0.059).abs() < 0.001, "{fall}");
}

#[test]
fn five_percent_of_loss_halve_the_throughput_term() {
    let mut pcc = pcc(&[("utility", "paper")]);
    assert!((pcc.utility(&ended(0, 100.0, 5.0)) - (95.0 * 0.5 - 5.0)).abs() < 1e-9);
}

#[test]
fn the_start_doubles_with_every_interval_sent() {
    let mut pcc = pcc(&[]);
    let rates: Vec<f64> = (0..4)
        .map(|number| {
            pcc.begin(number);
            pcc.rate
        })
        .collect();
    assert_eq!(rates, [2.0, 4.0, 8.0, 16.0]);
}

#[test]
fn a_skipped_interval_ends_the_start_at_the_last_accepted_rate() {
    let mut pcc = pcc(&[]);
    (0..4).for_each(|number| pcc.begin(number));
    pcc.on_interval_end(&Ended { rate: 2.0, ..ended(0, 100.0, 0.0) });
    pcc.on_interval_end(&Ended { rate: 8.0, ..ended(2, 900.0, 0.0) });
    assert_eq!((pcc.phase, pcc.rate, pcc.base_rate), (Phase::Probing, 2.0, 2.0));
}

#[test]
fn probes_widen_from_1_to_5_percent_while_the_pairs_disagree() {
    let mut pcc = probing();
    let mut shares = vec![];
    for round in 0..7 {
        probe(&mut pcc, 4 * round + 2, [true, false]);
        assert_eq!((pcc.phase, pcc.base_rate), (Phase::Probing, 100.0));
        shares.push(((pcc.probes[0].rate - 100.0).abs()).round());
    }
    assert_eq!(shares, [1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 2.0]);
}

#[test]
fn a_decision_moves_by_1_2_and_3_percent_and_takes_the_last_step_back() {
    let mut pcc = probing();
    probe(&mut pcc, 2, [true, true]);
    // The probe that decided was interval 5, with interval 8 current: interval 9 is the first at the new rate.
    assert_eq!(pcc.phase, Phase::FirstStep { target: 9 });
    assert!((pcc.rate - 101.0).abs() < 1e-9);
    pcc.on_interval_end(&ended(8, 1.0, 0.0)); // begun before the decision: ignored
    pcc.on_interval_end(&ended(9, 300.0, 0.0));
    assert!((pcc.rate - 101.0 * 1.02).abs() < 1e-9, "{}", pcc.rate);
    pcc.on_interval_end(&ended(13, 400.0, 0.0));
    assert!((pcc.rate - 101.0 * 1.02 * 1.03).abs() < 1e-9, "{}", pcc.rate);
    pcc.on_interval_end(&ended(17, 350.0, 0.0));
    assert!((pcc.rate - 101.0 * 1.02 * 1.03 * 0.97).abs() < 1e-9, "{}", pcc.rate);
    assert_eq!(pcc.phase, Phase::Probing);
}

#[test]
fn a_decision_at_the_second_attempt_steps_2_percent_and_ties_count_for_less() {
    let mut pcc = probing();
    probe(&mut pcc, 2, [false, true]);
    probe(&mut pcc, 6, [false, false]);
    assert!((pcc.rate - 98.0).abs() < 1e-9, "{}", pcc.rate);
    let tie = Probe { rate: 1.0, utility: 5.0 };
    assert_eq!(prefers_higher(tie, Probe { rate: 2.0, ..tie }), -1.0);
}

#[test]
fn a_sender_that_cannot_keep_up_takes_what_it_measured() {
    let mut pcc = pcc(&[("utility", "paper"), ("initial_rate", "200")]);
    pcc.base_rate = 400.0;
    // 20000 packets of 1500 bytes in a second are 240 Mbit/s.
    assert!(pcc.resynchronise(&ended(0, 20_000.0, 0.0)));
    assert_eq!((pcc.rate, pcc.phase), (240.0, Phase::Probing));
    pcc.base_rate = 250.0;
    assert!(!pcc.resynchronise(&ended(0, 20_000.0, 0.0)));
}

#[test]
fn intervals_last_one_and_a_half_round_trips_or_ten_packets() {
    let mut pcc = pcc(&[]);
    pcc.srtt_ms = 24.0;
    pcc.rate = 40.0;
    // 24 ms at a gap of 0.2928 ms are 81.97 packets; times 1.5, 1.6 or 1.7.
    let lengths: Vec<u64> = (0..50).map(|_| pcc.interval_packets()).collect();
    assert!([122, 131, 139].iter().all(|length| lengths.contains(length)));
    assert!(lengths.iter().all(|length| [122, 131, 139].contains(length)));
    pcc.rate = 2.0;
    assert_eq!(pcc.interval_packets(), 10);
}

#[test]
fn the_rtt_is_smoothed_once_per_10_ms() {
    let mut pcc = pcc(&[]);
    let at = |ms: u64| Time::from_ns(ms * 1_000_000);
    pcc.first_sent = Some(at(460));
    // Exchanges happen at 480, 490 and 500 ms, an RTT after the first packet and later; the next one is at 510 ms.
    pcc.smooth_rtt(at(500), Span::from_ms(20));
    pcc.smooth_rtt(at(505), Span::from_ms(20));
    let after_three = 20.0 + 80.0 * 0.875 * 0.875 * 0.875;
    assert!((pcc.srtt_ms - after_three).abs() < 1e-9);
    pcc.smooth_rtt(at(535), Span::from_ms(20));
    assert!((pcc.srtt_ms - (20.0 + (after_three - 20.0) * 0.875 * 0.875 * 0.875)).abs() < 1e-9);
}

#[test]
fn the_rate_counts_headers() {
    let flow = Monitored::new(pcc(&[]), RING, false);
    // Before the first interval one packet leaves per 10 ms.
    let pacing = flow.control().pacing.unwrap();
    assert_eq!(pacing.time_for(1420), Span::from_ms(10));
}
