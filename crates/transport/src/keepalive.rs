//! Keepalive: one packet after a time without any event, regardless of window and pacing.

use crate::config::{Config, ms};
use units::{Span, Time};

/// Timer of the next keepalive packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keepalive {
    at: Time,
    after: Span,
}

impl Keepalive {
    /// Returns a timer that is due at the flow's start; never due if the configuration wants no keepalives.
    pub(crate) fn new(config: &Config, start: Time) -> Self {
        let is_wanted = config.keepalive_ms > 0.0;
        Self { at: if is_wanted { start } else { Time::NEVER }, after: ms(config.keepalive_ms) }
    }

    /// Returns the time of the next keepalive packet.
    #[inline]
    pub(crate) const fn at(self) -> Time {
        self.at
    }

    /// Restarts the time after an event.
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
