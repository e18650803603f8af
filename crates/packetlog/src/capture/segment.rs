//! Captured packet, decoded as far as its captured bytes go.

use super::layers::{Tunnels, innermost};
use super::link::Link;
use etherparse::{IpNumber, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TcpOptionsIterator};
use record::{Event, Record};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

/// Number of bytes that identify a datagram: a protected QUIC packet number and the first payload bytes.
const IDENTIFYING_BYTES: usize = 32;

/// Maximum payload of an offloaded segment, bytes (Linux v6.12, include/linux/netdevice.h, `GSO_MAX_SIZE`: 512 KiB).
const LARGEST_PAYLOAD_BYTES: u32 = 1 << 19;

/// Address and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct End {
    pub(super) address: IpAddr,
    pub(super) port: u16,
}

/// Pair of endpoints in both directions; the lesser endpoint is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Connection {
    pub(super) ends: [End; 2],
    pub(super) is_tcp: bool,
    /// Initial sequence number; `None` for the first connection between these endpoints in the capture.
    pub(super) opened: Option<u32>,
}

/// TCP or UDP packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// Time since 1970, ns.
    pub(super) time_ns: u64,
    pub(super) from: End,
    pub(super) to: End,
    /// Length of the IP datagram, bytes.
    pub(super) size_bytes: u32,
    pub(super) payload_bytes: u32,
    /// True if the packet arrived with CE (RFC 3168 5).
    pub(super) ce: bool,
    /// Identification in the IPv4 header (RFC 6864); 0 for IPv6.
    pub(super) identification: u16,
    /// Remaining hops (TTL).
    pub(super) hops: u8,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, Hash)]
pub(super) enum Kind {
    Tcp(Tcp),
    Udp(Udp),
}

/// Used fields of a TCP header (RFC 9293 3.1) and its options (RFC 7323, RFC 2018).
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(super) struct Tcp {
    pub(super) seq: u32,
    pub(super) ack: Option<u32>,
    pub(super) syn: bool,
    pub(super) fin: bool,
    pub(super) window: u16,
    pub(super) option_bytes: u32,
    pub(super) mss: Option<u16>,
    /// Timestamp value and echo.
    pub(super) timestamps: Option<(u32, u32)>,
    pub(super) sacks: [Option<(u32, u32)>; 4],
}

impl Tcp {
    /// Returns true if the packet is the first SYN of a connection.
    pub(super) const fn opens(&self) -> bool {
        self.syn && self.ack.is_none()
    }
}

#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Udp {
    /// Hash of the payload's first bytes and length; `None` if too little was captured.
    pub(super) identity: Option<u64>,
    /// Version in a long header of QUIC (RFC 8999 5.1); `None` if the packet does not look like one.
    pub(super) version: Option<u32>,
    /// Spin bit of a short header (RFC 9000 17.4); `None` if the packet does not look like one.
    pub(super) spin: Option<bool>,
}

impl Segment {
    /// Returns the packet's identity, which is equal on every interface in spite of routers and offloads. Returns
    /// `None` if too little was captured.
    pub(super) fn identity(&self) -> Option<u64> {
        let Self { from, to, size_bytes, identification, kind, .. } = *self;
        if let Kind::Udp(Udp { identity: None, .. }) = kind {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        (from, to, size_bytes, identification, kind).hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Returns the first connection between the packet's endpoints.
    pub(super) fn connection(&self) -> Connection {
        let is_tcp = matches!(self.kind, Kind::Tcp(_));
        let ends = if self.from <= self.to { [self.from, self.to] } else { [self.to, self.from] };
        Connection { ends, is_tcp, opened: None }
    }

    /// Returns true if the packet goes from the lesser endpoint to the greater one.
    pub(super) fn is_forward(&self) -> bool {
        self.from <= self.to
    }
}

/// Decodes a frame from its captured bytes `data`, and the tunnels around its packet. Returns `None` if the frame is no
/// TCP or UDP over IP, or too little was captured.
pub(super) fn decode(
    link: Link,
    time_ns: u64,
    data: &[u8],
    original_bytes: u32,
) -> Option<(Segment, Tunnels)> {
    let (inner, tunnels) = innermost(link, data)?;
    let packet = LaxSlicedPacket::from_ip(inner).ok()?;
    let net = packet.net.as_ref()?;
    let (source, destination, header, stated_bytes, ecn, identification, hops): (
        IpAddr,
        IpAddr,
        &[u8],
        u32,
        u8,
        u16,
        u8,
    ) = match net {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let (from, to) = (header.source_addr().into(), header.destination_addr().into());
            (
                from,
                to,
                header.slice(),
                u32::from(header.total_len()),
                header.ecn().value(),
                header.identification(),
                header.ttl(),
            )
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let stated = u32::from(header.payload_length());
            let length = if stated == 0 { 0 } else { stated + 40 };
            (
                header.source_addr().into(),
                header.destination_addr().into(),
                header.slice(),
                length,
                header.ecn().value(),
                0,
                header.hop_limit(),
            )
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let payload = net.ip_payload_ref()?;
    if payload.fragmented {
        return None;
    }
    let offset = |slice: &[u8]| (slice.as_ptr() as usize).checked_sub(data.as_ptr() as usize);
    let before_ip = u32::try_from(offset(header)?).ok()?;
    let before_transport = u32::try_from(offset(payload.payload)?).ok()? - before_ip;
    // Offloads pass on segments before their length is known (0), or longer than the field allows.
    let size_bytes = if stated_bytes == 0 { original_bytes.checked_sub(before_ip)? } else { stated_bytes };
    let transport_bytes = size_bytes.checked_sub(before_transport)?;
    let port = |at: usize| Some(u16::from_be_bytes(payload.payload.get(at..at + 2)?.try_into().ok()?));
    let from = End { address: source, port: port(0)? };
    let to = End { address: destination, port: port(2)? };
    let (header_bytes, kind) = match payload.ip_number {
        IpNumber::TCP => tcp(payload.payload)?,
        IpNumber::UDP => (8, Kind::Udp(udp(payload.payload.get(8..)?, transport_bytes.checked_sub(8)?))),
        _ => return None,
    };
    let payload_bytes =
        transport_bytes.checked_sub(header_bytes).filter(|&bytes| bytes <= LARGEST_PAYLOAD_BYTES)?;
    let ce = ecn == 3;
    Some((Segment { time_ns, from, to, size_bytes, payload_bytes, ce, identification, hops, kind }, tunnels))
}

/// Returns the record of a segment with an unknown delay.
pub(super) fn plain(
    time_ns: u64,
    flow: u32,
    event: Event,
    seq: u64,
    segment: &Segment,
    data_bytes: u32,
) -> Record {
    Record { time_ns, flow, event, seq, size_bytes: segment.size_bytes, data_bytes, one_way_delay_ns: 0 }
}

/// Returns true if a frame holds a fragment of an IP packet.
pub(super) fn is_fragment(link: Link, data: &[u8]) -> bool {
    let packet = innermost(link, data).and_then(|(inner, _)| LaxSlicedPacket::from_ip(inner).ok());
    packet.is_some_and(|packet| {
        packet.net.as_ref().and_then(LaxNetSlice::ip_payload_ref).is_some_and(|payload| payload.fragmented)
    })
}

/// Returns the interface of a cooked frame by its header: Linux's interface number, or else the frame's direction.
pub(super) fn cooked_interface(link: Link, data: &[u8]) -> Option<u32> {
    match link {
        Link::Sll2 => Some(u32::from_be_bytes(data.get(4..8)?.try_into().ok()?)),
        Link::Sll => Some(u32::from(u16::from_be_bytes(data.get(0..2)?.try_into().ok()?))),
        Link::Ethernet
        | Link::Loopback
        | Link::Raw
        | Link::Ppp
        | Link::PppWithDirection
        | Link::Wifi
        | Link::Radiotap
        | Link::Nflog => None,
    }
}

/// Decodes a TCP header, whose options may be truncated. Returns its length and content.
fn tcp(bytes: &[u8]) -> Option<(u32, Kind)> {
    let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let flags = *bytes.get(13)?;
    let header_bytes = usize::from(bytes.get(12)? >> 4) * 4;
    if header_bytes < 20 {
        return None;
    }
    let mut tcp = Tcp {
        seq: word(4)?,
        ack: (flags & 0x10 != 0).then_some(word(8)?),
        syn: flags & 0x02 != 0,
        fin: flags & 0x01 != 0,
        window: u16::from_be_bytes(bytes.get(14..16)?.try_into().ok()?),
        option_bytes: header_bytes as u32 - 20,
        ..Tcp::default()
    };
    let options = bytes.get(20..header_bytes.min(bytes.len())).unwrap_or_default();
    for option in TcpOptionsIterator::from_slice(options).map_while(Result::ok) {
        match option {
            TcpOptionElement::MaximumSegmentSize(mss) => tcp.mss = Some(mss),
            TcpOptionElement::Timestamp(value, echo) => tcp.timestamps = Some((value, echo)),
            TcpOptionElement::SelectiveAcknowledgement(first, rest) => {
                tcp.sacks = [Some(first), rest[0], rest[1], rest[2]];
            }
            _ => {}
        }
    }
    Some((header_bytes as u32, Kind::Tcp(tcp)))
}

fn udp(captured: &[u8], payload_bytes: u32) -> Udp {
    let first_byte = captured.first().copied();
    let is_long = first_byte.is_some_and(|byte| byte & 0xC0 == 0xC0);
    let version = captured.get(1..5).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    let wanted = IDENTIFYING_BYTES.min(payload_bytes as usize);
    let identity = captured.get(..wanted).filter(|bytes| !bytes.is_empty()).map(|bytes| {
        let mut hasher = DefaultHasher::new();
        (bytes, payload_bytes).hash(&mut hasher);
        hasher.finish()
    });
    let spin = first_byte.filter(|byte| byte & 0xC0 == 0x40).map(|byte| byte & 0x20 != 0);
    Udp { identity, version: version.filter(|_| is_long), spin }
}
