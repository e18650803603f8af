//! External controllers: loading for a run, and descriptions for users.

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

/// Controllers and faults of a run, besides its run spec.
pub(crate) struct RunResources {
    /// Built-in controllers, and the external controllers of the run's flows.
    pub(crate) registry: Registry,
    /// Faults of the external controllers.
    pub(crate) watch: Arc<Watch>,
}

impl RunResources {
    /// Returns only the built-in controllers.
    #[cfg(feature = "training")]
    pub(crate) fn builtin() -> Self {
        Self { registry: Registry::builtin(), watch: Arc::new(Watch::default()) }
    }

    /// Loads the libraries, classes and parameter files that the flows of `spec` name.
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
        // Loading a plug-in, now or for an earlier run, may have changed this thread's rounding mode.
        plugin::restore_rounding();
        Ok(Self { registry, watch })
    }

    /// Returns the result of a run. A fault of a plug-in replaces any other error.
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

/// Maximum size of a file that a parameter names, bytes, as in `input_files.PARAMETER` of the Python package.
const MOST_FILE_BYTES: u64 = 256 << 20;

/// Returns the files named by `parameters`. Reuses the files in `read`, and adds newly read files.
pub(crate) fn read_files(
    parameters: &BTreeMap<String, String>,
    declarations: &[Parameter],
    read: &mut Files,
) -> PyResult<Files> {
    let mut files = Files::new();
    for parameter in declarations.iter().filter(|parameter| parameter.kind == ParameterKind::File) {
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

/// Returns the controllers in a library or Python file: a JSON list with `name`, `summary`, `parameters`, `fields`
/// and `hears_ecn` of each.
///
/// The file must have the SHA-256 `sha256` (hexadecimal). Its code runs in this process.
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

/// Installs a crash report: a plug-in that ends this process or hangs leaves a line in `file`.
#[pyfunction]
pub(crate) fn guard_process(file: PathBuf) -> PyResult<()> {
    plugin::guard_process(&file).map_err(error)
}
