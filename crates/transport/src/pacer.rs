//! Pacing: when the next packet may leave.

use units::{Rate, Time};

/// Spaces packets at a rate. Credit for the past never exceeds one burst, however long the flow was idle or blocked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    next: Time,
}

impl Pacer {
    pub(crate) const fn new(now: Time) -> Self {
        Self { next: now }
    }

    /// Earliest departure of the next packet.
    pub(crate) const fn next(self) -> Time {
        self.next
    }

    /// A packet of `bytes` left at `now`; up to `burst_bytes` may leave back to back.
    pub(crate) fn sent(&mut self, now: Time, bytes: u32, rate: Rate, burst_bytes: u64) {
        let credit = rate.time_for(burst_bytes.saturating_sub(u64::from(bytes)));
        self.next = self.next.max(now - credit) + rate.time_for(u64::from(bytes));
    }

    /// The next packet waits a full gap from `now` on (quirk of genericCC, reference `schemes-window` 3.3).
    pub(crate) fn restart(&mut self, now: Time, bytes: u32, rate: Rate) {
        self.next = self.next.max(now + rate.time_for(u64::from(bytes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_spaced_at_the_rate() {
        let (mut pacer, rate) = (Pacer::new(Time::ZERO), Rate::from_mbps(12.0));
        pacer.sent(Time::ZERO, 1500, rate, 0);
        assert_eq!(pacer.next(), Time::from_ns(1_000_000));
    }

    #[test]
    fn idle_time_earns_one_burst_and_no_more() {
        let (mut pacer, rate) = (Pacer::new(Time::ZERO), Rate::from_mbps(12.0));
        let later = Time::from_ns(1_000_000_000);
        let mut sent = 0;
        while pacer.next() <= later {
            pacer.sent(later, 1500, rate, 4500);
            sent += 1;
        }
        assert_eq!(sent, 3);
    }
}
