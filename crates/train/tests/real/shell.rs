//! Pantheon's table in Pantheon's transport.
//!
//! An independent simulator of this description, written earlier, gives the expected values.

use crate::contents;
use congestion::{Files, Registry};
use measure::RunMeter;
use runs::{Backend, RunSpec, meter_config};
use serde_json::{Value, json};

const FILE: &str = "RemyCC-2014-100x.dna";

/// Returns the throughput in Mbit/s and the 95th percentile of the one-way delay in ms of one flow over `seconds`.
fn measure(data: &Value, one_way_ms: f64, seconds: f64) -> (f64, f64) {
    let spec = json!({
        "seed": 1, "duration_s": seconds, "log": "none",
        "path": {"data": data, "ack": [{"kind": "delay", "delay_ms": one_way_ms}]},
        "flows": [{"scheme": "tao", "controller": "remy", "parameters": {"table": FILE}, "transport": {
            "profile": "datagram", "payload_bytes": 1440, "header_bytes": 60, "ack_bytes": 60, "handshake": true,
            "timer": "silence", "timeout_initial_ms": 2000.0, "window_rounding": "up",
            "quirk_pace_after_block": true, "quirk_pace_by_latest": true}}],
    });
    let mut spec: RunSpec = serde_json::from_value(spec).expect("a specification");
    spec.flows[0].files = Files::from([(FILE.to_owned(), contents(FILE).into())]);
    let mut meter = RunMeter::new(meter_config(&spec, Backend::Simulation));
    let totals = simulator::simulate(&spec, &Registry::builtin(), &mut meter).expect("a run");
    let stats = totals.stats(meter).expect("statistics");
    let flow = &stats.flows[0];
    (flow.throughput_mbps.expect("arrivals"), flow.delay_p95_ms.expect("arrivals"))
}

fn link(rate_mbps: f64, one_way_ms: f64) -> Value {
    json!([
        {"kind": "link", "rate_mbps": rate_mbps, "queue": {"kind": "infinite"}},
        {"kind": "delay", "delay_ms": one_way_ms},
    ])
}

pub(crate) fn one_flow_through_the_program_has_its_throughput_and_delay() {
    for (rate_mbps, one_way_ms, share, p95_ms) in [
        (1.0, 75.0, 0.996, 352.0),
        (5.0, 75.0, 0.94, 112.0),
        (10.0, 75.0, 0.99, 84.7),
        (20.0, 75.0, 0.996, 93.0),
        (40.0, 75.0, 0.91, 77.0),
        (100.0, 75.0, 0.8, 86.0),
        (200.0, 75.0, 0.89, 101.0),
        (40.0, 10.0, 0.988, 11.3),
    ] {
        let (throughput, p95) = measure(&link(rate_mbps, one_way_ms), one_way_ms, 60.0);
        assert!((throughput / rate_mbps / share - 1.0).abs() < 0.01, "{rate_mbps} Mbit/s: {throughput}");
        assert!((p95 / p95_ms - 1.0).abs() < 0.04, "{rate_mbps} Mbit/s: {p95} ms");
    }
}

/// The flow's rule keeps the flow in this rule: it sends a packet every 0.9105 ms, and its averages show this
/// interval.
pub(crate) fn a_slow_start_traps_a_flow_at_13_mbps() {
    let changing = |first_mbps: f64| {
        json!([
            {"kind": "link", "rate_mbps": first_mbps, "queue": {"kind": "infinite"},
             "schedule": [{"at_s": 3.0, "rate_mbps": 40.0}]},
            {"kind": "delay", "delay_ms": 10.0},
        ])
    };
    let after_mbps = |first_mbps: f64| {
        let [long, short] =
            [33.0, 13.0].map(|seconds| measure(&changing(first_mbps), 10.0, seconds).0 * seconds);
        (long - short) / 20.0
    };
    let trapped = after_mbps(5.0);
    assert!((trapped - 13.18).abs() < 0.1, "{trapped}");
    for first_mbps in [2.0, 10.0, 20.0] {
        let free = after_mbps(first_mbps);
        assert!(free > 0.96 * 40.0, "{first_mbps}: {free}");
    }
}

pub(crate) fn random_loss_changes_nothing() {
    let lossy = json!([
        {"kind": "loss", "probability": 0.05},
        {"kind": "link", "rate_mbps": 20.0, "queue": {"kind": "droptail", "packets": 200}},
        {"kind": "delay", "delay_ms": 40.0},
    ]);
    let (throughput, _) = measure(&lossy, 40.0, 30.0);
    assert!(throughput > 0.98 * 20.0, "{throughput}");
}
