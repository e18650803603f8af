//! Behaviour of BBR against published figures.

use crate::harness::{bdp_packets, dumbbell, flow, run, spec};
use serde_json::{Value, json};

/// BBR keeps its own window during recovery.
fn bbr() -> Value {
    let mut bbr = flow("bbr");
    bbr["transport"]["recovery"] = json!("immediate");
    bbr
}

/// docs/derivations.md, BBR: a lone flow reaches 97 to 99 % (1 % pacing margin, 2 % for the RTT probes) with little
/// queue.
#[test]
fn a_lone_bbr_flow_fills_the_link_with_a_short_queue() {
    let queue = 4 * bdp_packets(50.0, 40.0) as u64;
    let outcome = run(&spec(dumbbell(50.0, 40.0, queue), vec![bbr()], 60.0));
    let utilization = outcome.link("throughput_mbps") / 50.0;
    assert!((0.95..=1.0).contains(&utilization), "{utilization:.3}");
    let queue = outcome.mean_queue(10.0, 60.0);
    assert!(queue < 0.25 * bdp_packets(50.0, 40.0), "{queue:.1} packets");
}

/// Cardwell et al. 2016 figure 8: at 1 % loss BBR keeps at least 95 % of the link. At
/// 5 % it keeps 88 %: cruising at the delivered rate, about 0.99 (1 - p)^2 of the link arrives.
#[test]
fn bbr_is_not_slowed_by_random_loss() {
    for (loss, least) in [(0.01, 0.95), (0.05, 0.88)] {
        let mut path = dumbbell(100.0, 100.0, 2000);
        path["data"].as_array_mut().unwrap().insert(1, json!({"kind": "loss", "probability": loss}));
        let mut spec = spec(path, vec![bbr()], 60.0);
        spec["warmup_s"] = json!(5.0);
        let outcome = run(&spec);
        let share = outcome.flow(1, "goodput_mbps") * 1500.0 / 1448.0 / 100.0;
        assert!(share >= least, "{loss}: {share:.3} of the link");
    }
}

/// The same loss leaves a loss-based controller a few percent (CUBIC 1.6 of 100 Mbit/s: jervisfm/rebbr@a15c6b3,
/// `mahimahi/data_20170604_jmuindi/figure8.csv`).
#[test]
fn cubic_collapses_under_the_same_loss() {
    let mut path = dumbbell(100.0, 100.0, 2000);
    path["data"].as_array_mut().unwrap().insert(1, json!({"kind": "loss", "probability": 0.01}));
    let outcome = run(&spec(path, vec![flow("cubic")], 60.0));
    let goodput = outcome.flow(1, "goodput_mbps");
    assert!((0.8..=3.3).contains(&goodput), "{goodput:.2} Mbit/s, published 1.62");
}

/// Two flows with buffers of two BDPs share the link, and the queue stays near one BDP (docs/derivations.md, BBR).
#[test]
fn two_bbr_flows_share_the_link() {
    let queue = 4 * bdp_packets(20.0, 40.0) as u64;
    let outcome = run(&spec(dumbbell(20.0, 40.0, queue), vec![bbr(), bbr()], 90.0));
    assert!(outcome.network("jain_index") > 0.85, "{}", outcome.network("jain_index"));
    let queue = outcome.mean_queue(20.0, 90.0) / bdp_packets(20.0, 40.0);
    assert!((0.3..=1.6).contains(&queue), "queue {queue:.2} BDP");
}
