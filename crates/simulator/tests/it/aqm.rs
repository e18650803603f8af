//! Behavior of COBALT and `DualPI2` under the loads that they are designed for.

use crate::harness::{Outcome, bdp_packets, datagram_flow, dumbbell, flow, run, spec};
use serde_json::{Value, json};

/// Returns a dumbbell with `queue` at its bottleneck.
fn path(rate_mbps: f64, rtt_ms: f64, queue: Value) -> Value {
    let mut path = dumbbell(rate_mbps, rtt_ms, 1);
    path["data"][0]["queue"] = queue;
    path
}

/// Returns an unresponsive sender: datagrams at a constant rate, regardless of the window.
fn unresponsive(rate_mbps: f64) -> Value {
    let mut flow = datagram_flow("sourdough");
    flow["parameters"] = json!({"window": "1000000"});
    flow["application"] = json!({"kind": "constant", "rate_mbps": rate_mbps});
    flow
}

/// Returns the mean queue of the bottleneck as a time, ms.
fn queue_ms(outcome: &Outcome, rate_mbps: f64, from_s: f64, to_s: f64) -> f64 {
    outcome.mean_queue(from_s, to_s) / bdp_packets(rate_mbps, 1.0)
}

fn cobalt() -> Value {
    json!({"kind": "cobalt", "packets": 1000})
}

/// Cubic's delay stays near the target of 5 ms: on average at most twice the target, with 95 % of the link. CoDel's
/// claim is a standing queue of at most the target, and full use of the link (Nichols and Jacobson 2012).
#[test]
fn cobalt_holds_cubics_delay_near_its_target() {
    let mut spec = spec(path(20.0, 40.0, cobalt()), vec![flow("cubic")], 60.0);
    spec["warmup_s"] = json!(10.0);
    let outcome = run(&spec);
    let delay = queue_ms(&outcome, 20.0, 10.0, 60.0);
    assert!((1.0..10.0).contains(&delay), "{delay:.2} ms");
    let share = outcome.flow(1, "goodput_mbps") * 1500.0 / 1448.0 / 20.0;
    assert!(share > 0.95, "{share:.3} of the link");
}

/// An unresponsive sender sends at twice the link's rate. CoDel alone stays at the limit for long, because its drops
/// grow only with time. BLUE raises its probability at the limit (1/256 per 5 ms: half of the packets after 0.64 s),
/// and COBALT returns to its target.
#[test]
fn cobalt_holds_its_target_against_a_sender_that_does_not_listen() {
    let delay_with = |queue| {
        let outcome = run(&spec(path(20.0, 40.0, queue), vec![unresponsive(40.0)], 30.0));
        queue_ms(&outcome, 20.0, 15.0, 30.0)
    };
    let cobalt = delay_with(cobalt());
    assert!(cobalt < 10.0, "{cobalt:.1} ms");
    let codel = delay_with(json!({"kind": "codel", "packets": 1000}));
    assert!(codel > 100.0, "CoDel alone: {codel:.1} ms");
}

fn prague() -> Value {
    let mut prague = flow("prague");
    prague["transport"]["ecn"] = json!("ect1");
    prague["transport"]["recovery"] = json!("immediate");
    prague
}

/// Purpose of the coupling: a scalable and a classic flow share as if in one queue (RFC 9332 section 1: roughly equal
/// flow rates). The scalable flow's packets wait for about the ramp of 0.8 to 1.2 ms, not for the classic queue's
/// target of 15 ms. Equal means within a factor of two, as in De Schepper et al. 2016 (PI2), figure 15.
#[test]
fn prague_and_cubic_share_a_dual_queue_and_prague_does_not_wait() {
    let flows = vec![prague(), flow("cubic")];
    let mut spec = spec(path(40.0, 20.0, json!({"kind": "dualpi2", "packets": 2000})), flows, 120.0);
    spec["warmup_s"] = json!(20.0);
    let outcome = run(&spec);
    let [first, second] = [1, 2].map(|number| outcome.flow(number, "goodput_mbps"));
    let ratio = first / second;
    assert!((0.5..=2.0).contains(&ratio), "{first:.1} and {second:.1} Mbit/s");
    assert!(first + second > 0.9 * 40.0 * 1448.0 / 1500.0, "{first:.1} and {second:.1} Mbit/s");
    // Delay beyond 10 ms of propagation and 0.3 ms of serialization.
    let [prague, cubic] = [1, 2].map(|number| outcome.flow(number, "owd_mean_ms") - 10.3);
    assert!(prague < 2.0, "prague waits for {prague:.2} ms");
    assert!((5.0..=25.0).contains(&cubic), "cubic waits for {cubic:.2} ms");
}

/// Alone, each flow is held at its own target: Prague at the step, Cubic at 15 ms.
#[test]
fn a_dual_queue_holds_each_kind_at_its_own_target() {
    let alone = |flow: Value, queue: Value| {
        let mut spec = spec(path(40.0, 20.0, queue), vec![flow], 60.0);
        spec["warmup_s"] = json!(10.0);
        let outcome = run(&spec);
        let share = outcome.flow(1, "goodput_mbps") * 1500.0 / 1448.0 / 40.0;
        (queue_ms(&outcome, 40.0, 10.0, 60.0), share)
    };
    let step = json!({"kind": "dualpi2", "packets": 2000, "l4s_min_ms": 1.0, "l4s_range_ms": 0.0});
    let (delay, share) = alone(prague(), step.clone());
    assert!((0.2..=2.0).contains(&delay) && share > 0.95, "prague: {delay:.2} ms, {share:.3}");
    let (delay, share) = alone(flow("cubic"), step);
    assert!((7.5..=20.0).contains(&delay) && share > 0.95, "cubic: {delay:.2} ms, {share:.3}");
}

/// An unresponsive sender of L4S packets sends at 1.5 times the link's rate. Marks have no effect, so a third of the
/// packets is dropped (p'^2 = 1/3). The queue stays near the target of 15 ms, below the limit of 300 ms. The classic
/// flow, with an equal loss rate, still makes progress (RFC 9332 section 4.2.3).
#[test]
fn a_flood_of_l4s_packets_is_dropped_and_classic_lives_on() {
    let mut flood = unresponsive(60.0);
    flood["transport"]["ecn"] = json!("ect1");
    let queue = json!({"kind": "dualpi2", "packets": 1000});
    let mut spec = spec(path(40.0, 20.0, queue), vec![flood, flow("cubic")], 60.0);
    spec["warmup_s"] = json!(10.0);
    let outcome = run(&spec);
    let delay = queue_ms(&outcome, 40.0, 10.0, 60.0);
    assert!((7.5..30.0).contains(&delay), "{delay:.1} ms");
    let dropped = outcome.link("packets_dropped") / outcome.link("packets_in");
    assert!((0.28..0.40).contains(&dropped), "{dropped:.3} dropped");
    let cubic = outcome.flow(2, "goodput_mbps");
    assert!(cubic > 0.1, "{cubic:.2} Mbit/s");
}
