//! Footers that claim more than their files contain. A few bytes must not cost hours or all memory.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests use files and fail by panicking")]

use crate::common::{Scratch, record};
use packetlog::{Error, PacketLogReader, PacketLogWriter, SampleReader, SampleTable, SampleWriter};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::Int64Type;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use record::Event;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

const ROWS: i64 = 20_000;

/// Writes a file with one column of zeros. It has `groups` row groups, each with `parts` batches of 2^20 rows and one
/// more row.
fn write_zeros(path: &Path, groups: usize, parts: usize) {
    let schema = Arc::new(parse_message_type("message packets { required int64 time_ns; }").unwrap());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_data_page_row_count_limit(usize::MAX)
        .build();
    let mut file =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
    for _ in 0..groups {
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        for _ in 0..parts {
            column.typed::<Int64Type>().write_batch(&vec![0; 1 << 20], None, None).unwrap();
        }
        column.typed::<Int64Type>().write_batch(&[0], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    file.close().unwrap();
}

fn write_packets(path: &Path) {
    let mut writer = PacketLogWriter::create(path).unwrap();
    for row in 0..ROWS as u64 {
        writer.write(&record(row * 7, Event::Send, 1, 1500, row as i64 % 17)).unwrap();
    }
    writer.finish().unwrap();
}

fn write_flows(path: &Path) {
    let mut writer = SampleWriter::create(path, SampleTable::Flows).unwrap();
    for row in 0..ROWS as u64 {
        writer.flow(row, 1, "cwnd", "packets", (row % 17) as f64).unwrap();
    }
    writer.finish().unwrap();
}

/// Replaces the footer's only row group by these row groups.
fn change_footer(path: &Path, groups: impl FnOnce(RowGroupMetaData) -> Vec<RowGroupMetaData>) {
    let bytes = fs::read(path).unwrap();
    let found = SerializedFileReader::new(File::open(path).unwrap()).unwrap().metadata().clone();
    let footer = ParquetMetaData::new(found.file_metadata().clone(), groups(found.row_group(0).clone()));
    let length = u32::from_le_bytes(*bytes[..bytes.len() - 4].last_chunk().unwrap()) as usize;
    let mut changed = bytes[..bytes.len() - 8 - length].to_vec();
    ParquetMetaDataWriter::new(&mut changed, &footer).finish().unwrap();
    fs::write(path, changed).unwrap();
}

/// Number of readable rows, and the error message at the end.
type End = (usize, String);

/// Returns the end of reading.
fn end<T>(opened: Result<impl Iterator<Item = Result<T, Error>>, Error>) -> End {
    let (mut read, mut problem) = (0, String::new());
    match opened {
        Err(error) => problem = error.to_string(),
        Ok(rows) => {
            for row in rows {
                assert!(problem.is_empty(), "nothing follows an error");
                match row {
                    Ok(_) => read += 1,
                    Err(error) => problem = error.to_string(),
                }
            }
        }
    }
    (read, problem)
}

/// Returns the ends of reading a packet log and a table of flows with changed footers.
fn ends(groups: impl Fn(RowGroupMetaData) -> Vec<RowGroupMetaData>) -> [End; 2] {
    let scratch = Scratch::new();
    let (packets, flows) = (scratch.file("packets.parquet"), scratch.file("flows.parquet"));
    write_packets(&packets);
    write_flows(&flows);
    change_footer(&packets, &groups);
    change_footer(&flows, &groups);
    [end(PacketLogReader::open(packets)), end(SampleReader::open(flows, SampleTable::Flows))]
}

fn with_rows(group: RowGroupMetaData, rows: i64) -> RowGroupMetaData {
    group.into_builder().set_num_rows(rows).build().unwrap()
}

#[test]
fn a_footer_that_is_only_written_again_changes_nothing() {
    for (read, problem) in ends(|group| vec![group]) {
        assert_eq!((read, problem.as_str()), (ROWS as usize, ""));
    }
}

#[test]
fn a_row_group_of_too_many_rows_is_refused_before_it_is_decoded() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    write_zeros(&path, 1, 8);
    let (_, problem) = end(PacketLogReader::open(&path));
    assert!(problem.ends_with("has 8388609 rows in one row group: at most 8388608"), "{problem}");
}

#[test]
fn more_rows_than_bytes_can_hold_are_refused_before_they_are_decoded() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    write_zeros(&path, 2, 1);
    let length = fs::metadata(&path).unwrap().len();
    let (_, problem) = end(PacketLogReader::open(&path));
    let most = length * 2048;
    let expected = format!("is damaged: its footer claims 2097154 rows: {length} bytes hold at most {most}");
    assert!(problem.ends_with(&expected), "{problem}");
}

#[test]
fn row_groups_that_share_their_bytes_are_refused() {
    for (read, problem) in ends(|group| vec![group; 2]) {
        assert_eq!(read, 0);
        assert!(problem.ends_with("is damaged: two of its columns lie in the same place"), "{problem}");
    }
}

#[test]
fn row_groups_that_do_not_add_up_are_refused() {
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    write_packets(&path);
    let mut bytes = fs::read(&path).unwrap();
    // The third field of the footer, a 64-bit number: 20000, as Thrift writes it. The numbers of its only row group
    // follow.
    let place = bytes.windows(4).position(|found| found == [0x16, 0xc0, 0xb8, 2]);
    bytes[place.unwrap() + 1] = 0xc2;
    fs::write(&path, bytes).unwrap();
    let (_, problem) = end(PacketLogReader::open(&path));
    assert!(problem.ends_with("is damaged: its footer claims 20001 rows, its row groups 20000"), "{problem}");
}

#[test]
fn what_is_decoded_beyond_the_rows_that_were_claimed_is_an_error_at_once() {
    // Rows are decoded 8192 at a time.
    for (read, problem) in ends(|group| vec![with_rows(group, 10_000)]) {
        assert_eq!(read, 8192);
        assert!(problem.ends_with("is damaged: it has more rows than its footer claims"), "{problem}");
    }
    for (read, problem) in ends(|group| vec![with_rows(group, ROWS + 1)]) {
        assert_eq!(read, ROWS as usize);
        assert!(problem.ends_with("is damaged: it has fewer rows than its footer claims"), "{problem}");
    }
}

#[test]
fn a_page_that_claims_more_bytes_than_its_column_has_is_not_decoded() {
    let with_chunks = |group: RowGroupMetaData, bytes: (i64, i64)| {
        let columns = group.columns().iter().map(|chunk| {
            let (compressed, whole) =
                (chunk.compressed_size() + bytes.0, chunk.uncompressed_size().min(bytes.1));
            let chunk = chunk.clone().into_builder().set_total_compressed_size(compressed);
            chunk.set_total_uncompressed_size(whole).build().unwrap()
        });
        let columns = columns.collect();
        vec![group.into_builder().set_column_metadata(columns).build().unwrap()]
    };
    for (read, problem) in ends(|group| with_chunks(group, (0, 9))) {
        assert_eq!(read, 0);
        assert!(
            problem.contains("is damaged: a page of ") && problem.ends_with("in a column of 9"),
            "{problem}"
        );
    }
    for (read, problem) in ends(|group| with_chunks(group, (-5, i64::MAX))) {
        assert_eq!(read, 0);
        assert!(problem.ends_with("is damaged: a page of it is longer than its column"), "{problem}");
    }
}
