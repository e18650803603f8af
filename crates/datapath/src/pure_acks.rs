//! Which real acknowledgements say nothing that a later one does not say.

use crate::inspect::IpHeader;
use endpoint::decode_ack;
use transport::AckFrame;

const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_HEADER_BYTES: usize = 8;
/// Least bytes of a TCP header.
const TCP_HEADER_BYTES: usize = 20;
/// ACK among TCP's flags, and those that make a segment more than an ACK: URG, PSH, RST, SYN, FIN.
const ACK: u8 = 0x10;
const MORE: u8 = 0x2f;
/// TCP options that pure ACKs have: end, padding, blocks of SACK, and timestamps, which a later ACK has too.
const END: u8 = 0;
const PADDING: u8 = 1;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Return whether `older` is a pure acknowledgement and the IP packet `newer` says everything that it says. `our_ranges` is
/// the largest number of ranges in an ACK of our own transport; `None` if devices on the way cannot read such ACKs.
///
/// The rules for TCP are those of Linux v6.6 (`net/sched/sch_cake.c`, `cake_tcph_may_drop`, `cake_tcph_sack_compare`). An older
/// ACK is kept if it has an unknown option, other ECN flags, or a SACK block that the newer ACK does not contain.
pub(crate) fn supersedes(newer: &[u8], older: &[u8], our_ranges: Option<usize>) -> bool {
    let (Some((protocol, newer)), Some((UDP | TCP, older))) =
        (payload(newer, None), payload(older, Some(newer)))
    else {
        return false;
    };
    match protocol {
        TCP => tcp_supersedes(newer, older),
        _ => our_ranges.is_some_and(|most| ours_supersedes(newer, older, most)),
    }
}

/// Protocol and payload of an IP packet that is no fragment; `like` has the same addresses and protocol.
fn payload<'a>(packet: &'a [u8], like: Option<&[u8]>) -> Option<(u8, &'a [u8])> {
    let header = IpHeader::read(packet)?;
    let is_alike = like.is_none_or(|like| {
        IpHeader::addresses(like) == IpHeader::addresses(packet)
            && IpHeader::read(like).is_some_and(|other| other.protocol == header.protocol)
    });
    let is_whole = !header.more_fragments && header.fragment_offset == 0;
    (is_alike && is_whole).then(|| (header.protocol, &packet[header.length..]))
}

fn ours_supersedes(newer: &[u8], older: &[u8], most_ranges: usize) -> bool {
    let read = |datagram: &[u8]| {
        let mut frame = AckFrame::default();
        decode_ack(datagram.get(UDP_HEADER_BYTES..)?, &mut frame)?;
        Some(frame)
    };
    matches!((read(newer), read(older)), (Some(newer), Some(older)) if newer.supersedes(&older, most_ranges))
}

fn tcp_supersedes(newer: &[u8], older: &[u8]) -> bool {
    let (Some(new), Some(old)) = (acknowledgement(newer), acknowledgement(older)) else { return false };
    let is_known = |&(start, end): &(u32, u32)| {
        is_up_to(end, new.number)
            || new.blocks.iter().any(|own| is_up_to(own.0, start) && is_up_to(end, own.1))
    };
    let says_more = new.number != old.number || new.block_bytes() > old.block_bytes();
    let is_alike = newer[..4] == older[..4] && newer[12] & 0xf == older[12] & 0xf && newer[13] == older[13];
    is_alike && is_up_to(old.number, new.number) && says_more && old.blocks.iter().all(is_known)
}

/// Whether `one` is at most `other`, of sequence numbers.
fn is_up_to(one: u32, other: u32) -> bool {
    other.wrapping_sub(one) < 1 << 31
}

/// What a pure ACK says.
struct Acknowledgement {
    /// Everything before this number arrived,
    number: u32,
    /// and these ranges.
    blocks: Vec<(u32, u32)>,
}

impl Acknowledgement {
    fn block_bytes(&self) -> u64 {
        self.blocks.iter().map(|(start, end)| u64::from(end.wrapping_sub(*start))).sum()
    }
}

fn acknowledgement(segment: &[u8]) -> Option<Acknowledgement> {
    let fixed: &[u8; TCP_HEADER_BYTES] = segment.first_chunk()?;
    let header_bytes = usize::from(fixed[12] >> 4) * 4;
    let is_pure = fixed[13] & (ACK | MORE) == ACK && header_bytes == segment.len();
    let mut blocks = Vec::new();
    let mut options = segment.get(TCP_HEADER_BYTES..)?;
    while let Some((&kind, rest)) = options.split_first() {
        options = match kind {
            END => &[],
            PADDING => rest,
            TIMESTAMPS => rest.get(9..)?,
            SACK => {
                let listed = rest.get(1..usize::from(*rest.first()?).checked_sub(1)?)?;
                blocks.extend(listed.chunks_exact(8).map(|block| (word(block, 0), word(block, 4))));
                &rest[1 + listed.len()..]
            }
            _ => return None,
        };
    }
    is_pure.then(|| Acknowledgement { number: word(fixed, 8), blocks })
}

/// The number in four bytes, of which there are as many.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend_from_slice(payload);
        packet
    }

    fn in_ipv6(packet: &[u8], host: u8) -> Vec<u8> {
        let mut longer = vec![0; 40];
        (longer[0], longer[6], longer[39]) = (0x60, packet[9], host);
        longer.extend_from_slice(&packet[20..]);
        longer
    }

    /// A segment with these flags, options and payload that acknowledges `number`.
    fn tcp(number: u32, flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
        let mut segment = vec![0; TCP_HEADER_BYTES];
        segment[1] = 80;
        segment[8..12].copy_from_slice(&number.to_be_bytes());
        segment[12] = ((TCP_HEADER_BYTES + options.len()) * 4) as u8;
        segment[13] = flags;
        segment.extend_from_slice(options);
        segment.resize(segment.len() + payload, 7);
        ip(TCP, &segment)
    }

    const STAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    /// A block of SACK.
    fn sack(start: u32, end: u32) -> Vec<u8> {
        [&[1, 1, 5, 10][..], &start.to_be_bytes(), &end.to_be_bytes()].concat()
    }

    #[test]
    fn a_later_pure_ack_supersedes_one_of_the_same_connection() {
        let older = tcp(1000, ACK, &STAMPS, 0);
        assert!(supersedes(&tcp(2000, ACK, &STAMPS, 0), &older, None));
        assert!(supersedes(&tcp(500, ACK, &[], 0), &tcp(u32::MAX - 9, ACK, &[], 0), None), "across the wrap");
        let mut other_port = tcp(2000, ACK, &STAMPS, 0);
        other_port[21] = 81;
        let mut other_host = tcp(2000, ACK, &STAMPS, 0);
        other_host[19] = 3;
        for newer in [
            tcp(1000, ACK, &STAMPS, 0),
            tcp(900, ACK, &STAMPS, 0),
            tcp(2000, ACK | 0x40, &STAMPS, 0),
            tcp(2000, ACK | 1, &STAMPS, 0),
            tcp(2000, ACK, &[254, 4, 0, 0], 0),
            tcp(2000, ACK, &STAMPS, 100),
            other_port,
            other_host,
        ] {
            assert!(!supersedes(&newer, &older, None), "{newer:?}");
        }
        let newer = tcp(2000, ACK, &STAMPS, 0);
        for older in
            [tcp(1000, ACK, &sack(3000, 4000), 0), tcp(1000, ACK, &[], 9), tcp(1000, ACK | 2, &[], 0)]
        {
            assert!(!supersedes(&newer, &older, None), "{older:?}");
        }
    }

    #[test]
    fn acks_of_ipv6_are_compared_too() {
        let (older, newer) = (tcp(1000, ACK, &STAMPS, 0), tcp(2000, ACK, &STAMPS, 0));
        assert!(supersedes(&in_ipv6(&newer, 2), &in_ipv6(&older, 2), None));
        assert!(!supersedes(&in_ipv6(&newer, 3), &in_ipv6(&older, 2), None), "of another host");
        assert!(!supersedes(&newer, &in_ipv6(&older, 2), None));
    }

    #[test]
    fn blocks_of_sack_are_compared() {
        let older = tcp(1000, ACK, &sack(3000, 4000), 0);
        assert!(
            supersedes(&tcp(1000, ACK, &sack(3000, 5000), 0), &older, None),
            "a duplicate that reports more"
        );
        assert!(supersedes(&tcp(4000, ACK, &STAMPS, 0), &older, None), "the hole is filled");
        assert!(!supersedes(&tcp(1000, ACK, &sack(3000, 4000), 0), &older, None), "the same again");
        assert!(!supersedes(&tcp(1000, ACK, &sack(4000, 9000), 0), &older, None), "something is missing");
        assert!(!supersedes(&tcp(2000, ACK, &STAMPS, 0), &older, None), "the block is missing");
    }

    proptest! {
        #[test]
        fn no_packet_is_too_strange(
            bytes in vec(any::<u8>(), 0..90), others in vec(any::<u8>(), 0..90), protocol in any::<bool>(),
        ) {
            let protocol = if protocol { TCP } else { UDP };
            for our_ranges in [None, Some(4)] {
                supersedes(&bytes, &others, our_ranges);
                supersedes(&ip(protocol, &bytes), &ip(protocol, &others), our_ranges);
            }
        }
    }
}
