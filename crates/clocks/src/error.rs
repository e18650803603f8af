//! Errors of the clock comparison, and reasons for refusing a reference.

use thiserror::Error;

/// Reason why two clocks cannot be compared.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum Error {
    /// A time of a packet is too far from zero.
    #[error("{0} packets: a time is further than 36 years from zero")]
    Far(&'static str),
    /// A direction has no packet.
    #[error("no {0} packet was seen: clocks cannot be compared")]
    Unseen(&'static str),
}

/// Reason why a reference is not used.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub(crate) enum ReferenceFault {
    #[error("its error is negative, or a time further than 36 years from zero")]
    Impossible,
    #[error("it is of {0:.1} s before or after the packets")]
    Outside(f64),
    #[error("it contradicts what packets and better references prove by {0:.3} ms")]
    Contradicts(f64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_one_line() {
        for (error, line) in [
            (Error::Far("forward"), "forward packets: a time is further than 36 years from zero"),
            (Error::Unseen("backward"), "no backward packet was seen: clocks cannot be compared"),
        ] {
            assert_eq!(error.to_string(), line);
        }
        for (fault, line) in [
            (ReferenceFault::Impossible, "its error is negative, or a time further than 36 years from zero"),
            (ReferenceFault::Outside(1.25), "it is of 1.2 s before or after the packets"),
            (
                ReferenceFault::Contradicts(0.5),
                "it contradicts what packets and better references prove by 0.500 ms",
            ),
        ] {
            assert_eq!(fault.to_string(), line);
        }
    }
}
