//! The row groups of a Parquet file, decoded one batch of rows after the other.

use crate::Error;
use crate::footer::{open_parquet, place};
use crate::pages::wrong_pages;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Rows decoded at a time.
const BATCH_ROWS: usize = 1 << 13;

/// The typed column readers of one row group.
pub(crate) trait Columns: Sized {
    /// What the rows are decoded into.
    type Batch;

    fn open(group: &dyn RowGroupReader) -> Result<Self, ParquetError>;

    /// Fills an empty batch and returns the number of its rows; 0 at the end of the row group.
    fn read(&mut self, batch: &mut Self::Batch) -> Result<usize, ParquetError>;
}

/// A file with such columns.
pub(crate) struct Groups<C> {
    path: PathBuf,
    file: SerializedFileReader<File>,
    /// The same, as bytes.
    bytes: File,
    next_group: usize,
    columns: Option<C>,
    /// Rows of this row group that are still to come, says the footer.
    rows_left: u64,
}

impl<C: Columns> Groups<C> {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let (file, bytes) = open_parquet(path)?;
        Ok(Self { path: path.to_owned(), file, bytes, next_group: 0, columns: None, rows_left: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn metadata(&self) -> &FileMetaData {
        self.file.metadata().file_metadata()
    }

    /// Number of rows in the file.
    pub(crate) fn rows(&self) -> u64 {
        self.metadata().num_rows().unsigned_abs()
    }

    /// Fills an empty batch; false at the end of the file, and after an error.
    pub(crate) fn read(&mut self, batch: &mut C::Batch) -> Result<bool, Error> {
        // The library panics on some bytes that no writer makes.
        let filled = catch_unwind(AssertUnwindSafe(|| self.read_group(batch)))
            .unwrap_or_else(|_| Err(Error::file(&self.path, "is damaged: its rows cannot be decoded")));
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
            if self.next_group == self.file.num_row_groups() {
                return Ok(false);
            }
            let group = self.file.get_row_group(self.next_group).map_err(failed)?;
            for chunk in group.metadata().columns() {
                let problem = place(chunk).and_then(|place| wrong_pages(&self.bytes, chunk, place));
                if let Some(problem) = problem {
                    return Err(Error::file(&self.path, problem));
                }
            }
            self.rows_left = group.metadata().num_rows().unsigned_abs();
            self.columns = Some(C::open(group.as_ref()).map_err(failed)?);
            self.next_group += 1;
        }
    }

    /// Nothing more is read.
    pub(crate) fn stop(&mut self) {
        self.columns = None;
        self.next_group = self.file.num_row_groups();
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

/// The number of rows that all columns of a batch have.
pub(crate) fn same_length<const N: usize>(lengths: [usize; N]) -> Result<usize, ParquetError> {
    if lengths.iter().any(|&length| length != lengths[0]) {
        return Err(ParquetError::General("the columns differ in length".to_owned()));
    }
    Ok(lengths[0])
}
