//! The specification of one run, as the experiment layer hands it over.

use congestion::{Controller, Parameters, ReceiverHalf, Start};
use path::PathSpec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use transport::{ApplicationSpec, Config};
use units::{Span, Time};

/// The sender-side and the receiver-side half of a scheme.
type Halves = (Box<dyn Controller>, Option<Box<dyn ReceiverHalf>>);

/// What goes into the packet log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// No packet log; metrics are computed all the same.
    None,
    /// Every packet entering, leaving, dropped or marked.
    #[default]
    Packets,
    /// The same, and entering and leaving each queue.
    Full,
}

/// One flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Name of the scheme, for labels.
    pub scheme: String,
    /// Name of the controller in the registry.
    pub controller: String,
    /// Parameters that differ from the defaults, as text.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Transport table: `profile` and whatever differs from it.
    #[serde(default)]
    pub transport: serde_json::Map<String, serde_json::Value>,
    /// The application.
    #[serde(default)]
    pub application: ApplicationSpec,
    /// Start, s.
    #[serde(default)]
    pub start_s: f64,
    /// Stop, s; the end of the run if absent.
    #[serde(default)]
    pub stop_s: Option<f64>,
    /// Base RTT of this flow, ms; the path's own if absent.
    #[serde(default)]
    pub rtt_ms: Option<f64>,
    /// Data travels over the path's `ack` direction.
    #[serde(default)]
    pub reverse: bool,
}

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Seed of every random stream.
    pub seed: u64,
    /// Length, s.
    pub duration_s: f64,
    /// Spacing of sampled time series, s.
    #[serde(default = "default_sample_interval")]
    pub sample_interval_s: f64,
    /// Start-up time that the corrected metrics leave out, s.
    #[serde(default)]
    pub warmup_s: f64,
    /// What goes into the packet log.
    #[serde(default)]
    pub log: LogLevel,
    /// The path.
    pub path: PathSpec,
    /// The flows, numbered from 1 in this order.
    pub flows: Vec<FlowSpec>,
}

const fn default_sample_interval() -> f64 {
    0.1
}

impl RunSpec {
    /// Checks everything that can be checked without running.
    ///
    /// # Errors
    /// One line naming the key, the value and what is allowed.
    pub fn validate(&self) -> Result<(), String> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value <= 1e6 {
                Ok(())
            } else {
                Err(format!("{name} = {value}: must be above 0"))
            }
        };
        positive("duration_s", self.duration_s)?;
        positive("sample_interval_s", self.sample_interval_s)?;
        if !(0.0..self.duration_s).contains(&self.warmup_s) {
            return Err(format!(
                "warmup_s = {}: must be at least 0 and below duration_s = {}",
                self.warmup_s, self.duration_s
            ));
        }
        self.path.validate()?;
        if self.flows.is_empty() {
            return Err("flows: at least one is needed".to_owned());
        }
        for (index, flow) in self.flows.iter().enumerate() {
            self.validate_flow(flow).map_err(|error| format!("flows[{index}] ({}): {error}", flow.scheme))?;
        }
        Ok(())
    }

    fn validate_flow(&self, flow: &FlowSpec) -> Result<(), String> {
        let stop = flow.stop_s.unwrap_or(self.duration_s);
        if !(flow.start_s >= 0.0 && flow.start_s < stop && stop <= self.duration_s) {
            return Err(format!(
                "start_s = {}, stop_s = {stop}: must satisfy 0 <= start < stop <= duration_s = {}",
                flow.start_s, self.duration_s
            ));
        }
        let base_ms = self.path.base_rtt().as_ms_f64();
        if let Some(rtt) = flow.rtt_ms.filter(|rtt| !(*rtt >= base_ms && *rtt <= 1e6)) {
            return Err(format!("rtt_ms = {rtt}: must be at least the path's own {base_ms} ms"));
        }
        flow.application.validate()?;
        let config = flow.config()?;
        self.path.encapsulation().split(config.datagram_bytes())?;
        flow.parameters().map(|_| ())
    }

    /// Length of the run.
    pub fn duration(&self) -> Span {
        Span::from_secs_f64(self.duration_s)
    }
}

impl FlowSpec {
    /// The transport's configuration.
    ///
    /// # Errors
    /// One line naming the key.
    pub fn config(&self) -> Result<Config, String> {
        Config::from_json(&serde_json::Value::Object(self.transport.clone()))
    }

    fn entry(&self) -> Result<&'static congestion::Entry, String> {
        congestion::find(&self.controller).ok_or_else(|| {
            let known: Vec<&str> = congestion::REGISTRY.iter().map(|entry| entry.name).collect();
            format!("unknown controller `{}`: allowed are {}", self.controller, known.join(", "))
        })
    }

    fn parameters(&self) -> Result<Parameters, String> {
        let entry = self.entry()?;
        let mut parameters = Parameters::defaults(entry.parameters);
        for (name, text) in &self.parameters {
            parameters.set(name, text)?;
        }
        Ok(parameters)
    }

    /// Fresh halves of the scheme for this flow: the sender's controller and, for schemes that have one, the receiver's.
    pub(crate) fn halves(&self, config: &Config, seed: u64) -> Result<Halves, String> {
        let start = Start {
            now: self.start(),
            mss_bytes: config.payload_bytes,
            initial_window_bytes: u64::from(config.initial_window) * u64::from(config.payload_bytes),
            seed,
        };
        let (entry, parameters) = (self.entry()?, self.parameters()?);
        Ok(((entry.build)(&parameters, &start), entry.receiver.map(|build| build(&parameters, &start))))
    }

    /// When the flow starts.
    pub fn start(&self) -> Time {
        Time::from_secs_f64(self.start_s)
    }

    /// When the flow stops, in a run that lasts `duration`.
    pub fn stop(&self, duration: Span) -> Time {
        self.stop_s.map_or(Time::ZERO + duration, Time::from_secs_f64)
    }
}
