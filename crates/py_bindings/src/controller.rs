//! A class in Python as a controller. The interpreter is entered once per event: for the event's method and for the
//! question what is allowed afterwards.

use crate::errors::error;
use crate::events::{Ack, Control, Ecn, Frame, Loss, Sent, Start, Timeout};
use congestion::{Entry, FieldSink, Parameter, ParameterKind, Parameters, Start as CoreStart, Value};
use plugin::Fault;
use plugin::{Answer, Callback, Code, Event, Foreign, Guarded, Watch, check_field, keep};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyTuple};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The module of the Python package that loads classes.
const LOADER: &str = "dumbbell.plugins.classes";

/// A class and what it declares.
pub(crate) struct Class {
    constructor: Py<PyAny>,
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [Parameter],
    /// Names and units of its values for plots.
    pub(crate) fields: Vec<(&'static str, &'static str)>,
}

/// What the loader says of a class.
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
    /// One line naming the file and what is wrong with it.
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

    /// Whether the class has a method for `callback`.
    ///
    /// # Errors
    /// What the class raises when it is asked.
    pub(crate) fn has(&self, py: Python<'_>, callback: Callback) -> PyResult<bool> {
        self.constructor.bind(py).hasattr(callback.name())
    }

    /// The entry of the class under the name `label`, which messages begin with.
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

/// The parameters that `declaration` declares. They live as long as the process, and a class is loaded for every run:
/// each declaration takes memory once.
fn parameters(declaration: &str, declared: &[DeclaredParameter]) -> &'static [Parameter] {
    static KNOWN: Mutex<BTreeMap<String, &'static [Parameter]>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(declaration.to_owned()).or_insert_with(|| {
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

/// An instance of a class: the controller of one flow.
struct Instance {
    class: Arc<Class>,
    /// The methods for events, by [`Callback`].
    methods: Vec<Option<Py<PyAny>>>,
    control: Py<PyAny>,
    fields: Option<Py<PyAny>>,
    /// What it allowed after the last event.
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
        let mut instance = make().map_err(|error| raised(py, &error))?;
        instance.answer = instance.ask(py)?;
        Ok(instance)
    }

    /// What is allowed now.
    fn ask(&self, py: Python<'_>) -> Result<Answer, Fault> {
        let answer = self.control.bind(py).call0().map_err(|error| raised_in(py, "control", &error))?;
        if let Ok(control) = answer.cast::<Control>() {
            return Ok(Answer::from(&*control.borrow()));
        }
        match answer.extract::<f64>() {
            Ok(window_bytes) if !answer.is_instance_of::<PyBool>() => {
                Ok(Answer { window_bytes, ..Answer::default() })
            }
            _ => Err(foreign(format!(
                "was followed by a control that is {}: allowed is a number of bytes or a Control",
                shown(&answer)
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
            let called = match *event {
                Event::Ack(event) => method.call1((Ack::from(event),)),
                Event::Loss(event) => method.call1((Loss::from(event),)),
                Event::Timeout(event) => method.call1((Timeout::from(event),)),
                Event::Ecn(event) => method.call1((Ecn::from(event),)),
                Event::Sent(event) => method.call1((Sent::from(event),)),
                Event::Frame(event) => method.call1((Frame::from(event),)),
                Event::Established(now, rtt) => method.call1((now.as_secs_f64(), rtt.as_secs_f64())),
                Event::SpuriousLoss(now) | Event::Wake(now) | Event::Recovered(now) => {
                    method.call1((now.as_secs_f64(),))
                }
            };
            called.map_err(|error| raised(py, &error))?;
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
            let values = method.bind(py).call0().map_err(|error| raised(py, &error))?;
            let Ok(values) = values.cast::<PyDict>() else {
                return Err(foreign(format!(
                    "returned {}: allowed is a dict of names and numbers",
                    shown(&values)
                )));
            };
            for (name, value) in values {
                let known = self.class.fields.iter().find(|(known, _)| name.eq(*known).unwrap_or(false));
                let Some((known, unit)) = known else {
                    return Err(foreign(format!(
                        "returned a field {} that FIELDS does not declare",
                        shown(&name)
                    )));
                };
                match value.extract::<f64>() {
                    Ok(value) => sink.put(known, unit, value),
                    Err(_) => {
                        return Err(foreign(format!(
                            "returned {} as `{known}`: allowed is a number",
                            shown(&value)
                        )));
                    }
                }
            }
            Ok(())
        })
    }
}

/// A value as Python shows it, in short.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string());
    text.chars().take(60).collect()
}

/// An error that Python alone raises, as a part of a sentence.
fn foreign(what: String) -> Fault {
    Fault::Foreign(what.into())
}

/// What was raised, where, as a part of a sentence.
fn raised(py: Python<'_>, error: &PyErr) -> Fault {
    // With its traceback, which `value` does not have.
    let exception = error.clone_ref(py).into_value(py);
    if let Ok(lines) =
        py.import("traceback").and_then(|module| module.call_method1("format_exception", (&exception,)))
        && let Ok(lines) = lines.extract::<Vec<String>>()
    {
        tracing::error!(target: "plugin", "{}", lines.concat());
    }
    let describe = || py.import(LOADER)?.call_method1("describe", (exception,))?.extract::<String>();
    foreign(format!("raised {}", describe().unwrap_or_else(|_| error.to_string())))
}

/// The same for a method that is called after another.
fn raised_in(py: Python<'_>, method: &str, error: &PyErr) -> Fault {
    foreign(format!("was followed by {method}, which {}", raised(py, error)))
}

/// The names of the classes in the code of a file that are controllers.
pub(crate) fn classes(py: Python<'_>, file: &str, code: &Code) -> PyResult<Vec<String>> {
    let names = py.import(LOADER)?.call_method1("controllers", (file, code.bytes()))?;
    names.cast_into::<PyTuple>()?.extract()
}
