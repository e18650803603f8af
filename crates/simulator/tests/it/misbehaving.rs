//! Gain of misbehaving receivers over honest ones behind one bottleneck (RFC 9743 7.6; Savage et al. 1999), and shares
//! of traffic without congestion control.

use crate::harness::{datagram_flow, dumbbell, flow, run, spec};
use serde_json::{Value, json};

/// Returns a bottleneck of 10 Mbit/s with a BDP of queue, 40 ms.
fn bottleneck() -> Value {
    dumbbell(10.0, 40.0, 33)
}

/// Returns the throughput of a flow whose receiver is `receiver`, divided by that of a competing flow of the same
/// scheme with an honest receiver.
fn gain(mut lying: Value, receiver: &Value) -> f64 {
    let honest = lying.clone();
    lying["transport"]["receiver"] = receiver.clone();
    // No receiver grants more than this: without losses nothing else limits the windows.
    lying["transport"]["max_window_bytes"] = json!(1_000_000);
    let outcome = run(&spec(bottleneck(), vec![lying, honest], 40.0));
    outcome.flow(1, "throughput_mbps") / outcome.flow(2, "throughput_mbps")
}

/// Returns the bytes delivered in the first four round trips of a long, fast path, divided by those with an honest
/// receiver.
fn head_start(mut lying: Value, receiver: &Value) -> f64 {
    let delivered = |flow: &Value| {
        let path = dumbbell(1000.0, 100.0, 10_000);
        run(&spec(path, vec![flow.clone()], 0.45)).flow(1, "data_bytes_delivered")
    };
    let honest = delivered(&lying);
    lying["transport"]["receiver"] = receiver.clone();
    delivered(&lying) / honest
}

#[test]
fn ack_division_gains_nothing_where_bytes_are_counted() {
    let receiver = json!({"kind": "ack-division", "parts": 10});
    for name in ["reno", "cubic", "bbr"] {
        let (gain, start) = (gain(flow(name), &receiver), head_start(flow(name), &receiver));
        assert!(gain < 1.2 && start < 1.05, "{name}: {gain} in the long run, {start} at first");
    }
}

#[test]
fn ack_division_hurries_slow_start_where_acks_are_counted() {
    // Both add a packet for every ACK of slow start, even if it acknowledges little.
    let receiver = json!({"kind": "ack-division", "parts": 10});
    for name in ["gquic_cubic", "copa-gcc2018"] {
        let start = head_start(datagram_flow(name), &receiver);
        assert!(start > 2.0, "{name}: {start} at first");
    }
}

#[test]
fn optimistic_acks_starve_others_where_losses_are_all_that_counts() {
    let receiver = json!({"kind": "optimistic", "ahead_packets": 20});
    for name in ["reno", "cubic"] {
        let gain = gain(flow(name), &receiver);
        assert!(gain > 10.0, "{name}: {gain}");
    }
    // BBR uses the rate of arrivals, which false ACKs of single packets do not change for long.
    let gain = gain(flow("bbr"), &receiver);
    assert!(gain < 1.5, "bbr: {gain}");
}

#[test]
fn missing_feedback_gains_nothing() {
    for receiver in [
        json!({"kind": "silent", "after_s": 10.0, "for_s": 10.0}),
        json!({"kind": "drop-feedback", "probability": 0.5}),
    ] {
        for name in ["reno", "cubic", "bbr"] {
            let gain = gain(flow(name), &receiver);
            assert!(gain < 0.8, "{name}, {receiver}: {gain}");
        }
    }
}

#[test]
fn a_sender_without_feedback_stops_and_comes_back() {
    for name in ["reno", "cubic", "bbr"] {
        let mut silenced = flow(name);
        silenced["transport"]["receiver"] = json!({"kind": "silent", "after_s": 10.0, "for_s": 5.0});
        let outcome = run(&spec(bottleneck(), vec![silenced], 40.0));
        // Only retransmissions at doubling intervals may leave.
        let sent = |from_s, to_s| outcome.link_series("delivered", from_s, to_s);
        let (before, during) = (sent(11.0, 11.02), sent(14.9, 14.95));
        let bytes = during[0].1 - before[0].1;
        assert!(bytes < 10.0 * crate::harness::PACKET_BYTES, "{name}: {bytes} bytes in the dark");
        let (from, to) = (sent(30.0, 30.02), sent(39.9, 39.95));
        let mbps = (to[0].1 - from[0].1) * 8.0 / 9.9e6;
        assert!(mbps > 8.0, "{name}: {mbps} Mbit/s afterwards");
    }
}

#[test]
fn unresponsive_traffic_takes_its_rate_whatever_it_costs_others() {
    let shares = |kind: &str, rate_mbps: f64| {
        let mut udp = flow("unresponsive");
        udp["transport"] = json!({"profile": "datagram", "payload_bytes": 1472, "header_bytes": 28,
            "ack_every": 1_000_000, "ack_delay_ms": 1000.0, "ack_on_gap": false, "ack_ranges": 64});
        udp["application"] = json!({"kind": kind, "rate_mbps": rate_mbps});
        let outcome = run(&spec(dumbbell(8.0, 40.0, 40), vec![flow("reno"), udp], 40.0));
        let lost = outcome.flow(2, "packets_dropped") / outcome.flow(2, "packets_sent");
        (outcome.flow(1, "goodput_mbps"), outcome.flow(2, "goodput_mbps"), lost)
    };
    for kind in ["constant", "poisson"] {
        let (reno, udp, _) = shares(kind, 4.0);
        assert!((reno / 4.0 - 1.0).abs() < 0.1 && (udp / 4.0 - 1.0).abs() < 0.1, "{kind}: {reno} and {udp}");
        let (reno, udp, lost) = shares(kind, 12.0);
        assert!(reno < 0.4 && udp > 7.0 && (lost - 0.34).abs() < 0.05, "{kind}: {reno}, {udp}, {lost} lost");
    }
}

#[test]
fn divided_acks_do_not_raise_the_rate_that_bbr_measures() {
    // In an earlier version each part of an acknowledged packet counted as a separate delivery, measured from the part
    // before. BBR then estimated up to 4 % more than the link's rate and lost three to five times as many packets.
    let path = json!({
        "data": [{"kind": "link", "rate_mbps": 8.0, "queue": {"kind": "droptail", "packets": 20}},
            {"kind": "delay", "delay_ms": 30.0}],
        "ack": [{"kind": "link", "rate_mbps": 8.0}, {"kind": "delay", "delay_ms": 30.0}],
    });
    let payload_mbps = 8.0 * 1448.0 / crate::harness::PACKET_BYTES;
    for name in ["bbr", "bbr3"] {
        let lost = |receiver: &Value| {
            let mut lone = flow(name);
            lone["transport"]["receiver"] = receiver.clone();
            let outcome = run(&spec(path.clone(), vec![lone], 40.0));
            for (at_s, bw) in outcome.series(1, "bw", 0.0, 40.0) {
                // Parts that wait behind those of another ACK add two tenths of a percent.
                assert!(bw < 1.002 * payload_mbps, "{name}, {receiver}: {bw} Mbit/s at {at_s} s");
            }
            outcome.flow(1, "packets_dropped")
        };
        let (honest, divided) = (lost(&json!("honest")), lost(&json!({"kind": "ack-division", "parts": 10})));
        assert!(divided < 1.2 * honest, "{name}: {divided} packets lost instead of {honest}");
    }
}

#[test]
fn divided_acks_cost_bbr3_no_throughput() {
    // In an earlier version the first part of an ACK for two packets sent far apart, as after ProbeRTT, acknowledged a
    // part of the later packet. The earlier packet then counted as lost by time, and BBR's reaction cost 11 % of the
    // throughput. Also, an ACK without a sample made BBR forget the rate from which it searches for a plateau: its
    // probes filled the queue.
    let throughput = |receiver: Value| {
        let mut lone = flow("bbr3");
        lone["transport"] = json!({"profile": "tcp", "recovery": "immediate", "receiver": receiver});
        run(&spec(dumbbell(50.0, 40.0, 166), vec![lone], 40.0)).flow(1, "throughput_mbps")
    };
    let (honest, divided) =
        (throughput(json!("honest")), throughput(json!({"kind": "ack-division", "parts": 10})));
    assert!((divided / honest - 1.0).abs() < 0.01, "{divided} Mbit/s instead of {honest}");
}
