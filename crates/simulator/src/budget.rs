//! Budget of a run's work and packets. Without bounds, a run in which nothing takes time would never end, or would fill
//! the memory.

use crate::Error;
use units::{Span, Time};

/// Minimum number of work units between two checks.
const LOOK: u64 = 1 << 14;

/// Work units per flow between two checks: a check visits every flow, so with many flows it is worth its cost only
/// after more work.
const LOOK_PER_FLOW: u64 = 64;

/// Work that a run has done, and the work that it may do. A work unit is an event, a packet sent or delivered, or a
/// step inside the path.
#[derive(Debug)]
pub(crate) struct Budget {
    most_per_second: u64,
    most_packets: u64,
    spent: u64,
    look_at: u64,
    look_every: u64,
    /// Beginning of the second that is being counted, and the work done before it.
    second: Time,
    spent_before: u64,
    exceeded: Option<Error>,
}

impl Budget {
    /// Returns a budget for a run of `flows` flows.
    pub(crate) fn new(most_per_second: u64, most_packets: u64, flows: usize) -> Self {
        let look_every = LOOK.max(LOOK_PER_FLOW * flows as u64);
        Self {
            most_per_second,
            most_packets,
            spent: 0,
            look_at: look_every,
            look_every,
            second: Time::ZERO,
            spent_before: 0,
            exceeded: None,
        }
    }

    /// Adds `pieces` units of work.
    #[inline]
    pub(crate) const fn spend(&mut self, pieces: u64) {
        self.spent += pieces;
    }

    /// Returns true if a check is due.
    #[inline]
    pub(crate) const fn is_due(&self) -> bool {
        self.spent >= self.look_at
    }

    /// Compares the work done, and the `packets` in memory, with the limits.
    pub(crate) fn look(&mut self, now: Time, packets: u64) {
        self.look_at = self.spent + self.look_every;
        if packets > self.most_packets {
            self.exceed(Error::TooManyPackets { most: self.most_packets, packets, at: now });
        }
        let spent = self.spent - self.spent_before;
        if now >= self.second + Span::from_secs(1) {
            (self.second, self.spent_before) = (now, self.spent);
        } else if spent > self.most_per_second {
            let (most, from) = (self.most_per_second, self.second);
            self.exceed(Error::TooManyEvents { most, events: spent, from, to: now });
        }
    }

    fn exceed(&mut self, what: Error) {
        // Makes the next check due at once, because the run must not go on.
        self.look_at = 0;
        self.exceeded.get_or_insert(what);
    }

    /// Returns true if a check has found that a limit is exceeded.
    pub(crate) const fn is_exceeded(&self) -> bool {
        self.exceeded.is_some()
    }

    /// Takes the error of the exceeded limit.
    pub(crate) fn exceeded(&mut self) -> Option<Error> {
        self.exceeded.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: f64) -> Time {
        Time::from_secs_f64(s)
    }

    #[test]
    fn a_second_may_cost_so_much_and_the_next_one_again() {
        let mut budget = Budget::new(100_000, 10, 1);
        for second in 0..5 {
            budget.spend(100_000);
            assert!(budget.is_due());
            budget.look(at(f64::from(second) + 1.0), 10);
            assert!(!budget.is_due() && !budget.is_exceeded());
        }
        budget.spend(100_000);
        budget.look(at(5.5), 10);
        assert!(!budget.is_exceeded());
        budget.spend(1);
        budget.look(at(5.5), 10);
        let why = budget.exceeded().unwrap().to_string();
        assert_eq!(why, "most_events_per_s = 100000: 100001 events from 5.000000 s to 5.500000 s");
    }

    #[test]
    fn packets_that_are_held_are_bounded() {
        let mut budget = Budget::new(100_000, 10, 1);
        budget.look(at(0.25), 11);
        let why = budget.exceeded().unwrap().to_string();
        assert_eq!(why, "most_packets = 10: 11 packets on the path or unacknowledged at 0.250000 s");
    }

    #[test]
    fn many_flows_are_visited_less_often() {
        let mut budget = Budget::new(1 << 40, 10, 10_000);
        budget.spend(LOOK_PER_FLOW * 10_000 - 1);
        assert!(!budget.is_due());
        budget.spend(1);
        assert!(budget.is_due());
    }
}
