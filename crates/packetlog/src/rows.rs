//! Records column by column, in the physical types of the schema, for encoding and decoding.

use crate::columns::event_of;
use record::Record;

/// Rows of a packet log.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) time_ns: Vec<i64>,
    pub(crate) flow: Vec<i32>,
    pub(crate) event: Vec<i32>,
    pub(crate) seq: Vec<i64>,
    pub(crate) size_bytes: Vec<i32>,
    pub(crate) data_bytes: Vec<i32>,
    pub(crate) one_way_delay_ns: Vec<i64>,
}

impl Rows {
    /// Reserves address space only; unfilled pages cost no memory.
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self {
            time_ns: Vec::with_capacity(rows),
            flow: Vec::with_capacity(rows),
            event: Vec::with_capacity(rows),
            seq: Vec::with_capacity(rows),
            size_bytes: Vec::with_capacity(rows),
            data_bytes: Vec::with_capacity(rows),
            one_way_delay_ns: Vec::with_capacity(rows),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.time_ns.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, record: &Record) {
        self.time_ns.push(record.time_ns as i64);
        self.flow.push(record.flow as i32);
        self.event.push(i32::from(record.event as u8));
        self.seq.push(record.seq as i64);
        self.size_bytes.push(record.size_bytes as i32);
        self.data_bytes.push(record.data_bytes as i32);
        self.one_way_delay_ns.push(record.one_way_delay_ns);
    }

    /// Returns row `row`; `None` if the event's code is unknown.
    #[inline]
    pub(crate) fn record(&self, row: usize) -> Option<Record> {
        Some(Record {
            time_ns: self.time_ns[row] as u64,
            flow: self.flow[row] as u32,
            event: event_of(self.event[row])?,
            seq: self.seq[row] as u64,
            size_bytes: self.size_bytes[row] as u32,
            data_bytes: self.data_bytes[row] as u32,
            one_way_delay_ns: self.one_way_delay_ns[row],
        })
    }

    pub(crate) fn clear(&mut self) {
        self.time_ns.clear();
        self.flow.clear();
        self.event.clear();
        self.seq.clear();
        self.size_bytes.clear();
        self.data_bytes.clear();
        self.one_way_delay_ns.clear();
    }
}
