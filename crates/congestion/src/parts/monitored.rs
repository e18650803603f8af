//! A sender that gives each monitor interval a rate and judges it by what became of it: the side of PCC and Vivace that
//! faces the transport. Which rate, and what the outcome says, is the scheme's.

use super::{Ended, Monitor, Ring};
use crate::{Ack, AckedPacket, Control, Controller, FieldSink, Parameters, Sent, Start};
use core::fmt::Debug;
use units::{Rate, Time};

/// A scheme that decides on a rate for each interval.
pub(crate) trait IntervalScheme: Debug + Send {
    /// Interval `number` begins at `now`: decides on its rate; returns how many packets it has.
    fn on_interval_start(&mut self, now: Time, number: u32) -> u64;

    /// What became of an interval, which need not be the latest.
    fn on_interval_end(&mut self, ended: &Ended);

    /// A report has arrived that has `newest` as its newest packet.
    fn on_report(&mut self, _now: Time, _newest: &AckedPacket) {}

    /// Rate being sent, Mbit/s on the wire.
    fn rate(&self) -> f64;

    /// What its packets weigh.
    fn packet(&self) -> WirePacket;

    /// Its state, for time series.
    fn fields(&self, sink: &mut dyn FieldSink);
}

/// What a packet weighs on the wire: the schemes' rates count its headers, pacing counts its payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WirePacket {
    /// Headers and payload, bits.
    pub(crate) bits: f64,
    payload_share: f64,
}

impl WirePacket {
    /// With the parameter `header_bytes`.
    pub(crate) fn new(parameters: &Parameters, start: &Start) -> Self {
        let payload_bytes = f64::from(start.mss_bytes.max(1));
        let bytes = payload_bytes + parameters.number("header_bytes");
        Self { bits: bytes * 8.0, payload_share: payload_bytes / bytes }
    }
}

/// The controller that `scheme` makes with its intervals.
#[derive(Debug)]
pub(crate) struct Monitored<S> {
    scheme: S,
    monitor: Monitor,
}

impl<S: IntervalScheme> Monitored<S> {
    /// Remembers as many intervals as `ring` has numbers; `closes_on_last` as in [`Monitor::new`].
    pub(crate) fn new(scheme: S, ring: Ring, closes_on_last: bool) -> Self {
        Self { scheme, monitor: Monitor::new(ring, closes_on_last) }
    }

    /// Opens the next interval; packet `first` is its first.
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
