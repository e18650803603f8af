//! Packet logs and samples from files or from tables in memory.

use crate::arrow::rows;
use crate::columns::{self, Series};
use crate::errors::error;
use crate::table::Table;
use measure::MemoryBound;
use packetlog::{Gathered, Interrupts, Key, LogFile, PacketLogReader, Sample, SampleReader, SampleTable};
use pyo3::intern;
use pyo3::prelude::*;
use record::Record;
use runs::{FlowSamples, LinkSamples, PacketColumns};
use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use units::{Span, Time};

/// Rows of a log between two checks for signals: a tenth of a second.
const ROWS_PER_LOOK: usize = 1 << 20;

/// Bytes of a record in a table.
const RECORD_BYTES: u64 = 37;
/// Bytes of a sample in a table.
const SAMPLE_BYTES: u64 = 28;

/// Packet log or samples: a table in memory, or a file.
#[derive(Debug)]
pub(crate) enum Source {
    Memory(Py<Table>),
    File(LogFile),
}

impl<'py> FromPyObject<'_, 'py> for Source {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<Table>() {
            Ok(table) => Ok(Self::Memory(table.to_owned().unbind())),
            Err(_) => object.extract::<LogArgument>().map(|log| Self::File(log.0)),
        }
    }
}

/// File argument from Python: a path, or an `Entry`. Python opens an `Entry`, since it follows no links.
#[derive(Debug)]
pub(crate) struct LogArgument(pub(crate) LogFile);

impl<'py> FromPyObject<'_, 'py> for LogArgument {
    type Error = PyErr;

    #[expect(clippy::disallowed_methods, reason = "Python opened the file")]
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Ok(open) = object.getattr(intern!(object.py(), "open_regular")) else {
            return object.extract::<PathBuf>().map(|path| Self(path.into()));
        };
        let file_object = open.call0()?;
        let descriptor: u32 = file_object.call_method0(intern!(object.py(), "fileno"))?.extract()?;
        // The file needs its own descriptor, since Python's file is closed.
        let file = File::open(format!("/proc/self/fd/{descriptor}"));
        file_object.call_method0(intern!(object.py(), "close"))?;
        let file = file?;
        Ok(Self(LogFile::opened(file, object.str()?.extract()?)))
    }
}

impl Source {
    /// Returns the number of records in a packet log.
    pub(crate) fn rows(&self) -> PyResult<u64> {
        match self {
            Self::Memory(table) => Ok(rows(table.get().columns()) as u64),
            Self::File(file) => PacketLogReader::open(file.clone()).map(|log| log.rows()).map_err(error),
        }
    }

    /// Passes every record of a packet log to `visit`, until `visit` fails.
    fn records(&self, mut visit: impl FnMut(&Record) -> PyResult<()>) -> PyResult<()> {
        match self {
            Self::Memory(table) => {
                let none = || error("this table is no packet log");
                let mut records = columns::records(table.get()).ok_or_else(none)?;
                until_interrupted(|| Ok(records.next()), |record| visit(&record))
            }
            Self::File(file) => each_record(PacketLogReader::open(file.clone()).map_err(error)?, visit),
        }
    }

    /// Passes every record to `visit`, which counts in intervals of time for each flow.
    ///
    /// # Errors
    /// Returns an error if the log has more flows or intervals than [`MemoryBound`] allows, or a signal raised an
    /// exception.
    pub(crate) fn records_by_interval(&self, interval: Span, mut visit: impl FnMut(&Record)) -> PyResult<()> {
        let mut bound = MemoryBound::new(interval);
        self.records(|record| {
            if !bound.takes(record)
                && let Some(why) = bound.exceeded()
            {
                return Err(self.error(why));
            }
            visit(record);
            Ok(())
        })
    }

    /// Returns the error `what`, in one line, with the file name in front if the source is a file.
    pub(crate) fn error(&self, what: impl Display) -> PyErr {
        match self {
            Self::Memory(_) => error(what),
            Self::File(file) => error(format_args!("{}: {what}", file.path().display())),
        }
    }

    /// Returns the time series of samples, thinned if there are more points than figures can show.
    ///
    /// # Errors
    /// Returns an error if the file is damaged or has too many series, or a signal raised an exception.
    pub(crate) fn series(&self) -> PyResult<Vec<Series>> {
        let none = || error("this table has no samples");
        match self {
            Self::Memory(table) => columns::series(table.get()).ok_or_else(none)?.map_err(error),
            Self::File(file) => series_of(file),
        }
    }
}

/// Returns the records of a packet log as a table.
#[pyfunction]
pub(crate) fn read_packets(py: Python<'_>, file: LogArgument) -> PyResult<Table> {
    py.detach(|| {
        let log = PacketLogReader::open(file.0.clone()).map_err(error)?;
        check_memory(file.0.path(), log.rows(), RECORD_BYTES)?;
        let mut packets = PacketColumns::default();
        each_record(log, |record| {
            packets.push(record);
            Ok(())
        })?;
        Ok(packets.into())
    })
}

/// Returns the rows of a table of samples.
#[pyfunction]
pub(crate) fn read_samples(py: Python<'_>, file: LogArgument) -> PyResult<Table> {
    py.detach(|| sample_table(&file.0))
}

/// Returns the rows of a file of samples as a table.
fn sample_table(file: &LogFile) -> PyResult<Table> {
    let (kind, samples) = open_samples(file)?;
    check_memory(file.path(), samples.rows(), SAMPLE_BYTES)?;
    let (mut flows, mut links) = (FlowSamples::default(), LinkSamples::default());
    each_sample(samples, |Sample { time_ns, key, field, unit, value }| {
        let at = Time::from_ns(time_ns);
        match key {
            Key::Flow(flow) => flows.flow(at, flow, &field, &unit, value),
            Key::Link(link) => links.link(at, &link, &field, &unit, value),
        }
        Ok(())
    })?;
    Ok(match kind {
        SampleTable::Flows => flows.into(),
        SampleTable::Links => links.into(),
    })
}

/// Returns the time series of a file of samples.
fn series_of(file: &LogFile) -> PyResult<Vec<Series>> {
    let (_, samples) = open_samples(file)?;
    let mut gathered = Gathered::default();
    each_sample(samples, |Sample { time_ns, key, field, unit, value }| {
        let added = gathered.add((key, field, unit), time_ns, value);
        added.map_err(|why| error(format_args!("{}: {why}", file.path().display())))
    })?;
    Ok(columns::sort_series(gathered.into_series().map(|((key, field, unit), points)| {
        let key = match key {
            Key::Flow(flow) => flow.to_string(),
            Key::Link(link) => link.to_string(),
        };
        Series::new(key, &field, &unit, points)
    })))
}

/// Returns the kind of a sample table, by its file name, and its rows.
fn open_samples(file: &LogFile) -> PyResult<(SampleTable, SampleReader)> {
    let kind = match file.path().file_name().and_then(|name| name.to_str()) {
        Some("flows.parquet") => SampleTable::Flows,
        Some("links.parquet") => SampleTable::Links,
        _ => {
            return Err(error(format_args!(
                "{}: allowed are flows.parquet and links.parquet",
                file.path().display()
            )));
        }
    };
    Ok((kind, SampleReader::open(file.clone(), kind).map_err(error)?))
}

/// Passes every record of a log to `visit`, until `visit` fails or a signal raises an exception.
pub(crate) fn each_record(
    mut log: PacketLogReader,
    mut visit: impl FnMut(&Record) -> PyResult<()>,
) -> PyResult<()> {
    until_interrupted(|| log.read().map_err(error), |record| visit(&record))
}

/// Passes every sample to `visit`, until `visit` fails or a signal raises an exception.
pub(crate) fn each_sample(
    mut samples: SampleReader,
    visit: impl FnMut(Sample) -> PyResult<()>,
) -> PyResult<()> {
    until_interrupted(|| samples.next().transpose().map_err(error), visit)
}

/// Passes the results of `next` to `visit`, until there are no more, one fails, or a signal raises an exception.
///
/// Ctrl-C is delivered when the interpreter is asked for signals.
fn until_interrupted<T>(
    mut next: impl FnMut() -> PyResult<Option<T>>,
    mut visit: impl FnMut(T) -> PyResult<()>,
) -> PyResult<()> {
    loop {
        for _ in 0..ROWS_PER_LOOK {
            match next()? {
                Some(row) => visit(row)?,
                None => return Ok(()),
            }
        }
        if let Some(raised) = raised_by_signal() {
            return Err(raised);
        }
    }
}

/// Performs `work` without the interpreter's lock. An exception of a signal handler ends the work.
///
/// # Errors
/// Returns the error of the work, or the exception of a signal handler.
pub(crate) fn interruptible<T: Send, E: Display + Send>(
    py: Python<'_>,
    work: impl FnOnce(&Interrupts) -> Result<T, E> + Send,
) -> PyResult<T> {
    let raised: Arc<OnceLock<PyErr>> = Arc::default();
    let slot = Arc::clone(&raised);
    let interrupts = Interrupts::when(move || {
        let signal = raised_by_signal();
        signal.is_some_and(|raised| slot.set(raised).is_ok())
    });
    py.detach(|| work(&interrupts))
        .map_err(|cause| raised.get().map_or_else(|| error(cause), |raised| raised.clone_ref(py)))
}

/// Cost of a step of [`interruptible_by_steps`], in lines of a log: the check of a scheduled change takes a
/// microsecond.
const LINES_PER_STEP: u64 = 8;

/// Performs work that reports its steps, like [`interruptible`].
pub(crate) fn interruptible_by_steps<T: Send, E: Display + Send>(
    py: Python<'_>,
    work: impl FnOnce(::path::Until<'_>) -> Result<T, E> + Send,
) -> PyResult<T> {
    interruptible(py, |interrupts| {
        let mut interrupts = interrupts.clone();
        work(&mut |steps| {
            interrupts.after(steps.saturating_mul(LINES_PER_STEP)).map_err(|_| ::path::Interruption)
        })
    })
}

/// Returns the exception of a signal handler, if a signal arrived.
fn raised_by_signal() -> Option<PyErr> {
    Python::attach(|py| py.check_signals().err())
}

/// Refuses rows that need more memory than the system reports as available.
fn check_memory(file: &Path, rows: u64, row_bytes: u64) -> PyResult<()> {
    let needed_bytes = rows.saturating_mul(row_bytes);
    match available_bytes() {
        Some(available_bytes) if needed_bytes > available_bytes => {
            let gib = |bytes: u64| bytes as f64 / (1_u64 << 30) as f64;
            let (file, needed_bytes, available_bytes) =
                (file.display(), gib(needed_bytes), gib(available_bytes));
            Err(error(format_args!(
                "{file}: its {rows} rows need {needed_bytes:.1} GiB of memory: {available_bytes:.1} GiB are available"
            )))
        }
        _ => Ok(()),
    }
}

/// Returns the memory that the system has available, bytes, or `None` if unknown.
#[expect(clippy::disallowed_methods, reason = "what the system says of its memory is a file")]
fn available_bytes() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
