//! Encoding of data packets.

use super::varint::{get, put};
use super::{DATA, KIND_MASK, flag, pad};
use congestion::Message;
use transport::{Data, FrameMark};
use units::{Span, Time};

/// Maximum length of a data packet's header, bytes, which is all that a receiver reads.
pub(crate) const DATA_HEAD_BYTES: usize = 96;

/// Flag of a data packet with retransmitted payload.
const RETRANSMISSION: u8 = 1;
/// Flag of a data packet without application data.
const FILLER: u8 = 2;
/// Flag of a data packet with a message of the scheme's sender half to its receiver half.
const MESSAGE: u8 = 4;
/// Flag of a data packet with a part of a live source's frame.
const FRAME: u8 = 8;

/// Fields of a data packet for observers on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataFields {
    /// Packet number.
    pub number: u64,
    /// Stream offset of the first payload byte.
    pub offset: u64,
    /// Number of application bytes.
    pub payload_bytes: u32,
    /// True if the payload was sent before.
    pub retransmission: bool,
}

/// Decodes the fields of a data packet; `None` for other payloads.
pub fn data_fields(payload: &[u8]) -> Option<DataFields> {
    let data = decode_data(payload)?;
    let Data { number, offset, retransmission, .. } = data;
    Some(DataFields { number, offset, payload_bytes: data.application_bytes(), retransmission })
}

/// Appends a data packet to `bytes`.
pub(crate) fn encode_data(data: &Data, bytes: &mut Vec<u8>) {
    let begin = bytes.len();
    let (has_message, has_frame) = (data.message != Message::default(), data.frame.number > 0);
    bytes.push(
        DATA | flag(data.retransmission, RETRANSMISSION)
            | flag(data.filler, FILLER)
            | flag(has_message, MESSAGE)
            | flag(has_frame, FRAME),
    );
    put(bytes, data.number);
    put(bytes, data.number.saturating_sub(data.least_unacked));
    put(bytes, data.offset);
    put(bytes, u64::from(data.payload_bytes));
    put(bytes, u64::from(data.datagram_bytes.saturating_sub(data.payload_bytes)));
    put(bytes, data.sent_at.as_ns());
    if has_message {
        for word in data.message {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    if has_frame {
        put(bytes, u64::from(data.frame.number));
        put(bytes, u64::from(data.frame.bytes) * 2 + u64::from(data.frame.key));
        put(bytes, data.frame.captured_at.as_ns());
        put(bytes, data.frame.paused.as_ns());
    }
    pad(bytes, begin, data.datagram_bytes);
}

/// Decodes a data packet. The first [`DATA_HEAD_BYTES`] are sufficient.
pub(crate) fn decode_data(payload: &[u8]) -> Option<Data> {
    let (first, mut rest) = payload.split_first()?;
    if first & KIND_MASK != DATA {
        return None;
    }
    let rest = &mut rest;
    let number = get(rest)?;
    let least_unacked = number.checked_sub(get(rest)?)?;
    let offset = get(rest)?;
    let payload_bytes = u32::try_from(get(rest)?).ok()?;
    let header_bytes = u32::try_from(get(rest)?).ok()?;
    let sent_at = Time::from_ns(get(rest)?);
    let message = if first & MESSAGE == 0 { Message::default() } else { [get_word(rest)?, get_word(rest)?] };
    let frame = if first & FRAME == 0 { FrameMark::default() } else { get_frame(rest)? };
    Some(Data {
        number,
        offset,
        payload_bytes,
        datagram_bytes: payload_bytes.checked_add(header_bytes)?,
        sent_at,
        least_unacked,
        retransmission: first & RETRANSMISSION != 0,
        filler: first & FILLER != 0,
        frame,
        message,
    })
}

fn get_word(rest: &mut &[u8]) -> Option<u64> {
    let (word, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_le_bytes(*word))
}

fn get_frame(rest: &mut &[u8]) -> Option<FrameMark> {
    let number = u32::try_from(get(rest)?).ok()?;
    let (size, captured_at, paused) = (get(rest)?, Time::from_ns(get(rest)?), Span::from_ns(get(rest)?));
    Some(FrameMark { number, bytes: u32::try_from(size / 2).ok()?, key: size % 2 == 1, captured_at, paused })
}
