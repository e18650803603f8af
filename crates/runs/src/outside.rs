//! Controllers of flows that are neither ours nor the kernel's: those of a library, or of a class in Python. Whoever
//! drives a run loads them and adds them to its registry by [`FlowSpec::controller_name`].

use crate::FlowSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A library with the C interface of crate `plugin`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PluginSpec {
    /// Its file.
    pub library: String,
    /// The SHA-256 that the file must have, hexadecimal; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A class in Python.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonSpec {
    /// The file that defines it.
    pub file: String,
    /// The SHA-256 that the file must have, hexadecimal; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl FlowSpec {
    /// The name of the flow's controller in the registry of the run. That of a plug-in names the scheme too: what it does
    /// wrong is told with this name.
    pub fn controller_name(&self) -> Cow<'_, str> {
        let FlowSpec { scheme, controller, .. } = self;
        match (&self.plugin, &self.python) {
            (Some(PluginSpec { library: file, .. }), _) | (None, Some(PythonSpec { file, .. })) => {
                format!("scheme {scheme} ({file}: {controller})").into()
            }
            (None, None) => controller.into(),
        }
    }

    /// Whether the controller comes from outside.
    pub const fn is_outside(&self) -> bool {
        self.plugin.is_some() || self.python.is_some()
    }
}
