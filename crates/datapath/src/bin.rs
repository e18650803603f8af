//! Runs one specification with real packets, without Python: `datapath-run SPEC.json` prints the statistics as JSON.
#![allow(clippy::disallowed_methods, reason = "a command reads its arguments and files")]
#![allow(clippy::print_stdout, reason = "its output is the statistics")]

use congestion::Registry;
use datapath::EmulationLock;
use measure::RunMeter;
use runs::{Backend, RunSpec, meter_config};
use std::error::Error;

fn main() -> Result<(), String> {
    run().map_err(|error| error.to_string())
}

fn run() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: datapath-run SPEC.json")?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let spec: RunSpec = strict_input::parse(&text).map_err(|error| format!("{file}: {error}"))?;
    let registry = Registry::builtin();
    spec.validate(Backend::Emulation, &registry)?;
    let mut meter = RunMeter::new(meter_config(&spec, Backend::Emulation));
    let lock = EmulationLock::wait(&|| false, &|_| {})?;
    let emulated = datapath::run(&spec, &registry, lock, None, None, &mut meter)?;
    let stats = emulated.totals.stats(meter)?;
    println!("{}", serde_json::to_string(&stats)?);
    Ok(())
}
