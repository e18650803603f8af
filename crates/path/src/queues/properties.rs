//! Invariants of every discipline, for any arrivals and departures.

use super::QueueSpec;
use super::testing::Bench;
use crate::{Ecn, Packet};
use proptest::prelude::*;
use units::{Rate, Span, Time};

/// Limits of all queues under test except the infinite one.
const PACKETS: u64 = 40;
const BYTES: u64 = 30_000;

fn specs() -> Vec<QueueSpec> {
    [
        r#""kind": "droptail""#,
        r#""kind": "drophead""#,
        r#""kind": "ack-filter""#,
        r#""kind": "codel", "interval_ms": 20"#,
        r#""kind": "codel", "interval_ms": 20, "ecn": true"#,
        r#""kind": "codel", "interval_ms": 20, "quirk": "mahimahi""#,
        r#""kind": "pie", "target_ms": 5, "max_burst_ms": 10"#,
        r#""kind": "pie", "target_ms": 5, "max_burst_ms": 10, "ecn": true"#,
        r#""kind": "pie", "target_ms": 5, "max_burst_ms": 10, "quirk": "mahimahi""#,
        r#""kind": "red", "weight": 0.1, "min_threshold_packets": 5, "max_threshold_packets": 15, "gentle": false,
           "ecn": true"#,
        r#""kind": "red", "weight": 0.1, "min_threshold_bytes": 5000, "max_threshold_bytes": 15000"#,
        r#""kind": "fq-codel", "interval_ms": 20"#,
        r#""kind": "fq-codel", "interval_ms": 20, "flows": 4, "ecn": true"#,
        r#""kind": "step", "threshold_packets": 5"#,
        r#""kind": "step", "threshold_ms": 4"#,
        r#""kind": "cobalt", "interval_ms": 20"#,
        r#""kind": "cobalt", "interval_ms": 20, "ecn": true"#,
        r#""kind": "dualpi2", "target_ms": 5"#,
    ]
    .iter()
    .map(|settings| read(&format!(r#"{{{settings}, "packets": {PACKETS}, "bytes": {BYTES}}}"#)))
    .chain([QueueSpec::default()])
    .collect()
}

fn read(json: &str) -> QueueSpec {
    serde_json::from_str(json).unwrap()
}

/// One step: wait `gap_us`, then packets arrive or leave.
#[derive(Clone, Copy, Debug)]
struct Step {
    gap_us: u64,
    /// Flow, bytes, ECN-capable, number of packets.
    arrive: Option<(u32, u32, bool, u8)>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrive = (0u32..6, prop_oneof![40u32..200, 1200u32..1600, Just(32_000)], any::<bool>(), 1u8..8);
    let gap_us = prop_oneof![8 => 0u64..3_000, 1 => 50_000u64..200_000];
    let step =
        (gap_us, prop::option::weighted(0.4, arrive)).prop_map(|(gap_us, arrive)| Step { gap_us, arrive });
    prop::collection::vec(step, 1..400)
}

/// Returns the numbers of the packets of one flow, in order.
fn of_flow(packets: &[(Time, Packet)], flow: u32) -> Vec<u64> {
    packets.iter().filter(|(_, packet)| packet.flow == flow).map(|(_, packet)| packet.number).collect()
}

fn run(spec: &QueueSpec, steps: &[Step]) -> Result<Bench, TestCaseError> {
    let limited = *spec != QueueSpec::default();
    let mut bench = Bench::new(spec);
    bench.queue.set_rate(Rate::from_mbps(12.0));
    for step in steps {
        bench.now += Span::from_us(step.gap_us);
        if let Some((flow, size, capable, count)) = step.arrive {
            // A flow keeps its codepoint: packets of one flow with two codepoints could overtake in two queues.
            let ecn = [Ecn::NOT_ECT, Ecn::ECT0, Ecn::ECT1][if capable { 1 + flow as usize % 2 } else { 0 }];
            let flow = if capable { flow } else { flow + 6 };
            (0..count).for_each(|_| bench.arrive_with(flow, size, ecn));
        } else {
            let waiting = bench.queue.packets() > 0;
            prop_assert_eq!(bench.leave().is_some(), waiting, "a queue with packets always sends");
        }
        if limited {
            prop_assert!(bench.queue.packets() <= PACKETS && bench.queue.bytes() <= BYTES);
        }
        prop_assert_eq!(bench.queue.is_empty(), bench.queue.bytes() == 0);
        let exits = bench.tap.dequeued.len() + bench.tap.dropped.len();
        prop_assert_eq!(bench.arrivals, exits as u64 + bench.queue.packets());
    }
    Ok(bench)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn packets_are_conserved_ordered_and_within_limits(steps in steps()) {
        for spec in specs() {
            let mut bench = run(&spec, &steps)?;
            while bench.leave().is_some() {}
            prop_assert_eq!((bench.queue.packets(), bench.queue.bytes()), (0, 0));
            let tap = &bench.tap;
            // Every arrival left or was dropped, exactly once.
            let mut exits: Vec<u64> =
                tap.dequeued.iter().chain(&tap.dropped).map(|(_, packet)| packet.number).collect();
            exits.sort_unstable();
            prop_assert_eq!(exits, (0..bench.arrivals).collect::<Vec<_>>());
            for flow in 0..12 {
                prop_assert!(of_flow(&tap.dequeued, flow).is_sorted(), "{:?}", spec);
            }
            // Only ECN-capable packets are marked; they then leave (or are dropped later) with CE.
            prop_assert!(tap.marked.iter().all(|(_, packet)| packet.ecn == Ecn::CE));
            let marked = tap.dequeued.iter().chain(&tap.dropped).filter(|(_, packet)| packet.ecn == Ecn::CE);
            prop_assert_eq!(marked.count(), tap.marked.len());
        }
    }

    #[test]
    fn equal_inputs_give_equal_outputs(steps in steps()) {
        for spec in specs() {
            let (first, second) = (run(&spec, &steps)?, run(&spec, &steps)?);
            prop_assert_eq!(first.tap.dequeued, second.tap.dequeued);
            prop_assert_eq!(first.tap.dropped, second.tap.dropped);
        }
    }
}

#[test]
fn every_discipline_can_drop_on_overload_except_the_infinite_queue() {
    for spec in specs() {
        let mut bench = Bench::new(&spec);
        bench.queue.set_rate(Rate::from_mbps(12.0));
        for ms in 0..2000 {
            bench.at_ms(ms);
            (0..2).for_each(|_| bench.arrive(0, 700));
            bench.leave();
        }
        assert_eq!(bench.tap.dropped.is_empty(), spec == QueueSpec::default(), "{spec:?}");
    }
}

#[test]
fn unknown_parameters_are_refused_by_name() {
    for spec in specs() {
        let error = Bench::new(&spec).queue.set("quirk", 1.0).unwrap_err().to_string();
        assert!(
            error.contains("quirk cannot") && error.starts_with("queue `") && !error.contains('\n'),
            "{error}"
        );
    }
}

#[test]
fn limits_change_during_a_run() {
    for spec in specs().into_iter().filter(|spec| *spec != QueueSpec::default()) {
        let mut bench = Bench::new(&spec);
        bench.queue.set("packets", 2.0).unwrap();
        bench.queue.set("bytes", 1e6).unwrap();
        (0..5).for_each(|_| bench.arrive(0, 1500));
        // FQ-CoDel drops two of the three that overflow.
        assert!((1..=2).contains(&bench.queue.packets()), "{spec:?}");
        assert!(bench.queue.set("packets", 0.0).unwrap_err().to_string().contains("at least 1"));
    }
}
