//! What is known of a run besides its logs.

use serde::Deserialize;

/// What is known of a run besides what its logs tell. Everything may be absent; other keys are not looked at.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Planned length.
    pub duration_ns: Option<f64>,
    /// Its flows.
    pub flows: Vec<FlowFact>,
}

/// Facts of one flow.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct FlowFact {
    /// Its number.
    pub flow: u32,
    /// Name for people.
    pub scheme: Option<String>,
    /// The kind of its application (`greedy`, `constant`, ...).
    pub application: Option<String>,
    /// The timer of its transport (`rto`, `pto`, ...).
    pub timer: Option<String>,
    /// Its metrics, of which `retransmissions` and `timeouts` are looked at.
    pub metrics: Counted,
}

/// Metrics of a flow.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Counted {
    /// Packets that carried data sent before.
    pub retransmissions: Option<f64>,
    /// Expired retransmission timers, or cases of persistent congestion.
    pub timeouts: Option<f64>,
}
