//! Behavior of the Koho family and of sourdough's fixed window against an independent simulation
//! (docs/evidence/derivations.md, Koho) and first principles.

use crate::harness::{Outcome, dumbbell, run, spec};
use serde_json::{Value, json};

/// Returns a flow with datagrump's transport (1500 bytes per packet, as in that simulation).
fn datagrump(controller: &str, parameters: &Value, keepalive_ms: f64) -> Value {
    json!({"scheme": controller, "controller": controller, "parameters": parameters, "transport": {
        "profile": "datagram", "payload_bytes": 1424, "header_bytes": 76, "ack_bytes": 76,
        "keepalive_ms": keepalive_ms}})
}

fn calibrated_koho() -> Value {
    let parameters = json!({"threshold": "constant", "threshold_ms": "5.487712", "step": "0.127221",
        "loss_penalty": "0.05", "max_window": "10000"});
    datagrump("koho", &parameters, 50.0)
}

fn new_koho() -> Value {
    let parameters = json!({"threshold": "constant", "threshold_ms": "25", "loss_penalty": "1.5",
        "max_window": "10000"});
    datagrump("koho", &parameters, 50.0)
}

/// Runs one flow for 30 s: rate Mbit/s, one-way delay ms, queue packets.
fn run_alone(flow: Value, rate: f64, one_way: f64, queue: u64) -> Outcome {
    run(&spec(dumbbell(rate, 2.0 * one_way, queue), vec![flow], 30.0))
}

/// An independent simulation of 30 s: share of the link within 0.015, p95 within 3 ms.
#[test]
fn calibrated_koho_matches_an_independent_simulation() {
    for (rate, one_way, queue, share, p95) in [
        (12.0, 20.0, 1000, 0.994, 32.0),
        (50.0, 20.0, 1000, 0.980, 30.6),
        (100.0, 27.0, 173, 0.954, 39.2),
        (15.0, 75.0, 1000, 0.89, 97.8),
    ] {
        let outcome = run_alone(calibrated_koho(), rate, one_way, queue);
        let reached = outcome.link("throughput_mbps") / rate;
        assert!((reached - share).abs() < 0.015, "{rate} Mbit/s: {reached:.3}, expected {share}");
        let delay = outcome.flow(1, "delay_p95_ms");
        assert!((delay - p95).abs() < 3.0, "{rate} Mbit/s: p95 {delay:.1} ms, expected {p95}");
    }
}

/// Independent simulation: 99.7 % and 61 ms; if the buffer holds less than 25 ms, 14 % are lost (2 points allowed).
#[test]
fn new_koho_matches_an_independent_simulation_and_overflows_short_buffers() {
    let outcome = run_alone(new_koho(), 12.0, 20.0, 1000);
    let reached = outcome.link("throughput_mbps") / 12.0;
    assert!((reached - 0.997).abs() < 0.015, "{reached:.3}");
    let delay = outcome.flow(1, "delay_p95_ms");
    assert!((delay - 61.0).abs() < 3.0, "{delay:.1} ms");
    let outcome = run_alone(new_koho(), 100.0, 27.0, 173);
    let reached = outcome.link("throughput_mbps") / 100.0;
    assert!((reached - 0.979).abs() < 0.015, "{reached:.3}");
    let loss = outcome.flow(1, "loss_rate");
    assert!((loss - 0.14).abs() < 0.02, "{loss:.3}");
}

/// Independent simulation of two such flows, the second 10 s later: the first keeps 44.8 and the second gets 4.7 of 50
/// Mbit/s. The second flow takes the first one's queue for an empty queue. Duration unknown; 60 s here, 5 Mbit/s
/// allowed.
#[test]
fn a_late_calibrated_koho_flow_starves() {
    let mut second = calibrated_koho();
    second["start_s"] = json!(10.0);
    let outcome = run(&spec(dumbbell(50.0, 40.0, 1000), vec![calibrated_koho(), second], 60.0));
    let (first, second) = (outcome.flow(1, "throughput_mbps"), outcome.flow(2, "throughput_mbps"));
    assert!((first - 44.8).abs() < 5.0 && (second - 4.7).abs() < 5.0, "{first:.1} and {second:.1} Mbit/s");
}

/// First principles: 50 packets per RTT below the link's rate; at 12 Mbit/s 50 packets take 50 ms, 10 of them queue.
#[test]
fn sourdough_sends_fifty_packets_per_round_trip() {
    let sourdough = || datagrump("sourdough", &json!({}), 1000.0);
    let outcome = run_alone(sourdough(), 50.0, 20.0, 1000);
    let expected = 50.0 * 1500.0 * 8.0 / 40.24e3;
    let throughput = outcome.link("throughput_mbps");
    assert!(
        (throughput - expected).abs() < 0.01 * expected,
        "{throughput:.2}, computed {expected:.2} Mbit/s"
    );
    let outcome = run_alone(sourdough(), 12.0, 20.0, 1000);
    assert!(outcome.link("throughput_mbps") / 12.0 > 0.99);
    let p95 = outcome.flow(1, "delay_p95_ms");
    assert!((p95 - 30.0).abs() < 1.0, "{p95:.1} ms, computed 30");
}
