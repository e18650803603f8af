//! Behavior of Chromium's CUBIC of 2017 against published and computed figures.

use crate::harness::{bdp_packets, dumbbell, flow, run, spec};
use serde_json::{Value, json};

/// gQUIC's transport: 1350 bytes of UDP payload, tail loss probes, PRR.
fn gquic(parameters: &Value) -> Value {
    json!({"scheme": "gquic-cubic", "controller": "gquic_cubic", "parameters": parameters, "transport": {
        "profile": "quic", "payload_bytes": 1318, "header_bytes": 60, "time_threshold": 1.25, "timer": "rto",
        "timeout_initial_ms": 500, "timeout_min_ms": 200, "timeout_floor": "total", "tail_loss_probe": true,
        "recovery": "prr", "initial_window": 32, "pacing_gain": 0}})
}

/// Returns `dumbbell` with a queue that counts bytes, because QUIC's packets are shorter than 1500 bytes.
fn in_bytes(rate_mbps: f64, rtt_ms: f64, queue_bytes: f64) -> Value {
    let mut path = dumbbell(rate_mbps, rtt_ms, 1);
    path["data"][0]["queue"] = json!({"kind": "droptail", "bytes": queue_bytes as u64});
    path
}

/// Pantheon's report of 18 January 2018, AWS California to a cellular modem, about 40 Mbit/s with 170 ms of buffer:
/// 38.39 Mbit/s, p95 160.6 ms, 0.52 % lost. The constant link here gives a few percent more, and 12 + 170 ms at most.
#[test]
fn it_fills_a_cellular_like_buffer_with_little_loss() {
    let outcome = run(&spec(in_bytes(40.0, 24.0, 850e3), vec![gquic(&json!({}))], 30.0));
    let throughput = outcome.flow(1, "throughput_mbps");
    assert!((37.0..=40.0).contains(&throughput), "{throughput:.2} Mbit/s, published 38.39");
    let p95 = outcome.flow(1, "delay_p95_ms");
    assert!((150.0..=182.5).contains(&p95), "p95 {p95:.1} ms, published 160.6");
    let loss = outcome.flow(1, "loss_rate");
    assert!((0.002..=0.01).contains(&loss), "loss {loss:.4}, published 0.0052");
}

/// Computed: `0.85 (BDP + Q) >= BDP` from a queue of 0.18 BDP on, where one connection with 0.7 needs 0.43 BDP.
#[test]
fn two_connections_fill_a_link_with_a_fifth_of_a_bdp_of_buffer() {
    let utilization = |share: f64, connections: &str| {
        let queue_bytes = share * bdp_packets(50.0, 100.0) * 1500.0;
        let flow = gquic(&json!({"connections": connections}));
        run(&spec(in_bytes(50.0, 100.0, queue_bytes), vec![flow], 60.0)).link("throughput_mbps") / 50.0
    };
    let (two, one) = (utilization(0.2, "2"), utilization(0.2, "1"));
    assert!(two > 0.985 && one < two - 0.005, "{two:.3} for two connections, {one:.3} for one");
    let (two, one) = (utilization(0.1, "2"), utilization(0.1, "1"));
    assert!(two > one + 0.01, "{two:.3} for two connections, {one:.3} for one");
}

/// N = 2 is designed for about twice the share of one TCP CUBIC competitor (1.5 to 3 allowed); N = 1 for about an equal
/// share (0.6 to 1.4).
#[test]
fn it_takes_the_share_of_two_connections() {
    let ratio = |connections: &str| {
        let flows = vec![gquic(&json!({"connections": connections})), flow("cubic")];
        let outcome = run(&spec(in_bytes(50.0, 40.0, 249e3), flows, 120.0));
        outcome.flow(1, "throughput_mbps") / outcome.flow(2, "throughput_mbps")
    };
    let (one, two) = (ratio("1"), ratio("2"));
    assert!((0.6..=1.4).contains(&one), "{one:.2}");
    assert!((1.5..=3.0).contains(&two), "{two:.2}");
}
