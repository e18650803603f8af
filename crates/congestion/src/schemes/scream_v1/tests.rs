//! Tests of window and bitrate against hand-computed values.

use super::*;
use crate::testing::{Driver, MSS_BYTES};
use crate::{Arrived, ReceiverHalf as _};

const MSS: f64 = MSS_BYTES as f64;

fn driver(settings: &[(&str, &str)]) -> Driver {
    let mut driver = Driver::new(&ENTRY, settings);
    driver.in_flight_packets = 1.0;
    driver.send();
    driver
}

/// Sends one frame of `bytes`, and acknowledges all of it 40 ms later.
fn frame(driver: &mut Driver, bytes: u64) {
    driver.controller.on_frame(&Frame {
        now: driver.now,
        bytes,
        key: false,
        queued_bytes: bytes,
        queue_delay: Span::ZERO,
        number: 1,
    });
    driver.in_flight_packets = 1.0;
    let packets = bytes.div_ceil(u64::from(MSS_BYTES));
    (0..packets).for_each(|_| driver.send());
    driver.now += Span::from_ms(40);
    driver.in_flight_packets = 0.0;
    driver.ack(packets);
}

/// Sends frames of the requested bitrate, 25 per second.
fn stream(driver: &mut Driver, seconds: u64) {
    for _ in 0..25 * seconds {
        let rate = driver.control().media_rate.unwrap();
        frame(driver, rate.bps() / 200);
    }
}

#[test]
fn the_window_starts_at_two_packets_and_one_more_while_the_delay_is_short() {
    let mut driver = driver(&[]);
    assert_eq!(driver.field("cwnd"), 2.0 * MSS);
    assert_eq!(driver.control().window_bytes, 3 * u64::from(MSS_BYTES));
    assert_eq!(driver.control().pacing, None);
    driver.ack(1);
    // Fast start at an unknown rate adds two packets.
    assert_eq!(driver.field("cwnd"), 4.0 * MSS);
}

#[test]
fn a_loss_takes_the_window_to_its_share_once_per_round_trip() {
    let mut driver = driver(&[]);
    driver.in_flight_packets = 100.0;
    driver.send();
    for _ in 0..10 {
        driver.now += Span::from_ms(10);
        driver.ack(1);
    }
    let before = driver.field("cwnd");
    driver.now += Span::from_ms(10);
    driver.lose(1, true);
    driver.ack(1);
    assert_eq!(driver.field("cwnd"), 0.6 * before);
    assert_eq!(driver.field("fast_start"), 0.0);
    driver.now += Span::from_ms(10);
    driver.lose(1, false);
    driver.ack(1);
    assert!(driver.field("cwnd") >= 0.6 * before, "the same round trip");
    driver.now += Span::from_ms(200);
    driver.lose(1, true);
    driver.ack(1);
    assert!(driver.field("cwnd") < 0.6 * before, "a later one");
}

#[test]
fn above_the_delay_target_the_window_shrinks_and_packets_are_paced() {
    let mut driver = driver(&[]);
    driver.in_flight_packets = 50.0;
    driver.send();
    for _ in 0..20 {
        driver.now += Span::from_ms(10);
        driver.ack(1);
    }
    let before = driver.field("cwnd");
    driver.lose(1, true);
    driver.one_way = Span::from_ms(250);
    for _ in 0..10 {
        driver.now += Span::from_ms(10);
        driver.ack(1);
    }
    assert_eq!(driver.field("qdelay"), 200.0);
    let after = driver.field("cwnd");
    assert!(after < 0.6 * before, "{before} {after}");
    let control = driver.control();
    assert_eq!(control.window_bytes, after as u64, "no packet more above the target");
    // Pacing is 1.5 times the window per RTT, measured in the last 50 ms slot.
    let pacing = control.pacing.unwrap().bps() as f64;
    assert!((1.0..1.1).contains(&(pacing / (1.5 * after * 8.0 / 0.1))), "{pacing}");
}

#[test]
fn with_the_arguments_of_pantheon_the_rate_is_constant() {
    let mut driver =
        driver(&[("start_rate_kbps", "100000"), ("max_rate_kbps", "200"), ("ramp_up_kbps_per_s", "0.002")]);
    for _ in 0..10 {
        stream(&mut driver, 3);
        assert!((driver.field("target_rate") - 0.2).abs() < 0.002, "{}", driver.field("target_rate"));
    }
}

#[test]
fn with_the_intended_arguments_the_rate_climbs_200_kbit_per_second() {
    let mut driver = driver(&[("max_rtp_queue_delay_ms", "500"), ("tx_queue_size_factor", "0.3")]);
    // The rate grows by 50 % per second up to 400 kbit/s (4 to 5 s), then by 200 kbit/s per second.
    stream(&mut driver, 10);
    let at_ten = driver.field("target_rate");
    assert!((1.2..1.8).contains(&at_ten), "{at_ten}");
    stream(&mut driver, 20);
    let climbed = driver.field("target_rate") - at_ten;
    assert!((climbed - 4.0).abs() < 0.2, "{climbed}");
}

#[test]
fn a_loss_takes_a_tenth_off_the_bitrate_and_pantheons_next_frame_is_empty() {
    let mut driver = driver(&[("start_rate_kbps", "1000"), ("quirk_repair_frame", "true")]);
    stream(&mut driver, 2);
    let before = driver.field("target_rate");
    driver.lose(1, true);
    driver.ack(1);
    assert_eq!(driver.control().media_rate, Some(Rate::from_bps(1000)));
    frame(&mut driver, 5);
    assert!((driver.field("target_rate") - 0.9 * before).abs() < 1e-9);
    assert!(driver.control().media_rate.unwrap() > Rate::from_mbps(0.7 * before));
}

#[test]
fn pantheons_client_sends_one_packet_at_a_frame_or_a_report() {
    let mut driver = driver(&[("quirk_one_packet_per_event", "true")]);
    driver.in_flight_packets = 1.0;
    driver.send();
    assert_eq!(driver.control().window_bytes, 1000, "no more until the next event");
    driver.ack(1);
    assert!(driver.control().window_bytes > 1000, "a report");
    driver.send();
    frame(&mut driver, 1000);
    assert!(driver.control().window_bytes > 1000, "a frame");
}

#[test]
fn a_pause_of_200_ms_opens_the_window_for_one_packet() {
    let mut driver = driver(&[]);
    let sent = driver.now;
    driver.in_flight_packets = 40.0;
    driver.send();
    let wake_at = driver.control().wake_at;
    assert_eq!(wake_at, sent + Span::from_ms(200));
    driver.controller.on_wake(wake_at);
    assert_eq!(driver.control().window_bytes, 41_000);
    assert_eq!(driver.control().wake_at, Time::NEVER);
    driver.now = wake_at;
    driver.send();
    assert!(driver.control().window_bytes < 40_000);
}

#[test]
fn reports_leave_at_once_and_then_every_five_milliseconds() {
    let at = |us: u64| Time::from_ns(us * 1000);
    let mut half = Reports::default();
    assert_eq!(half.next_timer(), Time::NEVER);
    half.on_packet(&Arrived { now: at(1000), ..Arrived::default() });
    assert_eq!(half.next_timer(), at(1000));
    half.write_feedback(at(1000), &mut vec![]);
    assert_eq!(half.next_timer(), Time::NEVER);
    half.on_packet(&Arrived { now: at(2500), ..Arrived::default() });
    half.on_packet(&Arrived { now: at(3500), ..Arrived::default() });
    assert_eq!(half.next_timer(), at(6000));
    half.write_feedback(at(6000), &mut vec![]);
    half.on_packet(&Arrived { now: at(20_000), ..Arrived::default() });
    assert_eq!(half.next_timer(), at(20_000));
}
