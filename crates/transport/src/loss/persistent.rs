//! Persistent congestion: losses in a row over a long time (RFC 9002 7.6).

use congestion::AckedPacket;
use units::{Span, Time};

/// Returns true if `lost`, in ascending order, contains consecutive packets that were sent over more than `limit`. The
/// first of them must not have left before `first_sample_at`, the time of the first RTT sample.
pub(crate) fn lasts_longer_than(limit: Span, first_sample_at: Time, lost: &[AckedPacket]) -> bool {
    let since_then = lost.partition_point(|packet| packet.sent_at < first_sample_at);
    let lost = &lost[since_then..];
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
        let lasts_longer_than = |limit, lost: &[AckedPacket]| lasts_longer_than(limit, Time::ZERO, lost);
        assert!(lasts_longer_than(limit, &lost(&[(3, 0), (4, 60), (5, 101)])));
        assert!(!lasts_longer_than(limit, &lost(&[(3, 0), (4, 60), (5, 100)])));
        assert!(!lasts_longer_than(limit, &lost(&[(3, 0), (5, 60), (6, 101)])));
        assert!(!lasts_longer_than(limit, &[]));
    }

    #[test]
    fn packets_from_before_the_first_rtt_sample_do_not_count() {
        let (limit, packets) = (Span::from_ms(100), lost(&[(3, 0), (4, 60), (5, 150)]));
        let since = |ms: u64| lasts_longer_than(limit, Time::from_ns(ms * 1_000_000), &packets);
        assert_eq!((since(0), since(1)), (true, false));
    }
}
