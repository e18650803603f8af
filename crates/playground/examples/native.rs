//! Runs of the playground on this machine. For each line `{"specification": {...}, "files": {NAME: FILE}}` of stdin,
//! prints a line with digest, counts and seconds.
#![allow(clippy::disallowed_methods, reason = "reads files, and says how long a run took")]

use playground::{Run, State};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;
use units::Time;

#[derive(Deserialize)]
struct Asked {
    specification: Value,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    for line in stdin().lock().lines() {
        let asked: Asked = serde_json::from_str(&line?)?;
        let mut files = BTreeMap::new();
        for (name, file) in asked.files {
            files.insert(name, std::fs::read(file)?.into());
        }
        let started = Instant::now();
        let mut run = Run::begin(&asked.specification.to_string(), &files)?;
        while run.advance(Time::NEVER, u64::MAX)? == State::Paused {}
        let seconds = started.elapsed().as_secs_f64();
        let mut totals: Value = serde_json::from_str(run.totals()?)?;
        totals["seconds"] = json!(seconds);
        writeln!(stdout(), "{totals}")?;
    }
    Ok(())
}
