//! Timer over outstanding packets: retransmission timeout, probe timeout, or silence.

use crate::advance::Advance;
use crate::config::{Config, RtoFloor, TimerKind, TimerRestart, ms};
use crate::recovery::Recovery;
use crate::rtt::RttEstimator;
use units::{Span, Time};

/// Timer granularity (RFC 9002 6.1.2).
const GRANULARITY: Span = Span::from_ms(1);

/// Largest number of doublings.
const MAX_BACKOFF: u32 = 16;

/// Action after the timer has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// Send a probe, nothing is lost yet.
    Probe,
    /// Everything outstanding is lost.
    LoseAll,
}

/// Timer state of one sender.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    kind: TimerKind,
    initial: Span,
    /// Time between two handshake packets; zero: the retransmission timer decides.
    opener: Span,
    min: Span,
    max: Span,
    floor: RtoFloor,
    /// Interval between two checks of the timer, counted from the flow's start; zero: checked continuously.
    check: Span,
    start: Time,
    restart: TimerRestart,
    tail_loss_probe: bool,
    max_ack_delay: Span,
    /// (Re)start of the timer: the last progress, or the first packet after idling.
    started: Time,
    last_sent: Time,
    backoff: u32,
    probe_done: bool,
    is_single: bool,
    is_recovering: bool,
    timeouts: u64,
    probes: u64,
}

impl Timers {
    pub(crate) fn new(config: &Config, now: Time) -> Self {
        Self {
            kind: config.timer,
            initial: ms(config.timeout_initial_ms),
            opener: ms(config.handshake_repeat_ms),
            min: ms(config.timeout_min_ms),
            max: ms(config.timeout_max_ms),
            floor: config.timeout_floor,
            check: ms(config.timeout_check_ms),
            start: now,
            restart: config.timer_restart,
            tail_loss_probe: config.tail_loss_probe && config.sack,
            max_ack_delay: config.ack_delay(),
            started: now,
            last_sent: now,
            backoff: 0,
            probe_done: false,
            is_single: false,
            is_recovering: false,
            timeouts: 0,
            probes: 0,
        }
    }

    pub(crate) fn on_sent(&mut self, now: Time, was_idle: bool) {
        self.last_sent = now;
        self.is_single = was_idle;
        if was_idle {
            self.started = now;
        }
    }

    /// Handles an ACK of something new. `is_progress`: true if the ACK shows that the data that the
    /// timer waits for are on their way.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        is_progress: bool,
        advance: &Advance,
        recovery: &mut Recovery,
    ) {
        let restarts = match self.restart {
            TimerRestart::Any => is_progress,
            TimerRestart::FirstPartial => {
                advance.completed_bytes > 0
                    && (!recovery.episode().is_active() || recovery.is_first_partial())
            }
        };
        if restarts {
            (self.started, self.backoff, self.probe_done) = (now, 0, false);
        }
    }

    /// Returns the timeouts, including persistent congestion, and the probes so far.
    pub(crate) const fn counts(&self) -> (u64, u64) {
        (self.timeouts, self.probes)
    }

    /// Counts persistent congestion as a timeout.
    pub(crate) const fn count_timeout(&mut self) {
        self.timeouts += 1;
    }

    /// Returns true if no acknowledgement has followed the last expiry.
    pub(crate) const fn is_backed_off(&self) -> bool {
        self.backoff > 1
    }

    /// Returns the timeout without backoff.
    fn base(&self, rtt: &RttEstimator) -> Span {
        if !rtt.has_sample() || self.kind == TimerKind::Silence {
            return self.initial;
        }
        let variation = rtt.variation() * 4;
        match (self.kind, self.floor) {
            (TimerKind::Pto, _) => rtt.smoothed() + variation.max(GRANULARITY) + self.max_ack_delay,
            (_, RtoFloor::Variation) => rtt.smoothed() + variation.max(self.min),
            (_, RtoFloor::Total) => (rtt.smoothed() + variation.max(GRANULARITY)).max(self.min),
        }
    }

    /// Returns the duration of persistent congestion: losses over a longer time are persistent congestion. It is three
    /// probe timeouts without backoff (RFC 9002 7.6.1). `None` for other timers, and before the first RTT sample.
    pub(crate) fn persistent_congestion(&self, rtt: &RttEstimator) -> Option<Span> {
        (self.kind == TimerKind::Pto && rtt.has_sample()).then(|| self.base(rtt) * 3)
    }

    /// Returns the time of the tail loss probe: two RTTs after the latest transmission or progress, but not after the
    /// timeout (RFC 8985 7.2). For a single packet the receiver's ACK delay is added.
    fn probe_at(&self, rtt: &RttEstimator, timeout: Time) -> Option<Time> {
        let may_probe =
            self.kind == TimerKind::Rto && self.tail_loss_probe && !self.probe_done && self.backoff == 0;
        let delay = if self.is_single { self.max_ack_delay } else { Span::ZERO };
        let at = self.last_sent.max(self.started) + rtt.smoothed() * 2 + delay;
        (may_probe && !self.is_recovering && rtt.has_sample()).then(|| at.min(timeout))
    }

    /// Returns true if a probe repeats the latest payload and not the oldest.
    pub(crate) fn repeats_latest(&self) -> bool {
        self.kind == TimerKind::Rto
    }

    /// Sets whether a single packet is in flight, and whether an episode or a hole excludes a probe.
    pub(crate) const fn set_flight(&mut self, is_single: bool, is_recovering: bool) {
        (self.is_single, self.is_recovering) = (is_single, is_recovering);
    }

    /// Returns the number of timeouts without backoff that have passed since the latest transmission.
    pub(crate) fn idle_timeouts(&self, now: Time, rtt: &RttEstimator) -> u32 {
        let timeout = self.base(rtt).as_ns().max(1);
        u32::try_from((now - self.last_sent).as_ns() / timeout).unwrap_or(u32::MAX)
    }

    fn timeout_at(&self, rtt: &RttEstimator) -> Time {
        let length = self.base(rtt) * (1 << self.backoff.min(MAX_BACKOFF));
        let from = match self.kind {
            TimerKind::None => return Time::NEVER,
            TimerKind::Pto => self.last_sent,
            TimerKind::Rto if self.probe_done => self.last_sent,
            TimerKind::Rto | TimerKind::Silence => self.started,
        };
        let at = from + length.min(self.max.max(self.initial));
        if self.check.is_zero() || at == Time::NEVER {
            return at;
        }
        let waited = (at - self.start).as_ns().next_multiple_of(self.check.as_ns());
        self.start + Span::from_ns(waited)
    }

    /// Returns the expiry of the timer while packets are outstanding. A sender without a timer also retransmits the
    /// handshake packet, at regular intervals, as programs do (StanfordSNR/indigo@2601c92e, `env/receiver.py`: after
    /// each second without an answer).
    pub(crate) fn expiry(&self, rtt: &RttEstimator, is_established: bool) -> Time {
        if !is_established && !self.opener.is_zero() {
            return self.last_sent + self.opener;
        }
        if self.kind == TimerKind::None && !is_established {
            return self.last_sent + self.initial;
        }
        let timeout = self.timeout_at(rtt);
        self.probe_at(rtt, timeout).unwrap_or(timeout)
    }

    /// Handles the expiry of the timer at `now`. Before the connection is established the only possible action is to
    /// retransmit the handshake packet.
    pub(crate) fn on_expiry(&mut self, now: Time, rtt: &RttEstimator, is_established: bool) -> Expiry {
        if self.probe_at(rtt, self.timeout_at(rtt)).is_some() {
            self.probe_done = true;
            self.last_sent = now;
            self.probes += 1;
            return Expiry::Probe;
        }
        self.started = now;
        self.last_sent = now;
        if self.kind != TimerKind::Silence {
            self.backoff += 1;
        }
        if self.kind == TimerKind::Pto || !is_established {
            self.probes += 1;
            Expiry::Probe
        } else {
            self.timeouts += 1;
            Expiry::LoseAll
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn rtt_100_ms() -> RttEstimator {
        let mut rtt = RttEstimator::new(&Config::tcp());
        rtt.on_ack(at(100), at(0), Span::ZERO);
        rtt
    }

    /// Handles an ACK at `ms`, outside of any episode.
    fn acknowledge(timers: &mut Timers, config: &Config, ms: u64, is_progress: bool) {
        timers.on_ack(at(ms), is_progress, &Advance::default(), &mut Recovery::new(config));
    }

    /// Losses found by the detection timer were sent within the time threshold. Persistent congestion needs three probe
    /// timeouts, so an ACK always triggers it.
    #[test]
    fn losses_that_a_timer_finds_are_too_short_for_persistent_congestion() {
        for seed in 0..200 {
            let (config, mut rng) = (Config::quic(), units::Rng::new(seed, "rtt"));
            let (timers, mut rtt) = (Timers::new(&config, at(0)), RttEstimator::new(&config));
            for sent in 0..200 {
                let most_us = 10_u64.pow(1 + rng.below(7) as u32);
                let took = Span::from_us(1 + rng.below(most_us));
                let held_back = Span::from_us(rng.below(25_001));
                rtt.on_ack(at(10_000 * sent) + took + held_back, at(10_000 * sent), held_back);
                let persistent = timers.persistent_congestion(&rtt).unwrap();
                for threshold in [config.time_threshold, 3.0] {
                    let wait = rtt.latest().max(rtt.smoothed()).mul_f64(threshold);
                    assert!(wait < persistent, "{seed}: {wait:?} of {rtt:?}");
                }
            }
        }
    }

    #[test]
    fn an_ack_that_is_no_progress_does_not_restart_the_timer() {
        let config = Config { tail_loss_probe: false, ..Config::tcp() };
        let mut timers = Timers::new(&config, at(0));
        acknowledge(&mut timers, &config, 50, false);
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(300));
        // With the impatient timer, an ACK that completes nothing does not restart it either.
        let config = Config { timer_restart: TimerRestart::FirstPartial, ..config };
        let mut timers = Timers::new(&config, at(0));
        acknowledge(&mut timers, &config, 50, true);
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(300));
        let advance = Advance { completed_bytes: 1, ..Advance::default() };
        timers.on_ack(at(60), false, &advance, &mut Recovery::new(&config));
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(360));
    }

    #[test]
    fn without_a_connection_every_expiry_repeats_the_opener() {
        let mut timers = Timers::new(&Config::tcp(), at(0));
        let rtt = RttEstimator::new(&Config::tcp());
        assert_eq!(timers.expiry(&rtt, false), at(1000));
        assert_eq!(timers.on_expiry(at(1000), &rtt, false), Expiry::Probe);
        assert_eq!((timers.expiry(&rtt, false), timers.counts()), (at(3000), (0, 1)));
    }

    #[test]
    fn without_a_timer_the_opener_is_repeated_at_even_times_and_nothing_else_is() {
        let mut timers = Timers::new(&Config::datagram(), at(0));
        let rtt = RttEstimator::new(&Config::datagram());
        timers.on_sent(at(10), true);
        for again in [1010, 2010, 3010] {
            assert_eq!(timers.expiry(&rtt, false), at(again));
            assert_eq!(timers.on_expiry(at(again), &rtt, false), Expiry::Probe);
            timers.on_sent(at(again), false);
        }
        assert_eq!(timers.expiry(&rtt, true), Time::NEVER);
    }

    #[test]
    fn linux_rto_is_srtt_plus_the_larger_of_four_variations_and_200_ms() {
        let config = Config { tail_loss_probe: false, ..Config::tcp() };
        let mut timers = Timers::new(&config, at(0));
        timers.on_sent(at(0), true);
        // First sample 100 ms: variation 50 ms, 4 x 50 = 200: RTO = 300 ms; it doubles on expiry.
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(300));
        assert_eq!(timers.on_expiry(at(300), &rtt_100_ms(), true), Expiry::LoseAll);
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(300 + 600));
        assert!(!timers.is_backed_off());
        timers.on_expiry(at(900), &rtt_100_ms(), true);
        assert!(timers.is_backed_off());
        assert_eq!(timers.counts(), (2, 0));
        acknowledge(&mut timers, &config, 1000, true);
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(1300));
    }

    #[test]
    fn rfc_6298_floor_applies_to_the_whole_timeout() {
        let config = Config {
            timeout_floor: RtoFloor::Total,
            timeout_min_ms: 1000.0,
            tail_loss_probe: false,
            ..Config::tcp()
        };
        let timers = Timers::new(&config, at(0));
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(1000));
    }

    #[test]
    fn a_tail_loss_probe_comes_once_before_the_timeout() {
        let mut timers = Timers::new(&Config { ack_delay_ms: 0.0, ..Config::tcp() }, at(0));
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(200));
        assert_eq!(timers.on_expiry(at(200), &rtt_100_ms(), true), Expiry::Probe);
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(500));
        assert_eq!(timers.on_expiry(at(500), &rtt_100_ms(), true), Expiry::LoseAll);
    }

    #[test]
    fn quic_probes_and_backs_off() {
        let mut timers = Timers::new(&Config::quic(), at(0));
        // srtt 100 + 4 x 50 + max ack delay 25 ms
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(325));
        assert_eq!(timers.on_expiry(at(325), &rtt_100_ms(), true), Expiry::Probe);
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(325 + 650));
    }

    #[test]
    fn an_opener_is_repeated_at_its_own_time_whatever_the_timer() {
        let silence = Config { timer: TimerKind::Silence, timeout_initial_ms: 2000.0, ..Config::datagram() };
        let mut timers = Timers::new(&Config { handshake_repeat_ms: 200.0, ..silence }, at(0));
        let rtt = RttEstimator::new(&Config::datagram());
        for ms in [200, 400, 600] {
            assert_eq!(timers.expiry(&rtt, false), at(ms));
            assert_eq!(timers.on_expiry(at(ms), &rtt, false), Expiry::Probe);
        }
        assert_eq!(timers.expiry(&rtt, true), at(600 + 2000));
    }

    #[test]
    fn silence_is_a_fixed_time_that_never_backs_off() {
        let config = Config { timer: TimerKind::Silence, timeout_initial_ms: 2000.0, ..Config::datagram() };
        let mut timers = Timers::new(&config, at(0));
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(2000));
        assert_eq!(timers.on_expiry(at(2000), &rtt_100_ms(), true), Expiry::LoseAll);
        assert_eq!(timers.expiry(&rtt_100_ms(), true), at(4000));
    }
}
