//! Controllers that are Python classes.
//!
//! The interpreter is entered once per event, for the event's method and for `control`.

use crate::errors::error;
use crate::events::{Ack, Control, Ecn, Frame, Loss, SentPacket, Start, Timeout};
use congestion::{Entry, FieldSink, Parameter, ParameterKind, Parameters, Start as CoreStart, Value};
use plugin::Fault;
use plugin::{Answer, Callback, Code, Event, Foreign, Guarded, Watch, check_field, keep};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyTuple};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Module of the Python package that loads classes.
const LOADER: &str = "dumbbell.plugins.classes";

/// Class and its declarations.
pub(crate) struct Class {
    constructor: Py<PyAny>,
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [Parameter],
    /// Names and units of the values for plots.
    pub(crate) fields: Vec<(&'static str, &'static str)>,
}

/// Declarations of a class, as JSON from the loader.
#[derive(Deserialize)]
struct Declaration {
    summary: String,
    parameters: Vec<DeclaredParameter>,
    fields: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct DeclaredParameter {
    name: String,
    kind: String,
    default: serde_json::Value,
    choices: Vec<String>,
}

impl Class {
    /// Executes the code of the file and takes the class from it.
    ///
    /// # Errors
    ///
    /// Returns an error that names the file and its problem.
    pub(crate) fn load(py: Python<'_>, file: &str, code: &Code, class: &str) -> PyResult<Self> {
        let loaded = py.import(LOADER)?.call_method1("load", (file, code.bytes(), class))?;
        tracing::info!(target: "plugin", file, class, "class loaded");
        let (class, text): (Py<PyAny>, String) = loaded.extract()?;
        let declaration: Declaration = serde_json::from_str(&text).map_err(error)?;
        let mut fields = Vec::new();
        for (name, unit) in &declaration.fields {
            check_field(name).map_err(|why| error(format_args!("{file}: {why}")))?;
            fields.push((keep(name), keep(unit)));
        }
        let parameters = parameters(&text, &declaration.parameters);
        Ok(Self { constructor: class, summary: keep(&declaration.summary), parameters, fields })
    }

    /// Returns true if the class has a method for `callback`.
    ///
    /// # Errors
    ///
    /// Returns the exception that the class raises.
    pub(crate) fn has(&self, py: Python<'_>, callback: Callback) -> PyResult<bool> {
        self.constructor.bind(py).hasattr(callback.name())
    }

    /// Returns the registry entry of the class as `label`, which begins its messages.
    pub(crate) fn entry(self, label: &str, watch: &Arc<Watch>) -> Entry {
        let (name, watch) = (keep(label), Arc::clone(watch));
        let (summary, parameters, class) = (self.summary, self.parameters, Arc::new(self));
        let build = move |parameters: &Parameters, start: &CoreStart| -> Box<dyn congestion::Controller> {
            let create = || Python::attach(|py| Instance::create(py, &class, parameters, start));
            Box::new(Guarded::new(name.to_owned(), &watch, start, create))
        };
        Entry::with_closure(name, summary, parameters, Arc::new(build))
    }
}

/// Returns the parameters of `declaration`. They live as long as the process.
///
/// A class is loaded for every run, thus each declaration is leaked only once.
fn parameters(declaration: &str, declared: &[DeclaredParameter]) -> &'static [Parameter] {
    static KNOWN: Mutex<BTreeMap<String, &'static [Parameter]>> = Mutex::new(BTreeMap::new());
    let mut declarations = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    declarations.entry(declaration.to_owned()).or_insert_with(|| {
        let parameters: Vec<Parameter> = declared.iter().map(parameter).collect();
        parameters.leak()
    })
}

fn parameter(declared: &DeclaredParameter) -> Parameter {
    let name = keep(&declared.name);
    let default = &declared.default;
    match declared.kind.as_str() {
        "flag" => Parameter::flag(name, default.as_bool().unwrap_or(false), ""),
        "integer" => Parameter::integer(name, "", default.as_i64().unwrap_or(0), (i64::MIN, i64::MAX), ""),
        "number" => {
            let range = (f64::NEG_INFINITY, f64::INFINITY);
            Parameter::number(name, "", default.as_f64().unwrap_or(f64::NAN), range, "")
        }
        "choice" => {
            let choices: Vec<&'static str> = declared.choices.iter().map(|choice| keep(choice)).collect();
            let default = keep(default.as_str().unwrap_or_default());
            let kind = ParameterKind::Choice(choices.leak());
            Parameter { name, unit: "", kind, default: Value::Choice(default), help: "", is_needed: false }
        }
        _ => Parameter::file(name, ""),
    }
}

/// Instance of a class: the controller of one flow.
struct Instance {
    class: Arc<Class>,
    /// Methods for events, by [`Callback`].
    methods: Vec<Option<Py<PyAny>>>,
    control: Py<PyAny>,
    fields: Option<Py<PyAny>>,
    /// Limits after the last event.
    answer: Answer,
}

impl Instance {
    fn create(
        py: Python<'_>,
        class: &Arc<Class>,
        parameters: &Parameters,
        start: &CoreStart,
    ) -> Result<Self, Fault> {
        let make = || -> PyResult<Self> {
            let keywords = PyDict::new(py);
            for (parameter, value) in parameters.iter() {
                match value {
                    Value::Number(value) => keywords.set_item(parameter.name, value)?,
                    Value::Integer(value) => keywords.set_item(parameter.name, value)?,
                    Value::Flag(value) => keywords.set_item(parameter.name, value)?,
                    Value::Choice(value) => keywords.set_item(parameter.name, value)?,
                    Value::File(Some(file)) => {
                        keywords.set_item(parameter.name, PyBytes::new(py, &file.contents))?;
                    }
                    Value::File(None) => keywords.set_item(parameter.name, py.None())?,
                }
            }
            let object = class.constructor.bind(py).call((Start::from(start),), Some(&keywords))?;
            let mut methods: Vec<Option<Py<PyAny>>> = Vec::new();
            for callback in Callback::events() {
                let index = callback as usize;
                methods.resize_with(methods.len().max(index + 1), || None);
                methods[index] = object.getattr_opt(callback.name())?.map(Bound::unbind);
            }
            let fields = object.getattr_opt("fields")?.map(Bound::unbind);
            let control = object.getattr("control")?.unbind();
            Ok(Self { class: Arc::clone(class), methods, control, fields, answer: Answer::default() })
        };
        let mut instance = make().map_err(|error| raised_fault(py, &error))?;
        instance.answer = instance.ask(py)?;
        Ok(instance)
    }

    /// Returns the current limits from `control`.
    fn ask(&self, py: Python<'_>) -> Result<Answer, Fault> {
        let answer = self.control.bind(py).call0().map_err(|error| raised_in(py, "control", &error))?;
        if let Ok(control) = answer.cast::<Control>() {
            return Ok(Answer::from(&*control.borrow()));
        }
        match answer.extract::<f64>() {
            Ok(window_bytes) if !answer.is_instance_of::<PyBool>() => {
                Ok(Answer { window_bytes, ..Answer::default() })
            }
            _ => Err(foreign_fault(format!(
                "was followed by a control that is {}: allowed is a number of bytes or a Control",
                short_repr(&answer)
            ))),
        }
    }
}

impl Foreign for Instance {
    fn hears(&self, callback: Callback) -> bool {
        self.methods.get(callback as usize).is_some_and(Option::is_some)
    }

    fn on(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let Some(method) = self.methods.get(event.callback() as usize).and_then(Option::as_ref) else {
            return Ok(());
        };
        self.answer = Python::attach(|py| {
            let method = method.bind(py);
            let result = match *event {
                Event::Ack(event) => method.call1((Ack::from(event),)),
                Event::Loss(event) => method.call1((Loss::from(event),)),
                Event::Timeout(event) => method.call1((Timeout::from(event),)),
                Event::Ecn(event) => method.call1((Ecn::from(event),)),
                Event::Sent(event) => method.call1((SentPacket::from(event),)),
                Event::Frame(event) => method.call1((Frame::from(event),)),
                Event::Established(now, rtt) => method.call1((now.as_secs_f64(), rtt.as_secs_f64())),
                Event::SpuriousLoss(now) | Event::Wake(now) | Event::Recovered(now) => {
                    method.call1((now.as_secs_f64(),))
                }
            };
            result.map_err(|error| raised_fault(py, &error))?;
            self.ask(py)
        })?;
        Ok(())
    }

    fn control(&self, answer: &mut Answer) -> Result<(), Fault> {
        *answer = self.answer;
        Ok(())
    }

    fn fields(&self, sink: &mut dyn FieldSink) -> Result<(), Fault> {
        let Some(method) = self.fields.as_ref().filter(|_| !self.class.fields.is_empty()) else {
            return Ok(());
        };
        Python::attach(|py| {
            let values = method.bind(py).call0().map_err(|error| raised_fault(py, &error))?;
            let Ok(values) = values.cast::<PyDict>() else {
                return Err(foreign_fault(format!(
                    "returned {}: allowed is a dict of names and numbers",
                    short_repr(&values)
                )));
            };
            for (name, value) in values {
                let field =
                    self.class.fields.iter().find(|(declared, _)| name.eq(*declared).unwrap_or(false));
                let Some((field, unit)) = field else {
                    return Err(foreign_fault(format!(
                        "returned a field {} that FIELDS does not declare",
                        short_repr(&name)
                    )));
                };
                match value.extract::<f64>() {
                    Ok(value) => sink.put(field, unit, value),
                    Err(_) => {
                        return Err(foreign_fault(format!(
                            "returned {} as `{field}`: allowed is a number",
                            short_repr(&value)
                        )));
                    }
                }
            }
            Ok(())
        })
    }
}

/// Returns a short `repr` of a value.
fn short_repr(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string());
    text.chars().take(60).collect()
}

/// Returns an error that only Python causes, as a part of a sentence.
fn foreign_fault(message: String) -> Fault {
    Fault::Foreign(message.into())
}

/// Returns the raised exception with its place, as a part of a sentence.
fn raised_fault(py: Python<'_>, error: &PyErr) -> Fault {
    // The clone has a traceback, `value` has none.
    let exception = error.clone_ref(py).into_value(py);
    if let Ok(lines) =
        py.import("traceback").and_then(|module| module.call_method1("format_exception", (&exception,)))
        && let Ok(lines) = lines.extract::<Vec<String>>()
    {
        tracing::error!(target: "plugin", "{}", lines.concat());
    }
    let describe = || py.import(LOADER)?.call_method1("describe", (exception,))?.extract::<String>();
    foreign_fault(format!("raised {}", describe().unwrap_or_else(|_| error.to_string())))
}

/// Returns the exception of a method that is called after another method.
fn raised_in(py: Python<'_>, method: &str, error: &PyErr) -> Fault {
    foreign_fault(format!("was followed by {method}, which {}", raised_fault(py, error)))
}

/// Returns the names of the controller classes in a file.
pub(crate) fn classes(py: Python<'_>, file: &str, code: &Code) -> PyResult<Vec<String>> {
    let names = py.import(LOADER)?.call_method1("controllers", (file, code.bytes()))?;
    names.cast_into::<PyTuple>()?.extract()
}
