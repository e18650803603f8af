//! Opening of untrusted Parquet files. The footer is checked before anything is decoded.

use crate::Error;
use crate::regular::LogFile;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use std::fs::File;
use std::ops::Range;

/// Maximum bytes of a column in a row group, which may be decoded at once. Files of dumbbell have 2 MiB.
const MOST_CHUNK_BYTES: i64 = 1 << 26;

/// Maximum rows of a row group: this many 8-byte values take [`MOST_CHUNK_BYTES`]. Files of dumbbell have 2^18 rows per
/// group, files rewritten by other tools 2^20 by default.
const MOST_GROUP_ROWS: u64 = 1 << 23;

/// Maximum rows per byte of a file.
///
/// Packet logs of CUBIC and BBR have 0.2 rows per byte. The most regular known runs have 8 (`udp-cbr` of 12 Mbit/s over
/// 24 Mbit/s for 300 s) and 26 (an opportunity per millisecond in both directions for 1200 s, and hardly a packet);
/// their flow samples have 5. Rows with only a constant step in time have 55 per byte as dumbbell writes them, samples
/// 52. The limit is 37 times as high, since other tools may write larger row groups.
const MOST_ROWS_PER_BYTE: u64 = 1 << 11;

/// Opens any Parquet file. Also returns the file. One readable line replaces the library's messages on the footer.
pub(crate) fn open_parquet(log: &LogFile) -> Result<(SerializedFileReader<File>, File), Error> {
    let path = log.path();
    let file = log.open()?;
    let same = file.try_clone().map_err(|e| Error::io(path, "read", e))?;
    let length = file.metadata().map_err(|e| Error::io(path, "read", e))?.len();
    let reader = SerializedFileReader::new(file).map_err(|error| match error {
        ParquetError::External(_) => Error::parquet(path, "read", error),
        _ => Error::file(path, format!("is no complete Parquet file (cut off, or of another kind): {error}")),
    })?;
    let problem = wrong_chunks(reader.metadata(), length).or_else(|| wrong_rows(reader.metadata(), length));
    match problem {
        Some(problem) => Err(Error::file(path, problem)),
        None => Ok((reader, same)),
    }
}

/// Returns the problem if columns are outside the file of `length` bytes, are too long, or overlap.
fn wrong_chunks(footer: &ParquetMetaData, length: u64) -> Option<String> {
    let mut places = Vec::new();
    for chunk in footer.row_groups().iter().flat_map(RowGroupMetaData::columns) {
        // The library panics if these fields of a footer are damaged.
        let Some(place) = place(chunk).filter(|place| place.end <= length) else {
            return Some("is damaged: its footer points outside the file".to_owned());
        };
        let bytes = chunk.uncompressed_size();
        if bytes > MOST_CHUNK_BYTES {
            return Some(format!("has {bytes} bytes of a column in one piece: at most {MOST_CHUNK_BYTES}"));
        }
        places.push(place);
    }
    // Otherwise one piece of the file under many names would be any number of rows.
    places.sort_unstable_by_key(|place| (place.start, place.end));
    let overlap = places.windows(2).any(|pair| pair[1].start < pair[0].end);
    overlap.then(|| "is damaged: two of its columns lie in the same place".to_owned())
}

/// Returns the byte range of a row group's column in its file; `None` if the footer has negative numbers.
pub(crate) fn place(chunk: &ColumnChunkMetaData) -> Option<Range<u64>> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let start = u64::try_from(start).ok()?;
    let length = u64::try_from(chunk.compressed_size()).ok()?;
    Some(start..start.checked_add(length)?)
}

/// Returns the problem if the footer's numbers of rows differ, or are too large for a file of `length` bytes.
fn wrong_rows(footer: &ParquetMetaData, length: u64) -> Option<String> {
    let claimed = footer.file_metadata().num_rows();
    let mut rows: u64 = 0;
    for group in footer.row_groups() {
        let of_group = group.num_rows().unsigned_abs();
        if of_group > MOST_GROUP_ROWS {
            return Some(format!("has {of_group} rows in one row group: at most {MOST_GROUP_ROWS}"));
        }
        rows = rows.saturating_add(of_group);
    }
    if u64::try_from(claimed) != Ok(rows) {
        return Some(format!("is damaged: its footer claims {claimed} rows, its row groups {rows}"));
    }
    let most = length.saturating_mul(MOST_ROWS_PER_BYTE);
    (rows > most)
        .then(|| format!("is damaged: its footer claims {rows} rows: {length} bytes hold at most {most}"))
}
