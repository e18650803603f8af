//! Functions that the page's worker calls. All values longer than a number pass through an input buffer and an output
//! buffer. A module holds one run.
#![allow(unsafe_code, reason = "a name that the browser finds is an unsafe attribute; nothing else here is")]

use crate::error::Error;
use crate::run::{Run, State};
use congestion::Files;
use std::cell::RefCell;
use units::Time;

/// Results of a call.
const PAUSED: u32 = 0;
const FINISHED: u32 = 1;
/// Result of a failed call; the output is the reason in one line.
const FAILED: u32 = 2;

#[derive(Default)]
struct Module {
    input: Vec<u8>,
    output: Vec<u8>,
    files: Files,
    run: Option<Run>,
}

impl Module {
    fn failed(&mut self, why: &dyn core::fmt::Display) -> u32 {
        self.output = why.to_string().into_bytes();
        FAILED
    }

    fn answer_of(&mut self, ask: impl FnOnce(&mut Run) -> Result<Vec<u8>, Error>) -> u32 {
        match self.run.as_mut().map(ask) {
            Some(Ok(bytes)) => {
                self.output = bytes;
                FINISHED
            }
            Some(Err(why)) => self.failed(&why),
            None => self.failed(&"there is no run"),
        }
    }
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

fn with<T>(call: impl FnOnce(&mut Module) -> T) -> T {
    MODULE.with_borrow_mut(call)
}

/// Reserves `bytes` of input and returns their address.
#[unsafe(no_mangle)]
extern "C" fn room(bytes: usize) -> *mut u8 {
    with(|module| {
        module.input = vec![0; bytes];
        module.input.as_mut_ptr()
    })
}

/// Returns the address of the latest output.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const u8 {
    with(|module| module.output.as_ptr())
}

/// Returns the length of the latest output.
#[unsafe(no_mangle)]
extern "C" fn answer_bytes() -> usize {
    with(|module| module.output.len())
}

/// Stores a file from the input: its name of `name_bytes` bytes, followed by its contents.
#[unsafe(no_mangle)]
extern "C" fn put_file(name_bytes: usize) {
    with(|module| {
        let contents = module.input.split_off(name_bytes.min(module.input.len()));
        let name = String::from_utf8_lossy(&module.input).into_owned();
        module.files.insert(name, contents.into());
    });
}

/// Begins the run of the run spec in the input.
#[unsafe(no_mangle)]
extern "C" fn begin() -> u32 {
    with(|module| {
        let text = String::from_utf8_lossy(&module.input).into_owned();
        match Run::begin(&text, &module.files) {
            Ok(run) => {
                module.run = Some(run);
                PAUSED
            }
            Err(why) => module.failed(&why),
        }
    })
}

/// Continues the run for at most `events` events, and at most until `until_ns`.
#[unsafe(no_mangle)]
extern "C" fn advance(until_ns: f64, events: f64) -> u32 {
    with(|module| match &mut module.run {
        Some(run) => match run.advance(Time::from_ns(until_ns as u64), events as u64) {
            Ok(State::Paused) => PAUSED,
            Ok(State::Finished) => FINISHED,
            Err(why) => module.failed(&why),
        },
        None => module.failed(&"there is no run"),
    })
}

/// Returns the simulated time, ns.
#[unsafe(no_mangle)]
extern "C" fn now_ns() -> f64 {
    with(|module| module.run.as_ref().map_or(0.0, |run| run.now().as_ns() as f64))
}

/// Returns the number of records so far.
#[unsafe(no_mangle)]
extern "C" fn records() -> f64 {
    with(|module| module.run.as_ref().map_or(0.0, |run| run.digest().records() as f64))
}

/// Writes a part of the run to the output. The input is the list of series, as JSON.
#[unsafe(no_mangle)]
extern "C" fn window(from_ns: f64, to_ns: f64, columns: u32) -> u32 {
    with(|module| {
        let wanted = String::from_utf8_lossy(&module.input).into_owned();
        module.answer_of(|run| run.window(from_ns, to_ns, columns, &wanted))
    })
}

/// Writes the packets on the path in a time range to the output.
#[unsafe(no_mangle)]
extern "C" fn packets(from_ns: f64, to_ns: f64, flow: u32, most: u32) -> u32 {
    with(|module| module.answer_of(|run| run.packets(from_ns, to_ns, flow, most)))
}

/// Writes the history of a packet to the output, as JSON.
#[unsafe(no_mangle)]
extern "C" fn life(flow: u32, seq: f64) -> u32 {
    with(|module| module.answer_of(|run| Ok(run.life(flow, seq as u64)?.into_bytes())))
}

/// Writes a description of the run in sentences to the output, as JSON. The input is further facts on the run, as JSON.
#[unsafe(no_mangle)]
extern "C" fn reading() -> u32 {
    with(|module| {
        let facts = String::from_utf8_lossy(&module.input).into_owned();
        module.answer_of(|run| Ok(run.reading(&facts)?.into_bytes()))
    })
}

/// Writes the run's series so far to the output, as JSON.
#[unsafe(no_mangle)]
extern "C" fn series() -> u32 {
    with(|module| module.answer_of(|run| Ok(run.series().into_bytes())))
}

/// Writes the run's totals to the output, as JSON.
#[unsafe(no_mangle)]
extern "C" fn totals() -> u32 {
    with(|module| module.answer_of(|run| Ok(run.totals()?.as_bytes().to_vec())))
}
