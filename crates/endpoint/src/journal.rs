//! Event journal of a flow's end in the built-in transport, by the end's own clock.

use crate::codec::IP_UDP_BYTES;
use crate::log::EventLog;
use crate::samples::Rows;
use crate::session::Session;
use congestion::FieldSink;
use record::Event;
use runs::{Changes, LogLevel, verdicts};
use serde::{Deserialize, Serialize};
use transport::{AckFrame, Data, EcnCounts, Sender};
use units::Time;

/// Events of one end. These are a sender's verdicts on its packets and, in full logs, its state after every event.
/// Departures and arrivals of packets are logged only if nothing between the ends logs them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Journal {
    /// Number of the flow, from 0.
    flow: u32,
    level: LogLevel,
    logs_packets: bool,
    log: EventLog,
    /// Arrivals of packets. They have the earlier times of the kernel's receive timestamps.
    arrivals: EventLog,
    #[serde(skip)]
    changes: Changes,
    states: Rows,
}

impl Journal {
    /// Creates the journal of flow number `index` (from 0) for a log of this level.
    pub fn of(index: usize, level: LogLevel) -> Self {
        Self { flow: index as u32, level, ..Self::default() }
    }

    /// Adds the logging of packets, for ends without an emulated path between them.
    #[must_use]
    pub fn with_packets(self) -> Self {
        Self { logs_packets: true, ..self }
    }

    /// Returns the events as two logs.
    pub(crate) fn logs(&self) -> impl Iterator<Item = &EventLog> {
        [&self.log, &self.arrivals].into_iter()
    }

    /// Returns the sender's state after every event, in full logs.
    pub(crate) const fn states(&self) -> &Rows {
        &self.states
    }

    /// Logs the departure of a data packet in a UDP payload of `payload_bytes`.
    #[inline]
    pub(crate) fn data_left(&mut self, data: &Data, payload_bytes: usize) {
        if self.logs_packets {
            let size_bytes = payload_bytes as u32 + IP_UDP_BYTES;
            self.log.event(data.sent_at, Event::Send, self.flow, data.number, size_bytes);
            self.log.detail(data.sent_at, data.application_bytes());
        }
    }

    /// Logs the arrival of a data packet in a UDP payload of `payload_bytes`, with `new_bytes` of new application data.
    #[inline]
    pub(crate) fn data_arrived(
        &mut self,
        at: Time,
        data: &Data,
        payload_bytes: usize,
        ecn: EcnCounts,
        new_bytes: u32,
    ) {
        if !self.logs_packets {
            return;
        }
        let size_bytes = payload_bytes as u32 + IP_UDP_BYTES;
        if ecn.ce > 0 {
            self.arrivals.event(at, Event::Mark, self.flow, data.number, size_bytes);
        }
        self.arrivals.event(at, Event::Deliver, self.flow, data.number, size_bytes);
        self.arrivals.detail_of_other(new_bytes);
    }

    /// Logs the departure of an ACK in a UDP payload of `payload_bytes`.
    #[inline]
    pub(crate) fn ack_left(&mut self, at: Time, frame: &AckFrame, payload_bytes: usize) {
        if self.logs_packets {
            let size_bytes = payload_bytes as u32 + IP_UDP_BYTES;
            self.log.event(at, Event::AckSend, self.flow, frame.number, size_bytes);
        }
    }

    /// Logs the arrival of an ACK in a UDP payload of `payload_bytes`.
    #[inline]
    pub(crate) fn ack_arrived(&mut self, at: Time, frame: &AckFrame, payload_bytes: usize) {
        if self.logs_packets {
            let size_bytes = payload_bytes as u32 + IP_UDP_BYTES;
            self.arrivals.event(at, Event::AckDeliver, self.flow, frame.number, size_bytes);
            self.arrivals.detail_of_other(0);
        }
    }

    /// Returns the time of the sender's last action, at most the end. This is `now`; in full logs the clock is read
    /// again, so that successive ACKs of one batch have different times.
    #[inline]
    pub(crate) fn time(&self, session: Session<'_>, now: Time) -> Time {
        if self.level == LogLevel::Full { session.clock.now().min(session.end) } else { now }
    }

    /// Logs the sender's new verdicts on its packets.
    #[inline]
    pub(crate) fn verdicts(&mut self, at: Time, sender: &Sender) {
        if self.level == LogLevel::None {
            return;
        }
        for record in verdicts(sender, at, self.flow + 1, self.level == LogLevel::Full) {
            self.log.event(at, record.event, self.flow, record.seq, record.size_bytes);
            self.log.detail(at, record.data_bytes);
        }
    }

    /// Adds the changed values of the sender's state, and `always`, to full logs.
    #[inline]
    pub(crate) fn state(&mut self, at: Time, always: &'static str, sender: &Sender) {
        if self.level == LogLevel::Full {
            let Self { changes, states, .. } = self;
            states.add(at, |rows| changes.pass(always, rows, |sink| sender.all_fields(sink)));
        }
    }

    /// Puts the values of a sample of the sender.
    pub(crate) fn sample(&self, sender: &Sender, sink: &mut dyn FieldSink) {
        if self.level == LogLevel::Full { sender.all_fields(sink) } else { sender.fields(sink) }
    }
}
