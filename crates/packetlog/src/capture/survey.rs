//! Survey of a capture before its import: its connections, their data direction, and the end that captured them.

use super::frames::{Captured, Frames};
use super::segment::{Connection, Kind, Segment};
use crate::{Error, Interrupts};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// Maximum number of distinguished connections.
const MOST_CONNECTIONS: usize = 1 << 18;
/// Maximum number of connections that become flows.
const MOST_FLOWS: usize = 64;
/// Minimum payload of a flow, as a fraction of the largest connection's payload. Smaller connections mostly control
/// others.
const LEAST_PART: f64 = 0.01;
/// Maximum number of remembered timestamps without echo, and of packets without acknowledgment.
const REMEMBERED: usize = 256;
/// Minimum number of spin bit changes for a round-trip time.
const LEAST_EDGES: u64 = 4;
/// Maximum number of packets per connection and direction whose times are kept to compare clocks.
const COMPARED: usize = 20_000;

/// Observations of a connection. The first of two values is of the direction from the lesser endpoint.
#[derive(Debug, Default)]
pub(super) struct Surveyed {
    pub(super) payload_bytes: [u64; 2],
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    /// Announced MSS of each sender, bytes.
    pub(super) mss: [Option<u16>; 2],
    /// Largest payload of a packet, bytes.
    pub(super) largest_bytes: u32,
    /// Minimum time from a packet of this direction to its answer in the other direction, ns.
    pub(super) turn_ns: [Option<u64>; 2],
    pub(super) quic_version: Option<u32>,
    spin: [Spin; 2],
    /// Length of the options of segments with payload, bytes.
    pub(super) option_bytes: u32,
    /// True if the capture contains the connection's SYN.
    pub(super) has_start: bool,
    open: [VecDeque<(u32, u64)>; 2],
    unacked: [Unacked; 2],
    /// Arrival of a datagram that opened an exchange, until the answer, ns.
    waiting: [Option<u64>; 2],
    /// Times of packets that both ends see unchanged, ns, by identity.
    pub(super) passed: [BTreeMap<(u32, u32, u64), u64>; 2],
}

/// Spin bit of one direction (RFC 9000 17.4). It changes once per round trip.
#[derive(Debug, Default)]
struct Spin {
    last: Option<bool>,
    edge_ns: Option<u64>,
    packets: u64,
    edges: u64,
    least_ns: Option<u64>,
}

impl Spin {
    fn take_in(&mut self, at_ns: u64, spin: Option<bool>) {
        let Some(spin) = spin else { return };
        self.packets += 1;
        let changed = self.last.replace(spin).is_some_and(|last| last != spin);
        if !changed {
            return;
        }
        self.edges += 1;
        if let Some(edge_ns) = self.edge_ns.replace(at_ns) {
            let taken = at_ns.saturating_sub(edge_ns);
            self.least_ns = Some(self.least_ns.map_or(taken, |least| least.min(taken)));
        }
    }

    /// Returns the round-trip time, ns. Endpoints without spin leave the bit constant or set it randomly for each
    /// packet.
    fn rtt_ns(&self) -> Option<u64> {
        self.least_ns.filter(|_| self.edges >= LEAST_EDGES && self.packets >= 4 * self.edges)
    }
}

/// Sent TCP packets of one direction with their times, until their acknowledgment.
#[derive(Debug, Default)]
struct Unacked {
    /// Ends of packets in the sequence, with times.
    ends: VecDeque<(u32, u64)>,
    highest: Option<u32>,
}

impl Unacked {
    /// Adds a packet. A retransmission gives no time, nor do the packets in flight with it (RFC 6298 3).
    fn sent(&mut self, at_ns: u64, begin: u32, end: u32) {
        if self.highest.is_some_and(|highest| is_behind(begin, highest)) {
            self.ends.clear();
        } else if self.ends.len() < REMEMBERED {
            self.ends.push_back((end, at_ns));
        }
        self.highest = Some(self.highest.filter(|&highest| is_behind(end, highest)).unwrap_or(end));
    }

    /// Returns the time of the latest packet that `ack` acknowledges first.
    fn acknowledged(&mut self, ack: u32) -> Option<u64> {
        let mut latest = None;
        while let Some((_, at_ns)) = self.ends.pop_front_if(|&mut (end, _)| !is_behind(ack, end)) {
            latest = Some(at_ns);
        }
        latest
    }
}

/// Returns true if a sequence number comes before another one.
fn is_behind(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) < 0
}

/// Contents of a capture file.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) connections: BTreeMap<Connection, Surveyed>,
    pub(super) captured: Captured,
}

/// Connection whose data is to be imported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub(super) connection: Connection,
    /// True if the data goes from the lesser endpoint to the greater one.
    pub(super) is_forward: bool,
}

impl Chosen {
    pub(super) fn direction(self) -> usize {
        usize::from(!self.is_forward)
    }
}

impl Survey {
    /// Surveys a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is no capture, or has nothing to import.
    pub(super) fn of(path: &Path, compares: bool, interrupts: &Interrupts) -> Result<Self, Error> {
        let mut survey = Self::read(path, false, compares, interrupts)?;
        if survey.captured.unordered > 0 {
            survey = Self::read(path, true, compares, interrupts)?;
        }
        if survey.connections.values().all(|found| found.payload_bytes == [0, 0]) {
            let Captured { frames, fragments, is_cut, .. } = survey.captured;
            let cut = if is_cut { ", after which it is cut off" } else { "" };
            let left =
                if fragments > 0 { format!(" ({fragments} are fragments of IP)") } else { String::new() };
            let problem =
                format!("has no data of TCP or UDP in its {frames} packets{left}{cut}: nothing to import");
            return Err(Error::file(path, problem));
        }
        Ok(survey)
    }

    /// Opens the file again. Its packets come in time order.
    pub(super) fn open(&self, path: &Path, interrupts: &Interrupts) -> Result<Frames, Error> {
        let Captured { unordered, copies, .. } = self.captured;
        Frames::open(path, unordered > 0, copies > 0, interrupts)
    }

    fn read(path: &Path, sorts: bool, compares: bool, interrupts: &Interrupts) -> Result<Self, Error> {
        let mut frames = Frames::open(path, sorts, true, interrupts)?;
        let mut survey = Self::default();
        while let Some((connection, segment)) = frames.next()? {
            let found = survey
                .connections
                .entry(connection)
                .or_insert_with(|| Surveyed { first_ns: segment.time_ns, ..Surveyed::default() });
            found.take_in(&segment, compares);
            if survey.connections.len() > MOST_CONNECTIONS {
                let problem = format!(
                    "has more than {MOST_CONNECTIONS} connections: `tcpdump -r OLD -w NEW FILTER` makes a file of some"
                );
                return Err(Error::file(path, problem));
            }
        }
        survey.captured = frames.captured;
        Ok(survey)
    }

    /// Returns the connections that become flows, in order of their beginning, and the number of other connections.
    pub(super) fn choose(&self) -> (Vec<Chosen>, usize) {
        let payload = |found: &Surveyed| found.payload_bytes[0].max(found.payload_bytes[1]);
        let largest = self.connections.values().map(payload).max().unwrap_or(0);
        let mut found: Vec<_> = self
            .connections
            .iter()
            .filter(|(_, found)| payload(found) as f64 >= LEAST_PART * largest as f64 && payload(found) > 0)
            .collect();
        found.sort_by_key(|(_, found)| std::cmp::Reverse(payload(found)));
        found.truncate(MOST_FLOWS);
        found.sort_by_key(|(_, found)| found.first_ns);
        let chosen: Vec<_> = found
            .iter()
            .map(|&(&connection, found)| Chosen {
                connection,
                is_forward: found.payload_bytes[0] >= found.payload_bytes[1],
            })
            .collect();
        let others = self.connections.len() - chosen.len();
        (chosen, others)
    }
}

impl Surveyed {
    fn take_in(&mut self, segment: &Segment, compares: bool) {
        let direction = usize::from(!segment.is_forward());
        self.payload_bytes[direction] += u64::from(segment.payload_bytes);
        self.last_ns = self.last_ns.max(segment.time_ns);
        self.largest_bytes = self.largest_bytes.max(segment.payload_bytes);
        let at = segment.time_ns;
        match segment.kind {
            Kind::Tcp(tcp) => {
                if tcp.syn {
                    self.has_start = true;
                    self.mss[direction] = tcp.mss.or(self.mss[direction]);
                }
                if segment.payload_bytes > 0 && self.option_bytes == 0 {
                    self.option_bytes = tcp.option_bytes;
                }
                if let Some((value, echo)) = tcp.timestamps {
                    if self.open[direction].back().is_none_or(|&(last, _)| last != value) {
                        self.open[direction].push_back((value, at));
                        if self.open[direction].len() > REMEMBERED {
                            self.open[direction].pop_front();
                        }
                    }
                    let sent = self.open[1 - direction].iter().find(|&&(value, _)| value == echo);
                    if let Some(&(_, sent_ns)) = sent {
                        self.turn(1 - direction, sent_ns, at);
                    }
                }
                let taken = segment.payload_bytes + u32::from(tcp.syn) + u32::from(tcp.fin);
                if taken > 0 {
                    self.unacked[direction].sent(at, tcp.seq, tcp.seq.wrapping_add(taken));
                }
                if let Some(sent_ns) = tcp.ack.and_then(|ack| self.unacked[1 - direction].acknowledged(ack)) {
                    self.turn(1 - direction, sent_ns, at);
                }
                if compares && self.passed[direction].len() < COMPARED {
                    let key = (tcp.seq, tcp.ack.unwrap_or(0), tcp.timestamps.map_or(0, stamps));
                    self.passed[direction].entry(key).or_insert(at);
                }
            }
            Kind::Udp(udp) => {
                let is_first = self.payload_bytes[direction] == u64::from(segment.payload_bytes);
                self.quic_version = self.quic_version.or(udp.version.filter(|&version| is_quic(version)));
                self.has_start |= udp.version.is_some();
                self.answer(direction, at, is_first);
                self.spin[direction].take_in(at, udp.spin);
                if let Some(identity) = udp.identity
                    && compares
                    && self.passed[direction].len() < COMPARED
                {
                    self.passed[direction].entry((segment.payload_bytes, 0, identity)).or_insert(at);
                }
            }
        }
    }

    /// Returns the minimum round-trip time by the spin bits of packets in this direction, ns.
    pub(super) fn spin_rtt_ns(&self, direction: usize) -> Option<u64> {
        self.spin[direction].rtt_ns().filter(|_| self.quic_version.is_some())
    }

    /// Handles a packet that may open an exchange. The packet answers a waiting packet of the other direction.
    fn answer(&mut self, direction: usize, at: u64, opens: bool) {
        if let Some(sent_ns) = self.waiting[1 - direction].take() {
            self.turn(1 - direction, sent_ns, at);
        }
        if opens {
            self.waiting[direction] = Some(at);
        }
    }

    fn turn(&mut self, direction: usize, sent_ns: u64, at: u64) {
        let taken = at.saturating_sub(sent_ns);
        self.turn_ns[direction] = Some(self.turn_ns[direction].map_or(taken, |least| least.min(taken)));
    }

    /// Returns true if the sender of `direction` made the capture. The sender gets answers after a round trip and gives
    /// its own at once. Returns `None` if unknown.
    pub(super) fn is_sender(&self, direction: usize) -> Option<bool> {
        let (there, back) = (self.turn_ns[direction]?, self.turn_ns[1 - direction]?);
        Some(there >= back)
    }
}

fn stamps((value, echo): (u32, u32)) -> u64 {
    (u64::from(value) << 32) | u64::from(echo)
}

/// Returns true for versions 1 and 2 and the versions of drafts (RFC 9000 15, RFC 9369 3.1).
fn is_quic(version: u32) -> bool {
    matches!(version, 1 | 0x6b33_43cf) || version >> 8 == 0x00ff_0000
}
