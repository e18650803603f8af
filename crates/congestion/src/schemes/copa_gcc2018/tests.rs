//! Hand-computed sequences. Packets have 1000 bytes.

use super::*;
use crate::parts::copa_gcc::ack;
use crate::testing::Driver;
use units::Span;

/// Returns a driver after the 19 probe ACKs, at an RTT of 100 ms.
fn driver(settings: &[(&str, &str)]) -> Driver {
    let mut driver = Driver::new(&ENTRY, settings);
    (0..19).for_each(|_| ack(&mut driver, 1, 100));
    driver
}

#[test]
fn nineteen_acks_only_probe_then_slow_start_adds_one_per_ack() {
    let mut driver = driver(&[]);
    assert_eq!(driver.field("cwnd"), 10.0);
    ack(&mut driver, 1, 100);
    assert_eq!(driver.field("cwnd"), 11.0);
    // 11 packets leave in half of 100 ms.
    assert_eq!(driver.control().pacing.unwrap().bps(), 1_760_000);
}

/// Tests a fixed defect: the first nineteen ACKs used a spacing of a tenth of the handshake's RTT. In the program
/// `onPktSent` overwrites that spacing with 0 (genericCC@d0153f8 `markoviancc.cc:45, :291`).
#[test]
fn the_first_window_was_spaced_where_the_program_sends_it_at_once() {
    let mut driver = Driver::new(&ENTRY, &[]);
    driver.controller.on_established(driver.now, Span::from_ms(100));
    for _ in 0..19 {
        assert_eq!(driver.control().pacing, None);
        ack(&mut driver, 1, 100);
    }
    assert_eq!(driver.control().pacing, None);
    ack(&mut driver, 1, 100);
    assert!(driver.control().pacing.is_some());
    // The timeout resets the state like two seconds of silence.
    driver.timeout(false);
    assert_eq!(driver.control().pacing, None);
}

/// Returns a driver after slow start with an empty queue: an old RTT of 150 ms has left the standing window.
fn after_slow_start(settings: &[(&str, &str)]) -> Driver {
    let mut driver = driver(settings);
    // 50 ms of delay at delta 0.5 give a target of 150 / (50 * 0.5) = 6 packets. But RTTstanding needs 50 ms to forget
    // 100.
    ack(&mut driver, 100, 150);
    assert_eq!((driver.field("slow_start"), driver.field("cwnd")), (0.0, 11.0));
    driver
}

#[test]
fn velocity_doubles_every_rtt_from_the_first_one() {
    let mut driver = after_slow_start(&[]);
    // The delay is gone, so the window grows. The first ACK is already "an RTT after the last update" (never) and
    // doubles to 2.
    ack(&mut driver, 200, 100);
    assert_eq!(driver.field("velocity"), 2.0);
    let before = driver.field("cwnd");
    ack(&mut driver, 50, 100); // within the RTT
    assert_eq!(driver.field("velocity"), 2.0);
    let delta = driver.field("delta");
    assert!((driver.field("cwnd") - before - 2.0 / (delta * before)).abs() < 1e-12);
    ack(&mut driver, 51, 100);
    assert_eq!(driver.field("velocity"), 4.0);
}

#[test]
fn velocity_is_capped_at_a_window_per_rtt_and_reset_when_the_sum_turns() {
    let mut driver = after_slow_start(&[("delta_conf", "constant")]);
    for _ in 0..20 {
        ack(&mut driver, 101, 100);
        assert!(driver.field("velocity") <= 0.5 * driver.field("cwnd"));
    }
    let velocity = driver.field("velocity");
    assert!(velocity >= 4.0 && 2.0 * velocity > 0.5 * (driver.field("cwnd") - 1.0), "{velocity}");
    assert_eq!(driver.field("direction"), 1.0);
    // Three delayed ACKs come within one RTT, after RTTstanding has forgotten 100 ms: the old velocity goes downwards.
    ack(&mut driver, 200, 2000);
    let before = driver.field("cwnd");
    ack(&mut driver, 1, 2000);
    assert!((before - driver.field("cwnd") - velocity / (driver.field("delta") * before)).abs() < 1e-9);
    ack(&mut driver, 1, 2000);
    // At the RTT's end there are more decreases than increases: velocity 1, direction down.
    ack(&mut driver, 2001, 2000);
    assert_eq!((driver.field("velocity"), driver.field("direction")), (1.0, -1.0));
}

#[test]
fn a_path_without_any_delay_variation_counts_as_competitive_and_lowers_delta_once_per_rtt() {
    let mut driver = driver(&[]);
    assert_eq!(driver.field("mode"), 1.0);
    // 1000 ms of silence before the first ACK change delta from 0.5 to 1/3 at once. 18 ms later it does not change.
    assert!((driver.field("delta") - 1.0 / 3.0).abs() < 1e-12);
    ack(&mut driver, 101, 100);
    assert!((driver.field("delta") - 0.25).abs() < 1e-12);
    // Every ACK that reveals a loss doubles delta, up to the default.
    driver.lose(1, true);
    ack(&mut driver, 1, 100);
    assert!((driver.field("delta") - 0.5).abs() < 1e-12);
    driver.lose(3, true);
    ack(&mut driver, 1, 100);
    assert!((driver.field("delta") - 0.5).abs() < 1e-12);
}

#[test]
fn a_nearly_empty_queue_means_default_mode_and_default_delta() {
    let mut driver = driver(&[("delta", "0.1")]);
    ack(&mut driver, 1, 200);
    assert_eq!((driver.field("mode"), driver.field("delta")), (0.0, 0.1));
    // 4 srtt later no sample below 100 + 0.1 * 100 ms is left.
    (0..9).for_each(|_| ack(&mut driver, 100, 200));
    assert_eq!(driver.field("mode"), 1.0);
}

#[test]
fn a_constant_delta_is_silently_replaced_by_one_half() {
    let mut driver = Driver::new(&ENTRY, &[("delta_conf", "constant"), ("delta", "0.04")]);
    assert_eq!(driver.field("delta"), 0.04);
    ack(&mut driver, 1, 100);
    assert_eq!((driver.field("mode"), driver.field("delta")), (0.0, 0.5));
}

#[test]
fn more_than_thirty_percent_loss_keeps_seventy_percent_of_the_window() {
    let shrink = |lost: u64| {
        let mut driver = driver(&[]); // the 19 ACKs count as 19 delivered packets
        let before = driver.field("cwnd");
        driver.lose(lost, true);
        ack(&mut driver, 1, 100);
        (before, driver.field("cwnd"))
    };
    // The first count beyond 20 packets judges: at the second loss of this ACK 2 of 21 are lost. It also resets the
    // counts.
    assert_eq!(shrink(9), (10.0, 11.0));
    // Two RTTs later 14 delivered and 7 lost packets are 33 %.
    let mut driver = driver(&[]);
    driver.lose(2, true);
    ack(&mut driver, 1, 100);
    let mut window = 0.0;
    for index in 0..13 {
        ack(&mut driver, 1, 100);
        window = driver.field("cwnd");
        assert_eq!(window, 12.0 + f64::from(index));
    }
    driver.lose(7, true);
    ack(&mut driver, 201, 100);
    assert!((driver.field("cwnd") - 0.7 * (window + 1.0)).abs() < 1e-12, "{}", driver.field("cwnd"));
}

#[test]
fn losses_are_applied_after_the_window_rule_of_the_same_ack() {
    let mut driver = driver(&[]);
    let before = driver.field("delta");
    driver.lose(1, true);
    assert_eq!(driver.field("delta"), before);
    ack(&mut driver, 1, 100);
    // Slow start added one packet first; delta then doubled to at most the default.
    assert_eq!((driver.field("cwnd"), driver.field("delta")), (11.0, 0.5));
}

#[test]
fn two_seconds_of_silence_start_everything_afresh() {
    let mut driver = driver(&[]);
    (0..30).for_each(|_| ack(&mut driver, 10, 110));
    driver.timeout(false);
    assert_eq!((driver.field("cwnd"), driver.field("slow_start"), driver.field("delta")), (10.0, 1.0, 1.0));
    assert_eq!(driver.field("rtt_min"), 0.0);
}

#[test]
fn the_window_never_falls_below_two_packets() {
    let mut driver = after_slow_start(&[("delta_conf", "constant")]);
    let mut smallest = f64::INFINITY;
    for _ in 0..300 {
        ack(&mut driver, 20, 1000); // target 1000 / (900 * 0.5) = 2.2 packets, steps of about 0.9
        smallest = smallest.min(driver.field("cwnd"));
    }
    assert_eq!(smallest, 2.0);
}
