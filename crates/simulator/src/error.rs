//! Errors of this crate.

use core::fmt::Display;
use thiserror::Error;
use units::Time;

/// Reason why a run cannot be simulated, or ended early.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Error {
    /// Fault in the specification.
    #[error(transparent)]
    Spec(#[from] runs::Error),
    /// Reason why the observer ended the run.
    #[error("{0}")]
    Stopped(String),
    /// A decision of an agent was due, but the driver makes none.
    #[error("flows{}: nobody decides for {}", index(*.0), if .0.is_some() { "its agent" } else { "an agent" })]
    Undecided(Option<usize>),
    /// The run has more packets at once than the specification allows.
    #[error(
        "most_packets = {most}: {packets} packets on the path or unacknowledged at {:.6} s",
        .at.as_secs_f64()
    )]
    TooManyPackets {
        /// Maximum number of packets.
        most: u64,
        /// Number of packets found.
        packets: u64,
        /// Time of the check.
        at: Time,
    },
    /// The run has more events in a second than the specification allows.
    #[error(
        "most_events_per_s = {most}: {events} events from {:.6} s to {:.6} s",
        .from.as_secs_f64(),
        .to.as_secs_f64()
    )]
    TooManyEvents {
        /// Maximum number of events per second.
        most: u64,
        /// Number of events found.
        events: u64,
        /// Beginning of the count.
        from: Time,
        /// End of the count.
        to: Time,
    },
}

fn index(flow: Option<usize>) -> impl Display {
    flow.map_or(String::new(), |flow| format!("[{flow}]"))
}

impl From<path::Error> for Error {
    fn from(error: path::Error) -> Self {
        Self::Spec(error.into())
    }
}

impl From<strict_input::Refusal> for Error {
    fn from(refusal: strict_input::Refusal) -> Self {
        Self::Spec(refusal.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strict_input::Refusal;

    #[test]
    fn each_error_is_one_line() {
        let at = Time::from_secs_f64;
        for (error, line) in [
            (Refusal::of_key("flows", "at least one is needed").into(), "flows: at least one is needed"),
            (Error::Stopped("interrupted".to_owned()), "interrupted"),
            (Error::Undecided(Some(2)), "flows[2]: nobody decides for its agent"),
            (Error::Undecided(None), "flows: nobody decides for an agent"),
            (
                Error::TooManyPackets { most: 10, packets: 11, at: at(1.5) },
                "most_packets = 10: 11 packets on the path or unacknowledged at 1.500000 s",
            ),
            (
                Error::TooManyEvents { most: 10, events: 12, from: at(1.0), to: at(1.25) },
                "most_events_per_s = 10: 12 events from 1.000000 s to 1.250000 s",
            ),
        ] {
            assert_eq!(error.to_string(), line);
        }
    }
}
