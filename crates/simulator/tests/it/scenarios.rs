//! Paths that rewrite the ECN field, lose large packets, share one channel between both directions, or thin ACKs. Every
//! expected value is computed from the settings.

use crate::harness::{Outcome, dumbbell, flow, run, spec};
use serde_json::{Value, json};

/// Returns a statistic of the link called `name`.
fn link(outcome: &Outcome, name: &str, key: &str) -> f64 {
    let links = outcome.stats["links"].as_array().expect("links");
    let link =
        links.iter().find(|link| link["link"] == name).unwrap_or_else(|| panic!("no {name}: {links:?}"));
    link[key].as_f64().unwrap_or_else(|| panic!("{name} has no `{key}`"))
}

/// Returns a flow with these transport keys, in addition to TCP's keys with an ACK for each packet.
fn flow_with(controller: &str, transport: &Value) -> Value {
    let mut flow = flow(controller);
    for (key, value) in transport.as_object().expect("a table") {
        flow["transport"][key] = value.clone();
    }
    flow
}

/// Returns a link of 20 Mbit/s and 20 ms that marks beyond 1 ms, with a queue of 100 packets, behind or before a
/// `remark`.
fn marking(remark: &Value, is_before: bool) -> Value {
    let mut path = dumbbell(20.0, 20.0, 100);
    path["data"][0]["queue"] = json!({"kind": "step", "packets": 100, "threshold_ms": 1.0});
    path["data"].as_array_mut().expect("elements").insert(usize::from(!is_before), remark.clone());
    path
}

fn bleach() -> Value {
    json!({"kind": "remark", "codepoint": "capable", "becomes": "not-ect"})
}

fn prague() -> Value {
    flow_with("prague", &json!({"ecn": "ect1", "recovery": "immediate"}))
}

/// A path that clears the field before the queue leaves nothing to mark: Prague fills the queue until it drops, like
/// CUBIC.
#[test]
fn a_bleached_prague_is_driven_by_losses() {
    let seconds = 20.0;
    let clean = run(&spec(
        marking(&json!({"kind": "remark", "codepoint": "ect0", "becomes": "ce"}), true),
        vec![prague()],
        seconds,
    ));
    assert!(clean.link("packets_marked") > 100.0 && clean.link("packets_dropped") == 0.0);
    let bleached = run(&spec(marking(&bleach(), true), vec![prague()], seconds));
    assert_eq!(bleached.link("packets_marked"), 0.0);
    assert!(bleached.link("packets_dropped") > 0.0);
    let share = |outcome: &Outcome| outcome.flow(1, "goodput_mbps") * 1500.0 / 1448.0 / 20.0;
    assert!(share(&bleached) > 0.9, "{}", share(&bleached));
    // Marks hold the queue near 1 ms, 1.7 packets; without them it is one of up to 100.
    let (marked, lossy) = (clean.mean_queue(5.0, seconds), bleached.mean_queue(5.0, seconds));
    assert!(marked < 5.0 && lossy > 25.0, "{marked} and {lossy} packets");
}

/// Behind the queue this path hides the marks: the sender does not slow down, and the queue drops.
#[test]
fn marks_that_are_cleared_are_not_seen() {
    let outcome = run(&spec(marking(&bleach(), false), vec![prague()], 20.0));
    assert!(outcome.link("packets_marked") > 1000.0 && outcome.link("packets_dropped") > 0.0);
    let hidden =
        flow_with("prague", &json!({"ecn": "ect1", "recovery": "immediate", "ecn_validation": "handshake"}));
    let outcome = run(&spec(marking(&bleach(), false), vec![hidden], 20.0));
    // With the first ACK the sender learns this, and sends no more packets that can be marked.
    assert_eq!(outcome.link("packets_marked"), 0.0);
    assert!(outcome.link("packets_dropped") > 0.0);
}

/// RFC 9000, section 13.4.2: a path that exchanges ECT(0) and ECT(1) fails the validation with the first ACK. Later
/// packets cannot be marked. Without validation packets are marked as long as the sender sends.
#[test]
fn a_quic_sender_stops_using_ecn_where_it_is_rewritten() {
    let marked = |validation: &str, remark: &Value| {
        let keys = json!({"profile": "quic", "ecn": "ect0", "ecn_validation": validation});
        let outcome = run(&spec(marking(remark, true), vec![flow_with("reno", &keys)], 10.0));
        outcome.link("packets_marked")
    };
    let exchange = json!({"kind": "remark", "codepoint": "ect0", "becomes": "ect1"});
    assert_eq!(marked("counts", &exchange), 0.0);
    assert!(marked("none", &exchange) > 10.0);
    let idle = json!({"kind": "remark", "codepoint": "ect1", "becomes": "ect0"});
    assert!(marked("counts", &idle) > 10.0, "a path that carries the field passes");
}

/// In the middle of a run: marks end with the bleaching at 5 s, and a QUIC sender that noticed does not begin again at
/// 10 s.
#[test]
fn bleaching_in_the_middle_of_a_run_is_noticed_by_counts_only() {
    let mut path = marking(&bleach(), true);
    path["data"][0]["probability"] = json!(0.0);
    path["data"][0]["schedule"] =
        json!([{"at_s": 5.0, "probability": 1.0}, {"at_s": 10.0, "probability": 0.0}]);
    let marks = |validation: &str| {
        let keys = json!({"profile": "quic", "ecn": "ect0", "ecn_validation": validation});
        let outcome = run(&spec(path.clone(), vec![flow_with("reno", &keys)], 15.0));
        let at =
            |time: f64| outcome.link_series("marked", time - 0.05, time).last().map_or(f64::NAN, |one| one.1);
        [at(5.0), at(10.0), at(15.0)]
    };
    let [before, meanwhile, after] = marks("counts");
    assert!(before > 10.0 && meanwhile <= before + 2.0 && after == meanwhile, "{before} {meanwhile} {after}");
    let [_, meanwhile, after] = marks("handshake");
    assert!(after > meanwhile + 10.0, "{meanwhile} {after}");
}

/// All packets are CE-marked: Reno's window never grows beyond its smallest, two packets per round trip of 20 ms.
#[test]
fn ce_for_all_holds_the_window_at_its_smallest() {
    let all = json!({"kind": "remark", "codepoint": "ect", "becomes": "ce"});
    let mut spec = spec(marking(&all, true), vec![flow_with("reno", &json!({"ecn": "ect0"}))], 20.0);
    spec["warmup_s"] = json!(5.0);
    let outcome = run(&spec);
    let expected = 2.0 * 1448.0 * 8.0 / (0.020 + 2.0 * 1500.0 * 8.0 / 20e6) / 1e6;
    let goodput = outcome.flow(1, "goodput_mbps");
    assert!((0.4..=1.6).contains(&(goodput / expected)), "{goodput} of {expected} Mbit/s");
}

/// A black hole from 5 s on: packets of 1500 bytes never arrive again, packets of 1400 bytes always do.
#[test]
fn packets_above_the_size_never_arrive() {
    let mut path = dumbbell(10.0, 40.0, 100);
    let hole = json!({"kind": "loss", "probability": 1.0, "min_bytes": 1_000_000,
        "schedule": [{"at_s": 5.0, "min_bytes": 1401}]});
    path["data"].as_array_mut().expect("elements").push(hole);
    let goodput = |payload: u32, until: f64| {
        let flow = flow_with("cubic", &json!({"payload_bytes": payload}));
        let outcome = run(&spec(path.clone(), vec![flow], 15.0));
        let delivered = outcome.series(1, "delivered", until - 0.05, until);
        delivered.last().map_or(0.0, |one| one.1)
    };
    let (at_hole, at_end) = (goodput(1448, 5.1), goodput(1448, 15.0));
    assert!(at_hole > 5e6 && at_end == at_hole, "{at_hole} and {at_end} bytes");
    // 10 Mbit/s, of which 1348 of 1400 bytes are payload, from 5.1 to 15 s.
    let (small, expected) = (goodput(1348, 15.0) - goodput(1348, 5.1), 9.9 * 10e6 / 8.0 * 1348.0 / 1400.0);
    assert!((small / expected - 1.0).abs() < 0.02, "{small} of {expected} bytes");
}

/// The MTU falls from 1500 to 1000 at 5 s: each datagram of 1500 bytes then becomes 996 and 524 bytes (20 + 976, 20 +
/// 504).
#[test]
fn a_smaller_mtu_makes_two_packets_of_one() {
    let mut path = dumbbell(20.0, 40.0, 1000);
    path["mtu_bytes"] = json!(1500);
    path["fragment"] = json!(true);
    path["schedule"] = json!([{"at_s": 5.0, "mtu_bytes": 1000}]);
    let mut flow = flow_with("cubic", &json!({}));
    flow["application"] = json!({"kind": "constant", "rate_mbps": 1.1584});
    let outcome = run(&spec(path, vec![flow], 10.0));
    // 100 packets of 1448 bytes a second: 500, and 500 in two fragments each; the handshake packet and the round trip
    // at the start.
    let packets = outcome.link("packets_out");
    assert!((packets - 1500.0).abs() < 25.0, "{packets}");
    let (mbps, expected) =
        (outcome.link("throughput_mbps"), (500.0 * 1500.0 + 500.0 * (996.0 + 524.0)) * 8.0 / 10.0 / 1e6);
    assert!((mbps / expected - 1.0).abs() < 0.02, "{mbps} of {expected} Mbit/s");
}

/// Returns a run over a channel of 20 Mbit/s, 100 us for each turn. A turn has up to `packets` data packets or as many
/// ACKs, one for each `ack_every` packets.
fn turns(packets: u32, ack_every: u32) -> Value {
    let station = |packets: u32| {
        json!({"kind": "half-duplex", "rate_mbps": 20.0, "access_us": 100.0, "turn_packets": packets,
               "queue": {"kind": "droptail", "packets": 100}})
    };
    let path = json!({"data": [station(packets), {"kind": "delay", "delay_ms": 5.0}],
                      "ack": [{"kind": "delay", "delay_ms": 5.0}, station(packets)]});
    let mut spec = spec(path, vec![flow_with("reno", &json!({"ack_every": ack_every}))], 30.0);
    spec["warmup_s"] = json!(5.0);
    spec
}

fn goodput_of_turns(packets: u32, ack_every: u32) -> f64 {
    run(&turns(packets, ack_every)).flow(1, "goodput_mbps")
}

/// Goodput is the rate times the payload's share of the air time. A packet of 1500 bytes, 1448 of them payload, takes
/// 600 us, an ACK of 52 bytes 20.8 us, and each turn 100 us.
#[test]
fn a_shared_channel_divides_its_air_time() {
    // One packet, one ACK: 100 + 600 + 100 + 20.8 us.
    let expected = 1448.0 * 8.0 / 820.8;
    let goodput = goodput_of_turns(1, 1);
    assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} of {expected} Mbit/s");
    // Two packets in two turns, one ACK: 3 x 100 + 1200 + 20.8 us.
    let expected = 2.0 * 1448.0 * 8.0 / 1520.8;
    let goodput = goodput_of_turns(1, 2);
    assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} of {expected} Mbit/s");
    // Eight packets and their eight ACKs: 2 x 100 + 8 x 620.8 us.
    let expected = 8.0 * 1448.0 * 8.0 / 5166.4;
    let goodput = goodput_of_turns(8, 1);
    assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} of {expected} Mbit/s");
}

/// Neither the log level nor the sample interval changes the order of turns.
#[test]
fn turns_do_not_depend_on_who_watches() {
    let links = |key: &str, value: Value| {
        let mut spec = turns(3, 1);
        spec[key] = value;
        run(&spec).stats["links"].clone()
    };
    let expected = links("log", json!("none"));
    assert_eq!(expected, links("log", json!("full")));
    assert_eq!(expected, links("sample_interval_s", json!(0.0031)));
}

/// Runs 20 Mbit/s of data with an ACK direction of 100 kbit/s. Of 1667 sent ACKs of 52 bytes per second it carries 240.
fn narrow_way_back(queue: &Value, transport: &Value) -> Outcome {
    let mut path = dumbbell(20.0, 20.0, 200);
    path["ack"] =
        json!([{"kind": "link", "rate_mbps": 0.1, "queue": queue}, {"kind": "delay", "delay_ms": 10.0}]);
    let mut spec = spec(path, vec![flow_with("cubic", transport)], 20.0);
    spec["warmup_s"] = json!(5.0);
    run(&spec)
}

#[test]
fn an_ack_filter_leaves_the_acks_that_the_way_back_carries() {
    let filter = json!({"kind": "ack-filter", "packets": 100});
    // A window of 100 kB, 40 ms of the link, loses nothing: no ACK reports a hole.
    let window = json!({"max_window_bytes": 100_000});
    let outcome = narrow_way_back(&filter, &window);
    let (expected, acks) = (20.0 * 100e3 / (52.0 * 8.0), link(&outcome, "ack/link", "packets_out"));
    assert!((acks / expected - 1.0).abs() < 0.05, "{acks} of {expected} ACKs");
    // At most one ACK waits, behind the previous one: 4.16 ms.
    let most = link(&outcome, "ack/link", "max_queue_delay_ms");
    assert!(most <= 4.17, "{most} ms");
    let share = outcome.flow(1, "goodput_mbps") * 1500.0 / 1448.0 / 20.0;
    assert!(share > 0.95, "{share}");
    // Without the filter all ACKs of the window wait, 69 packets: 0.28 s.
    let droptail = narrow_way_back(&json!({"kind": "droptail", "packets": 100}), &window);
    assert!(link(&droptail, "ack/link", "max_queue_delay_ms") > 200.0);
}

/// QUIC's ACKs are encrypted: a device on the path cannot tell which are superfluous.
#[test]
fn an_ack_filter_does_not_read_quic() {
    let filter = json!({"kind": "ack-filter", "packets": 100});
    let quic = narrow_way_back(&filter, &json!({"profile": "quic"}));
    assert!(link(&quic, "ack/link", "max_queue_delay_ms") > 400.0);
}

/// One ACK of four arrives. Its ranges contain the information of the others, and the link stays full.
#[test]
fn thinned_acks_are_a_quarter_and_cost_nothing() {
    let mut path = dumbbell(20.0, 20.0, 100);
    path["ack"] = json!([{"kind": "loss", "keep_every": 4, "max_bytes": 250}, {"kind": "link", "rate_mbps": 100.0},
                         {"kind": "delay", "delay_ms": 10.0}]);
    for profile in ["tcp", "quic"] {
        let mut spec = spec(path.clone(), vec![flow_with("cubic", &json!({"profile": profile}))], 20.0);
        spec["warmup_s"] = json!(5.0);
        let outcome = run(&spec);
        let (acks, packets) = (link(&outcome, "ack/link", "packets_out"), outcome.link("packets_out"));
        assert!((acks * 4.0 / packets - 1.0).abs() < 0.02, "{profile}: {acks} ACKs of {packets} packets");
        let size = if profile == "tcp" { 1500.0 / 1448.0 } else { 1400.0 / 1350.0 };
        let share = outcome.flow(1, "goodput_mbps") * size / 20.0;
        assert!(share > 0.95, "{profile}: {share}");
    }
}

#[test]
fn what_only_simulated_packets_can_pass_is_refused_in_one_line() {
    let refusal = |path: &Value| {
        let spec = spec(path.clone(), vec![flow("reno")], 5.0);
        let spec: runs::RunSpec = serde_json::from_value(spec).expect("a specification");
        let registry = congestion::Registry::builtin();
        assert!(spec.validate(runs::Backend::Simulation, &registry).is_ok());
        spec.validate(runs::Backend::Emulation, &registry).expect_err("refused").to_string()
    };
    let station = json!([{"kind": "half-duplex", "rate_mbps": 20.0}]);
    assert_eq!(
        refusal(&json!({"data": station, "ack": station})),
        "path: data[0] (half-duplex): real packets cannot take turns on one channel; only simulated ones can"
    );
    let mut smaller = dumbbell(20.0, 40.0, 1000);
    smaller["fragment"] = json!(true);
    smaller["schedule"] = json!([{"at_s": 5.0, "mtu_bytes": 1000}]);
    assert_eq!(
        refusal(&smaller),
        "path: schedule: the MTU of real devices stays; only that of a simulated path can change"
    );
}
