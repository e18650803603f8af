//! Simulated runs in memory.

use congestion::Registry;
use measure::RunMeter;
use runs::{Backend, Memory, RunSpec, meter_config};
use serde_json::{Value, json};
use views::{Pyramid, PyramidBuilder};

/// Results of a run.
#[derive(Debug)]
pub(crate) struct SimulatedRun {
    pub(crate) memory: Memory,
    pub(crate) pyramid: Pyramid,
    pub(crate) stats: Value,
}

impl SimulatedRun {
    /// Returns the retransmissions of each flow.
    pub(crate) fn retransmissions(&self) -> Vec<(u32, u64)> {
        let flows = self.stats["flows"].as_array().unwrap().iter();
        flows
            .map(|flow| (flow["flow"].as_u64().unwrap() as u32, flow["retransmissions"].as_u64().unwrap()))
            .collect()
    }
}

/// Returns a bottleneck with a queue of `packets`, followed by half of the round trip. `more`: elements before the
/// bottleneck.
pub(crate) fn path(rate_mbps: f64, rtt_ms: f64, packets: u64, more: &[Value]) -> Value {
    let mut data = more.to_vec();
    data.push(
        json!({"kind": "link", "rate_mbps": rate_mbps, "queue": {"kind": "droptail", "packets": packets}}),
    );
    data.push(json!({"kind": "delay", "delay_ms": rtt_ms / 2.0}));
    json!({"data": data, "ack": [{"kind": "delay", "delay_ms": rtt_ms / 2.0}]})
}

pub(crate) fn flow(controller: &str) -> Value {
    json!({"scheme": controller, "controller": controller, "transport": {"profile": "tcp"}})
}

/// Runs flows over a path.
pub(crate) fn run(path: &Value, flows: &[Value], seconds: f64, log: &str) -> SimulatedRun {
    let spec = json!({"seed": 1, "duration_s": seconds, "sample_interval_s": 0.1, "warmup_s": 0.0, "log": log,
                      "path": path, "flows": flows});
    let spec: RunSpec = serde_json::from_value(spec).unwrap();
    let meter = RunMeter::new(meter_config(&spec, Backend::Simulation));
    let mut observers = (meter, Memory::new(&spec), PyramidBuilder::new());
    let totals = simulator::simulate(&spec, &Registry::builtin(), &mut observers).unwrap();
    let (meter, memory, builder) = observers;
    let stats = serde_json::to_value(totals.stats(meter).unwrap()).unwrap();
    SimulatedRun { memory, pyramid: builder.finish(), stats }
}
