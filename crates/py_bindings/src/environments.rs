//! Environments for agents: the interface of the crate `gym` for `dumbbell_gym`.
//!
//! The arrays of environments are memory of the core that numpy reads and writes in place.

use crate::errors::{Cause, error};
use crate::outside::read_files;
use crate::table::Table;
use congestion::{Files, Registry, SIGHTS, STEP_FIELDS};
use gym::{Autoreset, ORACLE_FIELDS, REWARDS, Task, TaskSpec, Vector};
use measure::RunMeter;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use runs::{Backend, FlowSpec, LogLevel, Memory, meter_config};
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Several environments of one task (JSON), stepped together.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct Environments {
    /// Environments. The mutex allows one call at a time, since their data belongs to one thread.
    vector: Mutex<Vector>,
    inputs: usize,
    outputs: usize,
}

#[pymethods]
impl Environments {
    /// Creates `count` environments on `threads` threads.
    ///
    /// `autoreset` is `next-step`, `same-step` or `disabled`. With `keeps`, episodes can be recorded.
    #[new]
    #[pyo3(signature = (task, count, threads, autoreset="next-step", keeps=false))]
    fn new(
        py: Python<'_>,
        task: &str,
        count: usize,
        threads: usize,
        autoreset: &str,
        keeps: bool,
    ) -> PyResult<Self> {
        let autoreset = match autoreset {
            "next-step" => Autoreset::NextStep,
            "same-step" => Autoreset::SameStep,
            "disabled" => Autoreset::Disabled,
            other => {
                return Err(error(format_args!(
                    "autoreset = `{other}`: allowed are next-step, same-step, disabled"
                )));
            }
        };
        let task: TaskSpec = strict_input::parse(task).map_err(error)?;
        let mut read = Files::new();
        let file_lists = task.scenarios.iter().map(|scenario| files(&scenario.run, &mut read));
        let files = file_lists.collect::<PyResult<_>>()?;
        let vector =
            py.detach(|| Vector::new(Arc::new(Task::new(task, files)?), count, threads, autoreset, keeps));
        let vector = vector.map_err(error)?;
        let (inputs, outputs) = (vector.inputs(), vector.outputs());
        Ok(Self { vector: Mutex::new(vector), inputs, outputs })
    }

    /// Returns the length of an observation.
    #[getter]
    const fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the length of an action.
    #[getter]
    const fn outputs(&self) -> usize {
        self.outputs
    }

    /// Begins episodes of all environments, or of the environments in `mask`.
    #[pyo3(signature = (seeds, mask=None))]
    fn reset(&self, py: Python<'_>, seeds: Vec<Option<u64>>, mask: Option<Vec<bool>>) -> PyResult<()> {
        py.detach(|| self.lock().reset(&seeds, mask.as_deref())).map_err(error)
    }

    /// Performs one step of every environment with the values in `actions`.
    fn step(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.lock().step()).map_err(error)
    }

    /// Returns one of the arrays in a form that numpy uses without copying.
    fn array(this: &Bound<'_, Self>, name: &str) -> PyResult<ArrayView> {
        let vector = this.get().lock();
        let arrays = &vector.arrays;
        let (address, length, kind) = match name {
            "observations" => place(&arrays.observations, "f4"),
            "final_observations" => place(&arrays.final_observations, "f4"),
            "actions" => place(&arrays.actions, "f4"),
            "rewards" => place(&arrays.rewards, "f8"),
            "terminated" => place(&arrays.terminated, "b1"),
            "truncated" => place(&arrays.truncated, "b1"),
            "due" => place(&arrays.due, "b1"),
            "values" => place(&arrays.values, "f8"),
            "oracle" => place(&arrays.oracle, "f8"),
            "episodes" => place(&arrays.episodes, "f8"),
            "ended" => place(&arrays.ended, "b1"),
            "times" => place(&arrays.times, "f8"),
            _ => return Err(error(format_args!("no array `{name}`"))),
        };
        Ok(ArrayView { _owner: this.clone().unbind(), address, length, kind })
    }

    /// Returns the seed of an episode's run, and its random draws as JSON.
    fn drawn(&self, index: usize) -> PyResult<(u64, String)> {
        let vector = self.lock();
        let environment = vector.environments().get(index);
        let environment = environment.ok_or_else(|| error(format_args!("no environment {index}")))?;
        Ok((environment.run_seed(), serde_json::to_string(environment.drawn()).map_err(error)?))
    }

    /// Returns an environment's episode so far as a run: run spec and statistics as JSON, packet log, samples of
    /// flows and of links.
    #[pyo3(signature = (index, sample_interval_s=0.1))]
    fn record(&self, py: Python<'_>, index: usize, sample_interval_s: f64) -> PyResult<EpisodeRecord> {
        let recording = match self.lock().environments().get(index) {
            Some(environment) => environment.record(LogLevel::Packets, sample_interval_s).map_err(error)?,
            None => return Err(error(format_args!("no environment {index}"))),
        };
        let spec = &recording.spec;
        let (stats, memory) = py
            .detach(|| {
                let meter = RunMeter::new(meter_config(spec, Backend::Simulation));
                let mut observers = (meter, Memory::new(spec));
                let totals = recording.replay(&mut observers)?;
                let (meter, memory) = observers;
                Ok::<_, Cause>((totals.stats(meter)?, memory))
            })
            .map_err(error)?;
        let json = |value: serde_json::Result<String>| value.map_err(error);
        Ok((
            json(serde_json::to_string(spec))?,
            json(serde_json::to_string(&stats))?,
            memory.packets.into(),
            memory.flows.into(),
            memory.links.into(),
        ))
    }
}

type EpisodeRecord = (String, String, Table, Table, Table);

impl Environments {
    fn lock(&self) -> MutexGuard<'_, Vector> {
        // After a panic, the numbers are still safe to read.
        self.vector.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place<T>(values: &[T], kind: &'static str) -> (usize, usize, &'static str) {
    (values.as_ptr() as usize, values.len(), kind)
}

/// Array of [`Environments`], at a fixed address.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct ArrayView {
    /// Owner of the memory.
    _owner: Py<Environments>,
    address: usize,
    length: usize,
    kind: &'static str,
}

#[pymethods]
impl ArrayView {
    /// Returns the address and type of the numbers: <https://numpy.org/doc/stable/reference/arrays.interface.html>.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let order = match self.kind {
            "b1" => '|',
            _ if cfg!(target_endian = "little") => '<',
            _ => '>',
        };
        let read_only = false;
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.length,))?;
        interface.set_item("typestr", format!("{order}{}", self.kind))?;
        interface.set_item("data", (self.address, read_only))?;
        Ok(interface)
    }
}

/// Returns the files that the parameters of a run's flows name. `read` is a cache, see [`read_files`].
fn files(run: &serde_json::Value, read: &mut Files) -> PyResult<Vec<Files>> {
    let registry = Registry::with_agents();
    let flows = run["flows"].as_array().map_or(&[][..], Vec::as_slice);
    let files_of_flow = |flow: &serde_json::Value| {
        let flow: FlowSpec = serde_json::from_value(flow.clone()).map_err(error)?;
        if flow.is_outside() || !flow.is_core() {
            return Err(error(format_args!("{}: allowed are controllers of dumbbell's own", flow.scheme)));
        }
        let entry = registry.find(&flow.controller_name()).map_err(error)?;
        if flow.controller.starts_with("agent-") {
            return Ok(Files::new());
        }
        read_files(&flow.parameters, entry.parameters, read)
    };
    flows.iter().map(files_of_flow).collect()
}

/// Returns the fields of environments as JSON.
///
/// `fields` of a step and of the `oracle` have name, unit and meaning, `rewards` name and meaning. `sights`, the
/// inputs of user policies, have name, lowest value, highest value and meaning. `agents` lists the agents.
#[pyfunction]
pub(crate) fn environment_fields() -> String {
    let sights: Vec<_> =
        SIGHTS.iter().map(|sight| json!([sight.name, sight.low, sight.high, sight.help.trim()])).collect();
    let trimmed = |fields: &[(&str, &str, &str)]| -> Vec<[String; 3]> {
        fields.iter().map(|(name, unit, help)| [*name, *unit, help.trim()].map(str::to_owned)).collect()
    };
    let registry = Registry::with_agents();
    let agents: Vec<&str> =
        registry.iter().map(|entry| entry.name).filter_map(|name| name.strip_prefix("agent-")).collect();
    json!({"fields": trimmed(STEP_FIELDS), "oracle": trimmed(ORACLE_FIELDS), "rewards": REWARDS, "sights": sights,
           "agents": agents})
    .to_string()
}
