//! RTT that is smoothed twice.

use units::{Span, Time};

/// RTT before the first sample.
const INITIAL: Span = Span::from_ms(50);

/// Smoothed RTT of one flow: an average per report, and an average of that per RTT. While the encoder limits sending,
/// the second average falls slowly. So the target does not rise because the queue is shorter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowRtt {
    fast: Span,
    slow: Span,
    updated_at: Time,
}

impl SlowRtt {
    pub(crate) const fn new(now: Time) -> Self {
        Self { fast: INITIAL, slow: INITIAL, updated_at: now }
    }

    /// Adds the RTT of a report's newest packet.
    pub(crate) fn add(&mut self, now: Time, rtt: Span, app_limited: bool) {
        self.fast = (self.fast * 7 + rtt) / 8;
        if now - self.updated_at <= self.fast {
            return;
        }
        self.updated_at = now;
        let weight = if app_limited && self.fast < self.slow { 1024 } else { 8 };
        self.slow = (self.slow * (weight - 1) + self.fast) / weight;
    }

    pub(crate) const fn get(&self) -> Span {
        self.slow
    }
}
