//! The leaving direction: how much may be sent so that it leaves the queue within the time allowed.
//!
//! Source: keithw/sprout@366e35c, `src/network/sproutconn.cc`. The queue at the bottleneck is estimated from what was
//! sent and what the other end has settled, and drains by the forecast. Two quirks of the program are part of it:
//! forecasts are cumulative but are taken off the queue once for each tick, and the window begins after the present
//! tick.

use super::forecast::{Counts, TICKS};
use super::inbound::TICK_MS;
use super::wire::{Forecast, Header};
use std::collections::VecDeque;

/// Each packet takes this much of the byte sequence besides its body.
const SEQUENCE_OVERHEAD_BYTES: u64 = 50;

/// One direction of a connection, at its sending end. Times are ms.
#[derive(Debug)]
pub(super) struct Outbound {
    /// Bytes of the packets that forecasts count: the receiving end counts in 1400, whatever this is.
    packet_bytes: u64,
    /// Ticks from now to the tick by the end of which the queue is to be empty.
    lookahead: usize,
    /// Packets overtake each other by less than this, ms.
    reorder: u64,
    next_sequence: u64,
    counts: Counts,
    /// When the forecast in force arrived; `None`: it is as old as can be.
    forecast_at: Option<u64>,
    /// Ticks of the forecast that have passed.
    tick: usize,
    queue_bytes: u64,
    /// Packets that may still be overtaken: sequence number and time.
    recent: VecDeque<(u64, u64)>,
}

impl Outbound {
    /// `counts` is the forecast for a link of which nothing is known yet. It has expired when the connection begins: the
    /// program counts its age from the clock's zero, so it begins with heartbeats.
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

    /// The tick of the forecast at `now`, and the queue estimated for then.
    fn at(&self, now: u64) -> (usize, u64) {
        let passed = self.forecast_at.map_or(u64::MAX, |at| now.saturating_sub(at) / TICK_MS);
        let tick = passed.min(TICKS as u64 - 1) as usize;
        let drained = |queue: u64, count: &u8| queue.saturating_sub(u64::from(*count) * self.packet_bytes);
        let passed = self.counts.get(self.tick..tick).unwrap_or_default();
        (tick.max(self.tick), passed.iter().fold(self.queue_bytes, drained))
    }

    /// Bytes that may be sent at `now`.
    pub(super) fn window(&self, now: u64) -> u64 {
        let (tick, queue_bytes) = self.at(now);
        let horizon = (tick + self.lookahead).min(TICKS - 1);
        let packets = self.counts[horizon].saturating_sub(self.counts[tick]);
        (u64::from(packets) * self.packet_bytes).saturating_sub(queue_bytes)
    }

    /// A packet leaves.
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

    /// The other end's forecast arrived.
    pub(super) fn on_forecast(&mut self, now: u64, forecast: &Forecast) {
        let settled = forecast.received_or_lost.near(self.next_sequence).min(self.next_sequence);
        (self.counts, self.forecast_at, self.tick) = (forecast.counts, Some(now), 0);
        self.queue_bytes = self.next_sequence - settled;
    }

    /// Packets that the forecast in force promises by its horizon.
    pub(super) fn promised(&self) -> u8 {
        self.counts[self.lookahead.min(TICKS - 1)]
    }

    /// Bytes estimated to wait at the bottleneck.
    pub(super) const fn queue_bytes(&self) -> u64 {
        self.queue_bytes
    }
}
