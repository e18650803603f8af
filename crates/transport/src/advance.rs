//! News of one ACK about the stream, besides its news about packets.

use crate::flight::Flight;
use crate::packets::Fate;

/// News of one ACK about the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advance {
    /// Stream bytes that were not known to have arrived.
    pub(crate) arrived_bytes: u64,
    /// Newly arrived bytes above the cumulative point. Any make the ACK a duplicate one (RFC 6675 2).
    pub(crate) sacked_bytes: u64,
    /// Bytes by which the cumulative point advanced.
    pub(crate) completed_bytes: u64,
    /// True if the cumulative point passed a retransmitted segment.
    pub(crate) retransmission: bool,
    /// Packet number of the first segment that the cumulative point passed. `None` if that segment was sent more than
    /// once, or if losses are not detected by sequence.
    pub(crate) timed: Option<u64>,
}

impl Advance {
    /// Sums up the packets that the latest ACK acknowledged completely; the stream is complete up to `complete`.
    pub(crate) fn of_packets(flight: &Flight, complete: u64) -> Self {
        let mut advance = Self::default();
        for acked in flight.acked() {
            let Some(packet) = flight.get(acked.number).filter(|packet| packet.fate == Fate::Acked) else {
                continue;
            };
            let (bytes, is_above) = (u64::from(packet.payload_bytes), packet.end() > complete);
            advance.arrived_bytes += bytes;
            advance.sacked_bytes += if is_above { bytes } else { 0 };
            advance.retransmission |= acked.retransmission && !is_above;
        }
        advance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::packets::SentPacket;
    use crate::wire::{AckFrame, Arrival, Part};

    fn of(flight: &mut Flight, arrived: &[u64], complete: u64) -> Advance {
        flight.acknowledged_for_test(0, arrived, complete);
        Advance::of_packets(flight, complete * 1000)
    }

    #[test]
    fn what_lies_above_the_completed_stream_was_acknowledged_selectively() {
        let advance = of(&mut Flight::of_test(&Config::tcp()), &[0, 1, 4], 2);
        assert_eq!((advance.arrived_bytes, advance.sacked_bytes), (3000, 1000));
        assert_eq!((advance.retransmission, advance.timed), (false, None));
    }

    #[test]
    fn an_ack_of_nothing_new_tells_nothing() {
        let mut flight = Flight::of_test(&Config::tcp());
        of(&mut flight, &[0], 1);
        assert_eq!(of(&mut flight, &[0], 1), Advance::default());
    }

    #[test]
    fn a_retransmission_counts_once_the_stream_is_complete_up_to_it() {
        for (complete, expected) in [(0, false), (1, true)] {
            let mut flight = Flight::of_test(&Config::tcp());
            flight.lose(0);
            flight.send(SentPacket { retransmission: true, ..SentPacket::of_test(0, 10) });
            assert_eq!(of(&mut flight, &[10], complete).retransmission, expected);
        }
    }

    #[test]
    fn a_packet_acknowledged_in_part_has_not_arrived_yet() {
        let mut flight = Flight::of_test(&Config::tcp());
        for (index, arrived) in [(0, 0), (1, 1000)] {
            let arrivals = [Arrival::default()].into_iter().collect();
            let part = Some(Part { index, count: 2 });
            flight.collect(&AckFrame { number: u64::from(index), arrivals, part, ..AckFrame::default() });
            assert_eq!(Advance::of_packets(&flight, 0).arrived_bytes, arrived, "part {index}");
        }
    }
}
