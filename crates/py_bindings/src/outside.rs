//! Controllers from outside: loaded for a run, described for people.

use crate::controller::{Class, classes};
use crate::errors::Cause;
use crate::errors::error;
use congestion::{Files, Parameter, ParameterKind, Registry};
use plugin::{Callback, Code, Description, Library, Watch, read_regular};
use pyo3::prelude::*;
use runs::{FlowSpec, PluginSpec, PythonSpec, RunSpec};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a run needs besides its specification.
pub(crate) struct Loaded {
    /// Built-in controllers and those that its flows name.
    pub(crate) registry: Registry,
    /// What those from outside do wrong.
    pub(crate) watch: Arc<Watch>,
}

impl Loaded {
    /// What is built in, for work that names nothing else.
    #[cfg(feature = "training")]
    pub(crate) fn builtin() -> Self {
        Self { registry: Registry::builtin(), watch: Arc::new(Watch::default()) }
    }

    /// Loads what the flows of `spec` name: libraries, classes, and files of parameters.
    pub(crate) fn for_run(py: Python<'_>, spec: &mut RunSpec) -> PyResult<Self> {
        let (mut registry, watch) = (Registry::builtin(), Arc::new(Watch::default()));
        let mut read = Files::new();
        for flow in &mut spec.flows {
            let name = flow.controller_name().into_owned();
            if flow.is_outside() && registry.find(&name).is_err() {
                registry.add(entry(py, flow, &name, &watch)?).map_err(error)?;
            }
            if flow.is_core() {
                let declared = registry.find(&name).map_or(&[][..], |entry| entry.parameters);
                flow.files = read_files(&flow.parameters, declared, &mut read)?;
            }
        }
        // A plug-in that was loaded now or for an earlier run may have changed how this thread rounds.
        plugin::restore_rounding();
        Ok(Self { registry, watch })
    }

    /// What a run came to: what went wrong in a plug-in is the reason, whatever else is.
    pub(crate) fn outcome<T>(&self, result: Result<T, Cause>) -> Result<T, Cause> {
        match self.watch.failure() {
            Some(failure) => Err(failure.into()),
            None => result,
        }
    }
}

fn entry(py: Python<'_>, flow: &FlowSpec, name: &str, watch: &Arc<Watch>) -> PyResult<congestion::Entry> {
    let code = |file: &str, sha256: &Option<String>| Code::read(Path::new(file), sha256.as_deref());
    match (&flow.plugin, &flow.python) {
        (Some(PluginSpec { library, sha256 }), _) => code(library, sha256)
            .and_then(|code| Library::open(&code))
            .and_then(|library| library.entry(&flow.controller, name, watch))
            .map_err(error),
        (None, Some(PythonSpec { file, sha256 })) => {
            let code = code(file, sha256).map_err(error)?;
            Ok(Class::load(py, file, &code, &flow.controller)?.entry(name, watch))
        }
        (None, None) => Err(error(format_args!("{name}: no plug-in"))),
    }
}

/// Largest file that a parameter may name, as `input_files.PARAMETER` of the Python package has it.
const MOST_FILE_BYTES: u64 = 256 << 20;

/// The files that `parameters` name: those in `read`, and others, which then are there too.
pub(crate) fn read_files(
    parameters: &BTreeMap<String, String>,
    declared: &[Parameter],
    read: &mut Files,
) -> PyResult<Files> {
    let mut files = Files::new();
    for parameter in declared.iter().filter(|parameter| parameter.kind == ParameterKind::File) {
        let Some(name) = parameters.get(parameter.name) else { continue };
        if !read.contains_key(name) {
            let contents = read_regular(Path::new(name), MOST_FILE_BYTES)
                .map_err(|why| error(format_args!("`{}` = `{name}`: {why}", parameter.name)))?;
            read.insert(name.clone(), contents.into());
        }
        files.insert(name.clone(), read[name].clone());
    }
    Ok(files)
}

/// What a library or a file with classes declares: a JSON list with `name`, `summary`, `parameters`, `fields` and `hears_ecn`
/// of each. The file's bytes must have the SHA-256 `sha256` (hexadecimal). Its code runs in this process.
#[pyfunction]
pub(crate) fn describe_plugin(py: Python<'_>, file: PathBuf, sha256: &str) -> PyResult<String> {
    let mut list: Vec<Json> = Vec::new();
    let code = Code::read(&file, Some(sha256)).map_err(error)?;
    if file.extension().is_some_and(|extension| extension == "py") {
        let file = file.to_string_lossy();
        for name in classes(py, &file, &code)? {
            let class = Class::load(py, &file, &code, &name)?;
            let hears_ecn = class.has(py, Callback::OnEcn)?;
            list.push(description(&name, class.summary, class.parameters, &class.fields, hears_ecn));
        }
    } else {
        let library = Library::open(&code).map_err(error)?;
        list.extend(library.controllers().map(|controller| {
            let Description { name, summary, parameters, fields, hears_ecn } = controller;
            description(name, summary, parameters, fields, hears_ecn)
        }));
    }
    serde_json::to_string(&list).map_err(error)
}

fn description(
    name: &str,
    summary: &str,
    parameters: &[Parameter],
    fields: &[(&str, &str)],
    hears_ecn: bool,
) -> Json {
    let parameters: Vec<Json> = parameters.iter().map(crate::parameter::parameter_json).collect();
    let fields: Vec<Json> = fields.iter().map(|(name, unit)| json!({"name": name, "unit": unit})).collect();
    json!({"name": name, "summary": summary, "parameters": parameters, "fields": fields, "hears_ecn": hears_ecn})
}

/// From now on a plug-in that ends this process or does not answer leaves a line about it in `file`.
#[pyfunction]
pub(crate) fn guard_process(file: PathBuf) -> PyResult<()> {
    plugin::guard_process(&file).map_err(error)
}
