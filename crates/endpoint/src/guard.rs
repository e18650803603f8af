//! Authentication of the built-in transport's datagrams on a socket. Between two machines, each datagram begins with a
//! tag that only the peer can make. Otherwise datagrams are plain.

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

/// Silence after which a greeting keeps NAT bindings open. Usual NATs forget a UDP binding after 30 s at the earliest
/// (RFC 4787, REQ-5, asks for two minutes).
pub const SILENCE: Span = Span::from_secs(10);

/// Counts of refused datagrams, and of changes of the peer's address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Guarded {
    /// Number of datagrams without a valid tag.
    pub forged: u64,
    /// Number of datagrams that were replayed or too old to check.
    pub replayed: u64,
    /// Number of changes of the peer's address (a NAT has rebound it).
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

/// Authentication state of an end, and the peer's address.
#[derive(Debug)]
pub struct Guard {
    peer: Peer,
    outgoing: Seal,
    incoming: Seal,
    /// Replay windows by kind.
    seen: Vec<(Kind, Window)>,
    guarded: Guarded,
    /// Answers that wait to be sent.
    answers: Vec<u64>,
}

/// Result of checking a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// New datagram of the peer.
    New,
    /// Datagram of the peer that was replayed or is too old to check.
    Again,
    /// Datagram without a valid tag of the peer.
    Forged,
}

/// Maximum number of waiting answers.
const MAX_ANSWERS: usize = 64;

impl Guard {
    /// Creates a guard with the keys of both directions and a guess of the peer's address.
    pub fn new(peer: SocketAddrV4, outgoing: &Key, incoming: &Key) -> Self {
        let (outgoing, incoming) = (Seal::new(outgoing), Seal::new(incoming));
        let (peer, guarded) = (Peer::at(peer), Guarded::default());
        Self { peer, outgoing, incoming, seen: Vec::new(), guarded, answers: Vec::new() }
    }

    /// Returns the address of the peer.
    pub fn peer(&self) -> SocketAddrV4 {
        self.peer.address()
    }

    /// Returns true if a datagram of the peer has arrived.
    pub fn is_heard(&self) -> bool {
        self.peer.is_heard()
    }

    /// Returns true if datagrams to the peer's address reach the peer.
    pub const fn is_reached(&self) -> bool {
        self.peer.is_known()
    }

    /// Returns the counts of refused datagrams.
    pub const fn guarded(&self) -> Guarded {
        Guarded { moved: self.peer.moves(), ..self.guarded }
    }

    /// Counts a datagram of an invalid format.
    pub const fn count_forged(&mut self) {
        self.guarded.forged += 1;
    }

    /// Encrypts `body` and returns the tag of `head` and `body`.
    pub fn close(&self, kind: Kind, number: u64, head: &[u8], body: &mut [u8]) -> [u8; TAG_BYTES] {
        self.outgoing.close(kind, number, head, body)
    }

    /// Decrypts `body`. Returns true if the datagram is new and from the peer.
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

    /// Handles a greeting of the peer. Returns false, and counts nothing, if the datagram is no greeting.
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

    /// Asks at every possible address of the peer.
    pub fn greet(&mut self, socket: &UdpSocket) {
        for to in self.peer.everywhere() {
            self.ask(socket, to);
        }
    }

    /// Answers greetings, and asks for the peer if its address is in doubt. Must be called often.
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
        // A failed send is like a lost packet, since another greeting follows.
        let _sent = socket.send_to(&bytes, to);
    }
}

fn now() -> Time {
    Time::from_ns(monotonic_ns())
}

/// Returns true if a datagram has the format of a greeting. Few other datagrams have it; the tag tells them apart.
fn has_form_of_greeting(datagram: &[u8]) -> bool {
    datagram.len() == GREETING_DATAGRAM_BYTES && datagram[7] == Kind::Hello as u8
}

/// Layer between the built-in transport and its socket.
#[derive(Debug)]
pub struct Wire {
    guard: Option<Guard>,
    /// Counter of sent bytes, shared with others.
    sent_bytes: Option<Arc<AtomicU64>>,
    /// Time of the last transmission.
    sent_at: Time,
}

impl Wire {
    /// Creates a layer without authentication, for sockets that nobody else can reach.
    pub const fn plain() -> Self {
        Self { guard: None, sent_bytes: None, sent_at: Time::ZERO }
    }

    /// Returns true if datagrams carry no tag.
    pub(crate) const fn is_plain(&self) -> bool {
        self.guard.is_none()
    }

    /// Creates a layer with a guard. Sent bytes are added to `sent_bytes`.
    pub const fn guarded_by(guard: Guard, sent_bytes: Arc<AtomicU64>) -> Self {
        Self { guard: Some(guard), sent_bytes: Some(sent_bytes), sent_at: Time::ZERO }
    }

    /// Returns the counts of refused datagrams.
    pub(crate) fn guarded(&self) -> Guarded {
        self.guard.as_ref().map_or(Guarded::default(), Guard::guarded)
    }

    /// Returns the destination for a socket without a peer.
    pub(crate) fn peer(&self) -> Option<SocketAddrV4> {
        self.guard.as_ref().map(Guard::peer)
    }

    /// Returns the bytes to read of a datagram whose first `head_bytes` suffice. With a guard all bytes must be read,
    /// since every byte is authenticated.
    pub(crate) const fn slot_bytes(&self, head_bytes: usize) -> usize {
        if self.guard.is_some() { MAX_DATAGRAM_BYTES } else { head_bytes }
    }

    /// Adds a datagram to the outbox and returns its length.
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

    /// Handles a greeting. Returns false if the datagram is a packet of the built-in transport.
    #[inline]
    pub(crate) fn take_greeting(&mut self, datagram: &mut Datagram<'_>) -> bool {
        self.guard.as_mut().is_some_and(|guard| guard.take_greeting(datagram))
    }

    /// Returns the transport packet in a datagram.
    #[inline]
    pub(crate) fn body<'a>(&self, datagram: &'a [u8]) -> &'a [u8] {
        let before = if self.guard.is_some() { TAG_BYTES } else { 0 };
        datagram.get(before..).unwrap_or_default()
    }

    /// Returns true if a datagram of this kind and number is new and from the peer.
    #[inline]
    pub(crate) fn accepts(&mut self, kind: Kind, number: u64, datagram: &Datagram<'_>) -> bool {
        let Some(guard) = &mut self.guard else { return true };
        let Some((tag, body)) = datagram.bytes.split_at_checked(TAG_BYTES) else { return false };
        guard.open((kind, number), body, &mut [], tag, datagram.source)
    }

    /// Counts a datagram that the peer did not send.
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
        // Number 4 was reordered. Then a replay and a forgery follow.
        assert!(take(4, sent(4), 1) && !take(6, sent(6), 9) && !take(7, sent(6), 9));
        // A new source address is not the peer's address until an answer proves it.
        assert_eq!(receiver.peer(), at(1));
        assert_eq!(receiver.guarded(), Guarded { forged: 1, replayed: 1, moved: 0 });
        // Each kind has its own numbers.
        let tag = sender.close(Kind::Hello, 5, b"head", &mut []);
        assert!(receiver.open((Kind::Hello, 5), b"head", &mut [], &tag, at(7)));
    }

    /// Socket with a guard and an inbox.
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
        // The first socket sends to a router. It copies each greeting from one port before it forwards the greeting
        // from another.
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
