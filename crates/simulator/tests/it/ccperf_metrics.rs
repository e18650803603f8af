//! Tests of the metrics with ccperf names, and of the metrics of changes and competition, on runs with known answers.

use crate::harness::{Outcome, dumbbell, flow, run};
use serde_json::{Value, json};

/// Payload of a full packet, and its size on a wire with PPP framing: 32 bytes of TCP with timestamps, 20 of IPv4, 2 of
/// PPP.
const SEGMENT_BYTES: f64 = 1448.0;
const FRAME_BYTES: f64 = 1502.0;

/// Returns a run with ccperf's usual sample interval.
fn spec(path: Value, flows: Vec<Value>, seconds: f64) -> Value {
    let mut spec = crate::harness::spec(path, flows, seconds);
    spec["sample_interval_s"] = json!(0.1);
    spec
}

fn assert_near(what: &str, value: f64, expected: f64, relative: f64) {
    assert!((value - expected).abs() <= relative * expected.abs(), "{what}: {value}, expected {expected}");
}

/// One flow without loss: the bytes on the wire are payload, headers and framing.
#[test]
fn layers_differ_by_their_headers() {
    let mut path = dumbbell(20.0, 50.0, 1000);
    path["data"][0]["framing_bytes"] = json!(2);
    let mut flow = flow("reno");
    // 138 packets: the BDP of 83 and a queue without loss.
    flow["transport"]["max_window_bytes"] = json!(200_000);
    let outcome = run(&spec(path, vec![flow], 20.0));
    assert_eq!(outcome.flow(1, "total_retransmissions_l4"), 0.0);
    let (wire, sent) = (outcome.link("mean_sending_rate_l1"), outcome.flow(1, "mean_sending_rate_l4"));
    let read = outcome.flow(1, "mean_throughput_l4");
    // At the end up to 1000 queued packets were sent but have not passed the link.
    assert!(wire > read && sent > read, "{wire}, {sent}, {read}");
    assert_near(
        "l1 / l4",
        wire / (outcome.link("packets_out") * SEGMENT_BYTES * 8.0 / 20e6),
        FRAME_BYTES / SEGMENT_BYTES,
        1e-4,
    );
    assert_eq!(FRAME_BYTES / SEGMENT_BYTES, 1.037_292_817_679_558);
    // The link is full, the bytes in flight equal the window, and the queue is the excess of the RTT.
    assert_near("utilization_bw", outcome.flow(1, "mean_utilization_bw_l4"), read / 20.0, 1e-9);
    assert_near(
        "power",
        outcome.flow(1, "mean_network_power_l4"),
        read / outcome.flow(1, "mean_srtt_l4") * 1e3,
        0.1,
    );
    let by_rtt = outcome.flow(1, "mean_srtt_l4") - 50.0;
    assert_near("est_qdelay", outcome.flow(1, "mean_est_qdelay_l4"), by_rtt, 1e-9);
    // BDP 125,000 bytes: 83.2 frames.
    let expected = outcome.flow(1, "mean_in_flight_l4") * FRAME_BYTES / 125_000.0;
    assert_near("utilization_bdp", outcome.flow(1, "mean_in_flight_bdp"), expected, 1e-9);
    assert_near(
        "mean_cwnd",
        outcome.flow(1, "mean_cwnd_l4") * SEGMENT_BYTES,
        outcome.flow(1, "mean_cwnd_bytes"),
        1e-9,
    );
    let network = |key| outcome.network(key);
    assert_eq!(
        (network("mean_jains_fairness_throughput_l4"), network("mean_entropy_fairness_throughput_l4")),
        (1.0, 0.0)
    );
    assert_near("product", network("mean_product_fairness_throughput_l4"), read, 1e-9);
    assert_near("aggregate", network("mean_agg_throughput_l4"), read, 1e-12);
}

/// The application fills a socket of B bytes. Data are read B / throughput after they are written, less the travel time
/// of the ACK that made room for them. Only the first B bytes wait on average for half of that
/// (docs/evidence/derivations.md).
#[test]
fn a_send_buffer_makes_the_delay_of_the_application() {
    let buffered = |bytes: u64| {
        let mut flow = flow("reno");
        flow["transport"]["send_buffer_bytes"] = json!(bytes);
        run(&spec(dumbbell(10.0, 40.0, 20), vec![flow], 30.0))
    };
    let bytes = 1_000_000.0;
    let outcome = buffered(1_000_000);
    let throughput = outcome.flow(1, "mean_throughput_l7");
    let steady_ms = bytes * 8.0 / throughput / 1e3 - 20.0;
    let first = bytes / (throughput * 1e6 * 30.0 / 8.0);
    assert_near(
        "one-way delay",
        outcome.flow(1, "mean_one_way_delay_l7"),
        steady_ms * (1.0 - first / 2.0),
        0.02,
    );
    // At the end the socket holds B, less the bytes that arrived but are not acknowledged yet. These are 25 kB in 20
    // ms, and up to a window (62 packets) when a hole was filled.
    let ahead = (outcome.flow(1, "mean_sending_rate_l7") - throughput) * 1e6 * 30.0 / 8.0;
    assert!((bytes - 90_000.0..bytes - 20_000.0).contains(&ahead), "{ahead} bytes ahead");
    // Without a socket the delay is that of the path: 20 ms, up to 20 packets of queue, and the wait for lost packets.
    let outcome = buffered(0);
    let delay = outcome.flow(1, "mean_one_way_delay_l7");
    assert!((30.0..50.0).contains(&delay), "{delay} ms");
    // A socket smaller than the BDP acts as a window.
    let outcome = buffered(14_480);
    assert!(outcome.flow(1, "mean_in_flight_l4") <= 10.0);
    assert_near("throughput", outcome.flow(1, "mean_throughput_l4"), 14_480.0 * 8.0 / 40e3, 0.06);
}

fn after_a_change(from_mbps: f64, to_mbps: f64, controller: &str) -> Outcome {
    let mut path = dumbbell(from_mbps, 40.0, 60);
    path["data"][0]["schedule"] = json!([{"at_s": 10.05, "rate_mbps": to_mbps}]);
    run(&spec(path, vec![flow(controller)], 20.0))
}

/// CUBIC needs seconds to grow into four times the capacity. The BDP of 42 packets becomes 167, and the plateau is at
/// the old window.
#[test]
fn new_capacity_is_found_after_a_while() {
    let outcome = after_a_change(12.0, 48.0, "cubic");
    let time = outcome.flow(1, "time_to_90_s");
    assert!((0.5..9.0).contains(&time), "{time} s");
    assert!(outcome.flow(1, "settling_time_s") <= time);
    let (queue, most) = (outcome.link("peak_queue_ms"), outcome.link("max_queue_delay_ms"));
    // 60 packets of 12,000 bits at 12 and at 48 Mbit/s.
    assert!(most > 50.0 && most < 61.0, "{most} ms");
    // Packets that waited at the change leave after it.
    assert!(queue <= most && queue > 13.0, "{queue} ms after the change");
}

/// A quarter of the capacity: draining the full queue takes four times as long, and the sender slows down within a few
/// such times.
#[test]
fn lost_capacity_makes_a_long_queue_that_goes_away() {
    let outcome = after_a_change(48.0, 12.0, "cubic");
    // Up to 60 packets wait at 1 ms each, behind the packet being sent.
    let queue = outcome.link("peak_queue_ms");
    assert!((50.0..62.0).contains(&queue), "{queue} ms");
    let time = outcome.flow(1, "time_to_90_s");
    assert!((0.1..1.0).contains(&time), "{time} s");
    let before = run(&spec(dumbbell(48.0, 40.0, 60), vec![flow("cubic")], 20.0));
    assert!(before.stats["links"][0]["peak_queue_ms"].is_null());
    assert!(before.stats["flows"][0]["time_to_90_s"].is_null());
    assert!(before.link("max_queue_delay_ms") < 16.0);
}

/// Two flows of one kind converge to equal shares; a sender without congestion control starves one that has it.
#[test]
fn convergence_and_starvation() {
    let mut late = flow("cubic");
    late["start_s"] = json!(5.0);
    let mut fair = spec(dumbbell(20.0, 20.0, 50), vec![flow("cubic"), late], 60.0);
    fair["convergence_delta"] = json!(0.6);
    let outcome = run(&fair);
    let time = outcome.network("convergence_time_s");
    assert!((1.0..40.0).contains(&time), "{time} s");
    assert_eq!((outcome.network("convergence_delta"), outcome.network("sample_interval_s")), (0.6, 0.1));
    assert!(outcome.flow(1, "starvation_time_s") < 5.0);
    // An unresponsive flow takes 19 of 20 Mbit/s.
    let mut flood = flow("reno");
    flood["application"] = json!({"kind": "constant", "rate_mbps": 40.0});
    flood["controller"] = json!("fillp");
    flood["transport"] = json!({"profile": "datagram"});
    let outcome = run(&spec(dumbbell(20.0, 20.0, 50), vec![flow("reno"), flood], 20.0));
    assert!(outcome.stats["network"]["convergence_time_s"].is_null());
    assert!(outcome.flow(1, "starvation_time_s") > 15.0);
    assert!(outcome.stats["flows"][1]["starvation_time_s"].is_null());
}

/// Short transfers of two sizes in sequence, and one that does not complete within the run.
#[test]
fn completion_times_by_size() {
    let transfer = |bytes: u64, start_s: f64| {
        let mut flow = flow("cubic");
        flow["application"] = json!({"kind": "fixed", "bytes": bytes});
        flow["start_s"] = json!(start_s);
        flow
    };
    let flows = vec![
        transfer(10_000, 0.0),
        transfer(10_000, 2.0),
        transfer(1_000_000, 4.0),
        transfer(100_000_000, 8.0),
    ];
    let outcome = run(&spec(dumbbell(10.0, 100.0, 1000), flows, 12.0));
    let completions = &outcome.stats["network"]["completions"];
    // 10 kB fit the initial window: a round trip of set-up, one of data, and 8.3 ms of serialization for 7 packets.
    let small = completions[0]["p50_s"].as_f64().expect("a time");
    assert_near("10 kB", small, 0.2 + 7.0 * 1500.0 * 8.0 / 10e6, 0.03);
    let counts: Vec<_> = [0, 1, 2]
        .map(|index| {
            ["bytes", "flows", "completed"].map(|key| completions[index][key].as_u64().expect("a count"))
        })
        .into();
    assert_eq!(counts, [[10_000, 2, 2], [1_000_000, 1, 1], [100_000_000, 1, 0]]);
    assert_eq!(outcome.network("fct_incomplete"), 1.0);
    assert_near(
        "of a flow",
        outcome.flow(3, "flow_completion_time_l4"),
        completions[1]["mean_s"].as_f64().expect("a time"),
        1e-12,
    );
    assert!(outcome.stats["flows"][3]["flow_completion_time_l4"].is_null());
    // A transfer's rate covers only its own duration.
    let fct = outcome.flow(3, "flow_completion_time_l4");
    assert_near("throughput", outcome.flow(3, "mean_throughput_l4"), 8.0 / fct, 1e-9);
}
