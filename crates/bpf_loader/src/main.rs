//! `dumbbell-kernel`: brings our TCP controllers (`kernel/*.bpf.c`) into the running Linux kernel and out again.
//!
//! A registered controller is visible host-wide, in every network namespace, under its name for `TCP_CONGESTION`. It stays
//! while somebody holds its BPF link: a process that runs `hold`, or a pin in the BPF file system (`load`).

#![allow(
    clippy::disallowed_methods,
    reason = "a program that talks to the kernel: files, time and environment"
)]

mod arguments;
mod check;
mod controllers;
mod error;
mod list;
mod lock;
mod pin;
mod registration;
mod sys;

use arguments::Command;
use error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(failure) => {
            // Nothing is left to do if nobody reads it.
            let _ = writeln!(io::stderr(), "dumbbell-kernel: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Error> {
    let arguments = arguments::parse(std::env::args().skip(1))?;
    registration::set_verbose(arguments.verbose);
    match arguments.command {
        Command::Help => print(arguments::HELP)?,
        Command::List { json } => print(&list::report(json))?,
        Command::Check { json } => {
            let checks = check::all();
            print(&check::report(&checks, json))?;
            if checks.iter().any(|check| !check.passed) {
                return Ok(ExitCode::from(2));
            }
        }
        Command::Hold { names, wait } => hold(&names, wait)?,
        Command::Load { names } => {
            check::require()?;
            for name in &names {
                pin::load(controllers::find(name)?)?;
            }
        }
        Command::Unload { names } => {
            let names = if names.is_empty() { pin::pinned_names() } else { names };
            for name in &names {
                pin::unload(name)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps `names` registered until standard input closes. Death by any signal closes the links as well.
fn hold(names: &[String], wait: std::time::Duration) -> Result<(), Error> {
    check::require()?;
    let mut held = vec![];
    for name in names {
        held.push(registration::obtain(controllers::find(name)?, wait)?);
    }
    print(&format!("ready {}\n", names.join(" ")))?;
    io::copy(&mut io::stdin(), &mut io::sink()).map_err(Error::of("standard input"))?;
    Ok(())
}

fn print(text: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::of("standard output"))
}
