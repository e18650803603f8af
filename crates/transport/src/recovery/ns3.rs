//! Differences of ns-3 during a loss episode (ns-3.41, `src/internet/model/tcp-prr-recovery.cc` and
//! `tcp-socket-base.cc`).

use super::prr::{Delivery, Prr};
use crate::advance::Advance;

/// Returns the bytes that may leave after an ACK by ns-3's proportional rate reduction. Its numbers have 32 bits. If
/// the product of bytes exceeds 4 GiB, sending does not keep up with deliveries, and the flight falls to `ssthresh` at
/// once. Below `ssthresh`, slow start needs a retransmission that has arrived.
pub(super) fn allowance(prr: &Prr, ack: &Delivery) -> u64 {
    if ack.in_flight > prr.ssthresh {
        let product = (prr.delivered as u32).wrapping_mul(prr.ssthresh as u32);
        return u64::from(product).div_ceil(prr.flight).saturating_sub(prr.sent);
    }
    let bound = match prr.delivered.checked_sub(prr.sent) {
        _ if !ack.safe => ack.bytes,
        Some(due) => due.max(ack.bytes) + prr.payload,
        // A difference below zero wraps round to the largest number; adding the payload wraps it back.
        None => prr.payload.saturating_sub(prr.sent - prr.delivered),
    };
    bound.min(prr.ssthresh - ack.in_flight)
}

/// Returns the number of times that ns-3 asks for an allowance after one ACK: once for selectively acknowledged data
/// and once for a partial ACK. Each time all delivered bytes count.
pub(super) fn questions(advance: &Advance) -> u32 {
    u32::from(advance.sacked_bytes > 0) + u32::from(advance.completed_bytes > 0)
}

/// Returns the bytes by which windows grow: the bytes that complete the stream. An ACK that reports a hole gives none,
/// except while data that a timeout declared lost are sent again.
pub(super) const fn growth_bytes(advance: &Advance, is_after_timeout: bool) -> u64 {
    if advance.sacked_bytes == 0 || is_after_timeout { advance.completed_bytes } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(prr: &mut Prr, bytes: u64, in_flight: u64, safe: bool) -> u64 {
        prr.on_ack(&Delivery { bytes, in_flight, safe }, allowance);
        prr.window()
    }

    #[test]
    fn nothing_is_sent_once_the_product_does_not_fit_32_bits() {
        let segment = 1448;
        let (flight, ssthresh) = (990 * segment, 493 * segment);
        let mut prr = Prr::begin(ssthresh, flight, 987 * segment, segment);
        // The first ACK: half a segment is due, but the retransmission leaves at least.
        assert_eq!(ack(&mut prr, segment, 986 * segment, false), 987 * segment);
        prr.on_sent(segment);
        // Three segments delivered: ceil(4344 * 713864 / 1433520) = 2164 bytes are due, 1448 of them sent.
        assert_eq!(ack(&mut prr, 2 * segment, 983 * segment, false), 983 * segment + 716);
        // Five: 7240 * 713864 - 2^32 = 873,408,064, which makes 610 bytes due in all.
        assert_eq!(ack(&mut prr, 2 * segment, 979 * segment, false), 979 * segment);
    }

    #[test]
    fn the_flight_is_refilled_when_a_retransmission_has_arrived() {
        let mut prr = Prr::begin(100, 200, 90, 1);
        (0..80).for_each(|_| assert_eq!(ack(&mut prr, 1, 90, false), 91));
        // 81 bytes delivered, none sent, one more delivered: the window reaches ssthresh.
        assert_eq!(ack(&mut prr, 1, 20, true), 100);
        prr.on_sent(82);
        // As many bytes sent as delivered: two may leave. More bytes sent: none may leave until deliveries make up for
        // that.
        assert_eq!(ack(&mut prr, 1, 90, true), 92);
        prr.on_sent(2);
        assert_eq!(ack(&mut prr, 1, 91, true), 91);
    }

    #[test]
    fn windows_grow_by_what_completes_the_stream_and_not_with_a_hole() {
        let advance = Advance { sacked_bytes: 0, completed_bytes: 3000, ..Advance::default() };
        assert_eq!((growth_bytes(&advance, false), questions(&advance)), (3000, 1));
        let hole = Advance { sacked_bytes: 1000, ..advance };
        assert_eq!((growth_bytes(&hole, false), growth_bytes(&hole, true), questions(&hole)), (0, 3000, 2));
    }
}
