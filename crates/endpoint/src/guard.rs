//! How datagrams of our transport go over a socket: as they are, or between two machines, each with a tag in front that
//! only the other end can have made.

use crate::clock::monotonic_ns;
use crate::layout::{HEAD_BYTES, word, write};
use crate::peer::{GREETING_DATAGRAM_BYTES, Greeting, Peer};
use crate::seal::{Key, Kind, Seal, TAG_BYTES, Window};
use crate::socket::{Datagram, MAX_DATAGRAM_BYTES, Outbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{SocketAddrV4, UdpSocket};
use std::ops::Add;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Span, Time};

/// Silence after which a greeting keeps the way open: NATs forget one of UDP after 30 s at the earliest that is usual
/// (RFC 4787, REQ-5, asks for two minutes).
pub const SILENCE: Span = Span::from_secs(10);

/// What an end did not take for its peer's, and how often that has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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

/// Whom an end hears, and where that is.
#[derive(Debug)]
pub struct Guard {
    peer: Peer,
    outgoing: Seal,
    incoming: Seal,
    /// By kind.
    seen: Vec<(Kind, Window)>,
    guarded: Guarded,
    /// Answers that are yet to be sent.
    answers: Vec<u64>,
}

/// What a datagram is found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// The peer's, and new.
    New,
    /// The peer's, and came before, or is too old to tell.
    Again,
    /// Not the peer's.
    Forged,
}

/// Maximum number of answers that wait to be sent.
const MAX_ANSWERS: usize = 64;

impl Guard {
    /// With the keys of both directions and a guess where the peer is.
    pub fn new(peer: SocketAddrV4, outgoing: &Key, incoming: &Key) -> Self {
        let (outgoing, incoming) = (Seal::new(outgoing), Seal::new(incoming));
        let (peer, guarded) = (Peer::at(peer), Guarded::default());
        Self { peer, outgoing, incoming, seen: Vec::new(), guarded, answers: Vec::new() }
    }

    /// Returns the address of the peer.
    pub fn peer(&self) -> SocketAddrV4 {
        self.peer.address()
    }

    /// Whether something of the peer has come.
    pub fn is_heard(&self) -> bool {
        self.peer.is_heard()
    }

    /// Whether what is sent to the peer's address reaches it.
    pub const fn is_reached(&self) -> bool {
        self.peer.is_known()
    }

    /// Returns what was not the peer's.
    pub const fn guarded(&self) -> Guarded {
        Guarded { moved: self.peer.moves(), ..self.guarded }
    }

    /// Counts a datagram that has not even the form of one of the peer's.
    pub const fn count_forged(&mut self) {
        self.guarded.forged += 1;
    }

    /// Encrypts `body`; returns the tag of it and `head`.
    pub fn close(&self, kind: Kind, number: u64, head: &[u8], body: &mut [u8]) -> [u8; TAG_BYTES] {
        self.outgoing.close(kind, number, head, body)
    }

    /// Decrypts `body`. Returns whether it is the peer's and new.
    pub fn open(
        &mut self,
        named: (Kind, u64),
        head: &[u8],
        body: &mut [u8],
        tag: &[u8],
        source: SocketAddrV4,
    ) -> bool {
        let finding = self.find(named, head, body, tag, source);
        self.guarded.forged += u64::from(finding == Finding::Forged);
        finding == Finding::New
    }

    fn find(
        &mut self,
        (kind, number): (Kind, u64),
        head: &[u8],
        body: &mut [u8],
        tag: &[u8],
        source: SocketAddrV4,
    ) -> Finding {
        if !self.incoming.open(kind, number, head, body, tag) {
            return Finding::Forged;
        }
        self.peer.see(source, now);
        let index = self.seen.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            self.seen.push((kind, Window::default()));
            self.seen.len() - 1
        });
        if self.seen[index].1.is_new(number) {
            return Finding::New;
        }
        self.guarded.replayed += 1;
        Finding::Again
    }

    /// Takes a greeting of the peer; returns false, and counts nothing, if the datagram is none.
    pub fn take_greeting(&mut self, datagram: &mut Datagram<'_>) -> bool {
        if !has_form_of_greeting(datagram.bytes) {
            return false;
        }
        let source = datagram.source;
        let (head, rest) = datagram.bytes.split_at_mut(HEAD_BYTES);
        let (body, tag) = rest.split_at_mut(rest.len() - TAG_BYTES);
        let number = word(head, 0) & !(0xff << 56);
        match self.find((Kind::Hello, number), head, body, tag, source) {
            Finding::Forged => return false,
            Finding::Again => {}
            Finding::New => match Greeting::from_bytes(body) {
                Some(Greeting::Ask) if self.answers.len() < MAX_ANSWERS => self.answers.push(number),
                Some(Greeting::Answer(question)) => self.peer.answered(question, now()),
                _ => {}
            },
        }
        true
    }

    /// Asks at every address at which the peer may be.
    pub fn greet(&mut self, socket: &UdpSocket) {
        for to in self.peer.everywhere() {
            self.ask(socket, to);
        }
    }

    /// Answers greetings, and asks where the peer is if that is in doubt. To be called often.
    #[inline]
    pub fn tend(&mut self, socket: &UdpSocket) {
        if self.peer.is_settled() && self.answers.is_empty() {
            return;
        }
        for question in std::mem::take(&mut self.answers) {
            let number = self.peer.next_number();
            self.send(socket, self.peer(), number, Greeting::Answer(question));
        }
        for to in self.peer.due(now()) {
            self.ask(socket, to);
        }
    }

    fn ask(&mut self, socket: &UdpSocket, to: SocketAddrV4) {
        let number = self.peer.ask(to, now());
        self.send(socket, to, number, Greeting::Ask);
    }

    fn send(&self, socket: &UdpSocket, to: SocketAddrV4, number: u64, greeting: Greeting) {
        let mut bytes = Vec::with_capacity(GREETING_DATAGRAM_BYTES);
        let (kind, body) = (Kind::Hello, greeting.to_bytes());
        write(kind, number, monotonic_ns(), &body, &mut bytes, |head, body| {
            self.close(kind, number, head, body)
        });
        // What the socket does not take is as good as lost on the way: the next one follows.
        let _sent = socket.send_to(&bytes, to);
    }
}

fn now() -> Time {
    Time::from_ns(monotonic_ns())
}

/// Whether a datagram has the form of a greeting. Few others do, and those are told apart by the tag.
fn has_form_of_greeting(datagram: &[u8]) -> bool {
    datagram.len() == GREETING_DATAGRAM_BYTES && datagram[7] == Kind::Hello as u8
}

/// What stands between our transport and its socket.
#[derive(Debug)]
pub struct Wire {
    guard: Option<Guard>,
    /// Counts bytes, with those of others.
    sent_bytes: Option<Arc<AtomicU64>>,
    /// When something was sent last.
    sent_at: Time,
}

impl Wire {
    /// Nothing: for sockets that nobody else can reach.
    pub const fn plain() -> Self {
        Self { guard: None, sent_bytes: None, sent_at: Time::ZERO }
    }

    /// A guard; the bytes that are sent are added to `sent_bytes`.
    pub const fn guarded_by(guard: Guard, sent_bytes: Arc<AtomicU64>) -> Self {
        Self { guard: Some(guard), sent_bytes: Some(sent_bytes), sent_at: Time::ZERO }
    }

    /// Returns what was not the peer's.
    pub(crate) fn guarded(&self) -> Guarded {
        self.guard.as_ref().map_or(Guarded::default(), Guard::guarded)
    }

    /// Returns where to send to, for a socket without a peer.
    pub(crate) fn peer(&self) -> Option<SocketAddrV4> {
        self.guard.as_ref().map(Guard::peer)
    }

    /// Returns how much of a datagram has to be read whose first `head_bytes` say all: with a guard all of it, because every
    /// byte is authenticated.
    pub(crate) const fn slot_bytes(&self, head_bytes: usize) -> usize {
        if self.guard.is_some() { MAX_DATAGRAM_BYTES } else { head_bytes }
    }

    /// Puts a datagram of our transport into the outbox. Returns its length.
    #[inline]
    pub(crate) fn push(
        &mut self,
        outbox: &mut Outbox,
        now: Time,
        kind: Kind,
        number: u64,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> usize {
        let Some(guard) = &self.guard else { return outbox.push(encode) };
        self.sent_at = now;
        let length = outbox.push(|bytes| {
            let begin = bytes.len();
            bytes.extend_from_slice(&[0; TAG_BYTES]);
            encode(bytes);
            let (tag, body) = bytes[begin..].split_at_mut(TAG_BYTES);
            tag.copy_from_slice(&guard.close(kind, number, body, &mut []));
        });
        if let Some(sent_bytes) = &self.sent_bytes {
            sent_bytes.fetch_add(length as u64, Ordering::Relaxed);
        }
        length
    }

    /// Takes a datagram that is no packet of our transport but a greeting; returns whether it was one.
    #[inline]
    pub(crate) fn take_greeting(&mut self, datagram: &mut Datagram<'_>) -> bool {
        self.guard.as_mut().is_some_and(|guard| guard.take_greeting(datagram))
    }

    /// Returns the packet of our transport in a datagram.
    #[inline]
    pub(crate) fn body<'a>(&self, datagram: &'a [u8]) -> &'a [u8] {
        let before = if self.guard.is_some() { TAG_BYTES } else { 0 };
        datagram.get(before..).unwrap_or_default()
    }

    /// Whether a datagram that says so is the peer's, and new.
    #[inline]
    pub(crate) fn accepts(&mut self, kind: Kind, number: u64, datagram: &Datagram<'_>) -> bool {
        let Some(guard) = &mut self.guard else { return true };
        let Some((tag, body)) = datagram.bytes.split_at_checked(TAG_BYTES) else { return false };
        guard.open((kind, number), body, &mut [], tag, datagram.source)
    }

    /// Counts a datagram that is nothing of the peer's.
    pub(crate) const fn refuse(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.count_forged();
        }
    }

    /// Answers greetings, and greets after a long silence.
    #[inline]
    pub(crate) fn tend(&mut self, now: Time, socket: &UdpSocket) {
        let Some(guard) = &mut self.guard else { return };
        if now >= self.sent_at + SILENCE {
            self.sent_at = now;
            guard.greet(socket);
        }
        guard.tend(socket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::Inbox;
    use std::net::Ipv4Addr;

    fn key(digit: &str) -> Key {
        Key::from_hex(&digit.repeat(64)).unwrap()
    }

    fn at(port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
    }

    #[test]
    fn what_comes_again_and_what_the_peer_did_not_make_is_counted() {
        let sender = Guard::new(at(2), &key("1"), &key("2"));
        let mut receiver = Guard::new(at(1), &key("2"), &key("1"));
        let sent = |number: u64| sender.close(Kind::Packet, number, b"head", &mut []);
        let mut take = |number: u64, tag: [u8; TAG_BYTES], port: u16| {
            receiver.open((Kind::Packet, number), b"head", &mut [], &tag, at(port))
        };
        assert!(take(5, sent(5), 1) && take(6, sent(6), 7));
        // Overtaken on its way; then the same again, and what nobody has made.
        assert!(take(4, sent(4), 1) && !take(6, sent(6), 9) && !take(7, sent(6), 9));
        // An address from which something comes is not yet that of the peer.
        assert_eq!(receiver.peer(), at(1));
        assert_eq!(receiver.guarded(), Guarded { forged: 1, replayed: 1, moved: 0 });
        // Kinds are numbered apart.
        let tag = sender.close(Kind::Hello, 5, b"head", &mut []);
        assert!(receiver.open((Kind::Hello, 5), b"head", &mut [], &tag, at(7)));
    }

    /// A socket with a guard, and what it takes of what has come.
    struct Station(UdpSocket, Guard, Inbox);

    impl Station {
        fn tend(&mut self) {
            let Self(socket, guard, inbox) = self;
            let count = inbox.receive(socket).unwrap();
            for mut datagram in inbox.datagrams(count) {
                assert!(guard.take_greeting(&mut datagram));
            }
            guard.tend(socket);
        }
    }

    #[test]
    #[ignore = "real time: make test-real"]
    fn two_find_each_other_though_every_greeting_is_copied_ahead() {
        let bind = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        let address = |socket: &UdpSocket| at(socket.local_addr().unwrap().port());
        // The first one speaks to a router, which copies from a port of its own before it passes on from another.
        let (one, two, router, ahead, beyond) = (bind(), bind(), bind(), bind(), bind());
        let (first, second) = (address(&one), address(&two));
        let mut stations = [
            Station(one, Guard::new(address(&router), &key("1"), &key("2")), Inbox::new(2000)),
            Station(two, Guard::new(at(1), &key("2"), &key("1")), Inbox::new(2000)),
        ];
        let mut bytes = [0; 2000];
        for _ in 0..400 {
            if !stations[0].1.is_reached() || !stations[1].1.is_reached() {
                for Station(socket, guard, _) in &mut stations {
                    guard.greet(socket);
                }
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
            while let Ok((length, _)) = router.recv_from(&mut bytes) {
                ahead.send_to(&bytes[..length], second).unwrap();
                beyond.send_to(&bytes[..length], second).unwrap();
            }
            while let Ok((length, _)) = beyond.recv_from(&mut bytes) {
                router.send_to(&bytes[..length], first).unwrap();
            }
            stations.iter_mut().for_each(Station::tend);
        }
        let [Station(_, near, _), Station(_, far, _)] = &stations;
        assert!(near.is_reached() && far.is_reached());
        assert_eq!((near.peer(), far.peer()), (address(&router), address(&beyond)));
        assert_eq!((near.guarded().moved, far.guarded().moved), (0, 0));
        assert!(far.guarded().replayed > 0);
    }
}
