//! Round trips of packet logs and tables of samples. Unfinished files are removed.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests use files and fail by panicking")]

use crate::common::{Scratch, record};
use packetlog::{
    Error, Key, PacketLogReader, PacketLogWriter, Sample, SampleTable, SampleWriter, read_samples,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::Int64Type;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use record::{Event, Record};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

/// Number of rows: more than two row groups of 2^18.
const MANY: u64 = 600_000;

fn numbered(row: u64) -> Record {
    Record {
        time_ns: row * 1_000,
        flow: (row % 7) as u32,
        event: record::Event::ALL[(row % 14) as usize],
        seq: row / 3,
        size_bytes: (row % 1501) as u32,
        data_bytes: (row % 1413) as u32,
        one_way_delay_ns: (row % 1_000) as i64 - 500,
    }
}

fn write(path: &Path, records: impl IntoIterator<Item = Record>) -> u64 {
    let mut writer = PacketLogWriter::create(path).unwrap();
    for record in records {
        writer.write(&record).unwrap();
    }
    writer.finish().unwrap()
}

fn read(path: &Path) -> Result<Vec<Record>, Error> {
    PacketLogReader::open(path)?.collect()
}

fn read_error(path: &Path) -> String {
    read(path).unwrap_err().to_string()
}

#[test]
fn several_row_groups_come_back_unchanged() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    assert_eq!(write(&path, (0..MANY).map(numbered)), MANY);
    let reader = PacketLogReader::open(&path).unwrap();
    assert_eq!(reader.rows(), MANY);
    let mut row = 0;
    let seen = reader.for_each(|record| {
        assert_eq!(*record, numbered(row));
        row += 1;
    });
    assert_eq!(seen.unwrap(), MANY);
    assert_eq!(scratch.list(), ["packets.parquet"]);
}

#[test]
fn extreme_values_come_back_unchanged() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    let least = Record {
        time_ns: 0,
        flow: 0,
        event: Event::Send,
        seq: 0,
        size_bytes: 0,
        data_bytes: 0,
        one_way_delay_ns: i64::MIN,
    };
    let most = Record {
        time_ns: u64::MAX,
        flow: u32::MAX,
        event: Event::AckOpportunity,
        seq: u64::MAX,
        size_bytes: u32::MAX,
        data_bytes: u32::MAX,
        one_way_delay_ns: i64::MAX,
    };
    write(&path, [least, most]);
    assert_eq!(read(&path).unwrap(), [least, most]);
}

#[test]
fn a_log_without_records_is_a_log() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    assert_eq!(write(&path, []), 0);
    assert_eq!(read(&path).unwrap(), []);
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let scratch = Scratch::new();
    let (a, b) = (scratch.file("a.parquet"), scratch.file("b.parquet"));
    write(&a, (0..MANY).map(numbered));
    write(&b, (0..MANY).map(numbered));
    assert!(std::fs::read(a).unwrap() == std::fs::read(b).unwrap());
}

#[test]
fn the_file_explains_its_event_codes_and_has_the_documented_columns() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    write(&path, [numbered(0)]);
    let file = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let metadata = file.metadata().file_metadata();
    assert_eq!(metadata.created_by(), Some("dumbbell"));
    let pairs = metadata.key_value_metadata().unwrap();
    let value = |key: &str| pairs.iter().find(|pair| pair.key == key).unwrap().value.clone().unwrap();
    assert_eq!(value("dumbbell.format"), "packets 1");
    assert_eq!(
        value("dumbbell.events"),
        "0=send,1=enqueue,2=dequeue,3=drop,4=mark,5=deliver,6=opportunity,\
         7=ack_send,8=ack_drop,9=ack_mark,10=ack_deliver,11=ack_opportunity,\
         12=lost,13=acked,14=restored"
    );
    let columns = metadata.schema_descr().columns().iter();
    let columns: Vec<_> =
        columns.map(|c| format!("{} {:?}", c.name(), c.logical_type_ref().unwrap())).collect();
    let integer = |name: &str, bits: u8, signed: bool| {
        format!("{name} Integer(IntType {{ bit_width: {bits}, is_signed: {signed} }})")
    };
    let expected = [
        integer("time_ns", 64, false),
        integer("flow", 32, false),
        integer("event", 8, false),
        integer("seq", 64, false),
        integer("size_bytes", 32, false),
        integer("data_bytes", 32, false),
        integer("one_way_delay_ns", 64, true),
    ];
    assert_eq!(columns, expected);
}

#[test]
fn records_out_of_order_are_refused() {
    let scratch = Scratch::new();
    let mut writer = PacketLogWriter::create(scratch.file("packets.parquet")).unwrap();
    writer.write(&record(2, Event::Send, 1, 1500, 0)).unwrap();
    let message = writer.write(&record(1, Event::Send, 1, 1500, 0)).unwrap_err().to_string();
    assert!(
        message.ends_with("packets.parquet: records must be in time order, but 1000 ns follows 2000 ns"),
        "{message}"
    );
}

#[test]
fn a_writer_that_does_not_finish_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    let mut writer = PacketLogWriter::create(&path).unwrap();
    for row in 0..300_000 {
        writer.write(&numbered(row)).unwrap();
    }
    assert_eq!(scratch.list(), ["packets.parquet.tmp"]);
    drop(writer);
    assert!(scratch.list().is_empty());
}

#[test]
fn an_unfinished_rewrite_keeps_the_old_log() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    write(&path, [numbered(5)]);
    drop(PacketLogWriter::create(&path).unwrap());
    assert_eq!(read(&path).unwrap(), [numbered(5)]);
}

#[test]
fn an_unwritable_place_is_named() {
    let scratch = Scratch::new();
    let path = scratch.file("missing/packets.parquet");
    let message = PacketLogWriter::create(&path).unwrap_err().to_string();
    assert!(
        message.starts_with("cannot create ") && message.contains("missing/packets.parquet.tmp: "),
        "{message}"
    );
    let message = SampleWriter::create(&path, SampleTable::Flows).unwrap_err().to_string();
    assert!(message.starts_with("cannot create "), "{message}");
}

/// Returns true if files of this process end at 512 bytes, as on a full disk. Otherwise runs the test `name` in a
/// process with this limit.
#[cfg(target_os = "linux")]
fn is_on_a_full_disk(name: &str) -> bool {
    const MARK: &str = "FILES_END_AT_512_BYTES";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let limited = r#"trap "" XFSZ; ulimit -f 1; exec "$0" "$@""#;
    let mut command = std::process::Command::new("sh");
    command.args(["-c", limited]).arg(std::env::current_exe().unwrap());
    let done = command.args(["--exact", &format!("parquet::{name}")]).env(MARK, "1").output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
    false
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_write_or_finish_and_leaves_nothing_behind() {
    if !is_on_a_full_disk("a_full_disk_is_an_error_of_write_or_finish_and_leaves_nothing_behind") {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    for rows in [1, MANY * 3] {
        let mut writer = PacketLogWriter::create(&path).unwrap();
        let fed = (0..rows).try_for_each(|row| writer.write(&numbered(row)));
        let error = fed.and_then(|()| writer.finish().map(drop)).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
        let message = error.to_string();
        assert!(
            message.starts_with("cannot write ") && message.contains("packets.parquet: File too large"),
            "{message}"
        );
        assert!(scratch.list().is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_writer_that_failed_keeps_failing() {
    if !is_on_a_full_disk("a_writer_that_failed_keeps_failing") {
        return;
    }
    let scratch = Scratch::new();
    let mut writer = PacketLogWriter::create(scratch.file("packets.parquet")).unwrap();
    let rows = MANY * 3;
    let first_failure = (0..rows).find(|&row| writer.write(&numbered(row)).is_err()).unwrap();
    for row in first_failure..rows {
        let message = writer.write(&numbered(row)).unwrap_err().to_string();
        assert!(message.ends_with("packets.parquet: cannot write: an earlier write failed"), "{message}");
    }
    assert!(writer.finish().is_err());
    assert!(scratch.list().is_empty());
}

#[cfg(unix)]
#[test]
fn what_lies_at_the_temporary_name_is_replaced_and_a_link_there_is_not_followed() {
    let scratch = Scratch::new();
    let (path, victim) = (scratch.file("packets.parquet"), scratch.file("mine"));
    std::fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink(&victim, scratch.file("packets.parquet.tmp")).unwrap();
    PacketLogWriter::create(&path).unwrap().finish().unwrap();
    assert_eq!(std::fs::read(&victim).unwrap(), b"mine");
    assert!(!path.is_symlink());
    std::fs::write(scratch.file("packets.parquet.tmp"), "of a process that was killed").unwrap();
    PacketLogWriter::create(&path).unwrap().finish().unwrap();
    std::fs::create_dir(scratch.file("packets.parquet.tmp")).unwrap();
    let message = PacketLogWriter::create(&path).unwrap_err().to_string();
    assert!(message.starts_with("cannot replace ") && message.contains("packets.parquet.tmp: "), "{message}");
}

#[test]
fn files_that_are_no_packet_log_are_refused() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    assert!(read_error(&path).starts_with("cannot open "));
    for foreign in [&b""[..], b"PAR1", b"0.000 + 1500 1\n", &[0; 4096]] {
        std::fs::write(&path, foreign).unwrap();
        let message = read_error(&path);
        assert!(message.contains("packets.parquet: is no complete Parquet file"), "{message}");
    }
    let mut samples = SampleWriter::create(&path, SampleTable::Flows).unwrap();
    samples.flow(0, 1, "cwnd", "packets", 10.0).unwrap();
    samples.finish().unwrap();
    let message = read_error(&path);
    assert!(
        message.ends_with("has dumbbell.format = 'flows 1', but 'packets 1' is needed here"),
        "{message}"
    );
}

#[test]
fn a_log_cut_off_anywhere_is_refused() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    write(&path, (0..5_000).map(numbered));
    let whole = std::fs::read(&path).unwrap();
    for kept in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        std::fs::write(&path, &whole[..kept]).unwrap();
        let message = read_error(&path);
        assert!(message.contains("packets.parquet: "), "{message}");
    }
}

#[test]
fn damaged_logs_never_panic() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    write(&path, (0..5_000).map(numbered));
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(37) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&path, &damaged).unwrap();
        // A flipped bit of a value can go unnoticed. The test only requires that reading does not panic.
        let _ = read(&path);
    }
}

fn sample(time_ns: u64, key: Key, field: &str, unit: &str, value: f64) -> Sample {
    Sample { time_ns, key, field: Arc::from(field), unit: Arc::from(unit), value }
}

#[test]
fn samples_of_flows_come_back_unchanged() {
    let scratch = Scratch::new();
    let path = scratch.file("flows.parquet");
    let mut writer = SampleWriter::create(&path, SampleTable::Flows).unwrap();
    let mut expected = Vec::new();
    // 2 x 50,000 rows: more than one row group of 65,536.
    for step in 0..50_000u64 {
        for (field, unit, value) in [("cwnd", "packets", step as f64 / 3.0), ("state", "", -0.0)] {
            let flow = (step % 3) as u32 + 1;
            writer.flow(step, flow, field, unit, value).unwrap();
            expected.push(sample(step, Key::Flow(flow), field, unit, value));
        }
    }
    assert_eq!(writer.finish().unwrap(), 100_000);
    assert_eq!(read_samples(&path, SampleTable::Flows).unwrap(), expected);
}

#[test]
fn samples_of_links_come_back_unchanged() {
    let scratch = Scratch::new();
    let path = scratch.file("links.parquet");
    let mut writer = SampleWriter::create(&path, SampleTable::Links).unwrap();
    writer.link(0, "data.0", "queue", "bytes", 1500.0).unwrap();
    writer.link(0, "Verzögerung", "queue", "bytes", f64::INFINITY).unwrap();
    assert_eq!(writer.finish().unwrap(), 2);
    let expected = [
        sample(0, Key::Link(Arc::from("data.0")), "queue", "bytes", 1500.0),
        sample(0, Key::Link(Arc::from("Verzögerung")), "queue", "bytes", f64::INFINITY),
    ];
    assert_eq!(read_samples(&path, SampleTable::Links).unwrap(), expected);
    let message = read_samples(&path, SampleTable::Flows).unwrap_err().to_string();
    assert!(message.ends_with("has dumbbell.format = 'links 1', but 'flows 1' is needed here"), "{message}");
}

#[test]
fn a_sample_of_the_other_kind_is_refused_and_an_unfinished_table_leaves_nothing() {
    let scratch = Scratch::new();
    let mut writer = SampleWriter::create(scratch.file("links.parquet"), SampleTable::Links).unwrap();
    let message = writer.flow(0, 1, "cwnd", "packets", 1.0).unwrap_err().to_string();
    assert!(
        message.ends_with("links.parquet: is a table of Links, a sample of Flows was offered"),
        "{message}"
    );
    drop(writer);
    assert!(scratch.list().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_records_come_back_unchanged(
        rows in prop::collection::vec((any::<u32>(), any::<u32>(), 0usize..14, any::<u64>(), any::<(u32, u32)>(), any::<i64>()), 0..300)
    ) {
        let mut time_ns = 0;
        let records: Vec<_> = rows.into_iter().map(|(step, flow, event, seq, (size_bytes, data_bytes), one_way_delay_ns)| {
            time_ns += u64::from(step);
            let event = record::Event::ALL[event];
            Record { time_ns, flow, event, seq, size_bytes, data_bytes, one_way_delay_ns }
        }).collect();
        let scratch = Scratch::new();
        let path = scratch.file("packets.parquet");
        write(&path, records.iter().copied());
        prop_assert_eq!(read(&path).unwrap(), records);
    }
}

#[test]
fn a_column_in_one_huge_piece_is_refused_before_it_is_decoded() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    let schema = Arc::new(parse_message_type("message packets { required int64 time_ns; }").unwrap());
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut file =
        SerializedFileWriter::new(File::create(&path).unwrap(), schema, Arc::new(properties)).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    for _ in 0..9 {
        column.typed::<Int64Type>().write_batch(&vec![0; 1 << 20], None, None).unwrap();
    }
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 1 << 20);
    let refusal = PacketLogReader::open(&path).err().expect("too much at once").to_string();
    assert!(refusal.contains("bytes of a column in one piece: at most 67108864"), "{refusal}");
}

fn between(path: &Path, from_ns: u64, to_ns: u64) -> Result<Vec<Record>, Error> {
    PacketLogReader::open(path)?.rows_between(from_ns, to_ns).collect()
}

#[test]
fn rows_of_a_part_of_the_time_are_those_of_the_whole_log() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    write(&path, (0..MANY).map(numbered));
    let end = MANY * 1_000;
    for (from, to) in [
        (0, end),
        (0, 1),
        (1, 1_000),
        (262_144_000, 262_145_000),
        (262_143_000, 524_289_000),
        (end - 1, end),
        (end, u64::MAX),
        (5, 5),
    ] {
        let expected: Vec<_> =
            (0..MANY).map(numbered).filter(|record| (from..to).contains(&record.time_ns)).collect();
        assert!(between(&path, from, to).unwrap() == expected, "{from} to {to}");
    }
}

#[test]
fn rows_of_a_part_of_the_time_are_found_where_a_clock_stepped_back() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    // Steps back by 1 s around the border of two row groups.
    let time = |row: u64| if row < 262_100 { 1_000_000_000 + row * 10_000 } else { row * 10_000 };
    let records: Vec<_> = (0..400_000).map(|row| Record { time_ns: time(row), ..numbered(row) }).collect();
    let mut writer = PacketLogWriter::create_as_logged(&path).unwrap();
    for record in &records {
        writer.write(record).unwrap();
    }
    writer.finish().unwrap();
    for (from, to) in [(2_620_000_000, 2_622_000_000), (3_600_000_000, 3_700_000_000), (0, 1 << 40)] {
        let expected: Vec<_> =
            records.iter().copied().filter(|record| (from..to).contains(&record.time_ns)).collect();
        assert!(!expected.is_empty() && between(&path, from, to).unwrap() == expected, "{from} to {to}");
    }
}

#[test]
fn damaged_logs_are_refused_or_read_in_parts_without_a_crash() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    write(&path, (0..5_000).map(numbered));
    let bytes = fs::read(&path).unwrap();
    let damaged = scratch.file("damaged.parquet");
    for place in (0..bytes.len()).step_by(bytes.len() / 400) {
        let mut other = bytes.clone();
        other[place] ^= 0x55;
        fs::write(&damaged, &other).unwrap();
        match between(&damaged, 1_000_000, 2_000_000) {
            Ok(found) => assert!(found.iter().all(|record| (1_000_000..2_000_000).contains(&record.time_ns))),
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
}

#[test]
fn samples_of_a_part_of_the_time_are_those_of_the_whole_table() {
    let scratch = Scratch::new();
    let path = scratch.file("flows.parquet");
    let mut writer = SampleWriter::create(&path, SampleTable::Flows).unwrap();
    for row in 0..150_000_u64 {
        writer.flow(row * 1_000, 1, "cwnd", "packets", row as f64).unwrap();
    }
    writer.finish().unwrap();
    let (from, to) = (65_530_000, 131_100_000);
    let read = packetlog::SampleReader::open(&path, SampleTable::Flows).unwrap().rows_between(from, to);
    let values: Vec<f64> = read.map(|sample| sample.unwrap().value).collect();
    assert_eq!(values, (65_530..131_100).map(f64::from).collect::<Vec<_>>());
}
