//! Encoding of the built-in transport's data packets and ACKs in UDP payloads.
//!
//! The upper half of the first byte is the packet type and format version, the lower half holds flags. Numbers are
//! LEB128 varints below 2^60; differences that may be negative are zigzag varints.
//!
//! Datagrams are padded to the transport's configured size, so that real packets have the size of simulated ones. If an
//! encoding needs more (an ACK with many arrivals, a tiny handshake packet), the datagram is a little longer.
//!
//! ```text
//! data  kind+flags | number | number - least_unacked | offset | payload_bytes | header_bytes | sent_at
//!       | [message: 16 bytes] | [frame: number, bytes * 2 + key, captured_at, paused] | padding
//! ack   kind+flags | counts | [part: index, count] | number | largest | next_offset | at of the newest arrival | [delay] | [ect0 ect1 ce]
//!       | ranges: gap below the one above, length | arrivals, newest first: steps back in time and number
//!       | [feedback: length, bytes] | padding
//! ```

mod ack;
mod data;
#[cfg(test)]
mod tests;
mod varint;

pub use ack::decode_ack;
pub(crate) use ack::{ack_datagram_bytes, encode_ack};
pub(crate) use data::{DATA_HEAD_BYTES, decode_data, encode_data};
pub use data::{DataFields, data_fields};

/// Length of IP and UDP headers, bytes.
pub const IP_UDP_BYTES: u32 = 28;

const KIND_MASK: u8 = 0xf0;
const DATA: u8 = 0xd0;
const ACK: u8 = 0xa0;
/// Type of an ACK for a part of its packets.
const PART_ACK: u8 = 0xb0;

const fn flag(condition: bool, flag: u8) -> u8 {
    if condition { flag } else { 0 }
}

/// Pads the bytes from `begin` on with zeros.
fn pad(bytes: &mut Vec<u8>, begin: usize, datagram_bytes: u32) {
    let end = begin + datagram_bytes.saturating_sub(IP_UDP_BYTES) as usize;
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
}
