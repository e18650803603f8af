//! `dumbbell-quic`: bulk data over QUIC, for experiments with quiche's congestion control.
//!
//! `receive` waits for one connection and discards its data; `send` connects and sends as fast as congestion control permits.
//! Exit status: 0 after a complete transfer or SIGTERM, 1 for a failed connection, 2 for wrong arguments.

#![allow(clippy::disallowed_methods, reason = "a program that talks to the network in real time")]

mod arguments;
mod configuration;
mod error;
mod receiver;
mod sender;
mod statistics;
mod wire;

use std::io::Write;
use std::process::ExitCode;

use arguments::{Command, HELP};
use error::Error;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let command = match arguments::parse(&words) {
        Ok(command) => command,
        Err(error) => return fail(2, &error),
    };
    let result = match command {
        Command::Help => print(HELP),
        Command::Version => print(concat!("dumbbell-quic ", env!("CARGO_PKG_VERSION"), " (quiche 0.30)")),
        Command::Receive { listen } => receiver::run(listen),
        Command::Send(options) => sender::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, &error),
    }
}

fn print(text: &str) -> Result<(), Error> {
    writeln!(std::io::stdout(), "{}", text.trim_end())
        .map_err(|error| Error::failed("standard output", error))
}

/// Standard error may be closed; the exit status says the rest.
fn fail(status: u8, error: &Error) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "dumbbell-quic: {error}");
    ExitCode::from(status)
}
