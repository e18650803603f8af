//! Reading of sampled state in bounded memory.

use crate::columns::{FORMAT_KEY, check_file};
use crate::groups::{Columns, Groups, open_column, read_column, same_length};
use crate::regular::LogFile;
use crate::samples::Names;
use crate::{Error, Key, Sample, SampleTable};
use parquet::basic::Type;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of distinct names of fields, units and links. Each row is compared with them.
const MOST_NAMES: usize = 4096;
/// Maximum length of a name, bytes.
const MOST_NAME_BYTES: usize = 1024;

/// Iterator over the rows of a table of samples. Returns nothing more after an error.
pub struct SampleReader {
    groups: Groups<SampleColumns>,
    batch: Batch,
    rows: std::vec::IntoIter<Sample>,
    /// Range of the wanted times, ns; `None` for all times.
    wanted: Option<Range<u64>>,
}

impl SampleReader {
    /// Opens a table of samples. Another file or a truncated table is an error with a message.
    pub fn open(log: impl Into<LogFile>, table: SampleTable) -> Result<Self, Error> {
        let log = log.into();
        let path = log.path();
        let groups = Groups::open(&log)?;
        let schema = table.schema().map_err(|e| Error::parquet(path, "read", e))?;
        check_file(path, groups.metadata(), &[(FORMAT_KEY, table.format().to_owned())], &schema)?;
        Ok(Self { groups, batch: Batch::default(), rows: Vec::new().into_iter(), wanted: None })
    }

    /// Limits the samples to the times from `from_ns` to before `to_ns`. Only row groups with such times by the footer
    /// are read.
    #[must_use]
    pub fn rows_between(mut self, from_ns: u64, to_ns: u64) -> Self {
        self.groups.only(from_ns..to_ns);
        self.wanted = Some(from_ns..to_ns);
        self
    }

    /// Returns the number of samples in the table.
    pub fn rows(&self) -> u64 {
        self.groups.rows()
    }
}

impl Iterator for SampleReader {
    type Item = Result<Sample, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let wanted = self.wanted.as_ref();
            if let Some(sample) =
                self.rows.by_ref().find(|sample| wanted.is_none_or(|wanted| wanted.contains(&sample.time_ns)))
            {
                return Some(Ok(sample));
            }
            match self.groups.read(&mut self.batch) {
                Ok(true) => self.rows = std::mem::take(&mut self.batch.samples).into_iter(),
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Reads a whole table of samples.
pub fn read_samples(log: impl Into<LogFile>, table: SampleTable) -> Result<Vec<Sample>, Error> {
    SampleReader::open(log, table)?.collect()
}

/// Decoded samples and their shared names.
#[derive(Default)]
struct Batch {
    samples: Vec<Sample>,
    strings: Names<Arc<str>>,
}

impl Names<Arc<str>> {
    fn shared(&mut self, name: &str) -> Arc<str> {
        self.intern(|known| &**known == name, || Arc::from(name))
    }

    /// Returns the next batch of a column of names.
    fn column(
        &mut self,
        column: &mut ColumnReaderImpl<ByteArrayType>,
    ) -> Result<Vec<Arc<str>>, ParquetError> {
        let mut names = Vec::new();
        for bytes in batch_of(column)? {
            if bytes.len() > MOST_NAME_BYTES || self.len() > MOST_NAMES {
                let problem =
                    format!("more than {MOST_NAMES} names, or one of more than {MOST_NAME_BYTES} bytes");
                return Err(ParquetError::General(problem));
            }
            names.push(self.shared(bytes.as_utf8()?));
        }
        Ok(names)
    }
}

/// Typed column readers of a row group.
struct SampleColumns {
    time_ns: ColumnReaderImpl<Int64Type>,
    keys: Keys,
    field: ColumnReaderImpl<ByteArrayType>,
    unit: ColumnReaderImpl<ByteArrayType>,
    value: ColumnReaderImpl<DoubleType>,
}

/// Key column: flow numbers or link names.
enum Keys {
    Flows(ColumnReaderImpl<Int32Type>),
    Links(ColumnReaderImpl<ByteArrayType>),
}

impl Columns for SampleColumns {
    type Batch = Batch;

    fn open(group: &dyn RowGroupReader) -> Result<Self, ParquetError> {
        let keys = match group.metadata().column(1).column_type() {
            Type::INT32 => Keys::Flows(open_column(group, 1)?),
            _ => Keys::Links(open_column(group, 1)?),
        };
        Ok(Self {
            time_ns: open_column(group, 0)?,
            keys,
            field: open_column(group, 2)?,
            unit: open_column(group, 3)?,
            value: open_column(group, 4)?,
        })
    }

    fn read(&mut self, batch: &mut Batch) -> Result<usize, ParquetError> {
        let times = batch_of(&mut self.time_ns)?;
        let keys: Vec<_> = match &mut self.keys {
            Keys::Flows(flows) => batch_of(flows)?.iter().map(|&flow| Key::Flow(flow as u32)).collect(),
            Keys::Links(links) => batch.strings.column(links)?.into_iter().map(Key::Link).collect(),
        };
        let fields = batch.strings.column(&mut self.field)?;
        let units = batch.strings.column(&mut self.unit)?;
        let values = batch_of(&mut self.value)?;
        let rows = same_length([times.len(), keys.len(), fields.len(), units.len(), values.len()])?;
        let rows_of_columns = times.into_iter().zip(keys).zip(fields).zip(units).zip(values);
        batch.samples.extend(rows_of_columns.map(|((((time, key), field), unit), value)| Sample {
            time_ns: time as u64,
            key,
            field,
            unit,
            value,
        }));
        Ok(rows)
    }
}

/// Returns the next batch of a column.
fn batch_of<T: DataType>(column: &mut ColumnReaderImpl<T>) -> Result<Vec<T::T>, ParquetError> {
    let mut values = Vec::new();
    read_column(column, &mut values)?;
    Ok(values)
}
