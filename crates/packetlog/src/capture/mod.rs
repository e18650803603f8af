//! Packet captures (pcap and pcapng) of TCP and QUIC or other UDP as packet logs, from one end or from both.
//!
//! One end knows what it sent, what it received and, of TCP, what was acknowledged when: a packet counts as delivered then,
//! and its delay is a round-trip time. What QUIC acknowledges is encrypted. With the captures of both ends each packet is
//! found again at the other one, and its delay is one way, by two clocks.
//!
//! Captures are read twice, as streams: once to see what is in them, once to import it.

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

/// The longest packet that a path without offloads carries, bytes of IP.
const LONGEST_PACKET_BYTES: u32 = 9_000;

/// A segment's payload where its connection's set-up is not there to say it: Ethernet's 1,500 bytes less the headers.
const USUAL_MSS: u32 = 1_460;

/// The smallest segment that is announced in earnest, bytes: Linux sends as if no end had announced less, and 8 bytes of
/// payload where its options take the rest (v6.12, include/net/tcp.h, `TCP_MIN_SND_MSS`; `net/ipv4/tcp_output.c`,
/// `__tcp_mtu_to_mss`).
const LEAST_MSS: u32 = 48;
const LEAST_FULL_BYTES: u32 = 8;

/// Packets that a captured segment may become, on average of all: 512 KiB (BIG TCP) of 536 bytes (RFC 9293 3.7.1) are 979.
const MOST_PACKETS_PER_FRAME: u64 = 1024;
/// So many packets may there be in any case.
const LEAST_PACKETS: u64 = 1 << 20;
/// Most packets: more than an hour of 10 Gbit/s.
const MOST_PACKETS: u64 = 1 << 32;

/// Delays beyond this are no delays but clocks that disagree, ns.
const LONGEST_DELAY_NS: i64 = 10_000_000_000;

/// Which end a capture was made at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The one that sends the data.
    Sender,
    /// The one that receives it.
    Receiver,
}

/// How delays between two captures follow from their stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clocks {
    /// As the stamps say if they can be right, else above the smallest.
    #[default]
    Auto,
    /// As the stamps say.
    Stamps,
    /// Nothing is known of the clocks' offset.
    Unknown,
}

/// What delays are by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delays {
    /// Times from sending to acknowledgement.
    RoundTrip,
    /// By the stamps of two captures.
    Stamps,
    /// The same, but for a constant.
    AboveSmallest,
    /// There are none.
    Unknown,
}

/// One connection as a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFlow {
    /// Address and port that the data comes from, and where it goes.
    pub from: String,
    /// ...
    pub to: String,
    /// `TCP`, `QUIC` or `UDP`.
    pub protocol: &'static str,
    /// Payload that the capture has of it, bytes, what was sent again included.
    pub payload_bytes: u64,
    /// Smallest time from a packet to its answer, ns: at the sender a round trip. Of TCP what echoes its timestamp or
    /// acknowledges it answers a packet.
    pub turn_ns: Option<u64>,
    /// Smallest round-trip time that QUIC's spin bit tells, ns.
    pub spin_rtt_ns: Option<u64>,
    /// From the first packet of the connection to the last one, ns since the first packet of all flows.
    pub life_ns: (u64, u64),
    /// From the first packet of data to the last one that was sent or arrived, likewise; none where there is none.
    pub data_ns: Option<(u64, u64)>,
}

/// Flows that were seen in the same way, in a packet log of their own.
#[derive(Clone, Debug)]
pub struct ImportedCapture {
    /// Name of its directory.
    pub name: String,
    /// The end that captured them; none of captures of both.
    pub role: Option<Role>,
    /// Whether they are of TCP.
    pub is_tcp: bool,
    /// In the order of their numbers.
    pub flows: Vec<CapturedFlow>,
    /// Events written.
    pub records: u64,
    /// Whether samples were written too.
    pub has_samples: bool,
    /// Time of the first packet, ns since 1970, and of the last one since then.
    pub first_ns: u64,
    /// ...
    pub last_ns: u64,
    /// Whether what arrived is told.
    pub tells_arrivals: bool,
    /// What delays are.
    pub delays: Delays,
    /// What a reader of its numbers has to know.
    pub notes: Vec<String>,
}

/// Imports the capture of one end; flows of which it was the sender and those of which it was the receiver, of TCP and of
/// UDP, each go into a directory of their own below `directory`. `role` says which end it is of; otherwise it is found
/// out.
///
/// # Errors
/// The file cannot be read, is no capture, is damaged or has no data in it, or its segments become more packets than any
/// card makes of them; a file cannot be written; the work is to end.
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

/// Payload of a full segment of TCP: what the other end takes, less the options that this connection's segments have.
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

/// How many packets the segments of a capture become, which a few bytes of it can make very many.
struct PacketBound {
    path: PathBuf,
    packets: u64,
    interrupts: Interrupts,
}

impl PacketBound {
    fn of(path: &Path, interrupts: &Interrupts) -> Self {
        Self { path: path.to_owned(), packets: 0, interrupts: interrupts.clone() }
    }

    /// Takes in a segment, with the payload of a full one where it is split, the last of so many frames.
    ///
    /// # Errors
    /// They are too many; the work is to end.
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

/// How a flow is looked at.
enum View {
    Sender(SenderView),
    /// What was sent, or what arrived, is counted.
    Count {
        arrived: Arrived,
        sent: u64,
    },
}

/// The files of flows that are seen in the same way.
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
    /// Packets of TCP that were acknowledged.
    acked: u64,
    /// Packets that were sent more than once, of which nothing tells which copy was acknowledged.
    ambiguous: u64,
    /// Ambiguous packets that count without any round-trip time: the connection has shown none before them.
    untimed: u64,
    /// Payload that was acknowledged and is not in the capture.
    missing_bytes: u64,
    offloaded: bool,
    without_start: usize,
    guessed: usize,
    /// Datagrams that are longer than packets are.
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

    /// Takes in a connection; its number as a flow.
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

/// The order of time, in which records come and stamps of several processors do not always.
#[derive(Default)]
struct Order {
    last_ns: u64,
    /// Packets with a stamp before that of the packet before.
    backward: u64,
}

impl Order {
    /// When the next packet comes.
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

/// Returns the note on payload that was acknowledged but not captured; none if there is no such payload. `so` says what
/// follows for the numbers.
fn missing(bytes: u64, so: &str) -> Option<String> {
    (bytes > 0).then(|| {
        format!(
            "{bytes} bytes of payload are not in the capture, though they were acknowledged: the program that captured lost \
             packets, and {so}"
        )
    })
}

/// Notes in which time data was under way.
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

/// Imports the captures of both ends of the same connections into one packet log in `directory`. `sender` is that of the
/// end which sends the data of the largest connection.
///
/// # Errors
/// A file cannot be read or is no capture; nothing of one is in the other; by the stamps, packets would arrive before they
/// were sent and [`Clocks::Stamps`] was asked for; segments become more packets than any card makes of them; a file cannot
/// be written; the work is to end.
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
        // Which file is that of the sender of this flow's data.
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
    // What one file has long before or after the other one would count as lost.
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

/// Returns the notes on what only one of the two captures has.
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

/// The connections that are flows and in both captures, and how many others the first one has.
fn common(surveys: &[Survey; 2]) -> (Vec<Chosen>, usize) {
    let (mut chosen, _) = surveys[0].choose();
    chosen.retain(|flow| surveys[1].connections.contains_key(&flow.connection));
    let others = surveys[0].connections.len() - chosen.len();
    (chosen, others)
}

/// Whether the second capture is the one that waits a round trip for the answers to the flow's data.
fn is_swapped(surveys: &[Survey; 2], flow: Chosen) -> bool {
    let turn = |file: usize| surveys[file].connections[&flow.connection].turn_ns[flow.direction()];
    turn(0).zip(turn(1)).is_some_and(|(first, second)| first < second)
}

/// Captures of the same time begin within this, ns.
const LATE_NS: i64 = 1_000_000_000;

/// The file whose next packet comes first.
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

/// The files of captures of both ends.
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

/// How far the stamps of two captures are apart for the same packets: smallest differences there and back, ns.
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

    /// By how much the second file's stamps are to be set back, and what delays are then.
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
            // Both ways take as long: packets then arrive after they were sent, whatever the offset is.
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
