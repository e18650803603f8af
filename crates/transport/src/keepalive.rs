//! One packet after a time without any event, whatever window and pacing say.

use crate::config::{Config, ms};
use units::{Span, Time};

/// When the next such packet is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keepalive {
    at: Time,
    after: Span,
}

impl Keepalive {
    /// The first packet of the flow is due at its start; never, if the configuration wants no keepalives.
    pub(crate) fn new(config: &Config, start: Time) -> Self {
        let is_wanted = config.keepalive_ms > 0.0;
        Self { at: if is_wanted { start } else { Time::NEVER }, after: ms(config.keepalive_ms) }
    }

    /// When it is due.
    #[inline]
    pub(crate) const fn at(self) -> Time {
        self.at
    }

    /// Something happened: the time starts over.
    #[inline]
    pub(crate) fn restart(&mut self, now: Time) {
        if self.at.is_finite() {
            self.at = now + self.after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_puts_it_off_and_without_it_there_is_none() {
        let start = Time::from_ns(5);
        let mut keepalive = Keepalive::new(&Config { keepalive_ms: 50.0, ..Config::datagram() }, start);
        assert_eq!(keepalive.at(), start);
        keepalive.restart(start);
        assert_eq!(keepalive.at(), start + Span::from_ms(50));
        let mut none = Keepalive::new(&Config::datagram(), start);
        none.restart(start);
        assert_eq!(none.at(), Time::NEVER);
    }
}
