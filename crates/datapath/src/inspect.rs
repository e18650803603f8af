//! What the emulator reads in a packet: sizes, ECN, fragments, and which payload it carries.

use endpoint::{DataFields, data_fields};
use path::Ecn;
use std::collections::HashMap;
use transport::RangeSet;

const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_HEADER_BYTES: u32 = 8;
/// Positions in a stream start here, so that the first ones can move back.
const STREAM_BASE: u64 = 1 << 32;
/// How far behind the newest packet number copies are still recognised.
const MEMORY_PACKETS: u64 = 1 << 16;

/// Payload a packet carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Content {
    /// None that counts.
    #[default]
    Nothing,
    /// Bytes of a stream, from `offset` on.
    Stream { stream: u32, offset: u64, payload_bytes: u32 },
    /// A numbered packet whose payload counts once.
    Numbered { number: u64, payload_bytes: u32 },
    /// A datagram of a program, or a packet of another protocol: nothing tells whether its payload was there before.
    Opaque { payload_bytes: u32 },
}

impl Content {
    pub(crate) const fn payload_bytes(self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Stream { payload_bytes, .. }
            | Self::Numbered { payload_bytes, .. }
            | Self::Opaque { payload_bytes } => payload_bytes,
        }
    }
}

/// How a flow's data packets are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Our transport; whether it repeats what was lost.
    Ours { reliable: bool },
    /// TCP and whatever else the kernel and programs send.
    Foreign,
    /// Packets of the return direction, which carry nothing that counts.
    Acks,
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    /// Number of its datagram.
    pub(crate) number: u64,
    /// Position among the fragments of the datagram.
    pub(crate) fragment: u8,
    /// How many there are.
    pub(crate) fragments: u8,
    pub(crate) ecn: Ecn,
    /// Payload of the whole datagram, told with each of its fragments.
    pub(crate) content: Content,
}

/// Reads the packets that one end of a flow sends.
#[derive(Debug)]
pub(crate) struct Inspector {
    reading: Reading,
    next_number: u64,
    /// The number of each TCP connection, by its hosts and ports, and the newest position in its stream.
    connections: HashMap<(u64, u32), (u32, u64)>,
    /// The datagram whose fragments are passing.
    fragmented: Option<Fragmented>,
}

#[derive(Clone, Copy, Debug)]
struct Fragmented {
    identification: u32,
    number: u64,
    next: u8,
    count: u8,
    /// Length of the first fragment without the IP header; all but the last one are as long.
    first_bytes: usize,
    /// Length of the whole datagram, as its header says.
    whole_bytes: usize,
    content: Content,
}

impl Fragmented {
    /// Length of the next fragment.
    fn next_bytes(&self) -> usize {
        let is_last = self.next + 1 == self.count;
        let before = self.first_bytes * usize::from(self.next);
        if is_last { self.whole_bytes.saturating_sub(before) } else { self.first_bytes }
    }
}

impl Inspector {
    pub(crate) fn new(reading: Reading) -> Self {
        Self { reading, next_number: 0, connections: HashMap::new(), fragmented: None }
    }

    /// Reads an IP packet. Anything that is none counts as a packet without payload.
    #[inline]
    pub(crate) fn inspect(&mut self, packet: &[u8]) -> Sighting {
        let number = self.next_number;
        let plain =
            Sighting { number, fragment: 0, fragments: 1, ecn: Ecn::NOT_ECT, content: Content::Nothing };
        let Some(header) = IpHeader::read(packet) else {
            self.next_number += 1;
            return plain;
        };
        let plain = Sighting { ecn: header.ecn, ..plain };
        if header.fragment_offset > 0 {
            return self.later_fragment(&header, packet.len() - header.length, plain);
        }
        self.fragmented = None;
        let transport = &packet[header.length..];
        let mut sighting = Sighting { content: self.content(&header, packet), ..plain };
        if let (Reading::Ours { .. }, Some(fields)) = (self.reading, ours(header.protocol, transport)) {
            // The sender's own numbers, as in the simulator.
            sighting.number = fields.number;
            self.next_number = self.next_number.max(fields.number + 1);
        } else {
            self.next_number += 1;
        }
        if header.more_fragments {
            sighting.fragments = fragment_count(transport, packet.len() - header.length);
            self.fragmented = Some(Fragmented {
                identification: header.identification,
                number: sighting.number,
                next: 1,
                count: sighting.fragments,
                first_bytes: transport.len(),
                whole_bytes: big_endian(transport, 4).into(),
                content: sighting.content,
            });
        }
        sighting
    }

    /// Returns what a later fragment is, which has this number of `bytes` behind its IP header. The first fragment states how
    /// long the datagram is. A fragment whose length does not agree with that does not belong to the datagram.
    fn later_fragment(&mut self, header: &IpHeader, bytes: usize, plain: Sighting) -> Sighting {
        match &mut self.fragmented {
            Some(whole)
                if whole.identification == header.identification
                    && whole.next < whole.count
                    && whole.next_bytes() == bytes =>
            {
                whole.next += 1;
                let (number, fragments, content) = (whole.number, whole.count, whole.content);
                Sighting { number, fragment: whole.next - 1, fragments, content, ..plain }
            }
            _ => {
                self.next_number += 1;
                plain
            }
        }
    }

    fn content(&mut self, header: &IpHeader, packet: &[u8]) -> Content {
        let (protocol, transport) = (header.protocol, &packet[header.length..]);
        match (self.reading, protocol) {
            (Reading::Ours { reliable }, _) => match ours(protocol, transport) {
                None => Content::Nothing,
                Some(fields) if reliable => {
                    Content::Stream { stream: 0, offset: fields.offset, payload_bytes: fields.payload_bytes }
                }
                Some(fields) => {
                    Content::Numbered { number: fields.number, payload_bytes: fields.payload_bytes }
                }
            },
            (Reading::Foreign, TCP) => self.tcp(IpHeader::addresses(packet), transport),
            (Reading::Foreign, UDP) => {
                // Only of a fragment is the rest still to come.
                let most = if header.more_fragments { usize::MAX } else { transport.len() };
                let bytes = usize::from(big_endian(transport, 4)).min(most) as u32;
                Content::Opaque { payload_bytes: bytes.saturating_sub(UDP_HEADER_BYTES) }
            }
            (Reading::Foreign, _) => Content::Opaque { payload_bytes: transport.len() as u32 },
            (Reading::Acks, _) => Content::Nothing,
        }
    }

    fn tcp(&mut self, addresses: &[u8], segment: &[u8]) -> Content {
        if segment.len() < 20 {
            return Content::Nothing;
        }
        let header_bytes = usize::from(segment[12] >> 4) * 4;
        let payload_bytes = segment.len().saturating_sub(header_bytes) as u32;
        let ports = u32::from(big_endian(segment, 0)) << 16 | u32::from(big_endian(segment, 2));
        let hosts = addresses.chunks_exact(8).fold(0, |sum: u64, part| {
            sum.rotate_left(1) ^ part.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
        });
        let sequence = u32::from(big_endian(segment, 4)) << 16 | u32::from(big_endian(segment, 6));
        let next = self.connections.len() as u32;
        let (stream, newest) =
            self.connections.entry((hosts, ports)).or_insert((next, STREAM_BASE | u64::from(sequence)));
        let offset = newest.wrapping_add_signed(i64::from(sequence.wrapping_sub(*newest as u32) as i32));
        *newest = (*newest).max(offset);
        if payload_bytes == 0 {
            return Content::Nothing;
        }
        Content::Stream { stream: *stream, offset, payload_bytes }
    }
}

fn ours(protocol: u8, transport: &[u8]) -> Option<DataFields> {
    (protocol == UDP).then(|| transport.get(UDP_HEADER_BYTES as usize..))?.and_then(data_fields)
}

/// Number of fragments of a UDP datagram whose first fragment carries `first_bytes`; its header tells its length.
fn fragment_count(transport: &[u8], first_bytes: usize) -> u8 {
    let whole = usize::from(big_endian(transport, 4));
    whole.div_ceil(first_bytes.max(1)).clamp(1, 128) as u8
}

fn big_endian(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |pair| u16::from_be_bytes([pair[0], pair[1]]))
}

/// Length of the header of IPv6 (RFC 8200, section 3).
const IPV6_HEADER_BYTES: usize = 40;
/// Its extensions (RFC 8200, section 4): those that state their length in 8 bytes, and the one of fragments.
const EXTENSIONS: [u8; 3] = [0, 43, 60];
const FRAGMENT: u8 = 44;
const NO_NEXT_HEADER: u8 = 59;

/// The fields of an IP header that matter here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpHeader {
    /// With extensions, bytes.
    pub(crate) length: usize,
    ecn: Ecn,
    identification: u32,
    pub(crate) more_fragments: bool,
    pub(crate) fragment_offset: u16,
    pub(crate) protocol: u8,
}

impl IpHeader {
    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Self::of_ipv4(packet),
            6 => Self::of_ipv6(packet),
            _ => None,
        }
    }

    fn of_ipv4(packet: &[u8]) -> Option<Self> {
        if packet.len() < 20 {
            return None;
        }
        let length = usize::from(packet[0] & 0xf) * 4;
        let fragment = big_endian(packet, 6);
        (length >= 20 && length <= packet.len()).then(|| Self {
            length,
            ecn: ecn(packet[1]),
            identification: big_endian(packet, 4).into(),
            more_fragments: fragment & 0x2000 != 0,
            fragment_offset: fragment & 0x1fff,
            protocol: packet[9],
        })
    }

    fn of_ipv6(packet: &[u8]) -> Option<Self> {
        if packet.len() < IPV6_HEADER_BYTES {
            return None;
        }
        let mut header = Self {
            length: IPV6_HEADER_BYTES,
            ecn: ecn(packet[1] >> 4),
            identification: 0,
            more_fragments: false,
            fragment_offset: 0,
            protocol: packet[6],
        };
        while header.protocol == FRAGMENT || EXTENSIONS.contains(&header.protocol) {
            let is_fragment = header.protocol == FRAGMENT;
            let extension = packet.get(header.length..).unwrap_or_default();
            let bytes =
                if is_fragment { 8 } else { extension.get(1).map_or(8, |units| usize::from(*units) * 8 + 8) };
            if extension.len() < bytes {
                // Cut off: nothing behind it can be read.
                (header.length, header.protocol) = (packet.len(), NO_NEXT_HEADER);
                break;
            }
            if is_fragment {
                let fragment = big_endian(extension, 2);
                header.identification =
                    u32::from(big_endian(extension, 4)) << 16 | u32::from(big_endian(extension, 6));
                (header.more_fragments, header.fragment_offset) = (fragment & 1 != 0, fragment >> 3);
            }
            header.length += bytes;
            header.protocol = extension[0];
            if header.fragment_offset > 0 {
                break;
            }
        }
        Some(header)
    }

    /// Returns the addresses of a packet that has such a header.
    pub(crate) fn addresses(packet: &[u8]) -> &[u8] {
        let part =
            if packet.first().is_some_and(|first| first >> 4 == 4) { 12..20 } else { 8..IPV6_HEADER_BYTES };
        packet.get(part).unwrap_or_default()
    }
}

/// The ECN field: the lowest bits of the traffic class (RFC 3168, section 5).
fn ecn(class: u8) -> Ecn {
    [Ecn::NOT_ECT, Ecn::ECT1, Ecn::ECT0, Ecn::CE][usize::from(class & 0b11)]
}

/// Whether all of a packet is there: an IP packet says how long it is.
pub(crate) fn is_whole(packet: &[u8]) -> bool {
    packet.first().is_some_and(|first| match first >> 4 {
        4 => usize::from(big_endian(packet, 2)) == packet.len(),
        6 => IPV6_HEADER_BYTES + usize::from(big_endian(packet, 4)) == packet.len(),
        _ => true,
    })
}

/// Sets the ECN field of an IP packet. That of IPv4 has a header checksum, which is mended (RFC 1624, equation 3).
pub(crate) fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    if IpHeader::read(packet).is_none_or(|header| header.ecn == ecn) {
        return;
    }
    if packet[0] >> 4 == 6 {
        packet[1] = packet[1] & !0b11_0000 | ecn.bits() << 4;
        return;
    }
    let before = u32::from(big_endian(packet, 0));
    packet[1] = packet[1] & !0b11 | ecn.bits();
    let after = u32::from(big_endian(packet, 0));
    let sum = u32::from(!big_endian(packet, 10)) + (!before & 0xffff) + after;
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

/// Counts payload that is new to the receiver of a flow.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    streams: Vec<RangeSet>,
    numbers: RangeSet,
}

impl Arrived {
    /// Bytes of `content` that had not arrived before.
    #[inline]
    pub(crate) fn take(&mut self, content: Content) -> u32 {
        match content {
            Content::Nothing => 0,
            Content::Opaque { payload_bytes } => payload_bytes,
            Content::Numbered { number, payload_bytes } => {
                self.numbers.remove_below(number.saturating_sub(MEMORY_PACKETS));
                if self.numbers.insert(number, number + 1) > 0 { payload_bytes } else { 0 }
            }
            Content::Stream { stream, offset, payload_bytes } => {
                let index = stream as usize;
                if self.streams.len() <= index {
                    self.streams.resize_with(index + 1, RangeSet::default);
                }
                self.streams[index].insert(offset, offset + u64::from(payload_bytes)) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// An IPv4 packet around `transport`.
    fn ipv4(protocol: u8, fragment: u16, identification: u16, transport: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0b10, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let length = (packet.len() + transport.len()) as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet[4..6].copy_from_slice(&identification.to_be_bytes());
        packet[6..8].copy_from_slice(&fragment.to_be_bytes());
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend_from_slice(transport);
        packet
    }

    fn checksum(header: &[u8]) -> u16 {
        let sum: u32 = header[..20].chunks(2).map(|pair| u32::from(big_endian(pair, 0))).sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        !(((folded & 0xffff) + (folded >> 16)) as u16)
    }

    fn tcp(sequence: u32, payload: usize) -> Vec<u8> {
        let mut segment = vec![0; 32 + payload];
        segment[1] = 80;
        segment[4..8].copy_from_slice(&sequence.to_be_bytes());
        segment[12] = 8 << 4;
        segment
    }

    fn udp(length: u16) -> Vec<u8> {
        let mut datagram = vec![0; usize::from(length)];
        datagram[4..6].copy_from_slice(&length.to_be_bytes());
        datagram
    }

    #[test]
    fn retransmitted_tcp_payload_counts_once_across_the_wrap_of_sequence_numbers() {
        let (mut inspector, mut arrived) = (Inspector::new(Reading::Foreign), Arrived::default());
        let start = u32::MAX - 1500;
        let mut take = |sequence: u32, payload: usize| {
            let sighting = inspector.inspect(&ipv4(TCP, 0, 0, &tcp(sequence, payload)));
            (sighting.content.payload_bytes(), arrived.take(sighting.content))
        };
        assert_eq!(take(start, 1000), (1000, 1000));
        assert_eq!(take(start.wrapping_add(2000), 1000), (1000, 1000));
        assert_eq!(take(start.wrapping_add(1000), 1000), (1000, 1000));
        assert_eq!(take(start.wrapping_add(2000), 1000), (1000, 0));
        assert_eq!(take(start.wrapping_add(3000), 0), (0, 0));
    }

    #[test]
    fn fragments_share_the_number_of_their_datagram() {
        let mut inspector = Inspector::new(Reading::Foreign);
        let mut seen = |fragment: u16, identification: u16, transport: &[u8]| {
            let sighting = inspector.inspect(&ipv4(UDP, fragment, identification, transport));
            (sighting.number, sighting.fragment, sighting.fragments, sighting.content.payload_bytes())
        };
        let datagram = udp(1508);
        assert_eq!(seen(0x2000, 9, &datagram[..1440]), (0, 0, 2, 1500));
        assert_eq!(seen(180, 9, &datagram[1440..]), (0, 1, 2, 1500));
        assert_eq!(seen(0, 10, &udp(108)), (1, 0, 1, 100));
        // The rest of a datagram whose beginning was not seen.
        assert_eq!(seen(180, 11, &[0; 50]), (2, 0, 1, 0));
    }

    #[test]
    fn a_datagram_has_no_more_payload_than_it_carries() {
        // A program's 28 bytes on the wire that say they are 65,535: 0.011 Mbit/s were 25.8.
        let mut inspector = Inspector::new(Reading::Foreign);
        let mut seen = |fragment: u16, transport: &[u8]| {
            let sighting = inspector.inspect(&ipv4(UDP, fragment, 9, transport));
            (sighting.fragments, sighting.content.payload_bytes())
        };
        assert_eq!(seen(0, &udp(65_535)[..8]), (1, 0));
        assert_eq!(seen(0, &udp(100)[..50]), (1, 42));
        // Of the two fragments that make it whole the second one is too short.
        let datagram = udp(2000);
        assert_eq!(seen(0x2000, &datagram[..1440]), (2, 1992));
        assert_eq!(seen(180, &datagram[1440..1448]), (1, 0));
        assert_eq!(seen(180, &datagram[1440..]), (2, 1992));
    }

    #[test]
    fn marking_keeps_the_header_checksum_right() {
        for identification in [0, 1, 0xabcd, 0xffff] {
            let mut packet = ipv4(UDP, 0, identification, &udp(30));
            assert_eq!(Inspector::new(Reading::Acks).inspect(&packet).ecn, Ecn::ECT0);
            for ecn in [Ecn::CE, Ecn::NOT_ECT, Ecn::ECT1, Ecn::ECT0] {
                set_ecn(&mut packet, ecn);
                assert_eq!(Inspector::new(Reading::Acks).inspect(&packet).ecn, ecn);
                assert_eq!(checksum(&packet), 0);
            }
        }
    }

    /// An IPv6 packet with `extensions` before `transport`, of which the first has this number.
    fn ipv6(next: u8, extensions: &[u8], transport: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; IPV6_HEADER_BYTES];
        (packet[0], packet[1], packet[6], packet[7]) = (0x6f, 0x2f, next, 64);
        (packet[23], packet[39]) = (1, 2);
        let length = (extensions.len() + transport.len()) as u16;
        packet[4..6].copy_from_slice(&length.to_be_bytes());
        packet.extend_from_slice(extensions);
        packet.extend_from_slice(transport);
        packet
    }

    #[test]
    fn packets_of_ipv6_are_read_like_those_of_ipv4() {
        let mut inspector = Inspector::new(Reading::Foreign);
        let mut seen = |packet: &[u8]| {
            let sighting = inspector.inspect(packet);
            (sighting.number, sighting.ecn, sighting.content)
        };
        let plain = ipv6(TCP, &[], &tcp(1000, 500));
        let stream = |offset| Content::Stream { stream: 0, offset: STREAM_BASE + offset, payload_bytes: 500 };
        assert_eq!(seen(&plain), (0, Ecn::ECT0, stream(1000)));
        // Options for every router, 16 bytes, then for the destination, 8 bytes.
        let options = [&[60, 1][..], &[0; 14], &[TCP, 0], &[0; 6]].concat();
        assert_eq!(seen(&ipv6(0, &options, &tcp(1500, 500))), (1, Ecn::ECT0, stream(1500)));
        assert_eq!(seen(&ipv6(UDP, &[], &udp(108))).2, Content::Opaque { payload_bytes: 100 });
        let mut other_host = plain.clone();
        other_host[39] = 3;
        assert!(matches!(seen(&other_host).2, Content::Stream { stream: 1, .. }));
        assert_eq!(seen(&ipv6(0, &options[..10], &[])).2, Content::Opaque { payload_bytes: 0 });
        assert!(is_whole(&plain) && !is_whole(&plain[..100]));
    }

    #[test]
    fn fragments_of_ipv6_are_one_datagram() {
        let mut inspector = Inspector::new(Reading::Foreign);
        let mut seen = |offset: u16, number: u8, transport: &[u8]| {
            let [high, low] = offset.to_be_bytes();
            let sighting =
                inspector.inspect(&ipv6(FRAGMENT, &[UDP, 0, high, low, 9, 0, 0, number], transport));
            (sighting.number, sighting.fragment, sighting.fragments, sighting.content.payload_bytes())
        };
        let datagram = udp(2008);
        assert_eq!(seen(1, 7, &datagram[..1448]), (0, 0, 2, 2000));
        assert_eq!(seen(181 << 3, 7, &datagram[1448..]), (0, 1, 2, 2000));
        assert_eq!(seen(181 << 3, 8, &datagram[1448..]), (1, 0, 1, 0));
    }

    #[test]
    fn marking_writes_the_traffic_class_of_ipv6_and_nothing_else() {
        for ecn in [Ecn::CE, Ecn::NOT_ECT, Ecn::ECT1, Ecn::ECT0] {
            let mut packet = ipv6(UDP, &[], &udp(30));
            let mut expected = packet.clone();
            set_ecn(&mut packet, ecn);
            assert_eq!(Inspector::new(Reading::Acks).inspect(&packet).ecn, ecn);
            expected[1] = 0x0f | ecn.bits() << 4;
            assert_eq!(packet, expected);
        }
    }

    #[test]
    fn copies_of_numbered_packets_count_once() {
        let mut arrived = Arrived::default();
        let packet = |number| Content::Numbered { number, payload_bytes: 100 };
        assert_eq!([0, 2, 1, 2].map(|number| arrived.take(packet(number))), [100, 100, 100, 0]);
    }

    proptest! {
        #[test]
        fn no_packet_is_too_strange_to_be_read(
            packets in vec((0..3_u8, vec(any::<u8>(), 0..200)), 1..20),
            reliable in any::<bool>(),
        ) {
            let readings = [Reading::Foreign, Reading::Acks, Reading::Ours { reliable }];
            let mut inspectors = readings.map(Inspector::new);
            let mut arrived = Arrived::default();
            for (kind, mut packet) in packets {
                if let (1.., Some(first)) = (kind, packet.first_mut()) {
                    *first = [0x45, 0x60][usize::from(kind - 1)];
                }
                for inspector in &mut inspectors {
                    let sighting = inspector.inspect(&packet);
                    prop_assert!(sighting.fragment < sighting.fragments);
                    prop_assert!(arrived.take(sighting.content) <= sighting.content.payload_bytes());
                }
                set_ecn(&mut packet, Ecn::CE);
            }
        }
    }

    #[test]
    fn garbage_is_a_packet_without_payload() {
        let mut inspector = Inspector::new(Reading::Foreign);
        for garbage in [&[][..], &[0x45; 19], &[0x60; 39], &[0x70; 48], &[0x4f; 30], &[0x45; 22]] {
            assert_eq!(inspector.inspect(garbage).content.payload_bytes(), 0);
        }
    }
}
