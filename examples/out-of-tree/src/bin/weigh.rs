//! A program of its own over dumbbell's simulator: `weigh [TABLE]` runs the controller beside `reno` for ten seconds and
//! prints what each got, Mbit/s.

use congestion::Registry;
use measure::RunMeter;
use runs::{Backend, RunSpec, meter_config};
use serde_json::json;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::builtin();
    registry.add(out_of_tree::ENTRY)?;
    let flow = |name: &str| json!({"scheme": name, "controller": name});
    let mut spec: RunSpec = serde_json::from_value(json!({
        "seed": 1, "duration_s": 10.0,
        "path": {
            "data": [
                {"kind": "link", "rate_mbps": 20.0, "queue": {"kind": "droptail", "packets": 60}},
                {"kind": "delay", "delay_ms": 20.0},
            ],
            "ack": [{"kind": "delay", "delay_ms": 20.0}],
        },
        "flows": [flow("timetable"), flow("reno")],
    }))?;
    if let Some(table) = std::env::args().nth(1) {
        // The simulator opens no files: what a parameter names is read here.
        let contents = std::fs::read(&table).map_err(|error| format!("{table}: {error}"))?;
        spec.flows[0].files.insert(table.clone(), contents.into());
        spec.flows[0].parameters.insert("table".to_owned(), table);
    }
    let mut meter = RunMeter::new(meter_config(&spec, Backend::Simulation));
    let totals = simulator::simulate(&spec, &registry, &mut meter)?;
    for flow in totals.stats(meter)?.flows {
        println!("{} {:.2}", flow.scheme, flow.goodput_mbps.unwrap_or(0.0));
    }
    Ok(())
}
