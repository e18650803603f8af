//! A log being read.

use super::oddities::Oddity;
use crate::Error;
use record::Record;

/// Longest log, ns: what is drawn and summed over its time needs memory for all of it.
pub(super) const LONGEST_NS: u64 = 1_000_000 * 1_000_000_000;
pub(super) const TOO_FAR: &str = "starts more than 1000000 s before or after the log that it belongs to";

/// A log being read.
pub(super) trait Source {
    /// For messages.
    fn name(&self) -> &str;
    /// Time of the log's zero, us since 1970.
    fn init_us(&self) -> Option<u64>;
    /// The zero of the log, or of the first of several, by the times of the records, ns.
    fn zero_ns(&self) -> u64;
    /// Lines read.
    fn line(&self) -> u64;
    /// Remarks about unusual lines, so far.
    fn oddities(&self) -> Vec<Oddity>;
    /// The next record, in the order of the lines.
    fn next(&mut self) -> Result<Option<Record>, Error>;
}

impl Source for Box<dyn Source> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn init_us(&self) -> Option<u64> {
        (**self).init_us()
    }

    fn zero_ns(&self) -> u64 {
        (**self).zero_ns()
    }

    fn line(&self) -> u64 {
        (**self).line()
    }

    fn oddities(&self) -> Vec<Oddity> {
        (**self).oddities()
    }

    fn next(&mut self) -> Result<Option<Record>, Error> {
        (**self).next()
    }
}
