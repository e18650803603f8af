//! A flow of two programs: starting them in their namespaces, waiting for the first to be ready, ending both.

use crate::Error;
use crate::emulation::{End, Pair};
use crate::few::few;
use crate::flow::{PORT, ends};
use crate::program::{Launch, Program, describe, is_listening};
use crate::program_qlogs::{MOST_FILES, QlogFolder, QlogReport};
use crate::program_samples::{ProgramSample, read_samples};
use crate::scheduling::EndReport;
use endpoint::Clock;
use runs::{FlowEnd, FlowSpec, ProgramSpec, Readiness, RunSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use strict_input::Refusal;
use units::Time;

/// Time that programs are told to go on beyond the length of their flow.
const MARGIN_S: f64 = 5.0;
/// How often a program is looked at that gets ready.
const READY_POLL: Duration = Duration::from_millis(20);

/// Maximum number of words of a command, and of lines of output, that another machine reports.
const MAX_WORDS: usize = 4096;
/// Tells a program where it may write qlogs, as the interop runner of QUIC stacks does.
const QLOG_VARIABLE: &str = "QLOGDIR";
const SIDES: [&str; 2] = ["sender", "receiver"];

/// What a program did.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
pub struct ProgramReport {
    /// Flow number, from 1.
    pub flow: usize,
    /// `sender` or `receiver`.
    pub side: String,
    /// The command.
    #[serde(deserialize_with = "few::<_, _, MAX_WORDS>")]
    pub command: Vec<String>,
    /// How it ended before it was told to, if it did.
    pub ended: Option<String>,
    /// Its last output lines.
    #[serde(deserialize_with = "few::<_, _, MAX_WORDS>")]
    pub output: Vec<String>,
    /// The qlogs that it wrote.
    #[serde(deserialize_with = "few::<_, _, MOST_FILES>")]
    pub qlogs: Vec<QlogReport>,
}

/// The ends of a flow of programs that are on this machine, and where the one is that listens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndsHere<'a> {
    pub(crate) sender: Option<&'a End>,
    pub(crate) receiver: Option<&'a End>,
    pub(crate) listener: Ipv4Addr,
}

impl<'a> EndsHere<'a> {
    /// Both.
    pub(crate) fn of_pair(flow: &FlowSpec, program: &ProgramSpec, pair: &'a Pair) -> Self {
        let (sender, receiver) = ends(flow, pair);
        let listener = if program.first == FlowEnd::Sender { sender.address } else { receiver.address };
        Self { sender: Some(sender), receiver: Some(receiver), listener }
    }

    const fn of(self, side: FlowEnd) -> Option<&'a End> {
        match side {
            FlowEnd::Sender => self.sender,
            FlowEnd::Receiver => self.receiver,
        }
    }
}

/// Where the programs of a flow run, and their commands: the sender's, the receiver's.
#[derive(Debug)]
struct Place<'a> {
    index: usize,
    flow: &'a FlowSpec,
    ends: EndsHere<'a>,
    directory: &'a Path,
    /// How many programs the run has.
    programs: usize,
    commands: [Vec<String>; 2],
    /// Where the sides write samples, if they do.
    samples: [PathBuf; 2],
    /// Where the sides write qlogs, if they do.
    qlogs: [PathBuf; 2],
}

impl Place<'_> {
    /// Starts a side if it is here.
    fn launch(&self, side: FlowEnd, awaited: Option<String>) -> Result<Option<Program>, Error> {
        let Some(end) = self.ends.of(side) else { return Ok(None) };
        let which = usize::from(side == FlowEnd::Receiver);
        let (words, name) = (&self.commands[which], SIDES[which]);
        let folder = &self.qlogs[which];
        fs::create_dir(folder).map_err(|error| Error::system(format!("{}", folder.display()), error))?;
        let mut environment = BTreeMap::from([(QLOG_VARIABLE.to_owned(), folder.display().to_string())]);
        environment.extend(self.flow.program.iter().flat_map(|program| program.environment.clone()));
        let launch = Launch {
            label: format!("flow {} ({}) {name}", self.index + 1, self.flow.scheme),
            words,
            environment: &environment,
            namespace: &end.namespace,
            directory: self.directory,
            awaited,
            programs: self.programs,
        };
        Program::start(launch).map(Some)
    }
}

/// A flow of two programs, as far as they are on this machine.
#[derive(Debug)]
pub(crate) struct ProgramFlow<'a> {
    place: Place<'a>,
    spec: &'a ProgramSpec,
    first: Option<Program>,
    /// When the first side was started.
    begun: Instant,
    readiness: Readiness,
    second: Option<Program>,
    /// Whether the second side was started, if it is here.
    has_second: bool,
    /// What both sides have written as qlogs, once that was looked for.
    qlogs: [Vec<QlogReport>; 2],
    start: Time,
    stop: Time,
}

impl<'a> ProgramFlow<'a> {
    /// Flow number `index` if it has programs, with its first side started.
    ///
    /// # Errors
    /// One line: a program that cannot be started.
    pub(crate) fn start(
        spec: &'a RunSpec,
        index: usize,
        ends: impl FnOnce(&FlowSpec, &ProgramSpec) -> EndsHere<'a>,
        directory: &'a Path,
    ) -> Result<Option<Self>, Error> {
        let flow = &spec.flows[index];
        let Some(program) = &flow.program else { return Ok(None) };
        let ends = ends(flow, program);
        let (start, stop) = (flow.start(), flow.stop(spec.duration()));
        let length_s = (stop - start).as_secs_f64();
        let named = |suffix| SIDES.map(|side| directory.join(format!("flow-{}-{side}.{suffix}", index + 1)));
        let (samples, qlogs) = (named("samples"), named("qlogs"));
        let values = |side: usize| {
            [
                ("ip", ends.listener.to_string()),
                ("port", PORT.to_string()),
                ("duration", format!("{}", (length_s + MARGIN_S).ceil())),
                ("duration_s", format!("{length_s}")),
                ("flow", (index + 1).to_string()),
                ("directory", directory.display().to_string()),
                ("samples", samples[side].display().to_string()),
                ("qlog", qlogs[side].display().to_string()),
            ]
        };
        let words = |words: &[String], side: usize| -> Result<Vec<String>, Refusal> {
            let values = values(side);
            words.iter().map(|word| substitute(word, &values)).collect()
        };
        let commands = [words(&program.sender, 0)?, words(&program.receiver, 1)?];
        let readiness = program.readiness()?;
        let awaited = if let Readiness::Output(text) = &readiness { Some(text.clone()) } else { None };
        let programs = 2 * spec.flows.iter().filter(|flow| flow.program.is_some()).count();
        let place = Place { index, flow, ends, directory, programs, commands, samples, qlogs };
        let first = place.launch(program.first, awaited)?;
        Ok(Some(Self {
            spec: program,
            first,
            begun: Instant::now(),
            readiness,
            second: None,
            has_second: false,
            qlogs: [Vec::new(), Vec::new()],
            start,
            stop,
            place,
        }))
    }

    /// Waits until the first side is ready.
    ///
    /// # Errors
    /// One line: a program that ends or does not get ready, with its last output.
    pub(crate) fn wait_until_ready(&mut self, stop: &dyn Fn() -> bool) -> Result<(), Error> {
        let timeout = Duration::from_secs_f64(self.spec.ready_timeout_s);
        let (Some(first), Some(end)) = (&mut self.first, self.place.ends.of(self.spec.first)) else {
            return Ok(());
        };
        loop {
            if let Some(status) = first.ended() {
                first.finish_output();
                return Err(first.failure(format!("ended before it was ready, with {}", describe(status))));
            }
            let ready = match &self.readiness {
                Readiness::Listening => end.namespace.run(|| Ok(is_listening(PORT)))?,
                Readiness::Output(_) => first.has_printed_awaited(),
                Readiness::After(seconds) => self.begun.elapsed().as_secs_f64() >= *seconds,
            };
            if ready {
                return Ok(());
            }
            let waits = !matches!(self.readiness, Readiness::After(_));
            if waits && self.begun.elapsed() > timeout {
                let what = format!("not ready ({}) after {} s", self.spec.ready, self.spec.ready_timeout_s);
                return Err(first.failure(what));
            }
            if stop() {
                return Err(Error::Stopped);
            }
            first.watched.look(false);
            thread::sleep(READY_POLL);
        }
    }

    /// Does what is due at `now`: starts the second side, ends both at the flow's end.
    ///
    /// # Errors
    /// One line: a program that failed, with its last output.
    pub(crate) fn step(&mut self, now: Time) -> Result<(), Error> {
        if now >= self.stop {
            self.end();
            return Ok(());
        }
        if now >= self.start && !self.has_second {
            let side = if self.spec.first == FlowEnd::Sender { FlowEnd::Receiver } else { FlowEnd::Sender };
            self.has_second = true;
            self.second = self.place.launch(side, None)?;
        }
        for program in self.second.iter_mut().chain(&mut self.first) {
            program.watched.look(now >= self.start);
            if let Some(status) = program.ended().filter(|status| !status.success()) {
                program.finish_output();
                return Err(program.failure(format!("ended early, with {}", describe(status))));
            }
        }
        Ok(())
    }

    /// Ends both sides, the one that connected before the one that listens.
    pub(crate) fn end(&mut self) {
        for program in self.second.iter_mut().chain(&mut self.first) {
            program.end();
        }
    }

    /// What both sides have written about themselves, in time order. Their qlogs go to `kept`, the directory of the run's
    /// files; that of the sender tells the fields that nobody has written as samples.
    ///
    /// # Errors
    /// One line: a line of a file that is no sample.
    pub(crate) fn samples(&mut self, clock: Clock, kept: Option<&Path>) -> Result<Vec<ProgramSample>, Error> {
        let mut samples = Vec::new();
        let place = &self.place;
        for (file, side) in place.samples.iter().zip(SIDES) {
            let label = format!("flow {} ({}) {side}", place.index + 1, place.flow.scheme);
            samples.extend(read_samples(file, clock, self.stop).map_err(|error| error.at(label))?);
        }
        for (which, side) in SIDES.into_iter().enumerate() {
            let prefix = format!("flow-{}-{side}", place.index + 1);
            let folder = QlogFolder { folder: place.qlogs[which].clone(), prefix, kept };
            let of_sender = (which == 0).then_some(&mut samples);
            self.qlogs[which] = folder.collect(clock, [self.start, self.stop], of_sender);
        }
        samples.sort_by_key(|sample| sample.at);
        Ok(samples)
    }

    /// Why the run must not be used, if a side says so.
    pub(crate) fn objection(&mut self) -> Option<String> {
        self.second.iter_mut().chain(&mut self.first).find_map(Program::objection)
    }

    /// Why the flow counts as failed although nothing was delivered.
    pub(crate) fn silence(&self) -> String {
        let programs = self.second.iter().chain(&self.first);
        let told: Vec<String> = programs.map(|program| program.failure("sent no data").to_string()).collect();
        told.join("; ")
    }

    /// What both had of the processors.
    pub(crate) fn ends(&mut self) -> Vec<EndReport> {
        let flow = self.place.index + 1;
        self.sides().into_iter().filter_map(|(program, side)| program.watched.report(flow, side)).collect()
    }

    /// The programs that were started, each with its side.
    fn sides(&mut self) -> Vec<(&mut Program, &'static str)> {
        let sides =
            if self.spec.first == FlowEnd::Sender { ["sender", "receiver"] } else { ["receiver", "sender"] };
        let programs = [self.first.as_mut(), self.second.as_mut()];
        programs.into_iter().zip(sides).filter_map(|(program, side)| Some((program?, side))).collect()
    }

    /// What both programs did.
    pub(crate) fn reports(&mut self) -> Vec<ProgramReport> {
        let (flow, commands) = (self.place.index + 1, self.place.commands.clone());
        let qlogs = self.qlogs.clone();
        let reports = self.sides().into_iter().map(|(program, side)| {
            program.finish_output();
            let which = usize::from(side == SIDES[1]);
            ProgramReport {
                flow,
                side: side.to_owned(),
                command: commands[which].clone(),
                ended: program.ended().map(describe),
                output: program.output(),
                qlogs: qlogs[which].clone(),
            }
        });
        reports.collect()
    }
}

/// Replaces `{name}` by its value; `{{` and `}}` are braces.
fn substitute(word: &str, values: &[(&str, String)]) -> Result<String, Refusal> {
    let mut result = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find(['{', '}']) {
        result.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        let after = &rest[at + 1..];
        if let Some(after) = after.strip_prefix(brace) {
            result.push_str(brace);
            rest = after;
            continue;
        }
        let name = after.split_once('}').filter(|_| brace == "{").map(|(name, _)| name);
        let value = name.and_then(|name| values.iter().find(|(known, _)| *known == name));
        let (Some(name), Some((_, value))) = (name, value) else {
            let known: Vec<String> = values.iter().map(|(name, _)| format!("{{{name}}}")).collect();
            return Err(Refusal::of_key(
                format!("`{word}`"),
                format!("unknown placeholder: allowed are {}; {{{{ and }}}} for braces", known.join(", ")),
            ));
        };
        result.push_str(value);
        rest = &after[name.len() + 1..];
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_and_unknown_ones_refused() {
        let values = [("ip", "10.0.0.1".to_owned()), ("port", "9".to_owned())];
        assert_eq!(substitute("{ip}:{port}", &values).unwrap(), "10.0.0.1:9");
        assert_eq!(substitute("a{{b}}{port}", &values).unwrap(), "a{b}9");
        for wrong in ["{prot}", "{ip", "}x", "{}"] {
            let error = substitute(wrong, &values).unwrap_err().to_string();
            assert!(error.contains("allowed are {ip}, {port}"), "{error}");
        }
    }
}
