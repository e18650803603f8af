//! Import of a trace of a real QUIC stack as a packet log and samples, from the sender's view.
//!
//! A trace lacks the arrivals of packets and contains only the arrivals of their acknowledgments. These count as
//! deliveries, thus the delay of a packet is a round-trip time.

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

/// Size of a full packet until a larger packet is sent, bytes: QUIC's smallest maximum (RFC 9000 14).
const MIN_FULL_BYTES: u32 = 1200;

/// Maximum kinds of problems that notes list.
const MAX_PROBLEMS: usize = 8;

/// Bits of a packet number in the sequence numbers of a log. The number of the path is above these bits.
const NUMBER_BITS: u32 = 48;
const MAX_PATHS: usize = 1 << 15;

/// Steps of work per event, mostly for reading JSON.
const STEPS_PER_EVENT: u64 = 16;

/// Counts and notes of an imported trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedTrace {
    /// Number of events of any kind.
    pub events: u64,
    /// Number of ack-eliciting packets sent in the application's packet number space.
    pub sent: u64,
    /// Number of acknowledged packets.
    pub acked: u64,
    /// Number of packets declared lost.
    pub lost: u64,
    /// Number of packets sent in other packet number spaces. They are left out, since numbers would not be unique.
    pub other_spaces: u64,
    /// Number of packets sent of an unknown type, which are also left out.
    pub unknown: u64,
    /// Number of ACK frames, and of lists of acknowledged packets, in the application's space or an unknown one.
    pub ack_frames: u64,
    /// Bytes of all packets sent in the application's space, as far as the trace has sizes.
    pub sent_bytes: u64,
    /// Bytes of all packets received in the application's space, as far as the trace has sizes.
    pub received_bytes: u64,
    /// End that wrote the trace: `client`, `server` or `network`; `None` if unknown.
    pub vantage_point: Option<String>,
    /// Number of reports of the sender's state.
    pub metrics: u64,
    /// Time of the first event by the trace's clock, ns.
    pub first_ns: u64,
    /// Time from the first event to the last, ns.
    pub last_ns: u64,
    /// Notes for readers of the numbers: damage and left-out parts.
    pub notes: Vec<String>,
}

/// Packet that is not acknowledged yet.
struct Outstanding {
    sent_ns: u64,
    size_bytes: u32,
    data_bytes: u32,
}

struct Import {
    packets: PacketLogWriter,
    samples: SampleWriter,
    /// Unacknowledged packets by the log's sequence number.
    outstanding: BTreeMap<u64, Outstanding>,
    /// Paths with sent packets, in order of their first packet. A path with its own acknowledgments also has its own
    /// packet numbers.
    paths: Vec<u64>,
    has_path_acks: bool,
    /// Milliseconds per unit of time in the trace.
    ms: f64,
    full_bytes: u32,
    totals: ImportedTrace,
}

/// Imports the traces of a qlog file, each into its own directory (`1`, `2`, ...) below `directory`.
///
/// Writes `packets.parquet` and `flows.parquet`. Returns the title and totals of each trace.
///
/// Damaged events are left out, as are unusable traces if another trace is usable. Notes list them; the notes of the
/// file are with its first trace.
///
/// # Errors
///
/// Returns an error if the file is no qlog, no trace has an application packet, a file cannot be written, or the work
/// is interrupted.
pub fn import_file(
    file: &Path,
    directory: &Path,
    interrupts: &Interrupts,
) -> Result<Vec<(String, ImportedTrace)>, Error> {
    let RawFile { traces, mut notes } = open_traces(file)?;
    let mut imports: Vec<(String, ImportedTrace)> = Vec::new();
    let mut first_error = None;
    for trace in traces {
        let folder = directory.join((imports.len() + 1).to_string());
        std::fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, "create", error))?;
        let (title, number) = (trace.title.clone(), trace.number);
        match import_trace(trace, &folder, interrupts.clone()) {
            Ok(totals) => imports.push((title, totals)),
            Err(Error::Log { log, line, problem }) => {
                notes.push(format!("trace {number} is left out: {problem}"));
                first_error.get_or_insert(Error::Log { log, line, problem });
            }
            Err(error) => return Err(error),
        }
    }
    match (imports.first_mut(), first_error) {
        (Some((_, first)), _) => first.notes.extend(notes),
        (None, Some(error)) => return Err(error),
        (None, None) => {}
    }
    Ok(imports)
}

/// Writes a trace to `packets.parquet` and `flows.parquet` in a directory.
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
        full_bytes: MIN_FULL_BYTES,
        totals: ImportedTrace { vantage_point: vantage_point(&trace.info), ..ImportedTrace::default() },
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
    if import.totals.sent == 0 {
        let unknown = match import.totals.unknown {
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
    Ok(ImportedTrace { first_ns: dialect.first_ns(), notes, ..import.totals })
}

/// Left-out events: the number and first place of each problem.
#[derive(Default)]
struct Damage {
    problems: BTreeMap<String, (u64, String)>,
    others: u64,
    /// True if a left-out event had a time that counts from the event before.
    has_lost_times: bool,
}

impl Damage {
    fn add(&mut self, problem: &str, place: impl FnOnce() -> String) {
        if let Some((count, _)) = self.problems.get_mut(problem) {
            *count += 1;
        } else if self.problems.len() < MAX_PROBLEMS {
            self.problems.insert(problem.to_owned(), (1, place()));
        } else {
            self.others += 1;
        }
    }

    fn notes(self) -> Vec<String> {
        let listed = self.problems.into_iter().map(|(problem, (count, place))| match count {
            1 => format!("1 event is left out, in {place}: {problem}"),
            _ => format!("{count} events are left out, the first in {place}: {problem}"),
        });
        let others =
            (self.others > 0).then(|| format!("{} events are left out for other reasons", self.others));
        let times = "later times are too early by what the left-out events would have added to them";
        listed.chain(others).chain(self.has_lost_times.then(|| times.to_owned())).collect()
    }
}

/// Description of an event's problem.
type Problem = &'static str;

impl Import {
    fn event(&mut self, event: &Event<'_>) -> Result<Result<(), Problem>, Error> {
        self.totals.events += 1;
        self.totals.last_ns = event.time_ns;
        match &*event.name {
            "packet_sent" => self.packet_sent(event),
            "packet_received" => self.packet_received(event),
            "packets_acked" => self.packets_acked(event),
            "packet_lost" => self.packet_lost(event),
            // The second and third name are mvfst's, the last one is from the newest drafts.
            "metrics_updated" | "metric_update" | "congestion_metric_update" | "recovery_metrics_updated" => {
                self.metrics(event).map(Ok)
            }
            "congestion_state_updated" => self.state(event).map(Ok),
            _ => Ok(Ok(())),
        }
    }

    fn packet_sent(&mut self, event: &Event<'_>) -> Result<Result<(), Problem>, Error> {
        let data = event.data;
        match space(data) {
            Space::Application => {}
            Space::Unknown => {
                self.totals.unknown += 1;
                return Ok(Ok(()));
            }
            Space::Other => {
                self.totals.other_spaces += 1;
                return Ok(Ok(()));
            }
        }
        self.totals.sent_bytes += size_on_path(data).map_or(0, u64::from);
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
        let index = self.paths.iter().position(|&other| other == path).unwrap_or(self.paths.len());
        let has_several = index > 0 || self.paths.len() > 1;
        if index >= MAX_PATHS || (has_several && number >> NUMBER_BITS > 0) {
            return Ok(Err("packet_sent has too many paths, or too large a number on one of them"));
        }
        if index == self.paths.len() {
            self.paths.push(path);
        }
        self.totals.sent += 1;
        let seq = seq(index, number);
        let sent = Outstanding { sent_ns: event.time_ns, size_bytes, data_bytes };
        let record = record(event, record::Event::Send, seq, &sent, 0);
        self.outstanding.insert(seq, sent);
        self.packets.write(&record).map(Ok)
    }

    fn packet_received(&mut self, event: &Event<'_>) -> Result<Result<(), Problem>, Error> {
        let data = event.data;
        let frames = data.get("frames").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut acks = frames.iter().filter(|frame| is_ack(&frame_type(frame))).peekable();
        let space = space(data);
        if space == Space::Application {
            self.totals.received_bytes += size_on_path(data).map_or(0, u64::from);
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
            // An ACK of another space would acknowledge numbers that this space has not used yet.
            let largest = ranges.iter().map(|&(_, last)| last).max();
            if space == Space::Unknown
                && !largest.is_some_and(|largest| {
                    paths.iter().any(|&index| self.outstanding.contains_key(&seq(index, largest)))
                })
            {
                continue;
            }
            self.totals.ack_frames += 1;
            for (first, last) in ranges {
                self.acknowledge(event, &paths, first, last)?;
            }
        }
        Ok(Ok(()))
    }

    /// Returns the paths of an acknowledgment by their position in the list: its own path, otherwise the first one.
    ///
    /// As long as no path has its own acknowledgments, all paths share their packet numbers.
    fn acknowledged_paths(&self, path: Option<u64>) -> Vec<usize> {
        match path {
            None if !self.has_path_acks => (0..self.paths.len()).collect(),
            _ => {
                let path = path.unwrap_or(0);
                self.paths.iter().position(|&other| other == path).into_iter().collect()
            }
        }
    }

    /// Adds lists of acknowledged packets.
    ///
    /// Stacks write these if they log no frames, or if they log the arrival of an ACK and its effect separately.
    fn packets_acked(&mut self, event: &Event<'_>) -> Result<Result<(), Problem>, Error> {
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
        self.totals.ack_frames += 1;
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
                self.totals.acked += 1;
                self.packets.write(&record(event, record::Event::Acked, seq, &sent, 0))?;
                let delivered = record(event, record::Event::Deliver, seq, &sent, rtt_ns);
                self.packets.write(&delivered)?;
            }
        }
        Ok(())
    }

    fn packet_lost(&mut self, event: &Event<'_>) -> Result<Result<(), Problem>, Error> {
        if space(event.data) == Space::Other {
            return Ok(Ok(()));
        }
        let Some(number) = packet_number(event.data) else {
            return Ok(Err("packet_lost has no packet number: more may be lost than is told"));
        };
        let paths = self.acknowledged_paths(path_in(event.data).or(event.path));
        let mut seqs = paths.into_iter().map(|index| seq(index, number));
        // The packet stays outstanding, since its acknowledgment may still come.
        let outstanding = seqs.find_map(|seq| Some((seq, self.outstanding.get(&seq)?)));
        let Some((seq, sent)) = outstanding else { return Ok(Ok(())) };
        let record = record(event, record::Event::Lost, seq, sent, 0);
        self.totals.lost += 1;
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
        self.totals.metrics += 1;
        for (keys, field, unit, factor) in fields {
            // Some stacks write an infinite threshold as the largest integer.
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

/// Returns a row of the log about `packet`.
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

/// Packet number space (RFC 9000 12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Application,
    /// Handshake spaces, and packets without numbers.
    Other,
    /// Unknown space: some stacks of draft-00 call protected packets `unknown`.
    Unknown,
}

/// Returns the packet number space of a packet; the application's space by default.
fn space(data: &Value) -> Space {
    const APPLICATION: [&str; 4] = ["1rtt", "0rtt", "onertt", "zerortt"];
    let kind = find(data, &["header.packet_type", "packet_type", "type"]).and_then(Value::as_str);
    match kind {
        None => Space::Application,
        Some(kind) if APPLICATION.iter().any(|name| kind.eq_ignore_ascii_case(name)) => Space::Application,
        Some(kind) if kind.is_empty() || kind.eq_ignore_ascii_case("unknown") => Space::Unknown,
        Some(_) => Space::Other,
    }
}

/// Returns the size of a packet on the path, bytes, or `None` if the trace lacks it.
fn size_on_path(data: &Value) -> Option<u32> {
    length(data, &["raw.length", "header.packet_size", "packet_size", "header.length", "length"])
}

fn length(data: &Value, keys: &[&str]) -> Option<u32> {
    find(data, keys).and_then(count).and_then(|bytes| u32::try_from(bytes).ok())
}

/// Returns the vantage point. Draft-00 has an object or a string.
fn vantage_point(info: &serde_json::Map<String, Value>) -> Option<String> {
    let point = info.get("vantage_point")?;
    point.as_str().or_else(|| find(point, &["type"])?.as_str()).map(str::to_ascii_lowercase)
}

fn packet_number(data: &Value) -> Option<u64> {
    find(data, &["header.packet_number", "packet_number"]).and_then(count)
}

/// Returns the path of a packet or an acknowledgment; 0 is the first path of a connection.
fn path_in(data: &Value) -> Option<u64> {
    find(data, &["path_id", "header.path_id", "path_identifier"]).and_then(count)
}

fn path_of(event: &Event<'_>) -> u64 {
    path_in(event.data).or(event.path).unwrap_or(0)
}

/// Returns a packet's number in the log, which is unique over all paths.
fn seq(path_index: usize, number: u64) -> u64 {
    ((path_index as u64) << NUMBER_BITS).wrapping_add(number)
}

/// Returns true for the ACK frame of RFC 9000 and the path's ACK frames in the drafts of multipath QUIC.
fn is_ack(frame_type: &str) -> bool {
    matches!(frame_type, "ack" | "path_ack" | "ack_mp" | "mp_ack")
}

fn frame_type(frame: &Value) -> String {
    frame.get("frame_type").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase()
}

/// Returns true if the frame asks for an acknowledgment: all frames except these (RFC 9002 2).
fn is_ack_eliciting(frame: &Value) -> bool {
    let kind = frame_type(frame);
    !is_ack(&kind) && !matches!(&*kind, "padding" | "connection_close")
}

/// Returns the bytes of application data in a frame.
fn stream_bytes(frame: &Value) -> u32 {
    if !matches!(&*frame_type(frame), "stream" | "datagram") {
        return 0;
    }
    let length = find(frame, &["length", "raw.payload_length", "payload_length", "raw.length"]);
    length.and_then(count).and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(0)
}

/// Returns the first and last packet number of a range. A single number is a range of one.
fn bounds(range: &Value) -> Option<(u64, u64)> {
    let numbers = match range {
        Value::Array(numbers) => numbers.as_slice(),
        single => std::slice::from_ref(single),
    };
    let first = numbers.first().and_then(count)?;
    let last = numbers.get(1).map_or(Some(first), count)?;
    (first <= last && numbers.len() <= 2).then_some((first, last))
}
