//! Scripts that drive a controller or the transport, and what a simulated run told a controller, as a script.

use crate::errors::error;
use crate::interpreter::interruptible;
use crate::outside::{Loaded, read_files};
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
    let told = json!({
        "drives": drives,
        "title": title,
        "controller": controller,
        "parameters": parameters,
        "transports": transports,
    });
    Ok(told.to_string())
}

/// Runs a script, as JSON: each condition, what was found and whether it holds; with `steps` every event with all of its
/// fields and the answer to it. The controller is the script's own, or that of the first flow of a run (JSON): it gets the script's
/// parameters, too; one that the script is not for gets those that it has.
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
            let loaded = Loaded::for_run(py, &mut spec)?;
            let flow = spec.flows.first().ok_or_else(|| error("flows: there is none"))?;
            let entry = loaded.registry.find(&flow.controller_name()).map_err(error)?.clone();
            let mut parameters = Parameters::defaults(entry.parameters).with_files(flow.files.clone());
            let is_other = entry.name != script.controller;
            let own = script.parameters.iter().filter(|_| !is_other);
            for (name, value) in flow.parameters.iter().chain(own) {
                parameters.set(name, value).map_err(error)?;
            }
            if is_other && let Some(why) = script.lend(&entry, &mut parameters) {
                return Ok(script.not_applicable(&why).to_string());
            }
            return interruptible(py, &loaded, |_| {
                Ok(script.run(Some((&entry, &parameters)), is_other, steps)?)
            })
            .map(|report| report.to_string());
        }
    };
    report.map(|report| report.to_string()).map_err(error)
}

/// Parameters and start of the recorded controller, noted when it was built.
type Built = Shared<Option<(Parameters, Start)>>;

/// What the controller of the only flow of a simulated run is told and answers, as a script whose header begins with the lines
/// `head`.
#[pyfunction]
pub(crate) fn record_script(py: Python<'_>, specification: &str, head: &str) -> PyResult<String> {
    let mut spec = parse(specification)?;
    let loaded = Loaded::for_run(py, &mut spec)?;
    let [flow] = spec.flows.as_slice() else { return Err(error("flows: expected one")) };
    let entry = loaded.registry.find(&flow.controller_name()).map_err(error)?.clone();
    let (tape, built) = (Shared::<Tape>::default(), Built::default());
    let recorded = recording(&entry, &tape, &built);
    let mut registry = Registry::default();
    registry.add(recorded).map_err(error)?;
    let text = interruptible(py, &loaded, |python| {
        let simulation = Simulation::new(&spec, &registry)?;
        simulation.run(&mut python.stop_when_interrupted())?;
        let taken = open(&built).take();
        let Some((parameters, start)) = taken else { return Ok(String::new()) };
        let mut writer = Writer::new(entry.build(&parameters, &start)?, &start, head);
        open(&tape).tell(&mut writer, || ());
        Ok(writer.into_text())
    })?;
    Ok(text)
}

/// `entry`, whose controllers write down what they are told.
fn recording(entry: &Entry, tape: &Shared<Tape>, built: &Built) -> Entry {
    let (inner, tape, built) = (entry.clone(), Arc::clone(tape), Arc::clone(built));
    let build = Build::Closure(Arc::new(move |parameters: &Parameters, start: &Start| {
        *open(&built) = Some((parameters.clone(), start.clone()));
        let controller = inner.build(parameters, start).expect("the run was checked");
        Box::new(Recording::new(controller, &tape))
    }));
    Entry { build, ..entry.clone() }
}
