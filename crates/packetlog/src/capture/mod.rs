//! Import of packet captures (pcap and pcapng) as packet logs: TCP, QUIC or other UDP, from one end or both ends.
//!
//! A capture of one end contains sent packets, received packets, and the times of TCP acknowledgments. An acknowledged
//! packet counts as delivered, and its delay is a round-trip time. QUIC's acknowledgments are encrypted. With captures
//! of both ends, each packet is matched with itself in the other capture. Its one-way delay then depends on two clocks.
//!
//! Captures are read twice, as streams: first to survey their contents, then to import them.

mod copies;
mod frames;
mod layers;
mod lifetimes;
mod link;
mod one_end;
mod segment;
mod survey;
mod two_ends;

pub use frames::Captured;
pub use layers::Tunnels;

use crate::{Error, Interrupts, PacketLogWriter, SampleTable, SampleWriter};
use one_end::{Arrived, LogEntry, SenderView, pieces};
use record::{Event, Record};
use segment::{Connection, Kind, Segment, plain};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use survey::{Chosen, Survey, Surveyed};
use two_ends::Matcher;

/// Maximum length of a packet on a path without offloads, bytes of IP.
const LONGEST_PACKET_BYTES: u32 = 9_000;

/// Payload of a segment if the capture lacks the connection's SYN, bytes: Ethernet's 1,500 bytes without the headers.
const USUAL_MSS: u32 = 1_460;

/// Minimum credible announced MSS, bytes, and minimum payload of a full segment. Linux treats a lower MSS as this
/// value, and sends 8 bytes of payload if options take the rest (v6.12, include/net/tcp.h, `TCP_MIN_SND_MSS`;
/// `net/ipv4/tcp_output.c`, `__tcp_mtu_to_mss`).
const LEAST_MSS: u32 = 48;
const LEAST_FULL_BYTES: u32 = 8;

/// Maximum packets per captured segment, on average. A segment of 512 KiB (BIG TCP) in packets of 536 bytes (RFC 9293
/// 3.7.1) has 979.
const MOST_PACKETS_PER_FRAME: u64 = 1024;
/// Number of packets that is always allowed.
const LEAST_PACKETS: u64 = 1 << 20;
/// Maximum number of packets: more than an hour of 10 Gbit/s.
const MOST_PACKETS: u64 = 1 << 32;

/// Maximum credible delay, ns. Larger values mean that the clocks disagree.
const LONGEST_DELAY_NS: i64 = 10_000_000_000;

/// End at which a capture was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// End that sends the data.
    Sender,
    /// End that receives the data.
    Receiver,
}

/// Method that computes delays from the timestamps of two captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clocks {
    /// `Stamps` if the timestamps are plausible, otherwise `Unknown`.
    #[default]
    Auto,
    /// Difference of the timestamps.
    Stamps,
    /// Delay above the smallest one, since the clock offset is unknown.
    Unknown,
}

/// Meaning of a log's delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delays {
    /// Time from sending to acknowledgment.
    RoundTrip,
    /// Difference of the timestamps of two captures.
    Stamps,
    /// Difference of the timestamps minus a constant.
    AboveSmallest,
    /// No delays.
    Unknown,
}

/// One connection as a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFlow {
    /// Address and port of the sender.
    pub from: String,
    /// Address and port of the receiver.
    pub to: String,
    /// Protocol: `TCP`, `QUIC` or `UDP`.
    pub protocol: &'static str,
    /// Captured payload with retransmissions, bytes.
    pub payload_bytes: u64,
    /// Minimum time from a packet to its answer, ns; at the sender this is a round trip. For TCP, an answer echoes the
    /// packet's timestamp or acknowledges the packet.
    pub turn_ns: Option<u64>,
    /// Minimum round-trip time by QUIC's spin bit, ns.
    pub spin_rtt_ns: Option<u64>,
    /// First and last packet of the connection, ns since the first packet of all flows.
    pub life_ns: (u64, u64),
    /// First and last event of a data packet, ns since the first packet of all flows; `None` without such events.
    pub data_ns: Option<(u64, u64)>,
}

/// Packet log of flows with the same role and protocol.
#[derive(Clone, Debug)]
pub struct ImportedCapture {
    /// Name of the log's directory.
    pub name: String,
    /// End that captured the flows; `None` for captures of both ends.
    pub role: Option<Role>,
    /// True for TCP.
    pub is_tcp: bool,
    /// Flows in the order of their numbers.
    pub flows: Vec<CapturedFlow>,
    /// Number of written events.
    pub records: u64,
    /// True if samples were also written.
    pub has_samples: bool,
    /// Time of the first packet, ns since 1970.
    pub first_ns: u64,
    /// Time of the last packet, ns since the first one.
    pub last_ns: u64,
    /// True if the log contains arrivals.
    pub tells_arrivals: bool,
    /// Meaning of the delays.
    pub delays: Delays,
    /// Notes for readers of the numbers.
    pub notes: Vec<String>,
}

/// Imports the capture of one end.
///
/// Flows that this end sent and flows that it received each get a directory below `directory`, separately for TCP and
/// UDP. `role` is the end of the capture; without `role` it is detected.
///
/// # Errors
/// Returns an error if the file cannot be read, is no capture, is damaged or has no data. A file that cannot be
/// written, segments that become too many packets, and an interruption are errors, too.
pub fn import_one(
    file: &Path,
    role: Option<Role>,
    directory: &Path,
    interrupts: &Interrupts,
) -> Result<Vec<ImportedCapture>, Error> {
    let survey = Survey::of(file, false, interrupts)?;
    let (chosen, others) = survey.choose();
    let first_ns = first_of(&survey, &chosen);
    let mut parts: BTreeMap<(Role, bool), Part> = BTreeMap::new();
    let mut flows = BTreeMap::new();
    for &flow in &chosen {
        let found = &survey.connections[&flow.connection];
        let known = role.or(found.is_sender(flow.direction()).map(of_sender));
        let (is_tcp, role) = (flow.connection.is_tcp, known.unwrap_or(Role::Sender));
        let part = match parts.entry((role, is_tcp)) {
            std::collections::btree_map::Entry::Occupied(part) => part.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(Part::create(directory, role, is_tcp)?)
            }
        };
        let full = full_bytes(&flow, found);
        part.offloaded |= full.is_some_and(|full| found.largest_bytes > full);
        part.without_start += usize::from(!found.has_start);
        part.guessed += usize::from(known.is_none());
        let number = part.add(&flow, found, first_ns);
        let view = match (role, is_tcp) {
            (Role::Sender, true) => {
                let rtt_ns = found.turn_ns[flow.direction()];
                View::Sender(SenderView::new(number, full, chosen.len(), rtt_ns))
            }
            _ => View::Count { arrived: Arrived::default(), sent: 0 },
        };
        let full = full.filter(|_| role == Role::Sender);
        flows.insert(flow.connection, (flow, (role, is_tcp), number, view, full));
    }
    let mut frames = survey.open(file, interrupts)?;
    let mut bound = PacketBound::of(file, interrupts);
    while let Some((connection, segment)) = frames.next()? {
        let Some((flow, key, number, view, full)) = flows.get_mut(&connection) else { continue };
        let Some(part) = parts.get_mut(key) else { continue };
        let is_data = segment.is_forward() == flow.is_forward;
        bound.take(&segment, full.filter(|_| is_data), frames.captured.frames)?;
        part.packet(segment.time_ns.saturating_sub(first_ns), *number, &segment, is_data, view)?;
    }
    for (_, key, _, view, _) in flows.values() {
        let Some(part) = parts.get_mut(key) else { continue };
        match view {
            View::Sender(view) => {
                part.acked += view.acked;
                part.ambiguous += view.ambiguous;
                part.untimed += view.untimed;
                part.missing_bytes += view.missing_bytes();
            }
            View::Count { arrived, .. } => part.missing_bytes += arrived.missing_bytes(),
        }
    }
    parts.into_values().map(|part| part.finish(first_ns, others, &[survey.captured])).collect()
}

fn of_sender(is_sender: bool) -> Role {
    if is_sender { Role::Sender } else { Role::Receiver }
}

/// Returns the payload of a full TCP segment: the peer's MSS minus the options of this connection's segments.
fn full_bytes(flow: &Chosen, found: &Surveyed) -> Option<u32> {
    if !flow.connection.is_tcp {
        return None;
    }
    let announced = found.mss[1 - flow.direction()].map(u32::from);
    if announced.is_none() && found.largest_bytes < LONGEST_PACKET_BYTES {
        return None;
    }
    let segment = announced.unwrap_or(USUAL_MSS).max(LEAST_MSS);
    Some(segment.saturating_sub(found.option_bytes).max(LEAST_FULL_BYTES))
}

/// Limit of the packets that the segments of a capture become. A few bytes of a capture could otherwise become very
/// many packets.
struct PacketBound {
    path: PathBuf,
    packets: u64,
    interrupts: Interrupts,
}

impl PacketBound {
    fn of(path: &Path, interrupts: &Interrupts) -> Self {
        Self { path: path.to_owned(), packets: 0, interrupts: interrupts.clone() }
    }

    /// Counts the packets of a segment. `full` is the payload of a full packet if the segment is split; `frames` is the
    /// number of frames so far.
    ///
    /// # Errors
    /// Returns an error if there are too many packets or the work is interrupted.
    fn take(&mut self, segment: &Segment, full: Option<u32>, frames: u64) -> Result<(), Error> {
        let packets = pieces(segment.payload_bytes, full);
        self.packets += packets;
        self.interrupts.after(packets)?;
        let most = frames.saturating_mul(MOST_PACKETS_PER_FRAME).clamp(LEAST_PACKETS, MOST_PACKETS);
        if self.packets <= most {
            return Ok(());
        }
        let (found, full) = (self.packets, full.unwrap_or(segment.payload_bytes));
        let problem = format!(
            "its first {frames} packets become {found}, those of this connection with {full} bytes of payload each: allowed \
             are {MOST_PACKETS_PER_FRAME} times as many, at least {LEAST_PACKETS} and at most {MOST_PACKETS}"
        );
        Err(Error::file(&self.path, problem))
    }
}

fn first_of(survey: &Survey, chosen: &[Chosen]) -> u64 {
    chosen.iter().map(|flow| survey.connections[&flow.connection].first_ns).min().unwrap_or(0)
}

/// Method of reading a flow.
enum View {
    Sender(SenderView),
    /// Counting of sent packets, or of arrived ones.
    Count {
        arrived: Arrived,
        sent: u64,
    },
}

/// Files of flows with the same role and protocol.
struct Part {
    role: Role,
    is_tcp: bool,
    name: String,
    packets: PacketLogWriter,
    samples: Option<SampleWriter>,
    flows: Vec<CapturedFlow>,
    records: u64,
    order: Order,
    acks: u64,
    /// Number of acknowledged TCP packets.
    acked: u64,
    /// Number of packets sent several times for which the acknowledged copy is unknown.
    ambiguous: u64,
    /// Number of ambiguous packets without a round-trip time, since the connection had none before them.
    untimed: u64,
    /// Acknowledged payload that the capture lacks, bytes.
    missing_bytes: u64,
    offloaded: bool,
    without_start: usize,
    guessed: usize,
    /// Number of datagrams that are longer than packets.
    joined: u64,
}

impl Part {
    fn create(directory: &Path, role: Role, is_tcp: bool) -> Result<Self, Error> {
        let name = match (role, is_tcp) {
            (Role::Sender, true) => "tcp-sent",
            (Role::Sender, false) => "udp-sent",
            (Role::Receiver, true) => "tcp-received",
            (Role::Receiver, false) => "udp-received",
        };
        let folder = directory.join(name);
        std::fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, "create", error))?;
        let samples = match (role, is_tcp) {
            (Role::Sender, true) => {
                Some(SampleWriter::create(folder.join("flows.parquet"), SampleTable::Flows)?)
            }
            _ => None,
        };
        Ok(Self {
            role,
            is_tcp,
            name: name.to_owned(),
            packets: PacketLogWriter::create(folder.join("packets.parquet"))?,
            samples,
            flows: Vec::new(),
            records: 0,
            order: Order::default(),
            acks: 0,
            acked: 0,
            ambiguous: 0,
            untimed: 0,
            missing_bytes: 0,
            offloaded: false,
            without_start: 0,
            guessed: 0,
            joined: 0,
        })
    }

    /// Adds a connection and returns its flow number.
    fn add(&mut self, flow: &Chosen, found: &Surveyed, first_ns: u64) -> u32 {
        self.flows.push(described(flow, found, first_ns));
        self.flows.len() as u32
    }

    fn packet(
        &mut self,
        at_ns: u64,
        flow: u32,
        segment: &Segment,
        is_data: bool,
        view: &mut View,
    ) -> Result<(), Error> {
        let at_ns = self.order.time(at_ns);
        let is_sender = self.role == Role::Sender;
        let mut told = Vec::new();
        match (view, segment.kind) {
            (View::Sender(view), Kind::Tcp(tcp)) if is_data => {
                view.sent(at_ns, segment, &tcp, &mut |one| told.push(one));
            }
            (View::Sender(view), Kind::Tcp(tcp)) => {
                view.received(at_ns, segment, &tcp, &mut |one| told.push(one));
            }
            (View::Count { arrived, sent }, kind) if is_data => {
                if segment.payload_bytes == 0 {
                    return Ok(());
                }
                self.joined += u64::from(!self.is_tcp && segment.size_bytes > LONGEST_PACKET_BYTES);
                let new_bytes = match kind {
                    Kind::Tcp(tcp) => arrived.new_bytes(&tcp, segment.payload_bytes),
                    Kind::Udp(_) => segment.payload_bytes,
                };
                let event = if is_sender { Event::Send } else { Event::Deliver };
                let record = plain(at_ns, flow, event, *sent, segment, new_bytes);
                *sent += 1;
                if segment.ce && !is_sender {
                    told.push(LogEntry::Record(Record { event: Event::Mark, data_bytes: 0, ..record }));
                }
                told.push(LogEntry::Record(record));
            }
            (view, kind) => {
                if let (View::Count { arrived, .. }, Kind::Tcp(tcp)) = (view, kind) {
                    arrived.acknowledged(&tcp);
                }
                let event = if is_sender { Event::AckDeliver } else { Event::AckSend };
                told.push(LogEntry::Record(plain(at_ns, flow, event, self.acks, segment, 0)));
                self.acks += 1;
            }
        }
        for one in told {
            match one {
                LogEntry::Record(record) => {
                    note_data(&mut self.flows, &record);
                    self.records += 1;
                    self.packets.write(&record)?;
                }
                LogEntry::Sample(field, unit, value) => {
                    if let Some(samples) = &mut self.samples {
                        samples.flow(at_ns, flow, field, unit, value)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(self, first_ns: u64, others: usize, captured: &[Captured]) -> Result<ImportedCapture, Error> {
        let is_senders_view = self.role == Role::Sender && self.is_tcp;
        let mut notes = general_notes(others, captured);
        let view = match (self.role, self.is_tcp) {
            (Role::Sender, true) => {
                "captured at the sender of the data: what was acknowledged counts as delivered, delays are round-trip \
                 times, and of one-way delays nothing is known"
            }
            (Role::Sender, false) => {
                "captured at the sender of the data: what arrived of it, and when, only the receiver or the keys tell"
            }
            (Role::Receiver, _) => {
                "captured at the receiver of the data: what was sent and lost, and how long it took, is not known"
            }
        };
        notes.insert(0, view.to_owned());
        if self.guessed > 0 {
            notes.push(format!(
                "{} of {} connections do not tell which end captured them: taken as the sender (--end says it)",
                self.guessed,
                self.flows.len()
            ));
        }
        if is_senders_view && self.acked == 0 {
            notes.push(
                "no acknowledgement is of anything that was sent: what arrived is not known".to_owned(),
            );
        }
        if self.ambiguous > 0 {
            notes.push(format!(
                "{} packets were sent more than once, and without timestamps nothing tells which copy was acknowledged: \
                 they count with the round-trip time before",
                self.ambiguous
            ));
        }
        if self.untimed > 0 {
            notes.push(format!(
                "of {} of these packets no round-trip time is known: theirs is from the last copy on, and may be too short",
                self.untimed
            ));
        }
        notes.extend(missing(
            self.missing_bytes,
            if is_senders_view {
                "throughput and what is in flight come out too low"
            } else {
                "throughput comes out too low"
            },
        ));
        if self.offloaded && self.role == Role::Sender {
            notes.push(
                "segments longer than packets, which the network card splits, count as the packets they become"
                    .to_owned(),
            );
        } else if self.offloaded {
            notes.push(
                "packets were joined before they were captured: their number is not that of the path"
                    .to_owned(),
            );
        }
        if self.joined > 0 {
            notes.push(format!(
                "{} datagrams are longer than packets: the network card splits or joined them, and their number is not \
                 that of the path",
                self.joined
            ));
        }
        if self.without_start > 0 && self.is_tcp {
            notes.push(format!("the set-up of {} connections is not in the capture", self.without_start));
        }
        notes.extend(self.order.note());
        self.packets.finish()?;
        let has_samples = self.samples.map(SampleWriter::finish).transpose()?.is_some();
        Ok(ImportedCapture {
            name: self.name,
            role: Some(self.role),
            is_tcp: self.is_tcp,
            flows: self.flows,
            records: self.records,
            has_samples,
            first_ns,
            last_ns: self.order.last_ns,
            tells_arrivals: if is_senders_view { self.acked > 0 } else { self.role == Role::Receiver },
            delays: if is_senders_view { Delays::RoundTrip } else { Delays::Unknown },
            notes,
        })
    }
}

/// Time order of records. Timestamps of several CPUs are not always in order.
#[derive(Default)]
struct Order {
    last_ns: u64,
    /// Number of packets with a timestamp below that of an earlier packet.
    backward: u64,
}

impl Order {
    /// Returns the time of the next packet, which never decreases.
    fn time(&mut self, stamp_ns: u64) -> u64 {
        self.backward += u64::from(stamp_ns < self.last_ns);
        self.last_ns = self.last_ns.max(stamp_ns);
        self.last_ns
    }

    fn note(&self) -> Option<String> {
        let count = self.backward;
        (count > 0).then(|| {
            format!("{count} packets are stamped earlier than the packet before them: they come at its time")
        })
    }
}

fn general_notes(others: usize, captured: &[Captured]) -> Vec<String> {
    let mut notes = Vec::new();
    if others > 0 {
        notes.push(format!("{others} connections with little or no data are left out"));
    }
    let frames: u64 = captured.iter().map(|captured| captured.others).sum();
    if frames > 0 {
        notes.push(format!(
            "{frames} packets are neither TCP nor UDP, or cut off in their headers, and are left out"
        ));
    }
    let fragments: u64 = captured.iter().map(|captured| captured.fragments).sum();
    if fragments > 0 {
        notes.push(format!(
            "{fragments} packets are fragments of IP and are left out: payload, rates and losses are without them"
        ));
    }
    let copies: u64 = captured.iter().map(|captured| captured.copies).sum();
    if copies > 0 {
        notes.push(format!(
            "{copies} packets were captured before, on another interface that they passed or by a port mirror: these copies are \
             left out"
        ));
    }
    let tunnelled: u64 = captured.iter().map(|captured| captured.tunnelled).sum();
    if tunnelled > 0 {
        let tunnels = captured.iter().fold(Tunnels::default(), |sum, captured| sum.and(captured.tunnels));
        notes.push(format!(
            "{tunnelled} packets came through tunnels ({}): flows and sizes are those of the packets within",
            tunnels.names().join(", ")
        ));
    }
    let unordered: u64 = captured.iter().map(|captured| captured.unordered).sum();
    if unordered > 0 {
        notes.push(format!(
            "{unordered} packets stand in the file behind later ones: they were sorted by time"
        ));
    }
    if captured.iter().any(|captured| captured.is_cut) {
        notes.push("the capture is cut off in its last packet".to_owned());
    }
    notes
}

/// Returns the note on payload that was acknowledged but not captured; `None` without such payload. `so` is the effect
/// on the numbers.
fn missing(bytes: u64, so: &str) -> Option<String> {
    (bytes > 0).then(|| {
        format!(
            "{bytes} bytes of payload are not in the capture, though they were acknowledged: the program that captured lost \
             packets, and {so}"
        )
    })
}

/// Records the time span of data packets.
fn note_data(flows: &mut [CapturedFlow], record: &Record) {
    if matches!(record.event, Event::Send | Event::Deliver)
        && let Some(flow) = flows.get_mut(record.flow as usize - 1)
    {
        let (first, last) = flow.data_ns.unwrap_or((record.time_ns, record.time_ns));
        flow.data_ns = Some((first, last.max(record.time_ns)));
    }
}

fn described(flow: &Chosen, found: &Surveyed, first_ns: u64) -> CapturedFlow {
    let [less, greater] = flow.connection.ends;
    let (from, to) = if flow.is_forward { (less, greater) } else { (greater, less) };
    let name = |end: segment::End| std::net::SocketAddr::new(end.address, end.port).to_string();
    let protocol = match (flow.connection.is_tcp, found.quic_version) {
        (true, _) => "TCP",
        (false, Some(_)) => "QUIC",
        (false, None) => "UDP",
    };
    CapturedFlow {
        from: name(from),
        to: name(to),
        protocol,
        payload_bytes: found.payload_bytes[flow.direction()],
        turn_ns: found.turn_ns[flow.direction()],
        spin_rtt_ns: found.spin_rtt_ns(flow.direction()),
        life_ns: (found.first_ns.saturating_sub(first_ns), found.last_ns.saturating_sub(first_ns)),
        data_ns: None,
    }
}

/// Imports the captures of both ends of the same connections into one packet log in `directory`.
///
/// `sender` is the capture of the end that sends the data of the largest connection.
///
/// # Errors
/// Returns an error if a file cannot be read, is no capture, or has no packet of the other file. With
/// [`Clocks::Stamps`], packets must not arrive before they were sent. Segments that become too many packets, a file
/// that cannot be written, and an interruption are errors, too.
pub fn import_both(
    sender: &Path,
    receiver: &Path,
    clocks: Clocks,
    directory: &Path,
    interrupts: &Interrupts,
) -> Result<ImportedCapture, Error> {
    let surveys = [Survey::of(sender, true, interrupts)?, Survey::of(receiver, true, interrupts)?];
    let (chosen, others) = common(&surveys);
    let payload = |flow: &&Chosen| surveys[0].connections[&flow.connection].payload_bytes[flow.direction()];
    let Some(main) = chosen.iter().max_by_key(payload).copied() else {
        let problem = format!("has none of the connections of {}", sender.display());
        return Err(Error::file(receiver, problem));
    };
    if is_swapped(&surveys, main) {
        let problem = format!("was captured nearer to the receiver than {}: swap them", receiver.display());
        return Err(Error::file(sender, problem));
    }
    let host = main.connection.ends[main.direction()].address;
    let offset = Offset::of(&surveys, &chosen, host);
    let (shift_ns, delays) = offset.resolve(clocks, receiver)?;
    let folder = directory.join("both");
    std::fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, "create", error))?;
    let mut writer = Both {
        packets: PacketLogWriter::create(folder.join("packets.parquet"))?,
        samples: SampleWriter::create(folder.join("flows.parquet"), SampleTable::Flows)?,
        records: 0,
    };
    let mut order = Order::default();
    let matched = (1..).zip(&chosen).map(|(number, flow)| {
        let found = &surveys[0].connections[&flow.connection];
        // File of the sender of this flow's data.
        let at_sender = usize::from(flow.connection.ends[flow.direction()].address != host);
        let matcher = Matcher::new(number, full_bytes(flow, found), chosen.len());
        (flow.connection, (*flow, at_sender, matcher, None))
    });
    let mut flows: BTreeMap<_, (Chosen, usize, Matcher, Option<u64>)> = matched.collect();
    let shifted = |file: usize, time_ns: u64| time_ns as i64 - if file == 1 { shift_ns } else { 0 };
    let begins = [0, 1].map(|file| shifted(file, first_of(&surveys[file], &chosen)));
    let zero_ns = begins[0].min(begins[1]);
    let describe = |flow| described(flow, &surveys[0].connections[&flow.connection], zero_ns.max(0) as u64);
    let mut described_flows: Vec<_> = chosen.iter().map(describe).collect();
    let ends = [0, 1].map(|file| {
        let last = |flow: &Chosen| surveys[file].connections[&flow.connection].last_ns;
        shifted(file, chosen.iter().map(last).max().unwrap_or(0))
    });
    // Packets long before or after the other file would count as lost.
    let is_far = |times: [i64; 2]| (times[0] - times[1]).abs() > LATE_NS;
    let late = is_far(begins) || is_far(ends);
    let from_ns = if is_far(begins) { begins[0].max(begins[1]) } else { zero_ns };
    let to_ns = if is_far(ends) { ends[0].min(ends[1]) } else { i64::MAX };
    let mut frames = [surveys[0].open(sender, interrupts)?, surveys[1].open(receiver, interrupts)?];
    let mut bounds = [sender, receiver].map(|file| PacketBound::of(file, interrupts));
    let mut next = [frames[0].next()?, frames[1].next()?];
    while let Some(file) = earlier(&next, shift_ns) {
        let Some((connection, segment)) = next[file].take() else { break };
        next[file] = frames[file].next()?;
        let Some((flow, at_sender, matcher, seen)) = flows.get_mut(&connection) else { continue };
        let at_ns = shifted(file, segment.time_ns);
        if at_ns < from_ns || at_ns > to_ns {
            continue;
        }
        let at_ns = order.time((at_ns - zero_ns) as u64);
        let way = usize::from(segment.is_forward() != flow.is_forward);
        let is_source = (file == *at_sender) == (way == 0);
        bounds[file].take(&segment, matcher.full(way), frames[file].captured.frames)?;
        let mut told = Vec::new();
        if is_source {
            matcher.sent(way, at_ns, &segment, &mut |record| told.push(record));
        } else {
            matcher.received(way, at_ns, &segment, &mut |record| told.push(record));
        }
        for record in told {
            note_data(&mut described_flows, &record);
            writer.write(&record)?;
        }
        let count = matcher.retransmissions;
        if flow.connection.is_tcp && seen.replace(count) != Some(count) {
            writer.retransmissions(at_ns, matcher)?;
        }
    }
    let mut notes = vec![offset.note(delays)];
    notes.extend(general_notes(others, &[surveys[0].captured, surveys[1].captured]));
    notes.extend(unfound(flows.values().map(|(_, _, matcher, _)| matcher)));
    let records = writer.records;
    if late {
        notes.push(
            "one capture begins or ends more than a second apart from the other: what only one has is left out".to_owned(),
        );
    }
    notes.extend(order.note());
    if flows.values().all(|(_, _, matcher, _)| matcher.arrivals == 0) {
        let problem = format!("has none of the packets that {} has", sender.display());
        return Err(Error::file(receiver, problem));
    }
    writer.finish()?;
    Ok(ImportedCapture {
        name: "both".to_owned(),
        role: None,
        is_tcp: chosen.iter().any(|flow| flow.connection.is_tcp),
        flows: described_flows,
        records,
        has_samples: true,
        first_ns: zero_ns.max(0) as u64,
        last_ns: order.last_ns,
        tells_arrivals: true,
        delays,
        notes,
    })
}

/// Returns the notes on packets and payload that only one capture contains.
fn unfound<'a>(matchers: impl Iterator<Item = &'a Matcher>) -> impl Iterator<Item = String> {
    let (mut bytes, mut packets) = (0, 0);
    for matcher in matchers {
        bytes += matcher.missing_bytes();
        packets += matcher.unmatched;
    }
    let unmatched = (packets > 0)
        .then(|| format!("{packets} packets are in one capture and cannot be found in the other"));
    missing(bytes, "these count as lost").into_iter().chain(unmatched)
}

/// Returns the flows in both captures, and the number of other connections in the first capture.
fn common(surveys: &[Survey; 2]) -> (Vec<Chosen>, usize) {
    let (mut chosen, _) = surveys[0].choose();
    chosen.retain(|flow| surveys[1].connections.contains_key(&flow.connection));
    let others = surveys[0].connections.len() - chosen.len();
    (chosen, others)
}

/// Returns true if answers to the flow's data take less time in the first capture. The captures are then swapped.
fn is_swapped(surveys: &[Survey; 2], flow: Chosen) -> bool {
    let turn = |file: usize| surveys[file].connections[&flow.connection].turn_ns[flow.direction()];
    turn(0).zip(turn(1)).is_some_and(|(first, second)| first < second)
}

/// Maximum difference between the beginnings of simultaneous captures, ns.
const LATE_NS: i64 = 1_000_000_000;

/// Returns the file with the earlier next packet.
fn earlier(next: &[Option<(Connection, Segment)>; 2], shift_ns: i64) -> Option<usize> {
    let time = |file: usize| {
        let (_, segment) = next[file].as_ref()?;
        Some(segment.time_ns as i64 - if file == 1 { shift_ns } else { 0 })
    };
    match (time(0), time(1)) {
        (Some(first), Some(second)) => Some(usize::from(second < first)),
        (Some(_), None) => Some(0),
        (None, Some(_)) => Some(1),
        (None, None) => None,
    }
}

/// Output files of an import of both ends.
struct Both {
    packets: PacketLogWriter,
    samples: SampleWriter,
    records: u64,
}

impl Both {
    fn write(&mut self, record: &Record) -> Result<(), Error> {
        self.records += 1;
        self.packets.write(record)
    }

    fn finish(self) -> Result<(), Error> {
        self.packets.finish()?;
        self.samples.finish()?;
        Ok(())
    }

    fn retransmissions(&mut self, at_ns: u64, matcher: &Matcher) -> Result<(), Error> {
        let count = matcher.retransmissions as f64;
        self.samples.flow(at_ns, matcher.flow(), "retransmissions", "packets", count)
    }
}

/// Difference between the timestamps of two captures for the same packets: minimum in each direction, ns.
#[derive(Clone, Copy, Debug)]
struct Offset {
    there_ns: Option<i64>,
    back_ns: Option<i64>,
}

impl Offset {
    fn of(surveys: &[Survey; 2], chosen: &[Chosen], host: std::net::IpAddr) -> Self {
        let mut least: [Option<i64>; 2] = [None; 2];
        for flow in chosen {
            let files = [0, 1].map(|file| &surveys[file].connections[&flow.connection]);
            for direction in [0, 1] {
                let from_host = flow.connection.ends[direction].address == host;
                let (source, target) = if from_host { (0, 1) } else { (1, 0) };
                for (key, &sent_ns) in &files[source].passed[direction] {
                    let Some(&at_ns) = files[target].passed[direction].get(key) else { continue };
                    let taken = at_ns as i64 - sent_ns as i64;
                    let place = &mut least[usize::from(!from_host)];
                    *place = Some(place.map_or(taken, |least| least.min(taken)));
                }
            }
        }
        Self { there_ns: least[0], back_ns: least[1] }
    }

    /// Returns the shift of the second file's timestamps, and the meaning of the resulting delays.
    fn resolve(&self, clocks: Clocks, receiver: &Path) -> Result<(i64, Delays), Error> {
        let is_possible =
            |delay: Option<i64>| delay.is_none_or(|delay| (0..=LONGEST_DELAY_NS).contains(&delay));
        let possible = is_possible(self.there_ns) && is_possible(self.back_ns);
        match clocks {
            Clocks::Stamps if !possible => {
                let problem = format!(
                    "its clock is not that of the other capture: by the stamps, packets take {} there and {} back at least; \
                     --clocks unknown measures without their offset",
                    ms(self.there_ns),
                    ms(self.back_ns)
                );
                Err(Error::file(receiver, problem))
            }
            Clocks::Stamps => Ok((0, Delays::Stamps)),
            Clocks::Auto if possible => Ok((0, Delays::Stamps)),
            // Both directions get the same minimum delay. Thus no packet arrives before it was sent, for any offset.
            Clocks::Auto | Clocks::Unknown => {
                let (there, back) = (self.there_ns.unwrap_or(0), self.back_ns);
                Ok((back.map_or(there, |back| (there - back) / 2), Delays::AboveSmallest))
            }
        }
    }

    fn note(&self, delays: Delays) -> String {
        let (there, back) = (ms(self.there_ns), ms(self.back_ns));
        match delays {
            Delays::Stamps => format!(
                "one-way delays are as the stamps of the two captures say, at least {there} there and {back} back: an offset \
                 between their clocks is in them"
            ),
            _ => format!(
                "the offset between the clocks of the two captures is not known (by their stamps, packets take {there} there \
                 and {back} back at least): of one-way delays only what is above the smallest is"
            ),
        }
    }
}

fn ms(ns: Option<i64>) -> String {
    ns.map_or_else(|| "an unknown time".to_owned(), |ns| format!("{:.3} ms", ns as f64 / 1e6))
}
