//! Packets that a TUN device takes in one write: consecutive data of one TCP connection.
//!
//! The kernel takes them through its stack as one superpacket, as it takes what the driver of a network card puts together
//! (GRO). Each packet has met the path before and has a record of its own. Datagrams of UDP stay single: most sockets want them
//! single, and then the kernel takes them apart again, which costs as much as it gains.

use crate::inspect::IpHeader;
use crate::superpacket::{
    HEADER_BYTES, LAST_FLAGS, NEEDS_CHECKSUM, ONE, TCP_V4, TCP_V6, sequence, set_length, transport_bytes,
};

/// Maximum number of packets of a write.
pub(crate) const MOST_JOINED: usize = 64;
/// Maximum length of a write without its header, bytes.
const MOST_BYTES: usize = 0xffff;
/// Maximum length of the headers of IP and TCP, bytes.
const MOST_HEADERS: usize = 120;
/// TCP among the protocols of IP.
const TCP: u8 = 6;
/// TCP flags of packets that others may follow: ACK and ECE.
const PLAIN_FLAGS: u8 = 0b101_0000;

/// The headers of the first packet of a write, and the data of all packets.
#[derive(Debug)]
pub(crate) struct JointWrite {
    /// The device's header, and those of IP and TCP.
    headers: [u8; HEADER_BYTES + MOST_HEADERS],
    ip_bytes: usize,
    /// Headers of IP and TCP, bytes.
    headers_bytes: usize,
    /// Data of each packet but the last, bytes.
    each_bytes: usize,
    /// Data of all packets, bytes.
    data_bytes: usize,
    packets: usize,
}

impl JointWrite {
    /// Returns the write that begins with this packet behind its header; `None` if no other packet may follow it.
    #[inline]
    pub(crate) fn begin(framed: &[u8]) -> Option<Self> {
        let packet = framed.get(HEADER_BYTES..)?;
        let ip = IpHeader::read(packet)?;
        let headers_bytes = ip.length + transport_bytes(true, packet.get(ip.length..)?)?;
        let each_bytes = packet.len() - headers_bytes;
        let is_plain = framed[..2] == [NEEDS_CHECKSUM, ONE]
            && ip.protocol == TCP
            && packet[ip.length + 13] & !PLAIN_FLAGS == 0
            && !ip.more_fragments
            && ip.fragment_offset == 0;
        if !is_plain || each_bytes == 0 || headers_bytes > MOST_HEADERS {
            return None;
        }
        let mut headers = [0; HEADER_BYTES + MOST_HEADERS];
        headers[..HEADER_BYTES + headers_bytes].copy_from_slice(&framed[..HEADER_BYTES + headers_bytes]);
        let (ip_bytes, data_bytes) = (ip.length, each_bytes);
        Some(Self { headers, ip_bytes, headers_bytes, each_bytes, data_bytes, packets: 1 })
    }

    /// Adds the next packet behind its header, of which [`data`](Self::data) is written; returns false if it does not fit.
    #[inline]
    pub(crate) fn add(&mut self, framed: &[u8]) -> bool {
        let headers = HEADER_BYTES + self.headers_bytes;
        let Some(data_bytes) = framed.len().checked_sub(headers) else { return false };
        let fits = self.packets < MOST_JOINED
            && self.data_bytes == self.packets * self.each_bytes
            && self.headers[HEADER_BYTES + self.ip_bytes + 13] & LAST_FLAGS == 0
            && (1..=self.each_bytes).contains(&data_bytes)
            && self.headers_bytes + self.data_bytes + data_bytes <= MOST_BYTES;
        if !fits || self.expected(framed)[..headers] != framed[..headers] {
            return false;
        }
        self.headers[HEADER_BYTES + self.ip_bytes + 13] |= framed[HEADER_BYTES + self.ip_bytes + 13];
        self.data_bytes += data_bytes;
        self.packets += 1;
        true
    }

    /// Returns the headers that `framed` has if it comes next: those of the first packet, but for lengths, identification,
    /// checksums, sequence number, and flags of the last packet.
    fn expected(&self, framed: &[u8]) -> [u8; HEADER_BYTES + MOST_HEADERS] {
        let mut expected = self.headers;
        let mut copy =
            |at: usize, bytes: usize| expected[at..at + bytes].copy_from_slice(&framed[at..at + bytes]);
        let transport = HEADER_BYTES + self.ip_bytes;
        if framed[HEADER_BYTES] >> 4 == 4 {
            copy(HEADER_BYTES + 2, 4);
            copy(HEADER_BYTES + 10, 2);
        } else {
            copy(HEADER_BYTES + 4, 2);
        }
        copy(transport + 16, 2);
        let next = sequence(&self.headers[transport..]).wrapping_add(self.data_bytes as u32);
        expected[transport + 4..transport + 8].copy_from_slice(&next.to_be_bytes());
        expected[transport + 13] |= framed[transport + 13] & LAST_FLAGS;
        expected
    }

    /// Returns the part of a packet behind its header that is written after the headers: its data.
    pub(crate) fn data<'a>(&self, framed: &'a [u8]) -> &'a [u8] {
        &framed[HEADER_BYTES + self.headers_bytes..]
    }

    /// Returns the headers of the superpacket.
    pub(crate) fn headers(&mut self) -> &[u8] {
        let headers_bytes = self.headers_bytes;
        let (device, headers) = self.headers[..HEADER_BYTES + headers_bytes].split_at_mut(HEADER_BYTES);
        device[1] = if headers[0] >> 4 == 4 { TCP_V4 } else { TCP_V6 };
        device[2..4].copy_from_slice(&(headers_bytes as u16).to_ne_bytes());
        device[4..6].copy_from_slice(&(self.each_bytes as u16).to_ne_bytes());
        let lengths = [self.each_bytes, self.data_bytes].map(|bytes| headers_bytes + bytes);
        set_length(headers, self.ip_bytes, true, lengths);
        &self.headers[..HEADER_BYTES + headers_bytes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::superpacket::tests::{parts, superpacket};

    /// Returns the number of packets of the first write, and its bytes.
    fn written(packets: &[Vec<u8>]) -> (usize, Vec<u8>) {
        let mut write = JointWrite::begin(&packets[0]).unwrap();
        let count = 1 + packets[1..].iter().take_while(|packet| write.add(packet)).count();
        let data = packets[..count].iter().flat_map(|packet| write.data(packet)).copied().collect::<Vec<_>>();
        (count, [write.headers(), &data].concat())
    }

    #[test]
    fn what_is_written_at_once_is_what_the_kernel_would_hand_over_at_once() {
        for read in [superpacket(4, 2500, 1000), superpacket(6, 3000, 1000)] {
            let packets = parts(&read);
            let (count, written) = written(&packets);
            assert_eq!(count, 3);
            assert_eq!(parts(&written), packets);
        }
    }

    #[test]
    fn packets_that_differ_in_more_than_their_place_are_written_alone() {
        let packets = parts(&superpacket(4, 3000, 1000));
        let changed = |at: usize, bit: u8| {
            let mut packets = packets.clone();
            packets[1][HEADER_BYTES + at] ^= bit;
            written(&packets).0
        };
        assert_eq!(changed(1, 0b11), 1, "ECN");
        assert_eq!((changed(8, 1), changed(15, 1)), (1, 1), "hops, address");
        assert_eq!(
            (changed(21, 1), changed(27, 1), changed(31, 1)),
            (1, 1, 1),
            "port, sequence number, ACK number"
        );
        assert_eq!(
            (changed(33, 0b1000_0000), changed(35, 1), changed(45, 1)),
            (1, 1, 1),
            "CWR, window, option"
        );
        assert_eq!(changed(33, 0b1000), 2, "PSH: nothing follows");
        assert_eq!(changed(5, 1), 3, "identification");
        let without = [packets[0].clone(), packets[2].clone()];
        assert_eq!(written(&without).0, 1, "one was lost");
        let again = [packets[0].clone(), packets[0].clone()];
        assert_eq!(written(&again).0, 1, "a copy");
        let [first, last] = [0, 1].map(|index| parts(&superpacket(4, 1500, 1000))[index].clone());
        assert_eq!(written(&[first.clone(), last.clone(), last]).0, 2, "nothing follows a shorter one");
    }

    #[test]
    fn other_packets_begin_nothing() {
        let packets = parts(&superpacket(4, 3000, 1000));
        assert!(JointWrite::begin(&packets[2]).is_none(), "FIN");
        let changed = |at: usize, bit: u8| {
            let mut packet = packets[0].clone();
            packet[at] ^= bit;
            JointWrite::begin(&packet).is_none()
        };
        assert!(changed(0, 1), "its checksum is complete");
        assert!(changed(HEADER_BYTES + 33, 2), "SYN");
        assert!(changed(HEADER_BYTES + 9, 1), "another protocol");
        assert!(changed(HEADER_BYTES + 6, 0x20), "a fragment");
        assert!(JointWrite::begin(&packets[0][..HEADER_BYTES + 52]).is_none(), "no data");
        assert!((0..HEADER_BYTES + 52).all(|length| JointWrite::begin(&packets[0][..length]).is_none()));
    }
}
