//! Simulated runs: checks, and execution without the interpreter lock.
#![allow(clippy::disallowed_methods, reason = "how long a simulation took is reported")]

use crate::errors::Cause;
use crate::errors::error;
use crate::interpreter::{Interpreter, interruptible};
use crate::outside::RunResources;
use crate::source::interruptible_by_steps;
use crate::table::Table;
use measure::{RunMeter, RunStats};
use pyo3::prelude::*;
use recorder::Recorder;
use runs::{Backend, Live, LogLevel, Memory, Moment, Observer, RunSpec, meter_config};
use schemars::JsonSchema;
use serde::Serialize;
use simulator::Simulation;
use std::path::PathBuf;
use std::time::Instant;

/// Checks a path, given as JSON.
#[pyfunction]
pub(crate) fn check_path(py: Python<'_>, table: &str) -> PyResult<()> {
    let path: ::path::PathSpec = strict_input::parse(table).map_err(error)?;
    interruptible_by_steps(py, |until| path.validate_until(until))
}

/// Returns the properties of a path, given as JSON: base RTT, capacity and loss over time, links and bottleneck, as
/// JSON.
#[pyfunction]
pub(crate) fn describe_path(py: Python<'_>, table: &str) -> PyResult<String> {
    let path: ::path::PathSpec = strict_input::parse(table).map_err(error)?;
    let description = interruptible_by_steps(py, |until| path.describe_until(until))?;
    serde_json::to_string(&description).map_err(error)
}

/// Returns the delivery opportunities of a path's direction in its first `seconds`, ns. The path is given as JSON.
#[pyfunction]
pub(crate) fn opportunities(
    py: Python<'_>,
    table: &str,
    direction: &str,
    seed: u64,
    seconds: f64,
) -> PyResult<Vec<u64>> {
    let path: ::path::PathSpec = strict_input::parse(table).map_err(error)?;
    let elements = match direction {
        "data" => &path.data,
        "ack" => &path.ack,
        _ => return Err(error(format_args!("direction `{direction}`: allowed are data, ack"))),
    };
    if !(1e-3..=1e6).contains(&seconds) {
        return Err(error(format_args!("seconds = {seconds}: allowed is a number from 0.001 to 1000000")));
    }
    let length = units::Span::from_secs_f64(seconds);
    let times =
        interruptible_by_steps(py, |until| ::path::opportunities(elements, direction, seed, length, until))?;
    Ok(times.into_iter().map(units::Time::as_ns).collect())
}

/// Returns the times in ms of a trace in Mahimahi's text format.
#[pyfunction]
pub(crate) fn parse_trace(py: Python<'_>, text: &str) -> PyResult<Vec<u64>> {
    py.detach(|| ::path::parse_trace(text)).map_err(error)
}

/// Checks a run spec for `backend` (`sim` or `emu`), given as JSON.
#[pyfunction]
#[pyo3(signature = (specification, backend="sim"))]
pub(crate) fn check_run(py: Python<'_>, specification: &str, backend: &str) -> PyResult<()> {
    let backend = match backend {
        "sim" => Backend::Simulation,
        "emu" => Backend::Emulation,
        _ => return Err(error(format_args!("backend `{backend}`: allowed are sim, emu"))),
    };
    let mut spec = parse(specification)?;
    let resources = RunResources::for_run(py, &mut spec)?;
    interruptible_by_steps(py, |until| spec.validate_until(backend, &resources.registry, until))
}

/// Statistics of a simulated run: the content of `stats.json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "SimulatedRun")]
pub(crate) struct Report {
    #[serde(flatten)]
    stats: RunStats,
    /// Time in the simulator's loop by this machine's clock, s.
    sim_wall_s: f64,
    /// Number of events that the simulator processed.
    events: u64,
}

/// Simulates a run and returns its statistics as JSON. With a directory, writes its logs there.
///
/// `watch` is called at the end of every sample interval with the time in s and the state of flows and links. An
/// exception ends the run.
#[pyfunction]
#[pyo3(signature = (specification, directory=None, watch=None))]
pub(crate) fn simulate(
    py: Python<'_>,
    specification: &str,
    directory: Option<PathBuf>,
    watch: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut spec = parse(specification)?;
    let resources = RunResources::for_run(py, &mut spec)?;
    let report = interruptible(py, &resources, |python| {
        let recorder = Recorder::create(directory.as_deref(), &spec)?;
        let (report, store) = simulate_stored(&spec, &resources, python, (Some(recorder), None), watch)?;
        store.0.map_or(Ok(()), Recorder::finish)?;
        Ok(report)
    })?;
    serde_json::to_string(&report).map_err(error)
}

/// Measures the cost of the first flow's controller, independent of the path. Returns figures as JSON.
#[pyfunction]
pub(crate) fn controller_cost(py: Python<'_>, specification: &str) -> PyResult<String> {
    let mut spec = parse(specification)?;
    let resources = RunResources::for_run(py, &mut spec)?;
    let flow = spec.flows.first().ok_or_else(|| error("flows: there is none"))?;
    let entry = resources.registry.find(&flow.controller_name()).map_err(error)?.clone();
    let figures = interruptible(py, &resources, |_| Ok(cost::measure(flow, entry)?))?;
    serde_json::to_string(&figures).map_err(error)
}

/// Measures the controllers of the first flows of two runs in turn, independent of the paths. Returns figures as
/// JSON.
#[pyfunction]
pub(crate) fn controllers_beside(py: Python<'_>, candidate: &str, baseline: &str) -> PyResult<String> {
    let (mut candidate, mut baseline) = (parse(candidate)?, parse(baseline)?);
    let resources = [RunResources::for_run(py, &mut candidate)?, RunResources::for_run(py, &mut baseline)?];
    let first = |spec: &RunSpec, resources: &RunResources| {
        let flow = spec.flows.first().cloned().ok_or_else(|| error("flows: there is none"))?;
        let entry = resources.registry.find(&flow.controller_name()).map_err(error)?.clone();
        Ok::<_, PyErr>((flow, entry))
    };
    let (one, other) = (first(&candidate, &resources[0])?, first(&baseline, &resources[1])?);
    let measured = || Ok(cost::beside((&one.0, one.1.clone()), (&other.0, other.1.clone()))?);
    // A fault of either plug-in is the reason of a failure.
    let figures = interruptible(py, &resources[0], |_| resources[1].outcome(measured()))?;
    serde_json::to_string(&figures).map_err(error)
}

/// Results of a run in memory: statistics as JSON, the packet log, and the samples of flows and of links.
type InMemory = (String, Option<Table>, Table, Table);

/// Simulates a run without files. `watch` is as in [`simulate`].
#[pyfunction]
#[pyo3(signature = (specification, watch=None))]
pub(crate) fn simulate_in_memory(
    py: Python<'_>,
    specification: &str,
    watch: Option<Py<PyAny>>,
) -> PyResult<InMemory> {
    let mut spec = parse(specification)?;
    let resources = RunResources::for_run(py, &mut spec)?;
    let (report, store) = interruptible(py, &resources, |python| {
        simulate_stored(&spec, &resources, python, (None, Some(Memory::new(&spec))), watch)
    })?;
    let memory = store.1.unwrap_or_default();
    let packets = (spec.log != LogLevel::None).then(|| memory.packets.into());
    Ok((serde_json::to_string(&report).map_err(error)?, packets, memory.flows.into(), memory.links.into()))
}

/// Destination of a run's logs: files, memory. A type parameter instead would compile the simulator twice.
type RunStore = (Option<Recorder>, Option<Memory>);

/// Simulates a run that is stored and that `watch` may observe.
fn simulate_stored(
    spec: &RunSpec,
    resources: &RunResources,
    python: &Interpreter,
    store: RunStore,
    watch: Option<Py<PyAny>>,
) -> Result<(Report, RunStore), Cause> {
    let live = watch.map(|watch| Live::new(move |moment: &Moment| python.call(&watch, moment)));
    let (report, (store, ..)) =
        simulate_observed(spec, resources, (store, live, python.stop_when_interrupted()))?;
    Ok((report, store))
}

/// Simulates a run. Returns its statistics and the `observer`.
pub(crate) fn simulate_observed<O: Observer>(
    spec: &RunSpec,
    resources: &RunResources,
    observer: O,
) -> Result<(Report, O), Cause> {
    let simulation = Simulation::new(spec, &resources.registry)?;
    let mut observers = (RunMeter::new(meter_config(spec, Backend::Simulation)), observer);
    let started = Instant::now();
    let totals = simulation.run(&mut observers)?;
    let sim_wall_s = started.elapsed().as_secs_f64();
    let (meter, observer) = observers;
    Ok((Report { stats: totals.stats(meter)?, sim_wall_s, events: totals.events }, observer))
}

pub(crate) fn parse(specification: &str) -> PyResult<RunSpec> {
    strict_input::parse(specification).map_err(error)
}
