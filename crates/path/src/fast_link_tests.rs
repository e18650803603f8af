//! Comparison of links that work ahead with ordinary links.

use crate::testing::{Bench, at_us};
use crate::{LinkTally, Packet, Subpath};
use proptest::prelude::*;
use units::{Span, Time};

/// Rates at which bytes take whole or fractional numbers of ns; packets of 100 bytes take 100 us at the first rate.
const RATES_MBPS: [f64; 3] = [8.0, 7.77, 1200.0];
const QUEUES: [&str; 4] = [
    r#"{"kind": "infinite"}"#,
    r#"{"kind": "droptail", "packets": 3}"#,
    r#"{"kind": "droptail", "bytes": 900}"#,
    r#"{"kind": "droptail", "packets": 4, "bytes": 700}"#,
];

fn link() -> impl Strategy<Value = String> {
    let settings =
        (prop::sample::select(&RATES_MBPS[..]), prop::sample::select(&QUEUES[..]), 0u32..4, 0u32..3);
    settings.prop_map(|(rate, queue, device, framing)| {
        format!(
            r#"{{"kind": "link", "rate_mbps": {rate}, "queue": {queue}, "device_packets": {device},
                "framing_bytes": {framing}}}"#
        )
    })
}

/// Random delays: in order or not, drawn for every packet or for intervals.
const JITTERS: [&str; 4] = [
    r#"{"kind": "jitter", "distribution": "exponential", "mean_ms": 0.02}"#,
    r#"{"kind": "jitter", "distribution": "normal", "mean_ms": 0.5, "deviation_ms": 0.4}"#,
    r#"{"kind": "jitter", "distribution": "exponential", "mean_ms": 0.3, "preserve_order": false}"#,
    r#"{"kind": "jitter", "distribution": "uniform", "mean_ms": 1, "deviation_ms": 1, "redraw_min_ms": 0.5, "redraw_max_ms": 2}"#,
];

/// Generates paths: an optional link, an optional second link or lossy element, an optional delay, and optional jitter.
fn path() -> impl Strategy<Value = String> {
    let between = prop_oneof![
        4 => Just(None),
        1 => Just(Some(r#"{"kind": "loss", "every": 7}"#.to_owned())),
        2 => link().prop_map(Some),
    ];
    let behind = prop::sample::select(vec![None, Some(0), Some(300), Some(5_000)]);
    let jitter = prop_oneof![Just(None), prop::sample::select(&JITTERS[..]).prop_map(Some)];
    let link = prop_oneof![1 => Just(None), 4 => link().prop_map(Some)];
    (link, between, behind, jitter).prop_map(|(link, between, behind, jitter)| {
        let delay = behind.map(|us| format!(r#"{{"kind": "delay", "delay_ms": {}}}"#, f64::from(us) / 1e3));
        let jitter = jitter.map(str::to_owned);
        let elements: Vec<String> = [link, between, delay, jitter].into_iter().flatten().collect();
        format!("[{}]", elements.join(","))
    })
}

/// Generates gaps in ns and sizes. Many gaps let packets arrive when others leave, or 1 ns before or after.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let near = (0u64..6, 0u64..3).prop_map(|(hundreds, by)| (hundreds * 100_000 + by).saturating_sub(1));
    let gap = prop_oneof![3 => Just(0), 4 => near, 1 => 0u64..2_000_000];
    let size = prop_oneof![4 => (1u32..5).prop_map(|hundreds| hundreds * 100), 1 => 1u32..600];
    prop::collection::vec((gap, size), 1..150)
}

/// Visible results of a run: departures, losses in order, and samples of the counters and the packets inside.
#[derive(Debug, PartialEq)]
struct RunRecord {
    out: Vec<(Time, Packet)>,
    dropped: Vec<u64>,
    samples: Vec<(Vec<LinkTally>, u64)>,
}

fn run(path: &str, traffic: &[(u64, u32)], prepare: impl Fn(&mut Bench)) -> RunRecord {
    let mut bench = Bench::new(path);
    bench.direction.watch_from(at_us(7_000));
    prepare(&mut bench);
    let mut samples = Vec::new();
    let (mut at, mut next_sample) = (Time::ZERO, at_us(500));
    let mut sample_until = |bench: &mut Bench, end: Time| {
        while next_sample <= end {
            // As in the simulator, events at the time of a sample come after the sample.
            let just_before = next_sample - Span::from_ns(1);
            bench.run_until(just_before);
            bench.direction.advance(just_before, &mut bench.log);
            bench.direction.settle(next_sample);
            samples.push((bench.direction.links().cloned().collect(), bench.direction.packets_inside()));
            next_sample += Span::from_us(1_300);
        }
    };
    for (index, &(gap, size)) in traffic.iter().enumerate() {
        at += Span::from_ns(gap);
        sample_until(&mut bench, at);
        bench.send_of(index as u32 % 3, at, size);
        assert!(bench.is_conserved());
    }
    sample_until(&mut bench, at + Span::from_ms(30));
    RunRecord { out: bench.out, dropped: bench.log.dropped, samples }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn working_ahead_changes_nothing(path in path(), traffic in traffic()) {
        let (plain, ahead) =
            (run(&path, &traffic, |_| ()), run(&path, &traffic, |bench| bench.direction.work_ahead()));
        prop_assert_eq!(plain, ahead);
    }

    #[test]
    fn flows_may_leave_between_a_link_and_the_delay_behind_it(traffic in traffic()) {
        let path = r#"[{"kind": "link", "rate_mbps": 8, "queue": {"kind": "droptail", "packets": 3}},
                       {"kind": "delay", "delay_ms": 1}]"#;
        let confine = |bench: &mut Bench| {
            bench.direction.confine(1, Subpath { from: 0, to: 1 });
            bench.direction.confine(2, Subpath { from: 1, to: 2 });
        };
        let ahead = |bench: &mut Bench| {
            confine(bench);
            bench.direction.work_ahead();
        };
        prop_assert_eq!(run(path, &traffic, confine), run(path, &traffic, ahead));
    }
}

#[test]
fn a_link_and_the_delay_behind_it_are_one_event_per_packet() {
    let (link, delay) = (r#"{"kind": "link", "rate_mbps": 12}"#, r#"{"kind": "delay", "delay_ms": 5}"#);
    let jitter = r#"{"kind": "jitter", "distribution": "uniform", "mean_ms": 0.1, "deviation_ms": 0}"#;
    let events = |elements: &[&str], ahead: bool| {
        let mut bench = Bench::new(&format!("[{}]", elements.join(",")));
        if ahead {
            bench.direction.work_ahead();
        }
        (0..3).for_each(|_| bench.send(Time::ZERO, 1500));
        let mut times = Vec::new();
        while bench.direction.next_event() != Time::NEVER {
            times.push(bench.direction.next_event().as_ns() / 1_000_000);
            bench.direction.advance(bench.direction.next_event(), &mut bench.log);
        }
        times
    };
    assert_eq!(events(&[link, delay], false), [1, 2, 3, 6, 7, 8]);
    assert_eq!(events(&[link, delay], true), [6, 7, 8]);
    assert_eq!(events(&[link, delay, jitter], true), [6, 7, 8]);
    assert_eq!(events(&[delay, jitter], true), [5], "three packets at once");
}

#[test]
fn what_changes_or_decides_as_packets_leave_does_not_work_ahead() {
    for link in [
        r#"{"kind": "link", "rate_mbps": 12, "schedule": [{"at_s": 0.001, "rate_mbps": 6}]}"#,
        r#"{"kind": "link", "rate_mbps": 12, "queue": {"kind": "codel"}}"#,
        r#"{"kind": "link", "rate_mbps": 12, "count_in_service": true, "queue": {"kind": "droptail", "packets": 9}}"#,
        r#"{"kind": "link", "rate_mbps": 9000, "device_packets": 1}"#,
    ] {
        let mut bench = Bench::new(&format!("[{link}]"));
        bench.direction.work_ahead();
        bench.log.queued_bytes.clear();
        (0..2).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_us(9_000));
        // Two packets arrive and two leave the queue.
        assert_eq!(bench.log.queued_bytes.len(), 4, "{link}");
    }
}
