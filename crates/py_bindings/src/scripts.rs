//! Scripts that drive a controller or the transport, and recording of a simulated run as a script.

use crate::errors::error;
use crate::interpreter::interruptible;
use crate::outside::{RunResources, read_files};
use crate::run::parse;
use congestion::{Build, Entry, Files, Parameters, Registry, Start};
use cost::{Recording, Shared, Tape, open};
use pyo3::prelude::*;
use script::{Script, Subject, Writer};
use serde_json::json;
use simulator::Simulation;
use std::sync::Arc;

/// Returns the head of a script as JSON: `drives`, `title`, `controller` and `parameters`.
#[pyfunction]
pub(crate) fn describe_script(text: &str) -> PyResult<String> {
    let script = Script::parse(text).map_err(error)?;
    let drives = match script.subject {
        Subject::Controller => "controller",
        Subject::Sender => "sender",
        Subject::Receiver => "receiver",
    };
    let Script { title, controller, parameters, transports, .. } = script;
    let description = json!({
        "drives": drives,
        "title": title,
        "controller": controller,
        "parameters": parameters,
        "transports": transports,
    });
    Ok(description.to_string())
}

/// Runs a script and returns a report as JSON: each condition, its value, and whether it holds.
///
/// With `steps`, the report has every event with all its fields and the answer.
///
/// The controller is the script's own, or the controller of a run's first flow (JSON). It also gets the script's
/// parameters. A controller that the script was not made for only gets the parameters that it has.
#[pyfunction]
#[pyo3(signature = (text, specification=None, steps=false))]
pub(crate) fn run_script(
    py: Python<'_>,
    text: &str,
    specification: Option<&str>,
    steps: bool,
) -> PyResult<String> {
    let script = Script::parse(text).map_err(error)?;
    let report = match specification {
        None if script.subject == Subject::Receiver => py.detach(|| script.run(None, false, steps)),
        None => {
            let registry = Registry::builtin();
            let entry = registry.find(&script.controller).map_err(error)?;
            let files = read_files(&script.parameters, entry.parameters, &mut Files::new())?;
            let mut parameters = Parameters::defaults(entry.parameters).with_files(files);
            for (name, value) in &script.parameters {
                parameters.set(name, value).map_err(error)?;
            }
            py.detach(|| script.run(Some((entry, &parameters)), false, steps))
        }
        Some(specification) => {
            let mut spec = parse(specification)?;
            let resources = RunResources::for_run(py, &mut spec)?;
            let flow = spec.flows.first().ok_or_else(|| error("flows: there is none"))?;
            let entry = resources.registry.find(&flow.controller_name()).map_err(error)?.clone();
            let mut parameters = Parameters::defaults(entry.parameters).with_files(flow.files.clone());
            let is_other = entry.name != script.controller;
            let script_parameters = script.parameters.iter().filter(|_| !is_other);
            for (name, value) in flow.parameters.iter().chain(script_parameters) {
                parameters.set(name, value).map_err(error)?;
            }
            if is_other && let Some(why) = script.lend(&entry, &mut parameters) {
                return Ok(script.not_applicable(&why).to_string());
            }
            return interruptible(py, &resources, |_| {
                Ok(script.run(Some((&entry, &parameters)), is_other, steps)?)
            })
            .map(|report| report.to_string());
        }
    };
    report.map(|report| report.to_string()).map_err(error)
}

/// Parameters and start of the recorded controller, stored when it is built.
type BuildArguments = Shared<Option<(Parameters, Start)>>;

/// Returns the events and answers of a simulated run's only flow, as a script. Its header begins with the lines
/// `head`.
#[pyfunction]
pub(crate) fn record_script(py: Python<'_>, specification: &str, head: &str) -> PyResult<String> {
    let mut spec = parse(specification)?;
    let resources = RunResources::for_run(py, &mut spec)?;
    let [flow] = spec.flows.as_slice() else { return Err(error("flows: expected one")) };
    let entry = resources.registry.find(&flow.controller_name()).map_err(error)?.clone();
    let (tape, build_arguments) = (Shared::<Tape>::default(), BuildArguments::default());
    let recording_entry = recording(&entry, &tape, &build_arguments);
    let mut registry = Registry::default();
    registry.add(recording_entry).map_err(error)?;
    let text = interruptible(py, &resources, |python| {
        let simulation = Simulation::new(&spec, &registry)?;
        simulation.run(&mut python.stop_when_interrupted())?;
        let arguments = open(&build_arguments).take();
        let Some((parameters, start)) = arguments else { return Ok(String::new()) };
        let mut writer = Writer::new(entry.build(&parameters, &start)?, &start, head);
        open(&tape).tell(&mut writer, || ());
        Ok(writer.into_text())
    })?;
    Ok(text)
}

/// Returns `entry` with controllers that record their events.
fn recording(entry: &Entry, tape: &Shared<Tape>, build_arguments: &BuildArguments) -> Entry {
    let (inner, tape, build_arguments) = (entry.clone(), Arc::clone(tape), Arc::clone(build_arguments));
    let build = Build::Closure(Arc::new(move |parameters: &Parameters, start: &Start| {
        *open(&build_arguments) = Some((parameters.clone(), start.clone()));
        let controller = inner.build(parameters, start).expect("the run was checked");
        Box::new(Recording::new(controller, &tape))
    }));
    Entry { build, ..entry.clone() }
}
