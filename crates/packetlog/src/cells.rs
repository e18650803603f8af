//! Tables of named columns of integers, numbers and texts, with the numbers of many runs. A row may lack values.

use crate::Error;
use crate::columns::{FORMAT_KEY, common_properties};
use crate::footer::open_parquet;
use crate::groups::{decoded, open_column};
use crate::pages::check_pages;
use crate::pending::Pending;
use crate::regular::LogFile;
use crate::writer::{close, column_with_gaps};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Value of the metadata key `dumbbell.format`.
const FORMAT: &str = "numbers 1";
/// Maximum number of columns. A run has 130 numbers; tables of flows and links are separate.
const MOST_COLUMNS: usize = 4096;
/// Maximum number of cells in one read, up to 16 bytes each. A batch of 50,000 runs has a tenth of this number.
const MOST_CELLS: u64 = 1 << 26;
/// Maximum bytes of the distinct texts of a column.
const MOST_TEXT_BYTES: usize = 1 << 26;

/// Values of a column, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Integers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Positions in a list of distinct texts, and this list.
    Texts(Vec<Option<u32>>, Vec<String>),
}

impl Cells {
    /// Returns the number of rows.
    pub const fn len(&self) -> usize {
        match self {
            Self::Integers(cells) => cells.len(),
            Self::Numbers(cells) => cells.len(),
            Self::Texts(cells, _) => cells.len(),
        }
    }

    /// Returns true if there are no rows.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Changes the number of rows. New rows have no value.
    pub fn resize(&mut self, rows: usize) {
        match self {
            Self::Integers(cells) => cells.resize(rows, None),
            Self::Numbers(cells) => cells.resize(rows, None),
            Self::Texts(cells, _) => cells.resize(rows, None),
        }
    }

    fn physical(&self) -> Physical {
        match self {
            Self::Integers(_) => Physical::INT64,
            Self::Numbers(_) => Physical::DOUBLE,
            Self::Texts(..) => Physical::BYTE_ARRAY,
        }
    }
}

/// Column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct CellColumn {
    /// Name of the column.
    pub name: String,
    /// Values of the column.
    pub cells: Cells,
}

/// Writes a table to a file. The file gets its name only when it is complete. All columns must have `rows` rows.
///
/// # Errors
/// Returns an error with the file's name if the file cannot be written.
pub fn write_cells(path: impl AsRef<Path>, columns: &[CellColumn], rows: usize) -> Result<(), Error> {
    let path = path.as_ref();
    if columns.iter().any(|column| column.cells.len() != rows) || columns.len() > MOST_COLUMNS {
        let problem = format!("a table needs columns of {rows} rows, at most {MOST_COLUMNS} of them");
        return Err(Error::file(path, problem));
    }
    let (pending, file) = Pending::create(path)?;
    let written = encode(file, columns).map_err(|e| Error::parquet(path, "write", e))?;
    pending.commit(written)
}

fn encode(file: File, columns: &[CellColumn]) -> Result<File, ParquetError> {
    let fields = columns.iter().map(|column| {
        let physical = column.cells.physical();
        let builder =
            Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
        let text = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
        builder.with_logical_type(text).build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("numbers").with_fields(fields).build()?);
    let properties = common_properties(&[(FORMAT_KEY, FORMAT.to_owned())])?.build();
    let mut out = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let mut group = out.next_row_group()?;
    for column in columns {
        match &column.cells {
            Cells::Integers(cells) => optional::<Int64Type, _>(&mut group, cells, |&value| value)?,
            Cells::Numbers(cells) => optional::<DoubleType, _>(&mut group, cells, |&value| value)?,
            Cells::Texts(cells, texts) => {
                let texts: Vec<ByteArray> = texts.iter().map(|text| ByteArray::from(text.as_str())).collect();
                optional::<ByteArrayType, _>(&mut group, cells, |&code| texts[code as usize].clone())?;
            }
        }
    }
    group.close()?;
    close(out)
}

/// Writes the next column of a row group. Rows may lack a value.
fn optional<T: DataType, C>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    cells: &[Option<C>],
    value: impl Fn(&C) -> T::T,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.iter().flatten().map(value).collect();
    column_with_gaps::<T>(group, &values, Some(&levels))
}

/// Reads a table: all columns, or the existing ones among `wanted`.
///
/// # Errors
/// Returns an error if the file cannot be read, is damaged, or is no such table.
pub fn read_cells(log: impl Into<LogFile>, wanted: Option<&[String]>) -> Result<Vec<CellColumn>, Error> {
    let log = log.into();
    decoded(log.path(), || decode(&log, wanted))
}

/// Returns the names of a table's columns of integers and numbers, in their order.
///
/// # Errors
/// Returns an error if the file cannot be read, is damaged, or is no such table.
pub fn number_names(log: impl Into<LogFile>) -> Result<Vec<String>, Error> {
    let (file, _) = open_table(&log.into())?;
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let numbers = columns.iter().filter(|column| column.physical_type() != Physical::BYTE_ARRAY);
    Ok(numbers.map(|column| column.name().to_owned()).collect())
}

/// Opens a table. Also returns the file.
fn open_table(log: &LogFile) -> Result<(SerializedFileReader<File>, File), Error> {
    let path = log.path();
    let (file, bytes) = open_parquet(log)?;
    let metadata = file.metadata().file_metadata();
    let pairs = metadata.key_value_metadata().into_iter().flatten();
    let is_ours = |pair: &parquet::file::metadata::KeyValue| {
        pair.key == FORMAT_KEY && pair.value.as_deref() == Some(FORMAT)
    };
    if !pairs.into_iter().any(is_ours) {
        return Err(Error::file(
            path,
            format!("is no table of numbers: its metadata lack {FORMAT_KEY} = '{FORMAT}'"),
        ));
    }
    let schema = metadata.schema_descr();
    if schema.num_columns() > MOST_COLUMNS {
        return Err(Error::file(
            path,
            format!("has {} columns: at most {MOST_COLUMNS}", schema.num_columns()),
        ));
    }
    Ok((file, bytes))
}

fn decode(log: &LogFile, wanted: Option<&[String]>) -> Result<Vec<CellColumn>, Error> {
    let path = log.path();
    let (file, bytes) = open_table(log)?;
    let metadata = file.metadata().file_metadata();
    let count = wanted.map_or(metadata.schema_descr().num_columns(), <[String]>::len) as u64;
    let rows = u64::try_from(metadata.num_rows()).unwrap_or(u64::MAX);
    if rows.saturating_mul(count) > MOST_CELLS {
        return Err(Error::file(
            path,
            format!("has {rows} rows of {count} columns: at most {MOST_CELLS} cells"),
        ));
    }
    let failed = |error| Error::parquet(path, "read", error);
    let mut columns = Vec::new();
    for (index, column) in metadata.schema_descr().columns().iter().enumerate() {
        if column.max_rep_level() > 0 || column.max_def_level() > 1 {
            return Err(Error::file(
                path,
                format!("column `{}`: has more than one value in a row", column.name()),
            ));
        }
        if wanted.is_some_and(|wanted| !wanted.iter().any(|name| name == column.name())) {
            continue;
        }
        let mut cells = match column.physical_type() {
            Physical::INT64 => Cells::Integers(Vec::new()),
            Physical::DOUBLE => Cells::Numbers(Vec::new()),
            Physical::BYTE_ARRAY => Cells::Texts(Vec::new(), Vec::new()),
            other => {
                return Err(Error::file(path, format!("column `{}`: has the type {other}", column.name())));
            }
        };
        let mut known = HashMap::new();
        for number in 0..file.num_row_groups() {
            let group = file.get_row_group(number).map_err(failed)?;
            let chunk = group.metadata().column(index);
            check_pages(path, &bytes, chunk)?;
            let levels = column.max_def_level() > 0;
            append(&mut cells, &mut known, group.as_ref(), index, levels).map_err(failed)?;
        }
        columns.push(CellColumn { name: column.name().to_owned(), cells });
    }
    if columns.iter().any(|column| column.cells.len() as u64 != rows) {
        return Err(Error::file(path, format!("is damaged: a column has other than {rows} rows")));
    }
    Ok(columns)
}

/// Appends the rows of a row group.
fn append(
    cells: &mut Cells,
    known: &mut HashMap<String, u32>,
    group: &dyn RowGroupReader,
    index: usize,
    levels: bool,
) -> Result<(), ParquetError> {
    match cells {
        Cells::Integers(cells) => cells.extend(values::<Int64Type>(group, index, levels)?),
        Cells::Numbers(cells) => cells.extend(values::<DoubleType>(group, index, levels)?),
        Cells::Texts(cells, texts) => {
            let mut bytes: usize = texts.iter().map(String::len).sum();
            for text in values::<ByteArrayType>(group, index, levels)? {
                let Some(text) = text else {
                    cells.push(None);
                    continue;
                };
                let text = text.as_utf8()?;
                // Most rows have the text of the previous row.
                let last = cells.last().copied().flatten().filter(|&code| texts[code as usize] == text);
                let code = if let Some(code) = last.or_else(|| known.get(text).copied()) {
                    code
                } else {
                    bytes += text.len();
                    if bytes > MOST_TEXT_BYTES {
                        let problem = format!("more than {MOST_TEXT_BYTES} bytes of texts");
                        return Err(ParquetError::General(problem));
                    }
                    texts.push(text.to_owned());
                    known.insert(text.to_owned(), texts.len() as u32 - 1);
                    texts.len() as u32 - 1
                };
                cells.push(Some(code));
            }
        }
    }
    Ok(())
}

/// Returns the values of a column of a row group.
fn values<T: DataType>(
    group: &dyn RowGroupReader,
    index: usize,
    levels: bool,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let mut column = open_column::<T>(group, index)?;
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let (mut present, mut found) = (Vec::new(), Vec::new());
    let mut seen = 0;
    while seen < rows {
        let (records, _, _) =
            column.read_records(rows - seen, levels.then_some(&mut present), None, &mut found)?;
        if records == 0 {
            break;
        }
        seen += records;
    }
    if !levels {
        return Ok(found.into_iter().map(Some).collect());
    }
    let mut found = found.into_iter();
    Ok(present.into_iter().map(|level| if level > 0 { found.next() } else { None }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("dumbbell-cells-{}-{name}.parquet", std::process::id()))
    }

    fn column(name: &str, cells: Cells) -> CellColumn {
        CellColumn { name: name.to_owned(), cells }
    }

    fn table() -> Vec<CellColumn> {
        let texts = vec!["cubic".to_owned(), "bbr".to_owned()];
        vec![
            column("packets", Cells::Integers(vec![Some(-1), None, Some(i64::MAX)])),
            column("media.stalls", Cells::Numbers(vec![Some(-0.0), Some(f64::MIN_POSITIVE), None])),
            column("scheme", Cells::Texts(vec![Some(0), Some(1), Some(0)], texts)),
        ]
    }

    #[test]
    fn a_table_is_read_as_it_was_written_whole_or_some_columns_of_it() {
        let path = file("whole");
        write_cells(&path, &table(), 3).unwrap();
        let read = read_cells(&path, None).unwrap();
        assert_eq!(read, table());
        let Cells::Numbers(numbers) = &read[1].cells else { panic!("other cells") };
        assert!(numbers[0].unwrap().is_sign_negative());
        let wanted = ["scheme".to_owned(), "absent".to_owned()];
        assert_eq!(read_cells(&path, Some(&wanted)).unwrap(), table()[2..]);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn columns_of_other_lengths_and_other_files_are_refused_in_one_line() {
        let path = file("refused");
        let refusal = write_cells(&path, &table(), 2).unwrap_err().to_string();
        assert!(refusal.contains("columns of 2 rows"), "{refusal}");
        assert!(!path.exists());
        crate::SampleWriter::create(&path, crate::SampleTable::Flows).unwrap().finish().unwrap();
        let refusal = read_cells(&path, None).unwrap_err().to_string();
        assert!(refusal.contains("is no table of numbers"), "{refusal}");
        write_cells(&path, &table(), 3).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for cut in [bytes.len() - 1, bytes.len() / 2, 3] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(read_cells(&path, None).is_err(), "{cut} bytes");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            std::fs::write(&path, &damaged).unwrap();
            drop(read_cells(&path, None)); // whatever it says, it neither panics nor takes all memory
        }
        std::fs::remove_file(path).unwrap();
    }
}
