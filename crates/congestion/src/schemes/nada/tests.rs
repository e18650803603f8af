//! Tests of the signal and the rate against hand-computed values.

use super::*;
use crate::testing::Driver;

/// Runs `updates` times 100 ms with 1000 bytes every 10 ms (0.8 Mbit/s), each reported at once.
fn feed(driver: &mut Driver, updates: u32) {
    for _ in 0..10 * updates {
        driver.now += Span::from_ms(10);
        driver.ack(1);
    }
}

/// Returns a driver. With continuous feedback updates come every half interval: 100 ms here.
fn driver(settings: &[(&str, &str)]) -> Driver {
    let mut all = vec![("interval_ms", "200")];
    all.extend_from_slice(settings);
    let mut driver = Driver::new(&ENTRY, &all);
    // The first packet makes the first update; later updates count from it.
    driver.ack(1);
    driver
}

#[test]
fn without_a_queue_the_rate_jumps_above_the_received_one() {
    let mut driver = driver(&[]);
    feed(&mut driver, 6);
    assert_eq!(driver.field("ramp_up"), 1.0);
    // gain = 50 / (rtt 100 + interval 200 + filter 120).
    let expected = (1.0 + 50.0 / 420.0) * 0.8;
    assert!((driver.field("ref_rate") - expected).abs() < 1e-9, "{}", driver.field("ref_rate"));
}

#[test]
fn the_gradual_update_follows_offset_and_change() {
    let mut driver = driver(&[]);
    feed(&mut driver, 6);
    driver.one_way += Span::from_ms(20);
    // The first update still has the minimum of the last 15 packets: no queue, but no ramp-up either.
    let r0 = driver.field("ref_rate");
    feed(&mut driver, 1);
    assert_eq!((driver.field("ramp_up"), driver.field("signal")), (0.0, 0.0));
    let r1 = r0 - 0.5 * 0.2 * ((0.0 - 15.0 / r0) / 500.0) * r0;
    assert!((driver.field("ref_rate") - r1).abs() < 1e-9);
    feed(&mut driver, 1);
    assert_eq!(driver.field("signal"), 20.0);
    let r2 = r1 - 0.5 * 0.2 * ((20.0 - 15.0 / r1) / 500.0) * r1 - 0.5 * 2.0 * (20.0 / 500.0) * r1;
    assert!((driver.field("ref_rate") - r2).abs() < 1e-9);
}

#[test]
fn the_rate_settles_where_the_signal_is_its_reference() {
    // The link of 1 Mbit/s is a fluid: the excess rate grows the queue.
    let mut driver = driver(&[]);
    let mut queue_ms = 0.0_f64;
    for _ in 0..4000 {
        let rate = driver.field("ref_rate");
        queue_ms = (queue_ms + (rate - 1.0) * 8.0).max(0.0);
        driver.now += Span::from_ms(8);
        driver.one_way = Span::from_ms(50) + Span::from_secs_f64(queue_ms / 1e3);
        driver.ack(1);
    }
    assert!((driver.field("ref_rate") - 1.0).abs() < 0.02, "{}", driver.field("ref_rate"));
    assert!((queue_ms - 15.0).abs() < 1.0, "{queue_ms}");
}

#[test]
fn a_deep_queue_is_warped_only_while_losses_are_recent() {
    let signal = |lose: bool| {
        let mut driver = driver(&[("plr_ref", "1")]);
        feed(&mut driver, 6);
        driver.one_way += Span::from_ms(150);
        if lose {
            driver.lose(1, true);
        }
        feed(&mut driver, 6);
        driver.field("signal")
    };
    assert!((signal(false) - 150.0).abs() < 1e-9);
    // 50 ms * exp(-0.5 * 100 / 50); the loss penalty is nearly off with plr_ref at 1.
    let expected = 50.0 * libm::exp(-1.0);
    assert!((signal(true) - expected).abs() < 0.1, "{}", signal(true));
}

#[test]
fn losses_are_forgotten_after_eight_intervals() {
    let mut driver = driver(&[("plr_ref", "1")]);
    feed(&mut driver, 1);
    driver.lose(1, true);
    driver.one_way += Span::from_ms(150);
    // The first interval was 11 packets: the delay is warped for 77 packets, and plain from 88 on.
    feed(&mut driver, 7);
    assert!(driver.field("signal") < 20.0, "{}", driver.field("signal"));
    feed(&mut driver, 2);
    assert!(driver.field("signal") > 149.0, "{}", driver.field("signal"));
}

#[test]
fn losses_and_marks_add_their_penalties() {
    let mut driver = driver(&[("alpha", "0.5")]);
    feed(&mut driver, 6);
    driver.lose(1, true);
    feed(&mut driver, 1);
    // One packet is lost, 51 arrive within 500 ms, the weight is one half.
    let ratio = 0.5 / 52.0;
    assert!((driver.field("loss_ratio") - ratio).abs() < 1e-9, "{}", driver.field("loss_ratio"));
    assert!((driver.field("signal") - 10.0 * (ratio / 0.01) * (ratio / 0.01)).abs() < 1e-6);
    assert_eq!(driver.field("ramp_up"), 0.0);

    let mut driver = self::driver(&[]);
    feed(&mut driver, 6);
    driver.mark(true);
    feed(&mut driver, 1);
    // One of ten packets is marked, the weight is 0.1: exactly the reference ratio of 1 %.
    assert!((driver.field("signal") - 2.0).abs() < 1e-9, "{}", driver.field("signal"));
}

#[test]
fn rates_stay_within_their_bounds() {
    let mut driver = driver(&[]);
    feed(&mut driver, 6);
    driver.one_way += Span::from_secs(2);
    feed(&mut driver, 200);
    assert_eq!(driver.field("ref_rate"), 0.15);
    let control = driver.control();
    assert_eq!(control.media_rate, Some(Rate::from_mbps(0.15)));
    assert_eq!(control.window_bytes, u64::MAX);
}

#[test]
fn an_update_that_knows_only_the_first_packet_of_its_report_grows_more_slowly() {
    // Reports of ten packets come every 100 ms; the receive rate doubles from one report to the next.
    let rate = |quirk: &str| {
        let mut driver = Driver::new(&ENTRY, &[("quirk_first_packet", quirk), ("max_rate_mbps", "100")]);
        for report in 0..8 {
            driver.now += Span::from_ms(100);
            driver.ack(2 << report.min(5));
        }
        driver.field("ref_rate")
    };
    let (whole, first) = (rate("false"), rate("true"));
    assert!(first < 0.9 * whole, "{first} {whole}");
}
