//! Harness that builds and runs run specs, and reads back statistics and time series.
#![allow(clippy::disallowed_methods, reason = "runs write their files to a temporary directory")]

use crate::files::{files, parameters};
use congestion::{Controller, ReceiverHalf, Registry, Start};
use measure::RunMeter;
use recorder::Recorder;
use runs::{Backend, Memory, Observer, RunSpec, SampleColumns, meter_config};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use transport::{Application, ApplicationSpec, Config, Receiver, Sender};
use units::Time;

/// IP datagram of a full TCP segment of 1448 bytes, bytes.
pub(crate) const PACKET_BYTES: f64 = 1500.0;

/// Temporary directory that is removed with the value.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("dumbbell-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Results of a run.
pub(crate) struct Outcome {
    pub(crate) stats: Value,
    pub(crate) memory: Memory,
}

impl Outcome {
    /// Returns a statistic of flow `flow` (from 1).
    pub(crate) fn flow(&self, flow: usize, key: &str) -> f64 {
        self.stats["flows"][flow - 1][key].as_f64().unwrap_or_else(|| panic!("flow {flow} has no `{key}`"))
    }

    /// Returns a statistic of the bottleneck link.
    pub(crate) fn link(&self, key: &str) -> f64 {
        self.stats["links"][0][key].as_f64().unwrap_or_else(|| panic!("the bottleneck has no `{key}`"))
    }

    /// Returns a statistic of the network.
    pub(crate) fn network(&self, key: &str) -> f64 {
        self.stats["network"][key].as_f64().unwrap_or_else(|| panic!("the network has no `{key}`"))
    }

    /// Returns the samples of a flow's field within an interval of seconds, with their times.
    pub(crate) fn series(&self, flow: u32, field: &str, from_s: f64, to_s: f64) -> Vec<(f64, f64)> {
        let samples = &self.memory.flows;
        select(samples, |row| samples.owner[row] == flow, field, from_s, to_s)
    }

    /// Returns the samples of the data direction's first link.
    pub(crate) fn link_series(&self, field: &str, from_s: f64, to_s: f64) -> Vec<(f64, f64)> {
        let samples = &self.memory.links;
        select(samples, |row| samples.owner.get(row).starts_with("data"), field, from_s, to_s)
    }

    /// Returns the mean of a flow's field within an interval of seconds.
    pub(crate) fn mean(&self, flow: u32, field: &str, from_s: f64, to_s: f64) -> f64 {
        mean(&self.series(flow, field, from_s, to_s))
    }

    /// Returns the mean queue of the bottleneck, packets.
    pub(crate) fn mean_queue(&self, from_s: f64, to_s: f64) -> f64 {
        mean(&self.link_series("queue", from_s, to_s))
    }
}

fn select<K>(
    samples: &SampleColumns<K>,
    wanted: impl Fn(usize) -> bool,
    field: &str,
    from_s: f64,
    to_s: f64,
) -> Vec<(f64, f64)> {
    (0..samples.value.len())
        .filter(|&row| wanted(row) && samples.field.get(row) == field)
        .map(|row| (samples.time_ns[row] as f64 / 1e9, samples.value[row]))
        .filter(|(time, _)| (from_s..to_s).contains(time))
        .collect()
}

/// Returns the mean of the values of a series.
pub(crate) fn mean(series: &[(f64, f64)]) -> f64 {
    assert!(!series.is_empty(), "no samples");
    series.iter().map(|(_, value)| value).sum::<f64>() / series.len() as f64
}

/// Runs a specification with time series.
pub(crate) fn run(spec: &Value) -> Outcome {
    let spec = read(spec);
    let (stats, memory) = run_observed(&spec, Memory::new(&spec));
    Outcome { stats, memory }
}

/// Runs a specification with its files in `directory`; returns the statistics.
pub(crate) fn record(spec: &Value, directory: &Path) -> Value {
    let spec = read(spec);
    let (stats, recorder) = run_observed(&spec, Recorder::create(Some(directory), &spec).expect("files"));
    recorder.finish().expect("complete files");
    stats
}

fn read(spec: &Value) -> RunSpec {
    with_files(serde_json::from_value(spec.clone()).expect("a valid specification"))
}

/// Adds the files that the controllers of the run need.
pub(crate) fn with_files(mut spec: RunSpec) -> RunSpec {
    for flow in &mut spec.flows {
        flow.files = files(&flow.controller);
        flow.parameters.extend(flow.files.keys().map(|name| (name.clone(), name.clone())));
    }
    spec
}

fn run_observed<O: Observer>(spec: &RunSpec, observer: O) -> (Value, O) {
    let meter = RunMeter::new(meter_config(spec, Backend::Simulation));
    let mut observers = (meter, observer);
    let totals = simulator::simulate(spec, &Registry::builtin(), &mut observers).expect("the run succeeds");
    let (meter, observer) = observers;
    let stats = totals.stats(meter).expect("statistics");
    (serde_json::to_value(stats).expect("statistics are JSON"), observer)
}

/// Returns the bandwidth-delay product in full packets.
pub(crate) fn bdp_packets(rate_mbps: f64, rtt_ms: f64) -> f64 {
    rate_mbps * 1e6 * rtt_ms / 1e3 / 8.0 / PACKET_BYTES
}

/// Returns a dumbbell: a droptail bottleneck of `queue` packets, half the RTT on each side.
pub(crate) fn dumbbell(rate_mbps: f64, rtt_ms: f64, queue: u64) -> Value {
    json!({
        "data": [
            {"kind": "link", "rate_mbps": rate_mbps, "queue": {"kind": "droptail", "packets": queue}},
            {"kind": "delay", "delay_ms": rtt_ms / 2.0},
        ],
        "ack": [{"kind": "delay", "delay_ms": rtt_ms / 2.0}],
    })
}

/// Returns a flow of a controller with TCP's transport and one ACK per packet.
pub(crate) fn flow(controller: &str) -> Value {
    json!({"scheme": controller, "controller": controller, "transport": {"profile": "tcp", "ack_every": 1}})
}

/// Returns a flow with genericCC's transport: unreliable datagrams of 1482 bytes, each acknowledged.
pub(crate) fn datagram_flow(controller: &str) -> Value {
    json!({"scheme": controller, "controller": controller, "transport": {
        "profile": "datagram", "payload_bytes": 1440, "header_bytes": 42, "ack_bytes": 60,
        "timer": "silence", "timeout_initial_ms": 2000, "window_rounding": "up", "quirk_pace_after_block": true}})
}

/// Returns a run of `flows` over `path` for `seconds`.
#[expect(clippy::needless_pass_by_value, reason = "tests build both in place")]
pub(crate) fn spec(path: Value, flows: Vec<Value>, seconds: f64) -> Value {
    json!({"seed": 1, "duration_s": seconds, "sample_interval_s": 0.01, "warmup_s": 0.0, "log": "none",
           "path": path, "flows": flows})
}

/// Returns the ends of a greedy flow until `stop`. There is one ACK per packet or, for schemes with a receiver half, an
/// ACK when the half requests it. `watch` and `watch_half` may wrap the controller and its half.
pub(crate) fn ends(
    controller: &str,
    stop: Time,
    watch: impl FnOnce(Box<dyn Controller>) -> Box<dyn Controller>,
    watch_half: impl FnOnce(Box<dyn ReceiverHalf>) -> Box<dyn ReceiverHalf>,
) -> (Sender, Receiver) {
    let registry = Registry::builtin();
    let entry = registry.find(controller).expect("a registered controller");
    let transport = if entry.receiver.is_some() {
        json!({"profile": "datagram", "ack_every": 1_000_000, "ack_delay_ms": 10_000.0, "ack_on_gap": false,
               "ack_ranges": 1024, "packet_threshold": 3})
    } else {
        json!({"profile": "datagram", "ack_ranges": 64, "packet_threshold": 3})
    };
    let config = Config::from_json(&transport).expect("a valid transport");
    let start = Start {
        now: Time::ZERO,
        mss_bytes: config.payload_bytes,
        initial_window_bytes: u64::from(config.initial_window * config.payload_bytes),
        seed: 1,
    };
    let parameters = parameters(entry);
    let half = entry.build_receiver(&parameters, &start).expect("nothing is missing");
    let receiver = Receiver::new(&config, half.map(watch_half));
    let built = entry.build(&parameters, &start).expect("nothing is missing");
    let application = Application::new(ApplicationSpec::Greedy, start.now, config.payload_bytes, 1);
    (Sender::new(&config, watch(built), application, start.now, stop), receiver)
}
