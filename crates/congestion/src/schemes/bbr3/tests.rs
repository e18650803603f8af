//! Hand-computed sequences, among them the test cases of the draft's appendix that one sender can show. Packets have
//! 1000 bytes and the RTT is 100 ms, so 10 Mbit/s are a BDP of 125 packets.

use super::*;
use crate::testing::Driver;

pub(super) const STARTUP: f64 = 0.0;
pub(super) const DRAIN: f64 = 1.0;
pub(super) const DOWN: f64 = 2.0;
pub(super) const CRUISE: f64 = 3.0;
pub(super) const REFILL: f64 = 4.0;
pub(super) const UP: f64 = 5.0;
pub(super) const PROBE_RTT: f64 = 6.0;

/// Returns a driver for which every [`round`] is one ACK, without the allowance for ACK aggregation.
pub(super) fn driver_with(settings: &[(&str, &str)]) -> Driver {
    let mut settings = settings.to_vec();
    settings.push(("extra_acked", "off"));
    Driver::new(&ENTRY, &settings)
}

pub(super) fn driver() -> Driver {
    driver_with(&[])
}

/// Runs one round that delivers one packet at `mbps`, an RTT after the previous one.
pub(super) fn round(driver: &mut Driver, mbps: f64) {
    driver.now += driver.rtt;
    driver.rate = Some(Rate::from_mbps(mbps));
    driver.prior_delivered_bytes = None;
    driver.ack(1);
}

/// Delivers another ACK of the same round, for `packets`.
pub(super) fn within_round(driver: &mut Driver, packets: u64) {
    driver.prior_delivered_bytes = Some(0);
    driver.ack(packets);
}

pub(super) fn state(driver: &Driver) -> f64 {
    driver.field("state")
}

pub(super) fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6 * expected.abs().max(1.0), "{value}, expected {expected}");
}

/// Returns a driver in Drain at `mbps` with far too much in flight.
pub(super) fn draining(mut driver: Driver, mbps: f64) -> Driver {
    driver.in_flight_packets = 100_000.0;
    (0..4).for_each(|_| round(&mut driver, mbps));
    assert_eq!(state(&driver), DRAIN);
    driver
}

/// Returns a driver in Cruise at `mbps`, with one BDP in flight before the ACK that began it, and a window of two.
pub(super) fn cruising(driver: Driver, mbps: f64) -> Driver {
    let mut driver = draining(driver, mbps);
    let bdp_packets = 0.125 * driver.rtt.as_ms_f64() * mbps;
    driver.in_flight_packets = bdp_packets - 1.0;
    within_round(&mut driver, 1);
    assert_eq!(state(&driver), CRUISE);
    driver.in_flight_packets = bdp_packets;
    within_round(&mut driver, 10_000);
    near(driver.field("cwnd"), 2.0 * bdp_packets);
    driver
}

/// Returns a driver that has just entered Up.
pub(super) fn probing(driver: Driver, mbps: f64) -> Driver {
    let mut driver = cruising(driver, mbps);
    refill(&mut driver);
    round(&mut driver, mbps);
    assert_eq!(state(&driver), UP);
    driver
}

/// Waits for the maximum time between probes.
fn refill(driver: &mut Driver) {
    driver.now += Span::from_ms(3001);
    within_round(driver, 1);
    assert_eq!(state(driver), REFILL);
}

fn instance(seed: u64) -> Bbr3 {
    let start = Start { now: Time::ZERO, mss_bytes: 1000, initial_window_bytes: 10_000, seed };
    Bbr3::new(&Parameters::defaults(ENTRY.parameters), &start)
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
    assert_eq!((state(&driver), driver.field("pacing_gain")), (STARTUP, 2.77));
    round(&mut driver, 12.4); // third
    assert_eq!((state(&driver), driver.field("pacing_gain")), (DRAIN, 0.5));
}

#[test]
fn application_limited_rounds_end_neither_startup_nor_up() {
    let mut driver = driver();
    driver.app_limited = true;
    (0..20).for_each(|_| round(&mut driver, 10.0));
    assert_eq!(state(&driver), STARTUP);
    let mut driver = probing(driver_with(&[("probe_rtt_interval_s", "100")]), 10.0);
    driver.app_limited = true;
    (0..20).for_each(|_| round(&mut driver, 10.0));
    assert_eq!(state(&driver), UP);
}

/// Returns a driver in Startup that lost packets in `ranges` places, `packets` each, in one round of 300 packets in
/// flight.
fn lossy_startup(ranges: u64, packets: u64, in_recovery: bool) -> Driver {
    let mut driver = driver();
    driver.app_limited = true;
    driver.in_flight_packets = 300.0;
    round(&mut driver, 10.0);
    driver.in_recovery = in_recovery;
    for range in 0..ranges {
        driver.lose(packets, range == 0);
        within_round(&mut driver, 1);
    }
    assert_eq!(state(&driver), STARTUP, "the round is not over");
    round(&mut driver, 10.0);
    driver
}

#[test]
fn high_loss_in_six_places_ends_startup_even_when_application_limited() {
    // A loss of 12 in 300 packets is 4 %.
    let driver = lossy_startup(6, 2, true);
    assert_eq!(state(&driver), DRAIN);
    // The bound is one BDP: the packets delivered in the round.
    near(driver.field("inflight_longterm"), 125.0);
    assert_eq!(state(&lossy_startup(5, 3, true)), STARTUP, "five places");
    assert_eq!(state(&lossy_startup(6, 1, true)), STARTUP, "6 of 300 are no more than 2 %");
    assert_eq!(state(&lossy_startup(6, 2, false)), STARTUP, "not in recovery any more");
}

#[test]
fn drain_ends_when_one_bdp_is_in_flight() {
    let mut driver = draining(driver(), 10.0);
    driver.in_flight_packets = 126.0;
    within_round(&mut driver, 1);
    assert_eq!(state(&driver), DRAIN);
    driver.in_flight_packets = 125.0;
    within_round(&mut driver, 1);
    // Down is over at once, because there is no queue.
    assert_eq!((state(&driver), driver.field("pacing_gain")), (CRUISE, 1.0));
}

#[test]
fn drain_ends_after_three_rounds_at_the_latest() {
    let mut driver = draining(driver(), 10.0);
    (0..3).for_each(|_| round(&mut driver, 9.0));
    assert_eq!(state(&driver), DRAIN);
    round(&mut driver, 9.0);
    assert_eq!((state(&driver), driver.field("pacing_gain")), (DOWN, 0.9));
}

#[test]
fn the_next_probe_comes_after_two_to_three_seconds() {
    let mut waits = Vec::new();
    for seed in 0..200 {
        let mut bbr = instance(seed);
        bbr.max_bw.push(1e9);
        bbr.start_down(Time::ZERO);
        let wait = bbr.probe.wait.as_secs_f64();
        assert!((2.0..=3.0).contains(&wait) && bbr.rounds_since_probe <= 1);
        waits.push((wait, bbr.rounds_since_probe));
    }
    let mean = waits.iter().map(|(wait, _)| wait).sum::<f64>() / 200.0;
    // The waits are uniform: the deviation of the mean is 0.29 / sqrt(200) = 0.02; the bounds are five deviations.
    assert!((2.4..2.6).contains(&mean), "{mean}");
    let ones = waits.iter().filter(|(_, rounds)| *rounds == 1).count();
    assert!((65..=135).contains(&ones), "{ones} of 200");
}

#[test]
fn a_small_window_probes_as_often_as_reno_would() {
    let mut driver =
        draining(driver_with(&[("probe_wait_s", "1000"), ("probe_rtt_interval_s", "1000")]), 10.0);
    driver.in_flight_packets = 10.0;
    // 10 packets at first, then one more per ACK: 14 after the four rounds of Startup.
    let mut rounds = 0.0;
    while state(&driver) != REFILL {
        round(&mut driver, 10.0);
        rounds += 1.0;
        assert!(rounds < 100.0);
    }
    // The round count starts at 0 or 1 and must reach the window, which grows by one packet per round until then.
    assert!(rounds >= 62.0, "{rounds} rounds, up to min(BDP, window, 63)");
    assert!(rounds <= 64.0, "{rounds} rounds");
}

#[test]
fn refill_lasts_a_round_and_up_ends_on_a_plateau() {
    let mut driver = cruising(driver(), 10.0);
    refill(&mut driver);
    within_round(&mut driver, 1);
    assert_eq!((state(&driver), driver.field("pacing_gain")), (REFILL, 1.0));
    round(&mut driver, 10.0);
    assert_eq!((state(&driver), driver.field("pacing_gain")), (UP, 1.25));
    within_round(&mut driver, 1000);
    near(driver.field("cwnd"), 2.25 * 125.0 + 2.0);
    round(&mut driver, 10.0);
    round(&mut driver, 12.5); // a quarter more: from here on
    round(&mut driver, 12.5);
    round(&mut driver, 12.5);
    assert_eq!(state(&driver), UP);
    driver.in_flight_packets = 400.0;
    round(&mut driver, 12.5);
    assert_eq!((state(&driver), driver.field("pacing_gain")), (DOWN, 0.9));
}

#[test]
fn losses_beyond_two_percent_end_up_and_set_the_bound_where_they_crossed() {
    let mut driver = probing(driver(), 10.0);
    driver.in_flight_packets = 120.0;
    driver.in_recovery = true;
    driver.lose(2, true); // 2 of 120: 1.7 %
    assert_eq!((state(&driver), driver.field("inflight_longterm")), (UP, 0.0));
    driver.lose(1, false); // 2.5 %
    assert_eq!(state(&driver), DOWN);
    // 119 + (0.02 * 119 - 2) / 0.98.
    let bound = 119.0 + (0.02 * 119.0 - 2.0) / 0.98;
    near(driver.field("inflight_longterm"), bound);
    // More losses of the same probe change nothing.
    driver.lose(20, false);
    near(driver.field("inflight_longterm"), bound);
    // Down lasts until there is headroom: 85 % of 119.4 are 101.5.
    driver.in_flight_packets = 110.0;
    within_round(&mut driver, 1);
    assert_eq!(state(&driver), DOWN);
    near(driver.field("cwnd"), bound);
    driver.in_flight_packets = 101.0;
    within_round(&mut driver, 1);
    assert_eq!(state(&driver), CRUISE);
    near(driver.field("cwnd"), 0.85 * bound);
}

#[test]
fn the_bound_never_falls_below_seven_tenths_of_the_target() {
    let mut driver = probing(driver(), 10.0);
    driver.in_flight_packets = 20.0;
    driver.lose(1, true);
    near(driver.field("inflight_longterm"), 0.7 * 125.0);
}

#[test]
fn a_probe_that_is_application_limited_ends_on_loss_without_a_bound() {
    let mut driver = probing(driver(), 10.0);
    driver.app_limited = true;
    round(&mut driver, 9.0);
    driver.lose(10, true);
    assert_eq!((state(&driver), driver.field("inflight_longterm")), (DOWN, 0.0));
}

#[test]
fn losses_outside_of_a_probe_set_no_long_term_bound() {
    let mut driver = cruising(driver(), 10.0);
    driver.lose(50, true);
    assert_eq!((state(&driver), driver.field("inflight_longterm")), (CRUISE, 0.0));
}

#[test]
fn down_goes_straight_to_the_next_probe_if_the_queue_does_not_go() {
    let mut driver = draining(driver(), 10.0);
    (0..4).for_each(|_| round(&mut driver, 9.0));
    assert_eq!(state(&driver), DOWN);
    refill(&mut driver);
}

/// Returns a driver after a first probe that lost too much at 300 packets in flight, at 20 Mbit/s (BDP 250), and a
/// pause.
fn bounded() -> Driver {
    let mut driver = probing(driver_with(&[("probe_rtt_interval_s", "1000")]), 20.0);
    driver.in_flight_packets = 300.0;
    driver.lose(7, true); // the seventh of 300 exceeds 2 %
    assert_eq!(state(&driver), DOWN);
    near(driver.field("inflight_longterm"), 299.0 - 0.02 / 0.98);
    driver.in_flight_packets = 200.0;
    round(&mut driver, 20.0);
    assert_eq!(state(&driver), CRUISE);
    driver
}

#[test]
fn after_a_lossy_probe_a_careful_one_comes_first_and_a_real_one_right_after() {
    let mut driver = bounded();
    refill(&mut driver);
    round(&mut driver, 20.0);
    assert_eq!(state(&driver), UP);
    driver.in_flight_packets = 299.0;
    within_round(&mut driver, 1);
    assert_eq!(state(&driver), DOWN, "at the bound, before anything is known about it");
    round(&mut driver, 20.0);
    assert_eq!(state(&driver), REFILL, "the careful probe lost nothing");
    round(&mut driver, 20.0);
    within_round(&mut driver, 1);
    assert_eq!(state(&driver), UP, "this one may stay at the bound");
}

#[test]
fn a_careful_probe_with_losses_is_followed_by_the_usual_pause() {
    let mut driver = bounded();
    refill(&mut driver);
    round(&mut driver, 20.0);
    driver.in_flight_packets = 299.0;
    within_round(&mut driver, 1);
    driver.lose(1, true); // the eighth of 299 since the beginning
    driver.in_flight_packets = 200.0;
    round(&mut driver, 20.0);
    assert_eq!(state(&driver), CRUISE);
}

#[test]
fn the_growth_of_the_bound_doubles_every_round() {
    let mut driver = bounded();
    refill(&mut driver);
    round(&mut driver, 20.0);
    driver.in_flight_packets = 299.0;
    within_round(&mut driver, 1);
    round(&mut driver, 20.0);
    round(&mut driver, 20.0);
    assert_eq!(state(&driver), UP);
    // 7 lost packets of 400 are not more than 2 %, so the flight of 400 is safe and becomes the bound.
    driver.in_flight_packets = 400.0;
    within_round(&mut driver, 150);
    near(driver.field("inflight_longterm"), 400.0);
    // This was the round of one packet per window.
    let mut bounds = vec![400.0];
    for _ in 0..4 {
        round(&mut driver, 20.0);
        let cwnd = driver.field("cwnd") as u64;
        within_round(&mut driver, cwnd);
        bounds.push(driver.field("inflight_longterm"));
    }
    let growth: Vec<f64> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(state(&driver), UP, "a rate that the bound holds back is no plateau");
    assert_eq!(growth, [2.0, 4.0, 8.0, 16.0], "{bounds:?}");
}

#[test]
fn a_lossy_round_outside_of_probing_lowers_rate_and_window_to_what_was_delivered() {
    let mut driver = cruising(driver(), 10.0);
    round(&mut driver, 5.0);
    driver.lose(1, true);
    within_round(&mut driver, 1);
    assert_eq!(driver.field("bw_shortterm"), 0.0, "the round is not over");
    round(&mut driver, 5.0);
    near(driver.field("bw_shortterm"), 7.0); // 0.7 * 10, more than 5
    near(driver.field("inflight_shortterm"), 0.7 * 250.0);
    near(driver.field("pacing_rate"), 0.99 * 7.0);
    driver.lose(1, false);
    round(&mut driver, 5.0);
    near(driver.field("bw_shortterm"), 5.0); // 0.7 * 7 is less than 5
    round(&mut driver, 5.0);
    near(driver.field("bw_shortterm"), 5.0);
    refill(&mut driver);
    assert_eq!((driver.field("bw_shortterm"), driver.field("bw")), (0.0, 10.0));
}

#[test]
fn bandwidth_is_the_maximum_of_two_cycles() {
    let mut max = model::MaxBandwidth::default();
    max.push(20.0);
    max.advance();
    max.push(10.0);
    assert_eq!(max.get(), 20.0);
    max.advance();
    assert_eq!(max.get(), 10.0);
    max.advance(); // a cycle without samples
    assert_eq!(max.get(), 10.0);
}

#[test]
fn application_limited_samples_count_only_if_they_are_larger() {
    let mut driver = cruising(driver(), 10.0);
    refill(&mut driver);
    driver.app_limited = true;
    within_round(&mut driver, 1);
    round(&mut driver, 3.0);
    assert_eq!((state(&driver), driver.field("max_bw")), (UP, 10.0));
    round(&mut driver, 11.0);
    assert_eq!(driver.field("max_bw"), 11.0);
}

#[test]
fn probe_rtt_comes_after_five_seconds_and_lasts_200_ms_and_a_round_at_half_a_bdp() {
    let mut driver = cruising(driver_with(&[("probe_wait_s", "1000"), ("probe_wait_rounds", "10000")]), 10.0);
    let cwnd = driver.field("cwnd");
    // The first RTT sample came 0.1 s after the start, and none was lower since: 5 s after it is 4.7 s from now.
    driver.now += Span::from_ms(4700);
    within_round(&mut driver, 1);
    assert_eq!(state(&driver), CRUISE);
    driver.now += Span::from_ns(1);
    within_round(&mut driver, 1);
    assert_eq!((state(&driver), driver.field("cwnd")), (PROBE_RTT, 62.5));
    // The clock starts when the flight has come down.
    driver.now += Span::from_secs(1);
    driver.in_flight_packets = 63.0;
    within_round(&mut driver, 1);
    driver.in_flight_packets = 62.0;
    within_round(&mut driver, 1);
    driver.now += Span::from_ms(201);
    within_round(&mut driver, 1);
    assert_eq!(state(&driver), PROBE_RTT, "200 ms, but no round yet");
    driver.prior_delivered_bytes = None;
    driver.ack(1);
    assert_eq!(state(&driver), CRUISE);
    assert!(driver.field("cwnd") >= cwnd);
    assert_eq!(driver.field("bw"), 10.0);
}

#[test]
fn a_lower_rtt_postpones_probe_rtt() {
    let mut driver = cruising(driver_with(&[("probe_wait_s", "1000"), ("probe_wait_rounds", "10000")]), 10.0);
    driver.now += Span::from_secs(4);
    driver.rtt = Span::from_ms(99);
    within_round(&mut driver, 1);
    driver.rtt = Span::from_ms(110);
    driver.now += Span::from_secs(5);
    within_round(&mut driver, 1);
    assert_eq!((state(&driver), driver.field("min_rtt")), (CRUISE, 99.0));
    driver.now += Span::from_ns(1);
    within_round(&mut driver, 1);
    assert_eq!((state(&driver), driver.field("min_rtt")), (PROBE_RTT, 99.0));
}

#[test]
fn the_minimum_rtt_is_forgotten_after_ten_seconds() {
    let settings = Settings::new(&Parameters::defaults(ENTRY.parameters));
    let mut min_rtt = MinRtt::new(Time::ZERO);
    let at = |s: u64| Time::ZERO + Span::from_secs(s);
    let mut update = |s, ms| {
        min_rtt.update(at(s), Some(Span::from_ms(ms)), &settings);
        min_rtt.rtt.map(Span::as_ms_f64)
    };
    assert_eq!(update(1, 50), Some(50.0));
    assert_eq!(update(7, 80), Some(50.0)); // ProbeRTT's own minimum is 80 from here on
    assert_eq!(update(11, 90), Some(50.0));
    assert_eq!(update(12, 90), Some(80.0));
}

#[test]
fn probe_rtt_in_startup_returns_to_startup() {
    let mut driver = driver();
    driver.app_limited = true;
    round(&mut driver, 10.0);
    driver.now += Span::from_secs(6);
    driver.in_flight_packets = 4.0;
    within_round(&mut driver, 1);
    assert_eq!(state(&driver), PROBE_RTT);
    driver.now += Span::from_ms(201);
    round(&mut driver, 1.0);
    assert_eq!((state(&driver), driver.field("bw")), (STARTUP, 10.0));
}

#[test]
fn restarting_from_idle_skips_probe_rtt_and_paces_at_the_bandwidth() {
    let mut driver = cruising(driver_with(&[("probe_wait_s", "1000"), ("probe_wait_rounds", "10000")]), 10.0);
    driver.app_limited = true;
    within_round(&mut driver, 1);
    driver.now += Span::from_secs(11);
    driver.in_flight_packets = 1.0;
    driver.send();
    near(driver.field("pacing_rate"), 9.9);
    driver.rtt = Span::from_ms(120);
    within_round(&mut driver, 1);
    assert_eq!((state(&driver), driver.field("min_rtt")), (CRUISE, 120.0));
}

#[test]
fn a_spurious_episode_in_up_is_undone_and_the_probe_repeated() {
    let mut driver = probing(driver(), 10.0);
    within_round(&mut driver, 1000);
    let before = driver.field("cwnd");
    driver.in_flight_packets = 100.0;
    driver.in_recovery = true;
    driver.lose(5, true);
    within_round(&mut driver, 1);
    assert!(state(&driver) != UP && driver.field("inflight_longterm") > 0.0 && driver.field("cwnd") < before);
    driver.controller.on_spurious_loss(driver.now);
    assert_eq!((state(&driver), driver.field("inflight_longterm")), (REFILL, 0.0));
    assert_eq!(driver.field("cwnd"), before);
}

#[test]
fn a_spurious_episode_in_startup_is_undone() {
    let mut driver = lossy_startup(6, 2, true);
    assert_eq!(state(&driver), DRAIN);
    driver.controller.on_spurious_loss(driver.now);
    assert_eq!((state(&driver), driver.field("inflight_longterm")), (STARTUP, 0.0));
}

#[test]
fn a_spurious_episode_in_cruise_gives_the_short_term_bounds_back() {
    let mut driver = cruising(driver(), 10.0);
    round(&mut driver, 5.0);
    driver.lose(1, true);
    round(&mut driver, 5.0);
    assert!(driver.field("bw_shortterm") > 0.0);
    driver.controller.on_spurious_loss(driver.now);
    assert_eq!((driver.field("bw_shortterm"), driver.field("inflight_shortterm")), (0.0, 0.0));
    assert_eq!(state(&driver), CRUISE);
}

#[test]
fn a_timeout_restarts_from_one_packet_and_gives_the_window_back_once_repaired() {
    let mut driver = cruising(driver(), 10.0);
    let before = driver.field("cwnd");
    driver.in_flight_packets = 3.0;
    driver.timeout(false);
    driver.timeout(true);
    assert_eq!(driver.field("cwnd"), 1.0);
    within_round(&mut driver, 1);
    assert_eq!(driver.field("cwnd"), 4.0); // the smallest window
    within_round(&mut driver, 1);
    assert_eq!(driver.field("cwnd"), 5.0);
    within_round(&mut driver, 1); // three packets again
    assert_eq!(driver.field("cwnd"), before);
}

#[test]
fn recovery_gives_the_window_back_within_the_bounds() {
    let mut driver = cruising(driver(), 10.0);
    driver.in_recovery = true;
    round(&mut driver, 5.0);
    driver.lose(1, true);
    round(&mut driver, 5.0);
    near(driver.field("cwnd"), 0.7 * 250.0);
    driver.in_recovery = false;
    within_round(&mut driver, 1);
    near(driver.field("cwnd"), 0.7 * 250.0); // the saved 250, bounded
}

#[test]
fn a_bdp_below_one_packet_leaves_a_window_of_six_packets() {
    let mut driver = driver();
    driver.in_flight_packets = 2.0;
    // The BDP is 0.125 packets. Three quanta of two packets are more than the minimum window; two more are allowed in
    // Up.
    for _ in 0..30 {
        round(&mut driver, 0.01);
        assert!((6.0..=14.0).contains(&driver.field("cwnd")));
    }
    let expected = if state(&driver) == UP { 6.0..=8.0 } else { 6.0..=6.0 };
    assert!(expected.contains(&driver.field("cwnd")), "{}", driver.field("cwnd"));
}

#[test]
fn ack_aggregation_widens_the_window_unless_switched_off() {
    let cwnd = |setting| {
        let mut driver = Driver::new(&ENTRY, &[("extra_acked", setting)]);
        driver.in_flight_packets = 125.0;
        (0..4).for_each(|_| round(&mut driver, 10.0));
        driver.now += Span::from_ms(1);
        // 40 packets arrive in 1 ms, several times; 1.25 were expected.
        (0..20).for_each(|_| within_round(&mut driver, 40));
        driver.field("cwnd")
    };
    assert_eq!(cwnd("off"), 250.0);
    assert!(cwnd("on") > 250.0 + 38.0, "{}", cwnd("on"));
}

#[test]
fn an_excess_of_acks_is_remembered_for_ten_rounds() {
    let mut driver = Driver::new(&ENTRY, &[]);
    driver.in_flight_packets = 125.0;
    (0..4).for_each(|_| round(&mut driver, 10.0));
    within_round(&mut driver, 40);
    let excess = driver.field("extra_acked");
    assert!(excess > 10.0, "{excess}: 40 packets, but no more than the window");
    (0..10).for_each(|_| round(&mut driver, 10.0));
    assert_eq!(driver.field("extra_acked"), excess);
    round(&mut driver, 10.0);
    assert_eq!(driver.field("extra_acked"), 1.0); // each round has a packet of its own
}

#[test]
fn pacing_stays_one_percent_below_the_bandwidth_and_bursts_are_a_millisecond() {
    let mut driver = driver();
    // Without an RTT, the rate is 10 packets per ms at 2.77.
    near(driver.field("pacing_rate"), 80.0 * 2.77);
    round(&mut driver, 0.001);
    // The rate starts from 10 packets of 8000 bit per 100 ms.
    near(driver.field("pacing_rate"), 0.8 * 2.77);
    let driver = cruising(self::driver(), 100.0);
    near(driver.field("pacing_rate"), 99.0);
    // 99e6 / 8 / 1000 = 12,375 bytes.
    assert_eq!(driver.control().burst_bytes, 12_375);
}

#[test]
fn an_acknowledgement_of_nothing_changes_nothing() {
    let mut driver = cruising(driver(), 10.0);
    let before = driver.control();
    driver.ack(0);
    assert_eq!(driver.control(), before);
}

/// Returns a driver that responds to marks, on a path of `rtt_ms`.
fn marked_driver(rtt_ms: u64) -> Driver {
    let mut driver = driver_with(&[("ecn", "on"), ("probe_rtt_interval_s", "100")]);
    driver.rtt = Span::from_ms(rtt_ms);
    driver
}

/// Runs Startup with ever more bandwidth and every packet marked; returns the state after each round.
fn marked_startup(mut driver: Driver) -> Vec<f64> {
    driver.in_flight_packets = 100_000.0;
    [10.0, 20.0, 40.0, 80.0]
        .iter()
        .map(|mbps| {
            driver.mark(true);
            round(&mut driver, *mbps);
            state(&driver)
        })
        .collect()
}

#[test]
fn two_marked_rounds_end_startup_on_short_paths_alone() {
    // The minimum RTT is known from the second round on.
    assert_eq!(marked_startup(marked_driver(5)), [STARTUP, STARTUP, DRAIN, DRAIN]);
    assert_eq!(marked_startup(marked_driver(6)), [STARTUP; 4]);
    assert_eq!(marked_startup(driver()), [STARTUP; 4]);
}

#[test]
fn a_marked_round_takes_a_third_of_alpha_from_the_bound_outside_of_probes() {
    let mut driver = cruising(marked_driver(4), 100.0);
    round(&mut driver, 100.0);
    assert_eq!(driver.field("inflight_shortterm"), 0.0);
    let window = driver.field("cwnd");
    // No round before this one had marks.
    let rounds = driver.field("round_count") as u32;
    driver.mark(true);
    round(&mut driver, 100.0);
    let clean = (0..rounds).fold(1.0, |alpha, _| alpha * 15.0 / 16.0);
    let alpha = clean + (1.0 - clean) / 16.0;
    let bound = driver.field("inflight_shortterm");
    near(bound, window * (1.0 - alpha / 3.0));
    round(&mut driver, 100.0);
    assert_eq!(driver.field("inflight_shortterm"), bound, "a round without marks");
    refill(&mut driver);
    assert_eq!(driver.field("inflight_shortterm"), 0.0, "probes know no short-term bound");
}

#[test]
fn a_probe_ends_where_more_than_half_of_a_round_was_marked() {
    let mut driver = probing(marked_driver(4), 100.0);
    round(&mut driver, 110.0);
    assert_eq!(state(&driver), UP);
    driver.mark(true);
    round(&mut driver, 110.0);
    assert_eq!(state(&driver), DOWN);
    assert!(driver.field("inflight_longterm") > 0.0);
}
