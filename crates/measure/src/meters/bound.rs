//! Bound on memory. A count per flow and interval needs memory for each, and a damaged log may name any flow and any
//! time.

use record::Record;
use std::collections::BTreeSet;
use thiserror::Error;
use units::Span;

/// Maximum number of flows of a log, and maximum number of intervals over all flows.
const MOST_FLOWS: usize = 10_000;
const MOST_INTERVALS: u64 = 1 << 24;

/// Maximum number of intervals over all flows if each becomes a row, per view.
const MOST_ROWS: u64 = 1 << 20;

/// Checks that each interval of length `interval_ns` up to `end_ns` can have a row for each of `flows` flows.
///
/// # Errors
/// One line: there would be too many.
pub(crate) fn check_rows(flows: usize, interval_ns: u64, end_ns: u64) -> Result<(), Error> {
    let intervals = end_ns.div_ceil(interval_ns).saturating_mul(flows as u64);
    if intervals <= MOST_ROWS { Ok(()) } else { Err(too_many(end_ns, MOST_ROWS, interval_ns, flows)) }
}

fn too_many(reaches_ns: u64, most: u64, interval_ns: u64, flows: usize) -> Error {
    Error::TooManyIntervals {
        reaches: Span::from_ns(reaches_ns),
        most,
        interval: Span::from_ns(interval_ns),
        flows,
    }
}

/// Reason why a log is not counted by flow and interval.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Error {
    /// There are too many flows.
    #[error("has more than {MOST_FLOWS} flows, which is the most that is counted by time")]
    TooManyFlows,
    /// All flows together have too many intervals.
    #[error(
        "reaches to {} s, which are more than {most} intervals of {} s of its {flows} flows: choose longer ones",
        .reaches.as_secs_f64(),
        .interval.as_secs_f64()
    )]
    TooManyIntervals {
        /// Time of the log's last record.
        reaches: Span,
        /// Maximum number of intervals.
        most: u64,
        /// Length of an interval.
        interval: Span,
        /// Number of flows.
        flows: usize,
    },
}

/// Decides which records of a log may be counted by flow and interval.
#[derive(Clone, Debug)]
pub struct MemoryBound {
    interval_ns: u64,
    flows: BTreeSet<u32>,
    latest: Option<u32>,
    limit_ns: u64,
    exceeded: Option<Error>,
}

impl MemoryBound {
    /// Returns a bound for counts in intervals of length `interval`.
    pub fn new(interval: Span) -> Self {
        let (flows, interval_ns) = (BTreeSet::new(), interval.as_ns());
        Self { interval_ns, flows, latest: None, limit_ns: 0, exceeded: None }
    }

    /// Returns true if a record may be counted; false for all records after the first refused one.
    #[inline]
    pub fn takes(&mut self, record: &Record) -> bool {
        if self.latest != Some(record.flow) {
            self.latest = Some(record.flow);
            self.flows.insert(record.flow);
            let per_flow = MOST_INTERVALS / self.flows.len() as u64;
            self.limit_ns = self.interval_ns.saturating_mul(per_flow);
        }
        if self.exceeded.is_none() && (record.time_ns >= self.limit_ns || self.flows.len() > MOST_FLOWS) {
            self.exceed(record.time_ns);
        }
        self.exceeded.is_none()
    }

    /// Returns the bound that the log has exceeded; `None` if it is within all bounds.
    pub fn exceeded(&self) -> Option<Error> {
        self.exceeded.clone()
    }

    #[cold]
    fn exceed(&mut self, time_ns: u64) {
        self.exceeded = Some(if self.flows.len() > MOST_FLOWS {
            Error::TooManyFlows
        } else {
            too_many(time_ns, MOST_INTERVALS, self.interval_ns, self.flows.len())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Event;

    fn outcome(interval: Span, records: impl Iterator<Item = (u64, u32)>) -> (u64, Option<String>) {
        let mut bound = MemoryBound::new(interval);
        let count = records
            .filter(|&(time_ns, flow)| {
                let event = Event::Send;
                let (seq, size_bytes, data_bytes, one_way_delay_ns) = (0, 1500, 1448, 0);
                let record = Record { time_ns, flow, event, seq, size_bytes, data_bytes, one_way_delay_ns };
                bound.takes(&record)
            })
            .count();
        (count as u64, bound.exceeded().map(|error| error.to_string()))
    }

    #[test]
    fn a_day_of_a_hundred_flows_by_the_second_is_within() {
        let records = (0..86_400).flat_map(|second| (0..100).map(move |flow| (second * 1_000_000_000, flow)));
        assert_eq!(outcome(Span::from_ms(1000), records), (8_640_000, None));
    }

    #[test]
    fn a_time_beyond_all_intervals_ends_it() {
        let (count, reason) = outcome(Span::from_ms(1), [(0, 1), (1 << 62, 1), (5, 1)].into_iter());
        assert_eq!(count, 1);
        assert!(reason.unwrap().contains("which are more than 16777216 intervals of 0.001 s of its 1 flows"));
    }

    #[test]
    fn a_flow_beyond_the_most_ends_it() {
        let (count, reason) = outcome(Span::from_ms(1000), (0..20_000).map(|flow| (0, flow)));
        assert_eq!(count, 10_000);
        assert_eq!(reason.unwrap(), "has more than 10000 flows, which is the most that is counted by time");
    }
}
