//! Logs of Pantheon and mahimahi: importers that stream, and exporters.
//!
//! Import maps `+` to [`Event::Send`], `-` to [`Event::Deliver`] and `#` to [`Event::Opportunity`] (in the ACK
//! direction to their `Ack` counterparts). Times keep their microseconds exactly: `time_ns` is the logged time
//! times 1000. Flow numbers are 0 in untagged logs; packet numbers are the tunnel's uids in raw logs and 0 elsewhere;
//! `data_bytes` is 0, because no such log tells it. Records come in the order of the lines, which is that of time unless a
//! clock stepped back, and the first record of a direction has the time of the log's first event, from which Pantheon
//! counts its bins.
//!
//! [`Event::Send`]: record::Event::Send
//! [`Event::Deliver`]: record::Event::Deliver
//! [`Event::Opportunity`]: record::Event::Opportunity
//!
//! A log is read strictly (only what Pantheon writes) or leniently: then what Pantheon's analysis takes too is taken, and
//! told as an [`Oddity`].

mod direction;
mod ending;
mod export;
mod header;
mod input;
mod lines;
mod loose;
mod merge;
mod merged;
mod mm_link;
mod oddities;
mod raw;
mod source;

pub use direction::Direction;
pub use export::{MergedExport, MmLinkExport};
pub use input::Input;
pub use oddities::Oddity;
pub use raw::{ClockOffsets, RawPair};

use crate::Error;
use merge::{Merge, Role};
use merged::MergedLog;
use mm_link::{MmLinkLog, Take};
use raw::RawMerge;
use record::Record;
use source::Source;

/// The log of one flow, as a part of [`Log::Multiple`].
pub enum FlowLog {
    /// An untagged merged log.
    Merged(Input),
    /// A raw pair, merged on the fly.
    Raw(RawPair),
}

/// One direction of a run, in one of the forms that Pantheon leaves behind.
pub enum Log {
    /// A merged log, with or without flow numbers (`..._datalink_run1.log`).
    Merged(Input),
    /// A log of mahimahi's mm-link; sizes as logged (4 bytes more than the IP datagram), flow 0.
    MmLink(Input),
    /// A raw ingress and egress pair, flow 0.
    Raw(RawPair),
    /// Several flows, numbered from 1 in the given order, and possibly the link's mm-link log, of which only the
    /// delivery opportunities are taken (less the 4 bytes of the TUN header): `merge_tunnel_logs.py multiple`.
    Multiple {
        /// One log per flow.
        flows: Vec<FlowLog>,
        /// The bottleneck's log.
        mm_link: Option<Input>,
    },
}

/// What an import found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Records passed to the sink.
    pub records: u64,
    /// Lines read, of all logs together.
    pub lines: u64,
    /// Start of the time axis, us since 1970, where the log tells.
    pub init_us: Option<u64>,
    /// The zero of the data direction's log on that axis, ns: what has to be taken off to get the times as logged.
    pub zero_ns: u64,
    /// What is unusual about the logs.
    pub oddities: Vec<Oddity>,
}

/// Reads one direction of a run and passes its records to `sink`, in time order.
///
/// On an error, records may have been passed already: the caller's file must not be completed then. An error that
/// `sink` returns ends the import.
pub fn import(
    log: Log,
    direction: Direction,
    sink: &mut dyn FnMut(Record) -> Result<(), Error>,
) -> Result<Imported, Error> {
    match log {
        // The common and largest case without a virtual call per line.
        Log::Merged(input) => drain(MergedLog::open(input, direction)?, sink),
        other => drain(open(other, direction)?, sink),
    }
}

/// Reads both directions of a run onto one time axis, which starts with the earlier of the two logs. Both need an init
/// timestamp. Otherwise as [`import`].
pub fn import_run(
    data: Log,
    ack: Log,
    sink: &mut dyn FnMut(Record) -> Result<(), Error>,
) -> Result<Imported, Error> {
    let parts = vec![(open(data, Direction::Data)?, Role::Plain), (open(ack, Direction::Ack)?, Role::Plain)];
    drain(Merge::new(parts)?, sink)
}

fn open(log: Log, direction: Direction) -> Result<Box<dyn Source>, Error> {
    Ok(match log {
        Log::Merged(input) => Box::new(MergedLog::open(input, direction)?),
        Log::MmLink(input) => Box::new(MmLinkLog::open(input, direction, Take::All)?),
        Log::Raw(pair) => Box::new(RawMerge::open(pair, direction)?),
        Log::Multiple { flows, mm_link } => {
            let mut parts: Vec<(Box<dyn Source>, Role)> = Vec::with_capacity(flows.len() + 1);
            if let Some(input) = mm_link {
                parts.push((Box::new(MmLinkLog::open(input, direction, Take::Opportunities)?), Role::Plain));
            }
            for (number, flow) in (1..).zip(flows) {
                let source: Box<dyn Source> = match flow {
                    FlowLog::Merged(input) => Box::new(MergedLog::open(input, direction)?),
                    FlowLog::Raw(pair) => Box::new(RawMerge::open(pair, direction)?),
                };
                parts.push((source, Role::Flow(number)));
            }
            Box::new(Merge::new(parts)?)
        }
    })
}

fn drain(
    mut source: impl Source,
    sink: &mut dyn FnMut(Record) -> Result<(), Error>,
) -> Result<Imported, Error> {
    let mut records = 0;
    while let Some(record) = source.next()? {
        sink(record)?;
        records += 1;
    }
    Ok(Imported {
        records,
        lines: source.line(),
        init_us: source.init_us(),
        zero_ns: source.zero_ns(),
        oddities: source.oddities(),
    })
}
