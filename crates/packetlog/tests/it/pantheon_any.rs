//! Round trips of exported logs, and importers with arbitrary bytes.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests use files and fail by panicking")]

use crate::common::{Scratch, collect, file, record, text};
use packetlog::STEP_BACK_NS;
use packetlog::pantheon::{
    ClockOffsets, Direction, FlowLog, Input, Log, MergedExport, MmLinkExport, RawPair,
};
use proptest::prelude::*;
use record::{Event, Record};

fn events(direction: Direction) -> [Event; 4] {
    match direction {
        Direction::Data => [Event::Send, Event::Deliver, Event::Opportunity, Event::Drop],
        Direction::Ack => [Event::AckSend, Event::AckDeliver, Event::AckOpportunity, Event::AckDrop],
    }
}

fn directions() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Data), Just(Direction::Ack)]
}

/// Step in us, kind, flow, size, delay in us.
type Row = (u32, usize, u32, u32, i64);

fn rows(kinds: usize) -> impl Strategy<Value = Vec<Row>> {
    let delays = -1_000_000_000_000_000i64..1_000_000_000_000_000;
    prop::collection::vec((0u32..5_000_000, 0..kinds, any::<u32>(), 1u32.., delays), 1..100)
}

fn merged_records(rows: &[Row], direction: Direction) -> Vec<Record> {
    let mut time_us = 0;
    let to_record = |&(step, kind, flow, size, delay_us): &Row| {
        time_us += u64::from(step);
        let flow = if kind == 2 { 0 } else { flow };
        record(time_us, events(direction)[kind], flow, size, if kind == 1 { delay_us } else { 0 })
    };
    rows.iter().map(to_record).collect()
}

fn mm_link_records(rows: &[Row], direction: Direction) -> Vec<Record> {
    let mut time_ms = 0;
    let to_record = |&(step, kind, _, size, delay_us): &Row| {
        time_ms += u64::from(step % 50);
        let delay_ms = if kind == 1 { (delay_us / 1000).abs() } else { 0 };
        record(time_ms * 1000, events(direction)[kind], 0, size, delay_ms * 1000)
    };
    rows.iter().map(to_record).collect()
}

/// Parts of a text of [`nearly`].
const PIECES: [&[u8]; 21] = [
    b"+",
    b"-",
    b"#",
    b"d",
    b" ",
    b"  ",
    b"\t",
    b"\n",
    b"\r\n",
    b"0",
    b"1",
    b"2.5",
    b"1500",
    b"99999999999999999999",
    b"4000000000000",
    b"-1.000",
    b".",
    b"# init timestamp: 5.000\n",
    b"# 'x' egress: 7\n",
    b"1 - 1 - 1\n",
    b"\xff",
];

/// Returns nearly correct lines, so that parsers get past the first field.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60).prop_map(|pieces| pieces.concat())
}

fn survive(bytes: &[u8]) {
    survive_reading(bytes, |input| input, 0);
    survive_reading(bytes, Input::leniently, 2 * STEP_BACK_NS);
}

fn survive_reading(bytes: &[u8], reading: fn(Input) -> Input, step_back_ns: u64) {
    let input = || reading(text("x.log", bytes));
    let pair = || RawPair {
        egress: input(),
        ingress: input(),
        offsets: ClockOffsets { egress_us: 3, ingress_us: -3 },
    };
    let logs = [
        Log::Merged(input()),
        Log::MmLink(input()),
        Log::Raw(pair()),
        Log::Multiple { flows: vec![FlowLog::Merged(input()), FlowLog::Raw(pair())], mm_link: Some(input()) },
        Log::Multiple { flows: Vec::new(), mm_link: None },
    ];
    for log in logs {
        if let Ok((records, _)) = collect(log, Direction::Data) {
            let in_order = |a: &Record, b: &Record| a.time_ns <= b.time_ns + step_back_ns;
            assert!(records.is_sorted_by(in_order));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merged_logs_round_trip(rows in rows(3), direction in directions(), init_us in 0u64..4_000_000_000_000_000) {
        let records = merged_records(&rows, direction);
        let scratch = Scratch::new();
        let path = scratch.file("x.log");
        let mut export = MergedExport::create(&path, direction, init_us).unwrap();
        records.iter().try_for_each(|record| export.write(record)).unwrap();
        prop_assert_eq!(export.finish().unwrap(), records.len() as u64 + 1);
        let (again, imported) = collect(Log::Merged(file(&path)), direction).unwrap();
        prop_assert_eq!(again, records);
        prop_assert_eq!(imported.init_us, Some(init_us));
    }

    #[test]
    fn mm_link_logs_round_trip(rows in rows(4), direction in directions(), init_ms in 0u64..4_000_000_000_000) {
        let records = mm_link_records(&rows, direction);
        let scratch = Scratch::new();
        let path = scratch.file("x.log");
        let mut export = MmLinkExport::create(&path, direction, init_ms).unwrap();
        records.iter().try_for_each(|record| export.write(record)).unwrap();
        prop_assert_eq!(export.finish().unwrap(), records.len() as u64 + 3);
        let (again, imported) = collect(Log::MmLink(file(&path)), direction).unwrap();
        prop_assert_eq!(again, records);
        prop_assert_eq!(imported.init_us, Some(init_ms * 1000));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_bytes_make_an_importer_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survive(&bytes);
    }

    #[test]
    fn nearly_right_logs_do_not_make_an_importer_panic(bytes in nearly()) {
        survive(&bytes);
    }
}

#[test]
fn an_exported_log_reads_as_pantheon_writes_it() {
    let scratch = Scratch::new();
    let path = scratch.file("x_datalink_run1.log");
    let mut export = MergedExport::create(&path, Direction::Data, 1_744_824_396_327_250).unwrap();
    let ns = |time_ns, event, one_way_delay_ns| Record {
        time_ns,
        one_way_delay_ns,
        ..record(0, event, 1, 1500, 0)
    };
    export.write(&ns(5_012_318_499, Event::Send, 0)).unwrap();
    // The grammar has no queue events, drops or packets of the other direction.
    export.write(&ns(5_012_318_499, Event::Enqueue, 0)).unwrap();
    export.write(&ns(5_013_000_000, Event::Drop, 0)).unwrap();
    export.write(&ns(5_020_000_000, Event::AckSend, 0)).unwrap();
    export.write(&ns(5_040_960_500, Event::Deliver, 28_642_500)).unwrap();
    export.write(&ns(5_040_960_500, Event::Deliver, -1_600)).unwrap();
    export.write(&Record { flow: 0, ..ns(5_041_000_000, Event::Opportunity, 0) }).unwrap();
    let late = export.write(&ns(4_040_000_000, Event::Send, 0)).unwrap_err().to_string();
    assert!(late.contains("x_datalink_run1.log: records must be in time order"), "{late}");
    assert_eq!(export.finish().unwrap(), 5);
    let expected = "# init timestamp: 1744824396327.250\n5012.318 + 1500 1\n5040.961 - 1500 28.643 1\n\
                    5040.961 - 1500 -0.002 1\n5041.000 # 1500\n";
    assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
}

#[test]
fn an_exported_mm_link_log_counts_in_whole_milliseconds() {
    let scratch = Scratch::new();
    let path = scratch.file("mm.log");
    let mut export = MmLinkExport::create(&path, Direction::Ack, 1_744_824_396_327).unwrap();
    for found in [
        record(43_900, Event::AckSend, 1, 80, 0),
        record(44_000, Event::AckOpportunity, 0, 1504, 0),
        // Arrived at 43.900 ms and left at 44.100 ms: one tick of mahimahi's clock.
        record(44_100, Event::AckDeliver, 1, 80, 200),
        record(44_100, Event::AckDeliver, 1, 80, -2_000),
        record(45_000, Event::AckDrop, 1, 80, 0),
    ] {
        export.write(&found).unwrap();
    }
    assert_eq!(export.finish().unwrap(), 8);
    let expected = "# mahimahi mm-link (Downlink) [written by dumbbell]\n# init timestamp: 1744824396327\n\
                    # base timestamp: 0\n43 + 80\n44 # 1504\n44 - 80 1\n44 - 80 0\n45 d 1 80\n";
    assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
}

#[test]
fn an_export_that_does_not_finish_leaves_nothing_behind() {
    let scratch = Scratch::new();
    drop(MergedExport::create(scratch.file("x.log"), Direction::Data, 0).unwrap());
    drop(MmLinkExport::create(scratch.file("y.log"), Direction::Data, 0).unwrap());
    assert!(scratch.list().is_empty());
    assert!(MergedExport::create(scratch.file("missing/x.log"), Direction::Data, 0).is_err());
}
