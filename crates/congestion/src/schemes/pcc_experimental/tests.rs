//! Tests of the utility's terms, and of decisions from made-up utilities.

use super::*;
use crate::testing::Driver;

fn scheme(settings: &[(&str, &str)]) -> PccExperimental {
    let mut parameters = Parameters::defaults(ENTRY.parameters);
    for (name, value) in settings {
        parameters.set(name, value).unwrap();
    }
    let start = Start { now: Time::ZERO, mss_bytes: 1356, initial_window_bytes: 13_560, seed: 1 };
    PccExperimental::new(&parameters, &start)
}

/// Returns a scheme in PROBING at `rate` Mi bit/s.
fn probing(rate: f64) -> PccExperimental {
    let mut scheme = scheme(&[]);
    (scheme.mode, scheme.rate) = (Mode::Probing, rate);
    scheme
}

fn outcome(rate: f64, utility: f64) -> Outcome {
    Outcome { rate, utility }
}

fn samples(rtts_ms: &[u64]) -> Vec<RttSample> {
    let sample = |ms: &u64| RttSample { number: 0, rtt: Span::from_ms(*ms), is_reliable: true };
    rtts_ms.iter().map(sample).collect()
}

#[test]
fn inflation_counts_in_whole_multiples_of_two_percent() {
    assert_eq!([0.0199, 0.02, 0.039, -0.05].map(rounded), [0.0, 0.02, 0.02, -0.04]);
    // 29 / 100 * 100 is a little less than 29 in floating point.
    assert_eq!((rounded(0.29), rounded(0.30)), (0.28, 0.30));
    assert_eq!(rounded(inflation(&samples(&[20]))), UNDEFINED_INFLATION);
}

#[test]
fn inflation_is_the_difference_of_the_halves_over_their_mean() {
    assert_eq!(inflation(&samples(&[20, 20, 30, 30])), 0.4);
    // The last sample of an odd number is left out.
    assert_eq!(inflation(&samples(&[20, 30, 99])), 0.4);
}

#[test]
fn the_utility_of_an_interval() {
    let utility = |settings: &[(&str, &str)], lost: u64, rtts_ms: [u64; 2]| {
        let mut scheme = scheme(settings);
        scheme.srtt = Span::from_ms(10);
        scheme.open(Time::ZERO);
        // 100 packets of 131.072 kB in total over 100 ms: 10 Mi bit/s.
        for number in 0..100 {
            let at = Time::ZERO + Span::from_us(number * 100_000 / 99);
            scheme.monitor.on_sent(
                at,
                number,
                if number == 0 { 1424 } else { 1309 } + u64::from(number > 43),
            );
        }
        for number in 0..100 {
            if number < lost {
                scheme.monitor.on_lost(number, 1310);
                continue;
            }
            let rtt = Span::from_ms(rtts_ms[usize::from(number >= lost + (100 - lost) / 2)]);
            scheme.monitor.on_acked(0, RttSample { number, rtt, is_reliable: true });
        }
        let interval = scheme.monitor.useful_intervals().next().unwrap();
        let x = interval.sent_bytes as f64 * 8.0 / 0.1 / MI;
        (x, scheme.utility(interval))
    };
    let close = |(x, utility): (f64, f64), cost: f64| {
        let expected = libm::pow(x, 0.9) - x * cost;
        assert!((utility - expected).abs() < 2e-3 * expected.abs(), "{utility} instead of {expected}");
        assert!((x - 10.0).abs() < 0.1, "{x}");
    };
    close(utility(&[], 0, [100, 101]), 0.0);
    // The cost of loss is the loss rate up to 3 %, and 11.35 times the loss rate above.
    close(utility(&[], 2, [100, 101]), 0.02);
    close(utility(&[], 5, [100, 101]), 11.35 * 0.05);
    // 3.9 % inflation count as 2 %, times bytes per packet; without the quirk the factor is one.
    let bytes = utility(&[], 0, [100, 104]);
    assert!(bytes.1 < -0.9 * 10.0 * 11330.0 * 0.02 * 1309.0, "{bytes:?}");
    close(utility(&[("bytes_quirk", "off")], 0, [100, 104]), 11330.0 * 0.02);
}

#[test]
fn starting_doubles_while_utility_grows_and_then_halves() {
    let mut scheme = scheme(&[]);
    let first = scheme.rate;
    assert!((first * MI - 11.2e6).abs() < 1.0);
    scheme.decide(&[outcome(10.0, 8.0)]);
    scheme.decide(&[outcome(20.0, 14.0)]);
    assert_eq!((scheme.rate, scheme.mode), (4.0 * first, Mode::Starting));
    scheme.decide(&[outcome(40.0, 14.0)]);
    assert_eq!((scheme.rate, scheme.mode), (2.0 * first, Mode::Probing));
}

#[test]
fn an_inflated_rtt_ends_starting_at_once() {
    let mut driver = Driver::new(&ENTRY, &[]);
    (driver.next_number, driver.rtt) = (0, Span::from_ms(20));
    let rate = driver.field("rate");
    driver.send();
    driver.ack(1);
    (0..4).for_each(|_| driver.send());
    driver.rtt = Span::from_us(25_900);
    driver.ack(1);
    assert_eq!((driver.field("rate"), driver.field("mode")), (rate, 0.0));
    driver.rtt = Span::from_us(26_100);
    driver.ack(1);
    assert_eq!((driver.field("rate"), driver.field("mode")), (rate / 2.0, 1.0));
}

#[test]
fn probes_are_pairs_around_the_rate_and_then_the_plain_rate() {
    let mut scheme = probing(20.0);
    scheme.srtt = Span::from_ms(20);
    let mut rates = vec![];
    for interval in 0..6 {
        let now = Time::ZERO + Span::from_ms(40 * interval);
        let number = 2 * interval;
        let sent = |now, number| Sent {
            now,
            number,
            bytes: 1356,
            in_flight_bytes: 0,
            retransmission: false,
            filler: false,
            frame: 0,
            frame_end: false,
            idle_timeouts: 0,
        };
        scheme.on_sent(&sent(now, number));
        scheme.on_sent(&sent(now + Span::from_ms(1), number + 1));
        rates.push(scheme.monitor.current().unwrap().terms.rate);
    }
    for pair in rates[..4].chunks(2) {
        let mut pair = pair.to_vec();
        pair.sort_by(f64::total_cmp);
        assert!((pair[0] - 19.0).abs() < 1e-6 && (pair[1] - 21.0).abs() < 1e-5, "{pair:?}");
    }
    assert_eq!(rates[4..], [20.0, 20.0]);
    // Pacing counts payload: 1356 of 1400 bytes.
    let pacing = scheme.control().pacing.unwrap().bps();
    assert_eq!(pacing, (20.0 * MI * 1356.0 / 1400.0).round() as u64);
}

#[test]
fn disagreeing_pairs_repeat_the_probes() {
    let mut scheme = probing(20.0);
    let (low, high) = (outcome(19.0, 1.0), outcome(21.0, 2.0));
    scheme.decide(&[low, high, outcome(19.0, 2.0), outcome(21.0, 1.0)]);
    assert_eq!((scheme.rate, scheme.mode), (20.0, Mode::Probing));
    scheme.decide(&[low, high, high, low]);
    // A gradient of 0.5 is half a Mi, the minimum step.
    assert_eq!((scheme.rate, scheme.mode), (20.5, Mode::DecisionMade));
}

#[test]
fn steps_go_on_in_their_direction_and_a_turn_divides_by_one_step() {
    let mut scheme = probing(20.0);
    scheme.decide(&[outcome(19.0, 1.0), outcome(21.0, 2.0), outcome(19.0, 1.0), outcome(21.0, 2.0)]);
    // From 21 Mi with utility 2 to 20.5 Mi: less utility at a lower rate, so the direction stays upwards.
    scheme.decide(&[outcome(20.5, 1.8)]);
    assert_eq!((scheme.rate, scheme.mode), (21.0, Mode::DecisionMade));
    scheme.decide(&[outcome(21.0, 1.0)]);
    assert_eq!((scheme.rate, scheme.mode), (21.0 / 1.02, Mode::Probing));
    // The refused step did not change the direction.
    assert_eq!(scheme.step.previous(), 0.5);
}

/// Tests the source's single precision in both directions.
#[test]
fn a_bounded_step_ends_just_above_the_probe() {
    for up in [true, false] {
        let mut scheme = probing(40.0);
        let (upper, lower) = (40.0 * scheme.probes.0, 40.0 * scheme.probes.1);
        let (high, low) = (outcome(upper, f64::from(u8::from(up)) * 1e6), outcome(lower, 5e5));
        scheme.decide(&[high, low, high, low]);
        let beyond = scheme.rate - scheme.latest.rate;
        assert!(beyond > 0.0 && beyond < 1e-5, "{beyond:e}");
    }
}

#[test]
fn steps_are_bounded_and_stop_at_the_floor() {
    let mut scheme = probing(20.0);
    let (low, high) = (outcome(19.0, 100.0), outcome(21.0, 1.0));
    scheme.decide(&[low, high, low, high]);
    assert!((scheme.rate - 19.0).abs() < 1e-6, "{}", scheme.rate); // 5 % of 20
    scheme.decide(&[outcome(18.9, 200.0)]);
    assert!((scheme.rate - 19.0 * 0.89).abs() < 1e-5, "{}", scheme.rate);
    let mut scheme = probing(2.1);
    scheme.decide(&[outcome(1.995, 100.0), outcome(2.205, 1.0), outcome(1.995, 100.0), outcome(2.205, 1.0)]);
    assert_eq!(scheme.rate, 2.0);
}

/// Tests a fixed defect. In PCCproject/PCC-Uspace@cd43e34, `src/pcc/pcc_monitor_interval_queue.cpp`, an interval's end
/// is set at its beginning. If it followed 1.5 times the present RTT, a growing queue would lengthen the interval that
/// fills it.
#[test]
fn an_interval_keeps_the_length_it_began_with() {
    let mut scheme = scheme(&[]);
    let send = |scheme: &mut PccExperimental, number: u64, ms: u64| {
        let now = Time::ZERO + Span::from_ms(ms);
        scheme.on_sent(&Sent {
            now,
            number,
            bytes: 1456,
            in_flight_bytes: 1456,
            retransmission: false,
            filler: false,
            frame: 0,
            frame_end: false,
            idle_timeouts: 0,
        });
        scheme
            .monitor
            .current()
            .map(|current| (current.first_sent_at.as_ns() / 1_000_000, current.sent_bytes))
    };
    scheme.srtt = Span::from_ms(100);
    // Only payload counts.
    assert_eq!(send(&mut scheme, 0, 0), Some((0, 1456)));
    scheme.srtt = Span::from_ms(400);
    assert_eq!(send(&mut scheme, 1, 150), Some((0, 2912)));
    assert_eq!(send(&mut scheme, 2, 151), Some((151, 1456)));
    scheme.srtt = Span::from_ms(20);
    assert_eq!(send(&mut scheme, 3, 700), Some((151, 2912)), "600 ms, not 30");
}
