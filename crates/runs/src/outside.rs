//! External controllers of flows: from a library, or from a Python class.
//!
//! The driver of a run loads them and adds them to the registry by
//! [`FlowSpec::controller_name`](crate::FlowSpec::controller_name).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A library with the C interface of crate `plugin`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PluginSpec {
    /// File of the library.
    pub library: String,
    /// Required SHA-256 of the file, hexadecimal; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Python class of a controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonSpec {
    /// File that defines the class.
    pub file: String,
    /// Required SHA-256 of the file, hexadecimal; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}
