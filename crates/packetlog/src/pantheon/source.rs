//! Interface of logs for reading.

use super::oddities::Oddity;
use crate::Error;
use record::Record;

/// Maximum length of a log, ns. Figures and sums over time need memory for the whole length.
pub(super) const LONGEST_NS: u64 = 1_000_000 * 1_000_000_000;
pub(super) const TOO_FAR: &str = "starts more than 1000000 s before or after the log that it belongs to";

/// Log for reading.
pub(super) trait Source {
    /// Returns the name for messages.
    fn name(&self) -> &str;
    /// Returns the time of the log's zero, us since 1970.
    fn init_us(&self) -> Option<u64>;
    /// Returns the zero of the first log on the time axis of the records, ns.
    fn zero_ns(&self) -> u64;
    /// Returns the number of lines read.
    fn line(&self) -> u64;
    /// Returns the oddities so far.
    fn oddities(&self) -> Vec<Oddity>;
    /// Returns the next record in the order of the lines.
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
