//! Random paths, transports, applications and controllers: runs end, count consistently, and never stall the clock.

use crate::harness::with_files;
use measure::RunMeter;
use proptest::prelude::*;
use runs::{Backend, StopWhen, meter_config};
use serde_json::{Value, json};
use std::cell::Cell;

fn queue() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"kind": "infinite"})),
        (1u64..200).prop_map(|packets| json!({"kind": "droptail", "packets": packets})),
        (1500u64..100_000).prop_map(|bytes| json!({"kind": "drophead", "bytes": bytes})),
        Just(json!({"kind": "codel", "packets": 500})),
        Just(json!({"kind": "fq-codel"})),
        Just(json!({"kind": "pie", "packets": 500})),
    ]
}

fn element() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0.5f64..50.0, queue())
            .prop_map(|(rate, queue)| json!({"kind": "link", "rate_mbps": rate, "queue": queue})),
        (0.5f64..20.0, queue())
            .prop_map(|(rate, queue)| json!({"kind": "poisson", "rate_mbps": rate, "queue": queue})),
        (1u64..12, queue(), any::<bool>())
            .prop_map(|(ms, queue, precise)| json!({"kind": "trace", "times_ms": [ms],
            "mode": if precise { "precise" } else { "mahimahi" }, "queue": queue})),
        (0.0f64..80.0).prop_map(|delay| json!({"kind": "delay", "delay_ms": delay})),
        (0.0f64..0.2).prop_map(|p| json!({"kind": "loss", "probability": p})),
        (0.0f64..0.1).prop_map(|p| json!({"kind": "duplicate", "probability": p})),
        (0.0f64..0.1).prop_map(|p| json!({"kind": "reorder", "probability": p, "delay_ms": 5.0})),
        (0.1f64..5.0, any::<bool>())
            .prop_map(|(mean, order)| json!({"kind": "jitter", "distribution": "exponential",
            "mean_ms": mean, "preserve_order": order})),
        (1.0f64..50.0).prop_map(|slot| json!({"kind": "aggregate", "slot_ms": slot})),
    ]
}

fn application() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(json!({"kind": "greedy"})),
        1 => (1u64..300_000).prop_map(|bytes| json!({"kind": "fixed", "bytes": bytes})),
        1 => (0.1f64..5.0, 0u64..200_000)
            .prop_map(|(rate, bytes)| json!({"kind": "constant", "rate_mbps": rate, "bytes": bytes})),
        1 => (0.1f64..5.0, 0u64..200_000, 0u64..3000).prop_map(|(rate, bytes, packet)| json!({"kind": "poisson",
            "rate_mbps": rate, "bytes": bytes, "packet_bytes": packet})),
        1 => (1u64..50_000, 0u64..50_000, any::<bool>()).prop_map(|(least, more, idle)| json!({"kind": "files",
            "least_bytes": least, "most_bytes": least + more, "idle_ms": 100.0, "idle_first": idle})),
        1 => Just(json!({"kind": "on-off", "on_ms": 100.0, "off_ms": 200.0, "exponential": true})),
        1 => Just(json!({"kind": "trace", "writes": [[150.0, 4000], [700.0, 20_000]]})),
        1 => Just(json!({"kind": "encoder", "max_rate_mbps": 3.0, "key_interval_s": 0.3, "pauses": [[0.4, 0.8]]})),
    ]
}

fn receiver() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => Just(json!("honest")),
        1 => (1u32..30).prop_map(|parts| json!({"kind": "ack-division", "parts": parts})),
        1 => (1u32..100).prop_map(|ahead| json!({"kind": "optimistic", "ahead_packets": ahead})),
        1 => (0.0f64..1.0, 0.0f64..1.0).prop_map(|(after, length)| json!({"kind": "silent", "after_s": after, "for_s": length})),
        1 => (0.0f64..=1.0).prop_map(|p| json!({"kind": "drop-feedback", "probability": p})),
    ]
}

fn transport() -> impl Strategy<Value = Value> {
    let profile = prop::sample::select(vec!["tcp", "ns3-compat", "utp", "quic", "datagram"]);
    let timer = prop::sample::select(vec!["rto", "pto", "silence"]);
    let recovery = prop::sample::select(vec!["prr", "prr-ns3", "immediate"]);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (profile, timer, recovery, switches, 1u32..4, 1u64..6, prop::sample::select(vec![0.0, 50.0]), receiver()).prop_map(
        |(profile, timer, recovery, (sack, limited, handshake, reliable, tlp), every, threshold, keepalive, receiver)| {
            // Loss detection by sequence needs the full TCP profile.
            let by_segment = profile == "ns3-compat" || profile == "utp";
            let (timer, sack, reliable) = if by_segment { ("rto", true, true) } else { (timer, sack, reliable) };
            let mut transport = json!({"profile": profile, "timer": timer, "recovery": recovery, "sack": sack,
                   "limited_transmit": limited, "handshake": handshake, "reliable": reliable || !sack,
                   "tail_loss_probe": tlp, "ack_every": every, "ack_delay_ms": 25.0, "packet_threshold": threshold,
                   "keepalive_ms": keepalive, "receiver": receiver, "timeout_initial_ms": 1000.0,
                   // Suppose that nothing takes time and a queue of one packet drops the rest. Then windows that follow
                   // the bytes in flight (SCReAM's below 10 ms of RTT) have no limit. Millions of packets per second
                   // leave and are lost.
                   "max_window_bytes": 500_000});
            if profile == "utp" {
                transport["profile"] = json!("tcp");
                transport["loss_detection"] = json!("utp");
                transport["sack_packets"] = json!(if tlp { 30 } else { 0 });
                transport["timeout_check_ms"] = json!(if limited { 500.0 } else { 0.0 });
            }
            transport
        },
    )
}

fn flow() -> impl Strategy<Value = Value> {
    let names: Vec<&str> = congestion::Registry::builtin().iter().map(|entry| entry.name).collect();
    (prop::sample::select(names), transport(), application(), 0.0f64..0.5, any::<bool>()).prop_map(
        |(name, transport, application, start, reverse)| {
            json!({"scheme": name, "controller": name, "transport": transport, "application": application,
                   "start_s": start, "reverse": reverse})
        },
    )
}

fn run_spec() -> impl Strategy<Value = Value> {
    let direction = || prop::collection::vec(element(), 0..4);
    (direction(), direction(), prop::collection::vec(flow(), 1..4), any::<u32>()).prop_map(|(data, ack, flows, seed)| {
        // A link on each side bounds the data that greedy senders can put on the path.
        let link = json!({"kind": "link", "rate_mbps": 20.0, "queue": {"kind": "droptail", "packets": 100}});
        let with_link = |mut elements: Vec<Value>| {
            elements.push(link.clone());
            elements
        };
        json!({"seed": seed, "duration_s": 1.5, "log": "none", "path": {"data": with_link(data), "ack": with_link(ack),
               "overhead_bytes": 36, "mtu_bytes": 1500, "fragment": true}, "flows": flows})
    })
}

proptest! {
    #[test]
    fn any_run_ends_and_counts_consistently(value in run_spec()) {
        let spec = with_files(serde_json::from_value(value.clone()).expect("a valid specification"));
        // The stop request is checked every 16,384 events: a run that stalls the clock would check it for ever.
        let calls = Cell::new(0);
        let stop = || {
            calls.set(calls.get() + 1);
            calls.get() > 300
        };
        let mut observers = (RunMeter::new(meter_config(&spec, Backend::Simulation)), StopWhen(stop));
        let totals = simulator::simulate(&spec, &congestion::Registry::builtin(), &mut observers);
        prop_assert!(totals.is_ok(), "{:?} for {value}", totals.err());
        let stats = totals.expect("checked").stats(observers.0);
        prop_assert!(stats.is_ok(), "{:?} for {value}", stats.err());
        let stats = serde_json::to_value(stats.expect("checked")).expect("statistics are JSON");
        for flow in stats["flows"].as_array().expect("a list") {
            let count = |key: &str| flow[key].as_u64().unwrap_or(0);
            prop_assert!(count("data_bytes_delivered") <= count("bytes_sent"), "{flow} for {value}");
            let rate = |key: &str| flow[key].as_f64().unwrap_or(0.0);
            // Data that are read were sent, and accepted before that.
            prop_assert!(rate("mean_throughput_l4") <= rate("mean_sending_rate_l4") + 1e-9, "{flow} for {value}");
            prop_assert!(rate("mean_throughput_l7") <= rate("mean_sending_rate_l7") + 1e-9, "{flow} for {value}");
        }
        let mut payload_bytes = [0, 0];
        for (index, flow) in stats["flows"].as_array().expect("a list").iter().enumerate() {
            let reverse = value["flows"][index]["reverse"] == true;
            payload_bytes[usize::from(reverse)] += flow["data_bytes_delivered"].as_u64().unwrap_or(0);
        }
        for link in stats["links"].as_array().expect("a list") {
            let count = |key: &str| link[key].as_u64().unwrap_or(0);
            prop_assert!(count("packets_out") + count("packets_dropped") <= count("packets_in"), "{link}");
            prop_assert!(link["utilization"].as_f64().is_none_or(|share| share <= 1.001), "{link}");
            // All payload that arrived was on the wire of every link of its direction.
            let payload_mbps = (payload_bytes[usize::from(link["direction"] == "ack")] * 8) as f64 / 1.5e6;
            let wire_mbps = link["mean_sending_rate_l1"].as_f64().unwrap_or(0.0);
            prop_assert!(wire_mbps >= payload_mbps - 1e-9, "{link}: {payload_mbps} for {value}");
        }
    }
}
