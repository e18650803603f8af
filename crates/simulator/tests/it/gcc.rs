//! Behavior of Google Congestion Control with a live encoder, against published and measured figures.

use crate::harness::{Outcome, flow, run, spec};
use serde_json::{Value, json};

/// Returns GCC as in the catalog, with an encoder of at most `max_mbps`.
fn gcc(max_mbps: f64, parameters: &Value) -> Value {
    json!({"scheme": "gcc", "controller": "gcc", "parameters": parameters,
        "transport": {"profile": "datagram", "payload_bytes": 1200, "header_bytes": 62, "ack_bytes": 62, "reliable": true,
            "ack_every": 1_000_000, "ack_delay_ms": 10_000.0, "ack_on_gap": false, "ack_ranges": 64},
        "application": {"kind": "encoder", "fps": 25.0, "min_rate_mbps": 0.03, "start_rate_mbps": 0.3,
            "max_rate_mbps": max_mbps}})
}

/// Returns Chromium's default: 2.5 Mbit/s, no overall maximum.
fn webrtc() -> Value {
    gcc(2.5, &json!({"allocated_mbps": "2.5"}))
}

/// Returns an encoder of 16 Mbit/s with an equal overall maximum.
fn ample() -> Value {
    gcc(16.0, &json!({"allocated_mbps": "16", "max_rate_mbps": "16"}))
}

/// Returns a flow as measured with Chromium: 30 frames/s, encoder and overall maximum of `max_mbps`.
fn camera(max_mbps: f64) -> Value {
    let max = max_mbps.to_string();
    let mut flow = gcc(max_mbps, &json!({"allocated_mbps": max, "max_rate_mbps": max}));
    flow["application"]["fps"] = json!(30.0);
    flow
}

/// Returns a path with a droptail queue of `bytes`, and half of the RTT on each side.
fn path(rate_mbps: f64, rtt_ms: f64, bytes: u64) -> Value {
    json!({
        "data": [
            {"kind": "link", "rate_mbps": rate_mbps, "queue": {"kind": "droptail", "bytes": bytes}},
            {"kind": "delay", "delay_ms": rtt_ms / 2.0},
        ],
        "ack": [{"kind": "delay", "delay_ms": rtt_ms / 2.0}],
    })
}

/// Returns `path` with different rates from the given times on.
fn with_rates(mut path: Value, rates: &[(f64, f64)]) -> Value {
    let schedule = rates.iter().map(|(at_s, rate_mbps)| json!({"at_s": at_s, "rate_mbps": rate_mbps}));
    path["data"][0]["schedule"] = schedule.collect();
    path
}

/// Runs with each of three seeds.
fn runs(path: &Value, flows: &[Value], seconds: f64) -> Vec<Outcome> {
    let with_seed = |seed: u64| {
        let mut spec = spec(path.clone(), flows.to_vec(), seconds);
        spec["seed"] = json!(seed);
        run(&spec)
    };
    (1..=3).map(with_seed).collect()
}

fn at(outcome: &Outcome, field: &str, second: f64) -> f64 {
    outcome.mean(1, field, second, second + 0.1)
}

/// docs/evidence/derivations.md: 2.1 to 2.6 Mbit/s over 30 s, p95 delay of less than 10 ms above the base; Pantheon's
/// 2.24 to 2.27 Mbit/s, which count the browser's start; 2.60 to 2.67 Mbit/s measured once it runs
/// (docs/schemes/chromium.md, made by hand, as are the other figures of Chromium here).
#[test]
fn chromiums_default_is_limited_by_its_encoder() {
    for outcome in runs(&path(40.0, 24.0, 850_000), &[webrtc()], 30.0) {
        let throughput = outcome.flow(1, "throughput_mbps");
        assert!((2.1..=2.67).contains(&throughput), "{throughput:.2} Mbit/s");
        assert!(outcome.flow(1, "delay_p95_ms") < 22.0);
        assert_eq!(outcome.flow(1, "loss_rate"), 0.0);
    }
}

/// Chromium gets 3.21 to 3.46 Mbit/s of 4 over 30 s, with a p95 delay of 74 to 169 ms. It overshoots once to nearly the
/// whole queue, and is above 80 % within 5 s. The rate may be 20 % off (Chromium's takes 4 s longer to start).
#[test]
fn four_mbps_are_found_by_probing_and_overshot_once() {
    for outcome in runs(&path(4.0, 40.0, 100_000), &[camera(10.0)], 30.0) {
        let throughput = outcome.flow(1, "throughput_mbps");
        assert!((2.7..=4.0).contains(&throughput), "{throughput:.2} Mbit/s");
        assert!(outcome.mean(1, "acked_rate", 4.0, 5.0) > 0.8 * 4.0);
        let p95 = outcome.flow(1, "delay_p95_ms");
        assert!((60.0..=180.0).contains(&p95), "{p95:.0} ms");
        assert!(outcome.flow(1, "loss_rate") < 0.01);
    }
}

/// Rate 5 -> 1 -> 5 Mbit/s. The algorithm alone was expected to drain the queue within 2 s
/// (docs/evidence/derivations.md); Chromium with its encoder takes 3.7 to 4.3 s (125 kB: 4.9 s). The built-in encoder
/// is neither, so half of the first to 20 % above the second is allowed. Chromium then has 0.5 to 0.9 Mbit/s, and 1.35
/// and 1.6 Mbit/s 12 s after the link's return, because growth is 8 % per second and no probe is sent.
#[test]
fn a_drop_of_capacity_fills_the_queue_for_seconds_and_recovery_is_slow() {
    let path = with_rates(path(5.0, 40.0, 50_000), &[(10.0, 1.0), (20.0, 5.0)]);
    for outcome in runs(&path, &[camera(10.0)], 32.0) {
        let delayed = |sample: &(f64, f64)| sample.1 > 140.0;
        let until = outcome.series(1, "rtt", 10.0, 20.0).into_iter().rfind(delayed).unwrap().0;
        assert!((11.0..=16.0).contains(&until), "{until:.1} s");
        let low = outcome.mean(1, "acked_rate", 15.0, 20.0);
        assert!((0.5..=1.0).contains(&low), "{low:.2} Mbit/s");
        let recovered = at(&outcome, "target", 31.9);
        assert!((1.2..=2.4).contains(&recovered), "{recovered:.2} Mbit/s");
    }
}

/// The queue of the drop stands 2.4 s here, and 3.9 and 4.2 s with Chromium. Chromium keeps retransmitting packets lost
/// in the drop, but the built-in transport retransmits nothing older than 1 s. With unlimited retransmission it takes
/// 3.3 s, so that rule explains most of the difference.
#[test]
fn what_is_repeated_after_a_drop_of_capacity_keeps_its_queue_standing() {
    let path = with_rates(path(5.0, 40.0, 50_000), &[(10.0, 1.0), (20.0, 5.0)]);
    let stands = |flow: Value| {
        let outcomes = runs(&path, &[flow], 20.0);
        let until = outcomes.iter().map(|outcome| {
            let rtts = outcome.series(1, "rtt", 10.0, 20.0);
            rtts.into_iter().rfind(|sample| sample.1 > 140.0).expect("a queue").0 - 10.0
        });
        until.sum::<f64>() / outcomes.len() as f64
    };
    let mut repeating = camera(10.0);
    repeating["application"]["resend_within_ms"] = json!(100_000.0);
    let (fresh, all) = (stands(camera(10.0)), stands(repeating));
    assert!((1.9..2.9).contains(&fresh), "{fresh:.1} s");
    assert!(
        (2.8..4.3).contains(&all) && all > fresh + 0.4,
        "{all:.1} s with all repeated, {fresh:.1} s without"
    );
}

/// docs/schemes/webrtc.md, measured with Chromium, 20 Mbit/s: without an overall maximum probing ends at 5 (4 to 6
/// Mbit/s within 2 s, 9.7 after 10 s); with one of 20 Mbit/s 17.5 after 2 s.
#[test]
fn the_overall_maximum_decides_how_far_probing_goes() {
    let path = path(20.0, 40.0, 200_000);
    for outcome in runs(&path, &[gcc(20.0, &json!({"allocated_mbps": "20"}))], 11.0) {
        let (early, late) = (at(&outcome, "target", 2.0), at(&outcome, "target", 10.0));
        assert!((4.0..=6.0).contains(&early), "{early:.1} Mbit/s");
        assert!((8.0..=11.5).contains(&late), "{late:.1} Mbit/s");
    }
    for outcome in runs(&path, &[camera(20.0)], 3.0) {
        let early = at(&outcome, "target", 2.0);
        assert!((13.0..=20.0).contains(&early), "{early:.1} Mbit/s");
    }
}

/// docs/evidence/derivations.md: without probing, growth of 8 % per second takes about 34 s from 0.3 to 4 Mbit/s.
#[test]
fn without_probing_it_takes_half_a_minute() {
    let flow = gcc(16.0, &json!({"allocated_mbps": "16", "max_rate_mbps": "16", "probing": "false"}));
    for outcome in runs(&path(8.0, 50.0, 100_000), &[flow], 45.0) {
        let reached = outcome.series(1, "target", 0.0, 45.0).into_iter().find(|sample| sample.1 >= 4.0);
        let (seconds, _) = reached.expect("4 Mbit/s are reached");
        assert!((30.0..=38.0).contains(&seconds), "{seconds:.1} s");
    }
}

/// docs/schemes/webrtc.md, measured with Chromium: two on 6 Mbit/s, the second half a second later: 3.4 to 4.1 against
/// 1.0 to 1.7 Mbit/s. Allowed: 20 % more.
#[test]
fn the_later_of_two_stays_behind() {
    let mut later = camera(10.0);
    later["start_s"] = json!(0.5);
    for outcome in runs(&path(6.0, 40.0, 150_000), &[camera(10.0), later], 30.0) {
        let (first, second) = (outcome.flow(1, "throughput_mbps"), outcome.flow(2, "throughput_mbps"));
        assert!((2.8..=4.9).contains(&first), "{first:.2} Mbit/s");
        assert!((0.8..=2.1).contains(&second), "{second:.2} Mbit/s");
    }
}

/// The threshold adapts to a queue that a loss-based flow keeps full (draft-ietf-rmcat-gcc-02, 5.4). So GCC is starved
/// to a few hundred kbit/s in a deep buffer, but not completely.
#[test]
fn cubic_starves_it_in_a_deep_buffer_but_not_completely() {
    let mut cubic = flow("cubic");
    cubic["start_s"] = json!(10.0);
    for outcome in runs(&path(10.0, 50.0, 1_000_000), &[ample(), cubic], 60.0) {
        let rate = outcome.mean(1, "acked_rate", 30.0, 60.0);
        assert!((0.1..=1.5).contains(&rate), "{rate:.2} Mbit/s");
    }
}

/// docs/evidence/derivations.md: losses of 2 % do not matter for the thresholds; the model treats them as inherent,
/// with a penalty. Above 5 % the loss bounds the rate: 100 kbit/s / (loss - 0.05), which is 2 Mbit/s at 10 %.
#[test]
fn random_loss_is_tolerated_up_to_a_bound() {
    let lossy = |probability: f64| {
        let mut path = path(4.0, 50.0, 100_000);
        path["data"].as_array_mut().unwrap().insert(1, json!({"kind": "loss", "probability": probability}));
        path
    };
    let thresholds = json!({"allocated_mbps": "16", "max_rate_mbps": "16", "loss_based": "false"});
    for outcome in runs(&lossy(0.02), &[gcc(16.0, &thresholds)], 30.0) {
        assert!(outcome.flow(1, "throughput_mbps") > 0.8 * 4.0);
    }
    for outcome in runs(&lossy(0.02), &[ample()], 30.0) {
        assert!(outcome.flow(1, "throughput_mbps") > 0.6 * 4.0);
    }
    for outcome in runs(&lossy(0.10), &[ample()], 30.0) {
        let target = outcome.mean(1, "target", 10.0, 30.0);
        assert!((0.5..=2.2).contains(&target), "{target:.2} Mbit/s");
    }
}
