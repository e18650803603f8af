use super::*;
use crate::File;
use crate::network::vectors;
use crate::testing::{Driver, MSS_BYTES};

const WEIGHTS: &[u8] = include_bytes!("../../../../../python/dumbbell/catalog/weights/orca/orca.safetensors");

fn network() -> Network {
    let file = File { name: "orca.safetensors".into(), contents: WEIGHTS.into() };
    Network::new(&Tensors::read("weights", &file, &[]).unwrap(), INPUTS, 1).unwrap()
}

fn percent(action: f32) -> f64 {
    (100.0 * libm::pow(4.0, f64::from(action))).trunc()
}

#[test]
fn the_published_network_says_what_it_said_elsewhere() {
    let mut network = network();
    for (expected, input) in vectors(include_str!("vectors.csv")) {
        let found = f64::from(network.step(&input)[0]);
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}

fn policy(settings: &[(&str, &str)]) -> Orca {
    let mut parameters = Parameters::defaults(ENTRY.parameters);
    for (name, value) in settings {
        parameters.set(name, value).unwrap();
    }
    let start = Start { now: Time::ZERO, mss_bytes: MSS_BYTES, initial_window_bytes: 10_000, seed: 1 };
    Orca::new(&parameters, &start)
}

const CLEAN: [f64; FEATURES] = [1.0, 1.0, 0.0, 0.5, 0.03, 1.0, 1.0];

#[test]
fn an_empty_history_cuts_and_a_filled_one_does_not() {
    let (mut network, mut zeros) = (network(), policy(&[]));
    let mut next = || {
        zeros.remember(CLEAN);
        percent(network.step(&zeros.observation)[0])
    };
    let found: Vec<f64> = (0..10).map(|_| next()).collect();
    assert_eq!(found, [28.0, 44.0, 73.0, 101.0, 90.0, 96.0, 103.0, 106.0, 110.0, 105.0]);
    let mut filled = policy(&[("first_history", "filled")]);
    filled.remember(CLEAN);
    assert_eq!(percent(network.step(&filled.observation)[0]), 105.0);
}

#[test]
fn percent_and_window_are_truncated_with_at_least_four_packets() {
    let mut policy = policy(&[]);
    let mut after = |window: f64, action: f32| {
        policy.phase = Phase::Asked { until: Time::ZERO, window };
        policy.act(Time::ZERO, &[action]);
        (policy.percent, policy.cubic.window())
    };
    assert_eq!(after(99.0, 1.0), (400.0, 396.0));
    assert_eq!(after(99.0, -1.0), (25.0, 24.0));
    assert_eq!(after(1000.0, -0.001), (99.0, 990.0));
    assert_eq!(after(5.0, -1.0), (25.0, 4.0));
}

fn driver() -> Driver {
    let files = [("w".to_owned(), WEIGHTS.into())].into();
    Driver::with_files(&ENTRY, &[("weights", "w")], files)
}

#[test]
fn in_slow_start_each_look_that_finds_a_sample_adds_a_tenth() {
    let mut driver = driver();
    driver.ack(1);
    // The first sleep of 20 ms is over.
    assert_eq!(driver.control().window_bytes, 12_000, "11 by slow start, then a tenth more, truncated");
    assert_eq!(driver.control().wake_at, driver.now + LOOK);
    driver.ack(1);
    assert_eq!(driver.control().window_bytes, 13_000, "it has not looked");
    driver.now += LOOK;
    driver.controller.on_wake(driver.now);
    assert_eq!(driver.control().window_bytes, 14_000, "14.3");
    driver.now += LOOK;
    driver.controller.on_wake(driver.now);
    assert_eq!(driver.control().window_bytes, 14_000, "no sample, nothing done");
    assert_eq!(driver.control().wake_at, driver.now + LOOK);
    driver.lose(1, true);
    assert!(driver.field("acting") < 1.0, "the threshold is the window now");
}

#[test]
fn the_answer_comes_after_ten_milliseconds_and_is_no_limit() {
    let mut driver = driver();
    driver.ack(1);
    driver.lose(1, true);
    // The agent acts once the window is above the threshold.
    let mut acks = 0;
    while driver.field("acting") < 1.0 {
        driver.now += Span::from_ms(50);
        driver.ack(4);
        acks += 1;
        assert!(acks < 100);
    }
    let (asked, read) = (driver.now, driver.control().window_bytes);
    assert_eq!(driver.control().wake_at, asked + Span::from_ms(10));
    driver.now += Span::from_ms(10);
    driver.controller.on_wake(driver.now);
    let written = driver.control().window_bytes;
    assert_eq!(written, ((driver.field("percent") * read as f64 / 1e5).trunc() as u64).max(4) * 1000);
    assert_eq!(driver.control().wake_at, driver.now + Span::from_ms(20));
    (0..500).for_each(|_| driver.ack(1));
    assert!(driver.control().window_bytes > written, "CUBIC goes on");
    driver.timeout(false);
    assert_eq!(driver.control().window_bytes, 1000);
    assert!(driver.control().pacing.is_some());
}

#[test]
fn features_are_those_of_the_socket() {
    let mut policy = policy(&[]);
    policy.cubic.set_window(100.0);
    let seen = Answer {
        elapsed_s: 0.03,
        rate: 1e6,
        rtt_s: Some(0.03),
        rtt_samples: 50.0,
        loss: 2e4,
        srtt_s: 0.04,
        min_rtt_s: 0.02,
        packets_out: 80.0,
        ..Answer::default()
    };
    policy.max_rate = 2e6;
    let found = policy.features(&seen);
    assert_eq!(found, [0.5, 0.0, 0.05, 0.5, 0.03, 0.5, 0.625]);
    policy.max_rate = 0.0;
    let none = policy.features(&Answer { rate: 0.0, srtt_s: 0.0, ..seen });
    assert_eq!(none[..3], [0.0; 3]);
}
