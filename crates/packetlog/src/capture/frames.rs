//! Stream of the packets of a capture file, pcap or pcapng.

use super::copies::Copies;
use super::layers::Tunnels;
use super::lifetimes::Lifetimes;
use super::link::Link;
use super::segment::{Connection, Segment, cooked_interface, decode, is_fragment};
use crate::{Error, Interrupts, compressed};
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, LegacyPcapBlock, PcapBlockOwned, PcapError, create_reader};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of packets in the sorting buffer for a file that is not in time order.
const SORTED: usize = 1 << 18;

/// Initial and maximum size of the read buffer, bytes. The buffer must hold a whole block.
const BUFFER_BYTES: usize = 1 << 18;
const LARGEST_BYTES: usize = 1 << 24;

/// Type of pcapng's old packet blocks, before the enhanced ones (draft-ietf-opsawg-pcapng, appendix A).
const OBSOLETE_PACKET: u32 = 2;

/// First bytes of a pcap file, by its unit of time.
const MICROSECONDS: u32 = 0xA1B2_C3D4;
const NANOSECONDS: u32 = 0xA1B2_3C4D;

/// Counts and flags of a file, besides its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// Number of frames of any kind.
    pub frames: u64,
    /// Number of frames that are neither TCP nor UDP over IP, or truncated within their headers.
    pub others: u64,
    /// Number of frames with IP fragments.
    pub fragments: u64,
    /// Number of frames with copies of earlier packets, from another interface or a mirror.
    pub copies: u64,
    /// Number of packets that came through tunnels.
    pub tunnelled: u64,
    /// Kinds of these tunnels.
    pub tunnels: Tunnels,
    /// Number of packets that follow a packet with a later time.
    pub unordered: u64,
    /// True if the file ends within a packet.
    pub is_cut: bool,
}

/// Reason why a file cannot be read further. The capture parser does not pass this reason on.
#[derive(Clone, Debug, Default)]
struct Problem(Arc<Mutex<Option<String>>>);

impl Problem {
    fn error(&self, path: &Path) -> Error {
        let problem = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Error::file(
            path,
            problem.map_or_else(|| "cannot be read".to_owned(), |text| format!("cannot be read: {text}")),
        )
    }

    fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// Decompressed file that records the reason why it cannot be read further.
struct Content {
    file: Box<dyn std::io::Read + Send>,
    problem: Problem,
}

impl std::io::Read for Content {
    /// Fills the buffer as far as the file goes. The parser detects the file type from the first read, and the first
    /// block of pcapng may be longer than one output of a decoder.
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let read = self.file.read(&mut buffer[filled..]).inspect_err(|error| {
                *self.problem.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            })?;
            if read == 0 {
                break;
            }
            filled += read;
        }
        Ok(filled)
    }
}

/// Interface of a capture.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: Link,
    ticks_per_second: u64,
    offset_s: i64,
}

/// TCP or UDP packet with its interface, if the capture has several.
#[derive(Clone, Copy, Debug)]
struct Shown {
    segment: Segment,
    interface: Option<u64>,
}

/// Packet in the sorting buffer, ordered by time, then by position in the file.
#[derive(Debug)]
struct Waiting {
    place: (u64, u64),
    shown: Shown,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.place.cmp(&other.place)
    }
}

/// Reader of the packets of a file.
pub(super) struct Frames {
    path: PathBuf,
    problem: Problem,
    reader: Box<dyn PcapReaderIterator + Send>,
    capacity: usize,
    interfaces: Vec<Result<Interface, i32>>,
    /// Detector of copies; `None` if copies are not looked for.
    copies: Option<Copies>,
    lifetimes: Lifetimes,
    /// Sorting buffer, earliest packet first; `None` if the file is in time order.
    waiting: Option<BinaryHeap<Reverse<Waiting>>>,
    is_over: bool,
    latest_ns: u64,
    interrupts: Interrupts,
    pub(super) captured: Captured,
}

/// Content of a block.
enum Read {
    /// TCP or UDP packet with its interface, if the capture has several.
    Packet(Segment, Tunnels, Option<u64>),
    Fragment,
    /// Another packet.
    Unread,
    /// No packet.
    Other,
}

impl Frames {
    /// Opens a file. With `sorts`, packets come in time order, within a window of `SORTED` packets. With
    /// `may_have_copies`, copies are looked for, which takes a third of the time.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is no capture.
    pub(super) fn open(
        path: &Path,
        sorts: bool,
        may_have_copies: bool,
        interrupts: &Interrupts,
    ) -> Result<Self, Error> {
        let problem = Problem::default();
        let content = Content { file: compressed::open(path)?, problem: problem.clone() };
        let reader = create_reader(BUFFER_BYTES, content).map_err(|error| match error {
            _ if problem.is_some() => problem.error(path),
            PcapError::Eof => Error::file(path, "is empty"),
            PcapError::Incomplete(_) | PcapError::UnexpectedEof => {
                Error::file(path, "is cut off in its header")
            }
            _ => Error::file(
                path,
                "is no capture: it begins neither as pcap nor as pcapng; of captures in other formats `editcap OLD NEW` of \
                 Wireshark makes one",
            ),
        })?;
        let (path, captured, interrupts) = (path.to_owned(), Captured::default(), interrupts.clone());
        Ok(Self {
            path,
            problem,
            reader,
            capacity: BUFFER_BYTES,
            interfaces: Vec::new(),
            copies: may_have_copies.then(Copies::default),
            lifetimes: Lifetimes::default(),
            waiting: sorts.then(BinaryHeap::new),
            is_over: false,
            latest_ns: 0,
            interrupts,
            captured,
        })
    }

    /// Returns the next TCP or UDP packet that is no copy, with its connection.
    ///
    /// # Errors
    /// Returns an error if the file is damaged or has an unknown link layer, or the work is interrupted.
    pub(super) fn next(&mut self) -> Result<Option<(Connection, Segment)>, Error> {
        while let Some(Shown { segment, interface }) = self.next_in_order()? {
            if self.copies.as_mut().is_some_and(|copies| copies.is_copy(&segment, interface)) {
                self.captured.copies += 1;
            } else {
                return Ok(Some((self.lifetimes.connection(&segment), segment)));
            }
        }
        Ok(None)
    }

    fn next_in_order(&mut self) -> Result<Option<Shown>, Error> {
        let Some(mut waiting) = self.waiting.take() else { return self.read() };
        while !self.is_over && waiting.len() < SORTED {
            match self.read()? {
                Some(shown) => {
                    let place = (shown.segment.time_ns, self.captured.frames);
                    waiting.push(Reverse(Waiting { place, shown }));
                }
                None => self.is_over = true,
            }
        }
        let first = waiting.pop().map(|Reverse(first)| first.shown);
        self.waiting = Some(waiting);
        Ok(first)
    }

    /// Returns the next TCP or UDP packet of the file.
    fn read(&mut self) -> Result<Option<Shown>, Error> {
        loop {
            self.interrupts.after(1)?;
            let number = self.captured.frames + 1;
            match self.reader.next() {
                Ok((offset, block)) => {
                    let read = take(&mut self.interfaces, block);
                    self.reader.consume(offset);
                    match read.map_err(|problem| self.refuse(number, &problem.to_string()))? {
                        Read::Other => continue,
                        Read::Unread => self.captured.others += 1,
                        Read::Fragment => self.captured.fragments += 1,
                        Read::Packet(segment, tunnels, interface) => {
                            self.captured.frames += 1;
                            self.captured.tunnelled += u64::from(tunnels.is_some());
                            self.captured.tunnels = self.captured.tunnels.and(tunnels);
                            self.captured.unordered += u64::from(segment.time_ns < self.latest_ns);
                            self.latest_ns = self.latest_ns.max(segment.time_ns);
                            return Ok(Some(Shown { segment, interface }));
                        }
                    }
                    self.captured.frames += 1;
                }
                Err(PcapError::Eof) => return Ok(None),
                Err(PcapError::UnexpectedEof) => {
                    // The capture was stopped within a packet. The packets before are complete.
                    self.captured.is_cut = true;
                    return Ok(None);
                }
                Err(PcapError::Incomplete(_)) => {
                    let (path, problem) = (&self.path, &self.problem);
                    self.reader.refill().map_err(|_| problem.error(path))?;
                }
                Err(PcapError::BufferTooSmall) => {
                    self.capacity *= 2;
                    if self.capacity > LARGEST_BYTES || !self.reader.grow(self.capacity) {
                        return Err(self.damaged(number, "is longer than any packet"));
                    }
                    let (path, problem) = (&self.path, &self.problem);
                    self.reader.refill().map_err(|_| problem.error(path))?;
                }
                Err(_) => return Err(self.damaged(number, "cannot be read")),
            }
        }
    }

    fn damaged(&self, number: u64, problem: &str) -> Error {
        let before = number - 1;
        let keeps = if before > 0 {
            format!("; `editcap -r OLD NEW 1-{before}` of Wireshark keeps what is before")
        } else {
            String::new()
        };
        self.refuse(number, &format!("{problem}: the file is damaged{keeps}"))
    }

    fn refuse(&self, number: u64, problem: &str) -> Error {
        Error::file(&self.path, format!("packet {number} {problem}"))
    }
}

/// Reason why a packet cannot be read. The message begins with the number of the packet.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error(
        "is the header of another capture: `mergecap -w NEW FILES` of Wireshark joins captures, `cat` does not"
    )]
    AnotherCapture,
    #[error("has an interface with a resolution of time that is unknown")]
    Resolution,
    #[error("has no time: simple packet blocks have none; capture without them")]
    NoTime,
    #[error("is an obsolete packet block (type 2): `editcap OLD NEW` of Wireshark writes current ones")]
    Obsolete,
    #[error("is of an interface that the file does not describe")]
    NoInterface,
    #[error(
        "has link type {0}: read are Ethernet (1), Linux cooked (113, 276), raw IP (12, 101, 228, 229), loopback \
         (0, 108), PPP (9, 50, 204), 802.11 (105, 127) and NFLOG (239): capture on an interface of such a kind"
    )]
    LinkType(i32),
    #[error("has a time before 1970 or after 2116: `editcap OLD NEW NUMBER` of Wireshark leaves it out")]
    Time,
}

/// Decodes a block.
fn take(interfaces: &mut Vec<Result<Interface, i32>>, block: PcapBlockOwned<'_>) -> Result<Read, Unreadable> {
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let ticks_per_second = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
            interfaces.push(interface(header.network.0 & 0xFFFF, ticks_per_second, 0));
            Ok(Read::Other)
        }
        PcapBlockOwned::Legacy(frame) if is_header(&frame) => Err(Unreadable::AnotherCapture),
        PcapBlockOwned::Legacy(frame) => {
            let ticks = |interface: &Interface| {
                u64::from(frame.ts_sec)
                    .checked_mul(interface.ticks_per_second)?
                    .checked_add(u64::from(frame.ts_usec))
            };
            packet(interfaces, 0, ticks, frame.data, frame.origlen)
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
            interfaces.clear();
            Ok(Read::Other)
        }
        PcapBlockOwned::NG(Block::InterfaceDescription(found)) => {
            let resolution = found.ts_resolution().filter(|&ticks| ticks > 0);
            let resolution = resolution.ok_or(Unreadable::Resolution)?;
            interfaces.push(interface(found.linktype.0, resolution, found.ts_offset()));
            Ok(Read::Other)
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(found)) => {
            let ticks = (u64::from(found.ts_high) << 32) | u64::from(found.ts_low);
            let data = found.data.get(..found.caplen as usize).unwrap_or(found.data);
            packet(interfaces, found.if_id as usize, |_| Some(ticks), data, found.origlen)
        }
        PcapBlockOwned::NG(Block::SimplePacket(_)) => Err(Unreadable::NoTime),
        // The parser returns the type of an unknown block in the file's byte order.
        PcapBlockOwned::NG(Block::Unknown(found))
            if [OBSOLETE_PACKET, OBSOLETE_PACKET.swap_bytes()].contains(&found.block_type) =>
        {
            Err(Unreadable::Obsolete)
        }
        PcapBlockOwned::NG(_) => Ok(Read::Other),
    }
}

fn interface(number: i32, ticks_per_second: u64, offset_s: i64) -> Result<Interface, i32> {
    Link::of(number).map(|link| Interface { link, ticks_per_second, offset_s }).ok_or(number)
}

/// Returns true if the data of a packet is the header of another capture, as in concatenated files. The header's magic
/// number is at the position of a packet's seconds. Its time zone and accuracy, which are 0, are at the position of a
/// packet's lengths.
fn is_header(frame: &LegacyPcapBlock<'_>) -> bool {
    let magic = [MICROSECONDS, NANOSECONDS];
    let begins = magic.contains(&frame.ts_sec) || magic.contains(&frame.ts_sec.swap_bytes());
    begins && frame.caplen == 0 && frame.origlen == 0
}

fn packet(
    interfaces: &[Result<Interface, i32>],
    id: usize,
    ticks: impl FnOnce(&Interface) -> Option<u64>,
    data: &[u8],
    original_bytes: u32,
) -> Result<Read, Unreadable> {
    let interface = interfaces.get(id).ok_or(Unreadable::NoInterface)?;
    let interface = interface.as_ref().map_err(|&number| Unreadable::LinkType(number))?;
    let time_ns = ticks(interface).and_then(|ticks| time_ns(ticks, interface));
    let time_ns = time_ns.ok_or(Unreadable::Time)?;
    let cooked = cooked_interface(interface.link, data);
    let shown = (cooked.is_some() || interfaces.len() > 1)
        .then(|| (id as u64) << 32 | u64::from(cooked.unwrap_or_default()));
    Ok(match decode(interface.link, time_ns, data, original_bytes) {
        Some((segment, tunnels)) => Read::Packet(segment, tunnels, shown),
        None if is_fragment(interface.link, data) => Read::Fragment,
        None => Read::Unread,
    })
}

/// Returns the time since 1970, ns; `None` above half of the type's range.
fn time_ns(ticks: u64, interface: &Interface) -> Option<u64> {
    let per_second = u128::from(interface.ticks_per_second);
    let since = i128::try_from(u128::from(ticks) * 1_000_000_000 / per_second).ok()?;
    let ns = since + i128::from(interface.offset_s) * 1_000_000_000;
    u64::try_from(ns).ok().filter(|&ns| ns < u64::MAX / 4)
}
