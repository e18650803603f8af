//! Several bottlenecks: one flow passes three links in a row, and each link has a competing flow of its own.

use crate::harness::{Outcome, flow, run, spec};
use serde_json::{Value, json};

const MBPS: f64 = 10.0;
const RTT_MS: f64 = 80.0;

/// Returns three links of 10 Mbit/s called hop-1 to hop-3 with `queue` each; all delay is behind the last.
fn path(queue: &Value) -> Value {
    let hop =
        |number| json!({"kind": "link", "name": format!("hop-{number}"), "rate_mbps": MBPS, "queue": queue});
    json!({"data": [hop(1), hop(2), hop(3), {"kind": "delay", "delay_ms": RTT_MS / 2.0}],
           "ack": [{"kind": "delay", "delay_ms": RTT_MS / 2.0}]})
}

/// Runs a long Reno flow and one Reno flow across each hop, all with one base RTT.
fn parking_lot(queue: &Value) -> Outcome {
    let mut flows = vec![flow("reno")];
    for number in 1..=3 {
        let mut cross = flow("reno");
        cross["enter"] = json!(format!("hop-{number}"));
        cross["leave"] = json!(format!("hop-{number}"));
        cross["rtt_ms"] = json!(RTT_MS);
        flows.push(cross);
    }
    let mut spec = spec(path(queue), flows, 300.0);
    spec["warmup_s"] = json!(50.0);
    run(&spec)
}

/// If losses are independent (RED), the long flow has three times the loss rate of a cross flow. Rates are 1 / (RTT
/// sqrt(p)). So at equal RTTs the long flow gets 1 / sqrt 3 of a cross flow's rate (the allocation of least potential
/// delay: Massoulie and Roberts 1999, Kunniyur and Srikant 2003). It gets even less, by the ratio of the RTTs, because
/// it waits in three queues. Tolerance: a quarter. That is below its share by max-min fairness, a half of the link.
#[test]
fn the_long_flow_of_a_parking_lot_gets_less_than_its_fair_share() {
    let red =
        json!({"kind": "red", "min_threshold_packets": 20, "max_threshold_packets": 60, "packets": 200});
    let outcome = parking_lot(&red);
    let share = |number| outcome.flow(number, "goodput_mbps") * 1500.0 / 1448.0 / MBPS;
    let long = share(1);
    assert!(long < 0.5, "{long:.3}");
    for number in 2..=4 {
        let rtts = outcome.mean(number as u32, "srtt", 50.0, 300.0) / outcome.mean(1, "srtt", 50.0, 300.0);
        let ratio = long / share(number) / (rtts / 3f64.sqrt());
        assert!((0.75..1.25).contains(&ratio), "flow {number}: {ratio:.2} of what is expected");
        let used = long + share(number);
        assert!((0.9..=1.0).contains(&used), "hop of flow {number}: {used:.3}");
    }
    // One link's worth of data passes every hop, and no hop loses or creates packets.
    for link in outcome.stats["links"].as_array().expect("links") {
        let number = |key: &str| link[key].as_f64().expect("a number");
        let inside = number("packets_in") - number("packets_out") - number("packets_dropped");
        assert!((0.0..=201.0).contains(&inside), "{link}");
    }
}

/// A flow that leaves in the middle has only the delays that it passes.
#[test]
fn delays_that_are_not_passed_do_not_count() {
    let path = json!({"data": [{"kind": "delay", "name": "near", "delay_ms": 5.0}, {"kind": "delay", "name": "far", "delay_ms": 30.0}],
                      "ack": [{"kind": "delay", "name": "far", "delay_ms": 30.0}, {"kind": "delay", "name": "near", "delay_ms": 5.0}]});
    let mut near = flow("reno");
    near["leave"] = json!("near");
    near["application"] = json!({"kind": "constant", "rate_mbps": 1.0});
    let mut far = near.clone();
    far["leave"] = json!("far");
    let mut stretched = near.clone();
    stretched["rtt_ms"] = json!(50.0);
    let outcome = run(&spec(path, vec![near, far, stretched], 5.0));
    for (number, rtt_ms) in [(1, 10.0), (2, 70.0), (3, 50.0)] {
        let rtt = outcome.mean(number, "srtt", 2.0, 5.0);
        assert!((rtt - rtt_ms).abs() < 0.1, "flow {number}: {rtt} ms");
    }
}

#[test]
fn wrong_names_and_real_packets_are_refused_in_one_line() {
    let refusal = |key: &str, name: &str, backend| {
        let mut cross = flow("reno");
        cross[key] = json!(name);
        let spec = spec(path(&json!({"kind": "droptail", "packets": 9})), vec![cross], 5.0);
        let spec: runs::RunSpec = serde_json::from_value(spec).expect("a specification");
        spec.validate(backend, &congestion::Registry::builtin()).expect_err("refused").to_string()
    };
    let error = refusal("enter", "hop-4", runs::Backend::Simulation);
    assert_eq!(
        error,
        "flows[0] (reno): enter = `hop-4`: must be the name of an element of the data direction: hop-1, hop-2, hop-3"
    );
    let error = refusal("leave", "hop-1", runs::Backend::Emulation);
    assert_eq!(
        error,
        "flows[0] (reno): enter, leave: real packets pass the whole path; only simulated ones can take a part"
    );
}
