//! Encoding of ACKs.

use super::varint::{back, get, get_varint, put, zigzag};
use super::{ACK, KIND_MASK, PART_ACK, flag, pad};
use transport::{AckFrame, AckSize, Arrival, Config, EcnCounts, Part, Range};
use units::{Span, Time};

/// Flag of an ACK whose sending was delayed after the newest packet; the delay follows.
const DELAY: u8 = 1;
/// Flag of an ACK with ECN counts. If marks are among them, one bit per arrival follows: set for a marked arrival.
const ECN: u8 = 2;
/// Flag of an ACK with feedback of the scheme.
const FEEDBACK: u8 = 4;
/// Flag of an ACK in which the highest range and the newest arrival end with the largest number. Both are then omitted.
const ORDERLY: u8 = 8;

/// Value of a half-byte count that means: the rest follows as a varint.
const MANY: u64 = 15;

/// Returns the size of an ACK's IP datagram, bytes, which equals the simulator's.
pub(crate) fn ack_datagram_bytes(config: &Config, frame: &AckFrame) -> u32 {
    AckSize::new(config).of(frame)
}

/// Appends an ACK to `bytes`, padded to an IP datagram of `datagram_bytes` if it fits.
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
    if frame.ecn.ce > 0 {
        for eight in frame.arrivals.chunks(8) {
            bytes.push(eight.iter().rev().fold(0, |bits, arrival| bits << 1 | u8::from(arrival.ce)));
        }
    }
    if !frame.feedback.is_empty() {
        put(bytes, frame.feedback.len() as u64);
        bytes.extend_from_slice(&frame.feedback);
    }
    pad(bytes, begin, datagram_bytes);
}

/// Decodes an ACK into `frame` and reuses its memory. Returns `None` if the payload is no ACK; `frame` is then
/// undefined.
pub fn decode_ack(payload: &[u8], frame: &mut AckFrame) -> Option<()> {
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
            Arrival { number: frame.largest, at: newest_at, ce: false }
        } else {
            get_arrival(rest, above, later)?
        };
        frame.arrivals.push(arrival);
        (above, later) = (arrival.number, arrival.at);
    }
    frame.arrivals.reverse();
    if frame.ecn.ce > 0 {
        for eight in frame.arrivals.chunks_mut(8) {
            let (bits, after) = rest.split_first()?;
            for (index, arrival) in eight.iter_mut().enumerate() {
                arrival.ce = bits >> index & 1 != 0;
            }
            *rest = after;
        }
    }
    if first & FEEDBACK != 0 {
        let length = usize::try_from(get(rest)?).ok()?;
        frame.feedback.extend_from_slice(rest.get(..length)?);
    }
    Some(())
}

/// Appends an arrival. Packets mostly arrive in order of number; then only the step back in time is written, doubled.
/// Otherwise the number is odd, and the step back in number follows.
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
    Some(Arrival { number, at: Time::from_ns(at), ce: false })
}

fn get_count(short: u64, bytes: &mut &[u8]) -> Option<u64> {
    if short < MANY { Some(short) } else { Some(MANY + get(bytes)?) }
}
