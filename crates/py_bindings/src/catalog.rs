//! Catalog of the core: controllers and their parameters, transports, metrics.

use crate::errors::error;
use crate::outside::read_files;
use crate::parameter::parameter_json;
use congestion::{Files, Parameters, Registry, Start};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use units::Time;

/// Returns true if a string is a valid name of a scheme, path, experiment or cell.
#[pyfunction]
pub(crate) fn is_name(text: &str) -> bool {
    strict_input::is_name(text)
}

/// Returns the rule for names, as the end of an error message.
#[pyfunction]
pub(crate) const fn name_rule() -> &'static str {
    strict_input::NAME_RULE
}

/// Returns every controller as JSON: name, summary, parameters.
#[pyfunction]
pub(crate) fn controllers() -> String {
    let list: Vec<Json> = Registry::builtin()
        .iter()
        .map(|entry| {
            let parameters: Vec<Json> = entry.parameters.iter().map(parameter_json).collect();
            json!({"name": entry.name, "summary": entry.summary, "parameters": parameters})
        })
        .collect();
    Json::from(list).to_string()
}

/// Returns the parameters that name required files, by controller.
#[pyfunction]
pub(crate) fn needed_files() -> BTreeMap<&'static str, Vec<&'static str>> {
    let registry = Registry::builtin();
    let file_lists = registry.iter().map(|entry| {
        let file_lists = entry.parameters.iter().filter(|parameter| parameter.is_needed);
        (entry.name, file_lists.map(|parameter| parameter.name).collect())
    });
    file_lists.filter(|(_, names): &(_, Vec<_>)| !names.is_empty()).collect()
}

/// Checks parameters of `controller`, given as strings, and the files that they name.
#[pyfunction]
pub(crate) fn check_parameters(controller: &str, parameters: BTreeMap<String, String>) -> PyResult<()> {
    let registry = Registry::builtin();
    let entry = registry.find(controller).map_err(error)?;
    let files = read_files(&parameters, entry.parameters, &mut Files::new())?;
    let mut values = Parameters::defaults(entry.parameters).with_files(files);
    for (name, text) in &parameters {
        values.set(name, text).map_err(error)?;
    }
    let start = Start { now: Time::ZERO, mss_bytes: 1448, initial_window_bytes: 14_480, seed: 1 };
    entry.check(&values, &start).map_err(error)
}

/// Checks an application, given as JSON.
#[pyfunction]
pub(crate) fn check_application(table: &str) -> PyResult<()> {
    let json: Json = serde_json::from_str(table).map_err(error)?;
    let application: ::transport::ApplicationSpec =
        strict_input::read(&json, "application").map_err(error)?;
    application.validate().map_err(error)
}

/// Returns the complete configuration of a transport table, as JSON.
#[pyfunction]
pub(crate) fn transport(table: &str) -> PyResult<String> {
    let json: Json = serde_json::from_str(table).map_err(error)?;
    let config = ::transport::Config::from_json(&json).map_err(error)?;
    serde_json::to_string(&config).map_err(error)
}
