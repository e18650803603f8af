//! Properties of every composition of elements.

use crate::testing::{Bench, at_us, elements};
use crate::{Direction, Packet, PacketEvent, Tap};
use proptest::prelude::*;
use units::Time;

/// Elements that keep the order of packets.
const ORDERED: &[&str] = &[
    r#"{"kind": "link", "rate_mbps": 10, "queue": {"kind": "droptail", "packets": 10}}"#,
    r#"{"kind": "link", "rate_mbps": 4, "device_packets": 1, "framing_bytes": 2,
        "queue": {"kind": "droptail", "bytes": 9000},
        "schedule": [{"at_s": 0.02, "rate_mbps": 0}, {"at_s": 0.05, "rate_mbps": 33.3}]}"#,
    r#"{"kind": "link", "rate_mbps": 7.77, "count_in_service": true, "queue": {"kind": "droptail", "packets": 3}}"#,
    r#"{"kind": "link", "rate_mbps": 5, "queue": {"kind": "codel", "target_ms": 1, "interval_ms": 10}}"#,
    r#"{"kind": "link", "rate_mbps": 5, "queue": {"kind": "drophead", "packets": 5},
        "schedule": [{"at_s": 0.03, "queue": {"packets": 2}}]}"#,
    r#"{"kind": "link", "rate_mbps": 5, "queue": {"kind": "ack-filter", "packets": 5},
        "schedule": [{"at_s": 0.03, "queue": {"packets": 2}}]}"#,
    r#"{"kind": "trace", "times_ms": [0, 1, 1, 5], "mode": "mahimahi", "queue": {"kind": "droptail", "packets": 9}}"#,
    r#"{"kind": "trace", "even": {"lines": 7, "period_ms": 10}, "once": true}"#,
    r#"{"kind": "poisson", "rate_mbps": 8, "opportunity_bytes": 700}"#,
    r#"{"kind": "cellular", "mean_mbps": 4, "outage_escape_per_s": 20, "queue": {"kind": "droptail", "packets": 15},
        "schedule": [{"at_s": 0.04, "mean_mbps": 9, "reversion_per_s": 3}]}"#,
    r#"{"kind": "shared", "rate_mbps": 9, "least_mbps": 3, "full_bytes": 9000, "queue": {"kind": "droptail", "packets": 9},
        "schedule": [{"at_s": 0.03, "least_mbps": 8}],
        "walk": {"interval_ms": 4, "rate_mbps": {"corr": 0.2, "std": 2, "min": 8, "max": 15}}}"#,
    r#"{"kind": "half-duplex", "rate_mbps": 6, "access_us": 300, "turn_packets": 3, "queue": {"kind": "droptail", "packets": 9},
        "schedule": [{"at_s": 0.03, "rate_mbps": 9, "access_us": 0}]}"#,
    r#"{"kind": "shaper", "rate_mbps": 6, "burst_bytes": 5000, "queue": {"kind": "droptail", "packets": 20},
        "schedule": [{"at_s": 0.04, "rate_mbps": 2, "burst_bytes": 900}]}"#,
    r#"{"kind": "shaper", "rate_mbps": 6, "burst_bytes": 5000, "deficit": true}"#,
    r#"{"kind": "policer", "rate_mbps": 6, "burst_bytes": 9000}"#,
    r#"{"kind": "delay", "delay_ms": 3.3, "schedule": [{"at_s": 0.03, "delay_ms": 0}]}"#,
    r#"{"kind": "jitter", "distribution": "pareto", "mean_ms": 2, "deviation_ms": 3}"#,
    r#"{"kind": "aggregate", "slot_ms": 5, "max_packets": 6, "schedule": [{"at_s": 0.02, "slot_ms": 1}]}"#,
    r#"{"kind": "slotted", "slot_ms": 4, "schedule": [{"at_s": 0.03, "slot_ms": 1}]}"#,
    r#"{"kind": "blackout", "every_ms": 30, "lasts_ms": 10, "hold": true, "schedule": [{"at_s": 0.04, "lasts_ms": 3}]}"#,
    r#"{"kind": "granted", "request_ms": 7, "grant_ms": 3, "spread_ms": 5, "grant_bytes": 4000,
        "schedule": [{"at_s": 0.03, "grant_ms": 1}]}"#,
    r#"{"kind": "loss", "keep_every": 3, "max_bytes": 700, "schedule": [{"at_s": 0.03, "max_bytes": 1000}]}"#,
    r#"{"kind": "remark", "codepoint": "any", "becomes": "ce", "probability": 0.5, "schedule": [{"at_s": 0.03, "probability": 1}]}"#,
    r#"{"kind": "gilbert-elliott", "p": 0.1, "r": 0.4}"#,
    r#"{"kind": "netem", "delay_ms": 4, "limit_packets": 30, "rate_mbps": 9, "burst_bytes": 4000}"#,
    r#"{"kind": "link", "rate_mbps": 5, "queue": {"kind": "droptail", "packets": 9},
        "walk": {"interval_ms": 3, "rate_mbps": {"corr": 0.5, "std": 3, "min": 0, "max": 20}}}"#,
];

/// Elements that do not keep the order, or that add packets.
const DISORDERED: &[&str] = &[
    r#"{"kind": "duplicate", "probability": 0.3}"#,
    r#"{"kind": "reorder", "probability": 0.2, "gap": 3, "delay_ms": 6}"#,
    r#"{"kind": "jitter", "distribution": "exponential", "mean_ms": 3, "preserve_order": false,
        "redraw_min_ms": 1, "redraw_max_ms": 2, "schedule": [{"at_s": 0.03, "mean_ms": 0.1}]}"#,
    r#"{"kind": "link", "rate_mbps": 5, "queue": {"kind": "fq-codel", "flows": 4}}"#,
    r#"{"kind": "delay", "delay_ms": 9, "preserve_order": false,
        "walk": {"interval_ms": 2, "delay_ms": {"corr": 0.9, "std": 3, "min": 0, "max": 20}}}"#,
];

fn run(parts: &[&str], seed: u64, traffic: &[(u64, u32)], wants_opportunities: bool) -> Bench {
    let mut bench = Bench::seeded(&format!("[{}]", parts.join(",")), seed);
    bench.log.wants_opportunities = wants_opportunities;
    let mut us = 0;
    for (gap, size) in traffic {
        us += gap;
        bench.send(at_us(us), *size);
        assert!(bench.is_conserved(), "{parts:?}");
    }
    bench.run_until(at_us(us + 5_000_000));
    bench.direction.settle(at_us(us + 5_000_000));
    bench
}

/// Links with events between departures that a driver may have to handle.
const LINKS: [&str; 7] = [
    r#"{"kind": "link", "rate_mbps": 10, "queue": {"kind": "droptail", "packets": 10}}"#,
    r#"{"kind": "link", "rate_mbps": 4, "queue": {"kind": "droptail", "packets": 2}}"#,
    r#"{"kind": "link", "rate_mbps": 6}"#,
    r#"{"kind": "link", "rate_mbps": 5, "queue": {"kind": "codel", "target_ms": 1, "interval_ms": 10}}"#,
    r#"{"kind": "link", "rate_mbps": 5, "queue": {"kind": "cobalt", "target_ms": 1, "interval_ms": 10, "packets": 20}}"#,
    r#"{"kind": "link", "rate_mbps": 5, "queue": {"kind": "dualpi2", "target_ms": 1, "packets": 20}}"#,
    r#"{"kind": "link", "rate_mbps": 5, "queue": {"kind": "step", "threshold_ms": 1}}"#,
];

/// Drops and marks with their reported times, and a flag for reports out of time order.
#[derive(Default)]
struct Reports {
    /// Current time of the driver.
    now: Time,
    signals: Vec<(Time, u64)>,
    late: bool,
}

impl Tap for Reports {
    fn packet(&mut self, now: Time, event: PacketEvent, packet: &Packet) {
        if matches!(event, PacketEvent::Dropped | PacketEvent::Marked) {
            self.signals.push((now, packet.number));
            self.late |= now < self.now;
        }
    }
}

/// Returns the departures, drops and marks with their times, as seen by a driver that asks `next` when to call. Also
/// returns true if all drops and marks were reported in time.
fn drive(json: &str, traffic: &[(u64, u32)], next: fn(&Direction) -> Time) -> (Vec<Vec<(Time, u64)>>, bool) {
    let mut direction = Direction::build(&elements(json), "data", 1).unwrap();
    let (mut tap, mut out) = (Reports::default(), Vec::new());
    let (mut us, mut arrivals) = (0, traffic.iter().zip(0u64..).peekable());
    loop {
        let due = next(&direction);
        let arrival = arrivals.peek().map_or(Time::NEVER, |((gap, _), _)| at_us(us + gap));
        tap.now = due.min(arrival);
        if tap.now == Time::NEVER {
            return (vec![out, tap.signals], !tap.late);
        }
        if due <= arrival {
            direction.advance(due, &mut tap);
        } else if let Some(((gap, size), number)) = arrivals.next() {
            us += gap;
            direction.arrive(arrival, Packet::new(0, number, *size, 0, arrival), &mut tap);
        }
        let now = tap.now;
        out.extend(core::iter::from_fn(|| direction.pop()).map(|packet| (now, packet.number)));
    }
}

/// Generates gaps in us (many of them zero) and sizes.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let gap = prop_oneof![3 => Just(0u64), 3 => 0u64..2000, 1 => 0u64..30_000];
    prop::collection::vec((gap, 40u32..1500), 1..200)
}

proptest! {
    #[test]
    fn packets_are_conserved_and_repeat_by_seed(
        picks in prop::collection::vec(0..ORDERED.len() + DISORDERED.len(), 0..5),
        traffic in traffic(), seed in any::<u64>(),
    ) {
        let all: Vec<&str> = ORDERED.iter().chain(DISORDERED).copied().collect();
        let parts: Vec<&str> = picks.iter().map(|pick| all[*pick]).collect();
        let bench = run(&parts, seed, &traffic, false);
        prop_assert!(bench.is_conserved());
        prop_assert!(bench.out.is_sorted_by_key(|(time, _)| *time));
        prop_assert!(bench.out.iter().all(|(time, packet)| *time >= packet.entered));
        let again = run(&parts, seed, &traffic, false);
        prop_assert_eq!(&bench.out, &again.out);
        // Reports of opportunities must not change the result either.
        let watched = run(&parts, seed, &traffic, true);
        prop_assert_eq!(&bench.out, &watched.out);
        let stats: Vec<_> = bench.direction.links().collect();
        prop_assert_eq!(stats, watched.direction.links().collect::<Vec<_>>());
    }

    #[test]
    fn order_is_kept_by_all_that_should(
        picks in prop::collection::vec(0..ORDERED.len(), 1..5), traffic in traffic(), seed in any::<u64>(),
    ) {
        let parts: Vec<&str> = picks.iter().map(|pick| ORDERED[*pick]).collect();
        let bench = run(&parts, seed, &traffic, false);
        let numbers = bench.numbers();
        prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{:?}: {:?}", parts, numbers);
    }

    #[test]
    fn links_count_every_packet_once(
        pick in 0usize..13, traffic in traffic(), seed in any::<u64>(),
    ) {
        let mut bench = run(&[ORDERED[pick]], seed, &traffic, false);
        let inside = bench.direction.packets_inside();
        let stats = bench.stats(Time::from_secs_f64(100.0));
        prop_assert_eq!(stats.packets_in, traffic.len() as u64);
        prop_assert_eq!(stats.packets_in, stats.packets_out + stats.packets_dropped + inside);
        prop_assert_eq!(stats.packets_out, bench.out.len() as u64);
        prop_assert_eq!(stats.packets_dropped, bench.log.dropped.len() as u64);
        if inside == 0 {
            prop_assert_eq!(stats.bytes_in, stats.bytes_out + stats.bytes_dropped);
            prop_assert_eq!((stats.queue_packets, stats.queue_bytes), (0, 0));
        }
    }

    #[test]
    fn departures_alone_are_enough_to_drive_a_path(
        links in prop::collection::vec(0usize..7, 0..3), delay_us in 0u64..20_000, traffic in traffic(),
    ) {
        let links = links.iter().map(|pick| LINKS[*pick].to_owned());
        let delay = format!(r#"{{"kind": "delay", "delay_ms": {}}}"#, delay_us as f64 / 1e3);
        let json = format!("[{}]", links.chain([delay]).collect::<Vec<_>>().join(","));
        let (all, _) = drive(&json, &traffic, Direction::next_event);
        let (departures, in_order) = drive(&json, &traffic, Direction::next_departure);
        prop_assert!(in_order, "{}: events reported after their time", json);
        prop_assert_eq!(all, departures, "{}", json);
    }

    #[test]
    fn a_link_never_exceeds_its_rate(
        mbps in 1u64..2000, traffic in traffic(),
    ) {
        // Departures of any busy period fit exactly: each packet leaves after the work up to its end divided by the
        // rate.
        let mut bench = run(&[&format!(r#"{{"kind": "link", "rate_mbps": {mbps}}}"#)], 1, &traffic, false);
        bench.out.sort_by_key(|(_, packet)| packet.number);
        let (mut start, mut work, mut end) = (0u64, 0u64, 0u64);
        for (time, packet) in &bench.out {
            if packet.entered.as_ns() >= end {
                (start, work) = (packet.entered.as_ns(), 0);
            }
            work += u64::from(packet.size_bytes) * 8000;
            end = start + work / mbps;
            prop_assert_eq!(time.as_ns(), end);
        }
    }
}
