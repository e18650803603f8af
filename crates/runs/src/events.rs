//! From what a sender finds out to what the packet log calls it.

use record::{Event, Record};
use transport::{Finding, Sender};
use units::Time;

/// What the sender of `flow` (from 1) has just found out about its packets, as records of `at`. Those that arrived are for
/// `full` logs only.
#[inline]
pub fn verdicts(sender: &Sender, at: Time, flow: u32, full: bool) -> impl Iterator<Item = Record> + '_ {
    sender.verdicts().iter().filter(move |verdict| full || verdict.finding != Finding::Acked).map(
        move |verdict| Record {
            time_ns: at.as_ns(),
            flow,
            event: match verdict.finding {
                Finding::Acked => Event::Acked,
                Finding::Lost => Event::Lost,
                Finding::Restored => Event::Restored,
            },
            seq: verdict.number,
            size_bytes: 0,
            data_bytes: verdict.payload_bytes,
            one_way_delay_ns: 0,
        },
    )
}
