//! Hand-computed sequences. Packets have 1000 bytes and the RTT is 100 ms, so 10 Mbit/s are a BDP of 125 packets.

use super::*;
use crate::testing::Driver;

const STARTUP: f64 = 0.0;
const DRAIN: f64 = 1.0;
const PROBE_BW: f64 = 2.0;
const PROBE_RTT: f64 = 3.0;

/// Returns a driver for which every ACK is a round, without the allowance for ACK aggregation.
fn driver() -> Driver {
    Driver::new(&ENTRY, &[("extra_acked", "off")])
}

/// Runs one round that delivers one packet at `mbps`, an RTT after the previous one.
fn round(driver: &mut Driver, mbps: f64) {
    driver.now += driver.rtt;
    driver.rate = Some(Rate::from_mbps(mbps));
    driver.prior_delivered_bytes = None;
    driver.ack(1);
}

/// Delivers another ACK of the same round.
fn ack_within_round(driver: &mut Driver) {
    driver.prior_delivered_bytes = Some(0);
    driver.ack(1);
}

/// Returns a driver in `PROBE_BW` at 10 Mbit/s with 125 packets in flight.
fn probing() -> Driver {
    let mut driver = driver();
    driver.in_flight_packets = 125.0;
    (0..4).for_each(|_| round(&mut driver, 10.0));
    assert_eq!(driver.field("mode"), PROBE_BW);
    driver
}

fn instance(seed: u64) -> Bbr {
    let start = Start { now: Time::ZERO, mss_bytes: 1000, initial_window_bytes: 10_000, seed };
    Bbr::new(&Parameters::defaults(ENTRY.parameters), &start)
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more_bandwidth() {
    let mut driver = driver();
    driver.in_flight_packets = 300.0;
    round(&mut driver, 8.0);
    round(&mut driver, 10.0); // exactly 25 % more
    assert_eq!(driver.field("full_bw"), 10.0);
    round(&mut driver, 12.4); // 24 % more: first
    round(&mut driver, 12.4); // second
    assert_eq!(driver.field("mode"), STARTUP);
    round(&mut driver, 12.4); // third
    assert_eq!(driver.field("mode"), DRAIN);
    assert_eq!(driver.field("pacing_gain"), 0.34375);
    assert_eq!(driver.field("round_count"), 5.0);
}

#[test]
fn growth_starts_the_count_of_startup_again() {
    let mut driver = driver();
    for mbps in [10.0, 10.0, 10.0, 12.5, 12.5, 12.5] {
        round(&mut driver, mbps);
        assert_eq!(driver.field("mode"), STARTUP);
    }
    round(&mut driver, 12.5);
    assert_eq!(driver.field("mode"), PROBE_BW); // DRAIN is over at once: 10 packets are less than a BDP
}

#[test]
fn application_limited_rounds_do_not_end_startup() {
    let mut driver = driver();
    round(&mut driver, 10.0);
    driver.app_limited = true;
    (0..10).for_each(|_| round(&mut driver, 5.0));
    assert_eq!((driver.field("mode"), driver.field("bw")), (STARTUP, 10.0));
    round(&mut driver, 20.0); // a larger sample counts all the same
    assert_eq!(driver.field("bw"), 20.0);
}

#[test]
fn drain_ends_when_one_bdp_is_in_flight() {
    let mut driver = driver();
    driver.in_flight_packets = 300.0;
    (0..4).for_each(|_| round(&mut driver, 10.0));
    assert_eq!(driver.field("mode"), DRAIN);
    // 125 packets and 3 quanta of 3: the pacing rate is still STARTUP's, 10 * 2.887 * 0.99 = 28.6 Mbit/s. The next ACK
    // paces at 0.34375 * 9.9 = 3.4 Mbit/s. Then a quantum is 2 packets: 125 + 6, rounded up to 132.
    round(&mut driver, 10.0);
    driver.in_flight_packets = 133.0;
    ack_within_round(&mut driver);
    assert_eq!(driver.field("mode"), DRAIN);
    driver.in_flight_packets = 132.0;
    ack_within_round(&mut driver);
    assert_eq!(driver.field("mode"), PROBE_BW);
}

#[test]
fn bandwidth_is_the_maximum_of_ten_rounds() {
    let mut driver = driver();
    round(&mut driver, 20.0);
    (0..10).for_each(|_| round(&mut driver, 10.0));
    assert_eq!(driver.field("bw"), 20.0);
    round(&mut driver, 10.0);
    assert_eq!(driver.field("bw"), 10.0);
}

#[test]
fn the_gain_cycle_is_up_down_and_six_times_level() {
    let mut driver = probing();
    while driver.field("pacing_gain") != 1.25 {
        driver.now += Span::from_ms(1); // a phase lasts longer than one minimum RTT
        round(&mut driver, 10.0);
    }
    // Up lasts until 1.25 BDP are in flight: 157 + 6 = 163, even 164, and 2 more in this phase. The ACK removes one
    // packet; the two packets of the quantum that leaves next count.
    driver.now += Span::from_ms(1);
    driver.in_flight_packets = 162.0;
    round(&mut driver, 10.0);
    assert_eq!(driver.field("pacing_gain"), 1.25);
    driver.in_flight_packets = 163.0;
    round(&mut driver, 10.0);
    assert_eq!(driver.field("pacing_gain"), 0.75);
    // Down ends early once the queue is gone: 131 in flight and 1 acknowledged are 132.
    driver.in_flight_packets = 131.0;
    driver.now += Span::from_ms(10);
    ack_within_round(&mut driver);
    for phase in 2..8 {
        assert_eq!(driver.field("pacing_gain"), 1.0, "phase {phase}");
        driver.now += Span::from_ms(100);
        ack_within_round(&mut driver); // exactly one minimum RTT is not enough
        assert_eq!(driver.field("pacing_gain"), 1.0, "phase {phase}");
        driver.now += Span::from_ms(1);
        ack_within_round(&mut driver);
    }
    assert_eq!(driver.field("pacing_gain"), 1.25);
}

#[test]
fn loss_ends_the_probing_phase_after_one_minimum_rtt() {
    let mut driver = probing();
    while driver.field("pacing_gain") != 1.25 {
        driver.now += Span::from_ms(1);
        round(&mut driver, 10.0);
    }
    driver.lost_bytes = 1000;
    ack_within_round(&mut driver);
    assert_eq!(driver.field("pacing_gain"), 1.25);
    driver.now += Span::from_ms(101);
    ack_within_round(&mut driver);
    assert_eq!(driver.field("pacing_gain"), 0.75);
}

#[test]
fn the_cycle_starts_in_any_phase_but_the_draining_one() {
    let mut seen = [0; 8];
    for seed in 0..700 {
        let mut bbr = instance(seed);
        bbr.enter_probe_bw(Time::ZERO);
        seen[bbr.cycle_index as usize] += 1;
    }
    assert_eq!(seen[1], 0);
    // 700 draws over seven phases give 100 each, with a standard deviation of 9.3; the bounds are five deviations.
    assert!(
        seen.iter().enumerate().all(|(phase, count)| phase == 1 || (54..146).contains(count)),
        "{seen:?}"
    );
}

#[test]
fn the_window_is_two_bdp_and_three_quanta() {
    let mut driver = probing();
    for _ in 0..300 {
        driver.now += Span::from_ms(1);
        ack_within_round(&mut driver);
    }
    // 250 + 3 * 2 = 256, and 2 more while probing up.
    let up = if driver.field("pacing_gain") == 1.25 { 2.0 } else { 0.0 };
    assert_eq!(driver.field("cwnd"), 256.0 + up);
}

#[test]
fn pacing_stays_one_percent_below_the_bandwidth_and_bursts_are_a_millisecond() {
    let mut driver = driver();
    // Without an RTT, 10 packets per ms at 2.887 x 0.99 are 228.6 Mbit/s.
    assert!((driver.field("pacing_rate") - 80.0 * 739.0 / 256.0 * 0.99).abs() < 1e-5);
    driver.in_flight_packets = 300.0;
    (0..5).for_each(|_| round(&mut driver, 100.0));
    driver.in_flight_packets = 1250.0;
    while driver.field("pacing_gain") != 1.0 {
        driver.now += Span::from_ms(1);
        driver.lost_bytes = 1;
        round(&mut driver, 100.0);
    }
    assert_eq!(driver.field("pacing_rate"), 99.0);
    // 99e6 / 8 / 1024 = 12,085 bytes: 12 packets.
    assert_eq!(driver.control().burst_bytes, 12_000);
}

#[test]
fn the_first_rtt_sets_the_pacing_rate_from_the_window() {
    let mut driver = driver();
    round(&mut driver, 0.001);
    // The pacing rate starts from 10 packets of 8000 bit per 100 ms.
    assert!((driver.field("pacing_rate") - 0.8 * 739.0 / 256.0 * 0.99).abs() < 1e-5);
}

#[test]
fn probe_rtt_comes_after_ten_seconds_and_lasts_200_ms_and_a_round() {
    let mut driver = probing();
    let cwnd = driver.field("cwnd");
    driver.rtt = Span::from_ms(101); // never again as short as the minimum, whose last sample is now
    driver.now += Span::from_secs(10);
    ack_within_round(&mut driver);
    assert_eq!(driver.field("mode"), PROBE_BW);
    let cwnd = cwnd + 1.0;
    assert_eq!(driver.field("cwnd"), cwnd);
    driver.now += Span::from_ns(1);
    ack_within_round(&mut driver);
    assert_eq!((driver.field("mode"), driver.field("cwnd")), (PROBE_RTT, 4.0));
    assert_eq!(driver.field("min_rtt"), 101.0);
    // The clock starts when four packets are in flight.
    driver.now += Span::from_secs(1);
    driver.in_flight_packets = 5.0;
    ack_within_round(&mut driver);
    driver.in_flight_packets = 4.0;
    ack_within_round(&mut driver);
    driver.now += Span::from_ms(201);
    ack_within_round(&mut driver);
    assert_eq!(driver.field("mode"), PROBE_RTT); // 200 ms, but no round yet
    driver.prior_delivered_bytes = None;
    driver.ack(1);
    assert_eq!(driver.field("mode"), PROBE_BW);
    assert!(driver.field("cwnd") >= cwnd);
}

#[test]
fn probe_rtt_also_lasts_200_ms_when_rounds_are_short() {
    let mut driver = probing();
    driver.rtt = Span::from_ms(101);
    driver.now += Span::from_secs(11);
    driver.in_flight_packets = 4.0;
    driver.ack(1);
    assert_eq!(driver.field("mode"), PROBE_RTT);
    driver.now += Span::from_ms(200);
    driver.prior_delivered_bytes = None;
    driver.ack(1);
    assert_eq!(driver.field("mode"), PROBE_RTT);
    driver.now += Span::from_ns(1);
    driver.ack(1);
    assert_eq!(driver.field("mode"), PROBE_BW);
}

#[test]
fn the_small_window_of_probe_rtt_does_not_lower_the_bandwidth() {
    let mut driver = probing();
    driver.rtt = Span::from_ms(101);
    driver.now += Span::from_secs(11);
    driver.in_flight_packets = 50.0; // so the mode stays
    (0..30).for_each(|_| round(&mut driver, 0.3));
    assert_eq!((driver.field("mode"), driver.field("bw")), (PROBE_RTT, 10.0));
}

#[test]
fn restarting_from_idle_postpones_probe_rtt_and_paces_at_the_bandwidth() {
    let mut driver = probing();
    driver.rtt = Span::from_ms(101);
    driver.app_limited = true;
    ack_within_round(&mut driver);
    driver.now += Span::from_secs(11);
    driver.in_flight_packets = 1.0;
    driver.send();
    assert!((driver.field("pacing_rate") - 9.9).abs() < 1e-6);
    ack_within_round(&mut driver);
    assert_eq!(driver.field("mode"), PROBE_BW);
}

#[test]
fn recovery_conserves_packets_for_a_round_and_gives_the_window_back() {
    let mut driver = probing();
    let before = driver.field("cwnd");
    driver.in_flight_packets = 5.0;
    driver.in_recovery = true;
    driver.lose(3, true);
    driver.lost_bytes = 3000;
    driver.prior_delivered_bytes = Some(0);
    driver.ack(2);
    assert_eq!(driver.field("cwnd"), 7.0); // 5 in flight + 2 acknowledged
    driver.lost_bytes = 1000;
    driver.lose(1, false);
    ack_within_round(&mut driver);
    assert_eq!(driver.field("cwnd"), 6.0); // 7 - 1 lost, as 5 + 1 is no more
    driver.lost_bytes = 0;
    round(&mut driver, 10.0);
    assert_eq!(driver.field("cwnd"), 7.0); // the next round grows again
    driver.in_recovery = false;
    ack_within_round(&mut driver);
    assert_eq!(driver.field("cwnd"), before + 1.0);
}

#[test]
fn an_episode_within_recovery_neither_restores_nor_conserves_again() {
    let mut driver = probing();
    let before = driver.field("cwnd");
    driver.in_recovery = true;
    driver.in_flight_packets = 5.0;
    driver.lose(1, true);
    ack_within_round(&mut driver);
    assert_eq!(driver.field("cwnd"), 6.0); // 5 in flight + 1 acknowledged
    round(&mut driver, 10.0);
    assert_eq!(driver.field("cwnd"), 7.0); // the first round is over
    // The transport begins a new episode here; Linux stays in its recovery.
    driver.lose(1, true);
    driver.lost_bytes = 1000;
    ack_within_round(&mut driver);
    assert_eq!(driver.field("cwnd"), 7.0); // one lost, one acknowledged
    driver.in_flight_packets = 1.0;
    driver.lost_bytes = 0;
    ack_within_round(&mut driver);
    assert_eq!(driver.field("cwnd"), 8.0);
    driver.in_recovery = false;
    ack_within_round(&mut driver);
    assert_eq!(driver.field("cwnd"), before + 1.0);
}

#[test]
fn an_episode_of_marks_is_no_recovery() {
    let mut driver = probing();
    let before = driver.field("cwnd");
    driver.in_flight_packets = 5.0;
    driver.in_recovery = true;
    ack_within_round(&mut driver);
    assert_eq!(driver.field("cwnd"), before + 1.0);
}

#[test]
fn a_lost_retransmission_after_a_timeout_begins_recovery_and_other_losses_do_not() {
    for (retransmission, expected, acks) in [(false, 4.0, 4), (true, 3.0, 1)] {
        let mut driver = probing();
        let before = driver.field("cwnd");
        driver.in_flight_packets = 5.0;
        driver.timeout(false);
        driver.in_flight_packets = 2.0;
        driver.in_recovery = true;
        driver.retransmission = retransmission;
        driver.lose(1, true);
        ack_within_round(&mut driver);
        // The window is the minimum one, or the 2 in flight plus 1 acknowledged.
        assert_eq!(driver.field("cwnd"), expected);
        driver.in_recovery = false;
        // The loss is repaired when all five have arrived, or when the recovery ends.
        (0..acks).for_each(|_| ack_within_round(&mut driver));
        assert_eq!(driver.field("cwnd"), before + 1.0);
    }
}

#[test]
fn drain_ends_by_what_is_in_flight_when_the_next_packet_leaves() {
    // 132 packets end the phase. At 0.34375 * 9.9 Mbit/s a quantum of two packets takes 4.7 ms. In this time the link
    // delivers 5.8 packets at 10 Mbit/s, so five whole packets fewer are in flight by then.
    for (in_flight, mode) in [(138.0, DRAIN), (137.0, PROBE_BW)] {
        let mut driver = driver();
        driver.in_flight_packets = 300.0;
        (0..5).for_each(|_| round(&mut driver, 10.0));
        assert_eq!(driver.field("mode"), DRAIN);
        (0..2).for_each(|_| driver.send());
        driver.in_flight_packets = in_flight;
        ack_within_round(&mut driver);
        assert_eq!(driver.field("mode"), mode, "{in_flight}");
    }
}

#[test]
fn a_timeout_restarts_from_one_packet_and_gives_the_window_back_once_repaired() {
    let mut driver = probing();
    let before = driver.field("cwnd");
    driver.in_flight_packets = 3.0;
    driver.timeout(false);
    driver.timeout(true);
    assert_eq!((driver.field("cwnd"), driver.field("full_bw")), (1.0, 0.0));
    ack_within_round(&mut driver);
    assert_eq!(driver.field("cwnd"), 4.0); // the smallest window
    ack_within_round(&mut driver);
    assert_eq!(driver.field("cwnd"), 5.0);
    ack_within_round(&mut driver); // three packets again
    assert_eq!(driver.field("cwnd"), before + 1.0);
}

#[test]
fn a_policed_rate_replaces_the_bandwidth_and_stops_probing() {
    let mut driver = probing();
    for _ in 0..12 {
        // A quarter of the sent packets is lost: the driver delivers 1000 B per round, and loses as much.
        driver.lose(1, false);
        driver.lost_bytes = 1000;
        round(&mut driver, 10.0);
    }
    // The policed rate is 1000 B per 100 ms.
    assert!((driver.field("lt_bw") - 0.08).abs() < 1e-9);
    assert_eq!((driver.field("bw"), driver.field("pacing_gain")), (0.08, 1.0));
}

#[test]
fn ack_aggregation_widens_the_window_unless_switched_off() {
    let cwnd = |setting| {
        let mut driver = Driver::new(&ENTRY, &[("extra_acked", setting)]);
        driver.in_flight_packets = 125.0;
        (0..4).for_each(|_| round(&mut driver, 10.0));
        driver.now += Span::from_ms(1);
        driver.prior_delivered_bytes = Some(0);
        // 40 packets arrive in 1 ms, several times; 1.25 were expected.
        (0..20).for_each(|_| driver.ack(40));
        driver.field("cwnd")
    };
    assert!(cwnd("on") > cwnd("off") + 38.0, "{} {}", cwnd("on"), cwnd("off"));
}

#[test]
fn an_acknowledgement_of_nothing_changes_nothing() {
    let mut driver = probing();
    let before = driver.control();
    driver.ack(0);
    assert_eq!(driver.control(), before);
}

#[test]
fn the_handshake_sets_the_first_pacing_rate() {
    let mut driver = Driver::new(&super::ENTRY, &[]);
    driver.controller.on_established(driver.now, Span::from_ms(100));
    // 10 packets of 1000 B in 100 ms are 0.8 Mbit/s, times 2885/1000 + 1/256, less 1 %.
    let expected = 0.8 * driver.field("pacing_gain") * 0.99;
    assert!((driver.field("pacing_rate") / expected - 1.0).abs() < 1e-3, "{}", driver.field("pacing_rate"));
}

#[test]
fn the_handshake_gives_the_first_sample_of_the_smallest_rtt() {
    let mut driver = Driver::new(&super::ENTRY, &[]);
    driver.controller.on_established(driver.now, Span::from_ms(100));
    driver.rtt = Span::from_ms(101);
    driver.ack(1);
    assert_eq!(driver.field("min_rtt"), 100.0);
}
