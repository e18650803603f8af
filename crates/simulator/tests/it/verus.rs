//! Behavior of Verus against its paper and published figures.

use crate::harness::{dumbbell, run, spec};
use serde_json::{Value, json};

/// Verus's own transport: 1414 bytes of UDP payload, 36 of them header, which each acknowledgement repeats.
fn verus(parameters: &Value) -> Value {
    json!({"scheme": "verus", "controller": "verus", "parameters": parameters, "transport": {
        "profile": "datagram", "payload_bytes": 1378, "header_bytes": 64, "ack_bytes": 64}})
}

/// Returns a link of `rate_mbps` with a droptail queue of `queue_bytes` and half of `rtt_ms` on each side.
fn link(rate_mbps: f64, rtt_ms: f64, queue_bytes: u64) -> Value {
    json!({
        "data": [
            {"kind": "link", "rate_mbps": rate_mbps, "queue": {"kind": "droptail", "bytes": queue_bytes}},
            {"kind": "delay", "delay_ms": rtt_ms / 2.0},
        ],
        "ack": [{"kind": "delay", "delay_ms": rtt_ms / 2.0}],
    })
}

/// docs/evidence/derivations.md, Verus: above 90 % of the link, a mean queue of 0.5 to 5 RTTs, p95 queueing of 40 to
/// 200 ms. R = 6 bounds a smoothed delay, so the p95 may exceed five RTTs by a tenth.
#[test]
fn a_lone_flow_fills_the_link_with_up_to_five_round_trips_of_queue() {
    let outcome = run(&spec(dumbbell(12.0, 40.0, 300), vec![verus(&json!({}))], 60.0));
    let utilization = outcome.link("throughput_mbps") / 12.0;
    assert!(utilization > 0.9, "{utilization:.3}");
    let mean = outcome.mean_queue(5.0, 60.0) * 1442.0 * 8.0 / 12e3;
    assert!((20.0..=200.0).contains(&mean), "mean queue {mean:.0} ms");
    let p95 = outcome.flow(1, "owd_p95_ms") - outcome.flow(1, "owd_min_ms");
    assert!((40.0..=220.0).contains(&p95), "p95 queue {p95:.0} ms");
}

/// docs/evidence/derivations.md, Verus: with an infinite buffer the smoothed RTT stays below about 6.5 times the
/// smallest RTT. 5 % more is allowed, because the tested value is the transport's, which is smoothed less evenly.
#[test]
fn r_bounds_the_delay_of_an_infinite_buffer() {
    let outcome = run(&spec(dumbbell(12.0, 40.0, 1_000_000), vec![verus(&json!({}))], 60.0));
    let worst: f64 = outcome.series(1, "srtt", 5.0, 60.0).iter().map(|(_, srtt)| *srtt).fold(0.0, f64::max);
    assert!((100.0..=1.05 * 6.5 * 41.0).contains(&worst), "{worst:.0} ms");
}

/// The paper's trade-off (SIGCOMM 2015, figures on R = 2, 4, 6): a smaller R keeps a shorter queue.
#[test]
fn a_smaller_r_means_less_delay() {
    let delay = |r: f64| {
        let outcome = run(&spec(dumbbell(12.0, 40.0, 300), vec![verus(&json!({"r": r.to_string()}))], 60.0));
        assert!(outcome.link("throughput_mbps") / 12.0 > 0.8, "{r}");
        outcome.mean(1, "srtt", 10.0, 60.0)
    };
    let (two, four, six) = (delay(2.0), delay(4.0), delay(6.0));
    assert!(two < 0.75 * four && four < 0.85 * six, "{two:.0}, {four:.0}, {six:.0} ms");
}

/// Origin of the p95 queue of the first test. R bounds the ratio of the delay to its minimum: 40 ms and one packet's
/// transmission. So the queue is R - 1 times this minimum. The result is 3 to 10 % more, because the bounded delay is
/// up to one round trip of 250 ms old. `40 to 200 ms` is the bound itself: 5 times 40.
#[test]
fn the_queue_is_r_less_one_round_trips_and_a_little_more() {
    for r in [5.0, 5.5, 6.0] {
        let flow = verus(&json!({"r": r.to_string()}));
        let mut spec = spec(dumbbell(12.0, 40.0, 300), vec![flow], 60.0);
        spec["warmup_s"] = json!(5.0);
        let outcome = run(&spec);
        let queue = outcome.flow(1, "owd_p95_ms") - outcome.flow(1, "owd_min_ms");
        let bound = (r - 1.0) * (40.0 + 1442.0 * 8.0 / 12e3);
        assert!((1.03..1.1).contains(&(queue / bound)), "R = {r}: {queue:.0} ms, the bound {bound:.0}");
    }
}

/// docs/evidence/derivations.md, Verus: losses count once per loss phase, so 2 % at random leave more than half of the
/// link.
#[test]
fn random_loss_costs_less_than_half_of_the_link() {
    let mut path = dumbbell(12.0, 40.0, 300);
    path["data"].as_array_mut().unwrap().insert(1, json!({"kind": "loss", "probability": 0.02}));
    let outcome = run(&spec(path, vec![verus(&json!({}))], 60.0));
    let share = outcome.flow(1, "throughput_mbps") / 12.0;
    assert!(share > 0.5, "{share:.2}");
}

/// Pantheon's report of 18 January 2018, a cellular path of about 40 Mbit/s with 170 ms of buffer. It has 34.2 to 36.3
/// Mbit/s, p95 194 to 201 ms, 3.8 to 9.9 % lost. A link of constant rate is easier: more arrives, less is lost, and R =
/// 6 holds the RTT near 150 ms.
#[test]
fn a_cellular_like_buffer_is_nearly_filled() {
    let mut path = link(40.0, 24.0, 850_000);
    for (slot_ms, least_mbps) in [(None, 38.0), (Some(8.0), 34.0)] {
        if let Some(slot_ms) = slot_ms {
            path["data"].as_array_mut().unwrap().push(json!({"kind": "aggregate", "slot_ms": slot_ms}));
        }
        let outcome = run(&spec(path.clone(), vec![verus(&json!({}))], 30.0));
        let throughput = outcome.flow(1, "throughput_mbps");
        assert!((least_mbps..=40.0).contains(&throughput), "{slot_ms:?}: {throughput:.1} Mbit/s");
        let p95 = outcome.flow(1, "delay_p95_ms");
        assert!((125.0..=200.0).contains(&p95), "{slot_ms:?}: p95 {p95:.0} ms");
        let loss = outcome.flow(1, "loss_rate");
        assert!((0.005..=0.1).contains(&loss), "{slot_ms:?}: loss {loss:.4}");
    }
}

/// docs/evidence/derivations.md, Verus: a buffer of less than five RTTs overflows repeatedly.
#[test]
fn a_buffer_below_five_round_trips_overflows_continuously() {
    let lost_late = |queue_bytes: u64| {
        let mut spec = spec(link(40.0, 24.0, queue_bytes), vec![verus(&json!({}))], 30.0);
        spec["warmup_s"] = json!(10.0);
        run(&spec).flow(1, "packet_loss_rate")
    };
    let (short, long) = (lost_late(250_000), lost_late(850_000));
    assert!(short > 0.005 && long < 0.001, "{short:.4} with 2 RTTs of buffer, {long:.4} with 7");
}
