//! JSON Schemas of the core's input from Python and of its output. Python's types are generated from these schemas.

use pyo3::prelude::*;
use runs::RunSpec;
use schemars::generate::SchemaSettings;
use serde_json::{Value as Json, json};

/// Returns the JSON Schema (draft-07) of a run spec, with the definitions of all its tables.
#[pyfunction]
pub(crate) fn run_schema() -> String {
    let generator = SchemaSettings::draft07().into_generator();
    Json::from(generator.into_root_schema_for::<RunSpec>()).to_string()
}

/// Returns the JSON Schema (draft-07) of a run's statistics and of the definitions of metrics.
///
/// The schema has definitions and no root: one of them for each backend's run.
#[pyfunction]
pub(crate) fn statistics_schema() -> String {
    let mut generator = SchemaSettings::draft07().for_serialize().into_generator();
    let _ = generator.subschema_for::<crate::run::Report>();
    let _ = generator.subschema_for::<measure::RunStats>();
    let _ = generator.subschema_for::<measure::Definition>();
    let _ = generator.subschema_for::<measure::Label>();
    #[cfg(feature = "real")]
    {
        let _ = generator.subschema_for::<crate::emulation::Report>();
        let _ = generator.subschema_for::<crate::remote::Report>();
    }
    json!({"definitions": generator.take_definitions(true)}).to_string()
}
