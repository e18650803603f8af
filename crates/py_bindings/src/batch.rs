//! Batches of simulated runs on several threads without the interpreter. Only the metrics are stored.
#![allow(clippy::disallowed_methods, reason = "a batch ends after a while")]

use crate::arrow::{Column, Names, Values};
use crate::errors::error;
use crate::outside::RunResources;
use crate::run::{parse, simulate_observed};
use crate::source::LogArgument;
use crate::table::Table;
use packetlog::{CellColumn, Cells, read_cells};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString};
use recorder::{NumberBatch, NumberTables, NumberedRun};
use runs::{LogLevel, RunSpec, StopWhen};
use serde::ser::{Error as _, Serialize, Serializer};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Time between two calls of the interpreter, which handles signals and receives the number of finished runs.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum finished runs that wait to be added to the tables, per thread.
const WAITING: usize = 64;
/// Statistics of a failed run, as JSON.
const EMPTY_STATISTICS: &str = r#"{"flows":[],"links":[],"network":{},"sim_wall_s":null,"events":null}"#;

/// Runs that differ only in seed and start times: index of the directory of their tables, path, scheme or mix, and
/// run spec as JSON.
type Template = (usize, String, String, String);
/// Run: index of its template, repetition, seed, and start time of each flow, s. Without start times the template's
/// apply.
type BatchRun = (usize, u32, u64, Vec<f64>);
/// Indices of the finished runs, failures with the reason, and the exception of a signal handler.
type Outcome = (Vec<usize>, Vec<(usize, String)>, Option<Py<PyAny>>);

struct PreparedRun {
    folder: usize,
    path: String,
    scheme: String,
    spec: RunSpec,
    resources: RunResources,
}

/// Simulates runs in order on `threads` threads, for at most `seconds`. Then writes their metrics into `folders`.
///
/// The files are `runs.parquet`, `flows.parquet` and `links.parquet`; a directory without finished runs gets none.
/// `told` is called now and then with the number of finished runs.
#[pyfunction]
pub(crate) fn simulate_batch(
    py: Python<'_>,
    templates: Vec<Template>,
    runs: Vec<BatchRun>,
    folders: Vec<PathBuf>,
    started_at: &str,
    limits: (usize, f64),
    told: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let mut prepared = Vec::with_capacity(templates.len());
    for (folder, path, scheme, specification) in templates {
        if folder >= folders.len() {
            return Err(error("a template of a batch has no folder"));
        }
        let mut spec = parse(&specification)?;
        spec.log = LogLevel::None;
        if spec.flows.iter().any(runs::FlowSpec::is_outside) {
            return Err(error(format_args!(
                "{scheme}: a controller from outside is not simulated in batches"
            )));
        }
        let resources = RunResources::for_run(py, &mut spec)?;
        prepared.push(PreparedRun { folder, path, scheme, spec, resources });
    }
    if runs.iter().any(|run| run.0 >= prepared.len()) {
        return Err(error("a run of a batch has no template"));
    }
    let (runs_made, failures, interrupt) = py.detach(|| {
        let batch = Batch::new(&prepared, &runs, limits);
        let mut tables: Vec<_> = folders.iter().map(|_| NumberTables::default()).collect();
        let (runs_made, failures, interrupt) = batch.make(started_at, &mut tables, told.as_ref());
        (write(tables, &folders).map(|()| runs_made).map_err(error), failures, interrupt)
    });
    Ok((runs_made?, failures, interrupt.map(|raised| raised.into_value(py).into_any())))
}

/// Run that another process made: index of its folder, path, scheme or mix, repetition, seed, statistics, and the reason
/// if the run failed.
type ReportedRun<'py> = (usize, String, String, u32, u64, Bound<'py, PyAny>, Option<String>);

/// Writes the numbers of runs that other processes made into `folders`, as [`simulate_batch`] does.
#[pyfunction]
pub(crate) fn write_numbers(
    py: Python<'_>,
    runs: Vec<ReportedRun<'_>>,
    folders: Vec<PathBuf>,
    started_at: &str,
) -> PyResult<()> {
    let mut tables: Vec<_> = folders.iter().map(|_| NumberTables::default()).collect();
    for (folder, path, scheme, run, seed, statistics, failure) in runs {
        let table = tables.get_mut(folder).ok_or_else(|| error("a run of a batch has no folder"))?;
        let failure = failure.as_deref();
        let identity = NumberedRun { path: &path, scheme: &scheme, run, seed, started_at, failure };
        let text = match failure {
            Some(_) => EMPTY_STATISTICS.to_owned(),
            None => serde_json::to_string(&PythonStatistics(statistics)).map_err(error)?,
        };
        table.add(&identity, &text);
    }
    py.detach(|| write(tables, &folders)).map_err(error)
}

/// Writes each table that has runs into its folder.
fn write(tables: Vec<NumberTables>, folders: &[PathBuf]) -> Result<(), packetlog::Error> {
    let mut filled = tables.into_iter().zip(folders).filter(|(table, _)| !table.is_empty());
    filled.try_for_each(|(table, folder)| table.write(folder))
}

/// Statistics that Python read from JSON. The core writes them as its own statistics, to the last digit.
struct PythonStatistics<'py>(Bound<'py, PyAny>);

impl Serialize for PythonStatistics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = &self.0;
        if let Ok(table) = value.cast::<PyDict>() {
            serializer
                .collect_map(table.iter().map(|(key, inner)| (key.to_string(), PythonStatistics(inner))))
        } else if let Ok(list) = value.cast::<PyList>() {
            serializer.collect_seq(list.iter().map(PythonStatistics))
        } else if let Ok(text) = value.cast::<PyString>() {
            serializer.collect_str(text)
        } else if value.is_none() {
            serializer.serialize_unit()
        } else if let Ok(flag) = value.cast::<PyBool>() {
            serializer.serialize_bool(flag.is_true())
        } else if let Ok(number) = value.extract::<i64>() {
            serializer.serialize_i64(number)
        } else {
            serializer.serialize_f64(value.extract().map_err(S::Error::custom)?)
        }
    }
}

/// Batch of runs in progress.
struct Batch<'a> {
    templates: &'a [PreparedRun],
    runs: &'a [BatchRun],
    threads: usize,
    deadline: Instant,
    /// Index of the next run.
    next: AtomicUsize,
    stops: AtomicBool,
}

impl<'a> Batch<'a> {
    fn new(templates: &'a [PreparedRun], runs: &'a [BatchRun], (threads, seconds): (usize, f64)) -> Self {
        let deadline = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 86_400.0));
        Self {
            templates,
            runs,
            threads: threads.max(1),
            deadline,
            next: AtomicUsize::new(0),
            stops: AtomicBool::new(false),
        }
    }

    /// Simulates runs until all are done, the time is over, or a signal arrives. Adds the runs to the tables in their
    /// order.
    fn make(
        &self,
        started_at: &str,
        tables: &mut [NumberTables],
        told: Option<&Py<PyAny>>,
    ) -> (Vec<usize>, Vec<(usize, String)>, Option<PyErr>) {
        let (mut finished, mut failures, mut interrupt) = (Vec::new(), Vec::new(), None);
        std::thread::scope(|scope| {
            let (send, receive) = sync_channel(self.threads * WAITING);
            for _ in 0..self.threads {
                let send = send.clone();
                scope.spawn(move || {
                    while let Some((place, result)) = self.make_next() {
                        if send.send((place, result)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(send);
            let mut waiting = BTreeMap::new();
            let mut add = |place: usize, result: Result<String, String>, finished: &mut Vec<usize>| {
                let (template, run, seed, _) = &self.runs[place];
                let PreparedRun { folder, path, scheme, .. } = &self.templates[*template];
                let failure = result.as_ref().err().map(String::as_str);
                let identity = NumberedRun { path, scheme, run: *run, seed: *seed, started_at, failure };
                tables[*folder].add(&identity, result.as_deref().unwrap_or(EMPTY_STATISTICS));
                finished.push(place);
                if let Err(reason) = result {
                    failures.push((place, reason));
                }
            };
            let mut due = Instant::now() + PROGRESS_INTERVAL;
            loop {
                match receive.recv_timeout(PROGRESS_INTERVAL) {
                    Ok((place, result)) => {
                        waiting.insert(place, result);
                        while let Some(result) = waiting.remove(&finished.len()) {
                            add(finished.len(), result, &mut finished);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if interrupt.is_none() && Instant::now() >= due {
                    interrupt = Python::attach(|py| {
                        py.check_signals()?;
                        told.map_or(Ok(()), |told| told.call1(py, (finished.len(),)).map(drop))
                    })
                    .err();
                    self.stops.store(interrupt.is_some(), Ordering::Relaxed);
                    due = Instant::now() + PROGRESS_INTERVAL;
                }
            }
            for (place, result) in waiting {
                add(place, result, &mut finished);
            }
        });
        (finished, failures, interrupt)
    }

    /// Simulates the next run. Returns `None` if there is none or the batch was stopped.
    fn make_next(&self) -> Option<(usize, Result<String, String>)> {
        let is_over = || self.stops.load(Ordering::Relaxed) || Instant::now() >= self.deadline;
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        if place >= self.runs.len() || (place > 0 && is_over()) {
            return None;
        }
        let result = catch_unwind(AssertUnwindSafe(|| self.simulated_statistics(&self.runs[place])))
            .unwrap_or_else(|panic| Err(format!("a fault of the simulator: {}", panic_message(&*panic))));
        (!self.stops.load(Ordering::Relaxed)).then_some((place, result))
    }

    /// Returns the statistics of a run as JSON, or the reason of its failure.
    fn simulated_statistics(&self, (template, _, seed, starts): &BatchRun) -> Result<String, String> {
        let PreparedRun { spec, resources, .. } = &self.templates[*template];
        let mut spec = spec.clone();
        spec.seed = *seed;
        for (flow, start_s) in spec.flows.iter_mut().zip(starts) {
            flow.start_s = *start_s;
        }
        let stop = StopWhen(|| self.stops.load(Ordering::Relaxed));
        let (report, _) = simulate_observed(&spec, resources, stop).map_err(|cause| cause.to_string())?;
        serde_json::to_string(&report).map_err(|cause| cause.to_string())
    }
}

/// Returns the message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("?")
}

/// Metrics of the runs of one batch, read from files.
#[pyclass(frozen, name = "NumberBatch", module = "dumbbell._core")]
#[derive(Debug)]
pub(crate) struct Numbers(NumberBatch);

#[pymethods]
impl Numbers {
    /// Reads the tables of a batch: runs, flows and links.
    #[new]
    fn of_files(py: Python<'_>, runs: LogArgument, flows: LogArgument, links: LogArgument) -> PyResult<Self> {
        py.detach(|| NumberBatch::read(runs.0, flows.0, links.0)).map(Self).map_err(error)
    }

    /// Returns the statistics of the run in a row, as JSON.
    fn statistics(&self, row: usize) -> PyResult<String> {
        if row >= self.0.len() {
            return Err(error(format_args!("no row {row}: there are {}", self.0.len())));
        }
        self.0.statistics(row).map_err(error)
    }
}

/// Reads a table of metrics of runs: the existing columns among `wanted`, or all columns.
#[pyfunction]
#[pyo3(signature = (file, wanted=None))]
pub(crate) fn read_numbers(
    py: Python<'_>,
    file: LogArgument,
    wanted: Option<Vec<String>>,
) -> PyResult<Table> {
    let columns = py.detach(|| read_cells(file.0, wanted.as_deref())).map_err(error)?;
    Ok(Table::new(columns.into_iter().map(Column::from).collect()))
}

/// Returns the names of the numeric columns of a table of metrics.
#[pyfunction]
pub(crate) fn number_names(file: LogArgument) -> PyResult<Vec<String>> {
    packetlog::number_names(file.0).map_err(error)
}

impl From<CellColumn> for Column {
    fn from(CellColumn { name, cells }: CellColumn) -> Self {
        let (values, present) = match cells {
            Cells::Integers(cells) => (Values::I64(fill_absent(&cells)), present(&cells)),
            Cells::Numbers(cells) => {
                let values = cells.iter().map(|cell| cell.unwrap_or(f64::NAN)).collect();
                (Values::F64(values), present(&cells))
            }
            Cells::Texts(codes, texts) => {
                (Values::WideCodes(fill_absent(&codes), Names::new(texts)), present(&codes))
            }
        };
        Self::with_gaps(&name, values, &present)
    }
}

fn present<T>(cells: &[Option<T>]) -> Vec<bool> {
    cells.iter().map(Option::is_some).collect()
}

fn fill_absent<T: Copy + Default>(cells: &[Option<T>]) -> Vec<T> {
    cells.iter().map(|cell| cell.unwrap_or_default()).collect()
}
