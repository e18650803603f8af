//! Receive rate, robust against gaps in the deliveries (libwebrtc M150,
//! `modules/congestion_controller/goog_cc/robust_throughput_estimator.cc`).

use super::numbers::{rate_of, signed_ms};
use std::collections::VecDeque;
use units::Time;

/// Limits of the window: it exceeds only one of them.
const MIN_PACKETS: usize = 20;
const MIN_MS: f64 = 1000.0;
/// Hard limits of the window, which it never exceeds.
const MAX_PACKETS: usize = 500;
const MAX_MS: f64 = 5000.0;
/// Minimum number of packets for an estimate.
const REQUIRED_PACKETS: usize = 10;

#[derive(Clone, Copy, Debug)]
struct Packet {
    sent_at: Time,
    arrival: Time,
    bytes: f64,
}

/// Acknowledged bitrate over a window of received packets.
#[derive(Debug)]
pub(super) struct AckedRate {
    /// Received packets in the order of arrival.
    window: VecDeque<Packet>,
    /// Latest departure among the packets that left the window.
    discarded_sent_at: Time,
}

impl AckedRate {
    pub(super) fn new() -> Self {
        Self { window: VecDeque::with_capacity(MAX_PACKETS + 1), discarded_sent_at: Time::ZERO }
    }

    /// Adds a received packet; `bytes` of its IP datagram.
    pub(super) fn add(&mut self, sent_at: Time, arrival: Time, bytes: f64) {
        self.window.push_back(Packet { sent_at, arrival, bytes });
        let mut index = self.window.len() - 1;
        while index > 0 && self.window[index - 1].arrival > arrival {
            self.window.swap(index - 1, index);
            index -= 1;
        }
        while self.is_too_long()
            && let Some(packet) = self.window.pop_front()
        {
            self.discarded_sent_at = self.discarded_sent_at.max(packet.sent_at);
        }
    }

    fn is_too_long(&self) -> bool {
        let (Some(first), Some(last)) = (self.window.front(), self.window.back()) else { return false };
        let (packets, length_ms) = (self.window.len(), signed_ms(last.arrival, first.arrival));
        packets > MAX_PACKETS || length_ms > MAX_MS || (packets > MIN_PACKETS && length_ms > MIN_MS)
    }

    /// Returns the rate, bit/s; `None` before enough packets have arrived.
    pub(super) fn rate(&self) -> Option<f64> {
        if self.window.len() < REQUIRED_PACKETS {
            return None;
        }
        let (first, last) = (self.window.front()?, self.window.back()?);
        let bytes: f64 = self.window.iter().map(|packet| packet.bytes).sum();
        let (largest, second) = self.largest_gaps();
        // A stall followed by a burst is not a change of rate. The send rate bounds an overestimate.
        let received_ms = signed_ms(last.arrival, first.arrival) - largest + second;
        let received = rate_of(bytes - first.bytes, received_ms.max(1.0));
        Some(self.send_rate().map_or(received, |sent| sent.min(received)))
    }

    fn largest_gaps(&self) -> (f64, f64) {
        let (mut largest, mut second) = (0.0_f64, 0.0_f64);
        for (before, after) in self.window.iter().zip(self.window.iter().skip(1)) {
            let gap = signed_ms(after.arrival, before.arrival);
            if gap > largest {
                (largest, second) = (gap, largest);
            } else {
                second = second.max(gap);
            }
        }
        (largest, second)
    }

    /// Returns the rate at which the packets sent after the discarded ones left, bit/s.
    fn send_rate(&self) -> Option<f64> {
        let sent = || self.window.iter().filter(|packet| packet.sent_at >= self.discarded_sent_at);
        if sent().count() < REQUIRED_PACKETS {
            return None;
        }
        let first = sent().map(|packet| packet.sent_at).min()?;
        let last = sent().max_by_key(|packet| packet.sent_at)?;
        let bytes: f64 = sent().map(|packet| packet.bytes).sum();
        Some(rate_of(bytes - last.bytes, signed_ms(last.sent_at, first).max(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn ten_packets_give_the_rate_of_nine() {
        let mut acked = AckedRate::new();
        for index in 0..9 {
            acked.add(at(10 * index), at(10 * index + 50), 1000.0);
        }
        assert_eq!(acked.rate(), None);
        acked.add(at(90), at(140), 1000.0);
        // 9000 B arrive in 90 ms.
        assert!((acked.rate().unwrap() - 800_000.0).abs() < 1e-6);
    }

    #[test]
    fn one_stall_does_not_lower_the_rate_and_the_send_rate_bounds_it() {
        let mut acked = AckedRate::new();
        // Packets leave every 10 ms; those between 50 and 450 ms arrive together at 500.
        for index in 0..100 {
            let sent = 10 * index;
            acked.add(at(sent), at(if (50..450).contains(&sent) { 500 } else { sent + 50 }), 1000.0);
        }
        // The 410 ms gap counts as 10 ms: the result is 99 kB in 590 ms. The send rate, 99 kB in 990 ms, is lower.
        assert!((acked.rate().unwrap() - 800_000.0).abs() < 1e-6);
    }

    #[test]
    fn the_window_forgets_after_a_second_but_keeps_twenty_packets() {
        let mut acked = AckedRate::new();
        for index in 0..200 {
            acked.add(at(10 * index), at(10 * index), 1000.0);
        }
        assert_eq!(acked.window.len(), 101);
        for index in 0..30 {
            acked.add(at(2000 + 100 * index), at(2000 + 100 * index), 1000.0);
        }
        assert_eq!(acked.window.len(), 20);
    }
}
