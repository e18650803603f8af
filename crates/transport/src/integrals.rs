//! Exact time integrals of a sender's state, from which averages over time are computed.

use units::{Rate, Span, Time};

/// Integrated levels since the latest call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    /// Window, bytes; `None` if nothing limits the bytes in flight.
    pub(crate) window_bytes: Option<u64>,
    pub(crate) in_flight_bytes: u64,
    /// Smoothed RTT; `None` before the first sample.
    pub(crate) srtt: Option<Span>,
    /// Delivery rate; zero before the first sample.
    pub(crate) delivery_rate: Rate,
}

/// Sums of level times time, up to `at`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Integrals {
    at: Time,
    /// End of the integrals; later time does not count.
    until: Time,
    active: Span,
    window_byte_ns: u128,
    in_flight_byte_ns: u128,
    srtt_ns_ns: u128,
    delivery_rate_ns: u128,
    /// Active time without a window, an RTT or a rate. These times are rare, so counting them is cheap.
    no_window: Span,
    no_srtt: Span,
    no_rate: Span,
}

impl Integrals {
    /// Returns integrals over the time from `start` to `until`.
    pub(crate) const fn new(start: Time, until: Time) -> Self {
        Self {
            at: start,
            until,
            active: Span::ZERO,
            window_byte_ns: 0,
            in_flight_byte_ns: 0,
            srtt_ns_ns: 0,
            delivery_rate_ns: 0,
            no_window: Span::ZERO,
            no_srtt: Span::ZERO,
            no_rate: Span::ZERO,
        }
    }

    /// Returns the time up to `now` that is not integrated yet.
    #[inline]
    pub(crate) fn pending(&self, now: Time) -> Span {
        now.min(self.until) - self.at
    }

    /// Adds the pending time with the levels `levels`.
    #[inline]
    pub(crate) fn add(&mut self, now: Time, levels: &Levels) {
        let span = self.pending(now);
        self.at += span;
        self.active += span;
        let ns = u128::from(span.as_ns());
        match levels.window_bytes {
            Some(bytes) => self.window_byte_ns += u128::from(bytes) * ns,
            None => self.no_window += span,
        }
        self.in_flight_byte_ns += u128::from(levels.in_flight_bytes) * ns;
        match levels.srtt {
            Some(srtt) => self.srtt_ns_ns += u128::from(srtt.as_ns()) * ns,
            None => self.no_srtt += span,
        }
        if levels.delivery_rate == Rate::ZERO {
            self.no_rate += span;
        }
        self.delivery_rate_ns += u128::from(levels.delivery_rate.bps()) * ns;
    }

    /// Ends the integrals now.
    pub(crate) const fn stop(&mut self) {
        self.until = self.at;
    }

    /// Returns the time that the integrals cover.
    pub(crate) const fn active(&self) -> Span {
        self.active
    }

    /// Returns window over time, byte * ns, and the time with a window.
    pub(crate) fn window(&self) -> (u128, Span) {
        (self.window_byte_ns, self.active - self.no_window)
    }

    /// Returns bytes in flight over time, byte * ns.
    pub(crate) const fn in_flight(&self) -> u128 {
        self.in_flight_byte_ns
    }

    /// Returns smoothed RTT over time, ns * ns, and the time with an RTT.
    pub(crate) fn srtt(&self) -> (u128, Span) {
        (self.srtt_ns_ns, self.active - self.no_srtt)
    }

    /// Returns delivery rate over time, bit/s * ns, and the time with a rate.
    pub(crate) fn delivery_rate(&self) -> (u128, Span) {
        (self.delivery_rate_ns, self.active - self.no_rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    const EARLY: Levels =
        Levels { window_bytes: None, in_flight_bytes: 10, srtt: None, delivery_rate: Rate::ZERO };
    const LATE: Levels = Levels {
        window_bytes: Some(20),
        in_flight_bytes: 15,
        srtt: Some(Span::from_ns(7)),
        delivery_rate: Rate::from_bps(3),
    };

    #[test]
    fn each_level_counts_for_the_time_it_lasted() {
        let mut integrals = Integrals::new(at(100), Time::NEVER);
        integrals.add(at(110), &EARLY);
        integrals.add(at(140), &LATE);
        assert_eq!((integrals.active(), integrals.in_flight()), (Span::from_ns(40), 10 * 10 + 15 * 30));
        assert_eq!(integrals.window(), (20 * 30, Span::from_ns(30)));
        assert_eq!(integrals.srtt(), (7 * 30, Span::from_ns(30)));
        assert_eq!(integrals.delivery_rate(), (3 * 30, Span::from_ns(30)));
    }

    #[test]
    fn nothing_counts_before_the_start_after_the_end_or_after_a_stop() {
        let mut integrals = Integrals::new(at(100), at(200));
        assert!(integrals.pending(at(90)).is_zero());
        integrals.add(at(90), &LATE);
        assert_eq!(integrals.pending(at(300)), Span::from_ns(100));
        integrals.add(at(150), &LATE);
        integrals.stop();
        integrals.add(at(160), &LATE);
        assert_eq!(integrals.active(), Span::from_ns(50));
    }
}
