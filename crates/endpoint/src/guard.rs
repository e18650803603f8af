//! How datagrams of our transport go over a socket: as they are, or between two machines, each with a tag in front that
//! only the other end can have made.

use crate::clock::monotonic_ns;
use crate::envelope::{ENVELOPE_BYTES, close_envelope, open_envelope};
use crate::seal::{Key, Kind, Seal, TAG_BYTES, Window};
use crate::socket::{Datagram, Outbox};
use serde::{Deserialize, Serialize};
use std::net::SocketAddrV4;
use std::ops::Add;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Span, Time};

/// Silence after which a datagram keeps the way open: NATs forget one of UDP after 30 s at the earliest that is usual
/// (RFC 4787, REQ-5, asks for two minutes).
const SILENCE: Span = Span::from_secs(10);

/// What an end did not take for its peer's, and how often that has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guarded {
    /// Datagrams without a valid tag.
    pub forged: u64,
    /// Datagrams that had come before, or were too old to tell.
    pub replayed: u64,
    /// Times that the peer's address was another (a NAT has bound it anew).
    pub moved: u64,
}

impl Add for Guarded {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            forged: self.forged + other.forged,
            replayed: self.replayed + other.replayed,
            moved: self.moved + other.moved,
        }
    }
}

/// Whom an end hears, and where that is: the newest authentic datagram tells.
#[derive(Debug)]
pub struct Guard {
    peer: SocketAddrV4,
    outgoing: Seal,
    incoming: Seal,
    /// By kind.
    seen: Vec<(Kind, Window, u64)>,
    guarded: Guarded,
}

impl Guard {
    /// With the keys of both directions.
    pub fn new(peer: SocketAddrV4, outgoing: &Key, incoming: &Key) -> Self {
        let (outgoing, incoming) = (Seal::new(outgoing), Seal::new(incoming));
        Self { peer, outgoing, incoming, seen: Vec::new(), guarded: Guarded::default() }
    }

    /// Where the peer is.
    pub const fn peer(&self) -> SocketAddrV4 {
        self.peer
    }

    /// What was not the peer's.
    pub const fn guarded(&self) -> Guarded {
        self.guarded
    }

    /// A datagram has come that has not even the form of one of the peer's.
    pub const fn count_forged(&mut self) {
        self.guarded.forged += 1;
    }

    /// Encrypts `body`; the tag of it and `head`.
    pub fn close(&self, kind: Kind, number: u64, head: &[u8], body: &mut [u8]) -> [u8; TAG_BYTES] {
        self.outgoing.close(kind, number, head, body)
    }

    /// Decrypts `body` and tells whether it is new and the peer's, who is at `source` then.
    pub fn open(
        &mut self,
        (kind, number): (Kind, u64),
        head: &[u8],
        body: &mut [u8],
        tag: &[u8],
        source: SocketAddrV4,
    ) -> bool {
        if !self.incoming.open(kind, number, head, body, tag) {
            self.guarded.forged += 1;
            return false;
        }
        if !self.seen.iter().any(|(known, ..)| *known == kind) {
            self.seen.push((kind, Window::default(), 0));
        }
        let Some((_, window, newest)) = self.seen.iter_mut().find(|(known, ..)| *known == kind) else {
            return false;
        };
        if !window.is_new(number) {
            self.guarded.replayed += 1;
            return false;
        }
        // What was overtaken tells where the peer was.
        if number >= *newest {
            *newest = number;
            if self.peer != source {
                (self.peer, self.guarded.moved) = (source, self.guarded.moved + 1);
            }
        }
        true
    }
}

/// Whether a datagram has the form of a greeting. None of our transport is so short: it has headers' worth of padding.
pub fn is_greeting(datagram: &[u8]) -> bool {
    datagram.len() == ENVELOPE_BYTES + 1 && datagram[7] == Kind::Hello as u8
}

/// What stands between our transport and its socket.
#[derive(Debug)]
pub struct Wire {
    guard: Option<Guard>,
    /// Counts bytes, with those of others.
    sent_bytes: Option<Arc<AtomicU64>>,
    /// When something was sent last, and the number of the next greeting, which keeps the way open.
    sent_at: Time,
    next_hello: u64,
}

impl Wire {
    /// Nothing: for sockets that nobody else can reach.
    pub const fn plain() -> Self {
        Self { guard: None, sent_bytes: None, sent_at: Time::ZERO, next_hello: 0 }
    }

    /// A guard, whose next greeting has this number; the bytes that are sent are added to `sent_bytes`.
    pub const fn guarded_by(guard: Guard, next_hello: u64, sent_bytes: Arc<AtomicU64>) -> Self {
        Self { guard: Some(guard), sent_bytes: Some(sent_bytes), sent_at: Time::ZERO, next_hello }
    }

    /// What was not the peer's.
    pub(crate) fn guarded(&self) -> Guarded {
        self.guard.as_ref().map_or(Guarded::default(), Guard::guarded)
    }

    /// Where to send to, for a socket without a peer.
    pub(crate) fn peer(&self) -> Option<SocketAddrV4> {
        self.guard.as_ref().map(Guard::peer)
    }

    /// What it adds to each datagram.
    pub(crate) fn overhead_bytes(&self) -> usize {
        if self.guard.is_some() { TAG_BYTES } else { 0 }
    }

    /// Puts a datagram of our transport into the outbox; at most the first `covered` bytes of it are authenticated, the
    /// rest is padding. Returns its length.
    #[inline]
    pub(crate) fn push(
        &mut self,
        outbox: &mut Outbox,
        now: Time,
        kind: Kind,
        number: u64,
        covered: usize,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> usize {
        let Some(guard) = &self.guard else { return outbox.push(encode) };
        self.sent_at = now;
        let length = outbox.push(|bytes| {
            let begin = bytes.len();
            bytes.extend_from_slice(&[0; TAG_BYTES]);
            encode(bytes);
            let (tag, body) = bytes[begin..].split_at_mut(TAG_BYTES);
            let covered = covered.min(body.len());
            tag.copy_from_slice(&guard.close(kind, number, &body[..covered], &mut []));
        });
        if let Some(sent_bytes) = &self.sent_bytes {
            sent_bytes.fetch_add(length as u64, Ordering::Relaxed);
        }
        length
    }

    /// What our transport has to say in a datagram: nothing in a greeting.
    #[inline]
    pub(crate) fn body<'a>(&self, datagram: &'a [u8]) -> &'a [u8] {
        if self.guard.is_some() && is_greeting(datagram) {
            return &[];
        }
        datagram.get(self.overhead_bytes()..).unwrap_or_default()
    }

    /// Whether a datagram that says so is the peer's, and new.
    #[inline]
    pub(crate) fn accepts(
        &mut self,
        kind: Kind,
        number: u64,
        datagram: &Datagram<'_>,
        covered: usize,
    ) -> bool {
        let Some(guard) = &mut self.guard else { return true };
        let Some((tag, body)) = datagram.bytes.split_at_checked(TAG_BYTES) else { return false };
        let covered = &body[..covered.min(body.len())];
        guard.open((kind, number), covered, &mut [], tag, datagram.source)
    }

    /// Greets after a long silence.
    pub(crate) fn keep_open(&mut self, now: Time, outbox: &mut Outbox) {
        if let Some(guard) = &self.guard
            && now >= self.sent_at + SILENCE
        {
            let number = self.next_hello;
            outbox.push(|bytes| close_envelope(guard, Kind::Hello, number, monotonic_ns(), &[1], bytes));
            (self.sent_at, self.next_hello) = (now, number + 1);
        }
    }

    /// Takes a datagram that is no packet of our transport: a greeting tells where the peer is.
    pub(crate) fn take_other(&mut self, mut datagram: Datagram<'_>) {
        if let Some(guard) = &mut self.guard {
            let _greeting = open_envelope(guard, &mut datagram);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digit: &str) -> Key {
        Key::from_hex(&digit.repeat(64)).unwrap()
    }

    fn at(port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, port)
    }

    #[test]
    fn what_comes_again_is_counted_and_the_newest_tells_where_the_peer_is() {
        let sender = Guard::new(at(2), &key("1"), &key("2"));
        let mut receiver = Guard::new(at(1), &key("2"), &key("1"));
        let sent = |number: u64| sender.close(Kind::Packet, number, b"head", &mut []);
        let mut take = |number: u64, tag: [u8; TAG_BYTES], port: u16| {
            receiver.open((Kind::Packet, number), b"head", &mut [], &tag, at(port))
        };
        assert!(take(5, sent(5), 1) && take(6, sent(6), 7));
        // Overtaken on its way from where the peer was; then the same again, and what nobody has made.
        assert!(take(4, sent(4), 1) && !take(6, sent(6), 9) && !take(7, sent(6), 9));
        assert_eq!(receiver.peer(), at(7));
        assert_eq!(receiver.guarded(), Guarded { forged: 1, replayed: 1, moved: 1 });
        // Kinds are numbered apart.
        let tag = sender.close(Kind::Hello, 5, b"head", &mut []);
        assert!(receiver.open((Kind::Hello, 5), b"head", &mut [], &tag, at(7)));
    }
}
