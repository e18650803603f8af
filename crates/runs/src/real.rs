//! Real-packet flows of programs and of the kernel's TCP.

use schemars::JsonSchema;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strict_input::Refusal;

/// A flow of the kernel's TCP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KernelSpec {
    /// Value of the socket option `TCP_CONGESTION`.
    pub congestion_control: String,
    /// The sysctl `net.ipv4.tcp_wmem` of the flow's namespaces; the datapath's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_wmem: Option<[u64; 3]>,
    /// The sysctl `net.ipv4.tcp_rmem` of the flow's namespaces; the datapath's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_rmem: Option<[u64; 3]>,
}

/// Listening side of a program flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowEnd {
    /// The sender of the data.
    Sender,
    /// The receiver of the data.
    #[default]
    Receiver,
}

/// Flow of two programs. Arguments may contain `{ip}`, `{port}`, `{duration}`, `{duration_s}`, `{flow}`, `{directory}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    /// Command of the sending side.
    pub sender: Vec<String>,
    /// Command of the receiving side.
    pub receiver: Vec<String>,
    /// The side that starts first and listens.
    #[serde(default)]
    pub first: FlowEnd,
    /// Condition under which the first side is ready: `listen`, `output:TEXT` or `wait:SECONDS`.
    #[serde(default = "listen")]
    pub ready: String,
    /// Maximum time until the first side is ready, s.
    #[serde(default = "default_ready_timeout")]
    pub ready_timeout_s: f64,
    /// Additional environment variables of both programs.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

fn listen() -> String {
    "listen".to_owned()
}

const fn default_ready_timeout() -> f64 {
    10.0
}

/// Condition under which the first side of a program flow is ready for the second side.
#[derive(Clone, Debug, PartialEq)]
pub enum Readiness {
    /// A socket is bound to the side's port.
    Listening,
    /// A line of the side's output contains this text.
    Output(String),
    /// This time has passed, s.
    After(f64),
}

/// Minimum and maximum socket buffer that the kernel accepts, bytes.
const MIN_BUFFER_BYTES: u64 = 4096;
const MAX_BUFFER_BYTES: u64 = i32::MAX as u64;

impl KernelSpec {
    pub(crate) fn validate(&self) -> Result<(), Refusal> {
        let name = &self.congestion_control;
        if name.is_empty() || name.len() > 15 || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Refusal::of_value(
                "kernel.congestion_control",
                format_args!("`{name}`"),
                "must be 1 to 15 visible characters",
            ));
        }
        for (name, sizes) in [("tcp_wmem", self.tcp_wmem), ("tcp_rmem", self.tcp_rmem)] {
            let Some(sizes) = sizes else { continue };
            let is_ascending = sizes[0] <= sizes[1] && sizes[1] <= sizes[2];
            if !is_ascending || sizes[0] < MIN_BUFFER_BYTES || sizes[2] > MAX_BUFFER_BYTES {
                return Err(Refusal::of_value(
                    format!("kernel.{name}"),
                    format_args!("{sizes:?}"),
                    format!(
                        "must be three ascending numbers from {MIN_BUFFER_BYTES} to \
                     {MAX_BUFFER_BYTES}"
                    ),
                ));
            }
        }
        Ok(())
    }
}

impl ProgramSpec {
    pub(crate) fn validate(&self) -> Result<(), Refusal> {
        for (key, words) in [("sender", &self.sender), ("receiver", &self.receiver)] {
            if words.first().is_none_or(String::is_empty) {
                return Err(Refusal::of_key(format!("program.{key}"), "must name a command"));
            }
        }
        if !(self.ready_timeout_s > 0.0 && self.ready_timeout_s <= 3600.0) {
            return Err(Refusal::of_value(
                "program.ready_timeout_s",
                self.ready_timeout_s,
                "must be above 0 and at most 3600",
            ));
        }
        self.readiness().map(|_| ())
    }

    /// Returns the condition under which the first side is ready.
    ///
    /// # Errors
    /// Returns an error that lists the allowed forms.
    pub fn readiness(&self) -> Result<Readiness, Refusal> {
        let refusal = || {
            Refusal::of_value(
                "program.ready",
                format_args!("`{}`", self.ready),
                "must be listen, output:TEXT or wait:SECONDS",
            )
        };
        match self.ready.split_once(':') {
            None if self.ready == "listen" => Ok(Readiness::Listening),
            Some(("output", text)) if !text.is_empty() => Ok(Readiness::Output(text.to_owned())),
            Some(("wait", seconds)) => match seconds.parse() {
                Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(Readiness::After(seconds)),
                _ => Err(refusal()),
            },
            _ => Err(refusal()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(json: &str) -> Result<ProgramSpec, Refusal> {
        let spec: ProgramSpec =
            serde_json::from_str(json).map_err(|error| Refusal::new(error.to_string()))?;
        spec.validate().map(|()| spec)
    }

    #[test]
    fn readiness_has_three_forms() {
        let ready = |ready: &str| {
            program(&format!(r#"{{"sender": ["a"], "receiver": ["b"], "ready": "{ready}"}}"#))
                .and_then(|spec| spec.readiness())
        };
        assert_eq!(ready("listen"), Ok(Readiness::Listening));
        assert_eq!(ready("output:ready: now"), Ok(Readiness::Output("ready: now".to_owned())));
        assert_eq!(ready("wait:2.5"), Ok(Readiness::After(2.5)));
        for wrong in ["", "soon", "output:", "wait:-1", "wait:x"] {
            assert!(
                ready(wrong).unwrap_err().to_string().contains("listen, output:TEXT or wait:SECONDS"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_program_needs_commands_and_a_patient_caller() {
        assert!(
            program(r#"{"sender": [], "receiver": ["b"]}"#)
                .unwrap_err()
                .to_string()
                .contains("program.sender")
        );
        let hasty =
            program(r#"{"sender": ["a"], "receiver": ["b"], "ready_timeout_s": 0}"#).unwrap_err().to_string();
        assert!(hasty.contains("ready_timeout_s = 0"), "{hasty}");
        assert!(program(r#"{"sender": ["a"], "receiver": ["b"], "first": "both"}"#).is_err());
    }
}
