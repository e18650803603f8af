use super::*;
use crate::File;
use crate::network::vectors;
use crate::testing::{Driver, MSS_BYTES};

const WEIGHTS: &[u8] = include_bytes!("../../../../python/dumbbell/catalog/weights/orca/orca.safetensors");

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

#[test]
fn cubic_does_not_grow_beyond_what_was_written_and_reduces_below_it() {
    let files = [("w".to_owned(), WEIGHTS.into())].into();
    let mut parameters = Parameters::defaults(ENTRY.parameters).with_files(files);
    parameters.set("weights", "w").unwrap();
    let mut driver = Driver::new(&crate::cubic::ENTRY, &[]);
    let start = Start { now: Time::ZERO, mss_bytes: MSS_BYTES, initial_window_bytes: 10_000, seed: 1 };
    driver.controller = ENTRY.build(&parameters, &start).unwrap();
    driver.ack(1);
    // 20 ms have passed long ago: the window is read, and grows by a tenth.
    assert_eq!(driver.control().window_bytes, 12_000, "11 by slow start, then 10 % more, truncated");
    driver.lose(1, true);
    assert!(driver.field("acting") < 1.0);
    // The threshold is the window now; the agent acts once the window has grown beyond it.
    let mut acks = 0;
    while driver.field("acting") < 1.0 {
        driver.now += Span::from_ms(50);
        driver.ack(4);
        acks += 1;
        assert!(acks < 100);
    }
    // It has answered at once, for this is a moment at which it looks.
    let written = driver.control().window_bytes;
    assert!(written >= 4000);
    (0..50).for_each(|_| driver.ack(1));
    assert_eq!(driver.control().window_bytes, written, "no growth before the next write");
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
        retransmitted: 0.0,
    };
    policy.max_rate = 2e6;
    let found = policy.features(&seen);
    assert_eq!(found, [0.5, 0.0, 0.05, 0.5, 0.03, 0.5, 0.625]);
    policy.max_rate = 0.0;
    let none = policy.features(&Answer { rate: 0.0, srtt_s: 0.0, ..seen });
    assert_eq!(none[..3], [0.0; 3]);
}

#[test]
fn the_agent_looks_every_ten_milliseconds() {
    let policy = policy(&[]);
    let at = |us: u64| Time::ZERO + Span::from_us(us);
    assert_eq!(
        [1, 10_000, 10_001, 29_000].map(|us| policy.next_poll(at(us))),
        [10_000, 10_000, 20_000, 30_000].map(at)
    );
}
