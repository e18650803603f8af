//! Counters that Indigo's and Muses' datagrams carry and acknowledgements echo: departure time, and bytes sent and
//! delivered by then. Both clocks count whole milliseconds from the flow's start.
//!
//! Source: StanfordSNR/indigo@2601c92e, env/sender.py.

use super::Departures;
use units::Time;

const NS_PER_MS: u64 = 1_000_000;

#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    sent_ms: u64,
    sent_bytes: u64,
    delivered_bytes: u64,
    delivered_ms: u64,
}

/// Values computed from one acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Echo {
    pub(crate) rtt_ms: u64,
    /// Delivery rate: bytes delivered since the packet left, over the time since the last delivery before it left.
    pub(crate) delivery_mbps: f64,
    /// Sending rate: bytes sent since the packet left, over its RTT.
    pub(crate) sending_mbps: f64,
    /// Bytes that were sent before the packet.
    pub(crate) sent_before_bytes: u64,
}

/// Counters of sender and receiver, with the copy that each packet carries.
#[derive(Debug)]
pub(crate) struct Echoed {
    start: Time,
    /// Bytes of a datagram besides the payload; the programs count them, too.
    header_bytes: u64,
    sent_bytes: u64,
    delivered_bytes: u64,
    delivered_ms: u64,
    departures: Departures<Carried>,
}

impl Echoed {
    pub(crate) fn new(start: Time, header_bytes: u64) -> Self {
        let departures = Departures::default();
        Self { start, header_bytes, sent_bytes: 0, delivered_bytes: 0, delivered_ms: 0, departures }
    }

    /// Returns `time` on the sender's clock, ms.
    pub(crate) fn ms(&self, time: Time) -> u64 {
        time.since(self.start).as_ns() / NS_PER_MS
    }

    /// Returns all delivered bytes.
    pub(crate) const fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Counts the departure of packet `number` with `bytes` of payload.
    pub(crate) fn sent(&mut self, now: Time, number: u64, bytes: u32) {
        let carried = Carried {
            sent_ms: self.ms(now),
            sent_bytes: self.sent_bytes,
            delivered_bytes: self.delivered_bytes,
            delivered_ms: self.delivered_ms,
        };
        self.departures.note(number, carried);
        self.sent_bytes += u64::from(bytes) + self.header_bytes;
    }

    /// Counts the arrival of packet `number` without an echo.
    pub(crate) fn delivered(&mut self, number: u64, bytes: u32) {
        self.departures.take(number);
        self.delivered_bytes += u64::from(bytes) + self.header_bytes;
    }

    /// Counts the acknowledgement of packet `number` and returns its echo; `None` if the packet is forgotten. Rates are
    /// over at least one millisecond.
    pub(crate) fn acked(&mut self, now: Time, number: u64, bytes: u32) -> Option<Echo> {
        let now_ms = self.ms(now);
        let carried = self.departures.take(number)?;
        self.delivered_bytes += u64::from(bytes) + self.header_bytes;
        self.delivered_ms = now_ms;
        let rtt_ms = now_ms - carried.sent_ms;
        let mbps = |bytes: u64, ms: u64| 0.008 * bytes as f64 / ms.max(1) as f64;
        Some(Echo {
            rtt_ms,
            delivery_mbps: mbps(
                self.delivered_bytes - carried.delivered_bytes,
                now_ms - carried.delivered_ms,
            ),
            sending_mbps: mbps(self.sent_bytes - carried.sent_bytes, rtt_ms),
            sent_before_bytes: carried.sent_bytes,
        })
    }
}

/// Returns the average after `sample`: the sample itself if there is none yet; otherwise the old average has a weight
/// of seven eighths.
pub(crate) fn smoothed<const N: usize>(known: Option<[f64; N]>, sample: [f64; N]) -> [f64; N] {
    known.map_or(sample, |known| core::array::from_fn(|at| 0.875 * known[at] + 0.125 * sample[at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    #[test]
    fn rates_are_over_whole_milliseconds_and_count_headers() {
        let at = |us: u64| Time::ZERO + Span::from_us(us);
        let mut echoed = Echoed::new(Time::ZERO, 36);
        echoed.sent(at(0), 0, 1400);
        echoed.sent(at(1900), 1, 1400);
        let first = echoed.acked(at(40_999), 0, 1400).unwrap();
        let mbps = |datagrams: f64, ms: f64| 0.008 * 1436.0 * datagrams / ms;
        let expected = Echo {
            rtt_ms: 40,
            delivery_mbps: mbps(1.0, 40.0),
            sending_mbps: mbps(2.0, 40.0),
            sent_before_bytes: 0,
        };
        assert_eq!(first, expected);
        let second = echoed.acked(at(41_000), 1, 1400).unwrap();
        assert_eq!((second.rtt_ms, second.sent_before_bytes), (40, 1436));
        assert_eq!(second.delivery_mbps, mbps(2.0, 41.0));
        assert_eq!(echoed.acked(at(41_000), 1, 1400), None);
    }
}
