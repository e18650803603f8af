//! Monitor intervals as PCC and Vivace count them on UDT: a planned number of packets each, judged once later packets
//! are reported.
//!
//! Source: modong/pcc@1afc958, `sender/src/core.cpp` (`start_monitor`, `packData`, `processCtrl`). Its quirks affect
//! the schemes' inputs, so they are kept:
//!
//! - An interval closes as soon as one packet of a later interval is reported. Its packets without a report by then
//!   count as lost.
//! - Intervals that close together close newest first.
//! - The RTT of a closing interval is the mean RTT so far in the *later* interval.
//! - Numbers of intervals wrap at the ring's size. An interval that is not closed by then is forgotten.

use crate::AckedPacket;
use std::collections::VecDeque;
use units::{Span, Time};

/// Microseconds per nanosecond: the unit of regressions.
const US: f64 = 1e-3;

/// Least-squares line of RTT over send time, in one pass.
#[derive(Clone, Copy, Debug, Default)]
struct Regression {
    /// First point, ns; the others are relative to it.
    origin: Option<(Time, Span)>,
    count: f64,
    times: f64,
    rtts: f64,
    squares: f64,
    products: f64,
}

impl Regression {
    fn add(&mut self, sent_at: Time, rtt: Span) {
        let (first, base) = *self.origin.get_or_insert((sent_at, rtt));
        let time = (sent_at.as_ns() as f64 - first.as_ns() as f64) * US;
        let rtt = (rtt.as_ns() as f64 - base.as_ns() as f64) * US;
        self.count += 1.0;
        self.times += time;
        self.rtts += rtt;
        self.squares += time * time;
        self.products += time * rtt;
    }

    /// Returns RTT per send time; `None` without two different times.
    fn slope(&self) -> Option<f64> {
        let spread = self.count * self.squares - self.times * self.times;
        (self.count >= 2.0 && spread > 0.0)
            .then(|| (self.count * self.products - self.times * self.rtts) / spread)
    }
}

/// Interval that is being sent or waits for reports.
#[derive(Clone, Copy, Debug)]
struct Interval {
    number: u32,
    rate: f64,
    first_packet: u64,
    planned: u64,
    sent: u64,
    reported: u64,
    start: Time,
    last_sent: Time,
    rtt_sum_ns: f64,
    rtt_samples: f64,
    regression: Regression,
}

/// Result of an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Number of the interval in the ring.
    pub(crate) number: u32,
    /// Number of the interval that is being sent now.
    pub(crate) current: u32,
    /// Rate set at the beginning of the interval, in the scheme's unit.
    pub(crate) rate: f64,
    /// Number of packets sent.
    pub(crate) packets: f64,
    /// Number of packets without a report when the interval was closed.
    pub(crate) lost: f64,
    /// Time from the interval's start (the last departure of the previous interval) to its own last departure, s, above
    /// 0.
    pub(crate) seconds: f64,
    /// Mean RTT so far in the interval whose report closed this one.
    pub(crate) rtt: Span,
    /// Slope of RTT over send time within the interval; `None` without two reports.
    pub(crate) slope: Option<f64>,
}

impl Ended {
    /// Returns the fraction of packets that were lost.
    pub(crate) fn loss(&self) -> f64 {
        self.lost / self.packets
    }
}

/// Numbers of intervals, which wrap at this number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring(pub(crate) u32);

impl Ring {
    /// Returns the number that follows `number` by `ahead`.
    pub(crate) const fn after(self, number: u32, ahead: u32) -> u32 {
        (number + ahead) % self.0
    }

    /// Returns the distance from `first` to `number`.
    pub(crate) const fn distance(self, first: u32, number: u32) -> u32 {
        (number + self.0 - first) % self.0
    }
}

/// Intervals of one flow. The next interval must be opened whenever [`Monitor::sent`] asks for it.
#[derive(Debug)]
pub(crate) struct Monitor {
    ring: Ring,
    /// True if the report of an interval's own last packet closes it (Vivace). False if only the report of a later
    /// packet does (PCC).
    closes_on_last: bool,
    /// Intervals that are not closed yet, oldest first; the last one is being sent.
    intervals: VecDeque<Interval>,
    next: u32,
    report_rtt: Span,
}

impl Monitor {
    /// Returns a monitor that remembers as many intervals as `ring` has numbers.
    pub(crate) fn new(ring: Ring, closes_on_last: bool) -> Self {
        Self {
            ring,
            closes_on_last,
            intervals: VecDeque::with_capacity(ring.0 as usize),
            next: 0,
            report_rtt: Span::ZERO,
        }
    }

    /// Returns the number of the interval that [`Monitor::open`] will open.
    pub(crate) const fn next(&self) -> u32 {
        self.next
    }

    /// Returns true if an interval is being sent: from the first [`Monitor::open`] on.
    pub(crate) fn is_open(&self) -> bool {
        !self.intervals.is_empty()
    }

    /// Opens an interval of `packets` packets, at least one, from packet number `first_packet` on.
    pub(crate) fn open(&mut self, now: Time, first_packet: u64, packets: u64, rate: f64) {
        if self.intervals.len() == self.ring.0 as usize {
            self.intervals.pop_front();
        }
        self.intervals.push_back(Interval {
            number: self.next,
            rate,
            first_packet,
            planned: packets.max(1),
            sent: 0,
            reported: 0,
            start: now,
            last_sent: now,
            rtt_sum_ns: 0.0,
            rtt_samples: 0.0,
            regression: Regression::default(),
        });
        self.next = self.ring.after(self.next, 1);
    }

    /// Counts a departure in the current interval. Returns true if this was the interval's last packet.
    pub(crate) fn sent(&mut self, now: Time) -> bool {
        let Some(interval) = self.intervals.back_mut() else { return false };
        interval.sent += 1;
        interval.last_sent = now;
        interval.sent == interval.planned
    }

    /// Returns the position of the interval with `packet`; `None` if that interval is closed.
    fn find(&self, packet: u64) -> Option<usize> {
        self.intervals.partition_point(|interval| interval.first_packet <= packet).checked_sub(1)
    }

    /// Handles a report whose newest packet is `newest`; reports give one RTT sample.
    pub(crate) fn reported(&mut self, now: Time, newest: &AckedPacket) {
        let rtt = now - newest.sent_at;
        self.report_rtt = rtt;
        if let Some(at) = self.find(newest.number) {
            let interval = &mut self.intervals[at];
            interval.rtt_sum_ns += rtt.as_ns() as f64;
            interval.rtt_samples += 1.0;
            interval.regression.add(newest.sent_at, rtt);
            self.report_rtt = Span::from_ns((interval.rtt_sum_ns / interval.rtt_samples) as u64);
        }
    }

    /// Counts one packet of the report.
    pub(crate) fn arrived(&mut self, packet: u64) {
        if let Some(at) = self.find(packet) {
            self.intervals[at].reported += 1;
        }
    }

    /// Returns the newest of the intervals that the arrival of `packet` closes. Call this until it returns `None`.
    pub(crate) fn close(&mut self, packet: u64) -> Option<Ended> {
        let at = self.find(packet)?;
        let interval = &self.intervals[at];
        let is_last = packet == interval.first_packet + interval.planned - 1;
        let closed = at + usize::from(self.closes_on_last && is_last);
        let interval = self.intervals.remove(closed.checked_sub(1)?)?;
        let current = self.intervals.back().map_or(interval.number, |interval| interval.number);
        Some(Ended {
            number: interval.number,
            current,
            rate: interval.rate,
            packets: interval.sent as f64,
            lost: interval.sent.saturating_sub(interval.reported) as f64,
            seconds: (interval.last_sent - interval.start).as_secs_f64().max(1e-9),
            rtt: self.report_rtt,
            slope: interval.regression.slope(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    /// Sends `count` packets from number `first`, each at its number in ms, in intervals of `planned`.
    fn send(monitor: &mut Monitor, first: u64, count: u64, planned: u64) {
        for number in first..first + count {
            if !monitor.is_open() {
                monitor.open(at(number), number, planned, 1.0);
            }
            if monitor.sent(at(number)) {
                monitor.open(at(number), number + 1, planned, 1.0);
            }
        }
    }

    /// Reports one packet that was sent at its number in ms.
    fn report(monitor: &mut Monitor, number: u64, rtt_ms: u64) -> Vec<Ended> {
        let packet = AckedPacket { number, sent_at: at(number), ..AckedPacket::default() };
        monitor.reported(at(number + rtt_ms), &packet);
        monitor.arrived(number);
        core::iter::from_fn(|| monitor.close(number)).collect()
    }

    #[test]
    fn a_later_report_closes_an_interval_and_what_was_not_reported_is_lost() {
        let mut monitor = Monitor::new(Ring(100), false);
        send(&mut monitor, 0, 25, 10);
        assert!((0..9).all(|number| report(&mut monitor, number, 20).is_empty()));
        // Packet 9 is late: packet 10 closes the interval without it, and its RTT counts for the interval.
        let ended = report(&mut monitor, 10, 30);
        assert_eq!(ended.len(), 1);
        assert_eq!((ended[0].number, ended[0].current, ended[0].packets, ended[0].lost), (0, 2, 10.0, 1.0));
        assert_eq!(ended[0].rtt, Span::from_ms(30));
        assert!(report(&mut monitor, 9, 40).is_empty());
        // The first interval has no previous interval to begin at, so it has nine gaps; the second has ten.
        assert!((ended[0].seconds - 0.009).abs() < 1e-12);
        assert!((report(&mut monitor, 20, 30)[0].seconds - 0.010).abs() < 1e-12);
    }

    #[test]
    fn intervals_that_close_together_close_newest_first() {
        let mut monitor = Monitor::new(Ring(100), false);
        send(&mut monitor, 0, 35, 10);
        let ended: Vec<u32> = report(&mut monitor, 30, 20).iter().map(|ended| ended.number).collect();
        assert_eq!(ended, [2, 1, 0]);
    }

    #[test]
    fn the_last_packet_closes_its_own_interval_where_asked_for() {
        for (closes_on_last, expected) in [(true, vec![0]), (false, vec![])] {
            let mut monitor = Monitor::new(Ring(500), closes_on_last);
            send(&mut monitor, 0, 12, 10);
            assert!((0..9).all(|number| report(&mut monitor, number, 20).is_empty()));
            let ended: Vec<u32> = report(&mut monitor, 9, 20).iter().map(|ended| ended.number).collect();
            assert_eq!(ended, expected);
        }
    }

    #[test]
    fn the_slope_is_that_of_rtt_over_send_time() {
        let mut monitor = Monitor::new(Ring(500), true);
        send(&mut monitor, 0, 12, 10);
        assert!((0..9).all(|number| report(&mut monitor, number, 20 + 3 * number).is_empty()));
        let slope = report(&mut monitor, 9, 20 + 27)[0].slope;
        assert!((slope.unwrap() - 3.0).abs() < 1e-9, "{slope:?}");
        send(&mut monitor, 12, 15, 10);
        assert_eq!(report(&mut monitor, 25, 20)[0].slope, None); // nothing of that interval was reported
    }

    #[test]
    fn numbers_wrap_and_the_oldest_interval_is_forgotten() {
        let mut monitor = Monitor::new(Ring(4), false);
        send(&mut monitor, 0, 52, 10);
        assert!(report(&mut monitor, 0, 60).is_empty() && report(&mut monitor, 19, 60).is_empty());
        let ended: Vec<u32> = report(&mut monitor, 51, 60).iter().map(|ended| ended.number).collect();
        assert_eq!(ended, [0, 3, 2]); // intervals 4, 3, 2; 0 and 1 are gone
        assert_eq!((Ring(4).after(3, 2), Ring(4).distance(3, 1)), (1, 2));
    }
}
