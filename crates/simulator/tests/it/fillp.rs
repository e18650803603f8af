//! Behavior of `FillP`, `FillP` 2 and FillP-Sheep. `FillP` is compared with a model of its executable's rule
//! (docs/evidence/derivations.md, `FillP`: 40 Mbit/s, RTT 24 ms, 850 kB), the others with their README.
//!
//! Allowed: 5 % of throughput, 3 points of loss, 5 ms of p95 delay on smooth links, ranges over seeds otherwise.

use crate::harness::{Outcome, mean, run, spec};
use serde_json::{Value, json};

const LINK_MBPS: f64 = 40.0;
const RTT_MS: f64 = 24.0;
/// Payload as a share of the datagram.
const PAYLOAD_SHARE: f64 = 1300.0 / 1340.0;
/// Buffer of the model, and one bandwidth-delay product, bytes.
const BUFFER: u64 = 850_000;
const BDP: u64 = 120_000;

/// Returns a flow with `FillP`'s transport: only PACKs report arrivals.
fn fillp(controller: &str, parameters: &Value) -> Value {
    json!({"scheme": controller, "controller": controller, "parameters": parameters, "transport": {
        "profile": "tcp", "payload_bytes": 1300, "header_bytes": 40, "ack_bytes": 75, "ack_every": 1_000_000,
        "ack_delay_ms": 10000.0, "ack_on_gap": false, "ack_ranges": 1024, "ack_range_bytes": 0,
        "tail_loss_probe": false, "recovery": "immediate", "max_window_bytes": 107_900_000}})
}

fn first() -> Value {
    fillp("fillp", &json!({}))
}

/// Returns the second generation, with its set-up and its messages.
fn later(parameters: &Value, message_bytes: u64) -> Value {
    let mut flow = fillp("fillp2", parameters);
    flow["transport"]["message_bytes"] = json!(message_bytes);
    flow["transport"]["handshake_rounds"] = json!(2);
    flow["transport"]["handshake_repeat_ms"] = json!(200.0);
    flow
}

fn second() -> Value {
    later(&json!({}), 8000)
}

fn sheep() -> Value {
    later(&json!({"sheep": "true"}), 8084)
}

/// Returns the model's link with `buffer` bytes, and deliveries in slots of `slot_ms` if that is not 0.
fn path(rtt_ms: f64, buffer: u64, slot_ms: f64) -> Value {
    let mut data = vec![
        json!({"kind": "link", "rate_mbps": LINK_MBPS, "queue": {"kind": "droptail", "bytes": buffer}}),
        json!({"kind": "delay", "delay_ms": rtt_ms / 2.0}),
    ];
    if slot_ms > 0.0 {
        data.push(json!({"kind": "slotted", "slot_ms": slot_ms}));
    }
    json!({"data": data, "ack": [{"kind": "delay", "delay_ms": rtt_ms / 2.0}]})
}

fn after_5_s(path: Value, flows: Vec<Value>, seconds: f64, seed: u64) -> Outcome {
    let mut spec = spec(path, flows, seconds);
    spec["warmup_s"] = json!(5.0);
    spec["seed"] = json!(seed);
    run(&spec)
}

fn utilization(outcome: &Outcome) -> f64 {
    outcome.flow(1, "goodput_mbps") / (PAYLOAD_SHARE * LINK_MBPS)
}

/// 7.3: 39.8 Mbit/s, p95 182 ms, 7.7 % loss.
#[test]
fn a_smooth_link_is_full_with_a_full_buffer_and_8_percent_loss() {
    let outcome = after_5_s(path(RTT_MS, BUFFER, 0.0), vec![first()], 30.0, 1);
    let throughput = outcome.flow(1, "throughput_mbps");
    assert!((throughput - 39.8).abs() < 0.05 * 39.8, "{throughput:.2} Mbit/s");
    let delay = outcome.flow(1, "delay_p95_ms");
    assert!((delay - 182.0).abs() < 5.0, "{delay:.1} ms");
    let loss = 100.0 * outcome.flow(1, "packet_loss_rate");
    assert!((loss - 7.7).abs() < 3.0, "{loss:.2} %");
}

/// Section 7.3: 7.7 to 8.9 % for 0.2 to 1.2 MB, and at least 99 % of the link from 0.2 BDP on.
#[test]
fn neither_loss_nor_throughput_depends_on_the_buffer() {
    for buffer in [BDP / 5, BDP / 2, BDP, 2 * BDP, 400_000, 1_200_000] {
        let outcome = after_5_s(path(RTT_MS, buffer, 0.0), vec![first()], 30.0, 1);
        assert!(utilization(&outcome) >= 0.99, "{buffer} bytes: {:.3}", utilization(&outcome));
        let loss = 100.0 * outcome.flow(1, "packet_loss_rate");
        assert!((4.7..=11.9).contains(&loss), "{buffer} bytes: {loss:.2} %");
    }
}

/// 7.3: at least 0.9 of the link within 1 s.
#[test]
fn the_rate_reaches_the_link_within_a_second() {
    let outcome = run(&spec(path(RTT_MS, BUFFER, 0.0), vec![first()], 2.0));
    let rate = outcome.mean(1, "rate", 1.0, 1.02);
    assert!(rate >= 0.9 * PAYLOAD_SHARE * LINK_MBPS, "{rate:.1} Mbit/s");
}

/// Section 7.3: bursts keep the rate at the largest PACK. The model loses 28, 36 and 45 %; Pantheon's report of January
/// 2018 has 38 to 39.5 % at full throughput. Here the medians of five seeds are within 6 points, and every seed loses
/// more than twice the loss of a smooth link.
#[test]
fn deliveries_in_bursts_multiply_the_loss_at_full_throughput() {
    for (slot_ms, model) in [(15.0, 28.0), (30.0, 36.0), (40.0, 45.0)] {
        let mut losses: Vec<f64> = (1..=5)
            .map(|seed| {
                let outcome = after_5_s(path(RTT_MS, BUFFER, slot_ms), vec![first()], 30.0, seed);
                assert!(utilization(&outcome) > 0.98, "slots of {slot_ms} ms: {:.3}", utilization(&outcome));
                100.0 * outcome.flow(1, "packet_loss_rate")
            })
            .collect();
        losses.sort_by(f64::total_cmp);
        assert!(losses[0] > 18.0 && losses[4] < 55.0, "slots of {slot_ms} ms: {losses:.1?} %");
        assert!((losses[2] - model).abs() < 6.0, "slots of {slot_ms} ms: {losses:.1?} %, model {model}");
    }
}

/// Section 7.3: with a loss limit of 40 instead of 10 % the model loses 37 % on a smooth link.
#[test]
fn the_loss_limit_decides_how_much_is_lost() {
    let flow = fillp("fillp", &json!({"loss_limit": "40"}));
    let outcome = after_5_s(path(RTT_MS, BUFFER, 0.0), vec![flow], 30.0, 1);
    let loss = 100.0 * outcome.flow(1, "packet_loss_rate");
    assert!((loss - 37.0).abs() < 3.0, "{loss:.2} %");
}

/// Section 7.3: no force makes two flows converge, regardless of their starts.
#[test]
fn two_flows_of_the_first_generation_do_not_share() {
    for start_s in [0.5, 1.0, 2.0, 5.0] {
        let mut late = first();
        late["start_s"] = json!(start_s);
        let outcome = after_5_s(path(RTT_MS, BUFFER, 0.0), vec![first(), late], 60.0, 1);
        let (one, other) = (outcome.flow(1, "goodput_mbps"), outcome.flow(2, "goodput_mbps"));
        let smaller = one.min(other) / (one + other);
        assert!(smaller < 0.25, "{start_s} s: {one:.1} and {other:.1} Mbit/s");
    }
}

/// 8: the second generation fills the link too, without the loss.
#[test]
fn the_second_generation_fills_the_link_without_the_loss() {
    for flow in [second(), sheep()] {
        for buffer in [BDP / 2, BDP, 2 * BDP, BUFFER] {
            let outcome = after_5_s(path(RTT_MS, buffer, 0.0), vec![flow.clone()], 30.0, 1);
            assert!(utilization(&outcome) > 0.95, "{buffer} bytes: {:.3}", utilization(&outcome));
            let loss = 100.0 * outcome.flow(1, "packet_loss_rate");
            assert!(loss < 1.0, "{buffer} bytes: {loss:.2} %");
        }
    }
}

/// Both binaries limit the packets in flight after a PACK. The limit is the number of full packets that the bandwidth
/// carries in RTT and interval (100 and 25 ms). Every seventh packet is short, so the bytes in flight fill 0.88 of RTT
/// and interval. In these units the queue is at most 0.08 after a PACK and at most 0.28 before the next PACK.
#[test]
fn a_lone_flow_of_the_second_generation_keeps_a_short_queue() {
    for flow in [second(), sheep()] {
        let outcome = after_5_s(path(100.0, 4_000_000, 0.0), vec![flow], 60.0, 1);
        let series = outcome.link_series("queue", 20.0, 55.0);
        let queue = mean(&series) * 1340.0 / (LINK_MBPS * 1e6 / 8.0 * 0.125);
        assert!((0.01..=0.3).contains(&queue), "{queue:.2} BDP");
        assert!(utilization(&outcome) > 0.95, "{:.3}", utilization(&outcome));
    }
}

/// The binaries sent nothing after STARTUP until the queue was gone: for 313 to 324 ms at an RTT of 100 ms, and for 583
/// to 599 ms at 200 ms. At 400 ms it was 1095 to 1112 ms, at 1000 ms 2636 to 2671 ms. Source: logs of
/// gtqifan/pantheon@48b2df3 to 343c5bf, 12 Mbit/s. Allowed: 15 % beyond that.
#[test]
fn the_second_generation_falls_silent_after_startup_until_the_queue_is_gone() {
    const SAMPLE_S: f64 = 0.002;
    for (rtt_ms, least, most) in
        [(100.0, 313.0, 324.0), (200.0, 583.0, 599.0), (400.0, 1095.0, 1112.0), (1000.0, 2636.0, 2671.0)]
    {
        for flow in [second(), sheep()] {
            let delay = json!({"kind": "delay", "delay_ms": rtt_ms / 2.0});
            let link = json!({"kind": "trace", "mode": "mahimahi", "times_ms": [1]});
            let path = json!({"overhead_bytes": 36, "mtu_bytes": 1500, "fragment": true,
                "data": [delay, link], "ack": [delay, link]});
            let mut spec = spec(path, vec![flow], 20.0);
            spec["sample_interval_s"] = json!(SAMPLE_S);
            let outcome = run(&spec);
            let skipping = outcome.series(1, "skipping", 0.0, 20.0);
            let silent_ms = skipping
                .chunk_by(|(_, before), (_, after)| before == after)
                .filter(|run| run[0].1 == 1.0)
                .map(|run| 1e3 * SAMPLE_S * run.len() as f64)
                .fold(0.0, f64::max);
            assert!((0.85 * least..=1.15 * most).contains(&silent_ms), "{rtt_ms} ms: {silent_ms:.0} ms");
        }
    }
}

/// Rates follow BBR's model, whose gain cycle lets flows converge. But the bound on the bytes in flight, which uses
/// each flow's own largest bandwidth, preserves the shares. No figure of the binaries is known: 0.7 is required.
#[test]
fn flows_of_the_second_generation_share() {
    for flow in [second(), sheep()] {
        let outcome = after_5_s(path(RTT_MS, 2_000_000, 0.0), vec![flow; 4], 60.0, 1);
        assert!(outcome.network("jain_index") > 0.7, "{:.3}", outcome.network("jain_index"));
    }
}

/// 8: 10 s of `PROBE_BW` of Sheep and 60 s of `FillP` between drains of the queue at 2 Mbit/s.
#[test]
fn the_queue_is_drained_every_ten_or_sixty_seconds() {
    for (flow, drains) in [(second(), 1), (sheep(), 6)] {
        let outcome = after_5_s(path(RTT_MS, BUFFER, 0.0), vec![flow], 70.0, 1);
        let state: Vec<f64> = outcome.series(1, "state", 0.0, 70.0).iter().map(|(_, value)| *value).collect();
        let entered = state.windows(2).filter(|pair| pair[0] < 4.0 && pair[1] == 4.0).count();
        assert_eq!(entered, drains);
    }
}
