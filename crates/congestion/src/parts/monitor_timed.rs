//! Monitor intervals with a fixed duration instead of a number of packets: the engine of PCC-Expr and Proteus.
//!
//! Source: PCCproject/PCC-Uspace@cd43e34 and @30c2cfe, `src/pcc/pcc_monitor_interval_queue.cpp`. Each packet of a
//! useful interval is accounted for, as acknowledged or lost. A round of useful intervals is decided once all of them
//! are complete. Intervals that are not useful only keep the sender active meanwhile. The schemes define the end and
//! the completeness of an interval.
//!
//! The reasons:
//!
//! - Duration: a rate's effect on RTT and loss shows after about a round trip. A number of packets is a round trip at
//!   one rate only; a duration fits all rates (Dong et al., NSDI 2018,
//!   <https://www.usenix.org/conference/nsdi18/presentation/dong>, has one RTT).
//! - All packets: a loss becomes known later than an ACK. So an interval that is judged early looks better than it was,
//!   and the interval that it is compared with looks worse.
//! - Intervals that are not useful: results come a round trip late. A sender that stopped until then would empty the
//!   queue that it measures.

use std::collections::VecDeque;
use units::{Span, Time};

/// RTT that was reported for a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttSample {
    /// Packet number.
    pub(crate) number: u64,
    pub(crate) rtt: Span,
    /// True if statistics may use the sample.
    pub(crate) is_reliable: bool,
}

/// Properties of an interval that are known at its beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntervalTerms {
    /// Sending rate, in the scheme's unit.
    pub(crate) rate: f64,
    /// True if the interval's utility counts.
    pub(crate) is_useful: bool,
    /// True if the scheme is still in its first phase.
    pub(crate) is_starting: bool,
    /// Smoothed RTT.
    pub(crate) rtt: Span,
    /// End of the interval; the present time if the scheme knows no end in advance.
    pub(crate) end: Time,
}

/// Monitor interval.
#[derive(Debug)]
pub(crate) struct Interval {
    pub(crate) terms: IntervalTerms,
    pub(crate) first_sent_at: Time,
    pub(crate) last_sent_at: Time,
    first_number: u64,
    last_number: u64,
    pub(crate) packets: u64,
    pub(crate) sent_bytes: u64,
    acked_bytes: u64,
    pub(crate) lost_bytes: u64,
    /// RTTs in the order of their reports.
    pub(crate) samples: Vec<RttSample>,
    pub(crate) reliable_samples: usize,
}

impl Interval {
    /// Returns true if every packet sent so far is either acknowledged or lost.
    pub(crate) fn is_accounted_for(&self) -> bool {
        self.acked_bytes + self.lost_bytes >= self.sent_bytes
    }

    /// Returns the fraction of bytes that were lost.
    pub(crate) fn loss(&self) -> f64 {
        self.lost_bytes as f64 / self.sent_bytes as f64
    }

    /// Returns the time from the first to the last packet's departure.
    pub(crate) fn sending_time(&self) -> Span {
        self.last_sent_at - self.first_sent_at
    }

    fn holds(&self, number: u64) -> bool {
        self.packets > 0 && (self.first_number..=self.last_number).contains(&number)
    }
}

/// State of the round of useful intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// Round that cannot be decided yet.
    Waiting,
    /// Round with an interval of a single packet, which has no rate.
    Void,
    /// Round whose intervals are all complete.
    Complete,
}

/// Intervals that are not finished, oldest first.
#[derive(Debug, Default)]
pub(crate) struct MonitorTimed {
    intervals: VecDeque<Interval>,
    useful: usize,
    /// Memory of finished intervals.
    spare: Vec<Vec<RttSample>>,
}

impl MonitorTimed {
    /// Returns the number of useful intervals of this round.
    pub(crate) const fn useful(&self) -> usize {
        self.useful
    }

    /// Returns the interval in which packets leave now.
    pub(crate) fn current(&self) -> Option<&Interval> {
        self.intervals.back()
    }

    pub(crate) fn useful_intervals(&self) -> impl Iterator<Item = &Interval> {
        self.intervals.iter().filter(|interval| interval.terms.is_useful)
    }

    /// Begins an interval. If neither it nor the last interval is useful, it replaces the last one: nothing is measured
    /// in either.
    pub(crate) fn open(&mut self, now: Time, terms: IntervalTerms) {
        if self.current().is_some_and(|current| !current.terms.is_useful && !terms.is_useful)
            && let Some(replaced) = self.intervals.pop_back()
        {
            self.keep(replaced);
        }
        self.useful += usize::from(terms.is_useful);
        self.intervals.push_back(Interval {
            terms,
            first_sent_at: now,
            last_sent_at: now,
            first_number: 0,
            last_number: 0,
            packets: 0,
            sent_bytes: 0,
            acked_bytes: 0,
            lost_bytes: 0,
            samples: self.spare.pop().unwrap_or_default(),
            reliable_samples: 0,
        });
    }

    /// Counts a departure; an interval must be open.
    pub(crate) fn on_sent(&mut self, now: Time, number: u64, bytes: u64) {
        let Some(current) = self.intervals.back_mut() else { return };
        if current.packets == 0 {
            (current.first_sent_at, current.first_number) = (now, number);
        }
        (current.last_sent_at, current.last_number) = (now, number);
        current.packets += 1;
        current.sent_bytes += bytes;
    }

    /// Returns the useful interval in which packet `number` left.
    pub(crate) fn useful_with(&mut self, number: u64) -> Option<&mut Interval> {
        self.intervals.iter_mut().find(|interval| interval.terms.is_useful && interval.holds(number))
    }

    /// Counts an acknowledged packet.
    pub(crate) fn on_acked(&mut self, bytes: u64, sample: RttSample) {
        let Some(interval) = self.useful_with(sample.number) else { return };
        interval.acked_bytes += bytes;
        interval.samples.push(sample);
        interval.reliable_samples += usize::from(sample.is_reliable);
    }

    /// Counts a lost packet.
    pub(crate) fn on_lost(&mut self, number: u64, bytes: u64) {
        if let Some(interval) = self.useful_with(number) {
            interval.lost_bytes += bytes;
        }
    }

    /// Counts everything outstanding as lost.
    pub(crate) fn on_all_lost(&mut self) {
        for interval in &mut self.intervals {
            interval.lost_bytes = interval.sent_bytes.saturating_sub(interval.acked_bytes);
        }
    }

    /// Returns the state of the round; `is_complete` decides whether an interval is complete.
    pub(crate) fn round(&self, is_complete: impl Fn(&Interval) -> bool) -> Round {
        let mut complete = 0;
        for interval in self.useful_intervals().filter(|interval| is_complete(interval)) {
            if interval.sending_time().is_zero() {
                return Round::Void;
            }
            complete += 1;
        }
        if complete > 0 && complete == self.useful { Round::Complete } else { Round::Waiting }
    }

    /// Ends the round: forgets the intervals up to the last useful one.
    pub(crate) fn end_round(&mut self) {
        while self.useful > 0
            && let Some(interval) = self.intervals.pop_front()
        {
            self.useful -= usize::from(interval.terms.is_useful);
            self.keep(interval);
        }
    }

    /// Forgets all intervals.
    pub(crate) fn clear(&mut self) {
        while let Some(interval) = self.intervals.pop_front() {
            self.keep(interval);
        }
        self.useful = 0;
    }

    /// Keeps the memory of `interval`.
    fn keep(&mut self, mut interval: Interval) {
        interval.samples.clear();
        self.spare.push(interval.samples);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn terms(rate: f64, is_useful: bool) -> IntervalTerms {
        IntervalTerms { rate, is_useful, is_starting: false, rtt: Span::from_ms(10), end: Time::ZERO }
    }

    fn sample(number: u64) -> RttSample {
        RttSample { number, rtt: Span::from_ms(10), is_reliable: true }
    }

    /// Returns two useful intervals of two packets each (numbers 0 to 3), then one that is not useful (4 and 5).
    fn two_and_a_tail() -> MonitorTimed {
        let mut monitor = MonitorTimed::default();
        for (index, is_useful) in [true, true, false].into_iter().enumerate() {
            let start = 10 * index as u64;
            monitor.open(at(start), terms(1.0, is_useful));
            for packet in 0..2 {
                monitor.on_sent(at(start + packet), 2 * index as u64 + packet, 100);
            }
        }
        monitor
    }

    #[test]
    fn a_round_is_complete_once_every_packet_of_its_useful_intervals_has_a_verdict() {
        let mut monitor = two_and_a_tail();
        let round = |monitor: &MonitorTimed| monitor.round(Interval::is_accounted_for);
        assert_eq!((monitor.useful(), round(&monitor)), (2, Round::Waiting));
        for number in [0, 1, 3] {
            monitor.on_acked(100, sample(number));
        }
        assert_eq!(round(&monitor), Round::Waiting);
        monitor.on_lost(2, 100);
        assert_eq!(round(&monitor), Round::Complete);
        let losses: Vec<f64> = monitor.useful_intervals().map(Interval::loss).collect();
        assert_eq!(losses, [0.0, 0.5]);
        monitor.end_round();
        assert_eq!((monitor.useful(), round(&monitor)), (0, Round::Waiting));
        assert!(monitor.current().is_some_and(|current| !current.terms.is_useful));
    }

    #[test]
    fn packets_of_intervals_that_are_not_useful_leave_no_trace() {
        let mut monitor = two_and_a_tail();
        monitor.on_acked(100, sample(4));
        monitor.on_lost(5, 100);
        assert!(monitor.useful_intervals().all(|interval| interval.samples.is_empty()));
        assert_eq!(monitor.current().map(|current| current.lost_bytes), Some(0));
    }

    #[test]
    fn one_packet_makes_the_round_void() {
        let mut monitor = MonitorTimed::default();
        monitor.open(at(0), terms(1.0, true));
        monitor.on_sent(at(0), 0, 100);
        monitor.on_acked(100, sample(0));
        assert_eq!(monitor.round(Interval::is_accounted_for), Round::Void);
    }

    #[test]
    fn a_timeout_settles_what_is_outstanding() {
        let mut monitor = two_and_a_tail();
        monitor.on_acked(100, sample(0));
        monitor.on_all_lost();
        assert_eq!(monitor.round(Interval::is_accounted_for), Round::Complete);
        let lost: Vec<u64> = monitor.useful_intervals().map(|interval| interval.lost_bytes).collect();
        assert_eq!(lost, [100, 200]);
    }

    #[test]
    fn waiting_costs_no_memory() {
        let mut monitor = two_and_a_tail();
        for ms in 30..1000 {
            monitor.open(at(ms), terms(1.0, false));
            monitor.on_sent(at(ms), ms, 100);
        }
        assert_eq!(monitor.intervals.len(), 3);
        assert_eq!(monitor.current().map(|current| current.first_sent_at), Some(at(999)));
    }
}
