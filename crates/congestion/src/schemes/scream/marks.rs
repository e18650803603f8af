//! Fraction of marked packets, averaged as in DCTCP but rising faster than it falls.

use units::{Span, Time};

/// Minimum time between two updates.
const INTERVAL: Span = Span::from_ms(10);
/// Weight of a fraction above the average (`L4S_AVG_G_UP`).
const GAIN_UP: f64 = 1.0 / 8.0;
/// Weight of a fraction below the average (`L4S_AVG_G_DOWN`).
const GAIN_DOWN: f64 = 1.0 / 128.0;

/// L4S alpha of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkShare {
    delivered: u64,
    marked: u64,
    updated_at: Option<Time>,
    alpha: f64,
}

impl MarkShare {
    /// Returns an average that begins at `alpha`.
    pub(crate) fn new(alpha: f64) -> Self {
        Self { alpha, ..Self::default() }
    }

    /// Adds `packets` delivered packets, of which `marked` have a mark.
    pub(crate) fn add(&mut self, now: Time, srtt: Span, packets: u64, marked: u64) {
        self.delivered += packets;
        self.marked += marked;
        if self.delivered == 0 || self.updated_at.is_some_and(|at| now - at < srtt.min(INTERVAL)) {
            return;
        }
        let share = self.marked as f64 / self.delivered as f64;
        self.alpha = if share >= self.alpha {
            self.alpha + GAIN_UP * (share - self.alpha)
        } else {
            self.alpha * (1.0 - GAIN_DOWN)
        };
        (self.delivered, self.marked, self.updated_at) = (0, 0, Some(now));
    }

    /// Returns the averaged fraction of marked packets.
    pub(crate) const fn alpha(&self) -> f64 {
        self.alpha
    }
}
