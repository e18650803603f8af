//! The share of lost packets: few losses without a queue are the link's, not congestion.

/// Averaged share of lost packets of one flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossShare {
    /// Share up to which losses are ignored; zero: none are.
    threshold: f64,
    share: f64,
}

impl LossShare {
    pub(crate) const fn new(threshold: f64) -> Self {
        Self { threshold, share: 0.0 }
    }

    /// Takes the fate of one packet while the window holds `packets`: averages over two windows of packets, and over
    /// so many that one loss alone stays below the threshold.
    pub(crate) fn add(&mut self, lost: bool, packets: f64) {
        let gain = (self.threshold / 4.0).min(0.5 / packets);
        self.share += gain * (f64::from(u8::from(lost)) - self.share);
    }

    /// Whether a loss is congestion, with or without a queue.
    pub(crate) fn is_congestion(&self) -> bool {
        self.threshold == 0.0 || self.share > self.threshold
    }

    /// The averaged share.
    pub(crate) const fn share(&self) -> f64 {
        self.share
    }
}
