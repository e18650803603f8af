//! Programs of a run: started inside a namespace, their output drained, ended with everything they started.

use crate::Error;
use crate::enclosure::{Enclosure, Inherits};
use crate::namespace::Namespace;
use crate::scheduling::{Watched, Who};
use endpoint::{Scheduled, be_foremost_as_program};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Output lines kept.
const TAIL_LINES: usize = 50;
/// Longest part of a line that is kept, bytes.
const LINE_BYTES: usize = 400;
/// The exit status of a program that was asked to end and says that the run must not be used.
const INVALID: i32 = 3;
/// Time for a program to end by itself after it was asked to.
const GRACE: Duration = Duration::from_millis(500);

/// The last lines a program has printed.
#[derive(Debug, Default)]
struct Tail {
    lines: VecDeque<String>,
    /// A line that held this text was seen.
    awaited: Option<(String, bool)>,
}

/// A program at work.
#[derive(Debug)]
pub(crate) struct Program {
    /// How messages call it.
    pub(crate) label: String,
    child: Child,
    enclosure: Enclosure,
    tail: Arc<Mutex<Tail>>,
    readers: Vec<JoinHandle<()>>,
    status: Option<ExitStatus>,
    /// What it has of the processors.
    pub(crate) watched: Watched,
}

/// What to start, and where.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) label: String,
    pub(crate) words: &'a [String],
    pub(crate) environment: &'a BTreeMap<String, String>,
    pub(crate) namespace: &'a Namespace,
    pub(crate) directory: &'a Path,
    /// Text that the caller will wait for in the output.
    pub(crate) awaited: Option<String>,
    /// How many programs the run has.
    pub(crate) programs: usize,
}

impl Program {
    /// Starts a program. It dies with this process.
    ///
    /// # Errors
    /// One line naming the command that cannot be started.
    pub(crate) fn start(launch: Launch<'_>) -> Result<Self, Error> {
        let mut command = Command::new(&launch.words[0]);
        command
            .args(&launch.words[1..])
            .envs(launch.environment)
            .current_dir(launch.directory)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        hurry(&mut command);
        let (enclosure, mut child) = Enclosure::start(&mut command, launch.namespace, &[], Inherits::Nothing)
            .map_err(|error| error.at(&launch.label))?;
        let awaited = launch.awaited.map(|text| (text, false));
        let tail = Arc::new(Mutex::new(Tail { lines: VecDeque::new(), awaited }));
        let streams: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
            child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        ];
        let readers = streams.into_iter().flatten().map(|stream| {
            let tail = Arc::clone(&tail);
            thread::spawn(move || drain(stream, &tail))
        });
        tracing::info!(pid = child.id(), command = launch.words.join(" "), "{}: started", launch.label);
        let watched = Watched::new(Who::Program(child.id() as i32), launch.programs);
        Ok(Self {
            label: launch.label,
            readers: readers.collect(),
            child,
            enclosure,
            tail,
            status: None,
            watched,
        })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() && self.has_ended() {
            let _unhurried = Scheduled::unhurried();
            self.status = self.child.try_wait().ok().flatten();
            self.tell_end();
        }
        self.status
    }

    /// Returns whether the program has ended. Its process stays as it is (a zombie): to reap it is [`Program::ended`]'s.
    fn has_ended(&self) -> bool {
        let child = Id::Pid(Pid::from_raw(self.child.id() as i32));
        let looked = waitid(child, WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT);
        looked.is_ok_and(|status| status != WaitStatus::StillAlive)
    }

    /// Whether the awaited text was in its output.
    pub(crate) fn has_printed_awaited(&self) -> bool {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.awaited.as_ref().is_some_and(|(_, seen)| *seen)
    }

    /// Its last output lines.
    pub(crate) fn output(&self) -> Vec<String> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.lines.iter().cloned().collect()
    }

    /// Ends it with everything that it has started: politely, then not.
    pub(crate) fn end(&mut self) {
        if self.ended().is_none() {
            let _asked = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM);
            let patience = Instant::now() + GRACE;
            while self.ended().is_none() && Instant::now() < patience {
                thread::sleep(Duration::from_millis(5));
            }
        }
        let before = self.status;
        self.status = self.enclosure.end(&mut self.child).ok().or(self.status);
        if before.is_none() {
            self.tell_end();
        }
    }

    /// Says how it ended.
    fn tell_end(&self) {
        if let Some(status) = self.status {
            tracing::info!(pid = self.child.id(), "{}: ended with {}", self.label, describe(status));
        }
    }

    /// Waits for the rest of its output. What it has started may go on and hold its output open: that ends the wait.
    pub(crate) fn finish_output(&mut self) {
        let patience = Instant::now() + GRACE;
        while self.readers.iter().any(|reader| !reader.is_finished()) && Instant::now() < patience {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Why the run must not be used, if the program says so by the status with which it ended after it was asked to: its
    /// last line.
    pub(crate) fn objection(&mut self) -> Option<String> {
        if self.ended()?.code() != Some(INVALID) {
            return None;
        }
        self.finish_output();
        let reason = self.output().pop().unwrap_or_else(|| format!("exit status {INVALID}"));
        Some(format!("{}: {reason}", self.label))
    }

    /// Why the program counts as failed: its status and its last lines.
    pub(crate) fn failure(&self, what: impl Into<String>) -> Error {
        let lines = self.output();
        let last = &lines[lines.len().saturating_sub(3)..];
        let printed = if last.is_empty() { "it printed nothing".to_owned() } else { last.join(" | ") };
        Error::Program { program: self.label.clone(), what: what.into(), printed }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// How a program ended, in words.
pub(crate) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown status".to_owned(),
    }
}

/// Makes the child start before ordinary ones.
#[allow(unsafe_code, reason = "between fork and exec only system calls are made, no memory is allocated")]
fn hurry(command: &mut Command) {
    let prepare = || {
        be_foremost_as_program();
        Ok(())
    };
    // SAFETY: system calls only.
    unsafe { command.pre_exec(prepare) };
}

/// Reads a stream to its end, so that a talkative program never blocks.
fn drain(stream: Box<dyn Read + Send>, tail: &Mutex<Tail>) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        // Bounded, or a program that prints no line ends would fill the memory.
        match reader.by_ref().take(1 << 16).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        line.truncate(LINE_BYTES);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if text.is_empty() {
            continue;
        }
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((awaited, seen)) = &mut tail.awaited {
            *seen |= text.contains(awaited.as_str());
        }
        if tail.lines.len() == TAIL_LINES {
            tail.lines.pop_front();
        }
        tail.lines.push_back(text.to_owned());
    }
}

/// Whether a socket of the calling thread's namespace is bound to `port`: listening for TCP, open for UDP.
pub(crate) fn is_listening(port: u16) -> bool {
    let suffix = format!(":{port:04X}");
    let bound = |table: &str, state: &str| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{table}")).unwrap_or_default();
        text.lines().skip(1).any(|line| {
            let mut words = line.split_whitespace().skip(1);
            let local = words.next().is_some_and(|address| address.ends_with(&suffix));
            local && words.nth(1).is_some_and(|found| state.is_empty() || found == state)
        })
    };
    bound("tcp", "0A") || bound("tcp6", "0A") || bound("udp", "") || bound("udp6", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_listening(port));
        drop(listener);
        assert!(!is_listening(port));
    }
}
