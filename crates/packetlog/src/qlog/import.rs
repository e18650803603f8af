//! A trace of a real QUIC stack as a packet log and samples: the sender's view.
//!
//! The trace does not know when a packet arrived, only when its acknowledgement did: that counts as its delivery, and its
//! delay is a round-trip time.

use super::event::{Dialect, Event, count, find, number};
use super::text::{RawFile, RawTrace, open_traces};
use crate::{Error, Interrupts, PacketLogWriter, SampleTable, SampleWriter};
use record::Record;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Number of the flow in the log.
const FLOW: u32 = 1;

/// Size of a full packet before a larger one was sent: QUIC's smallest maximum (RFC 9000 14).
const LEAST_FULL_BYTES: u32 = 1200;

/// Most kinds of problems of events that notes tell.
const MOST_PROBLEMS: usize = 8;

/// In the sequence numbers of a log, the bits of a packet number; the number of its path stands above them.
const NUMBER_BITS: u32 = 48;
const MOST_PATHS: usize = 1 << 15;

/// Steps of work of an event: most of it is to read JSON.
const STEPS_PER_EVENT: u64 = 16;

/// What a trace held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedTrace {
    /// Events of any kind.
    pub events: u64,
    /// Packets sent that are to be acknowledged, of the application's packet number space.
    pub sent: u64,
    /// Those that were acknowledged.
    pub acked: u64,
    /// Those that were declared lost.
    pub lost: u64,
    /// Packets sent of the other packet number spaces, which are left out: numbers would not be unique.
    pub other_spaces: u64,
    /// Packets sent of a type that is not known, which are left out likewise.
    pub unknown: u64,
    /// ACK frames, and lists of acknowledged packets, of the application's space or of an unknown one.
    pub ack_frames: u64,
    /// Bytes of all packets of the application's space that were sent, where the trace tells sizes.
    pub sent_bytes: u64,
    /// The same of those received.
    pub received_bytes: u64,
    /// Which end wrote the trace, if it says so: `client`, `server` or `network`.
    pub vantage_point: Option<String>,
    /// Reports of the sender's state.
    pub metrics: u64,
    /// When the first event was, by the clock of the trace, ns.
    pub first_ns: u64,
    /// Time from the first event to the last, ns.
    pub last_ns: u64,
    /// What a reader of its numbers has to know: damage, and what is left out.
    pub notes: Vec<String>,
}

/// A packet that is not acknowledged yet.
struct Outstanding {
    sent_ns: u64,
    size_bytes: u32,
    data_bytes: u32,
}

struct Import {
    packets: PacketLogWriter,
    samples: SampleWriter,
    /// By the sequence number of the log.
    outstanding: BTreeMap<u64, Outstanding>,
    /// The paths that packets were sent on, in order of their first packet. Each has packet numbers of its own if it has
    /// acknowledgements of its own.
    paths: Vec<u64>,
    has_path_acks: bool,
    /// Milliseconds per unit of time in the trace.
    ms: f64,
    full_bytes: u32,
    found: ImportedTrace,
}

/// Imports the traces of a qlog file, each into a directory of its own (`1`, `2`, ...) below `directory`: `packets.parquet`
/// and `flows.parquet`. Returns the title of each and what it held. Events that are damaged, and traces that cannot be used
/// beside others that can, are left out, which notes tell; those of the file stand with its first trace.
///
/// # Errors
/// A file that is no qlog, or has no trace with a packet of the application; a file that cannot be written; the work is to
/// end.
pub fn import_file(
    file: &Path,
    directory: &Path,
    interrupts: &Interrupts,
) -> Result<Vec<(String, ImportedTrace)>, Error> {
    let RawFile { traces, mut notes } = open_traces(file)?;
    let mut found: Vec<(String, ImportedTrace)> = Vec::new();
    let mut refused = None;
    for trace in traces {
        let folder = directory.join((found.len() + 1).to_string());
        std::fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, "create", error))?;
        let (title, number) = (trace.title.clone(), trace.number);
        match import_trace(trace, &folder, interrupts.clone()) {
            Ok(held) => found.push((title, held)),
            Err(Error::Log { log, line, problem }) => {
                notes.push(format!("trace {number} is left out: {problem}"));
                refused.get_or_insert(Error::Log { log, line, problem });
            }
            Err(error) => return Err(error),
        }
    }
    match (found.first_mut(), refused) {
        (Some((_, first)), _) => first.notes.extend(notes),
        (None, Some(error)) => return Err(error),
        (None, None) => {}
    }
    Ok(found)
}

/// Writes a trace to `packets.parquet` and `flows.parquet` in a folder.
fn import_trace(
    mut trace: RawTrace,
    folder: &Path,
    mut interrupts: Interrupts,
) -> Result<ImportedTrace, Error> {
    let mut dialect = Dialect::of(&trace.info).map_err(|problem| Error::log(&trace.log, problem))?;
    let mut import = Import {
        packets: PacketLogWriter::create(folder.join("packets.parquet"))?,
        samples: SampleWriter::create(folder.join("flows.parquet"), SampleTable::Flows)?,
        outstanding: BTreeMap::new(),
        paths: Vec::new(),
        has_path_acks: false,
        ms: dialect.ms,
        full_bytes: LEAST_FULL_BYTES,
        found: ImportedTrace { vantage_point: vantage_point(&trace.info), ..ImportedTrace::default() },
    };
    let mut damage = Damage::default();
    while let Some(raw) = trace.next_event()? {
        interrupts.after(STEPS_PER_EVENT)?;
        let problem: Option<Cow<'static, str>> = match &raw.value {
            Err(problem) => {
                damage.has_lost_times |= dialect.is_delta;
                Some(problem.to_string().into())
            }
            Ok(value) => match dialect.read(value) {
                Ok(Some(event)) => import.event(&event)?.err().map(Cow::from),
                Ok(None) => None,
                Err(problem) => {
                    damage.has_lost_times |= dialect.is_delta;
                    Some(problem.into())
                }
            },
        };
        if let Some(problem) = problem {
            damage.add(&problem, || trace.place(&raw));
        }
    }
    let mut notes = std::mem::take(&mut trace.notes);
    notes.extend(damage.notes());
    if import.found.sent == 0 {
        let unknown = match import.found.unknown {
            0 => String::new(),
            count => format!(" ({count} are of an unknown type)"),
        };
        let damage = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        let problem =
            format!("no packet of the application was sent in it{unknown}{damage}: nothing to import");
        return Err(Error::log(&trace.log, problem));
    }
    if import.has_path_acks {
        notes.push(format!("{} paths were used: all are one flow here", import.paths.len()));
    }
    import.packets.finish()?;
    import.samples.finish()?;
    Ok(ImportedTrace { first_ns: dialect.first_ns(), notes, ..import.found })
}

/// Events that are left out: how many have each problem, and where the first of them is.
#[derive(Default)]
struct Damage {
    problems: BTreeMap<String, (u64, String)>,
    others: u64,
    /// A time that counts from the event before is among what is left out.
    has_lost_times: bool,
}

impl Damage {
    fn add(&mut self, problem: &str, place: impl FnOnce() -> String) {
        if let Some((count, _)) = self.problems.get_mut(problem) {
            *count += 1;
        } else if self.problems.len() < MOST_PROBLEMS {
            self.problems.insert(problem.to_owned(), (1, place()));
        } else {
            self.others += 1;
        }
    }

    fn notes(self) -> Vec<String> {
        let told = self.problems.into_iter().map(|(problem, (count, place))| match count {
            1 => format!("1 event is left out, in {place}: {problem}"),
            _ => format!("{count} events are left out, the first in {place}: {problem}"),
        });
        let others =
            (self.others > 0).then(|| format!("{} events are left out for other reasons", self.others));
        let times = "later times are too early by what the left-out events would have added to them";
        told.chain(others).chain(self.has_lost_times.then(|| times.to_owned())).collect()
    }
}

/// What is wrong with an event.
type Problem = &'static str;

impl Import {
    fn event(&mut self, event: &Event<'_>) -> Result<Result<(), Problem>, Error> {
        self.found.events += 1;
        self.found.last_ns = event.time_ns;
        match &*event.name {
            "packet_sent" => self.sent(event),
            "packet_received" => self.received(event),
            "packets_acked" => self.acknowledged(event),
            "packet_lost" => self.lost(event),
            // mvfst's names, and those of the newest drafts.
            "metrics_updated" | "metric_update" | "congestion_metric_update" | "recovery_metrics_updated" => {
                self.metrics(event).map(Ok)
            }
            "congestion_state_updated" => self.state(event).map(Ok),
            _ => Ok(Ok(())),
        }
    }

    fn sent(&mut self, event: &Event<'_>) -> Result<Result<(), Problem>, Error> {
        let data = event.data;
        match space(data) {
            Space::Application => {}
            Space::Unknown => {
                self.found.unknown += 1;
                return Ok(Ok(()));
            }
            Space::Other => {
                self.found.other_spaces += 1;
                return Ok(Ok(()));
            }
        }
        self.found.sent_bytes += size_on_path(data).map_or(0, u64::from);
        let frames = data.get("frames").and_then(Value::as_array);
        if frames.is_some_and(|frames| !frames.is_empty() && !frames.iter().any(is_ack_eliciting)) {
            return Ok(Ok(()));
        }
        let Some(number) = packet_number(data) else {
            return Ok(Err("packet_sent has no packet number"));
        };
        let carried = frames.map(|frames| frames.iter().map(stream_bytes).fold(0, u32::saturating_add));
        let data_bytes = carried.or_else(|| length(data, &["raw.payload_length"])).unwrap_or(0);
        let size_bytes = size_on_path(data).unwrap_or(data_bytes);
        self.full_bytes = self.full_bytes.max(size_bytes);
        let path = path_of(event);
        let index = self.paths.iter().position(|&known| known == path).unwrap_or(self.paths.len());
        let has_several = index > 0 || self.paths.len() > 1;
        if index >= MOST_PATHS || (has_several && number >> NUMBER_BITS > 0) {
            return Ok(Err("packet_sent has too many paths, or too large a number on one of them"));
        }
        if index == self.paths.len() {
            self.paths.push(path);
        }
        self.found.sent += 1;
        let seq = seq(index, number);
        let sent = Outstanding { sent_ns: event.time_ns, size_bytes, data_bytes };
        let record = record(event, record::Event::Send, seq, &sent, 0);
        self.outstanding.insert(seq, sent);
        self.packets.write(&record).map(Ok)
    }

    fn received(&mut self, event: &Event<'_>) -> Result<Result<(), Problem>, Error> {
        let data = event.data;
        let frames = data.get("frames").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut acks = frames.iter().filter(|frame| is_ack(&frame_type(frame))).peekable();
        let space = space(data);
        if space == Space::Application {
            self.found.received_bytes += size_on_path(data).map_or(0, u64::from);
        }
        if space == Space::Other || acks.peek().is_none() {
            return Ok(Ok(()));
        }
        let none = Outstanding { sent_ns: event.time_ns, size_bytes: 0, data_bytes: 0 };
        let number = packet_number(data).unwrap_or(0);
        let ack = record(event, record::Event::AckDeliver, number, &none, 0);
        self.packets.write(&ack)?;
        for frame in acks {
            let Some(ranges) = find(frame, &["acked_ranges"]).and_then(Value::as_array) else { continue };
            let Some(ranges) = ranges.iter().map(bounds).collect::<Option<Vec<_>>>() else {
                return Ok(Err("acked_ranges must be a list of [first, last]"));
            };
            let is_path_ack = frame_type(frame) != "ack";
            self.has_path_acks |= is_path_ack;
            let paths = self.acknowledged_paths(is_path_ack.then(|| path_in(frame).unwrap_or(0)));
            // An ACK of another space would acknowledge numbers that this one has not used yet.
            let largest = ranges.iter().map(|&(_, last)| last).max();
            if space == Space::Unknown
                && !largest.is_some_and(|largest| {
                    paths.iter().any(|&index| self.outstanding.contains_key(&seq(index, largest)))
                })
            {
                continue;
            }
            self.found.ack_frames += 1;
            for (first, last) in ranges {
                self.acknowledge(event, &paths, first, last)?;
            }
        }
        Ok(Ok(()))
    }

    /// The paths that an acknowledgement is of, by their place in the list: that of a path of its own, else the first one.
    /// As long as no path has acknowledgements of its own, all paths share their packet numbers.
    fn acknowledged_paths(&self, path: Option<u64>) -> Vec<usize> {
        match path {
            None if !self.has_path_acks => (0..self.paths.len()).collect(),
            _ => {
                let path = path.unwrap_or(0);
                self.paths.iter().position(|&known| known == path).into_iter().collect()
            }
        }
    }

    /// What stacks write that log no frames, or logs in which an ACK's arrival and its effect are apart.
    fn acknowledged(&mut self, event: &Event<'_>) -> Result<Result<(), Problem>, Error> {
        let space = event.data.get("packet_number_space").and_then(Value::as_str);
        if space.is_some_and(|space| !space.eq_ignore_ascii_case("application_data")) {
            return Ok(Ok(()));
        }
        let Some(numbers) = event.data.get("packet_numbers") else { return Ok(Ok(())) };
        let numbers: Option<Vec<u64>> =
            numbers.as_array().and_then(|numbers| numbers.iter().map(count).collect());
        let Some(numbers) = numbers else {
            return Ok(Err("packet_numbers must be a list of packet numbers"));
        };
        self.found.ack_frames += 1;
        let paths = self.acknowledged_paths(path_in(event.data));
        for number in numbers {
            self.acknowledge(event, &paths, number, number)?;
        }
        Ok(Ok(()))
    }

    fn acknowledge(
        &mut self,
        event: &Event<'_>,
        paths: &[usize],
        first: u64,
        last: u64,
    ) -> Result<(), Error> {
        for &index in paths {
            let last =
                if index > 0 || self.paths.len() > 1 { last.min((1 << NUMBER_BITS) - 1) } else { last };
            if first > last {
                continue;
            }
            let (first, last) = (seq(index, first), seq(index, last));
            while let Some((&seq, _)) = self.outstanding.range(first..=last).next() {
                let Some(sent) = self.outstanding.remove(&seq) else { break };
                let rtt_ns = event.time_ns.saturating_sub(sent.sent_ns);
                self.found.acked += 1;
                self.packets.write(&record(event, record::Event::Acked, seq, &sent, 0))?;
                let delivered = record(event, record::Event::Deliver, seq, &sent, rtt_ns);
                self.packets.write(&delivered)?;
            }
        }
        Ok(())
    }

    fn lost(&mut self, event: &Event<'_>) -> Result<Result<(), Problem>, Error> {
        if space(event.data) == Space::Other {
            return Ok(Ok(()));
        }
        let Some(number) = packet_number(event.data) else {
            return Ok(Err("packet_lost has no packet number: more may be lost than is told"));
        };
        let paths = self.acknowledged_paths(path_in(event.data).or(event.path));
        let mut seqs = paths.into_iter().map(|index| seq(index, number));
        // It stays outstanding: its acknowledgement may still come.
        let found = seqs.find_map(|seq| Some((seq, self.outstanding.get(&seq)?)));
        let Some((seq, sent)) = found else { return Ok(Ok(())) };
        let record = record(event, record::Event::Lost, seq, sent, 0);
        self.found.lost += 1;
        self.packets.write(&record).map(Ok)
    }

    fn metrics(&mut self, event: &Event<'_>) -> Result<(), Error> {
        let full = f64::from(self.full_bytes);
        let fields: [(&[&str], &str, &str, f64); 9] = [
            (&["congestion_window", "cwnd", "current_cwnd"], "window", "bytes", 1.0),
            (&["congestion_window", "cwnd", "current_cwnd"], "cwnd", "packets", 1.0 / full),
            (&["ssthresh"], "ssthresh", "packets", 1.0 / full),
            (&["bytes_in_flight"], "in_flight", "bytes", 1.0),
            (&["smoothed_rtt"], "srtt", "ms", self.ms),
            (&["latest_rtt"], "latest_rtt", "ms", self.ms),
            (&["min_rtt"], "lowest_rtt", "ms", self.ms),
            (&["rtt_variance"], "rttvar", "ms", self.ms),
            (&["pacing_rate"], "pacing", "Mbit/s", 1e-6),
        ];
        self.found.metrics += 1;
        for (keys, field, unit, factor) in fields {
            // An infinite threshold is written as the largest integer.
            let value =
                find(event.data, keys).and_then(number).filter(|value| (0.0..2f64.powi(62)).contains(value));
            if let Some(value) = value {
                self.samples.flow(event.time_ns, FLOW, field, unit, value * factor)?;
            }
        }
        Ok(())
    }

    fn state(&mut self, event: &Event<'_>) -> Result<(), Error> {
        let Some(new) = event.data.get("new").and_then(Value::as_str) else { return Ok(()) };
        let name: String =
            new.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
        for (field, unit, is) in [
            ("recovery", "0 no, 1 yes", name == "recovery"),
            ("slow_start", "0 no, 1 yes", name == "slowstart"),
        ] {
            self.samples.flow(event.time_ns, FLOW, field, unit, f64::from(u8::from(is)))?;
        }
        Ok(())
    }
}

/// A row of the log about `packet`.
fn record(event: &Event<'_>, kind: record::Event, seq: u64, packet: &Outstanding, delay_ns: u64) -> Record {
    let on_path = !matches!(kind, record::Event::Acked | record::Event::Lost | record::Event::Restored);
    Record {
        time_ns: event.time_ns,
        flow: FLOW,
        event: kind,
        seq,
        size_bytes: if on_path { packet.size_bytes } else { 0 },
        data_bytes: packet.data_bytes,
        one_way_delay_ns: delay_ns as i64,
    }
}

/// A packet number space (RFC 9000 12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Application,
    /// Those of the handshake, and packets without numbers.
    Other,
    /// Some stacks of draft-00 call packets `unknown` before they have taken off their protection.
    Unknown,
}

/// The packet number space of a packet; the application's if the trace does not say.
fn space(data: &Value) -> Space {
    const APPLICATION: [&str; 4] = ["1rtt", "0rtt", "onertt", "zerortt"];
    let kind = find(data, &["header.packet_type", "packet_type", "type"]).and_then(Value::as_str);
    match kind {
        None => Space::Application,
        Some(kind) if APPLICATION.iter().any(|known| kind.eq_ignore_ascii_case(known)) => Space::Application,
        Some(kind) if kind.is_empty() || kind.eq_ignore_ascii_case("unknown") => Space::Unknown,
        Some(_) => Space::Other,
    }
}

/// Bytes of a packet on the path, where the trace tells them.
fn size_on_path(data: &Value) -> Option<u32> {
    length(data, &["raw.length", "header.packet_size", "packet_size", "header.length", "length"])
}

fn length(data: &Value, keys: &[&str]) -> Option<u32> {
    find(data, keys).and_then(count).and_then(|bytes| u32::try_from(bytes).ok())
}

/// Draft-00 has it as an object or as a text.
fn vantage_point(info: &serde_json::Map<String, Value>) -> Option<String> {
    let point = info.get("vantage_point")?;
    point.as_str().or_else(|| find(point, &["type"])?.as_str()).map(str::to_ascii_lowercase)
}

fn packet_number(data: &Value) -> Option<u64> {
    find(data, &["header.packet_number", "packet_number"]).and_then(count)
}

/// The path that a packet was sent on or an acknowledgement is of; 0 is the first of a connection.
fn path_in(data: &Value) -> Option<u64> {
    find(data, &["path_id", "header.path_id", "path_identifier"]).and_then(count)
}

fn path_of(event: &Event<'_>) -> u64 {
    path_in(event.data).or(event.path).unwrap_or(0)
}

/// Number of a packet in the log, unlike those of all other paths.
fn seq(path_index: usize, number: u64) -> u64 {
    ((path_index as u64) << NUMBER_BITS).wrapping_add(number)
}

/// The frame of RFC 9000, and those of a path in the drafts of multipath QUIC.
fn is_ack(frame_type: &str) -> bool {
    matches!(frame_type, "ack" | "path_ack" | "ack_mp" | "mp_ack")
}

fn frame_type(frame: &Value) -> String {
    frame.get("frame_type").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase()
}

/// RFC 9002 2: all frames but these ask for an acknowledgement.
fn is_ack_eliciting(frame: &Value) -> bool {
    let kind = frame_type(frame);
    !is_ack(&kind) && !matches!(&*kind, "padding" | "connection_close")
}

/// Bytes of application data in a frame.
fn stream_bytes(frame: &Value) -> u32 {
    if !matches!(&*frame_type(frame), "stream" | "datagram") {
        return 0;
    }
    let length = find(frame, &["length", "raw.payload_length", "payload_length", "raw.length"]);
    length.and_then(count).and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(0)
}

/// First and last packet number of a range; one number stands for itself.
fn bounds(range: &Value) -> Option<(u64, u64)> {
    let numbers = match range {
        Value::Array(numbers) => numbers.as_slice(),
        single => std::slice::from_ref(single),
    };
    let first = numbers.first().and_then(count)?;
    let last = numbers.get(1).map_or(Some(first), count)?;
    (first <= last && numbers.len() <= 2).then_some((first, last))
}
