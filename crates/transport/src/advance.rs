//! What one ACK tells about the stream, beside what it tells about packets.

use crate::flight::Flight;
use crate::packets::Fate;

/// What one ACK tells about the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advance {
    /// Stream bytes that were not known to have arrived.
    pub(crate) arrived_bytes: u64,
    /// Those of them above the cumulative point: more than none makes the ACK a duplicate one (RFC 6675 2).
    pub(crate) sacked_bytes: u64,
    /// Bytes that the cumulative point moved by.
    pub(crate) completed_bytes: u64,
    /// Whether a segment that was sent again was acknowledged by the cumulative point.
    pub(crate) retransmission: bool,
    /// Packet number of the first segment that the cumulative point passed, unless that was sent more than once: only
    /// where losses are told by sequence.
    pub(crate) timed: Option<u64>,
}

impl Advance {
    /// Sums up the packets that the latest ACK acknowledged completely, the stream being complete up to `complete`.
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
