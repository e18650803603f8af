use super::{Key, Walker};
use crate::change::KeyWalk;
use crate::testing::{Bench, at_ms, elements};
use crate::until::to_the_end;
use crate::{Direction, ElementSpec};
use units::{Rng, Time};

fn key(corr: f64, std: f64, min: f64, max: f64) -> Key {
    let walk = KeyWalk { corr, std, min, max, start: None };
    let rng = Rng::new(3, "data/0/link/walk/rate_mbps");
    Key { name: "rate_mbps".to_owned(), walk, value: walk.start(), step: 0.0, rng }
}

/// Far from its bounds the steps are an autoregression: variance std^2 / (1 - corr^2); adjacent steps have the
/// correlation corr.
#[test]
fn steps_have_the_variance_and_the_correlation_of_the_formula() {
    let mut key = key(0.6, 2.0, -1e9, 1e9);
    let steps: Vec<f64> = (0..100_000)
        .map(|_| {
            let before = key.value;
            key.advance();
            key.value - before
        })
        .collect();
    let count = steps.len() as f64;
    let variance = steps.iter().map(|step| step * step).sum::<f64>() / count;
    // 4 / (1 - 0.36) = 6.25; the standard error is about 0.03.
    assert!((variance - 6.25).abs() < 0.2, "{variance}");
    let product = steps.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / count;
    assert!((product / variance - 0.6).abs() < 0.02, "{}", product / variance);
}

/// With steps small against the range the clamped walk is a Brownian motion between two walls: uniform in the long
/// run, with mean 10.5 and deviation 19 / sqrt(12) = 5.48.
#[test]
fn a_walk_stays_within_its_bounds_and_fills_them() {
    let mut key = key(0.0, 0.5, 1.0, 20.0);
    let values: Vec<f64> = (0..400_000)
        .map(|_| {
            key.advance();
            key.value
        })
        .collect();
    assert!(values.iter().all(|value| (1.0..=20.0).contains(value)));
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance =
        values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64;
    assert!((mean - 10.5).abs() < 0.6, "{mean}");
    assert!((variance.sqrt() - 5.48).abs() < 0.3, "{}", variance.sqrt());
}

#[test]
fn a_bound_takes_the_momentum() {
    let mut key = key(1.0, 0.0, 0.0, 10.0);
    (key.value, key.step) = (9.0, 3.0);
    key.advance();
    assert_eq!((key.value, key.step), (10.0, 0.0));
    key.advance();
    assert_eq!(key.value, 10.0);
}

const WALKING: &str = r#"[{"kind": "link", "rate_mbps": 5, "walk": {"rate_mbps":
    {"corr": 0.5, "std": 1, "min": 6, "max": 18}}}]"#;

fn capacity(json: &str, seed: u64, ms: u64) -> u128 {
    Bench::seeded(json, seed).stats(at_ms(ms)).capacity_bits
}

#[test]
fn the_start_is_the_middle_and_the_first_step_comes_after_an_interval() {
    assert_eq!(capacity(WALKING, 1, 100), 1_200_000);
    assert_ne!(capacity(WALKING, 1, 300), 3_600_000);
    let started = WALKING.replace(r#""max": 18"#, r#""max": 18, "start": 8"#);
    assert_eq!(capacity(&started, 1, 100), 800_000);
    let faster = WALKING.replace(
        r#""rate_mbps":
"#,
        r#""interval_ms": 10, "rate_mbps":
"#,
    );
    assert_eq!(capacity(&faster, 1, 10), 120_000);
    assert_ne!(capacity(&faster, 1, 30), 360_000);
}

#[test]
fn walks_repeat_by_seed_and_are_independent_of_each_other() {
    let first = capacity(WALKING, 1, 5000);
    assert_eq!(first, capacity(WALKING, 1, 5000));
    assert_ne!(first, capacity(WALKING, 2, 5000));
    let with_delay = WALKING.replace(
        "}}}]",
        r#"}}}, {"kind": "delay", "delay_ms": 3, "walk": {"delay_ms": {"corr": 0, "std": 2, "min": 0, "max": 9}}}]"#,
    );
    assert_eq!(first, capacity(&with_delay, 1, 5000));
    let two =
        WALKING.replace("18}}}", r#"18}, "framing_bytes": {"corr": 0, "std": 9, "min": 0, "max": 40}}}"#);
    assert_eq!(first, capacity(&two, 1, 5000));
}

/// Whole-number settings get whole values. A scheduled change of another setting does not disturb a walk.
#[test]
fn a_scheduled_change_leaves_what_walks_alone() {
    let json = r#"[{"kind": "link", "rate_mbps": 5, "schedule": [{"at_s": 1, "device_packets": 3}], "walk":
        {"rate_mbps": {"corr": 0, "std": 1, "min": 6, "max": 18, "start": 17},
         "framing_bytes": {"corr": 0, "std": 3, "min": 0, "max": 40}}}]"#;
    let element = &elements(json)[0];
    let mut walker = Walker::build(element, 0, 1, "data/0/link").unwrap();
    (0..10).for_each(|_| _ = walker.step());
    let ElementSpec::Link(before) = walker.spec.clone() else { panic!("another element") };
    let state = element.states(&mut to_the_end).unwrap()[0].clone().unwrap();
    let ElementSpec::Link(after) = walker.adopt(&state) else { panic!("another element") };
    assert_eq!((before.rate_mbps, before.framing_bytes), (after.rate_mbps, after.framing_bytes));
    assert_eq!((before.device_packets, after.device_packets), (0, 3));
    assert!(before.rate_mbps != 17.0);
    // The capacity must be equal too, with and without the change.
    let without = json.replace(r#""schedule": [{"at_s": 1, "device_packets": 3}], "#, "");
    assert_eq!(capacity(json, 4, 3000), capacity(&without, 4, 3000));
}

/// A walk of loss between two bounds loses the mean of them.
#[test]
fn loss_walks_around_its_mean() {
    let mut bench = Bench::new(
        r#"[{"kind": "loss", "probability": 0, "walk": {"interval_ms": 1, "probability":
            {"corr": 0.2, "std": 0.1, "min": 0.1, "max": 0.5}}}]"#,
    );
    (0..20_000).for_each(|us| bench.send(Time::from_ns(us * 1_000_000), 100));
    let lost = bench.log.dropped.len() as f64 / 20_000.0;
    assert!((lost - 0.3).abs() < 0.03, "{lost}");
}

#[test]
fn the_base_rtt_is_that_of_the_start() {
    let path = r#"{"data": [{"kind": "delay", "delay_ms": 3, "walk": {"delay_ms":
        {"corr": 0, "std": 2, "min": 10, "max": 30}}}], "ack": []}"#;
    let path: crate::PathSpec = serde_json::from_str(path).unwrap();
    assert_eq!(path.base_rtt(), units::Span::from_ms(20));
}

#[test]
fn bad_walks_are_named_in_one_line() {
    for (walk, expected) in [
        ("{}", "data[0] (link): walk: nothing walks"),
        (r#"{"rate": {"corr": 0, "std": 1, "min": 1, "max": 2}}"#, "walk: rate cannot be changed"),
        (r#"{"rate_mbps": {"corr": 2, "std": 1, "min": 1, "max": 2}}"#, "walk: rate_mbps: corr = 2"),
        (r#"{"rate_mbps": {"corr": 0, "std": -1, "min": 1, "max": 2}}"#, "rate_mbps: std = -1"),
        (r#"{"rate_mbps": {"corr": 0, "std": 1, "min": 2, "max": 2}}"#, "max = 2: must be above min = 2"),
        (
            r#"{"rate_mbps": {"corr": 0, "std": 1, "min": 1, "max": 2, "start": 3}}"#,
            "start = 3: must be from min = 1 to max = 2",
        ),
        (
            r#"{"rate_mbps": {"corr": 0, "std": 1, "min": -1, "max": 2}}"#,
            "walk: rate_mbps = -1: must be above 0",
        ),
        (r#"{"rate_mbps": {"corr": 0, "std": 1, "min": 1, "max": 1e9}}"#, "must be at most 1000000"),
        (r#"{"framing_bytes": {"corr": 0, "std": 1, "min": 0.5, "max": 2}}"#, "must be a whole number"),
        (
            r#"{"interval_ms": 0, "rate_mbps": {"corr": 0, "std": 1, "min": 1, "max": 2}}"#,
            "walk: interval_ms = 0",
        ),
        (r#"{"rate_mbps": {"corr": 0, "std": 1, "min": 1}}"#, "missing field `max`"),
        (r#"{"rate_mbps": {"corr": 0, "std": 1, "min": 1, "max": 2, "end": 1}}"#, "unknown field `end`"),
        (r#"{"device_packets": {"corr": 0, "std": 1, "min": 0, "max": 2}}"#, "schedule[1] sets it too"),
    ] {
        let json = format!(
            r#"[{{"kind": "link", "rate_mbps": 1, "walk": {walk},
                "schedule": [{{"at_s": 1, "queue": {{"packets": 3}}}}, {{"at_s": 2, "device_packets": 1}}],
                "queue": {{"kind": "droptail", "packets": 9}}}}]"#
        );
        let error = match serde_json::from_str::<Vec<ElementSpec>>(&json) {
            Ok(elements) => Direction::build(&elements, "data", 1).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(expected) && !error.contains('\n'), "{walk}: {error}");
    }
}
