//! Prints the cost of controllers.
//! Usage: `controller_cost FLOWS.json`, a list of flows as in a run spec.
#![allow(clippy::disallowed_methods, reason = "a command reads its arguments and files")]
#![allow(clippy::print_stdout, reason = "its output is the figures")]

use congestion::{Entry, ParameterKind};
use runs::FlowSpec;
use serde_json::Value;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// Returns the entry of the flow's controller, a built-in one or one of a library.
fn entry(flow: &FlowSpec) -> Result<Entry, Box<dyn Error>> {
    let Some(plugin) = &flow.plugin else {
        return Ok(congestion::Registry::builtin().find(&flow.controller)?.clone());
    };
    let code = plugin::Code::read(Path::new(&plugin.library), plugin.sha256.as_deref())?;
    let library = plugin::Library::open(&code)?;
    Ok(library.entry(&flow.controller, &flow.controller_name(), &Arc::default())?)
}

/// Reads the files that the flow's parameters name, and measures the cost.
fn measured(mut flow: FlowSpec) -> Result<Value, Box<dyn Error>> {
    let entry = entry(&flow).map_err(|error| format!("{}: {error}", flow.scheme))?;
    for parameter in entry.parameters.iter().filter(|parameter| parameter.kind == ParameterKind::File) {
        if let Some(name) = flow.parameters.get(parameter.name) {
            let contents = std::fs::read(name).map_err(|error| format!("{name}: {error}"))?;
            flow.files.insert(name.clone(), contents.into());
        }
    }
    Ok(cost::measure(&flow, entry)?)
}

fn main() -> Result<(), String> {
    run().map_err(|error| error.to_string())
}

fn run() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: controller_cost FLOWS.json")?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let flows: Vec<FlowSpec> = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    let figures: Vec<Value> = flows.into_iter().map(measured).collect::<Result<_, _>>()?;
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}
