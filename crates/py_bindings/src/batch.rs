//! Many simulated runs at once, of which only the numbers are kept: made by threads, without the interpreter.
#![allow(clippy::disallowed_methods, reason = "a batch ends after a while")]

use crate::arrow::{Column, Names, Values};
use crate::errors::error;
use crate::outside::Loaded;
use crate::run::{observed, parse};
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

/// Time between two calls of the interpreter, which delivers signals and takes the number of runs that are made.
const TELL: Duration = Duration::from_millis(200);
/// Runs that may wait to be added to the tables, for each thread.
const WAITING: usize = 64;
/// The statistics of a run that failed, as JSON.
const NOTHING: &str = r#"{"flows":[],"links":[],"network":{},"sim_wall_s":null,"events":null}"#;

/// Runs that differ in seed and starts only: the place of the folder of their tables, path, scheme or mix, and the
/// specification of one of them as JSON.
type Template = (usize, String, String, String);
/// A run: place of its template, repetition, seed, and when each flow starts, s; as in the template without any.
type BatchRun = (usize, u32, u64, Vec<f64>);
/// Places of the runs that were made, those that failed with the reason, and what a signal handler raised meanwhile.
type Outcome = (Vec<usize>, Vec<(usize, String)>, Option<Py<PyAny>>);

struct Prepared {
    folder: usize,
    path: String,
    scheme: String,
    spec: RunSpec,
    loaded: Loaded,
}

/// Simulates runs in their order on `threads` threads, for `seconds` at most, then writes their numbers into `folders`
/// (`runs.parquet`, `flows.parquet`, `links.parquet`); nothing into one of which no run was made. `told` is called now
/// and then with the number of runs that are made.
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
        let loaded = Loaded::for_run(py, &mut spec)?;
        prepared.push(Prepared { folder, path, scheme, spec, loaded });
    }
    if runs.iter().any(|run| run.0 >= prepared.len()) {
        return Err(error("a run of a batch has no template"));
    }
    let (made, failures, raised) = py.detach(|| {
        let batch = Batch::new(&prepared, &runs, limits);
        let mut tables: Vec<_> = folders.iter().map(|_| NumberTables::default()).collect();
        let (made, failures, raised) = batch.make(started_at, &mut tables, told.as_ref());
        (write(tables, &folders).map(|()| made).map_err(error), failures, raised)
    });
    Ok((made?, failures, raised.map(|raised| raised.into_value(py).into_any())))
}

/// A run that was made elsewhere: the place of the folder of its tables, path, scheme or mix, repetition, seed, its
/// statistics, and the reason if it failed.
type MadeRun<'py> = (usize, String, String, u32, u64, Bound<'py, PyAny>, Option<String>);

/// Writes the numbers of runs that were made elsewhere into `folders`, as [`simulate_batch`] does.
#[pyfunction]
pub(crate) fn write_numbers(
    py: Python<'_>,
    runs: Vec<MadeRun<'_>>,
    folders: Vec<PathBuf>,
    started_at: &str,
) -> PyResult<()> {
    let mut tables: Vec<_> = folders.iter().map(|_| NumberTables::default()).collect();
    for (folder, path, scheme, run, seed, statistics, failure) in runs {
        let table = tables.get_mut(folder).ok_or_else(|| error("a run of a batch has no folder"))?;
        let failure = failure.as_deref();
        let identity = NumberedRun { path: &path, scheme: &scheme, run, seed, started_at, failure };
        let text = match failure {
            Some(_) => NOTHING.to_owned(),
            None => serde_json::to_string(&Told(statistics)).map_err(error)?,
        };
        table.add(&identity, &text);
    }
    py.detach(|| write(tables, &folders)).map_err(error)
}

/// Writes tables into their folders; nothing into one of a table without runs.
fn write(tables: Vec<NumberTables>, folders: &[PathBuf]) -> Result<(), packetlog::Error> {
    let mut filled = tables.into_iter().zip(folders).filter(|(table, _)| !table.is_empty());
    filled.try_for_each(|(table, folder)| table.write(folder))
}

/// What Python read of JSON. The core writes it as it writes its own statistics, to the last digit.
struct Told<'py>(Bound<'py, PyAny>);

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let told = &self.0;
        if let Ok(table) = told.cast::<PyDict>() {
            serializer.collect_map(table.iter().map(|(key, value)| (key.to_string(), Told(value))))
        } else if let Ok(list) = told.cast::<PyList>() {
            serializer.collect_seq(list.iter().map(Told))
        } else if let Ok(text) = told.cast::<PyString>() {
            serializer.collect_str(text)
        } else if told.is_none() {
            serializer.serialize_unit()
        } else if let Ok(flag) = told.cast::<PyBool>() {
            serializer.serialize_bool(flag.is_true())
        } else if let Ok(number) = told.extract::<i64>() {
            serializer.serialize_i64(number)
        } else {
            serializer.serialize_f64(told.extract().map_err(S::Error::custom)?)
        }
    }
}

/// Runs while they are made.
struct Batch<'a> {
    prepared: &'a [Prepared],
    runs: &'a [BatchRun],
    threads: usize,
    ends: Instant,
    /// The run that begins next.
    next: AtomicUsize,
    stops: AtomicBool,
}

impl<'a> Batch<'a> {
    fn new(prepared: &'a [Prepared], runs: &'a [BatchRun], (threads, seconds): (usize, f64)) -> Self {
        let ends = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 86_400.0));
        Self {
            prepared,
            runs,
            threads: threads.max(1),
            ends,
            next: AtomicUsize::new(0),
            stops: AtomicBool::new(false),
        }
    }

    /// Makes runs until there are no more, or the time is up, or a signal came. They are added in their order.
    fn make(
        &self,
        started_at: &str,
        tables: &mut [NumberTables],
        told: Option<&Py<PyAny>>,
    ) -> (Vec<usize>, Vec<(usize, String)>, Option<PyErr>) {
        let (mut made, mut failures, mut raised) = (Vec::new(), Vec::new(), None);
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
            let mut add = |place: usize, result: Result<String, String>, made: &mut Vec<usize>| {
                let (of, run, seed, _) = &self.runs[place];
                let Prepared { folder, path, scheme, .. } = &self.prepared[*of];
                let failure = result.as_ref().err().map(String::as_str);
                let identity = NumberedRun { path, scheme, run: *run, seed: *seed, started_at, failure };
                tables[*folder].add(&identity, result.as_deref().unwrap_or(NOTHING));
                made.push(place);
                if let Err(reason) = result {
                    failures.push((place, reason));
                }
            };
            let mut due = Instant::now() + TELL;
            loop {
                match receive.recv_timeout(TELL) {
                    Ok((place, result)) => {
                        waiting.insert(place, result);
                        while let Some(result) = waiting.remove(&made.len()) {
                            add(made.len(), result, &mut made);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if raised.is_none() && Instant::now() >= due {
                    raised = Python::attach(|py| {
                        py.check_signals()?;
                        told.map_or(Ok(()), |told| told.call1(py, (made.len(),)).map(drop))
                    })
                    .err();
                    self.stops.store(raised.is_some(), Ordering::Relaxed);
                    due = Instant::now() + TELL;
                }
            }
            for (place, result) in waiting {
                add(place, result, &mut made);
            }
        });
        (made, failures, raised)
    }

    /// Makes the run that is next; none if there is none, or it was stopped.
    fn make_next(&self) -> Option<(usize, Result<String, String>)> {
        let is_over = || self.stops.load(Ordering::Relaxed) || Instant::now() >= self.ends;
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        if place >= self.runs.len() || (place > 0 && is_over()) {
            return None;
        }
        let result = catch_unwind(AssertUnwindSafe(|| self.simulated(&self.runs[place])))
            .unwrap_or_else(|panic| Err(format!("a fault of the simulator: {}", words(&*panic))));
        (!self.stops.load(Ordering::Relaxed)).then_some((place, result))
    }

    /// The statistics of a run as JSON, or why it failed.
    fn simulated(&self, (of, _, seed, starts): &BatchRun) -> Result<String, String> {
        let Prepared { spec, loaded, .. } = &self.prepared[*of];
        let mut spec = spec.clone();
        spec.seed = *seed;
        for (flow, start_s) in spec.flows.iter_mut().zip(starts) {
            flow.start_s = *start_s;
        }
        let stop = StopWhen(|| self.stops.load(Ordering::Relaxed));
        let (report, _) = observed(&spec, loaded, stop).map_err(|cause| cause.to_string())?;
        serde_json::to_string(&report).map_err(|cause| cause.to_string())
    }
}

/// The message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("?")
}

/// The numbers of the runs of one batch, read back.
#[pyclass(frozen, name = "NumberBatch", module = "dumbbell._core")]
#[derive(Debug)]
pub(crate) struct Numbers(NumberBatch);

#[pymethods]
impl Numbers {
    /// Reads the tables of a batch: those of runs, of flows, of links.
    #[new]
    fn of_files(py: Python<'_>, runs: LogArgument, flows: LogArgument, links: LogArgument) -> PyResult<Self> {
        py.detach(|| NumberBatch::read(runs.0, flows.0, links.0)).map(Self).map_err(error)
    }

    /// The statistics of the run in a row, as JSON.
    fn statistics(&self, row: usize) -> PyResult<String> {
        if row >= self.0.len() {
            return Err(error(format_args!("no row {row}: there are {}", self.0.len())));
        }
        self.0.statistics(row).map_err(error)
    }
}

/// Reads a table of numbers of runs: columns that are there of those that are `wanted`, or all.
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

/// The names of the columns of numbers of such a table.
#[pyfunction]
pub(crate) fn number_names(file: LogArgument) -> PyResult<Vec<String>> {
    packetlog::number_names(file.0).map_err(error)
}

impl From<CellColumn> for Column {
    fn from(CellColumn { name, cells }: CellColumn) -> Self {
        let (values, present) = match cells {
            Cells::Integers(cells) => (Values::I64(filled(&cells)), present(&cells)),
            Cells::Numbers(cells) => {
                let values = cells.iter().map(|cell| cell.unwrap_or(f64::NAN)).collect();
                (Values::F64(values), present(&cells))
            }
            Cells::Texts(codes, texts) => {
                (Values::WideCodes(filled(&codes), Names::new(texts)), present(&codes))
            }
        };
        Self::with_gaps(&name, values, &present)
    }
}

fn present<T>(cells: &[Option<T>]) -> Vec<bool> {
    cells.iter().map(Option::is_some).collect()
}

fn filled<T: Copy + Default>(cells: &[Option<T>]) -> Vec<T> {
    cells.iter().map(|cell| cell.unwrap_or_default()).collect()
}
