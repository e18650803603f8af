//! Detection of a busy thread, which should handle packets in small batches. A wake-up costs more than several packets
//! on a virtual machine.

use units::{Span, Time};

/// Minimum rate of a busy thread, events (packets in and out) per second.
const BUSY_EVENTS: u64 = 50_000;
/// Interval between two measurements of the rate.
const INTERVAL: Span = Span::from_ms(2);

/// Rate meter of a thread's events.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    since: Time,
    events: u64,
    busy: bool,
}

impl Pace {
    /// Creates the meter of a thread that begins at `now`.
    pub const fn new(now: Time) -> Self {
        Self { since: now, events: 0, busy: false }
    }

    /// Returns true if the thread is busy at `now`, after a total of `events` events.
    pub fn is_busy(&mut self, now: Time, events: u64) -> bool {
        let elapsed = now - self.since;
        if elapsed >= INTERVAL {
            self.busy = (events - self.events) * 1_000_000_000 > BUSY_EVENTS * elapsed.as_ns();
            (self.since, self.events) = (now, events);
        }
        self.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_the_last_milliseconds_decides() {
        let at = |us: u64| Time::from_ns(us * 1000);
        let mut pace = Pace::new(at(0));
        assert!(!pace.is_busy(at(1000), 200));
        assert!(pace.is_busy(at(2000), 200));
        assert!(pace.is_busy(at(3000), 200));
        assert!(!pace.is_busy(at(4000), 250));
    }
}
