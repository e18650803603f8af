//! Round-trip time estimation (RFC 9002 5, which extends RFC 6298).

use units::Span;

/// RTT assumed before the first sample (RFC 9002 6.2.2).
const INITIAL_RTT: Span = Span::from_ms(333);

/// Smoothed round-trip time and its variation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimator {
    latest: Span,
    smoothed: Span,
    variation: Span,
    min: Span,
    min_smoothed: Span,
    has_sample: bool,
}

impl RttEstimator {
    pub(crate) fn new() -> Self {
        let variation = Span::from_ns(INITIAL_RTT.as_ns() / 2);
        let (min, min_smoothed) = (Span::MAX, Span::MAX);
        Self { latest: INITIAL_RTT, smoothed: INITIAL_RTT, variation, min, min_smoothed, has_sample: false }
    }

    /// Takes a sample. `ack_delay` is what the receiver says it held the ACK back (zero: do not correct).
    pub(crate) fn sample(&mut self, latest: Span, ack_delay: Span) {
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

    pub(crate) const fn smoothed(&self) -> Span {
        self.smoothed
    }

    pub(crate) const fn variation(&self) -> Span {
        self.variation
    }

    /// Smallest sample; the smoothed value before any.
    pub(crate) fn min(&self) -> Span {
        if self.has_sample { self.min } else { self.smoothed }
    }

    /// Smallest smoothed value since the first sample.
    pub(crate) fn min_smoothed(&self) -> Span {
        self.min_smoothed.min(self.smoothed)
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
        let mut rtt = RttEstimator::new();
        rtt.sample(Span::from_ms(100), Span::ZERO);
        assert_eq!((rtt.smoothed(), rtt.variation()), (Span::from_ms(100), Span::from_ms(50)));
        rtt.sample(Span::from_ms(140), Span::ZERO);
        // srtt = 7/8 * 100 + 1/8 * 140 = 105; var = 3/4 * 50 + 1/4 * 40 = 47.5
        assert_eq!((rtt.smoothed(), rtt.variation()), (Span::from_ms(105), Span::from_us(47_500)));
    }

    #[test]
    fn ack_delay_is_ignored_where_it_would_go_below_the_minimum() {
        let mut rtt = RttEstimator::new();
        rtt.sample(Span::from_ms(100), Span::ZERO);
        rtt.sample(Span::from_ms(108), Span::from_ms(25));
        // 108 - 25 = 83 < 100: the sample counts in full, srtt = 7/8 * 100 + 1/8 * 108 = 101.
        assert_eq!(rtt.smoothed(), Span::from_ms(101));
        assert_eq!(rtt.min(), Span::from_ms(100));
    }
}
