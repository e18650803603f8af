//! Loss rate: few losses without a queue come from the link, not from congestion.

/// Averaged loss rate of one flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossShare {
    /// Loss rate up to which losses are ignored; zero: none are.
    threshold: f64,
    share: f64,
}

impl LossShare {
    pub(crate) const fn new(threshold: f64) -> Self {
        Self { threshold, share: 0.0 }
    }

    /// Adds the fate of one packet while the window holds `packets`. It averages over at least two windows of packets.
    /// A single loss alone stays below the threshold.
    pub(crate) fn add(&mut self, lost: bool, packets: f64) {
        let gain = (self.threshold / 4.0).min(0.5 / packets);
        self.share += gain * (f64::from(u8::from(lost)) - self.share);
    }

    /// Returns true if a loss is congestion, with or without a queue.
    pub(crate) fn is_congestion(&self) -> bool {
        self.threshold == 0.0 || self.share > self.threshold
    }

    /// Returns the averaged loss rate.
    pub(crate) const fn share(&self) -> f64 {
        self.share
    }
}
