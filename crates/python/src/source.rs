//! Packet logs and samples: in files, or as tables in memory.

use crate::arrow::rows;
use crate::columns::{self, Series};
use crate::table::Table;
use crate::{error, text};
use measure::MemoryBound;
use packetlog::{Key, PacketLogReader, Sample, SampleReader};
use pyo3::prelude::*;
use record::Record;
use runs::{FlowSamples, LinkSamples, PacketColumns};
use std::path::{Path, PathBuf};
use units::{Span, Time};

/// A packet log or samples: a table in memory, or a file.
#[derive(Debug, FromPyObject)]
pub(crate) enum Source {
    Memory(Py<Table>),
    File(PathBuf),
}

impl Source {
    /// How many records a packet log has.
    pub(crate) fn rows(&self) -> Result<u64, String> {
        match self {
            Self::Memory(table) => Ok(rows(table.get().columns()) as u64),
            Self::File(file) => {
                PacketLogReader::open(file).map(|log| log.rows()).map_err(|cause| cause.to_string())
            }
        }
    }

    /// Passes every record of a packet log to `visit`.
    pub(crate) fn records(&self, mut visit: impl FnMut(&Record)) -> Result<(), String> {
        match self {
            Self::Memory(table) => {
                let records = columns::records(table.get()).ok_or("this table is no packet log")?;
                records.for_each(|record| visit(&record));
            }
            Self::File(file) => {
                let reader = PacketLogReader::open(file).map_err(|cause| cause.to_string())?;
                reader.for_each(visit).map_err(|cause| cause.to_string())?;
            }
        }
        Ok(())
    }

    /// Passes every record to `visit`, which counts in intervals of time for each flow.
    ///
    /// # Errors
    /// One line: the log has more flows or intervals than [`MemoryBound`] allows.
    pub(crate) fn records_by_interval(
        &self,
        interval: Span,
        mut visit: impl FnMut(&Record),
    ) -> Result<(), String> {
        let mut bound = MemoryBound::new(interval);
        self.records(|record| {
            if bound.takes(record) {
                visit(record);
            }
        })?;
        let Some(what) = bound.exceeded() else { return Ok(()) };
        match self {
            Self::Memory(_) => Err(what),
            Self::File(file) => Err(format!("{}: {what}", file.display())),
        }
    }

    /// The time series of samples.
    pub(crate) fn series(&self) -> Result<Vec<Series>, String> {
        let none = || "this table has no samples".to_owned();
        match self {
            Self::Memory(table) => columns::series(table.get()).ok_or_else(none),
            Self::File(file) => columns::series(&sampled(file)?).ok_or_else(none),
        }
    }
}

/// The records of a packet log as a table.
#[pyfunction]
pub(crate) fn read_packets(py: Python<'_>, file: PathBuf) -> PyResult<Table> {
    let mut packets = PacketColumns::default();
    py.detach(|| PacketLogReader::open(file)?.for_each(|record| packets.push(record))).map_err(text)?;
    Ok(packets.into())
}

/// The rows of a table of samples.
#[pyfunction]
pub(crate) fn read_samples(py: Python<'_>, file: PathBuf) -> PyResult<Table> {
    py.detach(|| sampled(&file)).map_err(error)
}

fn sampled(file: &Path) -> Result<Table, String> {
    let kind = match file.file_name().and_then(|name| name.to_str()) {
        Some("flows.parquet") => packetlog::SampleTable::Flows,
        Some("links.parquet") => packetlog::SampleTable::Links,
        _ => return Err(format!("{}: allowed are flows.parquet and links.parquet", file.display())),
    };
    let read = || {
        let (mut flows, mut links) = (FlowSamples::default(), LinkSamples::default());
        for sample in SampleReader::open(file, kind)? {
            let Sample { time_ns, key, field, unit, value } = sample?;
            let at = Time::from_ns(time_ns);
            match key {
                Key::Flow(flow) => flows.flow(at, flow, &field, &unit, value),
                Key::Link(link) => links.link(at, &link, &field, &unit, value),
            }
        }
        Ok(match kind {
            packetlog::SampleTable::Flows => flows.into(),
            packetlog::SampleTable::Links => links.into(),
        })
    };
    read().map_err(|cause: packetlog::Error| cause.to_string())
}
