//! Conversion of a sender's verdicts on packets to records of the packet log.

use record::{Event, Record};
use transport::{Finding, Sender};
use units::Time;

/// Returns the latest verdicts of the sender of `flow` (from 1) as records at `at`.
///
/// Only `full` logs contain acknowledged packets.
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
