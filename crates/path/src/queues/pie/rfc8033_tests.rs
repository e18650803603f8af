//! Tests of PIE against numbers computed by hand from RFC 8033.

use super::*;
use crate::queues::testing::Recorder;
use crate::{Ecn, NoTap};

const SETTINGS: Settings = Settings {
    target: Span::from_ms(15),
    t_update: Span::from_ms(15),
    max_burst: Span::from_ms(150),
    ecn: false,
};

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn close(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-12
}

/// Returns PIE on a link of 12 Mbit/s = 1.5 bytes/us with `packets` packets of 1500 bytes (1 ms each) queued at time 0.
fn pie(settings: Settings, packets: u64) -> Rfc8033 {
    let mut pie = Rfc8033::new(Limits::new(None, None).unwrap(), settings, Rng::new(1, "pie"));
    pie.set_rate(Rate::from_mbps(12.0));
    for number in 0..packets {
        pie.enqueue(Time::ZERO, Packet::new(0, number, 1500, 0, Time::ZERO), &mut NoTap);
    }
    pie
}

#[test]
fn the_probability_moves_by_the_published_formula() {
    let mut pie = pie(SETTINGS, 30);
    // 30 packets: 30 ms. 0.125 x (0.030 - 0.015) + 1.25 x (0.030 - 0) = 0.001875 + 0.0375 = 0.039375; p = 0: / 2048.
    pie.catch_up(at_ms(15));
    let first = 0.039_375 / 2048.0;
    assert!(close(pie.controller.drop_probability, first), "{:?}", pie.controller);
    // No change of the delay: 0.001875; p = 1.92e-5 < 1e-4: / 128.
    pie.catch_up(at_ms(30));
    assert!(close(pie.controller.drop_probability, first + 0.001_875 / 128.0));
    assert_eq!(pie.controller.burst_allowance, Span::from_ms(120));
}

#[test]
fn small_probabilities_move_slowly() {
    let scales = [0.0, 0.000_001, 0.000_01, 0.000_1, 0.001, 0.01, 0.1, 0.5].map(|p| 1.0 / tuning(p));
    assert_eq!(scales, [2048.0, 512.0, 128.0, 32.0, 8.0, 2.0, 1.0, 1.0]);
    assert_eq!(1.0 / tuning(0.000_000_999), 2048.0);
    assert_eq!(1.0 / tuning(0.099_999), 2.0);
}

#[test]
fn large_steps_are_capped_above_ten_percent() {
    let step_from = |drop_probability| {
        let mut controller =
            Controller { drop_probability, delay: 0.0, delay_old: 0.0, burst_allowance: Span::ZERO };
        controller.update(0.100, &SETTINGS);
        controller.drop_probability - drop_probability
    };
    // 0.125 x 0.085 + 1.25 x 0.1 = 0.010625 + 0.125 = 0.135625; halved below 0.1, capped to 0.02 from 0.1 on.
    assert!(close(step_from(0.05), 0.067_812_5));
    assert!(close(step_from(0.1), 0.02));
}

#[test]
fn without_delay_the_probability_decays_and_the_burst_allowance_returns() {
    let mut controller =
        Controller { drop_probability: 0.5, delay: 0.0, delay_old: 0.0, burst_allowance: Span::ZERO };
    controller.update(0.0, &SETTINGS);
    // (0.5 - 0.125 x 0.015) x 0.98 = 0.498125 x 0.98 = 0.4881625
    assert!(close(controller.drop_probability, 0.488_162_5));
    let mut updates = 1;
    while controller.drop_probability > 0.0 {
        assert_eq!(controller.burst_allowance, Span::ZERO);
        controller.update(0.0, &SETTINGS);
        updates += 1;
    }
    assert_eq!(controller.burst_allowance, Span::from_ms(150));
    assert!(updates < 1000, "{updates}");
}

#[test]
fn the_departure_rate_is_measured_over_16_kib() {
    let mut pie = pie(SETTINGS, 40);
    pie.set_rate(Rate::ZERO);
    // One packet per 2 ms: 750 bytes/ms. The first departure starts the measurement. The next 11 packets are 16500 >=
    // 16384 bytes in 22 ms: 16384 bytes in 16384 / 750 = 21.8453 ms.
    for departure in 0..11 {
        pie.dequeue(at_ms(100 + 2 * departure), &mut NoTap).unwrap();
        assert_eq!(pie.departures.average, 0.0);
    }
    pie.dequeue(at_ms(122), &mut NoTap).unwrap();
    assert!(close(pie.departures.average, 0.016_384 / 0.75));
    // 28 packets remain: 42000 / 750 = 56 ms.
    assert!(close(pie.departures.delay(pie.fifo.bytes()), 0.056));
    // The next 11 packets at one per ms have the weight 1/4: 3/4 x 21.8453 + 1/4 x 10.9227 = 19.1147 ms.
    for departure in 1..=11 {
        pie.dequeue(at_ms(122 + departure), &mut NoTap).unwrap();
    }
    assert!(close(pie.departures.average, 0.875 * 0.016_384 / 0.75));
}

#[test]
fn nothing_is_dropped_before_the_burst_allowance_is_used_up() {
    let mut pie = pie(SETTINGS, 100);
    let mut tap = Recorder::default();
    let mut first_drop = None;
    for ms in 1..400 {
        let now = at_ms(ms);
        for _ in 0..2 {
            pie.enqueue(now, Packet::new(0, 0, 1500, 0, now), &mut tap);
        }
        pie.dequeue(now, &mut NoTap);
        if first_drop.is_none() && !tap.dropped.is_empty() {
            first_drop = Some(ms);
        }
    }
    // Ten updates of 15 ms use up 150 ms.
    assert!(first_drop.is_some_and(|ms| ms >= 150), "{first_drop:?}");
}

#[test]
fn drops_are_spread_by_the_sum_of_probabilities() {
    let mut pie = pie(SETTINGS, 100);
    pie.controller =
        Controller { drop_probability: 0.25, delay: 0.1, delay_old: 0.1, burst_allowance: Span::ZERO };
    pie.next_update = Time::NEVER;
    let gaps: Vec<u32> = (0..2000)
        .map(|_| (1..100).find(|_| pie.signals()).expect("at 8.5 / 0.25 = 34 arrivals at the latest"))
        .collect();
    // 0.25, 0.50, 0.75 < 0.85: no drop before the fourth arrival; a certain drop at 8.5.
    assert_eq!(gaps.iter().min(), Some(&4));
    assert!(gaps.iter().max() <= Some(&34));
    // From the fourth arrival on geometric with mean 4: 3 + 4 = 7; standard error 3.5 / sqrt(2000) = 0.08.
    let mean = f64::from(gaps.iter().sum::<u32>()) / 2000.0;
    assert!((mean - 7.0).abs() < 0.4, "{mean}");
}

#[test]
fn two_packets_or_a_relaxed_controller_keep_arrivals_from_being_dropped() {
    let drops = |packets, drop_probability, delay_old| {
        let mut pie = pie(SETTINGS, packets);
        pie.controller = Controller { drop_probability, delay: 0.1, delay_old, burst_allowance: Span::ZERO };
        (0..100).any(|_| pie.signals())
    };
    assert!(!drops(2, 1.0, 0.1) && drops(3, 1.0, 0.1));
    // Relaxed: last delay below 7.5 ms and probability below 0.2.
    assert!(!drops(30, 0.199, 0.0074) && drops(30, 0.2, 0.0074) && drops(30, 0.199, 0.0075));
}

#[test]
fn capable_packets_are_marked_up_to_ten_percent_and_dropped_above() {
    let outcome = |drop_probability| {
        let mut pie = pie(Settings { ecn: true, ..SETTINGS }, 100);
        pie.controller =
            Controller { drop_probability, delay: 0.1, delay_old: 0.1, burst_allowance: Span::ZERO };
        pie.next_update = Time::NEVER;
        let mut tap = Recorder::default();
        for number in 0..1000 {
            let mut packet = Packet::new(0, number, 1500, 0, Time::ZERO);
            packet.ecn = Ecn::ECT1;
            pie.enqueue(Time::ZERO, packet, &mut tap);
        }
        (tap.marked.is_empty(), tap.dropped.is_empty())
    };
    assert_eq!(outcome(0.1), (false, true));
    assert_eq!(outcome(0.11), (true, false));
}

#[test]
fn a_long_idle_time_is_made_up_for_at_once_and_keeps_the_update_grid() {
    let mut pie = pie(SETTINGS, 1);
    pie.dequeue(at_ms(1), &mut NoTap).unwrap();
    // An hour has 240,000 updates, of which the first two change the state.
    pie.catch_up(at_ms(3_600_007));
    assert_eq!(pie.next_update, at_ms(3_600_015));
    assert_eq!(pie.controller.drop_probability, 0.0);
    pie.catch_up(at_ms(3_600_015));
    assert_eq!(pie.next_update, at_ms(3_600_030));
}

#[test]
fn twice_the_link_rate_of_unresponsive_load_settles_at_half_dropped() {
    let mut pie = pie(SETTINGS, 0);
    let mut tap = Recorder::default();
    let mut backlogs = 0;
    for ms in 0..60_000 {
        let now = at_ms(ms);
        for _ in 0..2 {
            pie.enqueue(now, Packet::new(0, 0, 1500, 0, now), &mut tap);
        }
        pie.dequeue(now, &mut NoTap);
        backlogs += if ms >= 50_000 { pie.fifo.packets() } else { 0 };
    }
    let late = tap.dropped.iter().filter(|(time, _)| *time >= at_ms(50_000)).count();
    // Two packets arrive per ms, one leaves: half of the 20,000 arrivals of the last 10 s must be dropped.
    assert!((9_900..=10_100).contains(&late), "{late}");
    // De-randomised drops come later than 1/p, so the probability itself ends above one half.
    assert!(pie.controller.drop_probability > 0.5, "{:?}", pie.controller);
    // On average 15 packets of 1 ms wait.
    let mean_ms = backlogs as f64 / 10_000.0;
    assert!((mean_ms - 15.0).abs() < 1.0, "{mean_ms}");
}
