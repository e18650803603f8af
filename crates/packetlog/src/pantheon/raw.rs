//! Raw tunnel logs: the egress log of the sender and the ingress log of the receiver.
//!
//! They are merged while reading, as Pantheon's `merge_tunnel_logs.py single` does (StanfordSNR/pantheon@23e738c,
//! `src/experiments`). Packets are matched by the tunnel's uid. Memory is bounded: the last 2^20 packets are
//! remembered, 12.6 s at 1 Gbit/s of 1500-byte packets. A packet that arrives later is an error, as is a packet that
//! was never sent.

use super::direction::Direction;
use super::header::{TIMESTAMP, parse_timestamp};
use super::input::Input;
use super::lines::{Fields, Lines, MAX_MS};
use super::oddities::Oddity;
use super::source::{LONGEST_NS, Source, TOO_FAR};
use crate::Error;
use record::{Event, Record};
use std::collections::VecDeque;

/// Clock offsets of the hosts, us, positive for a clock behind true time. They are added to the times of the logs, as
/// Pantheon does with the output of `ntpdate` (StanfordSNR/pantheon@23e738c, `src/helpers/utils.py`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffsets {
    /// Offset of the sender's host, which wrote the egress log, us.
    pub egress_us: i64,
    /// Offset of the receiver's host, which wrote the ingress log, us.
    pub ingress_us: i64,
}

/// Raw logs of one direction of one flow.
pub struct RawPair {
    /// Log of packets that leave the sender.
    pub egress: Input,
    /// Log of packets that arrive at the receiver.
    pub ingress: Input,
    /// Corrections of both clocks.
    pub offsets: ClockOffsets,
}

/// Number of remembered sent packets, behind and ahead of the merge.
const WINDOW_PACKETS: usize = 1 << 20;

const HEADER: &str = "expected a header line '# ... egress: TIME_MS' or '# ... ingress: TIME_MS' first";
const LINE: &str = "expected 'TIME_MS - UID - BYTES' (time whole or up to 3 decimals, not negative)";
const BACKWARDS: &str = "expected a time not before that of the line above (did the clock step?)";
const UID_ORDER: &str = "expected a uid larger than that of the line above";

/// Line of a raw log, with its time on the pair's common clock.
#[derive(Clone, Copy)]
struct Packet {
    time_us: u64,
    uid: u64,
    size_bytes: u32,
}

/// Raw log.
struct RawLog {
    lines: Lines,
    init_us: u64,
    /// Shift from the log's times to times since the pair's base, us.
    shift_us: u64,
    empty: bool,
}

impl RawLog {
    /// Opens a log and reads the header. `offset_us` corrects the host's clock.
    fn open(input: Input, offset_us: i64) -> Result<Self, Error> {
        let mut lines = Lines::new(input);
        if !lines.next_line()? {
            return Err(lines.unusable("is empty"));
        }
        let text = lines.text();
        let after_colon = text.iter().rposition(|&byte| byte == b':').filter(|_| text[0] == b'#');
        let stamp = after_colon.map(|colon| &text[colon + 1..]).ok_or_else(|| lines.malformed(HEADER))?;
        let host_us = parse_timestamp(stamp).ok_or_else(|| lines.malformed(TIMESTAMP))?;
        let corrected = host_us.checked_add_signed(offset_us).filter(|&us| us <= MAX_MS * 1000);
        let init_us = corrected.ok_or_else(|| {
            lines.unusable(format!("a clock offset of {offset_us} us puts its start out of 1970 to 2096"))
        })?;
        lines.skip();
        Ok(Self { lines, init_us, shift_us: 0, empty: true })
    }

    fn next(&mut self) -> Result<Option<Packet>, Error> {
        if !self.lines.next_line()? {
            return if self.empty {
                Err(self.lines.unusable("has a header but no packets"))
            } else {
                Ok(None)
            };
        }
        let parsed = packet_line(self.lines.bytes());
        let (packet, length) = parsed.map_err(|problem| self.lines.malformed(problem))?;
        let at_ns = (packet.time_us * 1000) as i64;
        self.lines.check_time(at_ns, BACKWARDS)?;
        self.lines.consume(length);
        self.lines.pass_time(at_ns);
        self.empty = false;
        Ok(Some(Packet { time_us: packet.time_us + self.shift_us, ..packet }))
    }
}

#[inline]
fn packet_line(bytes: &[u8]) -> Result<(Packet, usize), &'static str> {
    let mut fields = Fields::new(bytes);
    let time_us = fields.ms_as_us().ok_or(LINE)?;
    let dash = fields.blank() && fields.byte(b'-') && fields.blank();
    let uid = fields.number(u64::MAX).filter(|_| dash).ok_or(LINE)?;
    let dash = fields.blank() && fields.byte(b'-') && fields.blank();
    let size_bytes = fields.size().filter(|_| dash).ok_or(LINE)?;
    let length = fields.end().ok_or(LINE)?;
    Ok((Packet { time_us, uid, size_bytes }, length))
}

/// Both logs of one direction of one flow, merged by time. On ties the sender's log goes first.
pub(super) struct RawMerge {
    name: String,
    direction: Direction,
    base_us: u64,
    egress: RawLog,
    ingress: RawLog,
    /// Sent packets in the order of their uids. The first `reported` of them have been passed on.
    sent: VecDeque<Packet>,
    reported: usize,
    forgotten: bool,
    egress_ended: bool,
    received: Option<Packet>,
}

impl RawMerge {
    pub(super) fn open(pair: RawPair, direction: Direction) -> Result<Self, Error> {
        let RawPair { egress, ingress, offsets: ClockOffsets { egress_us, ingress_us } } = pair;
        let mut egress = RawLog::open(egress, egress_us)?;
        let mut ingress = RawLog::open(ingress, ingress_us)?;
        let base_us = egress.init_us.min(ingress.init_us);
        if egress.init_us.abs_diff(ingress.init_us) * 1000 > LONGEST_NS {
            return Err(ingress.lines.unusable(TOO_FAR));
        }
        egress.shift_us = egress.init_us - base_us;
        ingress.shift_us = ingress.init_us - base_us;
        let mut merge = Self {
            name: format!("{} with {}", egress.lines.name(), ingress.lines.name()),
            direction,
            base_us,
            egress,
            ingress,
            sent: VecDeque::new(),
            reported: 0,
            forgotten: false,
            egress_ended: false,
            received: None,
        };
        merge.read_sent()?;
        merge.received = merge.ingress.next()?;
        Ok(merge)
    }

    /// Reads the next line of the sender's log.
    fn read_sent(&mut self) -> Result<(), Error> {
        let Some(packet) = self.egress.next()? else {
            self.egress_ended = true;
            return Ok(());
        };
        if self.sent.back().is_some_and(|last| last.uid >= packet.uid) {
            let text = format!("{UID_ORDER}, found uid {}", packet.uid);
            return Err(self.egress.lines.unusable_here(text));
        }
        if self.reported >= WINDOW_PACKETS {
            self.sent.pop_front();
            self.reported -= 1;
            self.forgotten = true;
        }
        self.sent.push_back(packet);
        Ok(())
    }

    /// Returns the sent packet of `received`. Reads ahead in the sender's log if, by disagreeing clocks, the packet
    /// seems to arrive before it was sent.
    fn origin(&mut self, received: Packet) -> Result<Packet, Error> {
        while !self.egress_ended
            && self.sent.back().is_none_or(|last| last.uid < received.uid)
            && self.sent.len() - self.reported < WINDOW_PACKETS
        {
            self.read_sent()?;
        }
        // Uids count up by one, so the position is known unless the log has gaps.
        let first = self.sent.front().map_or(0, |packet| packet.uid);
        let guess = usize::try_from(received.uid.saturating_sub(first)).ok().and_then(|at| self.sent.get(at));
        if let Some(packet) = guess.filter(|packet| packet.uid == received.uid) {
            return Ok(*packet);
        }
        match self.sent.binary_search_by_key(&received.uid, |packet| packet.uid) {
            Ok(at) => Ok(self.sent[at]),
            Err(_) => Err(self.never_sent(received, first)),
        }
    }

    #[cold]
    fn never_sent(&self, received: Packet, first: u64) -> Error {
        let why = if self.forgotten && received.uid < first {
            format!("was sent more than {WINDOW_PACKETS} packets earlier")
        } else if self.sent.back().is_some_and(|last| last.uid < received.uid) && !self.egress_ended {
            format!("is not among the next {WINDOW_PACKETS} packets sent (are the clock offsets right?)")
        } else {
            "was never sent".to_owned()
        };
        let problem =
            format!("received uid {} {why} according to {}", received.uid, self.egress.lines.name());
        self.ingress.lines.unusable_here(problem)
    }

    fn deliver(&mut self, received: Packet) -> Result<Record, Error> {
        let sent = self.origin(received)?;
        if sent.size_bytes != received.size_bytes {
            let (was, is) = (sent.size_bytes, received.size_bytes);
            let problem = format!("uid {} was sent with {was} bytes and received with {is}", sent.uid);
            return Err(self.ingress.lines.unusable_here(problem));
        }
        let delay_us = received.time_us.wrapping_sub(sent.time_us) as i64;
        self.received = self.ingress.next()?;
        Ok(Self::record(received, self.direction.deliver(), delay_us))
    }

    fn record(packet: Packet, event: Event, delay_us: i64) -> Record {
        Record {
            time_ns: packet.time_us * 1000,
            flow: 0,
            event,
            seq: packet.uid,
            size_bytes: packet.size_bytes,
            data_bytes: 0,
            one_way_delay_ns: delay_us * 1000,
        }
    }
}

impl Source for RawMerge {
    fn name(&self) -> &str {
        &self.name
    }

    fn init_us(&self) -> Option<u64> {
        Some(self.base_us)
    }

    fn zero_ns(&self) -> u64 {
        0
    }

    fn oddities(&self) -> Vec<Oddity> {
        [&self.egress, &self.ingress].into_iter().flat_map(|log| log.lines.oddities()).collect()
    }

    fn line(&self) -> u64 {
        self.egress.lines.number() + self.ingress.lines.number()
    }

    fn next(&mut self) -> Result<Option<Record>, Error> {
        if self.reported == self.sent.len() && !self.egress_ended {
            self.read_sent()?;
        }
        let sent = self.sent.get(self.reported).copied();
        match (sent, self.received) {
            (Some(sent), received) if received.is_none_or(|received| sent.time_us <= received.time_us) => {
                self.reported += 1;
                Ok(Some(Self::record(sent, self.direction.send(), 0)))
            }
            (_, Some(received)) => self.deliver(received).map(Some),
            (_, None) => Ok(None),
        }
    }
}
