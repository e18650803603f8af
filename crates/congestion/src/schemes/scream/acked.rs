//! Rate of acknowledged bytes, every 100 ms.

use units::{Span, Time};

const INTERVAL: Span = Span::from_ms(100);

/// Acknowledged rate of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckedRate {
    bytes: u64,
    began: Option<Time>,
    bps: f64,
}

impl AckedRate {
    pub(crate) fn add(&mut self, now: Time, bytes: u64) {
        self.bytes += bytes;
        let elapsed = now - *self.began.get_or_insert(now);
        if elapsed > INTERVAL {
            self.bps = self.bytes as f64 * 8.0 / elapsed.as_secs_f64();
            (self.bytes, self.began) = (0, Some(now));
        }
    }

    /// Returns the rate of the latest interval, bit/s; zero before its end.
    pub(crate) const fn bps(&self) -> f64 {
        self.bps
    }
}
