//! Numbers worked out by hand from RFC 9438 and RFC 9406.

use super::*;
use crate::testing::Driver;

const CLASSIC: (&str, &str) = ("slow_start", "classic");

/// Returns a driver whose window has grown from 10 to 100 packets in classic slow start.
fn at_hundred(settings: &[(&str, &str)]) -> Driver {
    let mut settings = settings.to_vec();
    settings.push(CLASSIC);
    let mut driver = Driver::new(&ENTRY, &settings);
    (0..3).for_each(|_| driver.ack_window());
    driver.ack(20);
    assert_eq!(driver.field("cwnd"), 100.0);
    driver
}

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value}, expected {expected} +- {tolerance}");
}

fn pass(driver: &mut Driver, ms: u64) {
    driver.now += Span::from_ms(ms);
}

#[test]
fn loss_keeps_seven_tenths_and_k_is_the_cube_root_of_the_gap_over_c() {
    let mut driver = at_hundred(&[]);
    driver.lose(1, true);
    driver.lose(3, false);
    assert_eq!((driver.field("cwnd"), driver.field("ssthresh"), driver.field("w_max")), (70.0, 70.0, 100.0));
    driver.ack(1);
    // cbrt((100 - 70) / 0.4) = cbrt(75) = 4.21716 s.
    near(driver.field("k"), 4.217_163, 1e-6);
    pass(&mut driver, 100);
    driver.ack(1);
    assert_eq!(driver.field("phase"), 3.0);
}

#[test]
fn each_ack_moves_towards_the_cubic_one_rtt_ahead() {
    let mut driver = at_hundred(&[]);
    driver.lose(1, true);
    driver.ack(1);
    // t = 0: W(0) = 70 is below W_est = 70 + 0.5294118 / 70 = 70.00756.
    near(driver.field("w_est"), 70.007_563, 1e-6);
    near(driver.field("cwnd"), 70.007_563, 1e-6);
    pass(&mut driver, 100);
    driver.ack(1);
    // At t = 0.1 s W(0.1) = 72.08 is above. W(0.2) = 0.4 * (0.2 - 4.217163)^3 + 100 = 0.4 * -64.8272 + 100 = 74.0691;
    // cwnd = 70.00756 + (74.0691 - 70.00756) / 70.00756 = 70.06558.
    near(driver.field("cwnd"), 70.065_58, 1e-5);

    let mut driver = at_hundred(&[("reno_friendly", "false")]);
    driver.lose(1, true);
    driver.ack(1);
    // t = 0: W(0.1) = 0.4 * (0.1 - 4.217163)^3 + 100 = 0.4 * -69.7898 + 100 = 72.0841;
    // cwnd = 70 + (72.0841 - 70) / 70 = 70.02977.
    near(driver.field("cwnd"), 70.029_77, 1e-5);
}

#[test]
fn below_the_plateau_growth_slows_down_and_beyond_it_speeds_up() {
    let mut driver = at_hundred(&[("reno_friendly", "false")]);
    driver.lose(1, true);
    let mut windows = vec![];
    for _ in 0..90 {
        driver.ack_window();
        windows.push((driver.field("cwnd"), driver.field("phase")));
    }
    // Rounds last 0.1 s; the plateau lies 4.2 s after the epoch's first ACK. 101 packets are 0.4 * 1.36^3 beyond it.
    let growth = |index: usize| windows[index + 5].0 - windows[index].0;
    assert!(growth(0) > growth(10) && growth(10) > growth(30), "concave: {windows:?}");
    assert!(growth(50) < growth(70) && growth(70) < growth(84), "convex: {windows:?}");
    near(windows[42].0, 100.0, 0.3);
    assert_eq!((windows[30].1, windows[60].1), (3.0, 4.0));
    // 8.9 s after the epoch's first ACK the window is between W(8.9) = 0.4 * 4.6828^3 + 100 = 141.1 and W(9.0) = 143.8.
    assert!((141.1..143.8).contains(&windows[89].0), "{windows:?}");
}

#[test]
fn growth_is_at_most_half_a_window_per_rtt() {
    let mut driver = at_hundred(&[]);
    driver.lose(1, true);
    driver.ack(1);
    pass(&mut driver, 60_000);
    let before = driver.field("cwnd");
    driver.ack(10);
    near(driver.field("cwnd"), before + 5.0, 1e-9);
}

#[test]
fn fast_convergence_gives_up_window_only_when_shrinking() {
    let mut driver = at_hundred(&[]);
    driver.lose(1, true);
    driver.lose(1, true);
    // The second loss comes at 70 < 100: W_max = 70 * 1.7 / 2 = 59.5, cwnd = 49.
    near(driver.field("w_max"), 59.5, 1e-9);
    near(driver.field("cwnd"), 49.0, 1e-9);

    let mut driver = at_hundred(&[("fast_convergence", "off")]);
    driver.lose(1, true);
    driver.lose(1, true);
    near(driver.field("w_max"), 70.0, 1e-9);
}

#[test]
fn in_the_reno_region_the_window_grows_by_alpha_and_then_by_one_per_rtt() {
    // With 1 ms RTT and W_max 20, K = cbrt(6 / 0.4) = 2.47 s is 2466 RTTs, far slower than Reno.
    let mut driver = Driver::new(&ENTRY, &[CLASSIC]);
    driver.rtt = Span::from_ms(1);
    driver.ack_window();
    driver.lose(1, true);
    let after_loss = driver.field("cwnd");
    near(after_loss, 14.0, 1e-9);
    (0..6).for_each(|_| driver.ack_window());
    assert_eq!(driver.field("phase"), 2.0);
    // 6 RTTs add 3 * 0.3 / 1.7 = 0.529 packets each. It is slightly less because each round's window is rounded down to
    // whole packets.
    near(driver.field("cwnd"), 14.0 + 6.0 * 0.529, 0.2);
    (0..7).for_each(|_| driver.ack_window());
    assert!(driver.field("w_est") > 20.0, "past the old window: {}", driver.field("w_est"));
    let before = driver.field("cwnd");
    (0..10).for_each(|_| driver.ack_window());
    near(driver.field("cwnd") - before, 9.8, 0.4);
}

#[test]
fn ten_days_without_loss_do_not_overflow() {
    let mut driver = at_hundred(&[]);
    driver.lose(1, true);
    driver.ack(1);
    pass(&mut driver, 10 * 86_400_000);
    let before = driver.field("cwnd");
    (0..1000).for_each(|_| driver.ack(1));
    let after = driver.field("cwnd");
    assert!(after.is_finite() && after <= before + 500.0 + 1e-6, "{before} -> {after}");
    driver.lose(1, true);
    near(driver.field("cwnd"), 0.7 * after, 1e-9);
}

#[test]
fn time_when_the_application_limits_does_not_count() {
    let mut driver = at_hundred(&[]);
    driver.lose(1, true);
    driver.ack(1);
    pass(&mut driver, 100);
    driver.ack(1);
    let before = driver.field("cwnd");
    driver.window_limited = false;
    pass(&mut driver, 20_000);
    driver.ack(1);
    assert_eq!(driver.field("cwnd"), before);
    driver.window_limited = true;
    driver.ack(1);
    // Still t = 0.1 s: W(0.2) = 0.4 * (-4.017163)^3 + 100 = 74.069; growth (74.069 - 70.088) / 70.088 = 0.0568.
    near(driver.field("cwnd") - before, 0.0568, 5e-4);
}

#[test]
fn timeout_restarts_from_one_packet_and_the_next_epoch_begins_flat() {
    let mut driver = at_hundred(&[]);
    driver.timeout(false);
    driver.timeout(true);
    assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (1.0, 70.0));
    while driver.field("cwnd") < 70.0 {
        driver.ack_window();
    }
    driver.ack(1);
    assert_eq!(driver.field("k"), 0.0);
}

#[test]
fn a_false_alarm_is_undone_once() {
    let mut driver = at_hundred(&[]);
    driver.lose(1, true);
    driver.ack(1);
    driver.controller.on_spurious_loss(driver.now);
    assert_eq!(
        (driver.field("cwnd"), driver.field("w_max"), driver.field("ssthresh")),
        (100.0, 0.0, f64::INFINITY)
    );
    driver.controller.on_spurious_loss(driver.now);
    assert_eq!(driver.field("cwnd"), 100.0);
}

#[test]
fn a_mark_cannot_be_undone() {
    let mut driver = at_hundred(&[]);
    driver.lose(1, true);
    driver.mark(true);
    let reduced = driver.field("cwnd");
    driver.controller.on_spurious_loss(driver.now);
    assert_eq!(driver.field("cwnd"), reduced);
}

#[test]
fn a_timeout_that_was_a_false_alarm_is_undone() {
    let mut driver = at_hundred(&[]);
    driver.timeout(false);
    driver.timeout(true);
    driver.controller.on_spurious_loss(driver.now);
    assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (100.0, f64::INFINITY));
}

#[test]
fn a_pause_without_packets_in_flight_is_no_time_of_the_cubic() {
    let course = |pause: Span| {
        let mut driver = at_hundred(&[]);
        driver.lose(1, true);
        (0..5).for_each(|_| driver.ack_window());
        driver.now += pause;
        driver.in_flight_packets = 1.0;
        driver.send();
        (0..20)
            .map(|_| {
                driver.ack_window();
                driver.field("cwnd")
            })
            .collect::<Vec<_>>()
    };
    let (without, with) = (course(Span::ZERO), course(Span::from_secs(26)));
    for (without, with) in without.iter().zip(&with) {
        near(*with, *without, 0.5);
    }
}

#[test]
fn marks_reduce_once_per_episode_and_down_to_one_packet() {
    let mut driver = at_hundred(&[]);
    driver.mark(true);
    driver.mark(false);
    near(driver.field("cwnd"), 70.0, 1e-9);
    (0..30).for_each(|_| driver.mark(true));
    assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (1.0, 2.0));
}

/// Returns the mean window with one loss per `packets_per_loss` packets, from the 400th cycle on.
fn mean_window(c: &str, packets_per_loss: u64) -> f64 {
    let mut driver = at_hundred(&[("c", c)]);
    let (mut sum, mut rounds, mut since_loss) = (0.0, 0.0, 0);
    driver.lose(1, true);
    for cycle in 0..402 {
        while since_loss < packets_per_loss {
            let window = driver.control().window_bytes / 1000;
            if cycle >= 400 {
                sum += window as f64;
                rounds += 1.0;
            }
            since_loss += window;
            driver.ack_window();
        }
        since_loss -= packets_per_loss;
        driver.lose(1, true);
    }
    sum / rounds
}

#[test]
fn the_mean_window_follows_the_response_function() {
    // RFC 9438 5.1 and tables 1 and 2 have for RTT 0.1 s and p = 1e-4: 187 packets with C = 0.4, 333 with C = 4. The
    // plateau makes the approach slow: x packets below the equilibrium a cycle gains only about 2e-5 * x^3 packets.
    near(mean_window("0.4", 10_000) / 187.0, 1.0, 0.06);
    near(mean_window("4", 10_000) / 333.0, 1.0, 0.06);
    // If Reno is faster, its mean window is the minimum: 1.2 / sqrt(1e-3) = 38 packets.
    near(mean_window("0.4", 1_000) / 38.0, 1.0, 0.1);
}

/// Returns a driver in slow start with HyStart++ whose RTT rises from 100 to 120 ms in the second round (threshold 100
/// / 8 = 12.5 ms).
fn suspicious() -> Driver {
    let mut driver = Driver::new(&ENTRY, &[]);
    driver.ack_window();
    driver.rtt = Span::from_ms(120);
    driver
}

#[test]
fn hystart_plus_plus_grows_by_at_most_l_packets_per_ack() {
    let mut driver = Driver::new(&ENTRY, &[]);
    driver.ack(10);
    assert_eq!(driver.field("cwnd"), 18.0);
    let mut driver = Driver::new(&ENTRY, &[("hystart_limit", "0")]);
    driver.ack(10);
    assert_eq!(driver.field("cwnd"), 20.0);
}

#[test]
fn a_risen_rtt_starts_conservative_slow_start_at_the_eighth_sample() {
    let mut driver = suspicious();
    driver.next_number += 20;
    (0..7).for_each(|_| driver.ack(1));
    assert_eq!((driver.field("phase"), driver.field("cwnd")), (0.0, 27.0));
    driver.ack(1);
    assert_eq!((driver.field("phase"), driver.field("cwnd")), (1.0, 28.0));
    // From now on an ACK adds a quarter packet.
    (0..4).for_each(|_| driver.ack(1));
    assert_eq!(driver.field("cwnd"), 29.0);
}

#[test]
fn five_conservative_rounds_end_slow_start_and_the_partial_one_counts() {
    let mut driver = suspicious();
    driver.ack_window();
    // Eight ACKs of 20 are at full growth, 12 at a quarter: 20 + 8 + 3 = 31.
    assert_eq!((driver.field("phase"), driver.field("cwnd")), (1.0, 31.0));
    let mut rounds = 1;
    while driver.field("phase") == 1.0 {
        assert_eq!(driver.field("ssthresh"), f64::INFINITY);
        driver.ack_window();
        rounds += 1;
    }
    // Rounds after the partial one begin with the ACK that ends the previous one: the sixth window ends the fifth
    // round.
    assert_eq!(rounds, 6);
    let ssthresh = driver.field("ssthresh");
    assert!(ssthresh.is_finite() && ssthresh <= driver.field("cwnd"));
    // The plateau is at the window that ended slow start.
    driver.ack(1);
    assert_eq!((driver.field("k"), driver.field("w_max")), (0.0, 0.0));
}

#[test]
fn a_smaller_rtt_resumes_slow_start() {
    let mut driver = suspicious();
    driver.ack_window();
    driver.rtt = Span::from_ms(119);
    let before = driver.field("cwnd");
    driver.next_number += before as u64;
    (0..8).for_each(|_| driver.ack(1));
    assert_eq!(driver.field("phase"), 0.0);
    near(driver.field("cwnd"), before + 8.0 / 4.0, 1e-9);
    driver.ack(1);
    near(driver.field("cwnd"), before + 2.0 + 1.0, 1e-9);
}

#[test]
fn a_rise_below_the_threshold_is_ignored() {
    let mut driver = Driver::new(&ENTRY, &[]);
    driver.ack_window();
    driver.rtt = Span::from_us(112_499);
    driver.ack_window();
    assert_eq!((driver.field("phase"), driver.field("cwnd")), (0.0, 40.0));
}

#[test]
fn hystart_plus_plus_is_for_the_first_slow_start_only() {
    let mut driver = suspicious();
    driver.timeout(false);
    driver.rtt = Span::from_ms(500);
    driver.ack(1);
    driver.ack(2);
    driver.ack(4);
    assert_eq!((driver.field("phase"), driver.field("cwnd")), (0.0, 8.0));
}

/// Returns a driver in slow start with Linux's HyStart at 20 packets, after a round of 100 ms.
fn hybrid() -> Driver {
    let mut driver = Driver::new(&ENTRY, &[("slow_start", "hystart")]);
    driver.ack_window();
    assert_eq!(driver.field("cwnd"), 20.0);
    driver.next_number += 20;
    driver
}

#[test]
fn linux_hystart_leaves_on_delay_at_the_ninth_sample_of_a_round() {
    for (rtt_ms, left) in [(112, false), (113, true)] {
        let mut driver = hybrid();
        driver.rtt = Span::from_ms(rtt_ms); // 12.5 ms count as a rise
        (0..8).for_each(|_| driver.ack(1));
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (28.0, f64::INFINITY));
        driver.ack(1); // no longer grows the window
        assert_eq!(driver.field("ssthresh") == 28.0, left);
    }
    // A later, smaller sample of the round disproves the rise.
    let mut driver = hybrid();
    driver.rtt = Span::from_ms(200);
    (0..8).for_each(|_| driver.ack(1));
    driver.rtt = Span::from_ms(110);
    (0..8).for_each(|_| driver.ack(1));
    assert_eq!(driver.field("ssthresh"), f64::INFINITY);
}

#[test]
fn linux_hystart_does_not_look_below_sixteen_packets() {
    let mut driver = Driver::new(&ENTRY, &[("slow_start", "hystart")]);
    driver.next_number = 100;
    driver.ack(1);
    driver.rtt = Span::from_ms(200);
    // Five more make the window 16: the rise counts from there on.
    (0..13).for_each(|_| driver.ack(1));
    assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (24.0, f64::INFINITY));
    driver.ack(1);
    assert_eq!(driver.field("ssthresh"), 24.0);
}

#[test]
fn linux_hystart_looks_again_after_a_timeout_and_forgets_the_smallest_rtt() {
    let mut driver = hybrid();
    driver.rtt = Span::from_ms(200);
    (0..9).for_each(|_| driver.ack(1));
    assert_eq!(driver.field("ssthresh"), 28.0);
    // The window grows from 28 to 90 packets by the cubic.
    while driver.field("cwnd") < 90.0 {
        driver.ack(1);
        driver.now += Span::from_ms(5);
    }
    driver.timeout(false);
    // The window grows to 40 packets. Every RTT since the timeout is 200 ms, so HyStart sees no rise.
    while driver.field("cwnd") < 40.0 {
        driver.next_number += 1;
        driver.ack(1);
    }
    let ssthresh = driver.field("ssthresh");
    assert!(ssthresh > 60.0, "{ssthresh}");
    driver.rtt = Span::from_ms(300);
    driver.next_number += 20;
    driver.next_acked = driver.next_number;
    driver.next_number += 20;
    (0..9).for_each(|_| driver.ack(1));
    assert!(driver.field("ssthresh") < 50.0);
}

#[test]
fn linux_hystart_leaves_when_the_ack_train_spans_half_the_rtt() {
    let mut driver = Driver::new(&ENTRY, &[("slow_start", "hystart")]);
    driver.ack_window();
    assert_eq!(driver.field("cwnd"), 20.0);
    driver.now += driver.rtt;
    driver.next_number += 100;
    let began = driver.now;
    driver.ack(1);
    while driver.field("ssthresh").is_infinite() && driver.now - began < Span::from_secs(1) {
        driver.now += Span::from_us(1900);
        driver.rtt = Span::from_ms(100);
        driver.ack(1);
    }
    // (100 + 1) ms / 2 = 50.5 ms is passed by the 27th gap of 1.9 ms: 51.3 ms.
    assert_eq!(driver.now - began, Span::from_us(51_300));
    // A gap above 2 ms breaks the train.
    let mut driver = Driver::new(&ENTRY, &[("slow_start", "hystart")]);
    driver.ack_window();
    driver.next_number += 1000;
    (0..100).for_each(|_| {
        driver.now += Span::from_us(2100);
        driver.ack(1);
    });
    assert_eq!(driver.field("ssthresh"), f64::INFINITY);
}

#[test]
fn linux_hystart_finds_no_train_in_a_round_that_began_below_sixteen_packets() {
    let mut driver = Driver::new(&ENTRY, &[("slow_start", "hystart")]);
    driver.next_number += 70;
    let train = |driver: &mut Driver| {
        (0..60).for_each(|_| {
            driver.now += Span::from_us(1900);
            driver.rtt = Span::from_ms(100);
            driver.ack(1);
        });
    };
    train(&mut driver);
    assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (70.0, f64::INFINITY));
    driver.next_number += 70;
    (0..20).for_each(|_| driver.ack(1));
    train(&mut driver);
    assert!(driver.field("ssthresh") < 140.0);
}

#[test]
fn counted_growth_takes_whole_packets_for_whole_counts() {
    let mut driver = at_hundred(&[("growth", "counted"), ("reno_friendly", "false")]);
    driver.lose(1, true);
    assert_eq!((driver.field("cwnd"), driver.field("w_max")), (70.0, 100.0));
    // One RTT of 0.1 s after the epoch began, the distance is floor(0.4 * 4.1172^3) = 27 and the target 73. So there is
    // one packet per floor(70 / 3) = 23 acknowledged.
    (0..22).for_each(|_| driver.ack(1));
    assert_eq!(driver.field("cwnd"), 70.0);
    driver.ack(1);
    assert_eq!(driver.field("cwnd"), 71.0);
}

#[test]
fn a_reduction_forgets_what_linux_has_counted_and_ns_3_keeps_it() {
    // The window grows by one packet for each 100 windows; 30 packets are counted when the window is reduced.
    let acks_until_growth = |growth| {
        let mut driver = at_hundred(&[("growth", growth), ("reno_friendly", "false")]);
        driver.lose(1, true);
        (0..22).for_each(|_| driver.ack(1));
        driver.lose(1, true);
        let reduced = driver.field("cwnd");
        (1..200).find(|_| {
            driver.ack(1);
            driver.field("cwnd") > reduced
        })
    };
    let (linux, ns3) = (acks_until_growth("counted"), acks_until_growth("counted-ns3"));
    assert_eq!(linux.zip(ns3).map(|(linux, ns3)| linux - ns3), Some(22));
}

#[test]
fn counted_growth_takes_nothing_from_acks_beyond_a_hole() {
    for (growth, grown) in [("counted", false), ("exact", true)] {
        let mut driver = at_hundred(&[("growth", growth)]);
        driver.lose(1, true);
        let before = driver.field("cwnd");
        driver.stream_bytes = Some((50_000, 200_000));
        driver.ack(1);
        let after_first = driver.field("cwnd");
        (0..40).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("cwnd") > after_first, grown, "{growth}");
        // ACKs that complete more of the stream do count.
        (0..40).for_each(|step| {
            driver.stream_bytes = Some((51_000 + 1000 * step, 200_000));
            driver.ack(1);
        });
        assert!(driver.field("cwnd") > before, "{growth}");
    }
}

#[test]
fn before_the_first_loss_counted_growth_takes_at_most_twenty_acknowledged_packets() {
    let mut driver = at_hundred(&[("growth", "counted")]);
    driver.timeout(false);
    // A timeout forgets the maximum: slow start to 70, then one packet per 20.
    while driver.field("cwnd") < 70.0 {
        driver.ack(1);
    }
    (0..20).for_each(|_| driver.ack(1));
    assert_eq!(driver.field("cwnd"), 71.0);
}

#[test]
fn counted_growth_is_no_slower_than_reno_with_the_same_beta() {
    let grown = |reno_friendly| {
        let mut driver =
            at_hundred(&[("growth", "counted"), ("reno_friendly", reno_friendly), ("c", "0.001")]);
        driver.lose(1, true);
        (0..20).for_each(|_| driver.ack_window());
        driver.field("cwnd")
    };
    // Reno's window gains one packet per floor(70 * 15 / 8) = 131 acknowledged, which is 10 in 20 windows.
    assert_eq!(grown("true"), 80.0);
    assert!(grown("false") < 78.0, "{}", grown("false"));
}

#[test]
fn ns3s_hystart_waits_for_a_train_of_a_whole_rtt() {
    // 100 packets of a window arrive in 0.6 RTT: enough for Linux, not for ns-3.
    let left = |slow_start| {
        let mut driver = Driver::new(&ENTRY, &[("slow_start", slow_start)]);
        (0..3).for_each(|_| driver.ack_window());
        driver.next_number += 80;
        for _ in 0..60 {
            driver.now += Span::from_ms(1);
            driver.ack(1);
        }
        driver.field("ssthresh").is_finite()
    };
    assert_eq!((left("hystart"), left("hystart-ns3")), (true, false));
}
