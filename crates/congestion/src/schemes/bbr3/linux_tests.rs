//! Tests of Linux's rules where they differ, from google/bbr@001a430, `net/ipv4/tcp_bbr.c`; each sequence also tests
//! the draft's result. Numbers are as in the draft's tests.

use super::tests::*;
use super::*;
use crate::testing::Driver;

/// Parameters of the scheme `bbr3-linux`.
const LINUX: [(&str, &str); 8] = [
    ("rules", "linux"),
    ("startup_pacing_gain", "2.7734375"),
    ("drain_pacing_gain", "0.34375"),
    ("down_pacing_gain", "0.90625"),
    ("loss_threshold", "0.01953125"),
    ("beta", "0.703125"),
    ("headroom", "0.1484375"),
    ("extra_acked_rounds", "5"),
];

fn linux() -> Driver {
    driver_with(&LINUX)
}

#[test]
fn growth_at_any_ack_of_a_round_keeps_startup_going() {
    for (driver, expected) in [(linux(), STARTUP), (driver(), DRAIN)] {
        let mut driver = driver;
        driver.in_flight_packets = 300.0;
        round(&mut driver, 10.0);
        round(&mut driver, 10.0);
        driver.rate = Some(Rate::from_mbps(12.5));
        within_round(&mut driver, 1);
        (0..2).for_each(|_| round(&mut driver, 10.0));
        assert_eq!(state(&driver), expected);
    }
}

#[test]
fn six_acks_with_losses_end_startup_whatever_places_they_are_in() {
    for (driver, expected) in [(linux(), DRAIN), (driver(), STARTUP)] {
        let mut driver = driver;
        driver.app_limited = true;
        driver.in_flight_packets = 300.0;
        round(&mut driver, 10.0);
        driver.in_recovery = true;
        (0..6).for_each(|number| driver.lose(2, number == 0)); // one place, for each range continues the last one
        driver.lost_bytes = 2000;
        (0..6).for_each(|_| within_round(&mut driver, 1));
        driver.lost_bytes = 0;
        round(&mut driver, 10.0);
        assert_eq!(state(&driver), expected);
    }
}

#[test]
fn drain_has_no_longest_time() {
    let mut driver = draining(linux(), 10.0);
    (0..20).for_each(|_| round(&mut driver, 9.0));
    assert_eq!((state(&driver), driver.field("pacing_gain")), (DRAIN, 0.34375));
}

#[test]
fn an_ack_ends_a_probe_that_lost_too_much() {
    for (driver, expected) in [(linux(), DOWN), (driver(), UP)] {
        let mut driver = probing(driver, 10.0);
        driver.in_flight_packets = 300.0;
        driver.in_recovery = true;
        driver.lose(5, true); // of 300: less than 2 %
        assert_eq!(state(&driver), UP);
        driver.in_flight_packets = 200.0; // 5 of 200, as the newest packet was sent: 2.5 %
        within_round(&mut driver, 1);
        assert_eq!(state(&driver), expected);
    }
}

#[test]
fn the_bound_is_in_whole_packets_and_not_below_the_flight_before_the_lost_packet() {
    let mut driver = probing(linux(), 10.0);
    driver.in_flight_packets = 120.0;
    driver.in_recovery = true;
    driver.lose(3, true);
    assert_eq!(state(&driver), DOWN);
    // 119 packets before, and a budget of ceil(119 * 5 / 256) = 3, less the 2 lost before: 1 * 256 / 251, rounded down.
    assert_eq!(driver.field("inflight_longterm"), 120.0);
}

#[test]
fn what_a_probe_lost_counts_in_the_round_after_it() {
    for (driver, bounded) in [(linux(), true), (driver(), false)] {
        let mut driver = probing(driver, 10.0);
        driver.in_flight_packets = 120.0;
        driver.in_recovery = true;
        driver.lose(3, true);
        driver.lost_bytes = 3000;
        within_round(&mut driver, 1);
        driver.lost_bytes = 0;
        round(&mut driver, 5.0);
        assert_eq!(driver.field("inflight_shortterm") > 0.0, bounded);
    }
}

#[test]
fn an_equal_rtt_makes_the_minimum_fresh() {
    let mut settings = Parameters::defaults(ENTRY.parameters);
    settings.set("rules", "linux").unwrap();
    for (settings, expected) in
        [(Settings::new(&settings), 50.0), (Settings::new(&Parameters::defaults(ENTRY.parameters)), 80.0)]
    {
        let mut min_rtt = MinRtt::new(Time::ZERO);
        let at = |s: u64| Time::ZERO + Span::from_secs(s);
        let mut update = |s, ms| min_rtt.update(at(s), Some(Span::from_ms(ms)), &settings);
        update(1, 50);
        update(7, 80);
        update(8, 50);
        update(14, 80);
        assert_eq!(min_rtt.rtt.map(Span::as_ms_f64), Some(expected));
    }
}

#[test]
fn the_minimum_rtt_begins_with_that_of_the_handshake() {
    for driver in [linux(), driver()] {
        let mut driver = driver;
        driver.controller.on_established(driver.now, Span::from_ms(90));
        round(&mut driver, 10.0); // of 100 ms
        assert_eq!(driver.field("min_rtt"), 90.0);
    }
}

#[test]
fn the_allowance_for_aggregation_is_what_100_ms_carry_and_lasts_five_to_ten_rounds() {
    let settings: Vec<_> = LINUX.into_iter().chain([("probe_rtt_interval_s", "1000")]).collect();
    let mut driver = Driver::new(&ENTRY, &settings);
    driver.in_flight_packets = 120.0;
    (0..8).for_each(|_| round(&mut driver, 10.0));
    within_round(&mut driver, 200);
    (0..12).for_each(|_| round(&mut driver, 10.0)); // the window has grown, and what grew it is forgotten
    within_round(&mut driver, 40);
    let held = |driver: &Driver| driver.field("extra_acked") >= 30.0;
    assert!(held(&driver), "{}", driver.field("extra_acked"));
    let rounds = (1..30).find(|_| {
        round(&mut driver, 10.0);
        !held(&driver)
    });
    assert!(rounds.is_some_and(|rounds| (5..=10).contains(&rounds)), "{rounds:?}");
}

#[test]
fn a_burst_is_of_whole_packets_and_larger_where_the_rtt_is_short() {
    let mut driver = linux();
    driver.in_flight_packets = 10_000.0;
    (0..5).for_each(|_| round(&mut driver, 100.0));
    // 0.99 * 0.34375 * 100 Mbit/s are 4,253,906 bytes/s. A 1024th of it are 4 packets of 1000 bytes and a fraction.
    assert_eq!(driver.control().burst_bytes, 4000);
    let mut near_by = linux();
    near_by.rtt = Span::from_us(1100);
    round(&mut near_by, 1.0);
    // 2.7734375 * 0.99 * 10,000 bytes in 1.1 ms give 24,375 bytes in a 1024th of a second. An RTT of twice 512 us adds
    // a quarter of 64 KB.
    assert_eq!(near_by.control().burst_bytes, 40_000);
}

#[test]
fn a_timeout_is_a_loss_of_all_and_keeps_the_window_as_bound() {
    for (driver, bound) in [(linux(), 250.0), (driver(), 0.0)] {
        let mut driver = cruising(driver, 10.0);
        driver.timeout(false);
        near(driver.field("inflight_shortterm"), bound);
        assert_eq!(driver.field("cwnd"), 1.0);
    }
}

#[test]
fn the_end_of_recovery_gives_back_no_window_and_an_undo_no_state() {
    let mut driver = probing(linux(), 10.0);
    driver.in_flight_packets = 120.0;
    driver.lose(3, true);
    assert_eq!(state(&driver), DOWN);
    driver.controller.on_spurious_loss(driver.now);
    assert_eq!(state(&driver), DOWN, "by the draft a new probe begins");
}
