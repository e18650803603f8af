//! Hand-computed sequences. Packets have 1000 bytes.

use super::*;
use crate::testing::Driver;

fn ack_at(driver: &mut Driver, gap_ms: u64, rtt_ms: u64) {
    driver.now += Span::from_ms(gap_ms);
    driver.rtt = Span::from_ms(rtt_ms);
    driver.ack(1);
}

/// Ends a round trip with this ACK: everything sent so far is acknowledged.
fn round(driver: &mut Driver, rtt_ms: u64) {
    driver.next_acked = driver.next_number;
    driver.next_number += 100;
    ack_at(driver, rtt_ms, rtt_ms);
}

const CAP: (&str, &str) = ("velocity_cap", "0.1");
const NO_MODES: (&str, &str) = ("mode_switching", "off");

/// Returns a driver after slow start with `RTTmin` 100 ms and a window of 1000 packets. So the cap allows velocities up
/// to 50 at delta 0.5.
fn steady(settings: &[(&str, &str)]) -> Driver {
    let mut driver = Driver::new(&ENTRY, settings);
    driver.ack(990);
    assert_eq!(driver.field("cwnd"), 1000.0);
    round(&mut driver, 200); // 1000 * 0.5 * 100 ms > 200 ms: above the target
    assert_eq!(driver.field("slow_start"), 0.0);
    driver
}

#[test]
fn slow_start_doubles_until_the_rate_exceeds_the_target() {
    let mut driver = Driver::new(&ENTRY, &[]);
    driver.ack_window();
    assert_eq!((driver.field("cwnd"), driver.field("slow_start")), (20.0, 1.0));
    driver.ack_window();
    assert_eq!(driver.field("cwnd"), 40.0);
    // Pacing is at two windows per RTT: 2 * 40 * 8000 bit / 100 ms.
    assert_eq!(driver.control().pacing.unwrap().bps(), 6_400_000);
    // 41 * 0.5 * d_q <= 100 + d_q holds up to 5.12 ms, 40 * 0.5 * d_q up to 5.26 ms.
    ack_at(&mut driver, 100, 105);
    assert_eq!((driver.field("cwnd"), driver.field("slow_start")), (41.0, 1.0));
    ack_at(&mut driver, 100, 106);
    // The window falls by v / (delta * cwnd) = 1 / 20.5.
    assert!((driver.field("cwnd") - (41.0 - 1.0 / 20.5)).abs() < 1e-12);
    assert_eq!((driver.field("slow_start"), driver.field("direction")), (0.0, -1.0));
}

#[test]
fn the_standing_rtt_is_the_minimum_of_half_an_rtt() {
    let mut driver = Driver::new(&ENTRY, &[]);
    ack_at(&mut driver, 100, 100);
    ack_at(&mut driver, 60, 120); // the driver's srtt is the latest sample: half of it is 60 ms
    assert_eq!((driver.field("rtt_standing"), driver.field("queueing_delay")), (100.0, 0.0));
    ack_at(&mut driver, 1, 120);
    assert_eq!((driver.field("rtt_standing"), driver.field("queueing_delay")), (120.0, 20.0));
}

#[test]
fn the_minimum_rtt_is_forgotten_after_ten_seconds() {
    let mut driver = Driver::new(&ENTRY, &[]);
    ack_at(&mut driver, 100, 100);
    ack_at(&mut driver, 10_000, 130);
    assert_eq!(driver.field("rtt_min"), 100.0);
    ack_at(&mut driver, 1, 130);
    assert_eq!(driver.field("rtt_min"), 130.0);
}

#[test]
fn velocity_is_1_2_4_only_after_three_rtts_in_one_direction() {
    let mut driver = steady(&[]);
    let mut velocities = Vec::new();
    for _ in 0..7 {
        round(&mut driver, 100);
        velocities.push(driver.field("velocity"));
    }
    // The first round turns upwards: it ends the round that slow start's exit began, whose window fell. Rounds 2, 3 and
    // 4 end with a larger window; from the third on the velocity doubles.
    assert_eq!(velocities, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
    assert_eq!(driver.field("direction"), 1.0);
}

#[test]
fn contradicting_the_direction_resets_the_velocity_at_once() {
    let mut driver = steady(&[]);
    (0..5).for_each(|_| round(&mut driver, 100));
    assert_eq!(driver.field("velocity"), 4.0);
    let before = driver.field("cwnd");
    ack_at(&mut driver, 101, 200); // in the middle of the round trip
    assert_eq!((driver.field("velocity"), driver.field("direction")), (1.0, -1.0));
    assert!((before - driver.field("cwnd") - 1.0 / (0.5 * before)).abs() < 1e-12);
    // Three round trips downwards from the change of direction double again.
    for expected in [1.0, 1.0, 2.0, 4.0] {
        round(&mut driver, 200);
        assert_eq!(driver.field("velocity"), expected);
    }
}

#[test]
fn without_quick_turn_the_velocity_lasts_until_the_round_trip_ends() {
    let mut driver = steady(&[("quick_turn", "off")]);
    (0..5).for_each(|_| round(&mut driver, 100));
    let before = driver.field("cwnd");
    ack_at(&mut driver, 101, 200);
    assert_eq!((driver.field("velocity"), driver.field("direction")), (4.0, 1.0));
    assert!((before - driver.field("cwnd") - 4.0 / (0.5 * before)).abs() < 1e-12);
    (0..3).for_each(|_| ack_at(&mut driver, 1, 200));
    round(&mut driver, 200);
    assert_eq!((driver.field("velocity"), driver.field("direction")), (1.0, -1.0));
}

#[test]
fn velocity_is_capped_at_a_tenth_of_the_window_per_rtt() {
    let mut driver = steady(&[CAP]);
    (0..12).for_each(|_| round(&mut driver, 100));
    let velocity = driver.field("velocity");
    // The cap is 0.1 * 0.5 * about 1000 packets.
    assert!((velocity - 50.0).abs() < 0.2, "{velocity}");
    // The default cap is a whole window, 500 and growing; without a cap the velocity doubles nine times.
    let mut driver = steady(&[]);
    (0..12).for_each(|_| round(&mut driver, 100));
    let velocity = driver.field("velocity");
    assert!((500.0..512.0).contains(&velocity), "{velocity}");
    let mut driver = steady(&[("velocity_cap", "0")]);
    (0..12).for_each(|_| round(&mut driver, 100));
    assert_eq!(driver.field("velocity"), 512.0);
    // A small window leaves the velocity at 1.
    let mut driver = Driver::new(&ENTRY, &[CAP]);
    round(&mut driver, 100);
    round(&mut driver, 200);
    (0..12).for_each(|_| round(&mut driver, 100));
    assert!(driver.field("cwnd") < 20.0);
    assert_eq!(driver.field("velocity"), 1.0);
}

#[test]
fn a_noise_floor_is_not_queueing() {
    let mut driver = Driver::new(&ENTRY, &[("noise_floor_ms", "7")]);
    (0..30).for_each(|_| driver.ack(1));
    ack_at(&mut driver, 100, 107);
    assert_eq!((driver.field("queueing_delay"), driver.field("slow_start")), (0.0, 1.0));
    ack_at(&mut driver, 100, 115);
    assert_eq!((driver.field("queueing_delay"), driver.field("slow_start")), (8.0, 0.0));
}

#[test]
fn loss_is_ignored_and_the_application_limit_freezes_growth() {
    let mut driver = steady(&[]);
    let before = driver.field("cwnd");
    driver.lose(5, true);
    assert_eq!(driver.field("cwnd"), before);
    driver.app_limited = true;
    driver.window_limited = false;
    (0..5).for_each(|_| round(&mut driver, 100));
    assert_eq!(driver.field("cwnd"), before);
    // The window may still shrink.
    round(&mut driver, 200);
    assert!(driver.field("cwnd") < before);
}

#[test]
fn a_timeout_returns_to_slow_start_with_two_packets() {
    let mut driver = steady(&[]);
    driver.timeout(false);
    assert_eq!((driver.field("cwnd"), driver.field("slow_start")), (2.0, 1.0));
    (0..4).for_each(|_| ack_at(&mut driver, 100, 100));
    assert_eq!(driver.field("cwnd"), 6.0);
}

#[test]
fn the_window_never_falls_below_two_packets() {
    let mut driver = Driver::new(&ENTRY, &[("delta", "1"), ("min_rtt_window_s", "3600"), NO_MODES]);
    driver.ack(1);
    (0..100).for_each(|_| round(&mut driver, 2000)); // the target is 2000 / 1900 packets
    assert_eq!(driver.field("cwnd"), 2.0);
    // A constant window has no direction, so no velocity accumulates for the first ACK below the target.
    assert_eq!((driver.field("velocity"), driver.field("direction")), (1.0, 0.0));
}

/// Returns a driver with `RTTmin` 100 ms and later round trips of 200 ms.
fn beside_a_filler() -> Driver {
    let mut driver = Driver::new(&ENTRY, &[]);
    round(&mut driver, 100);
    round(&mut driver, 200);
    driver
}

#[test]
fn a_queue_filled_for_five_rtts_switches_to_competitive_mode() {
    let mut driver = beside_a_filler();
    (0..3).for_each(|_| round(&mut driver, 200));
    assert_eq!(driver.field("mode"), 0.0);
    round(&mut driver, 200);
    assert_eq!((driver.field("mode"), driver.field("delta")), (1.0, 0.5));
    // 1/delta grows by one per round trip: 3, 4.
    round(&mut driver, 200);
    round(&mut driver, 200);
    assert!((driver.field("delta") - 0.25).abs() < 1e-12);
    // A loss halves 1/delta, and that round trip does not add.
    driver.lose(1, true);
    assert!((driver.field("delta") - 0.5).abs() < 1e-12);
    driver.lose(1, false);
    round(&mut driver, 200);
    assert!((driver.field("delta") - 0.5).abs() < 1e-12);
    // One nearly empty queue ends the mode. RTTstanding must forget 200 ms: a d_q of 109 leaves 9 of a range of 100.
    round(&mut driver, 200);
    round(&mut driver, 109);
    assert_eq!((driver.field("mode"), driver.field("delta")), (0.0, 0.5));
}

#[test]
fn delta_never_exceeds_the_default_in_competitive_mode() {
    let mut driver = beside_a_filler();
    (0..4).for_each(|_| round(&mut driver, 200));
    assert_eq!(driver.field("mode"), 1.0);
    driver.lose(1, true);
    assert_eq!(driver.field("delta"), 0.5);
}

#[test]
fn without_mode_switching_a_filled_queue_changes_nothing() {
    let mut driver = Driver::new(&ENTRY, &[NO_MODES]);
    round(&mut driver, 100);
    (0..20).for_each(|_| round(&mut driver, 200));
    assert_eq!((driver.field("mode"), driver.field("delta")), (0.0, 0.5));
}
