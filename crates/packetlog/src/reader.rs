//! Reading of packet logs in bounded memory.

use crate::Error;
use crate::columns::{
    EVENTS_KEY, FORMAT_KEY, ORDER_KEY, PACKETS_FORMAT, STEP_BACK_NS, check_file, event_list, packets_schema,
};
use crate::groups::{Columns, Groups, open_column, read_column, same_length};
use crate::regular::LogFile;
use crate::rows::Rows;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use record::Record;
use std::ops::Range;

/// Iterator over the records of a packet log in time order; those of an imported log are in its order. Returns nothing
/// more after an error.
pub struct PacketLogReader {
    groups: Groups<PacketColumns>,
    batch: Rows,
    next_row: usize,
    least_ns: u64,
    step_back_ns: u64,
    /// Range of the wanted times, ns; `None` for all times.
    wanted: Option<Range<u64>>,
}

impl PacketLogReader {
    /// Opens a packet log. Another file or a truncated log is an error with a message.
    pub fn open(log: impl Into<LogFile>) -> Result<Self, Error> {
        let log = log.into();
        let path = log.path();
        let groups = Groups::open(&log)?;
        let expected = [(FORMAT_KEY, PACKETS_FORMAT.to_owned()), (EVENTS_KEY, event_list())];
        let schema = packets_schema().map_err(|e| Error::parquet(path, "read", e))?;
        let metadata = groups.metadata();
        check_file(path, metadata, &expected, &schema)?;
        let mut pairs = metadata.key_value_metadata().into_iter().flatten();
        let step_back_ns = if pairs.any(|pair| pair.key == ORDER_KEY) { STEP_BACK_NS } else { 0 };
        Ok(Self { groups, batch: Rows::default(), next_row: 0, least_ns: 0, step_back_ns, wanted: None })
    }

    /// Returns the number of records in the log.
    pub fn rows(&self) -> u64 {
        self.groups.rows()
    }

    /// Limits the records to the times from `from_ns` to before `to_ns`, in the order of the log. Only row groups with
    /// such times by the footer are read. An imported log may need more of them, since its clock may have stepped back.
    #[must_use]
    pub fn rows_between(mut self, from_ns: u64, to_ns: u64) -> Self {
        self.groups.only(from_ns..to_ns);
        self.wanted = Some(from_ns..to_ns);
        self
    }

    /// Passes the remaining records to `visit` and returns their number.
    pub fn for_each(mut self, mut visit: impl FnMut(&Record)) -> Result<u64, Error> {
        let mut seen = 0;
        while let Some(record) = self.read()? {
            visit(&record);
            seen += 1;
        }
        Ok(seen)
    }

    /// Returns the next record.
    #[inline]
    pub fn read(&mut self) -> Result<Option<Record>, Error> {
        loop {
            if self.next_row == self.batch.len() && !self.refill()? {
                return Ok(None);
            }
            let row = self.next_row;
            self.next_row += 1;
            match self.batch.record(row) {
                Some(record) if record.time_ns >= self.least_ns => {
                    self.least_ns = self.least_ns.max(record.time_ns.saturating_sub(self.step_back_ns));
                    if self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&record.time_ns)) {
                        return Ok(Some(record));
                    }
                    self.pass_over(&record)?;
                }
                bad => return Err(self.give_up(bad, row)),
            }
        }
    }

    /// Skips an unwanted record. Stops reading if no wanted record can follow.
    #[inline]
    fn pass_over(&mut self, record: &Record) -> Result<(), Error> {
        if self.wanted.as_ref().is_some_and(|wanted| self.least_ns >= wanted.end) {
            self.finish();
        }
        if self.groups.may_have(record.time_ns) {
            return Ok(());
        }
        self.finish();
        let problem = "is damaged: it has times that are not among those that its footer claims";
        Err(Error::file(self.groups.path(), problem))
    }

    /// Stops reading.
    fn finish(&mut self) {
        self.groups.stop();
        self.batch.clear();
        self.next_row = 0;
    }

    /// Decodes the next batch. Returns false at the end of the log.
    fn refill(&mut self) -> Result<bool, Error> {
        self.next_row = 0;
        self.batch.clear();
        self.groups.read(&mut self.batch).inspect_err(|_| self.batch.clear())
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
        self.finish();
        Error::file(self.groups.path(), problem)
    }
}

impl Iterator for PacketLogReader {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Typed column readers of a row group.
struct PacketColumns {
    time_ns: ColumnReaderImpl<Int64Type>,
    flow: ColumnReaderImpl<Int32Type>,
    event: ColumnReaderImpl<Int32Type>,
    seq: ColumnReaderImpl<Int64Type>,
    size_bytes: ColumnReaderImpl<Int32Type>,
    data_bytes: ColumnReaderImpl<Int32Type>,
    one_way_delay_ns: ColumnReaderImpl<Int64Type>,
}

impl Columns for PacketColumns {
    type Batch = Rows;

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

    fn read(&mut self, batch: &mut Rows) -> Result<usize, ParquetError> {
        same_length([
            read_column(&mut self.time_ns, &mut batch.time_ns)?,
            read_column(&mut self.flow, &mut batch.flow)?,
            read_column(&mut self.event, &mut batch.event)?,
            read_column(&mut self.seq, &mut batch.seq)?,
            read_column(&mut self.size_bytes, &mut batch.size_bytes)?,
            read_column(&mut self.data_bytes, &mut batch.data_bytes)?,
            read_column(&mut self.one_way_delay_ns, &mut batch.one_way_delay_ns)?,
        ])
    }
}
