//! Row groups of a Parquet file, decoded in batches of rows.

use crate::Error;
use crate::footer::open_parquet;
use crate::pages::check_pages;
use crate::regular::LogFile;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::statistics::Statistics;
use std::fs::File;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Number of rows decoded at a time.
const BATCH_ROWS: usize = 1 << 13;

/// Typed column readers of a row group.
pub(crate) trait Columns: Sized {
    /// Container of decoded rows.
    type Batch;

    fn open(group: &dyn RowGroupReader) -> Result<Self, ParquetError>;

    /// Fills an empty batch and returns the number of its rows; 0 at the end of the row group.
    fn read(&mut self, batch: &mut Self::Batch) -> Result<usize, ParquetError>;
}

/// Parquet file with such columns.
pub(crate) struct Groups<C> {
    path: PathBuf,
    file: SerializedFileReader<File>,
    /// File as bytes.
    bytes: File,
    next_group: usize,
    columns: Option<C>,
    /// Number of remaining rows of this row group by the footer.
    rows_left: u64,
    /// Range of the wanted times, ns; `None` for all times.
    wanted: Option<Range<u64>>,
    /// Earliest and latest time of this row group by the footer.
    claimed: Option<(u64, u64)>,
}

impl<C: Columns> Groups<C> {
    pub(crate) fn open(log: &LogFile) -> Result<Self, Error> {
        let (file, bytes) = open_parquet(log)?;
        Ok(Self {
            path: log.path().to_owned(),
            file,
            bytes,
            next_group: 0,
            columns: None,
            rows_left: 0,
            wanted: None,
            claimed: None,
        })
    }

    /// Limits reading to row groups that may contain these times. Their other rows are also read.
    pub(crate) fn only(&mut self, wanted: Range<u64>) {
        self.wanted = Some(wanted);
    }

    /// Returns true if the current row group may contain this time, by the footer.
    pub(crate) fn may_have(&self, time_ns: u64) -> bool {
        self.claimed.is_none_or(|(first, last)| (first..=last).contains(&time_ns))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn metadata(&self) -> &FileMetaData {
        self.file.metadata().file_metadata()
    }

    /// Returns the number of rows in the file.
    pub(crate) fn rows(&self) -> u64 {
        self.metadata().num_rows().unsigned_abs()
    }

    /// Fills an empty batch. Returns false at the end of the file and after an error.
    pub(crate) fn read(&mut self, batch: &mut C::Batch) -> Result<bool, Error> {
        let path = self.path.clone();
        let filled = decoded(&path, || self.read_group(batch));
        if filled.is_err() {
            self.stop();
        }
        filled
    }

    fn read_group(&mut self, batch: &mut C::Batch) -> Result<bool, Error> {
        let failed = |error| Error::parquet(&self.path, "read", error);
        loop {
            if let Some(columns) = &mut self.columns {
                let rows = columns.read(batch).map_err(failed)?;
                let left = self.rows_left.checked_sub(rows as u64);
                self.rows_left = left.filter(|&left| rows > 0 || left == 0).ok_or_else(|| {
                    let which = if rows > 0 { "more" } else { "fewer" };
                    Error::file(&self.path, format!("is damaged: it has {which} rows than its footer claims"))
                })?;
                if rows > 0 {
                    return Ok(true);
                }
                self.columns = None;
            }
            if let Some(wanted) = &self.wanted {
                let groups = self.file.metadata().row_groups().iter().skip(self.next_group);
                let is_outside = |times: (u64, u64)| times.1 < wanted.start || wanted.end <= times.0;
                self.next_group += groups.take_while(|group| times_of(group).is_some_and(is_outside)).count();
            }
            if self.next_group == self.file.num_row_groups() {
                return Ok(false);
            }
            let group = self.file.get_row_group(self.next_group).map_err(failed)?;
            for chunk in group.metadata().columns() {
                check_pages(&self.path, &self.bytes, chunk)?;
            }
            self.rows_left = group.metadata().num_rows().unsigned_abs();
            self.claimed = times_of(group.metadata());
            self.columns = Some(C::open(group.as_ref()).map_err(failed)?);
            self.next_group += 1;
        }
    }

    /// Stops reading.
    pub(crate) fn stop(&mut self) {
        self.columns = None;
        self.next_group = self.file.num_row_groups();
    }
}

/// Returns the earliest and latest time of a row group by the statistics of its first column; `None` if the footer
/// lacks them.
fn times_of(group: &RowGroupMetaData) -> Option<(u64, u64)> {
    // The deprecated fields have another order for unsigned numbers.
    match group.column(0).statistics().filter(|statistics| !statistics.is_min_max_deprecated())? {
        Statistics::Int64(times) => Some((*times.min_opt()? as u64, *times.max_opt()? as u64)),
        _ => None,
    }
}

/// Returns the result of `read` for the file at `path`. The library panics on some invalid bytes; this also becomes an
/// error.
pub(crate) fn decoded<T>(path: &Path, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(Error::file(path, "is damaged: its rows cannot be decoded")))
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

/// Returns the common number of rows of all columns of a batch.
pub(crate) fn same_length<const N: usize>(lengths: [usize; N]) -> Result<usize, ParquetError> {
    if lengths.iter().any(|&length| length != lengths[0]) {
        return Err(ParquetError::General("the columns differ in length".to_owned()));
    }
    Ok(lengths[0])
}
