//! Behavior of Sprout against the program's own classes under a virtual clock, and its ceiling
//! (docs/evidence/derivations.md, Sprout).

use crate::harness::{Outcome, run, spec};
use serde_json::{Value, json};

/// Returns Sprout with the transport of its scheme: 1418 bytes of UDP payload, ACKs when the receiver half requests
/// them.
fn sprout() -> Value {
    json!({"scheme": "sprout", "controller": "sprout", "transport": {
        "profile": "datagram", "payload_bytes": 1400, "header_bytes": 46, "ack_bytes": 28, "ack_every": 1_000_000,
        "ack_delay_ms": 10000.0, "ack_on_gap": false, "ack_ranges": 32, "ecn": "ect0"}})
}

/// Returns a path with two equal directions: an infinite queue in front of a link, then a delay.
fn symmetric(rate_mbps: f64, one_way_ms: f64) -> Value {
    let direction = json!([
        {"kind": "link", "rate_mbps": rate_mbps, "queue": {"kind": "infinite"}},
        {"kind": "delay", "delay_ms": one_way_ms},
    ]);
    json!({"data": direction, "ack": direction})
}

/// Returns Sprout as used in the paper: the receiver fills the return path.
fn both_ways() -> Value {
    let mut flow = sprout();
    flow["parameters"] = json!({"feedback_only": "false"});
    flow
}

/// Runs 30 s, of which the last 70 % count.
fn closed_loop(rate_mbps: f64, one_way_ms: f64, flow: &Value) -> Outcome {
    let mut spec = spec(symmetric(rate_mbps, one_way_ms), vec![flow.clone()], 30.0);
    spec["warmup_s"] = json!(9.0);
    run(&spec)
}

fn back_mbps(outcome: &Outcome) -> f64 {
    outcome.stats["flows"][0]["acklink"]["throughput_mbps"].as_f64().expect("throughput of the ACK direction")
}

/// The ceiling is about 121 kB per RTT and tick, on any link. The loop locks into the grid of ticks and polls, so each
/// figure is the mean over delays within 1 ms.
#[test]
fn the_ceiling_is_the_largest_window_per_rtt_and_tick() {
    let cells = [
        (both_ways(), 5.0, 33.2),
        (both_ways(), 12.0, 21.8),
        (both_ways(), 20.0, 16.4),
        (both_ways(), 40.0, 9.4),
    ];
    let one_way = [(sprout(), 20.0, 16.8), (sprout(), 40.0, 9.9)];
    for (flow, one_way_ms, mbps) in cells.into_iter().chain(one_way) {
        let offsets = [-1.0, -0.7, -0.4, 0.0, 0.3, 0.6, 1.0];
        let throughput = offsets
            .iter()
            .map(|offset| closed_loop(1000.0, one_way_ms + offset, &flow).flow(1, "throughput_mbps"))
            .sum::<f64>()
            / offsets.len() as f64;
        println!("{one_way_ms} ms: {throughput:.2} Mbit/s, expected {mbps}");
        assert!((throughput / mbps - 1.0).abs() < 0.15, "{one_way_ms} ms: {throughput:.2} for {mbps} Mbit/s");
    }
}

/// The program's own classes fill these links, with a 95th percentile of the one-way delay of 35.6 to 59.8 ms.
#[test]
fn slower_links_are_filled_with_a_bounded_queue() {
    for (rate_mbps, one_way_ms, mbps, p95_ms) in [
        (5.0, 12.0, 5.0, 59.7),
        (5.0, 15.0, 5.0, 56.7),
        (12.0, 5.0, 12.0, 72.3),
        (12.0, 20.0, 12.0, 57.4),
        (20.0, 12.0, 20.0, 35.6),
    ] {
        let outcome = closed_loop(rate_mbps, one_way_ms, &sprout());
        let (throughput, p95) = (outcome.flow(1, "throughput_mbps"), outcome.flow(1, "delay_p95_ms"));
        println!("{rate_mbps} Mbit/s, {one_way_ms} ms: {throughput:.2}, p95 {p95:.1} for {p95_ms}");
        assert!((throughput / mbps - 1.0).abs() < 0.05, "{rate_mbps} Mbit/s: {throughput:.2} for {mbps}");
        assert!((p95 / p95_ms - 1.0).abs() < 0.1, "{rate_mbps} Mbit/s: p95 {p95:.1} for {p95_ms} ms");
    }
}

/// If both ends send: from 12 Mbit/s on both directions are full; below that one direction can stay in a low state.
#[test]
fn both_directions_are_filled_where_both_ends_send() {
    for (rate_mbps, one_way_ms, mbps) in [(12.0, 5.0, 11.98), (12.0, 20.0, 11.96), (20.0, 12.0, 19.01)] {
        let outcome = closed_loop(rate_mbps, one_way_ms, &both_ways());
        let (throughput, back) = (outcome.flow(1, "throughput_mbps"), back_mbps(&outcome));
        println!("{rate_mbps} Mbit/s, {one_way_ms} ms: {throughput:.2}, back {back:.2}");
        assert!((throughput / mbps - 1.0).abs() < 0.05, "{rate_mbps} Mbit/s: {throughput:.2} for {mbps}");
        assert!((back / mbps - 1.0).abs() < 0.05, "{rate_mbps} Mbit/s back: {back:.2} for {mbps}");
    }
}

/// At an RTT of 200 ms the window covers less than a round trip, and heartbeats feed a low state. The program's own
/// classes have 0.74 to 1.10 Mbit/s at 12 Mbit/s and 0.19 to 0.21 Mbit/s at 50 Mbit/s.
#[test]
fn beyond_100_ms_of_rtt_sprout_starves() {
    for (rate_mbps, low, high) in [(12.0, 0.5, 1.4), (50.0, 0.13, 0.3)] {
        let throughput = closed_loop(rate_mbps, 100.0, &sprout()).flow(1, "throughput_mbps");
        assert!(
            (low..=high).contains(&throughput),
            "{rate_mbps} Mbit/s: {throughput:.2}, expected {low} to {high}"
        );
    }
}

/// keithw/sprout@366e35c, `src/examples/sproutbt2.cc`, sends in one direction only: 26 kbit/s of reports come back,
/// from the program's own classes and from this simulation. A receiver with a flow of its own took 12 Mbit/s.
#[test]
fn the_return_path_is_left_empty() {
    let outcome = closed_loop(12.0, 20.0, &sprout());
    let back = back_mbps(&outcome);
    assert!((0.024..=0.029).contains(&back), "{back:.4} Mbit/s back");
    assert!(outcome.link("utilization") > 0.95, "{}", outcome.link("utilization"));
}
