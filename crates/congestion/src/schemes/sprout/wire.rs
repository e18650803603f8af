//! Information that the ends exchange with every packet, and its encoding in a message and in feedback.
//!
//! The published datagram consists of 18 bytes of header, 20 to 30 bytes of forecast if there is one, and the data
//! (keithw/sprout@366e35c, `src/network/network.cc`). Sequence numbers count bytes; here they travel without their
//! upper bits. A flight's last packet announces the silence until the next heartbeat. Both ends know its length, so the
//! announcement is a flag.

use super::forecast::{Counts, TICKS};
use crate::Message;

/// Bytes of the forecast's length field: the part of the published header that counts as body.
const LENGTH_BYTES: usize = 2;
/// Bytes of a forecast.
const FORECAST_BYTES: usize = 24;

/// Number of bits of a sequence number that travel: twice more than any flight needs.
const SEQUENCE_BITS: u32 = 23;
const SEQUENCE_RANGE: u64 = 1 << SEQUENCE_BITS;
/// Value in place of the counts in a message without forecast; no count is that large.
const NO_FORECAST: u64 = u64::MAX;

/// Lower bits of a byte sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sequence(u64);

impl From<u64> for Sequence {
    fn from(full: u64) -> Self {
        Self(full % SEQUENCE_RANGE)
    }
}

impl Sequence {
    /// Returns the full number that is nearest to `known`.
    pub(super) const fn near(self, known: u64) -> u64 {
        let ahead = self.0.wrapping_sub(known) % SEQUENCE_RANGE;
        if ahead < SEQUENCE_RANGE / 2 || known + ahead < SEQUENCE_RANGE {
            known + ahead
        } else {
            known + ahead - SEQUENCE_RANGE
        }
    }
}

/// Forecast of a receiving end, and the bytes that it has settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forecast {
    /// Bytes of the sequence that are received or lost.
    pub(super) received_or_lost: Sequence,
    /// Packets that will have arrived by the end of each tick.
    pub(super) counts: Counts,
}

/// Header of every packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) sequence: Sequence,
    /// Distance before this packet, in bytes, from which on older packets will not be overtaken any more.
    pub(super) throwaway_bytes: u16,
    /// True if silence follows, until the next heartbeat at the latest.
    pub(super) ends_flight: bool,
    pub(super) data_bytes: u32,
    pub(super) forecast: Option<Forecast>,
}

impl Header {
    /// Returns the bytes that count as the packet's body: those after the first 16 bytes of the published datagram.
    pub(super) const fn body_bytes(&self) -> u64 {
        let forecast = if self.forecast.is_some() { FORECAST_BYTES } else { 0 };
        (LENGTH_BYTES + forecast) as u64 + self.data_bytes as u64
    }

    /// Encodes the header as a message; the data's size is the packet's.
    pub(super) fn to_message(self) -> Message {
        let settled = self.forecast.map_or(0, |forecast| forecast.received_or_lost.0);
        let first = self.sequence.0
            | settled << SEQUENCE_BITS
            | u64::from(self.ends_flight) << (2 * SEQUENCE_BITS)
            | u64::from(self.throwaway_bytes) << 48;
        [first, self.forecast.map_or(NO_FORECAST, |forecast| u64::from_le_bytes(forecast.counts))]
    }

    /// Decodes the message of a packet with `data_bytes` of data.
    pub(super) fn from_message([first, counts]: Message, data_bytes: u32) -> Self {
        let received_or_lost = Sequence::from(first >> SEQUENCE_BITS);
        Self {
            sequence: first.into(),
            throwaway_bytes: (first >> 48) as u16,
            ends_flight: first >> (2 * SEQUENCE_BITS) & 1 == 1,
            data_bytes,
            forecast: (counts != NO_FORECAST)
                .then(|| Forecast { received_or_lost, counts: counts.to_le_bytes() }),
        }
    }

    /// Appends the header as feedback, in as many bytes as the published datagram takes.
    pub(super) fn write(&self, feedback: &mut Vec<u8>) {
        feedback.extend(self.sequence.0.to_be_bytes());
        // The published datagram has its timestamps here; the transport has them in dumbbell.
        feedback.extend(self.data_bytes.to_be_bytes());
        feedback.extend(self.throwaway_bytes.to_be_bytes());
        feedback.extend(u16::from(self.ends_flight).to_be_bytes());
        let forecast_bytes = if self.forecast.is_some() { FORECAST_BYTES as u16 } else { 0 };
        feedback.extend(forecast_bytes.to_be_bytes());
        if let Some(forecast) = &self.forecast {
            feedback.extend(forecast.received_or_lost.0.to_be_bytes());
            // The published datagram names its tick here, which no receiver reads.
            feedback.extend([0; 8]);
            feedback.extend(forecast.counts);
        }
    }

    /// Reads feedback; `None` if it is not Sprout's.
    pub(super) fn read(feedback: &[u8]) -> Option<Self> {
        let mut rest = feedback;
        let sequence = u64::from_be_bytes(take(&mut rest)?).into();
        let data_bytes = u32::from_be_bytes(take(&mut rest)?);
        let throwaway_bytes = u16::from_be_bytes(take(&mut rest)?);
        let ends_flight = u16::from_be_bytes(take(&mut rest)?) > 0;
        let forecast = match usize::from(u16::from_be_bytes(take(&mut rest)?)) {
            0 => None,
            FORECAST_BYTES => {
                let received_or_lost = u64::from_be_bytes(take(&mut rest)?).into();
                take::<8>(&mut rest)?;
                Some(Forecast { received_or_lost, counts: take::<TICKS>(&mut rest)? })
            }
            _ => return None,
        };
        Some(Self { sequence, throwaway_bytes, ends_flight, data_bytes, forecast })
    }
}

/// Returns the next `N` bytes.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers() -> [Header; 3] {
        let forecast = Forecast { received_or_lost: 8_388_000.into(), counts: [0, 1, 2, 3, 4, 5, 200, 234] };
        let full = Header {
            sequence: 12_345_678.into(),
            throwaway_bytes: u16::MAX,
            ends_flight: true,
            data_bytes: 1400,
            forecast: Some(forecast),
        };
        [Header::default(), full, Header { forecast: None, ends_flight: false, ..full }]
    }

    #[test]
    fn headers_survive_messages_and_feedback() {
        for header in headers() {
            assert_eq!(Header::from_message(header.to_message(), header.data_bytes), header);
            let mut feedback = vec![];
            header.write(&mut feedback);
            let forecast_bytes = if header.forecast.is_some() { 24 } else { 0 };
            assert_eq!(feedback.len(), 18 + forecast_bytes);
            assert_eq!(Header::read(&feedback), Some(header));
            for end in 0..feedback.len() {
                assert_eq!(Header::read(&feedback[..end]), None, "{end} bytes");
            }
        }
    }

    #[test]
    fn shortened_sequence_numbers_are_completed() {
        for known in [0_u64, 1400, 8_388_607, 8_388_608, 1 << 40] {
            for full in [known, known + 4_000_000, known.saturating_sub(4_000_000)] {
                assert_eq!(Sequence::from(full).near(known), full, "{full} near {known}");
            }
        }
    }
}
