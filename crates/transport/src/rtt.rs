//! Round-trip time estimation (RFC 9002 5, which extends RFC 6298).

use crate::config::{Config, TimerKind, ms};
use units::{Span, Time};

/// RTT assumed before the first sample (RFC 9002 6.2.2).
const INITIAL_RTT: Span = Span::from_ms(333);

/// Smoothed round-trip time and its variation.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    latest: Span,
    smoothed: Span,
    variation: Span,
    min: Span,
    min_smoothed: Span,
    /// Clock tick of the timestamps that RTT samples use, ns; 0: exact.
    tick_ns: u64,
    has_sample: bool,
    /// Time of the first sample; [`Time::NEVER`] without any.
    first_sample_at: Time,
    /// True if the receiver's ACK delay is subtracted from samples: QUIC's ACKs report the delay, TCP's do not.
    corrects_delay: bool,
    /// True if controllers get the smoothed RTT for every sample.
    reports_smoothed: bool,
}

impl RttEstimator {
    /// Returns an estimator without a sample.
    pub fn new(config: &Config) -> Self {
        Self {
            latest: INITIAL_RTT,
            smoothed: INITIAL_RTT,
            variation: INITIAL_RTT / 2,
            min: Span::MAX,
            min_smoothed: Span::MAX,
            tick_ns: match config.timestamp_ms {
                0.0 => 0,
                tick => ms(tick).as_ns().max(1),
            },
            has_sample: false,
            first_sample_at: Time::NEVER,
            corrects_delay: config.timer == TimerKind::Pto,
            reports_smoothed: config.smoothed_samples,
        }
    }

    /// Takes and returns the sample of an acknowledged packet that left at `sent_at`. The receiver reports that it
    /// delayed the ACK by `ack_delay`.
    #[inline]
    pub fn on_ack(&mut self, now: Time, sent_at: Time, ack_delay: Span) -> Span {
        let latest = self.elapsed(sent_at, now);
        self.first_sample_at = self.first_sample_at.min(now);
        self.sample(latest, if self.corrects_delay { ack_delay } else { Span::ZERO });
        latest
    }

    /// Returns the time between two moments in ticks of the timestamp clock.
    fn elapsed(&self, from: Time, to: Time) -> Span {
        match self.tick_ns {
            0 => to - from,
            // Two moments within one tick have no distance; ns-3 assumes a microsecond.
            tick => Span::from_ns((to.as_ns() / tick - from.as_ns() / tick) * tick).max(Span::from_us(1)),
        }
    }

    /// Takes a sample. `ack_delay` is subtracted unless the result is below the minimum.
    fn sample(&mut self, latest: Span, ack_delay: Span) {
        self.latest = latest;
        self.min = self.min.min(latest);
        if !self.has_sample {
            self.has_sample = true;
            self.smoothed = latest;
            self.variation = latest / 2;
            self.min_smoothed = latest;
            return;
        }
        let corrected = latest - ack_delay;
        let adjusted = if corrected >= self.min { corrected } else { latest };
        let deviation =
            if adjusted > self.smoothed { adjusted - self.smoothed } else { self.smoothed - adjusted };
        self.variation = Span::from_ns((3 * self.variation.as_ns() + deviation.as_ns()) / 4);
        self.smoothed = Span::from_ns((7 * self.smoothed.as_ns() + adjusted.as_ns()) / 8);
        self.min_smoothed = self.min_smoothed.min(self.smoothed);
    }

    pub(crate) const fn latest(&self) -> Span {
        self.latest
    }

    /// Returns the smoothed RTT; 333 ms before the first sample (RFC 9002 6.2.2).
    pub const fn smoothed(&self) -> Span {
        self.smoothed
    }

    /// Returns the mean deviation of the samples.
    pub const fn variation(&self) -> Span {
        self.variation
    }

    /// Returns the time of the first sample; [`Time::NEVER`] without any.
    pub(crate) const fn first_sample_at(&self) -> Time {
        self.first_sample_at
    }

    /// Restarts the minimum at the latest sample (RFC 9002 5.2: after persistent congestion).
    pub(crate) const fn forget_min(&mut self) {
        self.min = self.latest;
    }

    /// Returns the smallest sample; the smoothed value before any.
    pub fn min(&self) -> Span {
        if self.has_sample { self.min } else { self.smoothed }
    }

    /// Returns the RTT that controllers get for the sample of an ACK.
    pub(crate) fn reported(&self, sample: Option<Span>) -> Option<Span> {
        if self.reports_smoothed { self.smoothed_if_sampled() } else { sample }
    }

    /// Returns the minimum RTT that controllers get.
    pub(crate) fn reported_min(&self) -> Span {
        if self.reports_smoothed { self.min_smoothed.min(self.smoothed) } else { self.min() }
    }

    /// Returns the smoothed RTT; `None` before the first sample.
    #[inline]
    pub(crate) fn smoothed_if_sampled(&self) -> Option<Span> {
        self.has_sample.then_some(self.smoothed)
    }

    pub(crate) const fn has_sample(&self) -> bool {
        self.has_sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_formulas_of_rfc_9002() {
        let mut rtt = RttEstimator::new(&Config::tcp());
        rtt.sample(Span::from_ms(100), Span::ZERO);
        assert_eq!((rtt.smoothed(), rtt.variation()), (Span::from_ms(100), Span::from_ms(50)));
        rtt.sample(Span::from_ms(140), Span::ZERO);
        // srtt = 7/8 * 100 + 1/8 * 140 = 105; var = 3/4 * 50 + 1/4 * 40 = 47.5
        assert_eq!((rtt.smoothed(), rtt.variation()), (Span::from_ms(105), Span::from_us(47_500)));
    }

    #[test]
    fn ack_delay_is_ignored_where_it_would_go_below_the_minimum() {
        let mut rtt = RttEstimator::new(&Config::tcp());
        rtt.sample(Span::from_ms(100), Span::ZERO);
        rtt.sample(Span::from_ms(108), Span::from_ms(25));
        // 108 - 25 = 83 < 100: the sample counts in full, srtt = 7/8 * 100 + 1/8 * 108 = 101.
        assert_eq!(rtt.smoothed(), Span::from_ms(101));
        assert_eq!(rtt.min(), Span::from_ms(100));
    }

    #[test]
    fn only_quic_takes_off_what_the_ack_was_held_back() {
        for (config, smoothed) in [(Config::tcp(), 105_000), (Config::quic(), 103_125)] {
            let mut rtt = RttEstimator::new(&config);
            rtt.on_ack(Time::from_ns(100_000_000), Time::ZERO, Span::ZERO);
            let sample =
                rtt.on_ack(Time::from_ns(240_000_000), Time::from_ns(100_000_000), Span::from_ms(15));
            assert_eq!((sample, rtt.smoothed()), (Span::from_ms(140), Span::from_us(smoothed)));
        }
    }

    #[test]
    fn ns3_counts_whole_ticks_and_reports_smoothed_values() {
        let mut rtt = RttEstimator::new(&Config { timestamp_ms: 40.0, ..Config::ns3_compat() });
        let sample = rtt.on_ack(Time::from_ns(119_000_000), Time::from_ns(39_000_000), Span::ZERO);
        assert_eq!(sample, Span::from_ms(80), "ticks 0 and 2");
        let sample = rtt.on_ack(Time::from_ns(120_000_000), Time::from_ns(39_000_000), Span::ZERO);
        assert_eq!((sample, rtt.reported(Some(sample))), (Span::from_ms(120), Some(Span::from_ms(85))));
        assert_eq!(rtt.reported_min(), Span::from_ms(80));
        let sample = rtt.on_ack(Time::from_ns(121_000_000), Time::from_ns(120_000_000), Span::ZERO);
        assert_eq!(sample, Span::from_us(1), "within one tick");
    }
}
