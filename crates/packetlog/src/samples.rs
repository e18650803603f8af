//! Sampled state of flows and links: tables with one value per row, and their writer.

use crate::Error;
use crate::columns::{FORMAT_KEY, common_properties};
use crate::pending::Pending;
use crate::writer::{close, column};
use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, Type};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Number of rows per row group.
const ROW_GROUP_ROWS: usize = 1 << 16;

/// Kind of a table of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleTable {
    /// `flows.parquet`: key column `flow`, a number.
    Flows,
    /// `links.parquet`: key column `link`, a name.
    Links,
}

impl SampleTable {
    /// Returns the value of the metadata key `dumbbell.format`.
    pub(crate) fn format(self) -> &'static str {
        match self {
            Self::Flows => "flows 1",
            Self::Links => "links 1",
        }
    }

    pub(crate) fn schema(self) -> Result<Arc<Type>, ParquetError> {
        let key = match self {
            Self::Flows => "required int32 flow (INTEGER(32,false));",
            Self::Links => "required binary link (STRING);",
        };
        let message = format!(
            "message samples {{ required int64 time_ns (INTEGER(64,false)); {key} required binary field (STRING); \
             required binary unit (STRING); required double value; }}"
        );
        parse_message_type(&message).map(Arc::new)
    }
}

/// Flow or link of a sample.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Flow number, from 1.
    Flow(u32),
    /// Name of a link.
    Link(Arc<str>),
}

/// Row of a table of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Time since the start of the run, ns.
    pub time_ns: u64,
    /// Flow or link.
    pub key: Key,
    /// Name of the quantity.
    pub field: Arc<str>,
    /// Unit of the value; empty if it has none.
    pub unit: Arc<str>,
    /// Value of the quantity.
    pub value: f64,
}

/// Writer of a table of samples. Like a packet log, the file gets its name only when it is complete.
#[derive(Debug)]
pub struct SampleWriter {
    table: SampleTable,
    pending: Pending,
    out: SerializedFileWriter<File>,
    names: Names<ByteArray>,
    time_ns: Vec<i64>,
    flow: Vec<i32>,
    link: Vec<ByteArray>,
    field: Vec<ByteArray>,
    unit: Vec<ByteArray>,
    value: Vec<f64>,
    written: u64,
}

impl SampleWriter {
    /// Creates a table with the final name `path`.
    pub fn create(path: impl AsRef<Path>, table: SampleTable) -> Result<Self, Error> {
        let path = path.as_ref();
        let (pending, file) = Pending::create(path)?;
        let out = Self::open(file, table).map_err(|e| Error::parquet(path, "write", e))?;
        Ok(Self {
            table,
            pending,
            out,
            names: Names::default(),
            time_ns: Vec::new(),
            flow: Vec::new(),
            link: Vec::new(),
            field: Vec::new(),
            unit: Vec::new(),
            value: Vec::new(),
            written: 0,
        })
    }

    fn open(file: File, table: SampleTable) -> Result<SerializedFileWriter<File>, ParquetError> {
        let time = || ColumnPath::from("time_ns");
        let properties = common_properties(&[(FORMAT_KEY, table.format().to_owned())])?
            .set_column_dictionary_enabled(time(), false)
            .set_column_encoding(time(), Encoding::DELTA_BINARY_PACKED)
            .build();
        SerializedFileWriter::new(file, table.schema()?, Arc::new(properties))
    }

    /// Adds a sample of a flow. Returns an error for a table of links.
    pub fn flow(
        &mut self,
        time_ns: u64,
        flow: u32,
        field: &str,
        unit: &str,
        value: f64,
    ) -> Result<(), Error> {
        self.check(SampleTable::Flows)?;
        self.flow.push(flow as i32);
        self.push(time_ns, field, unit, value)
    }

    /// Adds a sample of a link. Returns an error for a table of flows.
    pub fn link(
        &mut self,
        time_ns: u64,
        link: &str,
        field: &str,
        unit: &str,
        value: f64,
    ) -> Result<(), Error> {
        self.check(SampleTable::Links)?;
        let link = self.names.bytes(link);
        self.link.push(link);
        self.push(time_ns, field, unit, value)
    }

    /// Completes the file and returns the number of rows in it.
    pub fn finish(mut self) -> Result<u64, Error> {
        if !self.time_ns.is_empty() {
            self.flush()?;
        }
        let file = close(self.out).map_err(|e| Error::parquet(self.pending.path(), "write", e))?;
        self.pending.commit(file)?;
        Ok(self.written)
    }

    fn check(&self, offered: SampleTable) -> Result<(), Error> {
        if self.table == offered {
            return Ok(());
        }
        let problem = format!("is a table of {:?}, a sample of {offered:?} was offered", self.table);
        Err(Error::file(self.pending.path(), problem))
    }

    fn push(&mut self, time_ns: u64, field: &str, unit: &str, value: f64) -> Result<(), Error> {
        self.time_ns.push(time_ns as i64);
        let field = self.names.bytes(field);
        self.field.push(field);
        let unit = self.names.bytes(unit);
        self.unit.push(unit);
        self.value.push(value);
        if self.time_ns.len() == ROW_GROUP_ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.written += self.time_ns.len() as u64;
        self.encode().map_err(|e| Error::parquet(self.pending.path(), "write", e))?;
        self.time_ns.clear();
        self.flow.clear();
        self.link.clear();
        self.field.clear();
        self.unit.clear();
        self.value.clear();
        Ok(())
    }

    fn encode(&mut self) -> Result<(), ParquetError> {
        let mut group = self.out.next_row_group()?;
        column::<Int64Type>(&mut group, &self.time_ns)?;
        match self.table {
            SampleTable::Flows => column::<Int32Type>(&mut group, &self.flow)?,
            SampleTable::Links => column::<ByteArrayType>(&mut group, &self.link)?,
        }
        column::<ByteArrayType>(&mut group, &self.field)?;
        column::<ByteArrayType>(&mut group, &self.unit)?;
        column::<DoubleType>(&mut group, &self.value)?;
        group.close()?;
        Ok(())
    }
}

/// Store of recurring strings, so that a row costs no allocation.
#[derive(Debug)]
pub(crate) struct Names<T> {
    known: Vec<T>,
    /// Position of the last name. Samples repeat a cycle of names, so the next name is usually at the next position.
    last: usize,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { known: Vec::new(), last: 0 }
    }
}

impl<T: Clone> Names<T> {
    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns the stored name for which `same` is true; otherwise stores the result of `make`.
    pub(crate) fn intern(&mut self, same: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> T {
        let known = self.known.len();
        let position = (0..known).map(|step| (self.last + step) % known).find(|&at| same(&self.known[at]));
        self.last = position.unwrap_or_else(|| {
            self.known.push(make());
            known
        });
        self.known[self.last].clone()
    }
}

impl Names<ByteArray> {
    fn bytes(&mut self, name: &str) -> ByteArray {
        self.intern(|known| known.data() == name.as_bytes(), || ByteArray::from(name.as_bytes().to_vec()))
    }
}
