//! Superpackets that are read from a TUN device: one packet, or data of one TCP connection or UDP socket for several packets.
//! The kernel leaves their headers and checksums to the device (`struct virtio_net_hdr` of Linux v6.12,
//! `include/uapi/linux/virtio_net.h`).
//!
//! One read replaces up to forty, and the two ends exchange no checksums. Each packet is written before it enters the path,
//! so that each packet meets queue, loss and delay.

use crate::inspect::IpHeader;
use std::ops::Range;

/// Length of the header before a packet, bytes: flags, kind, length of the headers, data of a packet, and start and place of
/// the checksum.
pub(crate) const HEADER_BYTES: usize = 10;
/// Maximum length of a read, header and packet, bytes.
pub(crate) const MOST_BYTES: usize = HEADER_BYTES + 0xffff;

/// Flag: the checksum field has the sum of the pseudo header only. The device adds the rest.
pub(crate) const NEEDS_CHECKSUM: u8 = 1;
/// Kinds: one packet, packets of TCP over IPv4 and IPv6, and datagrams of UDP.
pub(crate) const ONE: u8 = 0;
pub(crate) const TCP_V4: u8 = 1;
pub(crate) const TCP_V6: u8 = 4;
const UDP_DATAGRAMS: u8 = 5;
/// TCP flags of the last packet only: FIN and PSH.
pub(crate) const LAST_FLAGS: u8 = 0b1001;
/// Length of the header of UDP, bytes.
const UDP_HEADER_BYTES: usize = 8;

/// One packet or several, as read from a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Superpacket<'a> {
    header: &'a [u8; HEADER_BYTES],
    packet: &'a [u8],
    /// Headers of IP and of TCP or UDP, bytes.
    headers_bytes: usize,
    ip_bytes: usize,
    /// Maximum data of a packet, bytes.
    data_bytes: usize,
}

impl<'a> Superpacket<'a> {
    /// Returns the superpacket; `None` if the bytes are no packet, or have a kind that was not asked for.
    pub(crate) fn parse(read: &'a [u8]) -> Option<Self> {
        let (header, packet) = read.split_first_chunk::<HEADER_BYTES>()?;
        let one = Self { header, packet, headers_bytes: 0, ip_bytes: 0, data_bytes: packet.len() };
        match header[1] {
            ONE => Some(one),
            kind @ (TCP_V4 | TCP_V6 | UDP_DATAGRAMS) => {
                let ip_bytes = IpHeader::read(packet)?.length;
                let headers_bytes =
                    ip_bytes + transport_bytes(kind != UDP_DATAGRAMS, packet.get(ip_bytes..)?)?;
                let data_bytes = usize::from(u16::from_ne_bytes([header[4], header[5]]));
                let is_whole = headers_bytes < packet.len();
                (data_bytes > 0 && is_whole).then_some(Self { headers_bytes, ip_bytes, data_bytes, ..one })
            }
            _ => None,
        }
    }

    /// Returns the number of packets.
    pub(crate) fn count(&self) -> usize {
        (self.packet.len() - self.headers_bytes).div_ceil(self.data_bytes.max(1)).max(1)
    }

    /// Writes packet `index` with its header into `memory` and returns their length; `None` if `memory` is too short.
    pub(crate) fn write(&self, index: usize, memory: &mut [u8]) -> Option<usize> {
        if self.headers_bytes == 0 {
            let length = HEADER_BYTES + self.packet.len();
            let (header, packet) = memory.get_mut(..length)?.split_at_mut(HEADER_BYTES);
            header.copy_from_slice(self.header);
            packet.copy_from_slice(self.packet);
            return Some(length);
        }
        let begin = self.headers_bytes + index * self.data_bytes;
        let end = (begin + self.data_bytes).min(self.packet.len());
        let length = HEADER_BYTES + self.headers_bytes + end.checked_sub(begin)?;
        let (header, packet) = memory.get_mut(..length)?.split_at_mut(HEADER_BYTES);
        header.copy_from_slice(&[NEEDS_CHECKSUM, ONE, 0, 0, 0, 0, 0, 0, 0, 0]);
        header[6..].copy_from_slice(&self.header[6..]);
        packet[..self.headers_bytes].copy_from_slice(&self.packet[..self.headers_bytes]);
        packet[self.headers_bytes..].copy_from_slice(&self.packet[begin..end]);
        self.adjust_headers(index, end == self.packet.len(), packet);
        Some(length)
    }

    /// Adjusts the headers of packet `index`: identification, sequence number, flags, lengths and checksums.
    fn adjust_headers(&self, index: usize, is_last: bool, packet: &mut [u8]) {
        let is_tcp = self.header[1] != UDP_DATAGRAMS;
        if packet[0] >> 4 == 4 {
            let identification = get(packet, 4).wrapping_add(index as u16);
            put(packet, 4..6, identification);
        }
        if is_tcp {
            let tcp = &mut packet[self.ip_bytes..];
            let sequence = sequence(tcp).wrapping_add((index * self.data_bytes) as u32);
            tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
            if !is_last {
                tcp[13] &= !LAST_FLAGS;
            }
        }
        let length = packet.len();
        set_length(packet, self.ip_bytes, is_tcp, [self.packet.len(), length]);
    }
}

/// Returns the length of the header of TCP or UDP; `None` if a part of the header is missing.
pub(crate) fn transport_bytes(is_tcp: bool, transport: &[u8]) -> Option<usize> {
    let length = if is_tcp { usize::from(transport.get(12)? >> 4) * 4 } else { UDP_HEADER_BYTES };
    (length >= if is_tcp { 20 } else { UDP_HEADER_BYTES } && length <= transport.len()).then_some(length)
}

/// Returns the sequence number of a TCP header.
pub(crate) fn sequence(tcp: &[u8]) -> u32 {
    u32::from(get(tcp, 4)) << 16 | u32::from(get(tcp, 6))
}

/// Writes a new length into the headers of a packet, whose lengths `before` and `after` are in bytes, and adjusts the checksums.
pub(crate) fn set_length(headers: &mut [u8], ip_bytes: usize, is_tcp: bool, [before, after]: [usize; 2]) {
    let (ip, transport) = headers.split_at_mut(ip_bytes);
    if ip[0] >> 4 == 4 {
        put(ip, 2..4, after as u16);
        put(ip, 10..12, 0);
        let sum = ip.chunks_exact(2).map(|pair| u32::from(get(pair, 0))).sum();
        put(ip, 10..12, !folded(sum));
    } else {
        put(ip, 4..6, (after - 40) as u16);
    }
    let [before, after] = [before, after].map(|bytes| (bytes - ip_bytes) as u16);
    if !is_tcp {
        put(transport, 4..6, after);
    }
    // The pseudo header contains the length of the transport's header and data (RFC 9293, section 3.1; RFC 768).
    let at = if is_tcp { 16 } else { 6 };
    let sum = u32::from(get(transport, at)) + u32::from(!before) + u32::from(after);
    put(transport, at..at + 2, folded(sum));
}

fn get(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: Range<usize>, word: u16) {
    bytes[at].copy_from_slice(&word.to_be_bytes());
}

/// Returns a sum of words in ones' complement (RFC 1071).
fn folded(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const TCP: u8 = 6;
    const UDP: u8 = 17;

    /// Returns the sum of the pseudo header of a packet.
    fn pseudo(packet: &[u8], ip_bytes: usize) -> u16 {
        let header = IpHeader::read(packet).unwrap();
        let addresses = IpHeader::addresses(packet);
        let sum: u32 = addresses.chunks_exact(2).map(|pair| u32::from(get(pair, 0))).sum();
        folded(sum + u32::from(header.protocol) + (packet.len() - ip_bytes) as u32)
    }

    /// Returns datagrams of `data` bytes in all, of `each` bytes, over IPv4.
    fn datagrams(data: usize, each: u16) -> Vec<u8> {
        let mut packet = vec![0; 28];
        (packet[0], packet[8], packet[9], packet[15]) = (0x45, 64, UDP, 77);
        packet.extend((0..data).map(|number| number as u8));
        let length = packet.len();
        put(&mut packet, 2..4, length as u16);
        put(&mut packet, 24..26, (length - 20) as u16);
        let sum = pseudo(&packet, 20);
        put(&mut packet, 26..28, sum);
        let mut header = vec![NEEDS_CHECKSUM, UDP_DATAGRAMS, 0, 0];
        for word in [each, 20, 6] {
            header.extend(word.to_ne_bytes());
        }
        [header, packet].concat()
    }

    /// Returns a superpacket of `data` bytes, for packets of `each` bytes, with FIN and PSH.
    pub(crate) fn superpacket(version: u8, data: usize, each: u16) -> Vec<u8> {
        let ip_bytes = if version == 4 { 20 } else { 40 };
        let mut packet = vec![0; ip_bytes + 32];
        packet[0] = if version == 4 { 0x45 } else { 0x60 };
        packet.extend((0..data).map(|number| number as u8));
        let (length, last) = (packet.len(), ip_bytes - 1);
        (packet[last], packet[ip_bytes - 6]) = (2, 77);
        if version == 4 {
            (packet[8], packet[9]) = (64, TCP);
            put(&mut packet, 2..4, length as u16);
            put(&mut packet, 4..6, 0xffff);
        } else {
            (packet[6], packet[7]) = (TCP, 64);
            put(&mut packet, 4..6, (length - 40) as u16);
        }
        packet[ip_bytes + 4..ip_bytes + 8].copy_from_slice(&0xffff_fff0_u32.to_be_bytes());
        (packet[ip_bytes + 12], packet[ip_bytes + 13]) = (8 << 4, 0b1_1001);
        let sum = pseudo(&packet, ip_bytes);
        put(&mut packet, ip_bytes + 16..ip_bytes + 18, sum);
        let mut header = vec![NEEDS_CHECKSUM, if version == 4 { TCP_V4 } else { TCP_V6 }, 0, 0];
        header.extend(each.to_ne_bytes());
        header.extend((ip_bytes as u16).to_ne_bytes());
        header.extend(16_u16.to_ne_bytes());
        [header, packet].concat()
    }

    pub(crate) fn parts(read: &[u8]) -> Vec<Vec<u8>> {
        let whole = Superpacket::parse(read).unwrap();
        (0..whole.count())
            .map(|index| {
                let mut memory = vec![0; MOST_BYTES];
                let length = whole.write(index, &mut memory).unwrap();
                memory.truncate(length);
                memory
            })
            .collect()
    }

    #[test]
    fn the_packets_of_a_superpacket_are_those_that_the_kernel_would_have_made() {
        for (version, ip_bytes) in [(4, 20), (6, 40)] {
            let read = superpacket(version, 2500, 1000);
            let parts = parts(&read);
            let lengths: Vec<usize> =
                parts.iter().map(|part| part.len() - HEADER_BYTES - ip_bytes - 32).collect();
            assert_eq!(lengths, [1000, 1000, 500]);
            let data: Vec<u8> =
                parts.iter().flat_map(|part| &part[HEADER_BYTES + ip_bytes + 32..]).copied().collect();
            assert_eq!(data, read[HEADER_BYTES + ip_bytes + 32..]);
            for (index, part) in parts.iter().enumerate() {
                let (header, packet) = part.split_at(HEADER_BYTES);
                assert_eq!((header[0], header[1]), (NEEDS_CHECKSUM, ONE));
                assert_eq!(header[6..], read[6..HEADER_BYTES], "where the checksum is");
                assert!(crate::inspect::is_whole(packet));
                let tcp = &packet[ip_bytes..];
                assert_eq!(get(tcp, 16), pseudo(packet, ip_bytes));
                let sequence = 0xffff_fff0_u32.wrapping_add(1000 * index as u32);
                assert_eq!(tcp[4..8], sequence.to_be_bytes());
                assert_eq!(tcp[13], if index == 2 { 0b1_1001 } else { 0b1_0000 });
                if version == 4 {
                    assert_eq!(get(packet, 4), 0xffff_u16.wrapping_add(index as u16));
                    let sum = packet[..20].chunks_exact(2).map(|pair| u32::from(get(pair, 0))).sum();
                    assert_eq!(folded(sum), 0xffff, "checksum of the header");
                }
            }
        }
    }

    #[test]
    fn the_datagrams_of_a_superpacket_have_lengths_and_checksums_of_their_own() {
        let read = datagrams(2500, 1000);
        let parts = parts(&read);
        assert_eq!(
            parts.iter().map(|part| part.len() - HEADER_BYTES - 28).collect::<Vec<_>>(),
            [1000, 1000, 500]
        );
        for (index, part) in parts.iter().enumerate() {
            let packet = &part[HEADER_BYTES..];
            assert!(crate::inspect::is_whole(packet));
            assert_eq!(usize::from(get(packet, 24)), packet.len() - 20);
            assert_eq!((get(packet, 4), get(packet, 26)), (index as u16, pseudo(packet, 20)));
            assert_eq!(packet[28..], read[HEADER_BYTES + 28..][index * 1000..][..packet.len() - 28]);
        }
    }

    #[test]
    fn one_packet_stays_as_it_is() {
        let read = [&[0; HEADER_BYTES][..], &[0x45, 1, 2, 3]].concat();
        assert_eq!(parts(&read), [read]);
        let whole = superpacket(4, 100, 1000);
        let small = Superpacket::parse(&whole).unwrap();
        assert_eq!((small.count(), small.write(0, &mut [0; 100])), (1, None), "no room");
    }

    proptest! {
        #[test]
        fn no_superpacket_is_too_strange_to_be_taken_apart(mut read in vec(any::<u8>(), 0..300), kind in 0..6_u8) {
            if let Some(place) = read.get_mut(1) {
                *place = kind;
            }
            if let Some(whole) = Superpacket::parse(&read) {
                for index in 0..whole.count() {
                    prop_assert!(whole.write(index, &mut [0; 400]).is_some());
                }
            }
        }
    }
}
