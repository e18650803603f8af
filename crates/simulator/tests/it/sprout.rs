//! Behaviour of Sprout against an independent implementation's closed loop and its ceiling (docs/derivations.md, Sprout).

use crate::harness::{Outcome, run, spec};
use serde_json::{Value, json};

/// Sprout with the transport of its scheme: 1418 bytes of UDP payload, ACKs when the receiver's half says so.
fn sprout() -> Value {
    json!({"scheme": "sprout", "controller": "sprout", "transport": {
        "profile": "datagram", "payload_bytes": 1400, "header_bytes": 46, "ack_bytes": 28, "ack_every": 1_000_000,
        "ack_delay_ms": 10000.0, "ack_on_gap": false, "ack_ranges": 32, "ecn": "ect0"}})
}

/// Both directions the same: an endless queue in front of a link, then a delay.
fn symmetric(rate_mbps: f64, one_way_ms: f64) -> Value {
    let direction = json!([
        {"kind": "link", "rate_mbps": rate_mbps, "queue": {"kind": "infinite"}},
        {"kind": "delay", "delay_ms": one_way_ms},
    ]);
    json!({"data": direction, "ack": direction})
}

/// 30 s, of which the last 70 % count.
fn closed_loop(rate_mbps: f64, one_way_ms: f64, flow: &Value) -> Outcome {
    let mut spec = spec(symmetric(rate_mbps, one_way_ms), vec![flow.clone()], 30.0);
    spec["warmup_s"] = json!(9.0);
    run(&spec)
}

/// About 121 kB per RTT and tick, whatever the link has. The loop locks into the
/// grid of ticks and polls, so each figure is the mean over delays within 1 ms.
#[test]
fn the_ceiling_is_the_largest_window_per_rtt_and_tick() {
    for (one_way_ms, mbps) in [(5.0, 33.2), (12.0, 21.8), (20.0, 16.4), (40.0, 9.4)] {
        let offsets = [-1.0, -0.7, -0.4, 0.0, 0.3, 0.6, 1.0];
        let found = offsets
            .iter()
            .map(|offset| closed_loop(1000.0, one_way_ms + offset, &sprout()).flow(1, "throughput_mbps"))
            .sum::<f64>()
            / offsets.len() as f64;
        println!("{one_way_ms} ms: {found:.2} Mbit/s, expected {mbps}");
        assert!((found / mbps - 1.0).abs() < 0.15, "{one_way_ms} ms: {found:.2} for {mbps} Mbit/s");
    }
}

/// The same table below the ceiling, at rates and delays where the loop does not depend on the timing of polls: the
/// link is full; from 12 Mbit/s on in both directions, below that the return direction can stay in a low state. The
/// 95th percentile of the one-way delay is to be 40 to 60 ms above the path's; we find 40 to 46 ms at 5 Mbit/s, and
/// down to 24 ms at 20.
#[test]
fn slower_links_are_filled_both_ways_with_a_bounded_queue() {
    for (rate_mbps, one_way_ms, mbps) in
        [(5.0, 12.0, 4.99), (5.0, 15.0, 4.98), (12.0, 5.0, 11.98), (12.0, 20.0, 11.96), (20.0, 12.0, 19.01)]
    {
        let outcome = closed_loop(rate_mbps, one_way_ms, &sprout());
        let found = outcome.flow(1, "throughput_mbps");
        let back = outcome.stats["flows"][0]["acklink"]["throughput_mbps"].as_f64().unwrap();
        let above_ms = outcome.flow(1, "delay_p95_ms") - one_way_ms;
        println!(
            "{rate_mbps} Mbit/s, {one_way_ms} ms: {found:.2}, back {back:.2}, p95 {above_ms:.1} ms above"
        );
        assert!((found / mbps - 1.0).abs() < 0.05, "{rate_mbps} Mbit/s: {found:.2} for {mbps}");
        let back_is_full = (back / mbps - 1.0).abs() < 0.05;
        assert!(back_is_full || rate_mbps < 12.0, "{rate_mbps} Mbit/s back: {back:.2} for {mbps}");
        assert!((20.0..=60.0).contains(&above_ms), "{rate_mbps} Mbit/s: {above_ms:.1} ms");
    }
}

/// At an RTT of 120 ms the window covers less than a round trip, and heartbeats feed a low state.
#[test]
fn beyond_100_ms_of_rtt_sprout_starves() {
    for rate_mbps in [40.0, 1000.0] {
        let found = closed_loop(rate_mbps, 60.0, &sprout()).flow(1, "throughput_mbps");
        assert!((0.1..=2.0).contains(&found), "{rate_mbps} Mbit/s: {found:.2}, expected 0.9 to 1.2");
    }
}

/// Without a flow of its own the receiver sends one forecast per tick, 70 bytes each: 28 kbit/s.
#[test]
fn feedback_alone_leaves_the_return_path_empty() {
    let mut flow = sprout();
    flow["parameters"] = json!({"feedback_only": "true"});
    let outcome = closed_loop(12.0, 20.0, &flow);
    let back = outcome.stats["flows"][0]["acklink"]["throughput_mbps"].as_f64().unwrap();
    assert!((0.027..=0.029).contains(&back), "{back:.4} Mbit/s back");
    assert!(outcome.link("utilization") > 0.95, "{}", outcome.link("utilization"));
}
