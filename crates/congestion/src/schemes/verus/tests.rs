use super::*;
use crate::testing::{Driver, MSS_BYTES};

fn driver(settings: &[(&str, &str)]) -> Driver {
    let mut driver = Driver::new(&ENTRY, settings);
    driver.now = Time::ZERO;
    driver.in_flight_packets = 0.0;
    driver.rtt = Span::from_ms(40);
    driver
}

/// Returns the packets that may leave now beyond those in flight.
fn credit(driver: &Driver) -> u64 {
    driver.control().window_bytes.saturating_sub((driver.in_flight_packets * 1000.0) as u64)
        / u64::from(MSS_BYTES)
}

/// Sends all allowed packets; returns their number.
fn send_all(driver: &mut Driver) -> u64 {
    let allowed = credit(driver);
    for _ in 0..allowed {
        driver.in_flight_packets += 1.0;
        driver.send();
    }
    allowed
}

/// Acknowledges the next `count` packets one by one, without sending.
fn ack(driver: &mut Driver, count: u64) {
    for _ in 0..count {
        driver.in_flight_packets -= 1.0;
        driver.ack(1);
    }
}

/// Advances the time until the controller's timer has fired `count` times.
fn wake(driver: &mut Driver, count: u64) {
    for _ in 0..count {
        driver.now = driver.now.max(driver.control().wake_at);
        driver.controller.on_wake(driver.now);
    }
}

/// Runs round trips: sends all allowed packets and acknowledges all of them.
fn slow_start(driver: &mut Driver, rounds: u32) -> u64 {
    let mut sent = 0;
    for _ in 0..rounds {
        sent = driver.in_flight_packets as u64 + send_all(driver);
        driver.now += driver.rtt;
        for _ in 0..sent {
            ack(driver, 1);
            send_all(driver);
        }
    }
    sent
}

/// Returns a driver whose packet numbers start at 0.
fn started(settings: &[(&str, &str)]) -> Driver {
    let mut driver = driver(settings);
    driver.next_number = 0;
    driver
}

/// Returns a driver in the steady phase: RTT 40 ms, profile recorded up to about 64 packets, slow start ended by delay.
fn steady(settings: &[(&str, &str)]) -> Driver {
    let mut driver = started(settings);
    for round in 0..6 {
        driver.rtt = Span::from_ms(40 + 5 * round);
        slow_start(&mut driver, 1);
    }
    driver.rtt = Span::from_ms(600);
    driver.now += driver.rtt;
    ack(&mut driver, 1);
    assert_eq!(driver.field("slow_start"), 0.0);
    driver
}

#[test]
fn slow_start_doubles_per_round_trip() {
    let mut driver = started(&[]);
    assert_eq!(credit(&driver), 1);
    let sent: Vec<u64> = (0..5).map(|_| slow_start(&mut driver, 1)).collect();
    assert_eq!(sent, [1, 2, 4, 8, 16]);
}

#[test]
fn half_a_second_of_rtt_ends_slow_start() {
    let driver = steady(&[]);
    // The packet had been sent at 32 or a little more.
    assert_eq!(driver.field("loss_phase"), 1.0);
    let window = driver.field("cwnd");
    assert!((20.0..=46.0).contains(&window), "{window}");
}

/// Runs an epoch in which one packet is acknowledged after `rtt` ms.
fn epoch(driver: &mut Driver, rtt: u64) -> f64 {
    send_all(driver);
    driver.rtt = Span::from_ms(rtt);
    if driver.in_flight_packets > 0.0 {
        ack(driver, 1);
    }
    wake(driver, 1);
    driver.field("set_point")
}

fn epochs(driver: &mut Driver, count: u32, rtt: u64) {
    for _ in 0..count {
        epoch(driver, rtt);
    }
}

#[test]
fn the_set_point_rises_by_2_ms_and_falls_by_1_ms_per_epoch() {
    let mut driver = steady(&[]);
    epochs(&mut driver, 100, 50);
    assert_eq!(driver.field("loss_phase"), 0.0);
    let before = driver.field("set_point");
    let risen = epoch(&mut driver, 50);
    assert!((risen - before - 2.0).abs() < 1e-9, "{before} {risen}");
    let fallen = epoch(&mut driver, 60);
    assert!((fallen - risen + 1.0).abs() < 1e-9, "{risen} {fallen}");
}

#[test]
fn above_six_times_the_smallest_delay_the_set_point_falls_by_2_ms() {
    let mut driver = steady(&[]);
    epochs(&mut driver, 100, 50);
    epochs(&mut driver, 3, 245);
    let before = driver.field("set_point");
    let fallen = epoch(&mut driver, 245);
    assert!((fallen - before + 2.0).abs() < 1e-9, "{before} {fallen}");
}

#[test]
fn an_overtaken_packet_is_lost_after_150_ms_and_ends_slow_start() {
    let mut driver = started(&[]);
    slow_start(&mut driver, 5);
    assert_eq!((driver.field("slow_start"), driver.field("cwnd")), (1.0, 32.0));
    send_all(&mut driver);
    driver.now += driver.rtt;
    driver.next_acked += 1;
    ack(&mut driver, 30);
    let missed_at = driver.now;
    while driver.field("loss_phase") == 0.0 && driver.now < missed_at + Span::from_secs(1) {
        wake(&mut driver, 1);
    }
    let waited = driver.now - missed_at;
    assert!((Span::from_ms(150)..=Span::from_ms(156)).contains(&waited), "{waited:?}");
    // The packet was sent at 31 packets at most.
    assert_eq!(driver.field("loss_phase"), 1.0);
    assert!(driver.field("cwnd") <= 0.7 * 31.0, "{}", driver.field("cwnd"));
}

#[test]
fn a_packet_that_comes_late_is_no_loss() {
    let mut driver = started(&[]);
    slow_start(&mut driver, 5);
    send_all(&mut driver);
    driver.now += driver.rtt;
    let late = driver.next_acked;
    driver.next_acked += 1;
    ack(&mut driver, 30);
    let next = std::mem::replace(&mut driver.next_acked, late);
    ack(&mut driver, 1);
    driver.next_acked = next;
    wake(&mut driver, 35);
    assert_eq!((driver.field("loss_phase"), driver.field("slow_start")), (0.0, 1.0));
}

#[test]
fn without_any_acknowledgement_it_starts_over_after_a_second() {
    let mut driver = started(&[]);
    send_all(&mut driver);
    assert_eq!(credit(&driver), 0);
    while driver.now < Time::ZERO + Span::from_ms(995) {
        wake(&mut driver, 1);
    }
    assert_eq!(credit(&driver), 0);
    wake(&mut driver, 1);
    assert_eq!(credit(&driver), 1);
    // The packet of the first run has no effect.
    driver.rtt = Span::from_ms(1000);
    ack(&mut driver, 1);
    assert_eq!((driver.field("min_rtt"), driver.field("cwnd")), (1000.0, 1.0));
}

#[test]
fn later_silence_lowers_the_set_point_to_the_smallest_delay() {
    let mut driver = steady(&[]);
    epochs(&mut driver, 100, 50);
    let silent_from = driver.now;
    while driver.field("loss_phase") == 0.0 {
        wake(&mut driver, 1);
    }
    let waited = driver.now - silent_from;
    // The timer runs for five RTTs of 50 ms.
    assert!((Span::from_ms(240)..=Span::from_ms(250)).contains(&waited), "{waited:?}");
    assert!(driver.field("set_point") <= 42.0 && driver.field("verus_in_flight") == 0.0);
}

#[test]
fn a_windows_worth_of_packets_leaves_per_round_trip() {
    let mut run = Run::new(Time::ZERO, 0);
    (run.window, run.in_flight, run.smoothed_rtt) = (40.0, 40, 40.0);
    // n = 8 epochs: 40 - 40 * 6 / 7, with a division in whole numbers.
    assert_eq!(run.allowance(Span::from_ms(5)), 6);
    run.in_flight = 60;
    assert_eq!(run.allowance(Span::from_ms(5)), 0);
    (run.smoothed_rtt, run.in_flight) = (4.0, 30);
    assert_eq!(run.allowance(Span::from_ms(5)), 10);
}
