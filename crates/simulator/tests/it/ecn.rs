//! Behavior of the schemes that read the share of marked packets, DCTCP and Prague, at a queue that marks beyond a
//! threshold (RFC 8257; draft-briscoe-iccrg-prague-congestion-control).

use crate::harness::{bdp_packets, dumbbell, flow, run, spec};
use serde_json::{Value, json};

/// Returns a dumbbell whose queue of 2000 packets marks beyond `threshold`.
fn marking(rate_mbps: f64, rtt_ms: f64, threshold: (&str, f64)) -> Value {
    let mut path = dumbbell(rate_mbps, rtt_ms, 1);
    path["data"][0]["queue"] = json!({"kind": "step", "packets": 2000});
    let value =
        if threshold.0 == "threshold_packets" { json!(threshold.1 as u64) } else { json!(threshold.1) };
    path["data"][0]["queue"][threshold.0] = value;
    path
}

fn dctcp() -> Value {
    let mut dctcp = flow("dctcp");
    dctcp["transport"]["ecn"] = json!("ect0");
    dctcp
}

fn prague() -> Value {
    let mut prague = flow("prague");
    prague["transport"]["ecn"] = json!("ect1");
    prague["transport"]["recovery"] = json!("immediate");
    prague
}

/// The queue oscillates just under K at full throughput. The BDP of 100 Mbit/s and 10 ms is 83 packets: K = 20 is above
/// C RTT / 7 = 12 (Alizadeh et al. 2010, section 3.4). A lone flow's amplitude is sqrt(2 (C RTT + K)) / 2 = 7 packets
/// (equation 8 there). So the queue stays between K - 7 and K + 1 most of the time: a mean of 12 to 21 is allowed.
#[test]
fn dctcps_queue_oscillates_under_the_threshold_at_full_throughput() {
    let mut spec = spec(marking(100.0, 10.0, ("threshold_packets", 20.0)), vec![dctcp()], 20.0);
    spec["warmup_s"] = json!(2.0);
    let outcome = run(&spec);
    let share = outcome.flow(1, "goodput_mbps") * 1500.0 / 1448.0 / 100.0;
    assert!(share > 0.99, "{share:.3} of the link");
    let queue = outcome.link_series("queue", 2.0, 20.0);
    let mean = crate::harness::mean(&queue);
    assert!((12.0..=21.0).contains(&mean), "{mean:.1} packets");
    let most = queue.iter().map(|(_, packets)| *packets).fold(0.0, f64::max);
    assert!(most <= 25.0, "{most} packets");
    assert!(outcome.link("packets_dropped") == 0.0);
    assert!(outcome.mean(1, "alpha", 5.0, 20.0) < 0.3);
}

/// Reno halves on these marks: K = 20 of 83 packets are too few for Reno to fill the link (at best 0.93 at 0.38 BDP),
/// but enough for DCTCP.
#[test]
fn reno_with_the_same_marks_leaves_the_link_idle() {
    let mut reno = flow("reno");
    reno["transport"]["ecn"] = json!("ect0");
    let mut spec = spec(marking(100.0, 10.0, ("threshold_packets", 20.0)), vec![reno], 20.0);
    spec["warmup_s"] = json!(2.0);
    let share = run(&spec).flow(1, "goodput_mbps") * 1500.0 / 1448.0 / 100.0;
    assert!(share < 0.95, "{share:.3} of the link");
}

/// Two flows of DCTCP share, and keep the queue near K.
#[test]
fn dctcp_flows_share() {
    let mut late = dctcp();
    late["start_s"] = json!(1.0);
    let mut spec = spec(marking(100.0, 10.0, ("threshold_packets", 40.0)), vec![dctcp(), late], 60.0);
    spec["warmup_s"] = json!(10.0);
    let outcome = run(&spec);
    let jain = outcome.network("jain_index");
    assert!(jain > 0.95, "{jain:.3}");
    let queue = outcome.mean_queue(10.0, 60.0);
    assert!((25.0..=45.0).contains(&queue), "{queue:.1} packets");
}

/// With marks beyond 1 ms Prague keeps a queue of about 1 ms at nearly full throughput; at most 2 ms and 0.95 of the
/// link are allowed (less than a BDP of buffer is in use: 1 ms of 20).
#[test]
fn pragues_queue_is_a_millisecond() {
    for rtt_ms in [5.0, 20.0] {
        let mut spec = spec(marking(50.0, rtt_ms, ("threshold_ms", 1.0)), vec![prague()], 30.0);
        spec["warmup_s"] = json!(5.0);
        let outcome = run(&spec);
        let share = outcome.flow(1, "goodput_mbps") * 1500.0 / 1448.0 / 50.0;
        assert!(share > 0.95, "{rtt_ms} ms: {share:.3} of the link");
        let delay_ms = outcome.mean_queue(5.0, 30.0) / bdp_packets(50.0, 1.0);
        assert!(delay_ms < 2.0, "{rtt_ms} ms: queue of {delay_ms:.2} ms");
        assert!(outcome.link("packets_dropped") == 0.0);
    }
}

/// Returns the goodput of a flow with 5 ms divided by that of a flow with 20 ms, after 40 s.
fn advantage_of_a_short_rtt(dependent_rounds: &str) -> f64 {
    let of_rtt = |rtt_ms: f64| {
        let mut flow = prague();
        flow["rtt_ms"] = json!(rtt_ms);
        flow["parameters"] = json!({"dependent_rounds": dependent_rounds});
        flow
    };
    let flows = vec![of_rtt(5.0), of_rtt(20.0)];
    let mut spec = spec(marking(40.0, 5.0, ("threshold_ms", 1.0)), flows, 120.0);
    spec["warmup_s"] = json!(40.0);
    let outcome = run(&spec);
    outcome.flow(1, "goodput_mbps") / outcome.flow(2, "goodput_mbps")
}

/// Below the virtual RTT of 25 ms the rate does not depend on the RTT. Reductions come once per virtual RTT, and growth
/// per second is equal. A factor of two is allowed. Without the virtual RTT the flow of 5 ms gets tens of times as
/// much.
#[test]
fn prague_is_nearly_independent_of_the_rtt() {
    let independent = advantage_of_a_short_rtt("500");
    assert!((0.5..=2.0).contains(&independent), "{independent:.2}");
    let dependent = advantage_of_a_short_rtt("1000000000");
    assert!(dependent > 10.0, "{dependent:.2} without the correction");
}

/// Without marks in the network Prague behaves like CUBIC: it fills a droptail link.
#[test]
fn prague_without_marks_fills_a_droptail_link() {
    let queue = bdp_packets(20.0, 40.0) as u64;
    let mut spec = spec(dumbbell(20.0, 40.0, queue), vec![prague()], 60.0);
    spec["warmup_s"] = json!(10.0);
    let share = run(&spec).flow(1, "goodput_mbps") * 1500.0 / 1448.0 / 20.0;
    assert!(share > 0.98, "{share:.3}");
}
