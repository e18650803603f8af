//! What a sender of ours finds out and decides, kept by its thread until the run is over.

use super::samples::Rows;
use crate::clock::Clock;
use crate::events::EventLog;
use congestion::FieldSink;
use runs::{Changes, LogLevel, verdicts};
use transport::Sender;
use units::Time;

/// Verdicts on packets and, for full logs, the state after every event. Senders that tell nothing leave it empty.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    /// Number of the flow, from 0.
    flow: u32,
    level: LogLevel,
    log: EventLog,
    changes: Changes,
    rows: Rows,
}

impl Decisions {
    /// Of flow number `index` (from 0), as far as `level` asks for them.
    pub(crate) fn of(index: usize, level: LogLevel) -> Self {
        Self { flow: index as u32, level, ..Self::default() }
    }

    /// The time of what the sender has just done at `now`: of several ACKs that are taken in at once each has its own in
    /// full logs, where it is read after what it is the time of. Never after `until`.
    #[inline]
    pub(crate) fn time(&self, clock: Clock, now: Time, until: Time) -> Time {
        if self.level == LogLevel::Full { clock.now().min(until) } else { now }
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
            let Self { changes, rows, .. } = self;
            rows.add(at, |rows| changes.pass(always, rows, |sink| sender.all_fields(sink)));
        }
    }

    /// What a sample of the sender shows.
    pub(crate) fn sample(&self, sender: &Sender, sink: &mut dyn FieldSink) {
        if self.level == LogLevel::Full { sender.all_fields(sink) } else { sender.fields(sink) }
    }

    /// The verdicts.
    pub(crate) const fn log(&self) -> &EventLog {
        &self.log
    }

    /// The state after every event.
    pub(crate) const fn states(&self) -> &Rows {
        &self.rows
    }
}
