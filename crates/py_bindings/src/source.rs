//! Packet logs and samples: in files, or as tables in memory.

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

/// Rows of a log between two looks at the signals: a tenth of a second.
const ROWS_PER_LOOK: usize = 1 << 20;

/// Bytes of a record in a table.
const RECORD_BYTES: u64 = 37;
/// Bytes of a sample in a table.
const SAMPLE_BYTES: u64 = 28;

/// A packet log or samples: a table in memory, or a file.
#[derive(Debug)]
pub(crate) enum Source {
    Memory(Py<Table>),
    File(LogFile),
}

impl<'py> FromPyObject<'_, 'py> for Source {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match given.cast::<Table>() {
            Ok(table) => Ok(Self::Memory(table.to_owned().unbind())),
            Err(_) => given.extract::<LogArgument>().map(|log| Self::File(log.0)),
        }
    }
}

/// A file as Python names it: by its path, or as an `Entry`, which Python opens, for it follows no link.
#[derive(Debug)]
pub(crate) struct LogArgument(pub(crate) LogFile);

impl<'py> FromPyObject<'_, 'py> for LogArgument {
    type Error = PyErr;

    #[expect(clippy::disallowed_methods, reason = "Python opened the file")]
    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Ok(open) = given.getattr(intern!(given.py(), "open_regular")) else {
            return given.extract::<PathBuf>().map(|path| Self(path.into()));
        };
        let opened = open.call0()?;
        let descriptor: u32 = opened.call_method0(intern!(given.py(), "fileno"))?.extract()?;
        // A descriptor of its own: that of Python's file is closed.
        let file = File::open(format!("/proc/self/fd/{descriptor}"));
        opened.call_method0(intern!(given.py(), "close"))?;
        let file = file?;
        Ok(Self(LogFile::opened(file, given.str()?.extract()?)))
    }
}

impl Source {
    /// How many records a packet log has.
    pub(crate) fn rows(&self) -> PyResult<u64> {
        match self {
            Self::Memory(table) => Ok(rows(table.get().columns()) as u64),
            Self::File(file) => PacketLogReader::open(file.clone()).map(|log| log.rows()).map_err(error),
        }
    }

    /// Passes every record of a packet log to `visit`, until that fails.
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
    /// One line: the log has more flows or intervals than [`MemoryBound`] allows. What a signal raised.
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

    /// Returns the error `what`, in one line, with the name of the file in front if this is one.
    pub(crate) fn error(&self, what: impl Display) -> PyErr {
        match self {
            Self::Memory(_) => error(what),
            Self::File(file) => error(format_args!("{}: {what}", file.path().display())),
        }
    }

    /// The time series of samples: thinned where there are more than figures can show.
    ///
    /// # Errors
    /// One line: the file is damaged or has too many series. What a signal raised.
    pub(crate) fn series(&self) -> PyResult<Vec<Series>> {
        let none = || error("this table has no samples");
        match self {
            Self::Memory(table) => columns::series(table.get()).ok_or_else(none)?.map_err(error),
            Self::File(file) => series_of(file),
        }
    }
}

/// The records of a packet log as a table.
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

/// The rows of a table of samples.
#[pyfunction]
pub(crate) fn read_samples(py: Python<'_>, file: LogArgument) -> PyResult<Table> {
    py.detach(|| sampled(&file.0))
}

/// The rows of a table of samples.
fn sampled(file: &LogFile) -> PyResult<Table> {
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

/// The time series of a file of samples.
fn series_of(file: &LogFile) -> PyResult<Vec<Series>> {
    let (_, samples) = open_samples(file)?;
    let mut gathered = Gathered::default();
    each_sample(samples, |Sample { time_ns, key, field, unit, value }| {
        let added = gathered.add((key, field, unit), time_ns, value);
        added.map_err(|why| error(format_args!("{}: {why}", file.path().display())))
    })?;
    Ok(columns::sorted(gathered.into_series().map(|((key, field, unit), points)| {
        let key = match key {
            Key::Flow(flow) => flow.to_string(),
            Key::Link(link) => link.to_string(),
        };
        Series::new(key, &field, &unit, points)
    })))
}

/// Which table of samples a file is, by its name, and its rows.
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

/// Passes every record of a log to `visit`, until that fails or a signal raises something.
pub(crate) fn each_record(
    mut log: PacketLogReader,
    mut visit: impl FnMut(&Record) -> PyResult<()>,
) -> PyResult<()> {
    until_interrupted(|| log.read().map_err(error), |record| visit(&record))
}

/// Passes every sample to `visit`, until that fails or a signal raises something.
pub(crate) fn each_sample(
    mut samples: SampleReader,
    visit: impl FnMut(Sample) -> PyResult<()>,
) -> PyResult<()> {
    until_interrupted(|| samples.next().transpose().map_err(error), visit)
}

/// Passes what `next` gives to `visit`, until there is no more, one of them fails, or a signal raises something: Ctrl-C is
/// delivered when the interpreter is asked for it.
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

/// Does `work` without the interpreter's lock; what a signal handler raises meanwhile ends it.
///
/// # Errors
/// What the work says, in one line. What a signal raised.
pub(crate) fn interruptible<T: Send, E: Display + Send>(
    py: Python<'_>,
    work: impl FnOnce(&Interrupts) -> Result<T, E> + Send,
) -> PyResult<T> {
    let raised: Arc<OnceLock<PyErr>> = Arc::default();
    let heard = Arc::clone(&raised);
    let interrupts = Interrupts::when(move || {
        let found = raised_by_signal();
        found.is_some_and(|found| heard.set(found).is_ok())
    });
    py.detach(|| work(&interrupts))
        .map_err(|cause| raised.get().map_or_else(|| error(cause), |raised| raised.clone_ref(py)))
}

/// What a step of [`interruptible_by_steps`] costs, in lines of a log: to check a scheduled change takes a microsecond.
const LINES_PER_STEP: u64 = 8;

/// The same for work that says how many steps it has done.
pub(crate) fn interruptible_by_steps<T: Send, E: Display + Send>(
    py: Python<'_>,
    work: impl FnOnce(::path::Until<'_>) -> Result<T, E> + Send,
) -> PyResult<T> {
    interruptible(py, |interrupts| {
        let mut interrupts = interrupts.clone();
        work(&mut |steps| {
            interrupts.after(steps.saturating_mul(LINES_PER_STEP)).map_err(|_| ::path::Interrupted)
        })
    })
}

/// What the handler of a signal raised, if one came.
fn raised_by_signal() -> Option<PyErr> {
    Python::attach(|py| py.check_signals().err())
}

/// Refuses what would take more memory than this machine has available, where it says how much that is.
fn check_memory(file: &Path, rows: u64, row_bytes: u64) -> PyResult<()> {
    let needed = rows.saturating_mul(row_bytes);
    match available_bytes() {
        Some(available) if needed > available => {
            let gib = |bytes: u64| bytes as f64 / (1_u64 << 30) as f64;
            let (file, needed, available) = (file.display(), gib(needed), gib(available));
            Err(error(format_args!(
                "{file}: its {rows} rows need {needed:.1} GiB of memory: {available:.1} GiB are available"
            )))
        }
        _ => Ok(()),
    }
}

/// How much memory the system can still give, bytes.
#[expect(clippy::disallowed_methods, reason = "what the system says of its memory is a file")]
fn available_bytes() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
