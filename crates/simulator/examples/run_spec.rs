//! Runs one specification without Python: `run_spec SPEC.json [DIRECTORY]` prints the statistics as JSON.
#![allow(clippy::disallowed_methods, reason = "a command reads its arguments and files")]
#![allow(clippy::print_stdout, reason = "its output is the statistics")]

use std::path::Path;

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: run_spec SPEC.json [DIRECTORY]")?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let spec: runs::RunSpec = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    let directory = arguments.next();
    let report = simulator::run(
        &spec,
        &congestion::Registry::builtin(),
        directory.as_deref().map(Path::new),
        &|| false,
    )?;
    println!("{}", serde_json::to_string(&report).map_err(|error| error.to_string())?);
    Ok(())
}
