//! Behavior of PCC-Allegro and Vivace against models of their programs (docs/evidence/derivations.md). Tolerances on
//! smooth paths: throughput 5 %, loss 3 points, p95 delay 5 ms. With bursty deliveries, only ranges over seven seeds
//! are tested.

use crate::harness::{Outcome, run, spec};
use serde_json::{Value, json};

/// Returns UDT's transport: 44 bytes of headers, paced, reliable, one report per `every` packets even if packets are
/// missing.
fn udt(payload_bytes: u32, every: u32) -> Value {
    json!({"profile": "quic", "payload_bytes": payload_bytes, "header_bytes": 44, "ack_bytes": 44 + 4 * every,
           "ack_range_bytes": 0, "ack_ranges": 1024, "ack_every": every, "ack_delay_ms": 1000.0, "ack_on_gap": every == 1,
           "timer": "pto", "recovery": "immediate", "pacing_gain": 0.0})
}

fn pcc(utility: &str) -> Value {
    json!({"scheme": "pcc", "controller": "pcc", "parameters": {"utility": utility}, "transport": udt(1420, 20)})
}

fn vivace(latency_coefficient: &str) -> Value {
    json!({"scheme": "vivace", "controller": "vivace", "parameters": {"latency_coefficient": latency_coefficient},
           "transport": udt(1456, 1)})
}

fn vivace_lte() -> Value {
    let mut flow = vivace("2");
    flow["parameters"] = json!({"latency_coefficient": "2", "quantum": "1", "min_rate": "0.5", "min_step": "0.25",
                                "emergency_loss": "0.8", "lte": "true"});
    flow
}

const DEEP: u64 = 850_000;
const ONE_BDP: u64 = 120_000;

/// Returns a path of 40 Mbit/s and 24 ms with a buffer of `bytes`, and `more` between the link and the delay.
fn path(bytes: u64, more: Option<Value>) -> Value {
    let mut data =
        vec![json!({"kind": "link", "rate_mbps": 40.0, "queue": {"kind": "droptail", "bytes": bytes}})];
    data.extend(more);
    data.push(json!({"kind": "delay", "delay_ms": 12.0}));
    json!({"data": data, "ack": [{"kind": "delay", "delay_ms": 12.0}]})
}

fn run_seed(flow: &Value, path: &Value, seed: u64) -> Outcome {
    let mut spec = spec(path.clone(), vec![flow.clone()], 30.0);
    spec["seed"] = json!(seed);
    run(&spec)
}

/// Returns the median over `seeds` of a metric of 30 s.
fn median(outcomes: &[Outcome], key: &str) -> f64 {
    let mut values: Vec<f64> = outcomes.iter().map(|outcome| outcome.flow(1, key)).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Checks medians over three seeds: throughput in Mbit/s, p95 delay in ms, loss in %.
fn expect(name: &str, flow: &Value, path: &Value, throughput: f64, delay: f64, loss: f64) {
    let outcomes: Vec<Outcome> = (1..=3).map(|seed| run_seed(flow, path, seed)).collect();
    let here = [
        median(&outcomes, "throughput_mbps"),
        median(&outcomes, "delay_p95_ms"),
        100.0 * median(&outcomes, "loss_rate"),
    ];
    let fits = (here[0] / throughput - 1.0).abs() <= 0.05
        && (here[1] - delay).abs() <= 5.0
        && (here[2] - loss).abs() <= 3.0;
    assert!(fits, "{name}: {here:.2?}, expected {throughput} Mbit/s, {delay} ms, {loss} %");
}

#[test]
fn pcc_keeps_a_smooth_link_full_and_its_queue_empty() {
    expect("deep buffer", &pcc("latency"), &path(DEEP, None), 39.1, 15.0, 0.05);
    expect("one BDP", &pcc("latency"), &path(ONE_BDP, None), 39.1, 14.0, 0.5);
}

#[test]
fn pcc_with_the_papers_utility_pays_for_its_start_in_loss() {
    expect("one BDP", &pcc("paper"), &path(ONE_BDP, None), 39.6, 36.0, 6.5);
    expect("deep buffer", &pcc("paper"), &path(DEEP, None), 39.6, 182.0, 42.5);
}

#[test]
fn vivace_with_a_latency_term_leaves_the_queue_empty() {
    for buffer in [DEEP, ONE_BDP] {
        expect("latency", &vivace("900"), &path(buffer, None), 37.3, 13.0, 0.0);
        expect("LTE", &vivace_lte(), &path(buffer, None), 38.3, 13.0, 0.0);
    }
}

/// docs/evidence/derivations.md, PCC and Vivace: any slope of 2 % costs many times the throughput reward, and steps are
/// bounded.
#[test]
fn a_twelvefold_latency_coefficient_changes_nothing() {
    let rates =
        |coefficient| run_seed(&vivace(coefficient), &path(DEEP, None), 1).series(1, "rate", 0.0, 30.0);
    assert_eq!(rates("900"), rates("11330"));
}

#[test]
fn vivace_without_a_latency_term_fills_the_buffer_and_loses() {
    expect("deep buffer", &vivace("0"), &path(DEEP, None), 39.4, 182.0, 13.6);
    expect("one BDP", &vivace("0"), &path(ONE_BDP, None), 39.4, 36.0, 2.2);
}

#[test]
fn one_percent_of_random_loss_costs_little() {
    let path = path(ONE_BDP, Some(json!({"kind": "loss", "probability": 0.01})));
    expect("PCC", &pcc("latency"), &path, 38.1, 14.0, 1.5);
    expect("Vivace", &vivace("900"), &path, 35.9, 13.0, 1.0);
}

/// The spread of the model over seven seeds: 2.0 to 22.4 Mbit/s for PCC, median 4.2; 2.3 to 20.3 for Vivace, median
/// 3.4; an empty queue (p95 29 ms). Like the published runs (2.4, 6.7 and 31.2 of 39 Mbit/s) a seed may pass the start
/// by luck.
#[test]
fn bursty_deliveries_keep_both_far_below_the_link() {
    let path = path(DEEP, Some(json!({"kind": "slotted", "slot_ms": 10.0})));
    for (name, flow) in [("PCC", pcc("latency")), ("Vivace", vivace("900"))] {
        let outcomes: Vec<Outcome> = (1..=7).map(|seed| run_seed(&flow, &path, seed)).collect();
        let throughput = median(&outcomes, "throughput_mbps");
        assert!((1.5..=15.0).contains(&throughput), "{name}: median {throughput:.1} Mbit/s");
        let stuck = outcomes.iter().filter(|outcome| outcome.flow(1, "throughput_mbps") <= 22.4).count();
        assert!(stuck >= 5, "{name}: only {stuck} of 7 below 22.4 Mbit/s");
        let delay = median(&outcomes, "delay_p95_ms");
        assert!((24.0..=34.0).contains(&delay), "{name}: {delay:.1} ms");
    }
}

/// 0.28 s for PCC and 0.47 s for Vivace, without a handshake, which takes 24 ms here. Allowed: 0.12 s, less than the
/// first interval of either, which alone lasts 100 to 170 ms.
#[test]
fn the_start_reaches_90_percent_of_the_link_in_time() {
    for (name, flow, published) in [("PCC", pcc("latency"), 0.28), ("Vivace", vivace("900"), 0.47)] {
        let rates = run_seed(&flow, &path(DEEP, None), 1).series(1, "rate", 0.0, 5.0);
        let (first, _) = rates.iter().find(|(_, rate)| *rate > 36.0).expect("it exceeds 36 Mbit/s");
        assert!((first - 0.024 - published).abs() <= 0.12, "{name}: {first:.3} s, published {published}");
    }
}

/// Jain's index of two flows, the second from 5 s on, in the window from 20 to 60 s: 0.86 to 1 for PCC, 0.99 for
/// Vivace.
#[test]
fn two_flows_share_the_link() {
    for (name, flow, least) in [("PCC", pcc("latency"), 0.86), ("Vivace", vivace("900"), 0.97)] {
        let mut late = flow.clone();
        late["start_s"] = json!(5.0);
        let mut spec = spec(path(ONE_BDP, None), vec![flow, late], 60.0);
        spec["warmup_s"] = json!(20.0);
        let outcome = run(&spec);
        let [one, other] = [1, 2].map(|flow| outcome.flow(flow, "goodput_mbps"));
        let jain = (one + other) * (one + other) / (2.0 * (one * one + other * other));
        assert!(jain >= least, "{name}: {jain:.3} ({one:.1} and {other:.1} Mbit/s)");
    }
}

/// Loss from 20 to 60 s with a deep buffer: 1.2 to 2.5 % in two independent models of the program, 1.6 to 2.8 % in this
/// simulation. An earlier figure of the first model, 4.9 to 6.2 %, counted from 10 s on, and so contained the start's
/// overshoot. Here the median of three seeds must be 1 to 3 %.
#[test]
fn pcc_with_the_papers_utility_settles_at_little_loss() {
    let lost = |from: f64| {
        let mut losses: Vec<f64> = (1..=3)
            .map(|seed| {
                let mut spec = spec(path(DEEP, None), vec![pcc("paper")], 60.0);
                (spec["seed"], spec["warmup_s"]) = (json!(seed), json!(from));
                100.0 * run(&spec).flow(1, "packet_loss_rate")
            })
            .collect();
        losses.sort_by(f64::total_cmp);
        losses[1]
    };
    let (settled, with_overshoot) = (lost(20.0), lost(10.0));
    assert!((1.0..3.0).contains(&settled), "{settled:.1} %");
    assert!((4.0..11.0).contains(&with_overshoot), "{with_overshoot:.1} % from 10 s on");
}

/// From 5 % of loss on, the LTE binary gives all probes the worst probe's result, which only a smaller rate can
/// improve. So this simulation stays at 0.5 to 5.6 Mbit/s of 40, and a second model of the binary at 0.5 to 1.8. The
/// worst of four intervals has more than the 5.5 % from which the utility falls with the rate (0.9 X^-0.1 = 11.35 L).
#[test]
fn vivace_lte_falls_to_its_floor_where_one_packet_in_twenty_is_lost() {
    let path = path(ONE_BDP, Some(json!({"kind": "loss", "probability": 0.05})));
    let outcomes: Vec<Outcome> = (1..=3).map(|seed| run_seed(&vivace_lte(), &path, seed)).collect();
    let throughput = median(&outcomes, "throughput_mbps");
    assert!(throughput < 2.0, "{throughput:.1} Mbit/s");
}

/// The utility grows with the rate while `11.35 L < 0.9 X^-0.1`: at 100 Mbit/s up to 5.0 % of loss. That holds if every
/// 20th packet is lost, so that an interval measures its loss; growth continues to 6 %, because near the limit steps
/// are small. With random loss an interval of 250 packets measures 5 % with an error of 1.4 points, more than probes
/// that differ by 5 % of the rate do. An equal loss rate then leaves a quarter to a half. The loss begins at 10 s,
/// after the start, whose short intervals measure even less.
#[test]
fn vivace_tolerates_five_percent_of_loss_that_its_intervals_can_measure() {
    let goodput = |loss: Value| {
        let mut goodputs: Vec<f64> = (1..=3)
            .map(|seed| {
                let mut path = path(375_000, Some(loss.clone()));
                path["data"][0]["rate_mbps"] = json!(100.0);
                path["data"][2]["delay_ms"] = json!(15.0);
                path["ack"][0]["delay_ms"] = json!(15.0);
                let mut spec = spec(path, vec![vivace("900")], 60.0);
                (spec["seed"], spec["warmup_s"]) = (json!(seed), json!(20.0));
                run(&spec).flow(1, "goodput_mbps")
            })
            .collect();
        goodputs.sort_by(f64::total_cmp);
        goodputs[1]
    };
    let every = |packets: u32| {
        goodput(
            json!({"kind": "loss", "every": 1_000_000_000, "schedule": [{"at_s": 10.0, "every": packets}]}),
        )
    };
    let random = |probability: f64| {
        goodput(
            json!({"kind": "loss", "probability": 0.0, "schedule": [{"at_s": 10.0, "probability": probability}]}),
        )
    };
    let [five, eight, by_chance] = [every(20), every(12), random(0.05)];
    assert!(five > 80.0, "every 20th lost: {five:.1} Mbit/s");
    assert!(eight < 60.0, "every 12th lost: {eight:.1} Mbit/s");
    assert!((15.0..65.0).contains(&by_chance), "5 % at random: {by_chance:.1} Mbit/s");
}
