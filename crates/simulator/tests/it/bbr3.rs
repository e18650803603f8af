//! Behavior of BBR version 3 against its draft (draft-ietf-ccwg-bbr): promises of the text, and the test cases of its
//! appendix that need a path.

use crate::harness::{Outcome, bdp_packets, dumbbell, flow, run, spec};
use serde_json::{Value, json};

const PROBE_RTT: f64 = 6.0;

/// BBR keeps its own window during recovery.
fn bbr3() -> Value {
    let mut bbr = flow("bbr3");
    bbr["transport"]["recovery"] = json!("immediate");
    bbr
}

/// Returns a run over a bottleneck of 40 ms whose rate changes at 10 s, with one BDP of buffer at the larger rate.
fn run_with_change(from_mbps: f64, to_mbps: f64) -> Outcome {
    let queue = bdp_packets(from_mbps.max(to_mbps), 40.0) as u64;
    let mut path = dumbbell(from_mbps, 40.0, queue);
    path["data"][0]["schedule"] = json!([{"at_s": 10.0, "rate_mbps": to_mbps}]);
    run(&spec(path, vec![bbr3()], 30.0))
}

fn share_of_payload(mbps: f64) -> f64 {
    mbps * 1448.0 / 1500.0
}

/// A lone flow gets 0.98 of the link with little queue. The pacing margin costs 1 %, and `ProbeRTT` at half a BDP for
/// 0.2 s of 5 s costs 2 %. So its constants leave 0.97: 0.955 to 1 is allowed.
#[test]
fn a_lone_flow_fills_the_link_with_a_short_queue() {
    let queue = 4 * bdp_packets(50.0, 40.0) as u64;
    let outcome = run(&spec(dumbbell(50.0, 40.0, queue), vec![bbr3()], 60.0));
    let utilization = outcome.link("throughput_mbps") / 50.0;
    assert!((0.955..=1.0).contains(&utilization), "{utilization:.3}");
    let queue = outcome.mean_queue(10.0, 60.0) / bdp_packets(50.0, 40.0);
    assert!(queue < 0.25, "{queue:.2} BDP");
}

/// Appendix, "Exiting Startup on bandwidth plateau": the estimate is within 2 % of the link.
#[test]
fn startup_ends_with_the_bandwidth_of_the_link() {
    let outcome = run(&spec(dumbbell(50.0, 40.0, 700), vec![bbr3()], 5.0));
    let states = outcome.series(1, "state", 0.0, 5.0);
    let left = states.iter().find(|(_, state)| *state > 0.0).expect("Startup ends").0;
    assert!(left < 1.5, "Startup took {left:.2} s");
    let max_bw = outcome.mean(1, "max_bw", left, left + 0.02);
    let expected = share_of_payload(50.0);
    assert!((max_bw / expected - 1.0).abs() < 0.02, "{max_bw:.2} of {expected:.2} Mbit/s");
}

/// With shallow buffers the loss stays below the draft's threshold of 2 %; version 1 loses 3.3 and 1.3 %.
#[test]
fn shallow_buffers_lose_at_most_two_percent() {
    for (depth, least) in [(0.05, 0.80), (0.25, 0.93)] {
        let queue = (depth * bdp_packets(50.0, 40.0)) as u64;
        let mut spec = spec(dumbbell(50.0, 40.0, queue), vec![bbr3()], 60.0);
        spec["warmup_s"] = json!(5.0);
        let outcome = run(&spec);
        let loss = outcome.flow(1, "packet_loss_rate");
        assert!(loss <= 0.02, "{depth} BDP: {loss:.4} lost");
        let utilization = outcome.link("throughput_mbps") / 50.0;
        assert!(utilization > least, "{depth} BDP: {utilization:.3} of the link");
    }
}

/// `ProbeRTT` comes every 5 s and lasts at least 200 ms. 5 s pass between its end and the next beginning, so the
/// beginnings are about 5.3 s apart.
#[test]
fn the_minimum_rtt_is_probed_every_five_seconds() {
    let outcome = run(&spec(dumbbell(50.0, 40.0, 700), vec![bbr3()], 60.0));
    let states = outcome.series(1, "state", 0.0, 60.0);
    let edges = |into: bool| -> Vec<f64> {
        let is_edge =
            |pair: &&[(f64, f64)]| (pair[0].1 == PROBE_RTT) != into && (pair[1].1 == PROBE_RTT) == into;
        states.windows(2).filter(is_edge).map(|pair| pair[1].0).collect()
    };
    let (begins, ends) = (edges(true), edges(false));
    assert!((10..=12).contains(&begins.len()), "{} times", begins.len());
    for pair in begins.windows(2) {
        assert!((5.0..5.6).contains(&(pair[1] - pair[0])), "{pair:?}");
    }
    for (begin, end) in begins.iter().zip(&ends) {
        assert!((0.2..0.5).contains(&(end - begin)), "{begin} to {end}");
    }
    let min_rtt = outcome.mean(1, "min_rtt", 10.0, 60.0);
    assert!((40.0..41.0).contains(&min_rtt), "{min_rtt:.2} ms");
}

/// Two flows, the second 5 s later, share: Jain's index above 0.9 after 20 s.
#[test]
fn two_flows_share_the_link() {
    let queue = 2 * bdp_packets(20.0, 40.0) as u64;
    let mut late = bbr3();
    late["start_s"] = json!(5.0);
    let mut spec = spec(dumbbell(20.0, 40.0, queue), vec![bbr3(), late], 90.0);
    spec["warmup_s"] = json!(20.0);
    let outcome = run(&spec);
    let jain = outcome.network("jain_index");
    assert!(jain > 0.9, "{jain:.3}");
    assert!(outcome.link("throughput_mbps") / 20.0 > 0.95);
}

/// Coexistence with CUBIC, for which the draft's time between probes is designed. With two BDPs of buffer and a BDP of
/// 66 packets each flow keeps at least a quarter of the link.
#[test]
fn it_coexists_with_cubic() {
    let queue = 2 * bdp_packets(20.0, 40.0) as u64;
    let mut spec = spec(dumbbell(20.0, 40.0, queue), vec![bbr3(), flow("cubic")], 120.0);
    spec["warmup_s"] = json!(20.0);
    let outcome = run(&spec);
    for number in 1..=2 {
        let goodput = outcome.flow(number, "goodput_mbps");
        assert!(goodput > 5.0, "flow {number}: {goodput:.2} of 20 Mbit/s");
    }
}

/// Appendix, "Increasing bandwidth 10x": once a probe has begun, the time to reach the rate grows with the logarithm of
/// the BDP. It is 3 s and a dozen round trips; 6 s are allowed.
#[test]
fn ten_times_the_bandwidth_is_found() {
    let outcome = run_with_change(10.0, 100.0);
    let time_s = outcome
        .series(1, "max_bw", 10.0, 30.0)
        .into_iter()
        .find(|(_, mbps)| *mbps > 0.9 * share_of_payload(100.0))
        .expect("the new bandwidth is found")
        .0;
    assert!(time_s < 16.0, "found at {time_s:.2} s");
}

/// Appendix, "Decreasing bandwidth 10x": with each round of losses the short-term bound falls by a factor of 0.7. A
/// round takes 400 ms with a full queue, so the bound is below half within 4 s. The estimate follows after two cycles
/// of 2 to 3 s or, if the queue keeps rounds long, a few more.
#[test]
fn a_tenth_of_the_bandwidth_is_accepted() {
    let outcome = run_with_change(100.0, 10.0);
    let halved = outcome
        .series(1, "bw", 10.0, 30.0)
        .into_iter()
        .find(|(_, mbps)| *mbps < 0.5 * share_of_payload(100.0))
        .expect("the rate comes down")
        .0;
    assert!(halved < 14.0, "halved at {halved:.2} s");
    let max_bw = outcome.mean(1, "max_bw", 25.0, 30.0);
    assert!(max_bw < 1.05 * share_of_payload(10.0), "{max_bw:.2} Mbit/s");
}

/// Appendix, "Handling token bucket policers": a stable rate near the policer's, without excessive loss. No figure is
/// published. The test requires at least 80 % of the token rate and at most 3 % lost (version 1 without its policer
/// detection: 3.9 %).
#[test]
fn a_policer_is_not_fought() {
    let mut path = dumbbell(100.0, 40.0, 1000);
    path["data"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"kind": "policer", "rate_mbps": 10.0, "burst_bytes": 50_000}));
    let mut spec = spec(path, vec![bbr3()], 60.0);
    spec["warmup_s"] = json!(10.0);
    let outcome = run(&spec);
    let (goodput, loss) = (outcome.flow(1, "goodput_mbps"), outcome.flow(1, "packet_loss_rate"));
    assert!(goodput > 0.8 * share_of_payload(10.0), "{goodput:.2} Mbit/s");
    assert!(loss < 0.03, "{loss:.3} lost");
}

/// The draft aims to tolerate 1 % of random loss per round trip. Required is more than 0.75 of the link at 1 %; CUBIC
/// gets 2 % of it.
#[test]
fn one_percent_of_random_loss_leaves_most_of_the_link() {
    let mut path = dumbbell(100.0, 100.0, 2000);
    path["data"].as_array_mut().unwrap().insert(1, json!({"kind": "loss", "probability": 0.01}));
    let outcome = run(&spec(path, vec![bbr3()], 60.0));
    let share = outcome.flow(1, "goodput_mbps") / share_of_payload(100.0);
    assert!(share > 0.75, "{share:.3}");
}
