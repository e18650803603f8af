//! The transport profile `ns3-compat` against runs of ns-3.41 (docs/evidence/derivations.md, ns-3): ccperf's experiment
//! #15, one NewReno flow on the India path for 15 s.

use crate::harness::{Outcome, run};
use serde_json::{Value, json};

/// ccperf's dumbbell in ns-3 (docs/evidence/derivations.md): an access link of 10 Gbit/s, and a bottleneck of 100.42
/// Mbit/s with 173 packets in the queue discipline and one in the device. Delay is 27 ms each way, framing 2 bytes.
fn india() -> Value {
    json!({
        "data": [
            {"kind": "link", "name": "access", "rate_mbps": 10_000.0, "framing_bytes": 2},
            {"kind": "link", "name": "bottleneck", "rate_mbps": 100.42, "framing_bytes": 2, "device_packets": 1,
             "queue": {"kind": "droptail", "packets": 173}},
            {"kind": "delay", "delay_ms": 27.0},
        ],
        "ack": [
            {"kind": "link", "name": "return", "rate_mbps": 100.42, "framing_bytes": 2, "device_packets": 1},
            {"kind": "delay", "delay_ms": 27.0},
        ],
    })
}

#[expect(clippy::needless_pass_by_value, reason = "tests build both in place")]
fn experiment(transport: Value, parameters: Value, seconds: f64, interval_s: f64) -> Outcome {
    run(
        &json!({"seed": 42, "duration_s": seconds, "sample_interval_s": interval_s, "warmup_s": 0.0, "log": "none",
        "path": india(),
        "flows": [{"scheme": "reno", "controller": "reno", "parameters": parameters, "transport": transport}]}),
    )
}

fn newreno(seconds: f64, interval_s: f64) -> Outcome {
    let parameters = json!({"reduce_from": "flight", "increase": "truncated"});
    experiment(json!({"profile": "ns3-compat"}), parameters, seconds, interval_s)
}

fn bottleneck(outcome: &Outcome) -> &Value {
    let links = outcome.stats["links"].as_array().expect("links");
    links.iter().find(|link| link["link"] == "data/bottleneck").expect("the bottleneck")
}

#[track_caller]
fn near(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{what}: {value:.4}, ns-3 {expected} +- {tolerance:.4}");
}

/// ccperf's table of #15: published values within 2 %, counts within 8. Queue delay and length are exact integrals.
/// They are compared with exact integrals from the own run of ns-3 (published, sampled: 0.30 ms and 2.08 packets).
#[test]
fn experiment_15_gives_the_published_values() {
    let outcome = newreno(15.0, 0.1);
    let (flow, link) = (|key| outcome.flow(1, key), bottleneck(&outcome));
    let within = |what: &str, value: f64, expected: f64| near(what, value, expected, 0.02 * expected);
    near("drops", link["packets_dropped"].as_f64().unwrap(), 402.0, 8.0);
    near("retransmissions", flow("retransmissions"), 403.0, 8.0);
    near("timeouts", flow("timeouts"), 0.0, 0.0);
    near("episodes", flow("loss_episodes"), 2.0, 0.0);
    within("mean cwnd, segments", flow("mean_cwnd_bytes") / 1448.0, 359.43);
    within("mean in flight, segments", flow("mean_in_flight_bytes") / 1448.0, 359.16);
    within("throughput, Mbit/s", flow("goodput_mbps"), 75.60);
    within("smoothed RTT, ms", flow("mean_srtt_ms"), 54.56);
    within("mean recovery time, ms", flow("mean_recovery_time_l4"), 126.06);
    within("delivery rate, Mbit/s", flow("mean_delivery_rate_l4"), 75.43);
    within("rate of the application, Mbit/s", flow("mean_sending_rate_l7"), 77.57);
    within("payload sent, Mbit/s", flow("packets_sent") * 1448.0 * 8.0 / 15e6, 76.11);
    within("rate on the wire, Mbit/s", link["throughput_mbps"].as_f64().unwrap(), 78.60);
    within("queue, packets", link["mean_queue_packets"].as_f64().unwrap(), 2.50);
    within("queue delay, ms", link["mean_queue_delay_ms"].as_f64().unwrap(), 0.381);
}

/// Returns the first time from `from_s` on at which a field has a different value, and the value.
fn change(outcome: &Outcome, field: &str, from_s: f64) -> (f64, f64) {
    let series = outcome.series(1, field, from_s, 1.0);
    *series.iter().find(|(_, value)| *value != series[0].1).expect("a change")
}

/// Start of the own run of ns-3 (docs/evidence/derivations.md), within 2 ms: overshoot, recovery, and the burst that
/// ends recovery. The second halving is caused by segments whose retransmissions are in flight. Both episodes last
/// 126.06 ms on average (within 2 %).
#[test]
fn experiment_15_starts_as_in_ns3() {
    let outcome = newreno(0.75, 0.000_02);
    let dropped = outcome.link_series("dropped", 0.0, 0.75);
    let first = dropped.iter().find(|(_, count)| *count > 0.0).expect("drops").0;
    near("first drop, s", first, 0.3996, 0.002);
    // Until then ssthresh is infinite, and has no samples.
    let (recovery, ssthresh) = outcome.series(1, "ssthresh", 0.0, 0.75)[0];
    near("recovery, s", recovery, 0.4748, 0.002);
    near("ssthresh, segments", ssthresh, 493.0, 4.93);
    // The ACK that ends an episode is the first one afterwards that lets the window grow.
    let (left, _) = change(&outcome, "cwnd", recovery);
    near("recovery over, s", left, 0.6680, 0.002);
    let (again, ssthresh) = change(&outcome, "ssthresh", recovery);
    near("recovery again, s", again, 0.6681, 0.002);
    near("ssthresh, segments", ssthresh, 246.0, 2.46);
    let (over, _) = change(&outcome, "cwnd", again);
    near("recovery over again, s", over, 0.7270, 0.002);
    let mean_ms = f64::midpoint(left - recovery, over - again) * 1e3;
    near("mean recovery time, ms", mean_ms, 126.06, 0.02 * 126.06);
    // Proportional rate reduction: the flight falls below ssthresh and is refilled at once.
    for (time, pipe) in [(0.487, 784.0), (0.540, 358.0), (0.549, 283.0), (0.551, 493.0)] {
        let flight = outcome.mean(1, "in_flight", time, time + 0.000_1) / 1448.0;
        near("in flight, segments", flight, pipe, 0.02 * pipe);
    }
}

/// Congestion avoidance of the same run, within 1 %.
#[test]
fn experiment_15_climbs_as_in_ns3() {
    let outcome = newreno(15.0, 0.01);
    let expected = [
        (1.0, 250.7),
        (2.0, 266.8),
        (3.0, 284.6),
        (5.0, 316.1),
        (8.0, 366.6),
        (10.0, 395.7),
        (12.0, 427.0),
        (14.0, 460.8),
        (14.98, 478.1),
    ];
    for (time, segments) in expected {
        let cwnd = outcome.mean(1, "cwnd", time, time + 0.015);
        near(&format!("cwnd at {time} s"), cwnd, segments, 0.01 * segments);
    }
}

/// Rows of docs/evidence/derivations.md, ns-3, with one change each. Goodput is compared within 2 %, because the model
/// is chaotic at the drop of a packet.
#[test]
fn one_change_to_experiment_15_does_what_it_does_in_ns3() {
    let parameters = || json!({"reduce_from": "flight", "increase": "truncated"});
    // Delayed ACKs: 183 drops, one episode of 128.9 ms, 91.18 Mbit/s.
    let delayed = json!({"profile": "ns3-compat", "ack_every": 2});
    let outcome = experiment(delayed, parameters(), 15.0, 0.1);
    near("goodput with delayed ACKs", outcome.flow(1, "goodput_mbps"), 91.18, 0.02 * 91.18);
    near("episodes with delayed ACKs", outcome.flow(1, "loss_episodes"), 1.0, 0.0);
    // TcpLinuxReno: 78.11 Mbit/s, with equal losses.
    let outcome = experiment(json!({"profile": "ns3-compat"}), json!({"increase": "counted"}), 15.0, 0.1);
    near("goodput of Linux Reno", outcome.flow(1, "goodput_mbps"), 78.11, 0.02 * 78.11);
    near("retransmissions of Linux Reno", outcome.flow(1, "retransmissions"), 403.0, 8.0);
    // Initial window of 4: 256 drops, one episode of 129.1 ms, 93.8 Mbit/s.
    let outcome = experiment(json!({"profile": "ns3-compat", "initial_window": 4}), parameters(), 15.0, 0.1);
    near("goodput with a window of 4", outcome.flow(1, "goodput_mbps"), 93.8, 0.02 * 93.8);
    near("episodes with a window of 4", outcome.flow(1, "loss_episodes"), 1.0, 0.0);
}

/// The network table that ccperf prints under #15 belongs to another experiment. Its 27.72 Mbit/s and 251.80 segments
/// in flight are from five NewReno flows from AWS Korea to China. Its entropy and product fit six such flows better.
/// Its Jain's index of 0.91 is from the whole run, not the mean over samples. Each value must be within the range of
/// twenty seeds.
#[test]
fn the_table_under_experiment_15_is_of_five_or_six_flows_from_korea_to_china() {
    let ranges = |flows: u32| {
        let mut path = india();
        for link in ["data", "ack"] {
            for element in path[link].as_array_mut().expect("a list") {
                if element["rate_mbps"] == json!(100.42) {
                    element["rate_mbps"] = json!(77.72);
                }
                if element["kind"] == json!("delay") {
                    element["delay_ms"] = json!(51.0);
                }
            }
        }
        path["data"][1]["queue"]["packets"] = json!(94);
        path["data"]
            .as_array_mut()
            .expect("a list")
            .insert(2, json!({"kind": "loss", "probability": 0.0006}));
        let flow = json!({"scheme": "reno", "controller": "reno", "transport": {"profile": "ns3-compat"},
                          "parameters": {"reduce_from": "flight", "increase": "truncated"}});
        let runs: Vec<Outcome> = (1..=20)
            .map(|seed| {
                run(&json!({"seed": seed, "duration_s": 15.0, "sample_interval_s": 0.1, "warmup_s": 0.0,
                            "log": "none", "path": path, "flows": vec![&flow; flows as usize]}))
            })
            .collect();
        move |metric: &str| {
            let values = || runs.iter().map(|outcome| outcome.network(metric));
            values().fold(f64::INFINITY, f64::min)..values().fold(0.0, f64::max)
        }
    };
    let (five, six) = (ranges(5), ranges(6));
    for (metric, published) in
        [("mean_agg_throughput_l4", 27.72), ("mean_agg_in_flight_l4", 251.80), ("jain_index", 0.91)]
    {
        assert!(five(metric).contains(&published), "{metric}: {:?}, published {published}", five(metric));
    }
    let entropy = six("mean_entropy_fairness_throughput_l4");
    assert!(entropy.contains(&1.61), "{entropy:?}, published 1.61");
    // No sampled mean reaches the printed 0.91.
    for sampled in [five("mean_jains_fairness_throughput_l4"), six("mean_jains_fairness_throughput_l4")] {
        assert!(sampled.end < 0.905, "{sampled:?}");
    }
}
