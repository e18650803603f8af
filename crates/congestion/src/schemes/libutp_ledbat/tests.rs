//! Numbers worked out by hand from libutp's rules; packets have 1000 bytes.

use super::*;
use crate::testing::Driver;

fn driver() -> Driver {
    let mut driver = Driver::new(&ENTRY, &[]);
    driver.in_flight_packets = 1.0;
    driver
}

fn window(driver: &Driver) -> u64 {
    driver.control().window_bytes
}

/// Returns a controller after slow start with a window of `bytes`, without queue.
fn avoiding(bytes: u64) -> Libutp {
    let start = Start { now: Time::ZERO, mss_bytes: 1000, initial_window_bytes: 10_000, seed: 1 };
    let mut libutp = Libutp::new(&Parameters::defaults(ENTRY.parameters), &start);
    libutp.slow_start = false;
    libutp.window_bytes = bytes;
    libutp
}

#[test]
fn the_first_window_is_one_packet_whatever_the_transport_starts_with() {
    assert_eq!(window(&driver()), 1000);
}

#[test]
fn start_up_gains_3000_bytes_per_window() {
    let mut driver = driver();
    // One ACK acknowledges the whole window: max(slow start's 1000, 3000).
    driver.ack(1);
    assert_eq!(window(&driver), 4000);
    driver.ack(4);
    assert_eq!(window(&driver), 7000);
}

#[test]
fn slow_start_adds_one_packet_per_window_where_the_delay_rule_gives_less() {
    // At 80 ms of queue the delay rule gives 600 bytes per window, slow start 1000.
    let mut driver = driver();
    driver.ack(1);
    driver.rtt = Span::from_ms(180);
    driver.one_way = Span::from_ms(130);
    // The filter still holds the first sample for two ACKs.
    driver.ack(4);
    driver.ack(7);
    assert_eq!(window(&driver), 10_000);
    driver.ack(10);
    assert_eq!((driver.field("queuing_delay"), window(&driver)), (80.0, 11_000));
}

#[test]
fn slow_start_ends_at_nine_tenths_of_the_target_without_moving() {
    let mut driver = driver();
    driver.ack(1);
    driver.rtt = Span::from_ms(191);
    driver.one_way = Span::from_ms(141);
    driver.ack(4);
    driver.ack(7);
    driver.ack(10);
    assert_eq!((driver.field("queuing_delay"), window(&driver)), (91.0, 10_000));
    assert_eq!(driver.field("ssthresh"), 10.0);
    driver.ack(10);
    // 3000 * 1 * 0.09 = 270 bytes.
    assert_eq!(window(&driver), 10_270);
}

#[test]
fn each_ack_moves_the_window_by_whole_bytes() {
    let mut libutp = avoiding(700_000);
    libutp.apply(Time::ZERO, 1000);
    // 3000 * 1000 / 700,000 = 4.29 bytes.
    assert_eq!(libutp.window_bytes, 700_004);
    libutp.queuing_delay_ns = 150_000_000;
    libutp.apply(Time::ZERO, 1000);
    // Half of that downwards is rounded down as well: 700,001.86.
    assert_eq!(libutp.window_bytes, 700_001);
}

#[test]
fn more_bytes_than_the_window_count_as_less_than_one_window() {
    let mut libutp = avoiding(1000);
    libutp.apply(Time::ZERO, 4000);
    // 3000 * 1000 / 4000.
    assert_eq!(libutp.window_bytes, 1750);
}

#[test]
fn the_window_stays_between_10_bytes_and_the_send_buffer() {
    let mut libutp = avoiding(1000);
    libutp.queuing_delay_ns = 10_000_000_000;
    libutp.apply(Time::ZERO, 1000);
    assert_eq!(libutp.window_bytes, 10);
    let mut libutp = avoiding(1_048_000);
    libutp.apply(Time::ZERO, 1_048_000);
    assert_eq!(libutp.window_bytes, 1_048_576);
    // At most 1023 packets may be in flight.
    assert_eq!(libutp.control().window_bytes, 1_023_000);
}

#[test]
fn growth_stops_one_second_after_the_window_last_limited() {
    let mut libutp = avoiding(10_000);
    libutp.apply(Time::from_secs_f64(1.0), 1000);
    assert_eq!(libutp.window_bytes, 10_300);
    libutp.apply(Time::from_secs_f64(1.001), 1000);
    assert_eq!(libutp.window_bytes, 10_300);
    // The window may still shrink.
    libutp.queuing_delay_ns = 200_000_000;
    libutp.apply(Time::from_secs_f64(2.0), 1030);
    assert_eq!(libutp.window_bytes, 10_000);
}

#[test]
fn losses_halve_at_most_once_per_100_ms() {
    let mut driver = driver();
    (0..3).for_each(|_| driver.ack(4));
    let before = window(&driver);
    driver.lose(1, true);
    driver.lose(1, true);
    driver.now += Span::from_ms(99);
    driver.mark(true);
    assert_eq!(window(&driver), before / 2);
    driver.now += Span::from_ms(1);
    // A halving needs no new episode.
    driver.lose(1, false);
    assert_eq!(window(&driver), before / 4);
}

#[test]
fn timeout_restarts_slow_start_from_one_packet() {
    let mut driver = driver();
    (0..3).for_each(|_| driver.ack(4));
    driver.timeout(false);
    assert_eq!(window(&driver), 1000);
    driver.rtt = Span::from_ms(180);
    driver.one_way = Span::from_ms(130);
    (0..3).for_each(|_| driver.ack(1));
    assert_eq!(window(&driver), 4960);
    driver.ack(4);
    // Slow start is on again: 1000 * 4000 / 4960 = 806 bytes; the delay rule gives 483 at 80 ms of queue.
    assert_eq!(window(&driver), 5766);
}

#[test]
fn idle_time_shrinks_the_window_by_a_third_per_doubling_timeout() {
    let mut driver = driver();
    driver.in_flight_packets = 0.0;
    driver.ack(1);
    driver.ack(4);
    driver.ack(7);
    assert_eq!(window(&driver), 10_000);
    // With an srtt of 100 ms and no variation the timeout is its minimum, 1 s.
    let due = driver.control().wake_at;
    assert_eq!(due, driver.now + Span::from_secs(1));
    driver.controller.on_wake(due - Span::from_ms(1));
    assert_eq!(window(&driver), 10_000);
    driver.controller.on_wake(due);
    assert_eq!(window(&driver), 6_666);
    assert_eq!(driver.control().wake_at, due + Span::from_secs(2));
    // Sending stops the idle timer.
    driver.in_flight_packets = 1.0;
    driver.send();
    assert_eq!(driver.control().wake_at, Time::NEVER);
}

#[test]
fn a_window_below_one_packet_reopens_after_a_timeout() {
    let mut driver = driver();
    driver.ack(1);
    driver.in_flight_packets = 0.0;
    driver.rtt = Span::from_secs(20);
    driver.one_way = Span::from_secs(19);
    (0..8).for_each(|_| driver.ack(1));
    assert_eq!(window(&driver), 10);
    let due = driver.control().wake_at;
    assert_eq!(due, driver.now + Span::from_secs(20));
    driver.controller.on_wake(due);
    assert_eq!(window(&driver), 1000);
}

#[test]
fn a_delay_above_the_rtt_is_cut_to_it_and_moves_the_base() {
    let mut driver = driver();
    driver.ack(1);
    // The receiver's clock jumps by 300 ms: 300 ms of apparent queue, but the RTT is 100 ms.
    driver.one_way = Span::from_ms(350);
    (0..3).for_each(|_| driver.ack(1));
    assert_eq!((driver.field("queuing_delay"), driver.field("base_delay")), (100.0, 250.0));
}

#[test]
fn a_falling_ack_delay_of_up_to_10_ms_is_taken_for_clock_skew() {
    for (fall_ms, base_ms) in [(0, 50.0), (4, 54.0), (10, 60.0), (11, 50.0)] {
        let mut driver = driver();
        driver.rtt = Span::from_ms(200);
        driver.ack(1);
        // Packets take 30 ms longer, ACKs `fall_ms` less.
        driver.rtt = Span::from_ms(230 - fall_ms);
        driver.one_way = Span::from_ms(80);
        driver.ack(1);
        assert_eq!(driver.field("base_delay"), base_ms, "{fall_ms} ms");
    }
}

#[test]
fn alone_on_a_link_it_keeps_about_100_ms_of_queue() {
    // 20 packets fit per 100 ms of base RTT, so each packet in the queue costs 5 ms. 100 ms are 20 packets, cwnd 40.
    let mut driver = driver();
    for _ in 0..300 {
        let queued = (driver.field("cwnd") - 20.0).max(0.0);
        driver.one_way = Span::from_us((50_000.0 + 5_000.0 * queued) as u64);
        driver.rtt = driver.one_way + Span::from_ms(50);
        driver.ack_window();
    }
    // Each of 40 ACKs rounds its move down by half a byte on average, so the window is a little lower.
    assert!((driver.field("cwnd") - 40.0).abs() < 1.5, "{}", driver.field("cwnd"));
}
