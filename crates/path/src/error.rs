//! Errors of this crate.

use crate::Interruption;
use strict_input::Refusal;
use thiserror::Error;

/// Errors of paths and of packets on them.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Error {
    /// Setting that is not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Interruption of long work by its caller.
    #[error(transparent)]
    Interrupted(#[from] Interruption),
    /// Datagram that no packets of this path can carry.
    #[error(
        "a datagram of {datagram_bytes} bytes and {overhead_bytes} of overhead exceeds mtu_bytes = {mtu_bytes}{}",
        oversized_end(*.fragment)
    )]
    Oversized {
        /// Size of the datagram, bytes.
        datagram_bytes: u32,
        /// Bytes added to every packet.
        overhead_bytes: u32,
        /// Largest packet, bytes.
        mtu_bytes: u32,
        /// True if the path fragments datagrams.
        fragment: bool,
    },
    /// Trace without lines.
    #[error("no line: a trace has at least one")]
    EmptyTrace,
    /// Faulty line of a trace.
    #[error("line {line}: {fault}")]
    Trace {
        /// Number of the line, from 1.
        line: usize,
        /// Fault of the line.
        fault: TraceFault,
    },
    /// Elements whose delivery opportunities cannot be written as a trace.
    #[error("{direction}: {fault}")]
    Opportunities {
        /// Name of the direction.
        direction: String,
        /// Fault of the elements.
        fault: OpportunitiesFault,
    },
}

impl Error {
    /// Adds `place`, the location of the faulty setting; only a refusal has a place.
    #[must_use]
    pub(crate) fn at(self, place: impl Into<String>) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(refusal.at(place.into())),
            other => other,
        }
    }
}

/// Returns the end of the message of [`Error::Oversized`]: the possible fix.
fn oversized_end(fragment: bool) -> &'static str {
    if fragment { ", even in 128 fragments" } else { ": make it smaller or set fragment = true" }
}

/// Fault of a line of a trace.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum TraceFault {
    /// The line is no number.
    #[error("`{0}`: allowed is a whole number of ms")]
    NotWhole(String),
    /// The time is too late.
    #[error("{shown} ms: allowed are at most {highest} ms")]
    TooLate {
        /// Time as written in the file.
        shown: String,
        /// Latest allowed time, ms.
        highest: u64,
    },
    /// The time is before the time of the previous line.
    #[error("{time} ms come after {last} ms: times must not decrease")]
    Decreases {
        /// Time of the line, ms.
        time: u64,
        /// Time of the previous line, ms.
        last: u64,
    },
    /// The last time is 0.
    #[error("the last time is 0 ms: it is the period and must be above 0")]
    NoPeriod,
}

/// Reason why delivery opportunities cannot be written as a trace.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum OpportunitiesFault {
    /// Not exactly one element has opportunities.
    #[error("{0} elements with delivery opportunities (trace, poisson, cellular): exactly one is needed")]
    Elements(usize),
    /// An opportunity does not serve exactly one full packet.
    #[error("opportunities of {bytes} bytes: must be {expected} in a trace")]
    Size {
        /// Bytes of the opportunity.
        bytes: u32,
        /// Bytes of a full packet.
        expected: u32,
    },
    /// There are too many opportunities.
    #[error("more than {most} opportunities in {now_s} s: allowed are at most {most}")]
    TooMany {
        /// Maximum number of opportunities.
        most: usize,
        /// Time of the first opportunity beyond the maximum, s.
        now_s: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_one_line_of_its_own() {
        let oversized = |fragment| Error::Oversized {
            datagram_bytes: 1500,
            overhead_bytes: 36,
            mtu_bytes: 1500,
            fragment,
        };
        let trace = |fault| Error::Trace { line: 3, fault };
        let opportunities = |fault| Error::Opportunities { direction: "data".to_owned(), fault };
        for (error, line) in [
            (Refusal::of_value("rate_mbps", 0, "must be above 0").into(), "rate_mbps = 0: must be above 0"),
            (Interruption.into(), "interrupted"),
            (
                oversized(false),
                "a datagram of 1500 bytes and 36 of overhead exceeds mtu_bytes = 1500: make it smaller or set fragment \
                 = true",
            ),
            (
                oversized(true),
                "a datagram of 1500 bytes and 36 of overhead exceeds mtu_bytes = 1500, even in 128 fragments",
            ),
            (Error::EmptyTrace, "no line: a trace has at least one"),
            (trace(TraceFault::NotWhole("-1".to_owned())), "line 3: `-1`: allowed is a whole number of ms"),
            (
                trace(TraceFault::TooLate { shown: "99".to_owned(), highest: 9 }),
                "line 3: 99 ms: allowed are at most 9 ms",
            ),
            (
                trace(TraceFault::Decreases { time: 1, last: 2 }),
                "line 3: 1 ms come after 2 ms: times must not decrease",
            ),
            (
                trace(TraceFault::NoPeriod),
                "line 3: the last time is 0 ms: it is the period and must be above 0",
            ),
            (
                opportunities(OpportunitiesFault::Elements(2)),
                "data: 2 elements with delivery opportunities (trace, poisson, cellular): exactly one is needed",
            ),
            (
                opportunities(OpportunitiesFault::Size { bytes: 700, expected: 1500 }),
                "data: opportunities of 700 bytes: must be 1500 in a trace",
            ),
            (
                opportunities(OpportunitiesFault::TooMany { most: 50, now_s: 0.5 }),
                "data: more than 50 opportunities in 0.5 s: allowed are at most 50",
            ),
        ] {
            assert_eq!(error.to_string(), line);
        }
    }

    #[test]
    fn only_refusals_have_a_place() {
        let refused = Error::from(Refusal::of_key("rate_mbps", "missing"));
        assert_eq!(refused.at("data[0]").to_string(), "data[0]: rate_mbps: missing");
        assert_eq!(Error::from(Interruption).at("data[0]"), Error::Interrupted(Interruption));
    }
}
