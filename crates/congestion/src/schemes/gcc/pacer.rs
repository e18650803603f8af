//! Pacing of media, probes and padding (libwebrtc M150, `modules/pacing/pacing_controller.cc`).

use super::clusters::MIN_GAP;
use super::numbers::secs;
use crate::Parameters;
use units::{Span, Time};

/// Maximum waiting time, s: a queue that would last longer is drained faster.
const QUEUE_LIMIT_S: f64 = 2.0;
/// Maximum burst, bytes.
const MAX_BURST_BYTES: f64 = 63_000.0;
/// Unit of padding, as a time, s.
const PADDING_UNIT_S: f64 = 0.005;
/// Minimum payload of a unit of padding, bytes (libwebrtc `rtp_sender.cc`). Pacing counts payload, and much smaller
/// packets have next to none. With them a retransmission, which no queue counts, would wait for seconds.
const MIN_PADDING_BYTES: f64 = 224.0;

/// Limits of sending, in bytes of IP datagrams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Allowance {
    /// Pacing rate, bit/s.
    pub(super) rate: f64,
    pub(super) burst_bytes: f64,
    /// Size of packets without media; `None` if there are none to send.
    pub(super) filler_bytes: Option<f64>,
}

/// Queue of media, and pacing factors.
#[derive(Debug)]
pub(super) struct Pacer {
    factor: f64,
    initial_factor: f64,
    burst_s: f64,
    min_rate: f64,
    min_padding_bytes: f64,
    has_feedback: bool,
    /// Queued media, bytes; `None` for sources without a queue.
    queued_bytes: Option<u64>,
    /// Time since which the oldest part of the queue has been waiting.
    oldest_at: Time,
    now: Time,
}

impl Pacer {
    pub(super) fn new(parameters: &Parameters, now: Time) -> Self {
        Self {
            factor: parameters.number("pacing_factor"),
            initial_factor: parameters.number("initial_pacing_factor"),
            burst_s: parameters.number("burst_ms") / 1e3,
            min_rate: parameters.number("allocated_min_kbps") * 1e3,
            min_padding_bytes: MIN_PADDING_BYTES + parameters.integer("overhead_bytes") as f64,
            has_feedback: false,
            queued_bytes: None,
            oldest_at: now,
            now,
        }
    }

    pub(super) const fn on_feedback(&mut self) {
        self.has_feedback = true;
    }

    /// Sets the queued bytes at `now` and the wait of their oldest part; `u64::MAX` for sources without a queue.
    pub(super) fn set_queue(&mut self, now: Time, bytes: u64, delay: Span) {
        self.now = now;
        self.queued_bytes = (bytes < u64::MAX).then_some(bytes);
        self.oldest_at = now - delay;
    }

    /// Counts sent media.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u32) {
        self.now = now;
        if let Some(queued) = &mut self.queued_bytes {
            *queued = queued.saturating_sub(u64::from(bytes));
        }
    }

    /// Returns true if no media is queued.
    pub(super) fn is_empty(&self) -> bool {
        self.queued_bytes == Some(0)
    }

    /// Returns the limits of sending at a target, during a probe at `probe` or padding at `padding`, bit/s.
    pub(super) fn allowance(&self, target: f64, probe: Option<f64>, padding: Option<f64>) -> Allowance {
        if let Some(rate) = probe {
            let unit_bytes = rate * secs(MIN_GAP) / 8.0;
            return Allowance { rate, burst_bytes: unit_bytes, filler_bytes: Some(unit_bytes) };
        }
        if let Some(rate) = padding.filter(|_| self.is_empty()) {
            let unit_bytes = (rate * PADDING_UNIT_S / 8.0).max(self.min_padding_bytes);
            return Allowance { rate, burst_bytes: unit_bytes, filler_bytes: Some(unit_bytes) };
        }
        let factor = if self.has_feedback { self.factor } else { self.initial_factor };
        let rate = (factor * target.max(self.min_rate)).max(self.drain_rate());
        let burst_bytes = (rate * self.burst_s / 8.0).min(MAX_BURST_BYTES);
        Allowance { rate, burst_bytes, filler_bytes: None }
    }

    /// Returns the rate that empties the queue before its average packet has waited too long, bit/s.
    fn drain_rate(&self) -> f64 {
        let Some(queued) = self.queued_bytes.filter(|bytes| *bytes > 0) else { return 0.0 };
        let average_s = secs(self.now - self.oldest_at) / 2.0;
        queued as f64 * 8.0 / (QUEUE_LIMIT_S - average_s).max(1e-3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pacer() -> Pacer {
        Pacer::new(&Parameters::defaults(super::super::ENTRY.parameters), Time::ZERO)
    }

    #[test]
    fn media_goes_at_25_then_at_11_tenths_of_the_target_in_bursts_of_40_ms() {
        let mut pacer = pacer();
        let allowance = Allowance { rate: 2.5e6, burst_bytes: 12_500.0, filler_bytes: None };
        assert_eq!(pacer.allowance(1e6, None, None), allowance);
        pacer.on_feedback();
        assert_eq!(pacer.allowance(1e6, None, None).rate, 1.1e6);
        assert_eq!(pacer.allowance(20e6, None, None).burst_bytes, 63_000.0);
    }

    #[test]
    fn a_queue_that_would_last_longer_than_two_seconds_drains_faster() {
        let mut pacer = pacer();
        pacer.on_feedback();
        let now = Time::from_ns(5_000_000_000);
        pacer.set_queue(now, 250_000, Span::from_secs(2));
        // 2 Mbit must leave in the 1 s that the average packet has left.
        assert_eq!(pacer.allowance(1e6, None, None).rate, 2e6);
        pacer.on_sent(now, 250_000);
        assert_eq!(pacer.allowance(1e6, None, None).rate, 1.1e6);
    }

    #[test]
    fn probes_come_before_padding_and_padding_only_fills() {
        let mut pacer = pacer();
        assert_eq!(pacer.allowance(1e6, Some(4e6), Some(1e6)).filler_bytes, Some(1000.0));
        pacer.set_queue(Time::ZERO, 1, Span::ZERO);
        assert_eq!(pacer.allowance(1e6, None, Some(1e6)).filler_bytes, None);
        pacer.set_queue(Time::ZERO, 0, Span::ZERO);
        assert_eq!(pacer.allowance(1e6, None, Some(1e6)).filler_bytes, Some(625.0));
        assert_eq!(pacer.allowance(1e6, None, Some(30e3)).filler_bytes, Some(286.0));
    }
}
