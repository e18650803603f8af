//! Reading packet logs back, in bounded memory.

use crate::Error;
use crate::columns::{
    EVENTS_KEY, FORMAT_KEY, ORDER_KEY, PACKETS_FORMAT, STEP_BACK_NS, check_file, event_list, packets_schema,
};
use crate::regular::open_regular;
use crate::rows::Rows;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use record::Record;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Rows decoded at a time.
const BATCH_ROWS: usize = 1 << 13;
/// Most bytes of a column of a row group, which may be decoded at once; ours have 2 MiB.
const MOST_CHUNK_BYTES: i64 = 1 << 26;

/// Streams the records of a packet log, in time order (those of a log from elsewhere: as it had them). After an error it yields nothing more.
pub struct PacketLogReader {
    path: PathBuf,
    file: SerializedFileReader<File>,
    rows: u64,
    next_group: usize,
    columns: Option<Columns>,
    batch: Rows,
    next_row: usize,
    least_ns: u64,
    step_back_ns: u64,
}

impl PacketLogReader {
    /// Opens a packet log; anything else, and a log that was cut off, is an error that says so.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let file = open_parquet(&path)?;
        let expected = [(FORMAT_KEY, PACKETS_FORMAT.to_owned()), (EVENTS_KEY, event_list())];
        let schema = packets_schema().map_err(|e| Error::parquet(&path, "read", e))?;
        let metadata = file.metadata().file_metadata();
        check_file(&path, metadata, &expected, &schema)?;
        let rows = metadata.num_rows().unsigned_abs();
        let mut pairs = metadata.key_value_metadata().into_iter().flatten();
        let step_back_ns = if pairs.any(|pair| pair.key == ORDER_KEY) { STEP_BACK_NS } else { 0 };
        Ok(Self {
            path,
            file,
            rows,
            next_group: 0,
            columns: None,
            batch: Rows::default(),
            next_row: 0,
            least_ns: 0,
            step_back_ns,
        })
    }

    /// Number of records in the log.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Passes the remaining records to `visit` and returns how many there were.
    pub fn for_each(mut self, mut visit: impl FnMut(&Record)) -> Result<u64, Error> {
        let mut seen = 0;
        while let Some(record) = self.read()? {
            visit(&record);
            seen += 1;
        }
        Ok(seen)
    }

    /// The next record.
    #[inline]
    pub fn read(&mut self) -> Result<Option<Record>, Error> {
        if self.next_row == self.batch.len() && !self.refill()? {
            return Ok(None);
        }
        let row = self.next_row;
        self.next_row += 1;
        match self.batch.record(row) {
            Some(record) if record.time_ns >= self.least_ns => {
                self.least_ns = self.least_ns.max(record.time_ns.saturating_sub(self.step_back_ns));
                Ok(Some(record))
            }
            bad => Err(self.give_up(bad, row)),
        }
    }

    /// Decodes the next batch; false at the end of the log.
    fn refill(&mut self) -> Result<bool, Error> {
        self.next_row = 0;
        self.batch.clear();
        let filled = self.decode_batch();
        match filled {
            Ok(filled) => Ok(filled),
            Err(error) => {
                self.stop();
                Err(Error::parquet(&self.path, "read", error))
            }
        }
    }

    fn decode_batch(&mut self) -> Result<bool, ParquetError> {
        loop {
            if let Some(columns) = &mut self.columns {
                if columns.read(&mut self.batch)? {
                    return Ok(true);
                }
                self.columns = None;
            }
            if self.next_group == self.file.num_row_groups() {
                return Ok(false);
            }
            let group = self.file.get_row_group(self.next_group)?;
            self.columns = Some(Columns::open(group.as_ref())?);
            self.next_group += 1;
        }
    }

    fn stop(&mut self) {
        self.columns = None;
        self.next_group = self.file.num_row_groups();
        self.batch.clear();
        self.next_row = 0;
    }

    #[cold]
    fn give_up(&mut self, bad: Option<Record>, row: usize) -> Error {
        let problem = match bad {
            Some(record) => {
                format!(
                    "is not in time order: {} ns follows {} ns",
                    record.time_ns,
                    self.least_ns + self.step_back_ns
                )
            }
            None => format!("has an unknown event code {}", self.batch.event[row]),
        };
        self.stop();
        Error::file(&self.path, problem)
    }
}

impl Iterator for PacketLogReader {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Opens any Parquet file; the library's complaints about the footer are replaced by one line that people understand.
pub(crate) fn open_parquet(path: &Path) -> Result<SerializedFileReader<File>, Error> {
    let file = open_regular(path)?;
    let length = file.metadata().map_err(|e| Error::io(path, "read", e))?.len();
    let reader = SerializedFileReader::new(file).map_err(|error| match error {
        ParquetError::External(_) => Error::parquet(path, "read", error),
        _ => Error::file(path, format!("is no complete Parquet file (cut off, or of another kind): {error}")),
    })?;
    for chunk in reader.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns) {
        // The library panics on a footer that is damaged in these fields.
        if !lies_inside(chunk, length) {
            return Err(Error::file(path, "is damaged: its footer points outside the file"));
        }
        let bytes = chunk.uncompressed_size();
        if bytes > MOST_CHUNK_BYTES {
            let problem = format!("has {bytes} bytes of a column in one piece: at most {MOST_CHUNK_BYTES}");
            return Err(Error::file(path, problem));
        }
    }
    Ok(reader)
}

fn lies_inside(chunk: &ColumnChunkMetaData, file_bytes: u64) -> bool {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    match (u64::try_from(start), u64::try_from(chunk.compressed_size())) {
        (Ok(start), Ok(length)) => start.checked_add(length).is_some_and(|end| end <= file_bytes),
        _ => false,
    }
}

/// The typed column readers of one row group.
struct Columns {
    time_ns: ColumnReaderImpl<Int64Type>,
    flow: ColumnReaderImpl<Int32Type>,
    event: ColumnReaderImpl<Int32Type>,
    seq: ColumnReaderImpl<Int64Type>,
    size_bytes: ColumnReaderImpl<Int32Type>,
    data_bytes: ColumnReaderImpl<Int32Type>,
    one_way_delay_ns: ColumnReaderImpl<Int64Type>,
}

impl Columns {
    fn open(group: &dyn RowGroupReader) -> Result<Self, ParquetError> {
        Ok(Self {
            time_ns: open_column(group, 0)?,
            flow: open_column(group, 1)?,
            event: open_column(group, 2)?,
            seq: open_column(group, 3)?,
            size_bytes: open_column(group, 4)?,
            data_bytes: open_column(group, 5)?,
            one_way_delay_ns: open_column(group, 6)?,
        })
    }

    /// Fills an empty batch; false at the end of the row group.
    fn read(&mut self, batch: &mut Rows) -> Result<bool, ParquetError> {
        let rows = read_column(&mut self.time_ns, &mut batch.time_ns)?;
        let others = [
            read_column(&mut self.flow, &mut batch.flow)?,
            read_column(&mut self.event, &mut batch.event)?,
            read_column(&mut self.seq, &mut batch.seq)?,
            read_column(&mut self.size_bytes, &mut batch.size_bytes)?,
            read_column(&mut self.data_bytes, &mut batch.data_bytes)?,
            read_column(&mut self.one_way_delay_ns, &mut batch.one_way_delay_ns)?,
        ];
        if others.iter().any(|&other| other != rows) {
            return Err(ParquetError::General("the columns differ in length".to_owned()));
        }
        Ok(rows > 0)
    }
}

pub(crate) fn open_column<T: DataType>(
    group: &dyn RowGroupReader,
    index: usize,
) -> Result<ColumnReaderImpl<T>, ParquetError> {
    T::get_column_reader(group.get_column_reader(index)?)
        .ok_or_else(|| ParquetError::General(format!("column {index} has another type")))
}

/// Reads up to one batch of a column without nulls.
pub(crate) fn read_column<T: DataType>(
    column: &mut ColumnReaderImpl<T>,
    values: &mut Vec<T::T>,
) -> Result<usize, ParquetError> {
    while values.len() < BATCH_ROWS {
        let (read, _, _) = column.read_records(BATCH_ROWS - values.len(), None, None, values)?;
        if read == 0 {
            break;
        }
    }
    Ok(values.len())
}
