//! Speed per record. Timing: run with `cargo test --release -p measure --test it -- --ignored --nocapture speed`.
#![allow(clippy::disallowed_methods, reason = "measures wall time")]

use measure::{FlowInfo, MeterConfig, RunMeter, RunStats};
use record::{Event, Record};
use std::time::Instant;
use units::{Rng, Span, Time};

/// Returns four records per packet (sent and delivered, for the packet and its ACK); delays wander as in a queue and
/// differ by flow.
fn records(flows: u32, packets: u64, jitter_ns: u64) -> Vec<Record> {
    let mut rng = Rng::new(1, "speed");
    let (mut records, mut queue_ns) = (Vec::new(), 0_i64);
    for seq in 0..packets {
        let flow = 1 + rng.below(u64::from(flows)) as u32;
        queue_ns = (queue_ns + rng.below(100_001) as i64 - 50_000).clamp(0, 100_000_000);
        let delay = 20_000_000 + queue_ns + rng.below(jitter_ns) as i64;
        let time_ns = 300_000_000 + seq * 12_000;
        for (event, size_bytes, data_bytes, one_way_delay_ns) in [
            (Event::Send, 1_500, 1_448, 0),
            (Event::Deliver, 1_500, 1_448, delay),
            (Event::AckSend, 76, 0, 0),
            (Event::AckDeliver, 76, 0, 20_000_000),
        ] {
            records.push(Record { time_ns, flow, event, seq, size_bytes, data_bytes, one_way_delay_ns });
        }
    }
    records
}

fn measure(flows: u32, records: &[Record]) -> (f64, f64, RunStats) {
    let plan = |flow| FlowInfo { flow, scheme: "cubic".into(), stop: Time::NEVER, ..FlowInfo::default() };
    let mut meter = RunMeter::new(MeterConfig {
        flows: (1..=flows).map(plan).collect(),
        warmup: Span::from_secs(1),
        ..MeterConfig::default()
    });
    let started = Instant::now();
    for record in records {
        meter.record(record);
    }
    let per_record = started.elapsed().as_secs_f64() * 1e9 / records.len() as f64;
    let started = Instant::now();
    let stats = meter.finish(&[], &[]);
    (per_record, started.elapsed().as_secs_f64() * 1e3, stats)
}

#[test]
#[ignore = "a timing; needs a release build and a quiet machine"]
fn a_record_costs_less_than_fifteen_nanoseconds() {
    for (flows, jitter_ns) in [(1, 1), (1, 100_000_000), (3, 1_000_000), (100, 1_000_000), (1_000, 1_000_000)]
    {
        let records = records(flows, 3_000_000, jitter_ns);
        let best = (0..5)
            .map(|_| measure(flows, &records))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .expect("five measurements");
        println!(
            "{flows} flows, jitter {jitter_ns} ns: {:.1} ns per record, finish {:.1} ms",
            best.0, best.1
        );
        assert!(best.0 < 15.0 || flows == 1_000 || jitter_ns > 10_000_000, "{} ns", best.0);
    }
}

#[test]
fn a_long_mixed_run_measures_the_same_twice() {
    let records = records(20, 100_000, 1_000_000);
    let (first, second) = (measure(20, &records).2, measure(20, &records).2);
    assert_eq!(first, second);
    let delivered: u64 = first.flows.iter().filter_map(|flow| flow.packets_delivered).sum();
    assert_eq!(delivered, 100_000);
    assert!(first.network.jain_index.is_some_and(|index| index > 0.99));
}
