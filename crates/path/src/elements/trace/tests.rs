use crate::testing::{Bench, at_ms, at_us};
use units::Time;

/// Trace with one opportunity per ms, counted as in Mahimahi.
const MAHIMAHI: &str = r#"[{"kind": "trace", "times_ms": [1], "mode": "mahimahi"}]"#;
const PRECISE: &str = r#"[{"kind": "trace", "times_ms": [1]}]"#;

#[test]
fn twelve_mbps_send_one_full_packet_per_ms() {
    for json in [MAHIMAHI, PRECISE] {
        let mut bench = Bench::new(json);
        (0..100).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(1000));
        assert_eq!(bench.times_us(), (1..=100).map(|ms| ms * 1000).collect::<Vec<u64>>());
    }
}

#[test]
fn small_packets_share_an_opportunity_and_one_straddles() {
    let mut bench = Bench::new(MAHIMAHI);
    (0..30).for_each(|_| bench.send(Time::ZERO, 52));
    bench.run_until(at_ms(1));
    // 26 x 56 = 1456 of 1504; number 26 gets 48 of its 56 bytes and leaves with the next line.
    assert_eq!(bench.out.len(), 26);
    bench.run_until(at_ms(2));
    assert_eq!(bench.out.len(), 30);
    assert_eq!(bench.out[26].0, at_ms(2));
}

#[test]
fn what_an_opportunity_cannot_use_is_lost() {
    let mut bench = Bench::new(MAHIMAHI);
    bench.send(Time::ZERO, 100);
    bench.send(at_us(1500), 1500);
    bench.send(at_us(1500), 1500);
    bench.run_until(at_ms(10));
    assert_eq!(bench.times_us(), [1000, 2000, 3000]);
}

#[test]
fn a_packet_larger_than_what_is_left_is_carried_over() {
    let mut bench = Bench::new(PRECISE);
    for size in [1000, 1000, 1000] {
        bench.send(Time::ZERO, size);
    }
    bench.run_until(at_ms(10));
    // The opportunities serve 1000 + 500 | 500 + 1000 of 1500 bytes.
    assert_eq!(bench.times_us(), [1000, 2000, 2000]);
}

#[test]
fn an_arrival_cannot_use_the_opportunity_of_its_own_ms() {
    let mut bench = Bench::new(MAHIMAHI);
    bench.send(at_ms(5), 1500);
    bench.send(at_us(7_900), 1500);
    bench.run_until(at_ms(20));
    assert_eq!(bench.times_us(), [6000, 8000]);
}

#[test]
fn the_packet_in_transit_does_not_count_for_the_limit_unless_asked_to() {
    let departures = |in_service: bool| {
        let mut bench = Bench::new(&format!(
            r#"[{{"kind": "trace", "times_ms": [1], "mode": "mahimahi", "count_in_service": {in_service},
                  "queue": {{"kind": "droptail", "packets": 2}}}}]"#
        ));
        // The 100 + 4 bytes leave at 1 ms, and 1400 of the 1504 bytes of packet 1 are served.
        bench.send(Time::ZERO, 100);
        bench.send(Time::ZERO, 1500);
        bench.run_until(at_ms(1));
        (0..3).for_each(|_| bench.send(at_us(1200), 1500));
        bench.run_until(at_ms(100));
        assert!(bench.is_conserved());
        (bench.out.len(), bench.log.dropped)
    };
    assert_eq!(departures(false), (4, vec![4]));
    assert_eq!(departures(true), (3, vec![3, 4]));
}

#[test]
fn droptail_of_two_keeps_two_with_nothing_in_transit() {
    let json = r#"[{"kind": "trace", "times_ms": [1], "queue": {"kind": "droptail", "packets": 2}}]"#;
    let mut bench = Bench::new(json);
    (0..3).for_each(|_| bench.send(Time::ZERO, 1500));
    assert_eq!(bench.log.dropped, [2]);
}

#[test]
fn mahimahis_header_counts_for_the_byte_limit_but_is_not_seen() {
    let mut bench = Bench::new(
        r#"[{"kind": "trace", "times_ms": [1], "mode": "mahimahi", "queue": {"kind": "droptail", "bytes": 3004}}]"#,
    );
    // Two packets of 1500 + 4 bytes are 3008 > 3004; packets of 1500 + 4 and 1496 + 4 bytes are 3004.
    for size in [1500, 1500, 1496] {
        bench.send(Time::ZERO, size);
    }
    assert_eq!(bench.log.dropped, [1]);
    let stats = bench.stats(at_ms(5));
    assert_eq!((stats.bytes_in, stats.bytes_out, stats.bytes_dropped), (4496, 2996, 1500));
    assert_eq!(bench.log.queued_bytes, [1500, 1496, 1500, 1496]);
    assert!(bench.out.iter().all(|(_, packet)| packet.size_bytes <= 1500));
    assert_eq!(stats.capacity_bits, 5 * 1500 * 8);
}

#[test]
fn idle_opportunities_count_as_capacity_without_an_event_each() {
    let json = r#"[{"kind": "trace", "even": {"lines": 573400, "period_ms": 60000}, "mode": "mahimahi"}]"#;
    let mut bench = Bench::new(json);
    bench.run_until(at_ms(1));
    assert_eq!(bench.direction.next_event(), Time::NEVER);
    bench.send(at_ms(30_000), 1500);
    bench.run_until(at_ms(59_000));
    assert_eq!((bench.out.len(), bench.direction.next_event()), (1, Time::NEVER));
    // Lines at floor(i x 60000 / 573400) <= 59998 ms: i < 59999 x 9.5566... = 573390.44, so 573391 of them.
    assert_eq!(bench.stats(at_ms(59_998)).capacity_bits, 573_391 * 12_000);
}

#[test]
fn opportunities_are_reported_used_or_not_when_wanted() {
    let mut bench = Bench::new(MAHIMAHI);
    bench.log.wants_opportunities = true;
    bench.send(at_us(2500), 1500);
    bench.run_until(at_ms(5));
    let expected: Vec<_> = (1..=5).map(|ms| (at_ms(ms), 1500)).collect();
    assert_eq!(bench.log.opportunities, expected);
    assert_eq!(bench.times_us(), [3000]);
}

#[test]
fn wanting_opportunities_changes_no_departure() {
    let run = |wants| {
        let json = r#"[{"kind": "trace", "poisson": {"rate_mbps": 3.04, "head_s": 0.5, "period_s": 2}, "mode": "mahimahi",
            "queue": {"kind": "droptail", "packets": 5}}]"#;
        let mut bench = Bench::new(json);
        bench.log.wants_opportunities = wants;
        for i in 0..2000 {
            // Bursts with idle times between them.
            bench.send(at_us(i * 700 + i / 50 * 100_000), 200 + (i % 7) as u32 * 200);
        }
        bench.run_until(at_ms(10_000));
        let stats = bench.stats(at_ms(10_000));
        (bench.out, bench.log.dropped, stats)
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn once_stops_for_good() {
    let mut bench = Bench::new(r#"[{"kind": "trace", "times_ms": [1, 2], "once": true}]"#);
    (0..3).for_each(|_| bench.send(Time::ZERO, 1500));
    bench.run_until(at_ms(1000));
    bench.send(at_ms(2000), 1500);
    assert_eq!((bench.out.len(), bench.direction.packets_inside()), (2, 2));
    assert_eq!(bench.direction.next_event(), Time::NEVER);
    assert_eq!(bench.stats(at_ms(5000)).capacity_bits, 2 * 12_000);
}

#[test]
fn the_base_shifts_the_trace() {
    let mut bench = Bench::new(r#"[{"kind": "trace", "times_ms": [4], "base_ms": 3}]"#);
    (0..2).for_each(|_| bench.send(Time::ZERO, 1500));
    bench.run_until(at_ms(100));
    assert_eq!(bench.times_us(), [7000, 11_000]);
}

#[test]
fn precise_even_traces_keep_their_period() {
    let mut bench = Bench::new(r#"[{"kind": "trace", "even": {"lines": 3, "period_ms": 1}}]"#);
    (0..6).for_each(|_| bench.send(Time::ZERO, 1500));
    bench.run_until(at_ms(10));
    let ns: Vec<u64> = bench.out.iter().map(|(time, _)| time.as_ns()).collect();
    assert_eq!(ns, [333_333, 666_666, 1_000_000, 1_333_333, 1_666_666, 2_000_000]);
}

#[test]
fn poisson_traces_have_pantheons_sparse_head_and_nominal_rate() {
    // The generator behind the 2.64 Mbit/s trace: 50 lines 100 ms apart, then 55 s at 220 lines/s = 12100.
    let json = r#"[{"kind": "trace", "mode": "mahimahi",
        "poisson": {"rate_mbps": 2.64, "head_s": 5, "head_gap_ms": 100, "period_s": 60, "seed": 7}}]"#;
    let mut bench = Bench::new(json);
    bench.log.wants_opportunities = true;
    bench.run_until(at_ms(59_999));
    let times: Vec<u64> = bench.log.opportunities.iter().map(|(time, _)| time.as_ns() / 1_000_000).collect();
    assert_eq!(times[..50], (1..=50).map(|i| i * 100).collect::<Vec<u64>>());
    assert!(times[50] >= 5000);
    // Standard deviation sqrt(12100) = 110; four of them.
    assert!((times.len() as f64 - 12_150.0).abs() < 440.0, "{} lines", times.len());
    assert!(bench.log.opportunities.iter().all(|(time, _)| time.as_ns() % 1_000_000 == 0));
    // Its own seed makes it independent of the run's.
    let mut other = Bench::seeded(json, 99);
    other.log.wants_opportunities = true;
    other.run_until(at_ms(59_999));
    assert_eq!(other.log.opportunities, bench.log.opportunities);
}
