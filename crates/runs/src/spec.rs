//! Run spec: the specification of one run, as received from the experiment layer.

use crate::Error;
use crate::outside::{PluginSpec, PythonSpec};
use crate::real::{KernelSpec, ProgramSpec};
use congestion::{Files, Parameters, Registry, Start};
use path::{PathSpec, Subpath, Until};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use strict_input::Refusal;
use strict_input::{NAME_RULE, is_name};
use transport::{Application, ApplicationSpec, Config, Receiver, Sender};
use units::{Span, Time};

/// Driver of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Simulator, for controllers of a registry only.
    Simulation,
    /// Path emulator with real packets.
    Emulation,
}

/// Both ends of a flow with a controller of a registry.
#[derive(Debug)]
pub struct Ends {
    /// Configuration of both ends.
    pub config: Config,
    /// Sending end.
    pub sender: Sender,
    /// Receiving end.
    pub receiver: Receiver,
}

/// Contents of the packet log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// No packet log; metrics are computed all the same.
    None,
    /// Every packet entering, leaving, dropped or marked.
    #[default]
    Packets,
    /// Every packet entering, leaving, dropped or marked, and entering or leaving a queue.
    Full,
}

/// One flow.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Name of the scheme, for labels.
    pub scheme: String,
    /// Name of the controller: in the registry, in the library of `plugin`, in the file of `python`; empty for other flows.
    #[serde(default)]
    pub controller: String,
    /// Library of the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<PluginSpec>,
    /// Python class of the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<PythonSpec>,
    /// Parameters that differ from the defaults, as text.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Files that parameters name, read by the driver of the run.
    #[serde(skip)]
    pub files: Files,
    /// Transport table: `profile` and the keys that differ from it.
    #[serde(default)]
    #[schemars(with = "Config")]
    pub transport: serde_json::Map<String, serde_json::Value>,
    /// The kernel's TCP instead of the built-in transport; real packets only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelSpec>,
    /// Two programs instead of the built-in transport; real packets only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramSpec>,
    /// The controller goes by losses alone: it takes neither lateness for a queue nor a burst for a rate. For the verdict on
    /// late real packets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loss_based: bool,
    /// The application.
    #[serde(default)]
    pub application: ApplicationSpec,
    /// Start, s.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub start_s: f64,
    /// Stop, s; the end of the run if absent.
    #[serde(default)]
    pub stop_s: Option<f64>,
    /// Base RTT of this flow, ms; the path's own if absent.
    #[serde(default)]
    pub rtt_ms: Option<f64>,
    /// Name of the element where data enters; the first of its direction if absent. Simulated runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enter: Option<String>,
    /// Name of the last element that data passes; the last of its direction if absent. Simulated runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave: Option<String>,
    /// True if data uses the path's `ack` direction.
    #[serde(default)]
    pub reverse: bool,
}

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Seed of every random stream.
    pub seed: u64,
    /// Length, s.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1_000_000))]
    pub duration_s: f64,
    /// Spacing of sampled time series, s.
    #[serde(default = "default_sample_interval")]
    #[schemars(range(min = 0.000_01, max = 1_000_000))]
    pub sample_interval_s: f64,
    /// Start-up time that the corrected metrics leave out, s.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub warmup_s: f64,
    /// Maximum distance of a converged flow from its fair share, as a fraction of the share.
    #[serde(default = "default_convergence_delta")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub convergence_delta: f64,
    /// Length of the windows of Jain's index over time, s.
    #[serde(default = "default_jain_window")]
    #[schemars(range(min = 0.000_01, max = 1_000_000))]
    pub jain_window_s: f64,
    /// Contents of the packet log.
    #[serde(default)]
    pub log: LogLevel,
    /// Maximum events in one simulated second. A run that needs more is stopped. Simulated runs only.
    #[serde(default = "default_most_events")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub most_events_per_s: u64,
    /// Maximum packets on the path or unacknowledged at a time. A run that needs more is stopped. An emulated path may
    /// have as many real packets as fit into the memory of that many simulated ones.
    #[serde(default = "default_most_packets")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub most_packets: u64,
    /// The path.
    pub path: PathSpec,
    /// The flows, numbered from 1 in this order.
    pub flows: Vec<FlowSpec>,
}

/// Minimum interval of samples, s.
const MIN_INTERVAL_S: f64 = 1e-5;
/// Maximum samples of a run.
const MAX_SAMPLES: f64 = 1e7;
/// Maximum budgets of a run.
const MAX_EVENTS_PER_S: u64 = 1_000_000_000_000;
const MAX_PACKETS: u64 = 1_000_000_000;
/// Cost of the check of a flow, in steps of [`Until`]. A table of rules may take a second.
const STEPS_OF_FLOW: u64 = 1_000_000;

const fn default_sample_interval() -> f64 {
    0.1
}

const fn default_convergence_delta() -> f64 {
    0.2
}

const fn default_jain_window() -> f64 {
    0.1
}

const fn default_most_events() -> u64 {
    100_000_000
}

/// Default of `most_packets`.
pub const DEFAULT_MOST_PACKETS: u64 = 4_000_000;

const fn default_most_packets() -> u64 {
    DEFAULT_MOST_PACKETS
}

impl RunSpec {
    /// Returns a run of these flows on `path`, with defaults for all other keys.
    pub fn new(seed: u64, duration_s: f64, path: PathSpec, flows: Vec<FlowSpec>) -> Self {
        Self {
            seed,
            duration_s,
            sample_interval_s: default_sample_interval(),
            warmup_s: 0.0,
            convergence_delta: default_convergence_delta(),
            jain_window_s: default_jain_window(),
            log: LogLevel::default(),
            most_events_per_s: default_most_events(),
            most_packets: DEFAULT_MOST_PACKETS,
            path,
            flows,
        }
    }

    /// Checks everything that can be checked without running.
    ///
    /// # Errors
    /// Returns an error with the key, the value and the allowed values.
    pub fn validate(&self, backend: Backend, registry: &Registry) -> Result<(), Error> {
        self.validate_until(backend, registry, &mut |_| Ok(()))
    }

    /// Checks the run spec like [`validate`](Self::validate), also with long schedules and large files.
    ///
    /// # Errors
    /// Returns an error with the key, the value and the allowed values, or the error of `until`. `until` is called
    /// before each flow.
    pub fn validate_until(
        &self,
        backend: Backend,
        registry: &Registry,
        until: Until<'_>,
    ) -> Result<(), Error> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value <= 1e6 {
                Ok(())
            } else {
                Err(Refusal::of_value(name, value, "must be above 0"))
            }
        };
        positive("duration_s", self.duration_s)?;
        positive("sample_interval_s", self.sample_interval_s)?;
        let least_interval_s = MIN_INTERVAL_S.max(self.duration_s / MAX_SAMPLES);
        if self.sample_interval_s < least_interval_s {
            return Err(Refusal::of_value(
                "sample_interval_s",
                self.sample_interval_s,
                format!("must be at least {least_interval_s} with duration_s = {}", self.duration_s),
            )
            .into());
        }
        for (name, value, most) in [
            ("most_events_per_s", self.most_events_per_s, MAX_EVENTS_PER_S),
            ("most_packets", self.most_packets, MAX_PACKETS),
        ] {
            if !(1..=most).contains(&value) {
                return Err(Refusal::of_value(name, value, format!("allowed is 1 to {most}")).into());
            }
        }
        if !(0.0..self.duration_s).contains(&self.warmup_s) {
            return Err(Refusal::of_value(
                "warmup_s",
                self.warmup_s,
                format!("must be at least 0 and below duration_s = {}", self.duration_s),
            )
            .into());
        }
        let delta = self.convergence_delta;
        if !(delta > 0.0 && delta < 1.0) {
            return Err(Refusal::of_value("convergence_delta", delta, "must be above 0 and below 1").into());
        }
        if !(MIN_INTERVAL_S..=1e6).contains(&self.jain_window_s) {
            return Err(Refusal::of_value(
                "jain_window_s",
                self.jain_window_s,
                format!("allowed is {MIN_INTERVAL_S} to 1000000"),
            )
            .into());
        }
        self.path.validate_until(until)?;
        if backend == Backend::Emulation {
            self.path.validate_real().map_err(|refusal| refusal.at("path"))?;
        }
        if self.flows.is_empty() {
            return Err(Refusal::of_key("flows", "at least one is needed").into());
        }
        let is_late = |flow: &FlowSpec| flow.rtt_ms.is_some_and(|rtt| rtt > 0.0);
        let is_empty = self.path.data.is_empty() && self.path.ack.is_empty();
        if backend == Backend::Simulation && is_empty && !self.flows.iter().all(is_late) {
            return Err(Refusal::of_key(
                "path",
                "data, ack: no element, so nothing takes time: needed is a link or a delay",
            )
            .into());
        }
        for (index, flow) in self.flows.iter().enumerate() {
            if !is_name(&flow.scheme) {
                return Err(Refusal::new(format!(
                    "flows[{index}]: scheme = {:?}: allowed are {NAME_RULE}",
                    flow.scheme
                ))
                .into());
            }
            until(STEPS_OF_FLOW)?;
            self.validate_flow(flow, backend, registry)
                .map_err(|error| error.at(format!("flows[{index}] ({})", flow.scheme)))?;
        }
        Ok(())
    }

    fn validate_flow(&self, flow: &FlowSpec, backend: Backend, registry: &Registry) -> Result<(), Error> {
        let stop = flow.stop_s.unwrap_or(self.duration_s);
        if !(flow.start_s >= 0.0 && flow.start_s < stop && stop <= self.duration_s) {
            return Err(Refusal::new(format!(
                "start_s = {}, stop_s = {stop}: must satisfy 0 <= start < stop <= duration_s = {}",
                flow.start_s, self.duration_s
            ))
            .into());
        }
        let base_ms = self.path.base_rtt_within(self.subpaths(flow)?).as_ms_f64();
        if let Some(rtt) = flow.rtt_ms.filter(|rtt| !(*rtt >= base_ms && *rtt <= 1e6)) {
            return Err(Refusal::of_value(
                "rtt_ms",
                rtt,
                format!("must be at least the path's own {base_ms} ms"),
            )
            .into());
        }
        if flow.is_confined() && backend == Backend::Emulation {
            return Err(Refusal::of_key(
                "enter, leave",
                "real packets pass the whole path; only simulated ones can take a part",
            )
            .into());
        }
        flow.application.validate()?;
        let makers =
            [flow.plugin.is_some(), flow.python.is_some(), flow.kernel.is_some(), flow.program.is_some()];
        if makers.into_iter().filter(|is_there| *is_there).count() > 1 {
            return Err(Refusal::of_key(
                "plugin, python, kernel, program",
                "at most one of them makes a flow",
            )
            .into());
        }
        if flow.is_core() {
            let config = flow.config()?;
            self.path.encapsulation().split(config.datagram_bytes())?;
            for (_, later) in self.path.later_encapsulations() {
                later.split(config.datagram_bytes())?;
            }
            if let Some(rate) = flow.application.packets_per_s(config.payload_bytes)
                && rate > self.most_events_per_s as f64
            {
                let most = self.most_events_per_s;
                return Err(Refusal::of_key(
                    "application.rate_mbps",
                    format!("{rate:.0} packets a second: allowed are most_events_per_s = {most}"),
                )
                .into());
            }
            let entry = registry.find(&flow.controller_name())?;
            entry.check(&flow.parameters(registry)?, &flow.controller_start(&flow.config()?, self.seed))?;
            return Ok(());
        }
        if backend == Backend::Simulation {
            return Err(Refusal::new(
                "a real program or kernel controller cannot be simulated: it needs real packets",
            )
            .into());
        }
        let result = match (&flow.kernel, &flow.program) {
            (Some(kernel), None) if flow.controller.is_empty() => kernel.validate(),
            (None, Some(_)) if flow.application != ApplicationSpec::default() => {
                Err(Refusal::of_key("application", "a program decides itself what it sends"))
            }
            (None, Some(program)) if flow.controller.is_empty() => program.validate(),
            _ => Err(Refusal::of_key("controller, kernel, program", "exactly one is needed")),
        };
        Ok(result?)
    }

    /// Returns the additional delay of a flow in each direction, beyond the path's delay.
    pub fn extra_delay(&self, flow: &FlowSpec) -> Span {
        // The check of the run spec includes the names.
        let base = self.subpaths(flow).map_or(Span::ZERO, |subpaths| self.path.base_rtt_within(subpaths));
        flow.rtt_ms.map_or(Span::ZERO, |ms| (Span::from_secs_f64(ms / 1e3) - base) / 2)
    }

    /// Returns the parts of the data and the ack direction that a flow passes.
    ///
    /// # Errors
    /// Returns an error that describes the problem of `enter` or `leave`.
    pub fn subpaths(&self, flow: &FlowSpec) -> Result<[Subpath; 2], Refusal> {
        self.path.subpaths(flow.enter.as_deref(), flow.leave.as_deref(), flow.reverse)
    }

    /// Returns the random seed of flow `index`. Seeds are distinct, such that flows of one scheme draw different
    /// numbers.
    pub const fn flow_seed(&self, index: usize) -> u64 {
        self.seed.wrapping_add((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns new ends of flow `index`, which has a controller of `registry`.
    ///
    /// # Errors
    /// Returns an error that describes the problem of the flow.
    pub fn ends(&self, index: usize, registry: &Registry) -> Result<Ends, Error> {
        let (flow, seed) = (&self.flows[index], self.flow_seed(index));
        let (entry, parameters, config) =
            (registry.find(&flow.controller_name())?, flow.parameters(registry)?, flow.config()?);
        let start = flow.controller_start(&config, seed);
        let application =
            Application::new(flow.application.clone(), flow.start(), config.payload_bytes, seed);
        let half = entry.build_receiver(&parameters, &start)?;
        let receiver = Receiver::new(&config, half).with_seed(&config, seed);
        let controller = entry.build(&parameters, &start)?;
        let (from, to) = (flow.start(), flow.stop(self.duration()));
        let sender = Sender::new(&config, controller, application, from, to).with_seed(&config, seed);
        Ok(Ends { config, sender, receiver })
    }

    /// Returns the length of the run.
    pub fn duration(&self) -> Span {
        Span::from_secs_f64(self.duration_s)
    }
}

impl FlowSpec {
    /// Returns a flow with a controller of a registry, over the whole path and run. Its scheme has the controller's
    /// name.
    pub fn new(
        controller: &str,
        transport: serde_json::Map<String, serde_json::Value>,
        application: ApplicationSpec,
    ) -> Self {
        Self {
            scheme: controller.to_owned(),
            controller: controller.to_owned(),
            plugin: None,
            python: None,
            parameters: BTreeMap::new(),
            files: Files::default(),
            transport,
            kernel: None,
            program: None,
            loss_based: false,
            application,
            start_s: 0.0,
            stop_s: None,
            rtt_ms: None,
            enter: None,
            leave: None,
            reverse: false,
        }
    }

    /// Returns true if the flow has a built-in or external controller and the built-in transport.
    pub const fn is_core(&self) -> bool {
        self.kernel.is_none() && self.program.is_none()
    }

    /// Returns true if the flow passes only a part of the path.
    pub const fn is_confined(&self) -> bool {
        self.enter.is_some() || self.leave.is_some()
    }

    /// Returns the transport's configuration.
    ///
    /// # Errors
    /// Returns an error that names the key.
    pub fn config(&self) -> Result<Config, Refusal> {
        Config::from_json(&serde_json::Value::Object(self.transport.clone()))
    }

    fn parameters(&self, registry: &Registry) -> Result<Parameters, Refusal> {
        let declarations = registry.find(&self.controller_name())?.parameters;
        let mut parameters = Parameters::defaults(declarations).with_files(self.files.clone());
        for (name, text) in &self.parameters {
            parameters.set(name, text)?;
        }
        Ok(parameters)
    }

    /// Returns the controller's start values.
    fn controller_start(&self, config: &Config, seed: u64) -> Start {
        Start {
            now: self.start(),
            mss_bytes: config.payload_bytes,
            initial_window_bytes: u64::from(config.initial_window) * u64::from(config.payload_bytes),
            seed,
        }
    }

    /// Returns the start time of the flow.
    pub fn start(&self) -> Time {
        Time::from_secs_f64(self.start_s)
    }

    /// Returns the stop time of the flow in a run of length `duration`.
    pub fn stop(&self, duration: Span) -> Time {
        self.stop_s.map_or(Time::ZERO + duration, Time::from_secs_f64)
    }

    /// Returns the name of the flow's controller in the registry of the run.
    ///
    /// The name of an external controller contains the scheme, since its faults are reported with this name.
    pub fn controller_name(&self) -> Cow<'_, str> {
        let Self { scheme, controller, .. } = self;
        match (&self.plugin, &self.python) {
            (Some(PluginSpec { library: file, .. }), _) | (None, Some(PythonSpec { file, .. })) => {
                format!("scheme {scheme} ({file}: {controller})").into()
            }
            (None, None) => controller.into(),
        }
    }

    /// Returns true if the controller is external.
    pub const fn is_outside(&self) -> bool {
        self.plugin.is_some() || self.python.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::{DelaySpec, ElementSpec};

    #[test]
    fn a_run_that_is_made_is_the_one_that_is_read() {
        let json = r#"{"seed": 7, "duration_s": 3.0, "path": {"data": [{"kind": "delay", "delay_ms": 5}], "ack": []},
                       "flows": [{"scheme": "reno", "controller": "reno"}]}"#;
        let parsed: RunSpec = serde_json::from_str(json).unwrap();
        let path = PathSpec {
            data: vec![ElementSpec::Delay(DelaySpec::new(5.0))],
            ack: Vec::new(),
            overhead_bytes: 0,
            mtu_bytes: None,
            fragment: false,
            schedule: Vec::new(),
        };
        let flow = FlowSpec::new("reno", serde_json::Map::new(), ApplicationSpec::default());
        let built = RunSpec::new(7, 3.0, path, vec![flow]);
        assert_eq!(serde_json::to_value(built).unwrap(), serde_json::to_value(parsed).unwrap());
    }
}
