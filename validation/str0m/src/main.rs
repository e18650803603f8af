//! A video call between two str0m peers (real WebRTC: ICE, DTLS, SRTP, transport-wide feedback, Google Congestion Control)
//! in virtual time over dumbbell's path, with dumbbell's encoder.
//!
//! Usage: `str0m-call SPECIFICATION LOG`. The specification is JSON, its tables those of a run (`path`, `application`); the
//! log is what went into the path and came out, in Pantheon's format, from the first frame on. Standard output gets JSON:
//! how the bandwidth estimate went, and what the camera and the peers did.
#![allow(clippy::disallowed_methods, reason = "a program: it reads arguments and writes files")]

mod call;
mod camera;
mod clock;
mod lane;
mod peer;

use serde::Deserialize;
use std::io::Write;
use std::process::ExitCode;

/// What is run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Specification {
    seed: u64,
    /// From the first frame on.
    duration_s: f64,
    /// The estimate before the first feedback.
    start_rate_kbps: u64,
    /// Which estimate the encoder follows.
    follow: call::Follow,
    path: path::PathSpec,
    application: transport::EncoderSpec,
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let (Some(specification), Some(log), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: str0m-call SPECIFICATION.json LOG".to_owned());
    };
    let text =
        std::fs::read_to_string(&specification).map_err(|error| format!("{specification}: {error}"))?;
    let specification: Specification =
        serde_json::from_str(&text).map_err(|error| format!("{specification}: {error}"))?;
    let outcome = call::run(&specification)?;
    std::fs::write(&log, outcome.log).map_err(|error| format!("{log}: {error}"))?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", outcome.report).map_err(|error| format!("standard output: {error}"))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "str0m-call: {error}");
            ExitCode::from(2)
        }
    }
}
