//! Tests of the window, the marks and the target against hand-computed values.

use super::*;
use crate::testing::{Driver, MSS_BYTES};
use units::Rate;

const MSS: f64 = MSS_BYTES as f64;

/// Settings of the scheme `scream-draft`.
const DRAFT: &[(&str, &str)] = &[
    ("form", "draft"),
    ("loss_threshold", "0"),
    ("loss_delay_packets", "0"),
    ("jitter_scaling", "false"),
    ("acked_margin", "0"),
    ("beta_ecn", "0.8"),
    ("min_ref_wnd_bytes", "3000"),
    ("mul_increase", "0.02"),
    ("post_congestion_rtts", "100"),
    ("in_flight_headroom", "1.5"),
    ("window_overhead", "3"),
    ("rate_margin", "1.2"),
    ("relaxed_pacing", "4"),
    ("adaptive_pacing", "1"),
    ("drain_after_s", "20"),
];

/// Returns a driver of the draft after its first feedback: RTT 100 ms, so 1 Mbit/s is a window of 12.5 kB.
fn driver(settings: &[(&str, &str)]) -> Driver {
    let settings: Vec<_> = DRAFT.iter().chain(settings).copied().collect();
    fed(Driver::new(&ENTRY, &settings))
}

/// Returns a driver of the program after its first feedback.
fn program(settings: &[(&str, &str)]) -> Driver {
    fed(Driver::new(&ENTRY, settings))
}

fn fed(mut driver: Driver) -> Driver {
    driver.in_flight_packets = 1000.0;
    driver.peak_in_flight_packets = 1000.0;
    driver.ack(1);
    driver
}

/// Returns the bytes that one acknowledged packet adds to `window` far from any congestion at an RTT above 25 ms.
fn growth(window: f64) -> f64 {
    MSS * (MSS / window) * (1.0 + 0.02 * window / MSS)
}

#[test]
fn the_window_begins_at_the_start_rate_times_the_first_rtt() {
    let driver = driver(&[]);
    let expected = 12_500.0 + growth(12_500.0);
    assert!((driver.field("ref_wnd") - expected).abs() < 1e-6, "{}", driver.field("ref_wnd"));
    let control = driver.control();
    assert_eq!(control.window_bytes, (3.0 * expected) as u64);
    // The target is 8 * 12.6 kB / 100 ms * 1000/1020 / 1.2.
    let target = 8.0 * expected / 0.1 * (MSS / (MSS + 20.0)) / 1.2;
    assert_eq!(control.media_rate, Some(Rate::from_bps_f64(target)));
    assert_eq!(control.pacing, Some(Rate::from_bps_f64(1.5 * target)));
}

#[test]
fn growth_is_a_segment_and_two_percent_per_round_trip() {
    let mut driver = driver(&[]);
    let mut expected = driver.field("ref_wnd");
    for _ in 0..20 {
        driver.now += Span::from_ms(5);
        driver.ack(1);
        expected += growth(expected);
    }
    assert!((driver.field("ref_wnd") - expected).abs() < 1e-6);
}

#[test]
fn the_window_does_not_grow_beyond_what_is_used() {
    let mut driver = driver(&[]);
    driver.in_flight_packets = 4.0;
    driver.peak_in_flight_packets = 8.0;
    for _ in 0..200 {
        driver.now += Span::from_ms(5);
        driver.ack(1);
    }
    // The window is at most one segment plus 1.5 times the peak; it began at 12.5 kB.
    let window = driver.field("ref_wnd");
    assert!((12_900.0..=13_000.0).contains(&window), "{window}");
}

#[test]
fn a_flight_with_losses_counts_once_and_the_next_one_again() {
    let mut driver = driver(&[("mul_increase", "0")]);
    driver.next_number = 100;
    let before = driver.field("ref_wnd");
    let react = |driver: &mut Driver| {
        driver.now += Span::from_ms(30);
        driver.lose(2, false);
        driver.ack(1);
    };
    react(&mut driver);
    let once = driver.field("ref_wnd");
    // The ACK that reports the loss also grows the window, at a quarter of the speed next to the inflection point.
    assert!((once - (0.7 * before + MSS * MSS / (0.7 * before))).abs() < 1e-6, "{before} {once}");
    assert_eq!(driver.field("ref_wnd_i"), before);
    react(&mut driver);
    assert!(driver.field("ref_wnd") > once, "lost in the same flight");
    driver.next_acked = 100;
    react(&mut driver);
    assert!(driver.field("ref_wnd") < 0.75 * once, "lost in the next flight");
}

#[test]
fn marks_reduce_by_half_their_averaged_share() {
    let mut driver = driver(&[]);
    driver.now += Span::from_ms(100);
    let before = driver.field("ref_wnd");
    // There is no delay, so the distance from the inflection point scales the reaction, and there is no such point.
    driver.mark(true);
    driver.ack(1);
    let alpha = driver.field("l4s_alpha");
    assert!((alpha - 1.0 / 8.0).abs() < 1e-12, "{alpha}");
    // An RTT of 100 ms allows four reactions, each a quarter of alpha / 2; nothing unmarked was acknowledged.
    let expected = before * (1.0 - alpha / 2.0 / 4.0);
    assert!((driver.field("ref_wnd") - expected).abs() < 1e-6);
    // Without further marks alpha decays by 1/128 per update.
    driver.now += Span::from_ms(20);
    driver.ack(1);
    assert!((driver.field("l4s_alpha") - alpha * 127.0 / 128.0).abs() < 1e-12);
}

#[test]
fn classic_marks_take_a_fifth() {
    let mut driver = driver(&[("ecn", "classic")]);
    driver.now += Span::from_ms(100);
    let before = driver.field("ref_wnd");
    driver.mark(true);
    driver.ack(1);
    assert!((driver.field("ref_wnd") - 0.8 * before).abs() < 1e-6);
}

#[test]
fn queueing_delay_beyond_half_of_the_target_shrinks_the_window() {
    let mut driver = driver(&[("in_flight_headroom", "1")]);
    driver.in_flight_packets = 1.0;
    driver.peak_in_flight_packets = 1.0;
    let settle = |driver: &mut Driver, delay_ms: u64| {
        driver.one_way = Span::from_ms(50 + delay_ms);
        for _ in 0..40 {
            driver.now += Span::from_ms(25);
            driver.ack(1);
        }
        driver.field("ref_wnd")
    };
    let before = driver.field("ref_wnd");
    assert_eq!(settle(&mut driver, 29), before, "29 ms is below half of 60 ms");
    // 45 ms is half way to the full reaction; there are four reactions per RTT, each a quarter of 0.5 / 2.
    driver.one_way = Span::from_ms(95);
    for _ in 0..10 {
        driver.now += Span::from_ms(25);
        driver.ack(1);
    }
    let average = driver.field("qdelay_avg");
    assert!((42.0..45.0).contains(&average), "{average}");
    let window = driver.field("ref_wnd");
    assert!(window > 3500.0 && window < before, "{window}");
    driver.now += Span::from_ms(25);
    driver.ack(1);
    let marking = (driver.field("qdelay_avg") - 30.0) / 30.0;
    assert!((driver.field("ref_wnd") / window - (1.0 - marking / 2.0 / 4.0)).abs() < 1e-9);
    // A smaller delay replaces the average at once.
    driver.one_way = Span::from_ms(52);
    driver.now += Span::from_ms(25);
    driver.ack(1);
    assert!((driver.field("qdelay_avg") - 2.0).abs() < 1e-9);
}

#[test]
fn a_queue_that_stands_for_twenty_seconds_is_drained_once() {
    let mut driver = driver(&[("mul_increase", "0")]);
    driver.peak_in_flight_packets = 0.0;
    driver.in_flight_packets = 0.0;
    driver.one_way = Span::from_ms(70);
    driver.now += Span::from_ms(25);
    driver.ack(1);
    let target = driver.field("target_rate");
    let mut halved = 0;
    for _ in 0..1200 {
        driver.now += Span::from_ms(25);
        driver.ack(1);
        halved += u32::from(driver.field("target_rate") < 0.51 * target);
    }
    // A drain lasts 5 RTT of 100 ms in 30 s.
    assert_eq!(halved, 20);
}

#[test]
fn late_and_large_frames_lower_the_target() {
    let mut driver = driver(&[]);
    let target = driver.field("target_rate");
    let frame = |driver: &mut Driver, waited_ms: u64, factor: f64| {
        driver.now += Span::from_ms(40);
        let nominal = driver.field("target_rate") * 1e6 / 8.0 * 0.04;
        driver.controller.on_frame(&Frame {
            now: driver.now,
            bytes: (nominal * factor) as u64,
            key: false,
            queued_bytes: 0,
            queue_delay: Span::from_ms(waited_ms),
            number: 1,
        });
    };
    // A wait of a quarter of the period changes nothing.
    (0..10).for_each(|_| frame(&mut driver, 10, 1.0));
    assert!((driver.field("target_rate") - target).abs() < 2e-6);
    frame(&mut driver, 40, 1.0);
    assert!((driver.field("rate_adjust") - 0.75 / 16.0).abs() < 1e-9);
    assert!((driver.field("target_rate") / target - 1.2 / (1.2 + 0.75 / 16.0)).abs() < 1e-5);
    (0..50).for_each(|_| frame(&mut driver, 400, 1.0));
    assert_eq!(driver.field("rate_adjust"), 0.5);
    (0..100).for_each(|_| frame(&mut driver, 0, 1.0));
    assert_eq!(driver.field("rate_adjust"), 0.0);
    (0..500).for_each(|_| frame(&mut driver, 0, 1.5));
    assert!((driver.field("target_rate") / target - 1.2 / 1.4).abs() < 1e-3, "at most 0.2 for large frames");
}

#[test]
fn near_the_highest_bitrate_pacing_is_relaxed() {
    let pacing = |max: &str| {
        let control = driver(&[("max_rate_mbps", max)]).control();
        control.pacing.unwrap().bps() as f64 / control.media_rate.unwrap().bps() as f64
    };
    assert!((pacing("100") - 1.5).abs() < 1e-5);
    assert!((pacing("0.5") - 4.0).abs() < 1e-5);
    let between = pacing("0.9");
    assert!((1.6..3.9).contains(&between), "{between}");
}

#[test]
fn silence_counts_as_a_loss() {
    let mut driver = driver(&[]);
    let before = driver.field("ref_wnd");
    driver.now += Span::from_secs(1);
    driver.timeout(false);
    assert!((driver.field("ref_wnd") - 0.7 * before).abs() < 1e-6);
    (0..50).for_each(|_| driver.timeout(true));
    assert_eq!(driver.field("ref_wnd"), 3000.0);
}

/// Loses one packet in `every`, spread evenly, over `packets`.
fn lose_one_in(driver: &mut Driver, every: u32, packets: u32) {
    for packet in 1..=packets {
        driver.now += Span::from_ms(5);
        driver.next_number += 1;
        if packet % every == 0 {
            driver.lose(1, false);
        }
        driver.ack(1);
    }
}

#[test]
fn few_losses_without_a_queue_are_not_congestion() {
    let settings = [("jitter_scaling", "false"), ("mul_increase", "0"), ("loss_delay_packets", "0")];
    let mut rare = program(&settings);
    let before = rare.field("ref_wnd");
    lose_one_in(&mut rare, 200, 2000);
    assert!(rare.field("ref_wnd") > before, "half a percent: {}", rare.field("ref_wnd"));
    assert!((0.002..0.008).contains(&rare.field("loss_share")), "{}", rare.field("loss_share"));
    let mut frequent = program(&settings);
    lose_one_in(&mut frequent, 20, 2000);
    assert!(frequent.field("ref_wnd") < before, "five percent: {}", frequent.field("ref_wnd"));
    // A queue above a quarter of the target makes the first loss count: 20 ms of 60.
    let mut queued = program(&settings);
    queued.one_way += Span::from_ms(20);
    for _ in 0..20 {
        queued.now += Span::from_ms(35);
        queued.ack(1);
    }
    let before = queued.field("ref_wnd");
    queued.now += Span::from_ms(35);
    queued.lose(1, false);
    queued.ack(1);
    assert!((queued.field("ref_wnd") / before - 0.7).abs() < 0.02, "{}", queued.field("ref_wnd") / before);
    // Within an RTT of that reaction another one does not count.
    let after = queued.field("ref_wnd");
    queued.now += Span::from_ms(35);
    queued.lose(1, false);
    queued.ack(1);
    assert!(queued.field("ref_wnd") >= after);
}

#[test]
fn a_delay_that_varies_slows_growth_and_shrinks_what_may_be_in_flight() {
    let mut steady = program(&[]);
    let mut jumping = program(&[]);
    for step in 0..400 {
        for (driver, delay_ms) in [(&mut steady, 50), (&mut jumping, if step % 2 == 0 { 50 } else { 75 })] {
            driver.now += Span::from_ms(35);
            driver.one_way = Span::from_ms(delay_ms);
            driver.ack(1);
        }
    }
    assert_eq!(steady.field("jitter_scale"), 1.0);
    assert!(jumping.field("jitter_scale") < 0.2, "{}", jumping.field("jitter_scale"));
    let overhead = |driver: &Driver| driver.control().window_bytes as f64 / driver.field("ref_wnd");
    assert!((overhead(&steady) - 5.0).abs() < 1e-3);
    let expected = 1.5 + 3.5 * jumping.field("jitter_scale");
    assert!((overhead(&jumping) - expected).abs() < 1e-3, "{}", overhead(&jumping));
    assert!(jumping.field("ref_wnd") < 0.7 * steady.field("ref_wnd"));
}

#[test]
fn reactions_to_delay_are_scaled_by_the_rtt_twice_in_the_program_and_once_in_the_draft() {
    let reaction = |mut driver: Driver| {
        driver.one_way += Span::from_ms(200);
        let mut factor = 1.0;
        // The loop ends with a reaction at the full strength of one half, before the RTT's scale.
        for _ in 0..8 {
            driver.now += Span::from_ms(150);
            let before = driver.field("ref_wnd");
            driver.peak_in_flight_packets = 0.0;
            driver.ack(1);
            factor = driver.field("ref_wnd") / before;
        }
        1.0 - factor
    };
    // With an RTT of 100 ms the draft has 4 intervals of 25 ms. The program, whose RTT is smoothed twice, has less than
    // 3.3 of 30 ms.
    assert!((reaction(driver(&[])) - 0.125).abs() < 1e-9);
    let once = reaction(program(&[]));
    assert!((0.5 / 11.2..0.5 / 3.0).contains(&once), "{once}");
}

#[test]
fn a_target_well_below_the_acknowledged_rate_quarters_the_reaction() {
    let reaction = |acked_margin: &str| {
        let mut driver = program(&[("acked_margin", acked_margin), ("max_rate_mbps", "0.1")]);
        driver.peak_in_flight_packets = 0.0;
        // 1000 bytes every 5 ms are 1.6 Mbit/s; the target is at most 0.1.
        for _ in 0..100 {
            driver.now += Span::from_ms(5);
            driver.ack(1);
        }
        driver.one_way += Span::from_ms(100);
        let before = driver.field("ref_wnd");
        for _ in 0..60 {
            driver.now += Span::from_ms(5);
            driver.ack(1);
        }
        1.0 - driver.field("ref_wnd") / before
    };
    let (full, quarter) = (reaction("0"), reaction("0.8"));
    assert!(quarter > 0.0 && quarter < 0.4 * full, "{quarter} {full}");
}

#[test]
fn large_frames_and_recent_ones_are_paced_faster() {
    let mut driver = program(&[]);
    let nominal = |driver: &Driver| driver.field("target_rate") * 1e6 / 8.0 * 0.04;
    let frame = |driver: &mut Driver, factor: f64| {
        driver.now += Span::from_ms(40);
        let bytes = (nominal(driver) * factor) as u64;
        driver.controller.on_frame(&Frame {
            now: driver.now,
            bytes,
            key: false,
            queued_bytes: bytes,
            queue_delay: Span::ZERO,
            number: 1,
        });
        let control = driver.control();
        control.pacing.unwrap().bps() as f64 / control.media_rate.unwrap().bps() as f64
    };
    frame(&mut driver, 0.5);
    assert!((frame(&mut driver, 0.5) - 1.5).abs() < 1e-3);
    assert!((frame(&mut driver, 1.2) - 1.5 * 1.2).abs() < 0.01);
    assert!((frame(&mut driver, 3.0) - 1.5 * 1.5).abs() < 0.01);
    // Frames have twice the target's size for a while: the pacing rate follows them, not the target.
    (0..20).for_each(|_| _ = frame(&mut driver, 2.0));
    let ratio = frame(&mut driver, 1.0);
    assert!((2.5..3.2).contains(&ratio), "{ratio}");
}

#[test]
fn near_the_highest_bitrate_the_program_bounds_the_window() {
    let window = |settings: &[(&str, &str)]| {
        let mut driver = fed(Driver::new(&ENTRY, settings));
        for _ in 0..400 {
            driver.now += Span::from_ms(5);
            driver.peak_in_flight_packets = 8.0;
            driver.ack(1);
        }
        driver.field("ref_wnd")
    };
    // 0.1 Mbit/s needs 1.9 kB at 1.5 times the rate; 8 kB were in flight; the window began with 12.5 kB.
    let free = window(&[("max_rate_mbps", "100")]);
    let bounded = window(&[("max_rate_mbps", "0.1")]);
    assert!(free > 12_000.0 && bounded <= 1000.0 * 1000.0 && bounded < free, "{free} {bounded}");
}

#[test]
fn the_program_waits_out_silence() {
    let mut driver = program(&[]);
    let before = driver.field("ref_wnd");
    driver.now += Span::from_secs(1);
    driver.timeout(false);
    assert_eq!(driver.field("ref_wnd"), before);
}

#[test]
fn a_loss_was_noticed_a_report_before_the_program_notices_it() {
    let mut driver = program(&[("loss_threshold", "0")]);
    driver.peak_in_flight_packets = 0.0;
    driver.now += Span::from_ms(500);
    driver.lose(1, false);
    driver.ack(1);
    let before = driver.field("ref_wnd");
    // As in the program, the previous report must be 512 packets ahead.
    for _ in 0..512 {
        driver.now += Span::from_ms(1);
        driver.ack(1);
    }
    assert_eq!((driver.field("ref_wnd"), driver.field("loss_share")), (before, 0.0));
    driver.now += Span::from_ms(1);
    driver.ack(1);
    assert!((driver.field("ref_wnd") / before - 0.7).abs() < 1e-9, "{}", driver.field("ref_wnd") / before);
}

/// Tests a fixed defect: multiplicative growth was there from the first report on, and a flow reached the link in half
/// the time. The program's clock begins with the flow, and `lastCongestionDetectedT_ntp` at 0 (`ScreamV2Tx.cpp`,
/// `initialize` and `updateCwnd`).
#[test]
fn multiplicative_growth_was_there_from_the_start_where_the_program_lets_it_come_back() {
    let relative_growth = |seconds: u64| {
        let mut driver = program(&[("loss_delay_packets", "0")]);
        for span in [Span::from_ms(40) + Span::from_secs(seconds), Span::from_ms(40)] {
            driver.ack(1);
            driver.now += span;
        }
        driver.ack(1);
        driver.now += Span::from_ms(40);
        let before = driver.field("ref_wnd");
        driver.ack(1);
        (driver.field("ref_wnd") - before) * before / (MSS * MSS)
    };
    // The two times are 0.04 s of 200 round trips of 50 ms or more, and all of them. The latter adds 5 % of a window of
    // 12.5 packets.
    assert!((relative_growth(0) - 1.0).abs() < 0.1, "{}", relative_growth(0));
    assert!((relative_growth(30) - (1.0 + 0.05 * 12.5)).abs() < 0.1, "{}", relative_growth(30));
}

/// Tests a fixed defect: the first packets were paced. In the program the interval is 0 before the first report
/// (`paceInterval`).
#[test]
fn the_first_packets_were_paced_where_the_program_sends_them_at_once() {
    let mut driver = Driver::new(&ENTRY, &[]);
    assert_eq!(driver.control().pacing, None);
    driver.ack(1);
    assert!(driver.control().pacing.is_some());
}
