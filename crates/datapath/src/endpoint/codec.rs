//! Data packets and ACKs of our transport as bytes in a UDP payload.
//!
//! The first byte tells what it is: the upper half names kind and format version, the lower half holds flags. Numbers
//! are LEB128 varints below 2^60, differences that may be negative are zigzag varints. Datagrams are padded to the size
//! that the transport is configured for, so that real packets weigh what simulated ones do; where an encoding needs more
//! than that (an ACK that lists many arrivals, a tiny opener), the datagram is a little longer.
//!
//! ```text
//! data  kind+flags | number | number - least_unacked | offset | payload_bytes | header_bytes | sent_at
//!       | [message: 16 bytes] | [frame: number, bytes * 2 + key, captured_at, paused] | padding
//! ack   kind+flags | counts | [part: index, count] | number | largest | next_offset | at of the newest arrival | [delay] | [ect0 ect1 ce]
//!       | ranges: gap below the one above, length | arrivals, newest first: steps back in time and number
//!       | [feedback: length, bytes] | padding
//! ```

use congestion::Message;
use transport::{AckFrame, AckSize, Arrival, Config, Data, EcnCounts, FrameMark, Part, Range};
use units::{Span, Time};

/// IP and UDP headers, bytes.
pub(crate) const IP_UDP_BYTES: u32 = 28;

/// Most bytes of a data packet's header: what a receiver has to look at.
pub(crate) const DATA_HEAD_BYTES: usize = 96;

const KIND_MASK: u8 = 0xf0;
const DATA: u8 = 0xd0;
const ACK: u8 = 0xa0;
/// An ACK for a part of its packets.
const PART_ACK: u8 = 0xb0;

/// Data: the payload was sent before.
const RETRANSMISSION: u8 = 1;
/// Data: no data of the application.
const FILLER: u8 = 2;
/// Data: the scheme says something to its receiver-side half.
const MESSAGE: u8 = 4;
/// Data: part of a frame of a live source.
const FRAME: u8 = 8;
/// ACK: the newest packet waited for it.
const DELAY: u8 = 1;
/// ACK: ECN counts follow.
const ECN: u8 = 2;
/// ACK: feedback of the scheme follows.
const FEEDBACK: u8 = 4;
/// ACK: the highest range and the newest arrival end with the largest number, and go without saying.
const ORDERLY: u8 = 8;

/// A count in half a byte that says: the rest follows as a varint.
const MANY: u64 = 15;

/// No number on the wire reaches this.
const LIMIT: u64 = 1 << 60;

/// What a data packet carries, for whoever watches it pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataFields {
    /// Packet number.
    pub(crate) number: u64,
    /// Stream offset of the first payload byte.
    pub(crate) offset: u64,
    /// Bytes of the application.
    pub(crate) payload_bytes: u32,
    /// Whether the payload was sent before.
    pub(crate) retransmission: bool,
}

/// Reads what a data packet carries; `None` if it is not one.
pub(crate) fn data_fields(payload: &[u8]) -> Option<DataFields> {
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

/// Reads a data packet; its first [`DATA_HEAD_BYTES`] are enough.
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

const fn flag(condition: bool, flag: u8) -> u8 {
    if condition { flag } else { 0 }
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

/// Size of the IP datagram of an ACK: the same as in the simulator.
pub(crate) fn ack_datagram_bytes(config: &Config, frame: &AckFrame) -> u32 {
    AckSize::new(config).of(frame)
}

/// Appends an ACK to `bytes`, as an IP datagram of `datagram_bytes` if it fits.
pub(crate) fn encode_ack(frame: &AckFrame, datagram_bytes: u32, bytes: &mut Vec<u8>) {
    let begin = bytes.len();
    let newest = frame.arrivals.last().copied().unwrap_or_default();
    let orderly = newest.number == frame.largest
        && frame.ranges.first().is_some_and(|range| range.end == frame.largest + 1);
    bytes.push(
        frame.part.map_or(ACK, |_| PART_ACK)
            | flag(!frame.delay.is_zero(), DELAY)
            | flag(frame.ecn.total() > 0, ECN)
            | flag(!frame.feedback.is_empty(), FEEDBACK)
            | flag(orderly, ORDERLY),
    );
    let (ranges, arrivals) = (frame.ranges.len() as u64, frame.arrivals.len() as u64);
    bytes.push((ranges.min(MANY) << 4 | arrivals.min(MANY)) as u8);
    for count in [ranges, arrivals] {
        if count >= MANY {
            put(bytes, count - MANY);
        }
    }
    if let Some(part) = frame.part {
        put(bytes, u64::from(part.index));
        put(bytes, u64::from(part.count));
    }
    put(bytes, frame.number);
    put(bytes, frame.largest);
    put(bytes, frame.next_offset);
    put(bytes, newest.at.as_ns());
    if !frame.delay.is_zero() {
        put(bytes, frame.delay.as_ns());
    }
    if frame.ecn.total() > 0 {
        put(bytes, frame.ecn.ect0);
        put(bytes, frame.ecn.ect1);
        put(bytes, frame.ecn.ce);
    }
    let mut above = frame.largest + 1;
    for (index, range) in frame.ranges.iter().enumerate() {
        if !(orderly && index == 0) {
            put(bytes, zigzag(above, range.end));
        }
        put(bytes, range.len());
        above = range.start;
    }
    let (mut above, mut later) = (frame.largest + 1, newest.at);
    for (index, arrival) in frame.arrivals.iter().rev().enumerate() {
        if !(orderly && index == 0) {
            put_arrival(bytes, above, later, *arrival);
        }
        (above, later) = (arrival.number, arrival.at);
    }
    if !frame.feedback.is_empty() {
        put(bytes, frame.feedback.len() as u64);
        bytes.extend_from_slice(&frame.feedback);
    }
    pad(bytes, begin, datagram_bytes);
}

/// Reads an ACK into `frame`, whose memory is used again; `None` (and a frame of no meaning) if it is not one.
pub(crate) fn decode_ack(payload: &[u8], frame: &mut AckFrame) -> Option<()> {
    frame.clear();
    let (&[first, counts], mut rest) = payload.split_first_chunk()?;
    let kind = first & KIND_MASK;
    if kind != ACK && kind != PART_ACK {
        return None;
    }
    let rest = &mut rest;
    let ranges = get_count(u64::from(counts >> 4), rest)?;
    let arrivals = get_count(u64::from(counts) & MANY, rest)?;
    if kind == PART_ACK {
        let (index, count) = (u32::try_from(get(rest)?).ok()?, u32::try_from(get(rest)?).ok()?);
        frame.part = Some(Part { index, count });
    }
    frame.number = get(rest)?;
    frame.largest = get(rest)?;
    frame.next_offset = get(rest)?;
    let newest_at = Time::from_ns(get(rest)?);
    frame.delay = if first & DELAY != 0 { Span::from_ns(get(rest)?) } else { Span::ZERO };
    frame.ecn = EcnCounts::default();
    if first & ECN != 0 {
        frame.ecn = EcnCounts { ect0: get(rest)?, ect1: get(rest)?, ce: get(rest)? };
    }
    let orderly = first & ORDERLY != 0;
    let mut above = frame.largest + 1;
    for index in 0..ranges {
        let end = if orderly && index == 0 { above } else { back(above, get_varint(rest)?)? };
        above = end.checked_sub(get(rest)?)?;
        frame.ranges.push(Range { start: above, end });
    }
    let (mut above, mut later) = (frame.largest + 1, newest_at);
    for index in 0..arrivals {
        let arrival = if orderly && index == 0 {
            Arrival { number: frame.largest, at: newest_at }
        } else {
            get_arrival(rest, above, later)?
        };
        frame.arrivals.push(arrival);
        (above, later) = (arrival.number, arrival.at);
    }
    frame.arrivals.reverse();
    if first & FEEDBACK != 0 {
        let length = usize::try_from(get(rest)?).ok()?;
        frame.feedback.extend_from_slice(rest.get(..length)?);
    }
    Some(())
}

/// Packets arrive one after the other in the order of their numbers: then the step back in time, doubled, says it all.
/// Otherwise it is odd, and the step back in number follows.
fn put_arrival(bytes: &mut Vec<u8>, above: u64, later: Time, arrival: Arrival) {
    if arrival.number + 1 == above && arrival.at <= later {
        put(bytes, (later - arrival.at).as_ns() << 1);
    } else {
        put(bytes, zigzag(later.as_ns(), arrival.at.as_ns()) << 1 | 1);
        put(bytes, zigzag(above, arrival.number));
    }
}

fn get_arrival(bytes: &mut &[u8], above: u64, later: Time) -> Option<Arrival> {
    let first = get_varint(bytes)?;
    let (number, at) = if first & 1 == 0 {
        (above.checked_sub(1)?, later.as_ns().checked_sub(first >> 1)?)
    } else {
        let at = back(later.as_ns(), first >> 1)?;
        (back(above, get_varint(bytes)?)?, at)
    };
    Some(Arrival { number, at: Time::from_ns(at) })
}

/// Fills up with zeros what began at `begin`.
fn pad(bytes: &mut Vec<u8>, begin: usize, datagram_bytes: u32) {
    let end = begin + datagram_bytes.saturating_sub(IP_UDP_BYTES) as usize;
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
}

fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn get(bytes: &mut &[u8]) -> Option<u64> {
    get_varint(bytes).filter(|value| *value < LIMIT)
}

fn get_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    // Nine bytes hold 63 bits.
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn get_count(short: u64, bytes: &mut &[u8]) -> Option<u64> {
    if short < MANY { Some(short) } else { Some(MANY + get(bytes)?) }
}

/// The way back from one value to another; small ones of either sign stay small.
const fn zigzag(from: u64, to: u64) -> u64 {
    let step = from as i64 - to as i64;
    (step << 1 ^ step >> 63) as u64
}

/// The value that lies `zigzag` back from `from`.
fn back(from: u64, zigzag: u64) -> Option<u64> {
    let step = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
    let value = u64::try_from(from as i64 - step).ok()?;
    (value <= LIMIT).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(frame: &AckFrame, datagram_bytes: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_ack(frame, datagram_bytes, &mut bytes);
        bytes
    }

    fn decoded(bytes: &[u8]) -> Option<AckFrame> {
        let mut frame = AckFrame::default();
        decode_ack(bytes, &mut frame).map(|()| frame)
    }

    #[test]
    fn usual_packets_have_the_size_of_the_configuration() {
        let (number, offset) = (1_500_000, 2_000_000_000);
        let (data, mut bytes) = (
            Data {
                number,
                offset,
                payload_bytes: 1448,
                datagram_bytes: 1500,
                sent_at: Time::from_secs_f64(59.0),
                least_unacked: number - 5000,
                retransmission: true,
                ..Data::default()
            },
            Vec::new(),
        );
        encode_data(&data, &mut bytes);
        assert_eq!(bytes.len(), 1472);
        assert_eq!(decode_data(&bytes[..DATA_HEAD_BYTES]), Some(data));
        let arrival = |number, us| Arrival { number, at: Time::from_secs_f64(59.0) + Span::from_us(us) };
        let frame = AckFrame {
            number: number / 2,
            largest: number,
            delay: Span::ZERO,
            ranges: vec![Range { start: number - 5000, end: number + 1 }],
            arrivals: vec![arrival(number - 1, 0), arrival(number, 120)],
            ecn: EcnCounts::default(),
            next_offset: offset,
            feedback: Vec::new(),
            padding_bytes: 0,
            part: None,
        };
        let config = Config::tcp();
        let bytes = encoded(&frame, ack_datagram_bytes(&config, &frame));
        assert_eq!(bytes.len() as u32, config.ack_bytes - IP_UDP_BYTES);
        assert_eq!(decoded(&bytes), Some(frame));
    }

    #[test]
    fn an_opener_is_a_little_longer_than_its_headers() {
        let (data, mut bytes) = (Data { datagram_bytes: 30, ..Data::default() }, Vec::new());
        encode_data(&data, &mut bytes);
        assert_eq!((bytes.len(), decode_data(&bytes)), (7, Some(data)));
    }

    #[test]
    fn data_and_acks_are_told_apart() {
        let (mut bytes, mut frame) = (Vec::new(), AckFrame::default());
        encode_data(&Data { datagram_bytes: 1500, ..Data::default() }, &mut bytes);
        assert!(decode_ack(&bytes, &mut frame).is_none());
        assert!(decode_data(&encoded(&AckFrame::default(), 52)).is_none());
        assert!(data_fields(&encoded(&AckFrame::default(), 52)).is_none());
    }

    fn number() -> impl Strategy<Value = u64> {
        // Small numbers matter as much as large ones.
        (0..LIMIT, 0u32..60).prop_map(|(value, shift)| value >> shift)
    }

    prop_compose! {
        fn any_frame()(number in 1u32.., bytes: u32, key: bool, captured_at in number(), paused in number()) -> FrameMark {
            FrameMark { number, bytes, key, captured_at: Time::from_ns(captured_at), paused: Span::from_ns(paused) }
        }
    }

    prop_compose! {
        fn any_data()(
            number in number(), back in number(), offset in number(), sent_at in number(),
            payload_bytes in 0u32..3000, header_bytes in 0u32..100, retransmission: bool, filler: bool,
            frame in prop::option::of(any_frame()), message in prop::option::of(any::<[u64; 2]>()),
        ) -> Data {
            Data {
                number,
                offset,
                payload_bytes,
                datagram_bytes: payload_bytes + header_bytes,
                sent_at: Time::from_ns(sent_at),
                least_unacked: number.saturating_sub(back),
                retransmission,
                filler,
                frame: frame.unwrap_or_default(),
                message: message.unwrap_or_default(),
            }
        }
    }

    prop_compose! {
        fn any_ack()(
            number in number(), largest in number(), next_offset in number(), delay in number(),
            ends in prop::collection::vec((number(), number()), 0..40),
            arrivals in prop::collection::vec((number(), number()), 0..40),
            ecn in (number(), number(), number()), feedback in prop::collection::vec(any::<u8>(), 0..300),
            part in prop::option::of((any::<u32>(), any::<u32>())),
        ) -> AckFrame {
            AckFrame {
                number,
                largest,
                delay: Span::from_ns(delay),
                ranges: ends.iter().map(|&(a, b)| Range { start: a.min(b), end: a.max(b) }).collect(),
                arrivals: arrivals.iter().map(|&(number, at)| Arrival { number, at: Time::from_ns(at) }).collect(),
                ecn: EcnCounts { ect0: ecn.0, ect1: ecn.1, ce: ecn.2 },
                next_offset,
                feedback,
                padding_bytes: 0,
                part: part.map(|(index, count)| Part { index, count }),
            }
        }
    }

    proptest! {
        #[test]
        fn data_comes_back_as_it_was(data in any_data()) {
            let mut bytes = vec![7];
            encode_data(&data, &mut bytes);
            let expected = data.datagram_bytes.saturating_sub(IP_UDP_BYTES) as usize;
            prop_assert!(bytes.len() > expected && bytes.len() <= 1 + expected.max(DATA_HEAD_BYTES));
            prop_assert_eq!(decode_data(&bytes[1..]), Some(data));
            let fields = data_fields(&bytes[1..]).map(|fields| (fields.number, fields.offset));
            prop_assert_eq!(fields, Some((data.number, data.offset)));
        }

        #[test]
        fn acks_come_back_as_they_were(frame in any_ack(), size in 0u32..200) {
            let bytes = encoded(&frame, size);
            prop_assert!(bytes.len() >= size.saturating_sub(IP_UDP_BYTES) as usize);
            prop_assert_eq!(decoded(&bytes), Some(frame));
        }

        #[test]
        fn what_is_cut_short_is_refused(frame in any_ack(), data in any_data(), cut in 0.0..1.0f64) {
            let bytes = encoded(&frame, 0);
            prop_assert_eq!(decoded(&bytes[..(bytes.len() as f64 * cut) as usize]), None);
            let (mut bytes, data) = (Vec::new(), Data { datagram_bytes: data.payload_bytes, ..data });
            encode_data(&data, &mut bytes);
            let head = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            let cut = (head as f64 * cut) as usize;
            prop_assert_ne!(decode_data(&bytes[..cut]), Some(data));
        }

        #[test]
        fn random_bytes_do_no_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0..3) {
            if let (Some(first), 1..) = (bytes.first_mut(), kind) {
                *first = *first & !KIND_MASK | if kind == 1 { DATA } else { ACK };
            }
            // Numbers stay far from overflow, whatever comes.
            if let Some(data) = decode_data(&bytes) {
                prop_assert!(data.number < LIMIT && data.offset < LIMIT && data.least_unacked <= data.number);
            }
            if let Some(frame) = decoded(&bytes) {
                prop_assert!(frame.ranges.iter().all(|range| range.start <= range.end && range.end <= LIMIT));
                prop_assert!(frame.arrivals.iter().all(|arrival| arrival.number <= LIMIT));
            }
        }
    }
}
