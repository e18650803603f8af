//! Reading sampled state back, one row group at a time.

use crate::columns::{FORMAT_KEY, check_file};
use crate::reader::{open_column, open_parquet, read_column};
use crate::samples::Names;
use crate::{Error, Key, Sample, SampleTable};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Streams the rows of a table of samples; memory is bounded by one row group. After an error it yields nothing more.
pub struct SampleReader {
    path: PathBuf,
    file: SerializedFileReader<File>,
    table: SampleTable,
    strings: Names<Arc<str>>,
    next_group: usize,
    rows: std::vec::IntoIter<Sample>,
}

impl SampleReader {
    /// Opens a table of samples; anything else, and a table that was cut off, is an error that says so.
    pub fn open(path: impl AsRef<Path>, table: SampleTable) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let file = open_parquet(&path)?;
        let schema = table.schema().map_err(|e| Error::parquet(&path, "read", e))?;
        let expected = [(FORMAT_KEY, table.format().to_owned())];
        check_file(&path, file.metadata().file_metadata(), &expected, &schema)?;
        let (strings, rows) = (Names::default(), Vec::new().into_iter());
        Ok(Self { path, file, table, strings, next_group: 0, rows })
    }

    fn next_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.get_row_group(self.next_group)?;
        let mut samples = Vec::new();
        read_group(group.as_ref(), self.table, &mut self.strings, &mut samples)?;
        self.next_group += 1;
        self.rows = samples.into_iter();
        Ok(())
    }
}

impl Iterator for SampleReader {
    type Item = Result<Sample, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(sample) = self.rows.next() {
                return Some(Ok(sample));
            }
            if self.next_group >= self.file.num_row_groups() {
                return None;
            }
            if let Err(error) = self.next_group() {
                self.next_group = usize::MAX;
                return Some(Err(Error::parquet(&self.path, "read", error)));
            }
        }
    }
}

/// Reads a whole table of samples.
pub fn read_samples(path: impl AsRef<Path>, table: SampleTable) -> Result<Vec<Sample>, Error> {
    SampleReader::open(path, table)?.collect()
}

impl Names<Arc<str>> {
    fn shared(&mut self, name: &str) -> Arc<str> {
        self.intern(|known| &**known == name, || Arc::from(name))
    }

    fn column(&mut self, column: &[ByteArray]) -> Result<Vec<Arc<str>>, ParquetError> {
        column.iter().map(|bytes| Ok(self.shared(bytes.as_utf8()?))).collect()
    }
}

fn read_group(
    group: &dyn RowGroupReader,
    table: SampleTable,
    strings: &mut Names<Arc<str>>,
    samples: &mut Vec<Sample>,
) -> Result<(), ParquetError> {
    let times = whole_column::<Int64Type>(group, 0)?;
    let keys = match table {
        SampleTable::Flows => {
            whole_column::<Int32Type>(group, 1)?.iter().map(|&flow| Key::Flow(flow as u32)).collect()
        }
        SampleTable::Links => strings
            .column(&whole_column::<ByteArrayType>(group, 1)?)?
            .into_iter()
            .map(Key::Link)
            .collect::<Vec<_>>(),
    };
    let fields = strings.column(&whole_column::<ByteArrayType>(group, 2)?)?;
    let units = strings.column(&whole_column::<ByteArrayType>(group, 3)?)?;
    let values = whole_column::<DoubleType>(group, 4)?;
    let rows = times.len();
    if [keys.len(), fields.len(), units.len(), values.len()].iter().any(|&other| other != rows) {
        return Err(ParquetError::General("the columns differ in length".to_owned()));
    }
    for ((((time, key), field), unit), value) in
        times.into_iter().zip(keys).zip(fields).zip(units).zip(values)
    {
        samples.push(Sample { time_ns: time as u64, key, field, unit, value });
    }
    Ok(())
}

fn whole_column<T: parquet::data_type::DataType>(
    group: &dyn RowGroupReader,
    index: usize,
) -> Result<Vec<T::T>, ParquetError> {
    let mut column = open_column::<T>(group, index)?;
    let (mut values, mut batch) = (Vec::new(), Vec::new());
    while read_column(&mut column, &mut batch)? > 0 {
        values.append(&mut batch);
    }
    Ok(values)
}
