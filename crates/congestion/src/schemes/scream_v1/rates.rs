//! Rates of the last 200 ms: sent, acknowledged, and produced by the encoder.

use units::{Span, Time};

/// Length of one entry (`kRateUpdateInterval`).
const INTERVAL: Span = Span::from_ms(50);
/// Length of one entry below [`SLOW_BPS`].
const SLOW_INTERVAL: Span = Span::from_ms(100);
/// Acknowledged rate below which entries are longer, bit/s.
const SLOW_BPS: f64 = 50e3;
/// Number of entries that are averaged.
const ENTRIES: usize = 4;

/// Bytes of the present entry and rates of the last ones.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    bytes: u64,
    entries: [f64; ENTRIES],
    average: f64,
}

impl Meter {
    fn close(&mut self, index: usize, length: Span) {
        self.entries[index] = self.bytes as f64 * 8.0 / length.as_secs_f64();
        self.bytes = 0;
        self.average = self.entries.iter().sum::<f64>() / ENTRIES as f64;
    }
}

/// Sent, acknowledged and encoded rates of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateMeter {
    began: Time,
    index: usize,
    sent: Meter,
    acked: Meter,
    encoded: Meter,
}

impl RateMeter {
    pub(crate) fn new(now: Time) -> Self {
        Self {
            began: now,
            index: 0,
            sent: Meter::default(),
            acked: Meter::default(),
            encoded: Meter::default(),
        }
    }

    pub(crate) const fn sent(&mut self, bytes: u64) {
        self.sent.bytes += bytes;
    }

    pub(crate) const fn acked(&mut self, bytes: u64) {
        self.acked.bytes += bytes;
    }

    pub(crate) const fn encoded(&mut self, bytes: u64) {
        self.encoded.bytes += bytes;
    }

    /// Closes the present entry if it is long enough; returns true if it did.
    pub(crate) fn update(&mut self, now: Time) -> bool {
        let interval = if self.acked.average < SLOW_BPS { SLOW_INTERVAL } else { INTERVAL };
        let length = now - self.began;
        if length < interval {
            return false;
        }
        for meter in [&mut self.sent, &mut self.acked, &mut self.encoded] {
            meter.close(self.index, length);
        }
        self.index = (self.index + 1) % ENTRIES;
        self.began = now;
        true
    }

    /// Returns the sent rate, bit/s.
    pub(crate) const fn sent_bps(&self) -> f64 {
        self.sent.average
    }

    /// Returns the acknowledged rate, bit/s.
    pub(crate) const fn acked_bps(&self) -> f64 {
        self.acked.average
    }

    /// Returns the encoded rate, bit/s.
    pub(crate) const fn encoded_bps(&self) -> f64 {
        self.encoded.average
    }
}
