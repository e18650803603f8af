//! Data of a run so far: a pyramid of the whole run, and its packets and samples up to a limit.

use record::Record;
use runs::{Memory, Observer};
use std::ops::ControlFlow;
use units::Time;
use views::{Cause, Pyramid, PyramidBuilder, RecordVisitor, Rows, SampleVisitor};

/// Maximum number of kept records: 160 MB. Of a longer run, only the packets of its beginning are available.
const MOST_RECORDS: usize = 4_000_000;
/// Number of records in one chunk of memory, so that growing does not move earlier records.
const CHUNK: usize = 1 << 16;

/// Observer that keeps the data.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    builder: PyramidBuilder,
    /// Number of records and pyramid at the last look.
    looked: Option<(u64, Pyramid)>,
    pub(crate) rows: KeptRows,
}

/// Kept packets and samples.
#[derive(Debug, Default)]
pub(crate) struct KeptRows {
    chunks: Vec<Vec<Record>>,
    records: usize,
    /// Samples only.
    memory: Memory,
}

impl Kept {
    /// Ends the recording after `records` records. Later looks no longer copy the data.
    pub(crate) fn close(&mut self, records: u64) {
        self.looked = Some((records, core::mem::take(&mut self.builder).finish()));
    }

    /// Returns the pyramid of the `records` records so far, and the rows.
    pub(crate) fn look(&mut self, records: u64) -> (&Pyramid, &KeptRows) {
        if self.looked.as_ref().is_none_or(|(known, _)| *known != records) {
            self.looked = Some((records, self.builder.so_far()));
        }
        let (_, pyramid) = self.looked.get_or_insert_with(|| (records, Pyramid::default()));
        (pyramid, &self.rows)
    }
}

impl KeptRows {
    /// Returns the time up to which all records are kept, ns; unlimited if none was left out.
    pub(crate) fn whole_until_ns(&self) -> u64 {
        if self.records < MOST_RECORDS {
            return u64::MAX;
        }
        self.chunks.last().and_then(|chunk| chunk.last()).map_or(0, |record| record.time_ns)
    }

    #[inline]
    fn push(&mut self, record: &Record) {
        if self.records == MOST_RECORDS {
            return;
        }
        self.records += 1;
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(*record),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(*record);
                self.chunks.push(chunk);
            }
        }
    }
}

impl Rows for KeptRows {
    fn has_records(&self) -> bool {
        true
    }

    fn has_samples(&self) -> bool {
        true
    }

    fn records(&self, from_ns: u64, to_ns: u64, visit: &mut RecordVisitor<'_>) -> Result<(), Cause> {
        let is_before = |chunk: &Vec<Record>| chunk.last().is_some_and(|last| last.time_ns < from_ns);
        let first = self.chunks.partition_point(is_before);
        let skipped = self
            .chunks
            .get(first)
            .map_or(0, |chunk| chunk.partition_point(|record| record.time_ns < from_ns));
        for record in self.chunks[first..].iter().flatten().skip(skipped) {
            if record.time_ns >= to_ns || visit(record) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn samples(&self, from_ns: u64, to_ns: u64, visit: &mut SampleVisitor<'_>) -> Result<(), Cause> {
        self.memory.samples(from_ns, to_ns, visit)
    }
}

impl Observer for Kept {
    #[inline]
    fn record(&mut self, record: &Record) {
        self.builder.record(record);
        self.rows.push(record);
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn flow_value(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        self.builder.flow_value(at.as_ns(), flow, field, unit, value);
        self.rows.memory.flow_value(at, flow, field, unit, value);
    }

    fn link_value(&mut self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
        self.builder.link_value(at.as_ns(), link, field, unit, value);
        self.rows.memory.link_value(at, link, field, unit, value);
    }
}
