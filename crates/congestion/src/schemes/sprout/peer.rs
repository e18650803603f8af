//! One end of a connection: it sends within its window, and forecasts arrivals in its packets.
//!
//! Both ends run the same loop (keithw/sprout@366e35c, `src/examples/sproutbt2.cc`). After each packet that arrives,
//! and at most 10 ms after the last check, an end computes its window and sends a flight of that size. Without a
//! window, a heartbeat follows the previous packet after 50 ms. With `feedback_only` the window of the data's receiver
//! is always 0, and its heartbeats are 20 ms apart.

use super::forecast::Tables;
use super::inbound::Inbound;
use super::model::Motion;
use super::outbound::Outbound;
use super::wire::Header;
use crate::{Parameters, Start};
use units::{Span, Time};

/// Maximum time between two checks of the window, ms.
const POLL_MS: u64 = 10;
/// Time from a packet to the next one of a data receiver that sends no data, ms.
const REPORT_MS: u64 = 20;

/// Returns the whole milliseconds of a clock, as the program counts them.
pub(super) const fn ms(time: Time) -> u64 {
    time.as_ns() / 1_000_000
}

/// Role of an end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Sender of the measured data.
    Sender,
    /// Receiver of that data.
    Receiver,
}

/// End of a connection. Times are ms.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) inbound: Inbound,
    pub(super) outbound: Outbound,
    packet_bytes: u32,
    /// True if this end sends data; false if it only sends feedback.
    sends_data: bool,
    heartbeat: u64,
    /// Remaining bytes of the present flight.
    credit: u64,
    looked_at: u64,
    /// Fraction of a millisecond that the clock dropped at the last check; the following wait begins there.
    fraction: Span,
    heartbeat_at: u64,
    /// True if the last packet announced silence.
    flight_ended: bool,
    /// Tick of the forecast sent last.
    told: Option<u64>,
}

impl Peer {
    /// Returns an end that begins at `now`.
    pub(super) fn new(parameters: &Parameters, start: &Start, now: u64, end: End) -> Self {
        let packet_bytes = start.mss_bytes.max(1);
        let motion =
            Motion { sigma: parameters.number("sigma"), outage_escape: parameters.number("outage_escape") };
        let feedback_only = parameters.flag("feedback_only");
        let heartbeat_of = |end| {
            let reports = feedback_only && end == End::Receiver;
            if reports { REPORT_MS } else { parameters.integer("heartbeat_ms") as u64 }
        };
        let heartbeat = heartbeat_of(end);
        let other = if end == End::Sender { End::Receiver } else { End::Sender };
        let quantile = 1.0 - parameters.number("confidence");
        let inbound = Inbound::new(Tables::get(motion), quantile, heartbeat_of(other));
        let lookahead = parameters.integer("lookahead") as usize;
        let reorder = parameters.integer("reorder_ms") as u64;
        let outbound = Outbound::new(*inbound.counts(), u64::from(packet_bytes), lookahead, reorder);
        Self {
            inbound,
            outbound,
            packet_bytes,
            sends_data: end == End::Sender || !feedback_only,
            heartbeat,
            credit: 0,
            looked_at: now,
            fraction: Span::ZERO,
            heartbeat_at: now + heartbeat,
            flight_ended: true,
            told: None,
        }
    }

    /// Handles a packet of the peer.
    pub(super) fn on_packet(&mut self, now: u64, header: &Header) {
        self.inbound.on_packet(now, header);
        if let Some(forecast) = &header.forecast {
            self.outbound.on_forecast(now, forecast);
        }
    }

    /// Checks the window, and begins the next flight if there is one.
    pub(super) fn look(&mut self, time: Time) {
        let now = ms(time);
        self.fraction = Span::from_ns(time.as_ns() % 1_000_000);
        if self.credit > 0 && !self.flight_ended && now > self.looked_at {
            // The application had no more data. The flight is over, and the peer must be informed.
            self.heartbeat_at = now;
        }
        self.looked_at = now;
        self.credit = self.window(now);
    }

    /// Returns the bytes that may be sent at `now`.
    fn window(&self, now: u64) -> u64 {
        if self.sends_data { self.outbound.window(now) } else { 0 }
    }

    /// Returns the data bytes of the packet that may leave now; 0 for a heartbeat.
    pub(super) fn next_packet(&self) -> Option<u32> {
        match self.credit {
            0 => self.heartbeat_is_due().then_some(0),
            credit => Some(credit.min(u64::from(self.packet_bytes)) as u32),
        }
    }

    /// Sends a packet and returns its header.
    pub(super) fn send(&mut self, now: u64, data_bytes: u32) -> Header {
        self.credit = self.credit.saturating_sub(u64::from(data_bytes));
        let mut forecast = None;
        if self.flight_ended {
            forecast = self.inbound.forecast(now).filter(|(tick, _)| self.told != Some(*tick));
            self.told = forecast.map_or(self.told, |(tick, _)| Some(tick));
        }
        self.flight_ended = self.credit == 0 || data_bytes == 0;
        self.looked_at = self.looked_at.max(now);
        self.heartbeat_at = self.heartbeat_at.max(now + self.heartbeat);
        self.outbound.send(now, self.flight_ended, data_bytes, forecast.map(|(_, forecast)| forecast))
    }

    /// Returns the remaining bytes of the present flight.
    pub(super) const fn credit(&self) -> u64 {
        self.credit
    }

    /// Returns true if a heartbeat was due at the last check.
    pub(super) const fn heartbeat_is_due(&self) -> bool {
        self.looked_at >= self.heartbeat_at
    }

    /// Returns the time of the next check of the window that lets something leave, if nothing arrives until then.
    fn next_look(&self) -> u64 {
        let mut at = self.looked_at;
        loop {
            at = (at + POLL_MS).min(self.heartbeat_at.max(at + 1));
            if self.credit > 0 || at >= self.heartbeat_at || self.window(at) > 0 {
                return at;
            }
        }
    }

    /// Returns the time of the next check.
    pub(super) fn wake_at(&self) -> Time {
        self.time(self.next_look())
    }

    /// Returns the departure time of the next packet if nothing arrives until then; in the past if it may leave at
    /// once.
    pub(super) fn next_send(&self) -> Time {
        if self.next_packet().is_some() { self.time(self.looked_at) } else { self.wake_at() }
    }

    const fn time(&self, ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000 + self.fraction.as_ns())
    }
}
