//! Logs of Pantheon and mahimahi: streaming importers, and exporters.
//!
//! Import maps `+` to [`Event::Send`], `-` to [`Event::Deliver`] and `#` to [`Event::Opportunity`] (in the ACK
//! direction to their `Ack` counterparts). Times keep their microseconds exactly: `time_ns` is the logged time times
//! 1000. Flow numbers are 0 in untagged logs. Packet numbers are the tunnel's uids in raw logs and 0 elsewhere.
//! `data_bytes` is 0, because no such log contains it. Records come in the order of the lines, which is time order
//! unless a clock stepped back. The first record of a direction has the time of the log's first event, from which
//! Pantheon counts its bins.
//!
//! [`Event::Send`]: record::Event::Send
//! [`Event::Deliver`]: record::Event::Deliver
//! [`Event::Opportunity`]: record::Event::Opportunity
//!
//! A log is read strictly or leniently. A strict reader accepts only lines as Pantheon writes them. A lenient reader
//! accepts all lines that Pantheon's analysis accepts, and reports each [`Oddity`].

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

/// Log of one flow in [`Log::Multiple`].
pub enum FlowLog {
    /// Untagged merged log.
    Merged(Input),
    /// Raw pair, merged while reading.
    Raw(RawPair),
}

/// One direction of a run in one of Pantheon's formats.
pub enum Log {
    /// Merged log with or without flow numbers (`..._datalink_run1.log`).
    Merged(Input),
    /// Log of mahimahi's mm-link, flow 0. Sizes are as logged, 4 bytes more than the IP datagram.
    MmLink(Input),
    /// Raw ingress and egress pair, flow 0.
    Raw(RawPair),
    /// Several flows, numbered from 1 in the given order, and optionally the link's mm-link log (`merge_tunnel_logs.py
    /// multiple`). The mm-link log contributes only its opportunities, without the 4 bytes of the TUN header.
    Multiple {
        /// Logs of the flows.
        flows: Vec<FlowLog>,
        /// Log of the bottleneck.
        mm_link: Option<Input>,
    },
}

/// Result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Number of records passed to the sink.
    pub records: u64,
    /// Number of lines of all logs.
    pub lines: u64,
    /// Start of the time axis, us since 1970; `None` if unknown.
    pub init_us: Option<u64>,
    /// Zero of the data direction's log on the time axis, ns. Times minus this value are the logged times.
    pub zero_ns: u64,
    /// Oddities of the logs.
    pub oddities: Vec<Oddity>,
}

/// Reads one direction of a run and passes its records to `sink`, in time order.
///
/// Before an error, records may already have been passed. The caller must not complete its file then. An error of
/// `sink` ends the import.
pub fn import(
    log: Log,
    direction: Direction,
    sink: &mut dyn FnMut(Record) -> Result<(), Error>,
) -> Result<Imported, Error> {
    match log {
        // The most common and largest case has no virtual call per line.
        Log::Merged(input) => drain(MergedLog::open(input, direction)?, sink),
        other => drain(open(other, direction)?, sink),
    }
}

/// Reads both directions of a run on one time axis, which starts with the earlier log. Both logs need an init
/// timestamp. Otherwise works as [`import`].
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
