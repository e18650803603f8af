//! Parameters of controllers as JSON for Python.

use congestion::{Parameter, ParameterKind, Value};
use serde_json::{Value as Json, json};

/// Returns name, unit, kind, limits, default and help of a parameter.
pub(crate) fn parameter_json(parameter: &Parameter) -> Json {
    let (kind, min, max, choices) = match parameter.kind {
        ParameterKind::Number { min, max } => ("number", json!(min), json!(max), Json::Null),
        ParameterKind::Integer { min, max } => ("integer", json!(min), json!(max), Json::Null),
        ParameterKind::Flag => ("flag", Json::Null, Json::Null, Json::Null),
        ParameterKind::Choice(choices) => ("choice", Json::Null, Json::Null, json!(choices)),
        ParameterKind::File => ("file", Json::Null, Json::Null, Json::Null),
    };
    let default = match &parameter.default {
        Value::Number(value) => json!(value),
        Value::Integer(value) => json!(value),
        Value::Flag(value) => json!(value),
        Value::Choice(value) => json!(value),
        Value::File(value) => json!(value.as_ref().map(|file| &*file.name)),
    };
    json!({
        "name": parameter.name, "unit": parameter.unit, "kind": kind, "min": min, "max": max, "choices": choices,
        "default": default, "help": parameter.help, "needed": parameter.is_needed,
    })
}
