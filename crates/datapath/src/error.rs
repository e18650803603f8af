//! The errors of this crate.

use endpoint::MOST_FLOWS;
use std::error::Error as StdError;
use strict_input::Refusal;
use thiserror::Error;

/// Why the system, or another library, did not do what it was asked for.
pub type Cause = Box<dyn StdError + Send + Sync>;

/// Why a run with real packets cannot be, or has failed.
#[derive(Debug, Error)]
pub enum Error {
    /// Something in a specification or a request is not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The run's specification.
    #[error(transparent)]
    Run(#[from] runs::Error),
    /// An end of a flow.
    #[error(transparent)]
    End(#[from] endpoint::Error),
    /// The packet log.
    #[error(transparent)]
    Log(#[from] packetlog::Error),
    /// The clocks of two machines.
    #[error("the clocks of the two machines cannot be compared: {0}")]
    Clocks(#[from] clocks::Error),
    /// The system refuses.
    #[error("{what}: {source}")]
    System {
        /// A file or an address, or what cannot be done.
        what: String,
        /// Why.
        source: Cause,
    },
    /// The system refuses, and the fix is known.
    #[error("{what}: {source}: {fix}")]
    NotPermitted {
        /// A file, or what cannot be done.
        what: String,
        /// Why.
        source: Cause,
        /// The fix, as a part of a sentence.
        fix: &'static str,
    },
    /// The system does not say whether a command has ended.
    #[error("{0}")]
    Wait(#[source] std::io::Error),
    /// The counters of a device cannot be read.
    #[error("{0}")]
    Counters(#[source] std::io::Error),
    /// A tunnel between two machines.
    #[error("{0}")]
    Tunnel(#[source] std::io::Error),
    /// Something is wrong with one part of a run.
    #[error("{place}: {source}")]
    At {
        /// The part: an end of a flow.
        place: String,
        /// The error in this part.
        source: Box<Error>,
    },
    /// This process may not make devices in its network namespace.
    #[error(
        "{0}; without rights over this network namespace the server has to be a command, or start `unshare -Urn` first"
    )]
    NoDevice(#[source] Box<Error>),
    /// All addresses for paths are in use.
    #[error("no free addresses for a path: all of 10.77.0.0/16 are in use here")]
    NoAddress,
    /// All ports that were given are in use.
    #[error("UDP ports {from} to {to}: all are in use")]
    NoPort {
        /// The first of them.
        from: u16,
        /// The last of them.
        to: u16,
    },
    /// No directory is safe for what programs write.
    #[error("there is no private directory for programs: {refusals}: set {variable} to one")]
    NoDirectory {
        /// The directories, each with what is wrong with it.
        refusals: String,
        /// The environment variable that names another one.
        variable: &'static str,
    },
    /// A thread panicked.
    #[error("{0} panicked")]
    Panicked(&'static str),
    /// Somebody wanted the run to end.
    #[error("stopped")]
    Stopped,
    /// More was sent than the run may send.
    #[error("stopped: {mbps:.1} Mbit/s were sent in a second: the bandwidth cap is {cap} Mbit/s")]
    BandwidthCap {
        /// The rate that was sent, Mbit/s.
        mbps: f64,
        /// The highest rate that is allowed, Mbit/s.
        cap: f64,
    },
    /// The caller did not give the time at which the run begins.
    #[error("{0}")]
    NotBegun(#[source] Cause),
    /// The path holds more packets than there is memory for.
    #[error("the path is full")]
    Full,
    /// A program failed.
    #[error("{program}: {what}; last output: {printed}")]
    Program {
        /// The flow and the end.
        program: String,
        /// How.
        what: String,
        /// The last lines that it printed.
        printed: String,
    },
    /// Programs that sent nothing, in the words of [`Error::Program`].
    #[error("{0}")]
    Silent(String),
    /// The run has too many flows.
    #[error("flows: {0}: an emulated run takes at most {MOST_FLOWS}")]
    TooManyFlows(usize),
    /// A command of a peer process came before the one that it needs.
    #[error("{0}")]
    Early(&'static str),
    /// The request has another number of flows than there are sockets.
    #[error("{request}: {open} {what}")]
    OtherFlows {
        /// The request.
        request: &'static str,
        /// How many there are here.
        open: usize,
        /// The noun for these: sockets or ends.
        what: &'static str,
    },
    /// A report of one side of a run cannot be read, or not belong to the run.
    #[error(transparent)]
    Report(#[from] ReportFault),
    /// The times of an exchange contradict each other.
    #[error(
        "states times by which a round trip took {trip_s:.3} s, while {passed_s:.3} s passed here: allowed is 0 to what \
         passed here, and {most_s} s at most"
    )]
    Exchange {
        /// The round trip by the four times, s.
        trip_s: f64,
        /// Time that passed on this machine, s.
        passed_s: f64,
        /// The longest round trip, s.
        most_s: f64,
    },
}

impl Error {
    /// The system refuses `what` because of `source`.
    pub(crate) fn system(what: impl Into<String>, source: impl Into<Cause>) -> Self {
        Self::System { what: what.into(), source: source.into() }
    }

    /// The same, with the fix.
    pub(crate) fn not_permitted(
        what: impl Into<String>,
        source: impl Into<Cause>,
        fix: &'static str,
    ) -> Self {
        Self::NotPermitted { what: what.into(), source: source.into(), fix }
    }

    /// The system starts no more threads.
    pub(crate) fn no_thread(error: std::io::Error) -> Self {
        Self::not_permitted(
            "cannot start a thread",
            error,
            "allow more (`ulimit -u`, or the limit `pids` of a container)",
        )
    }

    /// The same error, of the part of a run called `place`.
    pub(crate) fn at(self, place: impl Into<String>) -> Self {
        Self::At { place: place.into(), source: Box::new(self) }
    }
}

impl From<path::Error> for Error {
    fn from(error: path::Error) -> Self {
        Self::Run(error.into())
    }
}

/// Why the report of one side of a run is refused.
#[derive(Debug, Error)]
pub enum ReportFault {
    /// It cannot be written.
    #[error("report of a side: {0}")]
    Unwritable(#[source] Cause),
    /// It cannot be read.
    #[error("report of a side: not readable: {0}")]
    Unreadable(#[source] Cause),
    /// It is no report.
    #[error("report of a side: not readable: no compressed report")]
    NotCompressed,
    /// It is longer than a report can be.
    #[error("report of a side: not readable: {bytes} bytes become {size}: allowed are {most}")]
    TooLarge {
        /// Its length, bytes.
        bytes: usize,
        /// Its length once it is unpacked, bytes.
        size: u64,
        /// The longest that is allowed, bytes.
        most: usize,
    },
    /// It is of another run.
    #[error("the sides report of other flows than those of the run")]
    OtherFlows,
    /// Its times are beyond every clock.
    #[error("a side reports times that no clock shows")]
    Times,
    /// It says something of a flow that is impossible.
    #[error("{0}")]
    Flow(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn refused() -> io::Error {
        io::ErrorKind::PermissionDenied.into()
    }

    #[test]
    fn each_error_is_one_line() {
        let no_clocks = || clocks::Error::Unseen("forward");
        for (error, line) in [
            (Refusal::of_key("server", "must not be empty").into(), "server: must not be empty"),
            (runs::Error::Contradiction("x".to_owned()).into(), "the statistics contradict each other: x"),
            (path::Error::EmptyTrace.into(), "no line: a trace has at least one"),
            (endpoint::Error::Sending(refused()).into(), "sending socket: permission denied"),
            (packetlog::Error::Interrupted.into(), "interrupted"),
            (
                no_clocks().into(),
                "the clocks of the two machines cannot be compared: no forward packet was seen: clocks cannot be \
                 compared",
            ),
            (Error::system("/proc", refused()), "/proc: permission denied"),
            (
                Error::not_permitted("/dev/x", refused(), "run as root"),
                "/dev/x: permission denied: run as root",
            ),
            (Error::Wait(refused()), "permission denied"),
            (Error::Counters(refused()), "permission denied"),
            (Error::Tunnel(refused()), "permission denied"),
            (Error::Stopped.at("flow 1 (copa) sender"), "flow 1 (copa) sender: stopped"),
            (
                Error::NoDevice(Box::new(Error::system("/dev/x", refused()))),
                "/dev/x: permission denied; without rights over this network namespace the server has to be a command, or start \
                 `unshare -Urn` first",
            ),
            (Error::NoAddress, "no free addresses for a path: all of 10.77.0.0/16 are in use here"),
            (Error::NoPort { from: 5, to: 6 }, "UDP ports 5 to 6: all are in use"),
            (
                Error::NoDirectory { refusals: "/x: is no directory".to_owned(), variable: "Y" },
                "there is no private directory for programs: /x: is no directory: set Y to one",
            ),
            (Error::Panicked("a thread of the emulator"), "a thread of the emulator panicked"),
            (
                Error::BandwidthCap { mbps: 12.34, cap: 5.0 },
                "stopped: 12.3 Mbit/s were sent in a second: the bandwidth cap is 5 Mbit/s",
            ),
            (Error::NotBegun(refused().into()), "permission denied"),
            (Error::Full, "the path is full"),
            (
                Error::Program {
                    program: "flow 1 (x) sender".to_owned(),
                    what: "ended early, with signal 9".to_owned(),
                    printed: "it printed nothing".to_owned(),
                },
                "flow 1 (x) sender: ended early, with signal 9; last output: it printed nothing",
            ),
            (Error::Silent("a; b".to_owned()), "a; b"),
            (Error::TooManyFlows(999), &*format!("flows: 999: an emulated run takes at most {MOST_FLOWS}")),
            (Error::Early("there was no run"), "there was no run"),
            (
                Error::OtherFlows { request: "run", open: 2, what: "flows were opened" },
                "run: 2 flows were opened",
            ),
            (
                Error::Exchange { trip_s: 3.0, passed_s: 0.03, most_s: 60.0 },
                "states times by which a round trip took 3.000 s, while 0.030 s passed here: allowed is 0 to what passed \
                 here, and 60 s at most",
            ),
            (ReportFault::Unwritable(refused().into()).into(), "report of a side: permission denied"),
            (
                ReportFault::Unreadable(refused().into()).into(),
                "report of a side: not readable: permission denied",
            ),
            (ReportFault::NotCompressed.into(), "report of a side: not readable: no compressed report"),
            (
                ReportFault::TooLarge { bytes: 3, size: 99, most: 10 }.into(),
                "report of a side: not readable: 3 bytes become 99: allowed are 10",
            ),
            (ReportFault::OtherFlows.into(), "the sides report of other flows than those of the run"),
            (ReportFault::Times.into(), "a side reports times that no clock shows"),
            (ReportFault::Flow("flow 3 is none".to_owned()).into(), "flow 3 is none"),
        ] {
            let error: Error = error;
            assert_eq!(error.to_string(), line);
        }
    }

    #[test]
    fn the_systems_error_is_the_last_cause() {
        for error in [
            Error::system("/proc", refused()).at("flow 1 (copa) sender"),
            Error::NoDevice(Box::new(Error::not_permitted("/dev/x", refused(), "run as root"))),
        ] {
            let cause = error.source().and_then(StdError::source);
            let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
            assert_eq!(cause.map(io::Error::kind), Some(io::ErrorKind::PermissionDenied));
        }
    }
}
