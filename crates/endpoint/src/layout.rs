//! Byte layout of an envelope: number with kind, timestamp, content, tag.

use crate::seal::{Kind, TAG_BYTES};

/// Bytes before the content: number with kind, and timestamp.
pub const HEAD_BYTES: usize = 16;

/// Appends an envelope to `bytes`. `close` computes the tag of head and content, and may encrypt the content.
#[inline]
pub(crate) fn write(
    kind: Kind,
    number: u64,
    stamp_ns: u64,
    body: &[u8],
    bytes: &mut Vec<u8>,
    close: impl FnOnce(&[u8], &mut [u8]) -> [u8; TAG_BYTES],
) {
    let begin = bytes.len();
    bytes.extend_from_slice(&((kind as u64) << 56 | number).to_le_bytes());
    bytes.extend_from_slice(&stamp_ns.to_le_bytes());
    bytes.extend_from_slice(body);
    let (head, body) = bytes[begin..].split_at_mut(HEAD_BYTES);
    let tag = close(head, body);
    bytes.extend_from_slice(&tag);
}

/// Returns the eight bytes at `at` as a number; zero if they are missing.
pub fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}
