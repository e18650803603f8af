//! Persistent congestion: losses in a row over a long time (RFC 9002 7.6).

use congestion::AckedPacket;
use units::Span;

/// Whether `lost`, in ascending order, has consecutive packets that were sent over more than `limit`.
pub(crate) fn lasts_longer_than(limit: Span, lost: &[AckedPacket]) -> bool {
    let Some(mut first) = lost.first() else { return false };
    lost.windows(2).any(|pair| {
        if pair[1].number != pair[0].number + 1 {
            first = &pair[1];
        }
        pair[1].sent_at - first.sent_at > limit
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    fn lost(packets: &[(u64, u64)]) -> Vec<AckedPacket> {
        let packet = |&(number, ms): &(u64, u64)| AckedPacket {
            number,
            sent_at: Time::from_ns(ms * 1_000_000),
            ..AckedPacket::default()
        };
        packets.iter().map(packet).collect()
    }

    #[test]
    fn a_packet_that_arrived_in_between_starts_the_time_anew() {
        let limit = Span::from_ms(100);
        assert!(lasts_longer_than(limit, &lost(&[(3, 0), (4, 60), (5, 101)])));
        assert!(!lasts_longer_than(limit, &lost(&[(3, 0), (4, 60), (5, 100)])));
        assert!(!lasts_longer_than(limit, &lost(&[(3, 0), (5, 60), (6, 101)])));
        assert!(!lasts_longer_than(limit, &[]));
    }
}
