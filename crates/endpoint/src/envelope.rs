//! Envelopes of all messages between two peers.

use crate::guard::Guard;
use crate::layout::{HEAD_BYTES, word, write};
use crate::seal::{Kind, TAG_BYTES};
use crate::socket::Datagram;

/// Number of bytes that an envelope adds to its content.
pub const ENVELOPE_BYTES: usize = HEAD_BYTES + TAG_BYTES;
/// Content of an envelope.
#[derive(Debug)]
pub struct Opened<'a> {
    /// Kind of the message.
    pub kind: Kind,
    /// Number of the message within its kind.
    pub number: u64,
    /// Time of sending by the sender's clock, ns.
    pub stamp_ns: u64,
    /// Content of the message.
    pub body: &'a mut [u8],
}

/// Appends an envelope to `bytes`.
#[inline]
pub fn close_envelope(
    guard: &Guard,
    kind: Kind,
    number: u64,
    stamp_ns: u64,
    body: &[u8],
    bytes: &mut Vec<u8>,
) {
    write(kind, number, stamp_ns, body, bytes, |head, body| guard.close(kind, number, head, body));
}

/// Opens an envelope. Returns `None` for greetings, which `guard` handles, and for envelopes that are not new or not
/// from the peer.
#[inline]
pub fn open_envelope<'a>(guard: &mut Guard, datagram: &'a mut Datagram<'_>) -> Option<Opened<'a>> {
    if guard.take_greeting(datagram) {
        return None;
    }
    let source = datagram.source;
    let length = datagram.bytes.len();
    let kind = kind(datagram.bytes);
    let (Some(kind), true) = (kind, length >= ENVELOPE_BYTES) else {
        guard.count_forged();
        return None;
    };
    let (head, rest) = datagram.bytes.split_at_mut(HEAD_BYTES);
    let (body, tag) = rest.split_at_mut(length - ENVELOPE_BYTES);
    let number = word(head, 0) & !(0xff << 56);
    guard.open((kind, number), head, body, tag, source).then(|| {
        let stamp_ns = word(head, 8);
        Opened { kind, number, stamp_ns, body }
    })
}

fn kind(bytes: &[u8]) -> Option<Kind> {
    let kinds = [Kind::Packet, Kind::Ask, Kind::Answer];
    bytes.get(7).and_then(|code| kinds.into_iter().find(|kind| *kind as u8 == *code))
}
