//! Pacing: when the next packet may leave.

use units::{Rate, Span, Time};

/// Spaces packets at a rate. Credit for the past never exceeds one burst, however long the flow was idle or blocked;
/// only what a late timer cost is made up for, up to the timer slack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    next: Time,
    /// Most lateness of the driver's timer.
    slack: Span,
    /// Whether the next packet waits for `next` and for nothing else.
    waiting: bool,
}

impl Pacer {
    pub(crate) const fn new(now: Time) -> Self {
        Self { next: now, slack: Span::ZERO, waiting: false }
    }

    /// The driver's timer may be late by up to `slack`: that lateness does not lower the rate.
    pub(crate) const fn set_timer_slack(&mut self, slack: Span) {
        self.slack = slack;
    }

    /// Whether it is the pacer that the next packet waits for, rather than window or application.
    pub(crate) const fn set_waiting(&mut self, waiting: bool) {
        self.waiting = waiting;
    }

    /// Earliest departure of the next packet.
    pub(crate) const fn next(self) -> Time {
        self.next
    }

    /// A packet of `bytes` left at `now`; up to `burst_bytes` may leave back to back.
    pub(crate) fn sent(&mut self, now: Time, bytes: u32, rate: Rate, burst_bytes: u64) {
        let lateness = if self.waiting { self.slack } else { Span::ZERO };
        let credit = rate.time_for(burst_bytes.saturating_sub(u64::from(bytes))).max(lateness);
        // However high the rate, time goes on.
        let gap = rate.time_for(u64::from(bytes)).max(Span::from_ns(1));
        self.next = self.next.max(now - credit) + gap;
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

    /// Sends whatever may leave at `now`; returns how many packets that were.
    fn send_all(pacer: &mut Pacer, now: Time, rate: Rate) -> u32 {
        let mut sent = 0;
        while pacer.next() <= now {
            pacer.sent(now, 1500, rate, 0);
            sent += 1;
        }
        sent
    }

    #[test]
    fn a_late_timer_within_the_slack_does_not_lower_the_rate() {
        let (mut pacer, rate) = (Pacer::new(Time::ZERO), Rate::from_mbps(12.0));
        pacer.set_timer_slack(Span::from_ms(5));
        pacer.set_waiting(true);
        // Each of the wake-ups is 0.7 ms later than asked for: one packet per ms in spite of it.
        let mut sent = 0;
        while pacer.next() < Time::from_ns(1_000_000_000) {
            let now = pacer.next() + Span::from_us(700);
            sent += send_all(&mut pacer, now, rate);
        }
        assert_eq!(sent, 1000);
    }

    #[test]
    fn beyond_the_slack_and_for_other_waits_the_past_earns_nothing() {
        let (mut pacer, rate) = (Pacer::new(Time::ZERO), Rate::from_mbps(12.0));
        pacer.set_timer_slack(Span::from_ms(2));
        pacer.set_waiting(true);
        // 10 ms late: the two packets of the slack, and the one that is due.
        assert_eq!(send_all(&mut pacer, Time::from_ns(10_000_000), rate), 3);
        pacer.set_waiting(false);
        assert_eq!(send_all(&mut pacer, Time::from_ns(50_000_000), rate), 1);
    }
}
