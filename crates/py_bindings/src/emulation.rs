//! Runs with real packets, a command behind an emulated path, and the preflight checks of this machine.

use crate::errors::error;
use crate::interpreter::interruptible;
use crate::outside::RunResources;
use crate::run::parse;
use datapath::{Emulated, EmulationLock, EmulationReport, Holder, LiveFile};
use measure::{RunMeter, RunStats};
use pyo3::prelude::*;
use recorder::Recorder;
use runs::{Backend, Observer, meter_config};
use schemars::JsonSchema;
use serde::Serialize;
use std::cell::Cell;
use std::path::PathBuf;

/// Statistics of a real-packet run: the content of `stats.json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "EmulatedRun")]
pub(crate) struct Report {
    #[serde(flatten)]
    stats: RunStats,
    /// Number of recorded events of real packets.
    events: u64,
    emulation: EmulationReport,
}

/// Executes a run with real packets and returns its statistics as JSON. With a directory, writes its logs there.
///
/// `waits` reports waiting for the emulation lock. It is called with `True`, the process that has the lock, and the
/// start of its run (seconds since 1970). It is called with `True` alone if they are unknown, and with `False` when
/// the run gets the lock.
///
/// `live` is a file that shows the progress during the run, and the number of the attempt.
#[pyfunction]
#[pyo3(signature = (specification, directory=None, waits=None, live=None))]
pub(crate) fn emulate(
    py: Python<'_>,
    specification: &str,
    directory: Option<PathBuf>,
    waits: Option<Py<PyAny>>,
    live: Option<(PathBuf, u32)>,
) -> PyResult<String> {
    let mut spec = parse(specification)?;
    let live = live.map(|(file, attempt)| LiveFile { file, attempt });
    let resources = RunResources::for_run(py, &mut spec)?;
    spec.validate(Backend::Emulation, &resources.registry).map_err(error)?;
    let report = interruptible(py, &resources, |python| {
        let meter = RunMeter::new(meter_config(&spec, Backend::Emulation));
        let recorder = Recorder::create(directory.as_deref(), &spec)?;
        let interrupted = python.stop_when_interrupted();
        let has_waited = Cell::new(false);
        let lock = EmulationLock::wait(&|| interrupted.stop().is_some(), &|holder| {
            has_waited.set(true);
            match (&waits, holder) {
                (Some(waits), Some(Holder { process, since_s })) => {
                    python.tell(waits, (true, process, since_s));
                }
                (Some(waits), None) => python.tell(waits, (true,)),
                (None, _) => {}
            }
        })?;
        if let Some(waits) = waits.filter(|_| has_waited.get()) {
            python.tell(&waits, (false,));
        }
        let mut observers = (meter, recorder, interrupted);
        let Emulated { totals, emulation } = datapath::run(
            &spec,
            &resources.registry,
            lock,
            live.as_ref(),
            directory.as_deref(),
            &mut observers,
        )?;
        let (meter, recorder, _) = observers;
        recorder.finish()?;
        let stats = totals.stats(meter)?;
        Ok(Report { stats, events: totals.events, emulation })
    })?;
    serde_json::to_string(&report).map_err(error)
}

/// Runs a command behind a path, given as JSON. Returns its exit status.
#[pyfunction]
pub(crate) fn emulate_shell(py: Python<'_>, specification: &str) -> PyResult<i32> {
    let spec: datapath::ShellSpec = strict_input::parse(specification).map_err(error)?;
    py.detach(|| datapath::run_shell(&spec)).map_err(error)
}

/// Returns the preflight checks for emulation on this machine, as a JSON list.
#[pyfunction]
pub(crate) fn check_emulation(py: Python<'_>) -> PyResult<String> {
    serde_json::to_string(&py.detach(datapath::check_emulation)).map_err(error)
}

/// Makes an ordinary user root in a user namespace. The process must have one thread.
#[pyfunction]
pub(crate) fn enter_user_namespace() -> PyResult<()> {
    datapath::enter_user_namespace().map_err(error)
}

/// Removes the private directories of killed runs.
#[pyfunction]
pub(crate) fn clean_up() {
    datapath::clean_up();
}
