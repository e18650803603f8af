//! Logs of Pantheon and mahimahi: importers that stream, and exporters.
//!
//! Import maps `+` to [`Event::Send`], `-` to [`Event::Deliver`] and `#` to [`Event::Opportunity`] (in the ACK
//! direction to their `Ack` counterparts). Times keep their microseconds exactly: `time_ns` is the logged time
//! times 1000. Flow numbers are 0 in untagged logs; packet numbers are the tunnel's uids in raw logs and 0 elsewhere;
//! `data_bytes` is 0, because no such log tells it. Records come in the order of the lines, which is that of time unless a
//! clock stepped back, and the first record of a direction has the time of the log's first event, from which Pantheon
//! counts its bins.
//!
//! A log is read strictly (only what Pantheon writes) or leniently: then what Pantheon's analysis takes too is taken, and
//! told as an [`Oddity`].

mod ending;
mod export;
mod lines;
mod loose;
mod merge;
mod merged;
mod mm_link;
mod oddities;
mod raw;

pub use export::{MergedExport, MmLinkExport};
pub use oddities::Oddity;

use crate::{Error, Interrupts, STEP_BACK_NS, compressed};
use lines::{Fields, Lines};
use merge::{Merge, Role};
use merged::MergedLog;
use mm_link::{MmLinkLog, Take};
use oddities::Kind;
use raw::RawMerge;
use record::{Event, Record};
use std::io::Read;
use std::path::Path;

/// Longest log, ns: what is drawn and summed over its time needs memory for all of it.
const LONGEST_NS: u64 = 1_000_000 * 1_000_000_000;
const TOO_FAR: &str = "starts more than 1000000 s before or after the log that it belongs to";

const TIMESTAMP: &str = "expected a time in ms (whole or up to 3 decimals) after the last ':'";

/// The direction that a log is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Data packets ("datalink" logs).
    Data,
    /// The return direction ("acklink" logs).
    Ack,
}

impl Direction {
    #[inline]
    fn pick(self, data: Event, ack: Event) -> Event {
        match self {
            Self::Data => data,
            Self::Ack => ack,
        }
    }

    fn send(self) -> Event {
        self.pick(Event::Send, Event::AckSend)
    }

    fn deliver(self) -> Event {
        self.pick(Event::Deliver, Event::AckDeliver)
    }

    fn drop(self) -> Event {
        self.pick(Event::Drop, Event::AckDrop)
    }

    fn opportunity(self) -> Event {
        self.pick(Event::Opportunity, Event::AckOpportunity)
    }
}

/// A text log to read: its name for messages, and its bytes.
pub struct Input {
    name: String,
    reader: Box<dyn Read + Send>,
    strict: bool,
    interrupts: Interrupts,
}

impl Input {
    /// A log in a file, which may be compressed with gzip, bzip2, xz or Zstandard; read strictly. One that becomes more
    /// than 200 times as long, and more than 256 MiB, or more than 8 GiB, is refused as it is read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Ok(Self::of(path.display().to_string(), compressed::open(path)?))
    }

    /// A log from anywhere. It is read in large blocks, so it needs no buffer of its own.
    pub fn new(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self::of(name.into(), Box::new(reader))
    }

    fn of(name: String, reader: Box<dyn Read + Send>) -> Self {
        Self { name, reader, strict: true, interrupts: Interrupts::none() }
    }

    /// The same, read leniently.
    pub fn leniently(self) -> Self {
        Self { strict: false, ..self }
    }

    /// The same; reading it ends when somebody wants that.
    pub fn until(self, interrupts: &Interrupts) -> Self {
        Self { interrupts: interrupts.clone(), ..self }
    }

    /// Its first bytes, at most `most`.
    pub fn head(self, most: u64) -> Result<Vec<u8>, Error> {
        let path = Path::new(&self.name);
        let mut bytes = Vec::new();
        self.reader.take(most).read_to_end(&mut bytes).map_err(|e| Error::io(path, "read", e))?;
        Ok(bytes)
    }

    /// All of it; refused if that is more than `most` bytes.
    pub fn bytes(self, most: u64) -> Result<Vec<u8>, Error> {
        let path = Path::new(&self.name);
        let mut bytes = Vec::new();
        self.reader.take(most + 1).read_to_end(&mut bytes).map_err(|e| Error::io(path, "read", e))?;
        if bytes.len() as u64 > most {
            return Err(Error::file(path, format!("is longer than {most} bytes")));
        }
        Ok(bytes)
    }
}

/// How far the hosts' clocks were behind true time, us; added to the times of their logs, as Pantheon
/// does with what `ntpdate` says (StanfordSNR/pantheon@23e738c, `src/helpers/utils.py`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffsets {
    /// Of the host that wrote the egress log (the sender of this direction).
    pub egress_us: i64,
    /// Of the host that wrote the ingress log (the receiver).
    pub ingress_us: i64,
}

/// The raw logs of one direction of one flow.
pub struct RawPair {
    /// Packets leaving the sender into the path.
    pub egress: Input,
    /// Packets arriving at the receiver from the path.
    pub ingress: Input,
    /// Corrections of both clocks.
    pub offsets: ClockOffsets,
}

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

/// A log being read.
trait Source {
    /// For messages.
    fn name(&self) -> &str;
    /// Time of the log's zero, us since 1970.
    fn init_us(&self) -> Option<u64>;
    /// The zero of the log, or of the first of several, by the times of the records, ns.
    fn zero_ns(&self) -> u64;
    /// Lines read.
    fn line(&self) -> u64;
    /// What was unusual so far.
    fn oddities(&self) -> Vec<Oddity>;
    /// The next record, in the order of the lines.
    fn next(&mut self) -> Result<Option<Record>, Error>;
}

impl Source for Box<dyn Source> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn init_us(&self) -> Option<u64> {
        (**self).init_us()
    }

    fn zero_ns(&self) -> u64 {
        (**self).zero_ns()
    }

    fn line(&self) -> u64 {
        (**self).line()
    }

    fn oddities(&self) -> Vec<Oddity> {
        (**self).oddities()
    }

    fn next(&mut self) -> Result<Option<Record>, Error> {
        (**self).next()
    }
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

/// Reads the comment lines at the start of a merged or mm-link log; returns the init timestamp too, us since 1970.
fn read_header(mut lines: Lines) -> Result<(Lines, Option<u64>), Error> {
    let mut init_us = None;
    if !lines.next_line()? {
        return Err(lines.unusable("is empty"));
    }
    while lines.next_line()? && lines.at_comment() {
        if init_us.is_none() {
            init_us = init_timestamp(&mut lines)?;
        }
        lines.skip();
    }
    Ok((lines, init_us))
}

/// The time in a comment line `# init timestamp: TIME_MS`, us; `None` for other comments.
fn init_timestamp(lines: &mut Lines) -> Result<Option<u64>, Error> {
    const MARK: &[u8] = b"# init timestamp:";
    let Some(stamp) = lines.text().trim_ascii_start().strip_prefix(MARK) else { return Ok(None) };
    match parse_timestamp(stamp) {
        Some(us) => Ok(Some(us)),
        None if lines.is_strict() => Err(lines.malformed(TIMESTAMP)),
        None => {
            let us = loose::timestamp(stamp);
            lines.note_next(Kind::Notation);
            Ok(us)
        }
    }
}

/// Milliseconds with blanks around them, as us.
fn parse_timestamp(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let mut fields = Fields::new(text);
    let us = fields.ms_as_us()?;
    fields.all_read().then_some(us)
}
