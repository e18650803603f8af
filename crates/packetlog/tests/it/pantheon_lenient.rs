//! Logs that Pantheon would not write but its analysis accepts. The import accepts them and reports oddities.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests use files and fail by panicking")]

use crate::common::{Scratch, collect, record, text};
use packetlog::pantheon::{Direction, Imported, Input, Log, MergedExport, RawPair, import_run};
use packetlog::{Error, PacketLogReader, PacketLogWriter, STEP_BACK_NS};
use proptest::prelude::*;
use record::{Event, Record};
use std::fmt::Write as _;
use std::io::Write as _;

const HEADER: &str = "# init timestamp: 1744824396327.000\n";

fn read(body: impl AsRef<[u8]>) -> Result<(Vec<Record>, Imported), Error> {
    collect(Log::Merged(text("a.log", body).leniently()), Direction::Data)
}

fn complaint(body: impl AsRef<[u8]>) -> String {
    read(body).unwrap_err().to_string()
}

fn remarks(imported: &Imported) -> Vec<String> {
    imported.oddities.iter().map(ToString::to_string).collect()
}

#[test]
fn a_clock_that_steps_back_keeps_the_order_of_the_lines_and_is_told() {
    let log = format!("{HEADER}5.000 + 100 1\n4.847 + 200 1\n6.000 - 100 1.000 1\n5.800 - 200 0.953 1\n");
    let (records, imported) = read(&log).unwrap();
    let expected = [
        record(5_000, Event::Send, 1, 100, 0),
        record(4_847, Event::Send, 1, 200, 0),
        record(6_000, Event::Deliver, 1, 100, 1_000),
        record(5_800, Event::Deliver, 1, 200, 953),
    ];
    assert_eq!(records, expected);
    let remark =
        "a.log:3: 2 lines earlier than a line before (first here): the clock stepped back by up to 0.2 ms";
    assert_eq!(remarks(&imported), [remark]);
    let far = complaint("1001.001 + 1 1\n1.000 + 1 1\n");
    assert_eq!(far, "a.log:2: expected a time at most 1 s before that of a line above, found '1.000 + 1 1'");
    assert_eq!(read("1001.000 + 1 1\n1.000 + 1 1\n").unwrap().0.len(), 2);
}

#[test]
fn times_out_of_all_reason_are_refused() {
    let late = complaint("1.000 + 1 1\n1000000000.001 + 1 1\n");
    assert!(late.starts_with("a.log:2: expected a time of at most 1000000 s after the log's zero"), "{late}");
    assert!(complaint("-1000000000.001 + 1 1\n").starts_with("a.log:1: expected a time of at most"));
    assert_eq!(read("1000000000.000 + 1 1\n").unwrap().0.len(), 1);
    let log =
        |init: &str| Log::Merged(text(init, format!("# init timestamp: {init}\n1.000 + 1 1\n")).leniently());
    let far = import_run(log("1000.0"), log("1000001000.001"), &mut |_| Ok(())).unwrap_err().to_string();
    assert_eq!(far, "1000001000.001: starts more than 1000000 s before or after the log that it belongs to");
    assert_eq!(import_run(log("1000.0"), log("1000001000.0"), &mut |_| Ok(())).unwrap().records, 2);
}

#[test]
fn such_a_log_is_kept_and_written_again_as_it_was() {
    let log = format!("{HEADER}5.000 + 100 1\n4.847 + 200 1\n6.000 - 100 1.000 1\n5.800 - 200 0.953 1\n");
    let (records, _) = read(&log).unwrap();
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    let mut writer = PacketLogWriter::create_as_logged(&path).unwrap();
    records.iter().try_for_each(|record| writer.write(record)).unwrap();
    writer.finish().unwrap();
    let again: Vec<_> = PacketLogReader::open(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(again, records);
    let out = scratch.file("x.log");
    let mut export = MergedExport::create(&out, Direction::Data, 1_744_824_396_327_000).unwrap();
    again.iter().try_for_each(|record| export.write(record)).unwrap();
    export.finish().unwrap();
    assert_eq!(std::fs::read_to_string(out).unwrap(), log);
    // Logs of dumbbell are in time order. An imported log has a limited backward step.
    let (late, early) = (record(2_000_000, Event::Send, 1, 1, 0), record(999_999, Event::Send, 1, 1, 0));
    let mut ours = PacketLogWriter::create(scratch.file("ours.parquet")).unwrap();
    ours.write(&late).unwrap();
    assert!(ours.write(&Record { time_ns: late.time_ns - 1, ..early }).is_err());
    let mut theirs = PacketLogWriter::create_as_logged(scratch.file("theirs.parquet")).unwrap();
    theirs.write(&late).unwrap();
    theirs.write(&Record { time_ns: late.time_ns - STEP_BACK_NS, ..early }).unwrap();
    assert!(theirs.write(&early).is_err());
}

#[test]
fn times_before_the_logs_zero_move_the_zero() {
    let log = format!("{HEADER}-0.250 + 100 1\n-1.5 + 100 1\n2.000 - 100 2.250 1\n");
    let (records, imported) = read(log).unwrap();
    let times: Vec<_> = records.iter().map(|record| record.time_ns).collect();
    assert_eq!(times, [1_250_000, 0, 3_500_000]);
    assert_eq!((imported.zero_ns, imported.init_us), (1_500_000, Some(1_744_824_396_325_500)));
    let expected = [
        "a.log:3: 1 line earlier than a line before: the clock stepped back by 1.25 ms",
        "a.log:2: 2 lines before the log's zero (first here), by up to 1.5 ms",
    ];
    assert_eq!(remarks(&imported), expected);
    assert_eq!(complaint("# init timestamp: 1.000\n-2.000 + 1 1\n"), "a.log: starts before 1970");
    // A log of 2016 does not contain its start time.
    assert_eq!(read("-2.000 + 1 1\n").unwrap().1.init_us, None);
}

#[test]
fn blanks_marks_decimals_and_numbers_as_python_takes_them() {
    let log = "\u{feff}# init timestamp: 5.0000\n  1.0001 + 1500 1\n1e1 - 1500 8.9999996 1\n # a remark\n";
    let (records, imported) = read(log).unwrap();
    let first = Record { time_ns: 1_000_100, ..record(0, Event::Send, 1, 1500, 0) };
    let second = Record { one_way_delay_ns: 9_000_000, ..record(10_000, Event::Deliver, 1, 1500, 0) };
    assert_eq!((records, imported.init_us), (vec![first, second], Some(5_000)));
    let expected = [
        "a.log:2: 2 lines with more than 3 decimals (first here): delays count in whole us, times in whole ns",
        "a.log:2: 1 line with blanks at the start",
        "a.log:1: 2 lines with numbers in another notation than Pantheon's (first here)",
        "a.log:1: a byte order mark at the start, left out",
    ];
    assert_eq!(remarks(&imported), expected);
    for strict in [log, "1.0001 + 1 1\n", " 1 + 1 1\n", "-1.000 + 1 1\n"] {
        assert!(collect(Log::Merged(text("a.log", strict)), Direction::Data).is_err(), "{strict}");
    }
}

#[test]
fn a_whole_last_line_without_a_newline_is_taken_and_a_part_of_one_is_not() {
    let tagged = format!("{HEADER}1.000 + 1500 1\n2.000 # 1504\n3.000 + 1500 12\n");
    let untagged = "1.000 + 1500\n9.000 - 1500 8.000\n10.000 + 40\n";
    let whole = [
        (tagged.as_str(), "4.000 + 700 1"),
        (&tagged, "4.000 - 1500 3.000 12"),
        (&tagged, "4.000 # 1504"),
        (untagged, "14.000 + 40"),
        (untagged, "14.000 - 40 4.000"),
    ];
    for (before, last) in whole {
        let (records, imported) = read(format!("{before}{last}")).unwrap();
        assert_eq!(records.len(), 4, "{last}");
        assert!(remarks(&imported)[0].ends_with("no newline at the end of the last line, which is whole"));
    }
    let cut = [
        (tagged.as_str(), "4.0"),
        (&tagged, "4.000 +"),
        (&tagged, "4.000 + 15"),
        (&tagged, "4.000 - 1500 3.0"),
        (&tagged, "4.000 - 1500 3.000"),
        (&tagged, "4.000 - 1500 3.000 "),
        (&tagged, "4.000 # 15"),
        (untagged, "14.000 + 4"),
        (untagged, "14.000 - 40 4.00"),
        (untagged, "14.000 - 40"),
    ];
    for (before, last) in cut {
        let line = before.lines().count() + 1;
        let message = complaint(format!("{before}{last}"));
        assert!(message.starts_with(&format!("a.log:{line}: ")), "{message}");
    }
    assert!(complaint(format!("{tagged}4.000 + 15")).contains("the log is cut off"));
    assert!(complaint(format!("{tagged}4.000 + 15\0\0\0\n")).starts_with("a.log:5: expected"));
}

#[test]
fn raw_logs_whose_clock_steps_back_are_merged_by_their_lines() {
    let raw = |lines: &str, kind: &str| text("raw.log", format!("# {kind}: 1000.000\n{lines}")).leniently();
    let pair = RawPair {
        egress: raw("1.000 - 0 - 100\n0.900 - 1 - 100\n", "egress"),
        ingress: raw("5.000 - 0 - 100\n5.100 - 1 - 100\n", "ingress"),
        offsets: packetlog::pantheon::ClockOffsets::default(),
    };
    let (records, imported) = collect(Log::Raw(pair), Direction::Data).unwrap();
    let times: Vec<_> =
        records.iter().map(|record| (record.time_ns / 1000, record.one_way_delay_ns / 1000)).collect();
    assert_eq!(times, [(1_000, 0), (900, 0), (5_000, 4_000), (5_100, 4_200)]);
    let remark = "raw.log:3: 1 line earlier than a line before: the clock stepped back by 0.1 ms";
    assert_eq!(remarks(&imported), [remark]);
    let link = text("mm.log", "5 + 1504\n4 + 1504\n").leniently();
    let (records, imported) = collect(Log::MmLink(link), Direction::Data).unwrap();
    assert_eq!(records[1].time_ns, 4_000_000);
    assert!(remarks(&imported)[0].starts_with("mm.log:2: 1 line earlier"));
}

#[test]
fn compressed_logs_are_read_as_they_come_and_cut_ones_refused() {
    let log = format!("{HEADER}1.000 + 1500 1\n2.000 - 1500 1.000 1\n");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(log.as_bytes()).unwrap();
    let zstd = zstd::stream::encode_all(log.as_bytes(), 1).unwrap();
    let scratch = Scratch::new();
    for (name, packed) in [("a.log.gz", gzip.finish().unwrap()), ("a.log.zst", zstd)] {
        let path = scratch.file(name);
        std::fs::write(&path, &packed).unwrap();
        let (records, _) = collect(Log::Merged(Input::open(&path).unwrap()), Direction::Data).unwrap();
        assert_eq!(records.len(), 2);
        std::fs::write(&path, &packed[..packed.len() - 9]).unwrap();
        let cut = collect(Log::Merged(Input::open(&path).unwrap()), Direction::Data).unwrap_err().to_string();
        assert!(cut.starts_with("cannot read ") && cut.contains(name), "{cut}");
    }
    assert!(Input::open("/dev/zero").is_err());
    assert_eq!(text("a.log", "12345").bytes(5).unwrap(), b"12345");
    assert!(text("a.log", "123456").bytes(5).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_read_strictly_is_read_leniently_without_a_remark(
        steps in prop::collection::vec((0u32..3_000_000, 0usize..3, 0u32..4, 1u32..2000, -5_000i64..5_000), 1..60),
    ) {
        let mut at_us = 0;
        let mut log = HEADER.to_owned();
        for (step, kind, flow, size, delay_us) in steps {
            at_us += u64::from(step);
            let delay = format!("{}{}.{:03}", if delay_us < 0 { "-" } else { "" }, delay_us.abs() / 1000, delay_us.abs() % 1000);
            let tail = if flow == 0 { String::new() } else { format!(" {flow}") };
            let line = [format!("+ {size}{tail}"), format!("- {size} {delay}{tail}"), format!("# {size}")];
            writeln!(log, "{}.{:03} {}", at_us / 1000, at_us % 1000, line[kind]).unwrap();
        }
        let strictly = collect(Log::Merged(text("a.log", &log)), Direction::Data).unwrap();
        prop_assert_eq!(read(&log).unwrap(), strictly);
    }
}
