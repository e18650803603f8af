//! Pacing: departure times of packets.

use crate::config::Config;
use congestion::Control;
use units::{Rate, Span, Time};

/// Windows per srtt at which Linux paces in slow start and after slow start (Linux v5.15, `net/ipv4/tcp_ipv4.c`:
/// `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const SLOW_START_GAIN: f64 = 2.0;
const AVOIDANCE_GAIN: f64 = 1.2;
/// Number of first packets of a connection that Linux does not pace (Linux v5.15, `net/ipv4/tcp_output.c`,
/// `tcp_update_skb_after_send`).
const UNPACED: u32 = 10;

/// Spaces packets at a rate. A flow that was idle or blocked may catch up by one burst at most. The pacer also makes up
/// for a late timer, up to the timer slack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    next: Time,
    /// Maximum lateness of the driver's timer.
    slack: Span,
    /// Pacing rate of controllers without one, as a multiple of window / srtt; 0 sends unpaced.
    gain: f64,
    /// True if Linux's `fq` paces those controllers: see [`Config::fq`].
    fq: bool,
    /// Remaining packets that leave before `fq` begins to pace.
    unpaced: u32,
    /// True if the next packet waits only for `next`.
    waiting: bool,
    /// Quirk of genericCC: see [`Pacer::restart`].
    restarts_when_blocked: bool,
    /// Quirk of Remy and genericCC: see [`Pacer::adjust`].
    adjusts: bool,
    /// Quirk of Linux without pacing: see [`Config::quirk_unpaced`].
    ignores: bool,
    /// Time and bytes of the departure from which the next gap is counted; with `adjusts` only.
    last: Option<(Time, u32)>,
}

impl Pacer {
    pub(crate) const fn new(now: Time, config: &Config) -> Self {
        Self {
            next: now,
            slack: Span::ZERO,
            gain: config.pacing_gain,
            fq: config.fq,
            unpaced: if config.fq { UNPACED } else { 0 },
            waiting: false,
            restarts_when_blocked: config.quirk_pace_after_block,
            adjusts: config.quirk_pace_by_latest,
            ignores: config.quirk_unpaced,
            last: None,
        }
    }

    /// Applies the new rate `rate` to the packet that waits: it leaves after the gap of this rate. (Quirk of Remy and
    /// genericCC: their loops compare the time since the last packet with the current gap;
    /// venkatarun95/genericCC@d0153f8, `ctcp.hh`.)
    #[inline]
    pub(crate) fn adjust(&mut self, rate: Rate) {
        if let Some((last, bytes)) = self.last {
            self.next = last + rate.time_for(u64::from(bytes)).max(Span::from_ns(1));
        }
    }

    /// Begins a new flow: its first packet need not wait.
    pub(crate) fn begin_anew(&mut self, now: Time) {
        (self.next, self.last) = (now, None);
    }

    /// Returns the controller's pacing rate, or the transport's own for controllers without one. `threshold` returns
    /// the slow start threshold, payload bytes.
    #[inline]
    pub(crate) fn rate(
        &self,
        control: &Control,
        window_bytes: u64,
        srtt: Option<Span>,
        threshold: impl FnOnce() -> Option<u64>,
    ) -> Option<Rate> {
        if self.ignores && control.window_bytes != u64::MAX {
            return None;
        }
        if control.pacing.is_some() || control.window_bytes == u64::MAX || self.is_off() {
            return control.pacing;
        }
        let gain = match (self.fq, self.unpaced) {
            (false, _) => self.gain,
            (true, 0) if window_bytes < threshold().unwrap_or(u64::MAX) / 2 => SLOW_START_GAIN,
            (true, 0) => AVOIDANCE_GAIN,
            (true, _) => 0.0,
        };
        srtt.filter(|_| gain > 0.0).map(|srtt| Rate::from_bytes_per(window_bytes, srtt).mul_f64(gain))
    }

    /// Returns true if only controllers pace.
    #[inline]
    const fn is_off(&self) -> bool {
        !self.fq && self.gain <= 0.0
    }

    /// Counts a packet that left, paced or not.
    #[inline]
    pub(crate) const fn count(&mut self) {
        self.unpaced = self.unpaced.saturating_sub(1);
    }

    /// Sets the maximum lateness of the driver's timer that does not lower the rate.
    pub(crate) const fn set_timer_slack(&mut self, slack: Span) {
        self.slack = slack;
    }

    /// Sets whether the next packet waits for the pacer, rather than for window or application.
    pub(crate) const fn set_waiting(&mut self, waiting: bool) {
        self.waiting = waiting;
    }

    /// Returns the earliest departure of the next packet.
    pub(crate) const fn next(self) -> Time {
        self.next
    }

    /// Returns the departure of the next packet if it waits only for the pacer; otherwise [`Time::NEVER`].
    #[inline]
    pub(crate) const fn next_timer(self) -> Time {
        if self.waiting { self.next } else { Time::NEVER }
    }

    /// Counts a packet of `bytes` that left at `now`; up to `burst_bytes` may leave back to back.
    pub(crate) fn sent(&mut self, now: Time, bytes: u32, rate: Rate, burst_bytes: u64) {
        let lateness = if self.waiting { self.slack } else { Span::ZERO };
        let credit = rate.time_for(burst_bytes.saturating_sub(u64::from(bytes))).max(lateness);
        // At any rate, however high, time must go on.
        let gap = rate.time_for(u64::from(bytes)).max(Span::from_ns(1));
        self.next = self.next.max(now - credit) + gap;
        self.last = self.adjusts.then_some((now, bytes));
    }

    /// Returns true if an ACK that finds the flow blocked by its window restarts the pacer.
    #[inline]
    pub(crate) const fn restarts_when_blocked(&self) -> bool {
        self.restarts_when_blocked
    }

    /// Makes the next packet wait a full gap from `now` on. (Quirk of genericCC: while the window blocks, its loop in
    /// `udp-socket`/`ctcp.hh` keeps setting the clock to now; venkatarun95/genericCC@d0153f8.)
    pub(crate) fn restart(&mut self, now: Time, bytes: u32, rate: Rate) {
        self.next = self.next.max(now + rate.time_for(u64::from(bytes)));
        self.last = self.adjusts.then_some((now, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_gain(gain: f64) -> Pacer {
        Pacer::new(Time::ZERO, &Config { pacing_gain: gain, ..Config::tcp() })
    }

    #[test]
    fn packets_are_spaced_at_the_rate() {
        let (mut pacer, rate) = (with_gain(0.0), Rate::from_mbps(12.0));
        pacer.sent(Time::ZERO, 1500, rate, 0);
        assert_eq!(pacer.next(), Time::from_ns(1_000_000));
    }

    #[test]
    fn idle_time_earns_one_burst_and_no_more() {
        let (mut pacer, rate) = (with_gain(0.0), Rate::from_mbps(12.0));
        let later = Time::from_ns(1_000_000_000);
        let mut sent = 0;
        while pacer.next() <= later {
            pacer.sent(later, 1500, rate, 4500);
            sent += 1;
        }
        assert_eq!(sent, 3);
    }

    #[test]
    fn without_pacing_the_window_alone_counts() {
        let rate = |window_bytes: u64| {
            let pacer = Pacer::new(Time::ZERO, &Config { quirk_unpaced: true, ..Config::tcp() });
            let control = Control { pacing: Some(Rate::from_mbps(12.0)), ..Control::window(window_bytes) };
            pacer.rate(&control, window_bytes, None, || None)
        };
        assert_eq!(rate(30_000), None);
        // Without a window nothing else would hold the flow back.
        assert_eq!(rate(u64::MAX), Some(Rate::from_mbps(12.0)));
    }

    /// Sends all packets that may leave at `now`; returns their number.
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
        let (mut pacer, rate) = (with_gain(0.0), Rate::from_mbps(12.0));
        pacer.set_timer_slack(Span::from_ms(5));
        pacer.set_waiting(true);
        // Each wake-up is 0.7 ms late: nevertheless one packet leaves per ms.
        let mut sent = 0;
        while pacer.next() < Time::from_ns(1_000_000_000) {
            let now = pacer.next() + Span::from_us(700);
            sent += send_all(&mut pacer, now, rate);
        }
        assert_eq!(sent, 1000);
    }

    #[test]
    fn beyond_the_slack_and_for_other_waits_the_past_earns_nothing() {
        let (mut pacer, rate) = (with_gain(0.0), Rate::from_mbps(12.0));
        pacer.set_timer_slack(Span::from_ms(2));
        pacer.set_waiting(true);
        // 10 ms late: the two packets of the slack, and the one that is due.
        assert_eq!(send_all(&mut pacer, Time::from_ns(10_000_000), rate), 3);
        pacer.set_waiting(false);
        assert_eq!(send_all(&mut pacer, Time::from_ns(50_000_000), rate), 1);
    }

    #[test]
    fn a_window_without_a_rate_is_spread_over_the_round_trip() {
        let pacer = with_gain(1.25);
        let (window, srtt) = (Control::window(100_000), Some(Span::from_ms(100)));
        assert_eq!(pacer.rate(&window, 100_000, srtt, || None), Some(Rate::from_mbps(10.0)));
        assert_eq!(pacer.rate(&window, 100_000, None, || None), None, "before the first sample");
        assert_eq!(pacer.rate(&Control::window(u64::MAX), u64::MAX, srtt, || None), None, "without a window");
        assert_eq!(with_gain(0.0).rate(&window, 100_000, srtt, || None), None);
        let paced = Control { pacing: Some(Rate::from_mbps(3.0)), ..window };
        assert_eq!(pacer.rate(&paced, 100_000, srtt, || None), paced.pacing);
    }

    #[test]
    fn fq_paces_from_the_eleventh_packet_on_faster_in_slow_start() {
        let mut pacer = Pacer::new(Time::ZERO, &Config { fq: true, ..Config::tcp() });
        let (window, srtt) = (Control::window(100_000), Some(Span::from_ms(100)));
        let rate =
            |pacer: &Pacer, threshold| pacer.rate(&window, 100_000, srtt, || threshold).map(Rate::mbps);
        for _ in 0..10 {
            assert_eq!(rate(&pacer, None), None);
            pacer.count();
        }
        assert_eq!(rate(&pacer, None), Some(16.0), "without a threshold");
        assert_eq!(rate(&pacer, Some(u64::MAX)), Some(16.0), "before the first loss");
        assert_eq!(rate(&pacer, Some(200_002)), Some(16.0), "below half of the threshold");
        assert_eq!(rate(&pacer, Some(200_000)), Some(9.6), "from half of the threshold on");
        let paced = Control { pacing: Some(Rate::from_mbps(3.0)), ..window };
        assert_eq!(pacer.rate(&paced, 100_000, srtt, || None), paced.pacing);
    }

    #[test]
    fn only_a_packet_that_waits_for_the_pacer_has_a_timer() {
        let (mut pacer, rate) = (with_gain(0.0), Rate::from_mbps(12.0));
        pacer.sent(Time::ZERO, 1500, rate, 0);
        assert_eq!(pacer.next_timer(), Time::NEVER);
        pacer.set_waiting(true);
        assert_eq!(pacer.next_timer(), Time::from_ns(1_000_000));
    }

    #[test]
    fn a_new_rate_holds_for_the_packet_that_waits_where_it_is_to() {
        let [slow, fast] = [12.0, 24.0].map(Rate::from_mbps);
        for (quirk, expected) in [(false, 1_000_000), (true, 500_000)] {
            let mut pacer = Pacer::new(Time::ZERO, &Config { quirk_pace_by_latest: quirk, ..Config::tcp() });
            pacer.sent(Time::ZERO, 1500, slow, 0);
            pacer.adjust(fast);
            assert_eq!(pacer.next(), Time::from_ns(expected));
            pacer.begin_anew(Time::from_ns(1000));
            pacer.adjust(slow);
            assert_eq!(pacer.next(), Time::from_ns(1000));
        }
    }

    #[test]
    fn a_restarted_pacer_waits_a_full_gap_and_never_goes_back() {
        let rate = Rate::from_mbps(12.0);
        let mut pacer = with_gain(0.0);
        assert!(!pacer.restarts_when_blocked());
        pacer.restart(Time::from_ns(5_000_000), 1500, rate);
        assert_eq!(pacer.next(), Time::from_ns(6_000_000));
        pacer.restart(Time::from_ns(4_000_000), 1500, rate);
        assert_eq!(pacer.next(), Time::from_ns(6_000_000));
        let quirk = Config { quirk_pace_after_block: true, ..Config::tcp() };
        assert!(Pacer::new(Time::ZERO, &quirk).restarts_when_blocked());
    }
}
