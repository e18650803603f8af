//! Sender that sets a rate for each monitor interval and judges the rate by the interval's result. It connects PCC and
//! Vivace to the transport. The scheme chooses the rates and judges the results.

use super::{Ended, Monitor, Ring};
use crate::{Ack, AckedPacket, Control, Controller, FieldSink, Parameters, Sent, Start};
use core::fmt::Debug;
use units::{Rate, Time};

/// Scheme that decides on a rate for each interval.
pub(crate) trait IntervalScheme: Debug + Send {
    /// Handles the beginning of interval `number` at `now` and decides on its rate. Returns the interval's number of
    /// packets.
    fn on_interval_start(&mut self, now: Time, number: u32) -> u64;

    /// Handles the result of an interval, which need not be the latest.
    fn on_interval_end(&mut self, ended: &Ended);

    /// Handles a report whose newest packet is `newest`.
    fn on_report(&mut self, _now: Time, _newest: &AckedPacket) {}

    /// Returns the present rate, Mbit/s on the wire.
    fn rate(&self) -> f64;

    /// Returns the size of the scheme's packets.
    fn packet(&self) -> WirePacket;

    /// Writes the scheme's state, for time series.
    fn fields(&self, sink: &mut dyn FieldSink);
}

/// Size of a packet on the wire. The schemes' rates count its headers; pacing counts its payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WirePacket {
    /// Headers and payload, bits.
    pub(crate) bits: f64,
    payload_share: f64,
}

impl WirePacket {
    /// Returns the size with the parameter `header_bytes`.
    pub(crate) fn new(parameters: &Parameters, start: &Start) -> Self {
        let payload_bytes = f64::from(start.mss_bytes.max(1));
        let bytes = payload_bytes + parameters.number("header_bytes");
        Self { bits: bytes * 8.0, payload_share: payload_bytes / bytes }
    }
}

/// Controller that combines `scheme` with monitor intervals.
#[derive(Debug)]
pub(crate) struct Monitored<S> {
    scheme: S,
    monitor: Monitor,
}

impl<S: IntervalScheme> Monitored<S> {
    /// Returns a controller that remembers as many intervals as `ring` has numbers; `closes_on_last` as in
    /// [`Monitor::new`].
    pub(crate) fn new(scheme: S, ring: Ring, closes_on_last: bool) -> Self {
        Self { scheme, monitor: Monitor::new(ring, closes_on_last) }
    }

    /// Opens the next interval, whose first packet is `first`.
    fn open(&mut self, now: Time, first: u64) {
        let packets = self.scheme.on_interval_start(now, self.monitor.next());
        self.monitor.open(now, first, packets, self.scheme.rate());
    }
}

impl<S: IntervalScheme> Controller for Monitored<S> {
    fn on_sent(&mut self, sent: &Sent) {
        if !self.monitor.is_open() {
            self.open(sent.now, sent.number);
        }
        if self.monitor.sent(sent.now) {
            self.open(sent.now, sent.number + 1);
        }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(newest) = ack.packets.last() else { return };
        self.scheme.on_report(ack.now, newest);
        self.monitor.reported(ack.now, newest);
        for packet in ack.packets {
            self.monitor.arrived(packet.number);
            while let Some(ended) = self.monitor.close(packet.number) {
                self.scheme.on_interval_end(&ended);
            }
        }
    }

    fn control(&self) -> Control {
        let pacing = Rate::from_mbps(self.scheme.rate() * self.scheme.packet().payload_share);
        Control { pacing: Some(pacing), ..Control::window(u64::MAX) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        self.scheme.fields(sink);
    }
}
