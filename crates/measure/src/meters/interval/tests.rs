//! Tests with hand-made logs: the interval and the end at which each byte is counted.

use super::*;

const MS: u64 = 1_000_000;

fn event(time_ms: u64, flow: u32, event: Event, seq: u64, data_bytes: u32) -> Record {
    let size_bytes = data_bytes + 52;
    Record { time_ns: time_ms * MS, flow, event, seq, size_bytes, data_bytes, one_way_delay_ns: 0 }
}

fn arrival(time_ms: u64, flow: u32, seq: u64, data_bytes: u32, delay_ms: i64) -> Record {
    let record = event(time_ms, flow, Event::Deliver, seq, data_bytes);
    Record { one_way_delay_ns: delay_ms * MS as i64, ..record }
}

fn planned_flow(flow: u32, start_ms: u64, stop_ms: u64) -> FlowInfo {
    let at = |ms: u64| Time::from_ns(ms * MS);
    FlowInfo { flow, scheme: "x".to_owned(), start: at(start_ms), stop: at(stop_ms), ..FlowInfo::default() }
}

fn measure(duration_ms: u64, flows: Vec<FlowInfo>, records: &[Record]) -> Transfers {
    try_measure(duration_ms, flows, records).unwrap()
}

fn try_measure(duration_ms: u64, flows: Vec<FlowInfo>, records: &[Record]) -> Result<Transfers, Error> {
    let mut meter = IntervalMeter::new(Span::ZERO, Span::from_ms(duration_ms), flows);
    for record in records {
        meter.record(record);
    }
    meter.finish()
}

/// Returns `(flow, start in ms, end in ms, bytes)` for each row of a view; the sum is flow 0.
fn rows(report: &Transfers, view: View, total: bool) -> Vec<(u32, u64, u64, u64)> {
    let ms = |seconds: f64| (seconds * 1e3).round() as u64;
    let rows_of_view = report.rows.iter().filter(|row| row.view == view && row.total == total);
    rows_of_view.map(|row| (row.flow.unwrap_or(0), ms(row.start_s), ms(row.end_s), row.bytes)).collect()
}

#[test]
fn each_byte_counts_once_by_the_copy_that_got_through() {
    let records = [
        event(100, 1, Event::Send, 1, 1_000),
        event(200, 1, Event::Send, 2, 1_000),
        event(210, 1, Event::Drop, 2, 0),
        arrival(1_100, 1, 1, 1_000, 1_000),
        event(1_200, 1, Event::Send, 3, 1_000), // again what packet 2 carried
        event(1_300, 1, Event::Send, 4, 1_000), // needlessly again what packet 1 carried
        arrival(2_200, 1, 3, 1_000, 1_000),
        arrival(2_300, 1, 4, 0, 1_000),
        event(2_500, 1, Event::Send, 5, 700), // under way at the end
    ];
    let report = measure(3_000, vec![planned_flow(1, 0, 3_000)], &records);
    assert_eq!(
        rows(&report, View::Client, false),
        [(1, 0, 1_000, 1_000), (1, 1_000, 2_000, 1_000), (1, 2_000, 3_000, 700)]
    );
    assert_eq!(
        rows(&report, View::Server, false),
        [(1, 0, 1_000, 0), (1, 1_000, 2_000, 1_000), (1, 2_000, 3_000, 1_000)]
    );
    assert_eq!(rows(&report, View::Client, true), [(1, 0, 3_000, 2_700)]);
    assert_eq!(rows(&report, View::Server, true), [(1, 0, 3_000, 2_000)]);
    assert!(report.payload);
}

#[test]
fn without_drops_in_the_log_what_is_overdue_is_not_under_way() {
    let records = [
        event(0, 1, Event::Send, 1, 500),
        event(10, 1, Event::Send, 2, 500), // never seen again
        arrival(40, 1, 1, 500, 40),
        event(990, 1, Event::Send, 3, 300),
    ];
    let report = measure(1_000, vec![planned_flow(1, 0, 1_000)], &records);
    assert_eq!(rows(&report, View::Client, true), [(1, 0, 1_000, 800)]);
}

#[test]
fn sums_follow_the_flows_and_edges_are_the_flows_own() {
    let records = [
        event(300, 1, Event::Send, 1, 2_048),
        arrival(400, 1, 1, 2_048, 100),
        event(1_600, 2, Event::Send, 1, 1_024),
        arrival(1_700, 2, 1, 1_024, 100),
        event(1_990, 1, Event::Send, 2, 512),
        arrival(2_250, 1, 2, 512, 260), // after its sender has stopped
    ];
    let report = measure(2_000, vec![planned_flow(2, 1_500, 2_000), planned_flow(1, 0, 2_000)], &records);
    let client = [(1, 0, 1_000, 2_048), (0, 0, 1_000, 2_048)];
    let client_later = [(1, 1_000, 2_000, 512), (2, 1_500, 2_000, 1_024), (0, 1_000, 2_000, 1_536)];
    assert_eq!(rows(&report, View::Client, false), [&client[..], &client_later[..]].concat());
    assert_eq!(
        rows(&report, View::Server, true),
        [(1, 0, 2_250, 2_560), (2, 1_500, 2_000, 1_024), (0, 0, 2_250, 3_584)]
    );
    let of_second = report.rows.iter().find(|row| row.flow == Some(2)).cloned();
    // 1 KByte in half a second
    assert_eq!(of_second.map(|row| (row.kbytes, row.kbytes_per_s)), Some((1.0, 2.0)));
    let order: Vec<_> = report.rows.iter().map(|row| (row.view, row.total)).collect();
    let first_total = order.iter().position(|&(_, total)| total);
    assert_eq!(first_total, Some(5), "totals end a view");
    assert_eq!(order.iter().filter(|(view, _)| *view == View::Client).count(), 8);
}

#[test]
fn what_arrives_in_the_last_moment_belongs_to_the_last_interval() {
    for (arrives_ms, expected) in [
        (1_000, &[(1, 0, 1_000, 100)][..]),
        (1_010, &[(1, 0, 1_000, 100)]),
        (1_050, &[(1, 0, 1_000, 0), (1, 1_000, 1_050, 100)]),
    ] {
        let records = [event(900, 1, Event::Send, 1, 100), arrival(arrives_ms, 1, 1, 100, 100)];
        let report = measure(1_000, vec![planned_flow(1, 0, 1_000)], &records);
        assert_eq!(rows(&report, View::Server, false), expected);
    }
}

#[test]
fn a_log_without_payload_gives_packets_and_a_flow_without_plan_its_own_time() {
    let records = [
        event(200, 7, Event::Send, 0, 0),
        arrival(1_300, 7, 0, 0, 1_100),
        event(1_900, 7, Event::Send, 0, 0),
    ];
    let report = measure(0, Vec::new(), &records);
    assert!(!report.payload);
    assert_eq!(rows(&report, View::Client, false), [(7, 200, 1_000, 52), (7, 1_000, 1_900, 0)]);
    assert_eq!(rows(&report, View::Server, false), [(7, 200, 1_000, 0), (7, 1_000, 1_900, 52)]);
}

#[test]
fn a_flow_that_never_had_time_has_no_rows() {
    let report = measure(1_000, vec![planned_flow(1, 2_000, 3_000)], &[]);
    assert_eq!(report, Transfers { interval_s: 1.0, payload: false, rows: Vec::new() });
}

#[test]
fn a_run_that_is_said_to_last_for_too_many_intervals_is_one_line() {
    let records = [arrival(1_100, 1, 1, 1_000, 1_000)];
    let flows = |count: u32| (1..=count).map(|flow| planned_flow(flow, 0, u64::MAX / MS)).collect::<Vec<_>>();
    let rows_or_error =
        |count, duration_ms| try_measure(duration_ms, flows(count), &records).map(|report| report.rows.len());
    let rows = 2 * ((1 << 20) + 1);
    assert_eq!(rows_or_error(1, 1_000 << 20), Ok(rows));
    let line = "reaches to 1048576.001 s, which are more than 1048576 intervals of 1 s of its 1 flows: choose longer ones";
    assert_eq!(rows_or_error(1, (1_000 << 20) + 1).unwrap_err().to_string(), line);
    let of_all = "which are more than 1048576 intervals of 1 s of its 2 flows";
    assert!(rows_or_error(2, (500 << 20) + 1).unwrap_err().to_string().contains(of_all));
    assert!(rows_or_error(1, u64::MAX / MS).unwrap_err().to_string().contains("reaches to 18446744073.709"));
}
