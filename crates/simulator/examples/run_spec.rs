//! Runs one run spec without Python: `run_spec SPEC.json [DIRECTORY]` prints the statistics as JSON.
#![allow(clippy::disallowed_methods, reason = "a command reads its arguments, files and the clock")]
#![allow(clippy::print_stdout, reason = "its output is the statistics")]

use congestion::Registry;
use measure::RunMeter;
use recorder::Recorder;
use runs::{Backend, RunSpec, meter_config};
use simulator::Simulation;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), String> {
    run().map_err(|error| error.to_string())
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: run_spec SPEC.json [DIRECTORY]")?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let spec: RunSpec = strict_input::parse(&text).map_err(|error| format!("{file}: {error}"))?;
    let directory = arguments.next();
    let simulation = Simulation::new(&spec, &Registry::builtin())?;
    let meter = RunMeter::new(meter_config(&spec, Backend::Simulation));
    let mut observers = (meter, Recorder::create(directory.as_deref().map(Path::new), &spec)?);
    let started = Instant::now();
    let totals = simulation.run(&mut observers)?;
    let sim_wall_s = started.elapsed().as_secs_f64();
    let (meter, recorder) = observers;
    recorder.finish()?;
    let mut report = serde_json::to_value(totals.stats(meter)?)?;
    report["sim_wall_s"] = sim_wall_s.into();
    report["events"] = totals.events.into();
    println!("{report}");
    Ok(())
}
