//! Facts about a run besides its logs.

use serde::Deserialize;

/// Facts about a run besides its logs. Every key may be absent; other keys are ignored.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Planned length, ns.
    pub duration_ns: Option<f64>,
    /// Flows of the run.
    pub flows: Vec<FlowFact>,
}

/// Facts of one flow.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct FlowFact {
    /// Number of the flow.
    pub flow: u32,
    /// Name for people.
    pub scheme: Option<String>,
    /// Kind of its application (`greedy`, `constant`, ...).
    pub application: Option<String>,
    /// Timer of its transport (`rto`, `pto`, ...).
    pub timer: Option<String>,
    /// Metrics of the flow.
    pub metrics: FlowCounts,
}

/// Metrics of a flow that the reading uses.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct FlowCounts {
    /// Packets that carried data sent before.
    pub retransmissions: Option<f64>,
    /// Expired retransmission timers, or cases of persistent congestion.
    pub timeouts: Option<f64>,
}
