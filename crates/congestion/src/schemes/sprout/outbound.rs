//! Leaving direction: the bytes that may be sent so that they leave the queue within the allowed time.
//!
//! Source: keithw/sprout@366e35c, `src/network/sproutconn.cc`. The queue at the bottleneck is estimated from the sent
//! bytes and the bytes that the peer has settled; it drains by the forecast. Two quirks of the program are kept.
//! Forecasts are cumulative but are subtracted from the queue once for each tick, and the window begins after the
//! present tick.

use super::forecast::{Counts, TICKS};
use super::inbound::TICK_MS;
use super::wire::{Forecast, Header};
use std::collections::VecDeque;

/// Bytes of the sequence that each packet takes besides its body.
const SEQUENCE_OVERHEAD_BYTES: u64 = 50;

/// Direction of a connection at its sending end. Times are ms.
#[derive(Debug)]
pub(super) struct Outbound {
    /// Bytes of the packets that forecasts count. The receiving end always counts in 1400 bytes.
    packet_bytes: u64,
    /// Number of ticks from now until the end of the tick by which the queue must be empty.
    lookahead: usize,
    /// Maximum time by which packets overtake each other, ms.
    reorder: u64,
    next_sequence: u64,
    counts: Counts,
    /// Arrival time of the forecast in force; `None` for the maximum age.
    forecast_at: Option<u64>,
    /// Number of ticks of the forecast that have passed.
    tick: usize,
    queue_bytes: u64,
    /// Packets that may still be overtaken: sequence number and time.
    recent: VecDeque<(u64, u64)>,
}

impl Outbound {
    /// Returns the state of a new connection; `counts` is the forecast for an unknown link. This forecast has expired
    /// when the connection begins, because the program counts its age from the clock's zero. So the connection begins
    /// with heartbeats.
    pub(super) fn new(counts: Counts, packet_bytes: u64, lookahead: usize, reorder: u64) -> Self {
        Self {
            packet_bytes,
            lookahead,
            reorder,
            next_sequence: 0,
            counts,
            forecast_at: None,
            tick: 0,
            queue_bytes: 0,
            recent: VecDeque::with_capacity(256),
        }
    }

    /// Returns the tick of the forecast at `now`, and the estimated queue at that time.
    fn at(&self, now: u64) -> (usize, u64) {
        let passed = self.forecast_at.map_or(u64::MAX, |at| now.saturating_sub(at) / TICK_MS);
        let tick = passed.min(TICKS as u64 - 1) as usize;
        let drained = |queue: u64, count: &u8| queue.saturating_sub(u64::from(*count) * self.packet_bytes);
        let passed = self.counts.get(self.tick..tick).unwrap_or_default();
        (tick.max(self.tick), passed.iter().fold(self.queue_bytes, drained))
    }

    /// Returns the bytes that may be sent at `now`.
    pub(super) fn window(&self, now: u64) -> u64 {
        let (tick, queue_bytes) = self.at(now);
        let horizon = (tick + self.lookahead).min(TICKS - 1);
        let packets = self.counts[horizon].saturating_sub(self.counts[tick]);
        (u64::from(packets) * self.packet_bytes).saturating_sub(queue_bytes)
    }

    /// Sends a packet and returns its header.
    pub(super) fn send(
        &mut self,
        now: u64,
        ends_flight: bool,
        data_bytes: u32,
        forecast: Option<Forecast>,
    ) -> Header {
        self.recent.push_back((self.next_sequence, now));
        while self.recent.front().is_some_and(|(_, sent)| sent + self.reorder < now) {
            self.recent.pop_front();
        }
        let oldest = self.recent.front().map_or(self.next_sequence, |(sequence, _)| *sequence);
        let header = Header {
            sequence: self.next_sequence.into(),
            throwaway_bytes: (self.next_sequence - oldest).min(u64::from(u16::MAX)) as u16,
            ends_flight,
            data_bytes,
            forecast,
        };
        self.next_sequence += header.body_bytes() + SEQUENCE_OVERHEAD_BYTES;
        self.queue_bytes += header.body_bytes();
        (self.tick, self.queue_bytes) = self.at(now);
        header
    }

    /// Handles the peer's forecast.
    pub(super) fn on_forecast(&mut self, now: u64, forecast: &Forecast) {
        let settled = forecast.received_or_lost.near(self.next_sequence).min(self.next_sequence);
        (self.counts, self.forecast_at, self.tick) = (forecast.counts, Some(now), 0);
        self.queue_bytes = self.next_sequence - settled;
    }

    /// Returns the packets that the forecast in force promises by its horizon.
    pub(super) fn promised(&self) -> u8 {
        self.counts[self.lookahead.min(TICKS - 1)]
    }

    /// Returns the estimated bytes in the bottleneck's queue.
    pub(super) const fn queue_bytes(&self) -> u64 {
        self.queue_bytes
    }
}
