//! What an end of ours writes down while it works, by its own clock.

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

/// The events of one end: a sender's verdicts on its packets and, for full logs, its state after every event; packets as
/// they leave and arrive only where nothing between the ends logs them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Journal {
    /// Number of the flow, from 0.
    flow: u32,
    level: LogLevel,
    logs_packets: bool,
    log: EventLog,
    /// Packets that have come in: the kernel dates them back to when they did.
    arrivals: EventLog,
    #[serde(skip)]
    changes: Changes,
    states: Rows,
}

impl Journal {
    /// Of flow number `index` (from 0), for a log of this level.
    pub fn of(index: usize, level: LogLevel) -> Self {
        Self { flow: index as u32, level, ..Self::default() }
    }

    /// The same with packets: for ends with no emulated path between them.
    #[must_use]
    pub fn with_packets(self) -> Self {
        Self { logs_packets: true, ..self }
    }

    /// The events, as two logs.
    pub(crate) fn logs(&self) -> impl Iterator<Item = &EventLog> {
        [&self.log, &self.arrivals].into_iter()
    }

    /// The sender's state after every event, in full logs.
    pub(crate) const fn states(&self) -> &Rows {
        &self.states
    }

    /// A data packet leaves in a UDP payload of so many bytes.
    #[inline]
    pub(crate) fn data_left(&mut self, data: &Data, payload_bytes: usize) {
        if self.logs_packets {
            let size_bytes = payload_bytes as u32 + IP_UDP_BYTES;
            self.log.event(data.sent_at, Event::Send, self.flow, data.number, size_bytes);
            self.log.detail(data.sent_at, data.application_bytes());
        }
    }

    /// A data packet has arrived in a UDP payload of so many bytes, with `new_bytes` of the application that had not
    /// arrived before.
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

    /// An ACK leaves in a UDP payload of so many bytes.
    #[inline]
    pub(crate) fn ack_left(&mut self, at: Time, frame: &AckFrame, payload_bytes: usize) {
        if self.logs_packets {
            let size_bytes = payload_bytes as u32 + IP_UDP_BYTES;
            self.log.event(at, Event::AckSend, self.flow, frame.number, size_bytes);
        }
    }

    /// An ACK has arrived in a UDP payload of so many bytes.
    #[inline]
    pub(crate) fn ack_arrived(&mut self, at: Time, frame: &AckFrame, payload_bytes: usize) {
        if self.logs_packets {
            let size_bytes = payload_bytes as u32 + IP_UDP_BYTES;
            self.arrivals.event(at, Event::AckDeliver, self.flow, frame.number, size_bytes);
            self.arrivals.detail_of_other(0);
        }
    }

    /// When the sender did what it has just done. That is `now`; in full logs the clock is read again, so that each of
    /// several ACKs taken in at once has a time of its own. Never after the end.
    #[inline]
    pub(crate) fn time(&self, session: Session<'_>, now: Time) -> Time {
        if self.level == LogLevel::Full { session.clock.now().min(session.end) } else { now }
    }

    /// What the sender has found out about its packets.
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

    /// In full logs, whatever of the sender's state has changed, and `always`.
    #[inline]
    pub(crate) fn state(&mut self, at: Time, always: &'static str, sender: &Sender) {
        if self.level == LogLevel::Full {
            let Self { changes, states, .. } = self;
            states.add(at, |rows| changes.pass(always, rows, |sink| sender.all_fields(sink)));
        }
    }

    /// What a sample of the sender shows.
    pub(crate) fn sample(&self, sender: &Sender, sink: &mut dyn FieldSink) {
        if self.level == LogLevel::Full { sender.all_fields(sink) } else { sender.fields(sink) }
    }
}
