//! Hand-computed sequences. Packets have 1000 bytes; the driver's smoothed RTT is the latest sample.

use super::*;
use crate::testing::Driver;

fn ack_at(driver: &mut Driver, gap_ms: u64, rtt_ms: u64, packets: u64) {
    driver.now += Span::from_ms(gap_ms);
    driver.rtt = Span::from_ms(rtt_ms);
    driver.ack(packets);
}

/// Returns a driver after slow start with a minimum RTT of 100 ms. Its window is 20 packets less the effect of one ACK.
fn steady(settings: &[(&str, &str)]) -> Driver {
    let mut driver = Driver::new(&ENTRY, settings);
    ack_at(&mut driver, 0, 100, 1);
    ack_at(&mut driver, 101, 100, 1);
    assert_eq!(driver.field("cwnd"), 20.0);
    // 1 packet / (0.05 * 200 ms) = 100 packets/s is less than 20 packets / 100 ms.
    ack_at(&mut driver, 1, 300, 1);
    assert_eq!(driver.field("slow_start"), 0.0);
    driver
}

#[test]
fn slow_start_doubles_with_one_ack_once_a_round_trip_has_passed() {
    let mut driver = Driver::new(&ENTRY, &[]);
    ack_at(&mut driver, 0, 100, 10);
    assert_eq!(driver.field("cwnd"), 10.0);
    ack_at(&mut driver, 100, 100, 10); // exactly a round trip is not enough
    assert_eq!(driver.field("cwnd"), 10.0);
    ack_at(&mut driver, 1, 100, 1);
    assert_eq!(driver.field("cwnd"), 20.0);
    ack_at(&mut driver, 100, 100, 20);
    assert_eq!(driver.field("cwnd"), 20.0);
    ack_at(&mut driver, 1, 100, 1);
    assert_eq!((driver.field("cwnd"), driver.field("slow_start")), (40.0, 1.0));
}

#[test]
fn the_latest_rtt_is_the_delay_and_the_standing_one_only_makes_a_rate_of_the_window() {
    let driver = steady(&[]);
    assert_eq!((driver.field("rtt_standing"), driver.field("queueing_delay")), (100.0, 200.0));
    // The window falls by 1000 * 1000 * 1 / (0.05 * 20000) = 1000 bytes.
    assert_eq!(driver.field("cwnd"), 19.0);
    let mut papers = Driver::new(&ENTRY, &[("use_rtt_standing", "on")]);
    ack_at(&mut papers, 0, 100, 1);
    ack_at(&mut papers, 101, 100, 1);
    ack_at(&mut papers, 1, 300, 1);
    assert_eq!((papers.field("queueing_delay"), papers.field("slow_start")), (0.0, 1.0));
}

#[test]
fn the_target_rate_is_one_packet_per_delta_and_delay() {
    // 20 packets per 100 ms are reached at a delay of 1 / (0.05 * 200/s) = 100 ms.
    for (rtt_ms, cwnd) in [(200, 20.0), (201, 19.0)] {
        let mut driver = Driver::new(&ENTRY, &[]);
        ack_at(&mut driver, 0, 100, 1);
        ack_at(&mut driver, 101, 100, 1);
        ack_at(&mut driver, 1, rtt_ms, 1);
        assert_eq!(driver.field("cwnd"), cwnd, "{rtt_ms}");
    }
}

#[test]
fn the_velocity_doubles_after_three_round_trips_in_one_direction_and_has_no_bound() {
    let mut driver = steady(&[]);
    let mut seen = vec![];
    for _ in 0..8 {
        // Without delay the window grows; the first of these ACKs turns it from down to up.
        ack_at(&mut driver, 101, 100, 20);
        seen.push(driver.field("velocity"));
    }
    // The direction was judged at 20 packets. It is still down when 19 are compared and turns when 39 are; then rounds
    // count 1, 2, 3.
    assert_eq!(seen, [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
}

#[test]
fn a_velocity_of_one_direction_is_not_spent_in_the_other() {
    let mut driver = steady(&[]);
    (0..7).for_each(|_| ack_at(&mut driver, 101, 100, 20));
    assert_eq!((driver.field("velocity"), driver.field("direction")), (8.0, 1.0));
    let before = driver.field("cwnd");
    ack_at(&mut driver, 1, 300, 1);
    assert_eq!((driver.field("velocity"), driver.field("direction")), (1.0, -1.0));
    // One packet at velocity 1 is 20 packets per window.
    assert!((before - driver.field("cwnd") - 20.0 / before).abs() < 2e-3);
}

#[test]
fn a_turn_is_judged_by_the_window_at_the_turn() {
    let mut driver = steady(&[]);
    (0..7).for_each(|_| ack_at(&mut driver, 101, 100, 20));
    assert_eq!((driver.field("velocity"), driver.field("direction")), (8.0, 1.0));
    // The window falls for a few ACKs within a round trip, then rises again. It ends above the window at the last
    // judgement, below the window at the turn.
    ack_at(&mut driver, 1, 300, 5);
    ack_at(&mut driver, 101, 300, 5);
    ack_at(&mut driver, 200, 300, 5);
    assert_eq!(driver.field("direction"), -1.0);
}

#[test]
fn losses_change_nothing_and_persistent_congestion_leaves_two_packets() {
    let mut driver = steady(&[]);
    driver.lose(5, true);
    assert_eq!(driver.field("cwnd"), 19.0);
    driver.timeout(false);
    assert_eq!((driver.field("cwnd"), driver.field("slow_start")), (2.0, 0.0));
}

#[test]
fn the_window_stays_between_two_and_two_thousand_packets() {
    let mut driver = Driver::new(&ENTRY, &[]);
    (0..12).for_each(|_| ack_at(&mut driver, 101, 100, 1));
    assert_eq!(driver.field("cwnd"), 2000.0);
    // At most 0.1 queued packets are too few for any window.
    let mut driver = Driver::new(&ENTRY, &[("delta", "10")]);
    ack_at(&mut driver, 0, 100, 1);
    (0..400).for_each(|_| ack_at(&mut driver, 1, 300, 10));
    assert_eq!(driver.field("cwnd"), 2.0);
}

#[test]
fn two_windows_leave_per_smoothed_round_trip_unless_it_is_shorter_than_the_pacers_tick() {
    let mut driver = Driver::new(&ENTRY, &[]);
    assert_eq!(driver.control().pacing, None);
    ack_at(&mut driver, 1, 100, 1);
    assert_eq!(driver.control().pacing, Some(Rate::from_bps(1_600_000)));
    driver.rtt = Span::from_us(999);
    driver.ack(1);
    assert_eq!(driver.control().pacing, None);
}
