//! Finds out where the peer is: at an address that leads to it, which only an answered question shows.
//!
//! Anybody who sees a datagram can send a copy of it from an address of their own, ahead of the original: an authentic
//! datagram tells who made it, not who sent it. Another address from which authentic datagrams come is therefore a
//! candidate. Candidates and the present address are asked, each question with a number of its own; the peer answers to
//! the address that it knows. As long as a question to the present address is answered, the peer is there. If only
//! those to a candidate are, the peer has moved (compare RFC 9000, sections 8.2 and 9.3).

use crate::seal::TAG_BYTES;
use std::collections::VecDeque;
use std::net::SocketAddrV4;
use units::{Span, Time};

/// Time between two questions while there are candidates.
const ASK_EVERY: Span = Span::from_ms(100);
/// Shortest time that the present address has for an answer after a candidate has given one; it has at least as long as
/// that answer took.
const PROBATION: Span = Span::from_ms(500);
/// Time after which a candidate that has given no answer is forgotten.
const FORGET_AFTER: Span = Span::from_secs(5);
/// Maximum number of candidates at a time.
const MAX_CANDIDATES: usize = 4;
/// Maximum number of questions that an answer can be to.
const MAX_QUESTIONS: usize = 256;

/// What a greeting says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greeting {
    /// The peer is to answer.
    Ask,
    /// The question with this number has arrived.
    Answer(u64),
}

/// Bytes of a greeting.
pub(crate) const GREETING_BYTES: usize = 9;
/// Bytes of a datagram with a greeting: see `envelope.rs`.
pub(crate) const GREETING_DATAGRAM_BYTES: usize = 16 + GREETING_BYTES + TAG_BYTES;

impl Greeting {
    pub(crate) fn to_bytes(self) -> [u8; GREETING_BYTES] {
        let (code, number) = match self {
            Self::Ask => (0, 0),
            Self::Answer(number) => (1, number),
        };
        let mut bytes = [code; GREETING_BYTES];
        bytes[1..].copy_from_slice(&u64::to_le_bytes(number));
        bytes
    }

    /// Returns `None` for other bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (code, number) = bytes.split_first()?;
        let number = u64::from_le_bytes(number.try_into().ok()?);
        match code {
            0 => Some(Self::Ask),
            1 => Some(Self::Answer(number)),
            _ => None,
        }
    }
}

/// Another address from which authentic datagrams came.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    address: SocketAddrV4,
    since: Time,
    /// When the first answer to a question to it came, and when that question left.
    answered: Option<(Time, Time)>,
}

/// A question that was asked.
#[derive(Clone, Copy, Debug)]
struct Question {
    number: u64,
    to: SocketAddrV4,
    at: Time,
}

/// The peer's address, and others that may be.
#[derive(Debug)]
pub(crate) struct Peer {
    address: SocketAddrV4,
    /// Whether questions to the address were answered; until then it is a guess.
    is_known: bool,
    /// Whether authentic datagrams came from the address.
    is_seen: bool,
    candidates: Vec<Candidate>,
    questions: VecDeque<Question>,
    next_question: u64,
    ask_at: Time,
    moves: u64,
}

impl Peer {
    /// With a guess of its address.
    pub(crate) const fn at(guess: SocketAddrV4) -> Self {
        Self {
            address: guess,
            is_known: false,
            is_seen: false,
            candidates: Vec::new(),
            questions: VecDeque::new(),
            next_question: 0,
            ask_at: Time::ZERO,
            moves: 0,
        }
    }

    /// Returns the address to send to. A guess from which nothing came gives way to the first address from which
    /// something did.
    pub(crate) fn address(&self) -> SocketAddrV4 {
        let first = self.candidates.first().filter(|_| !self.is_known && !self.is_seen);
        first.map_or(self.address, |candidate| candidate.address)
    }

    /// Whether a question to the address was answered, which makes it more than a guess.
    pub(crate) const fn is_known(&self) -> bool {
        self.is_known
    }

    /// Whether an authentic datagram came, from wherever.
    pub(crate) fn is_heard(&self) -> bool {
        self.is_known || self.is_seen || !self.candidates.is_empty()
    }

    /// Whether [`due`](Self::due) has nothing to do.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Number of times that a known address has changed.
    pub(crate) const fn moves(&self) -> u64 {
        self.moves
    }

    /// Takes note that an authentic datagram came from `source`.
    #[inline]
    pub(crate) fn see(&mut self, source: SocketAddrV4, now: impl FnOnce() -> Time) {
        if source == self.address {
            self.is_seen = true;
        } else if self.candidates.len() < MAX_CANDIDATES
            && !self.candidates.iter().any(|known| known.address == source)
        {
            self.candidates.push(Candidate { address: source, since: now(), answered: None });
        }
    }

    /// Takes note of an answer to question `number`. From where it came makes no difference: that the peer has the
    /// question shows that the address to which it went leads to the peer.
    pub(crate) fn answered(&mut self, number: u64, now: Time) {
        let Some(Question { to, at, .. }) =
            self.questions.iter().find(|question| question.number == number).copied()
        else {
            return;
        };
        if to == self.address && (self.is_known || self.is_seen) {
            self.settle_at(to);
        } else if let Some(candidate) = self.candidates.iter_mut().find(|known| known.address == to) {
            candidate.answered.get_or_insert((now, at));
        }
    }

    fn settle_at(&mut self, address: SocketAddrV4) {
        (self.address, self.is_known, self.is_seen) = (address, true, true);
        self.candidates.clear();
    }

    /// Moves to a candidate whose time has come, forgets those that do not answer, and returns the addresses to ask now.
    pub(crate) fn due(&mut self, now: Time) -> Vec<SocketAddrV4> {
        let is_proven = |candidate: &Candidate| {
            candidate.answered.is_some_and(|(at, asked)| now >= at + PROBATION.max(at - asked))
        };
        if let Some(proven) = self.candidates.iter().find(|candidate| is_proven(candidate)).copied() {
            self.moves += u64::from(self.is_known);
            self.settle_at(proven.address);
            return Vec::new();
        }
        self.candidates.retain(|known| known.answered.is_some() || now < known.since + FORGET_AFTER);
        if self.candidates.is_empty() || now < self.ask_at {
            return Vec::new();
        }
        self.ask_at = now + ASK_EVERY;
        self.everywhere()
    }

    /// Returns all addresses at which the peer may be. A guess is one only until something came from elsewhere: it may
    /// lead another way than the one that is to be measured, where a machine has several.
    pub(crate) fn everywhere(&self) -> Vec<SocketAddrV4> {
        let present =
            Some(self.address).filter(|_| self.is_known || self.is_seen || self.candidates.is_empty());
        present.into_iter().chain(self.candidates.iter().map(|known| known.address)).collect()
    }

    /// Returns the number of a question that leaves for `to`.
    pub(crate) fn ask(&mut self, to: SocketAddrV4, now: Time) -> u64 {
        let number = self.next_number();
        if self.questions.len() == MAX_QUESTIONS {
            self.questions.pop_front();
        }
        self.questions.push_back(Question { number, to, at: now });
        number
    }

    /// Returns the number of the next greeting, be it a question or an answer.
    pub(crate) const fn next_number(&mut self) -> u64 {
        self.next_question += 1;
        self.next_question - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HOME: u16 = 1;
    const NEW: u16 = 2;
    const ATTACKER: u16 = 3;

    fn at(port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
    }

    /// Lets time pass until `until_ms`; questions to the addresses that lead to the peer are answered after 10 ms.
    fn pass(peer: &mut Peer, until_ms: u64, leads_to_peer: &[u16]) {
        let mut answers = VecDeque::new();
        for ms in 0..until_ms {
            let now = Time::ZERO + Span::from_ms(ms);
            for to in peer.due(now) {
                let number = peer.ask(to, now);
                if leads_to_peer.contains(&to.port()) {
                    answers.push_back((ms + 10, number));
                }
            }
            while answers.front().is_some_and(|(due, _)| *due <= ms) {
                let (_, number) = answers.pop_front().unwrap();
                peer.answered(number, now);
            }
        }
    }

    fn known() -> Peer {
        let mut peer = Peer::at(at(HOME));
        peer.see(at(HOME), || Time::ZERO);
        let number = peer.ask(at(HOME), Time::ZERO);
        peer.answered(number, Time::ZERO);
        assert!(peer.is_known());
        peer
    }

    #[test]
    fn who_copies_greetings_ahead_from_another_port_moves_nobody() {
        // The copies lead nowhere; or the attacker passes on what comes, so that questions to both are answered.
        for leads_to_peer in [&[HOME][..], &[HOME, ATTACKER]] {
            let mut peer = known();
            peer.see(at(ATTACKER), || Time::ZERO);
            pass(&mut peer, 10_000, leads_to_peer);
            assert_eq!((peer.address(), peer.moves()), (at(HOME), 0));
            assert!(peer.is_settled());
        }
        // A victim that never asked for anything answers nothing.
        let mut peer = known();
        peer.see(at(ATTACKER), || Time::ZERO);
        pass(&mut peer, 10_000, &[]);
        assert_eq!((peer.address(), peer.moves()), (at(HOME), 0));
    }

    #[test]
    fn a_peer_that_a_nat_bound_anew_is_found() {
        let mut peer = known();
        peer.see(at(NEW), || Time::ZERO);
        pass(&mut peer, 400, &[NEW]);
        assert_eq!(peer.address(), at(HOME));
        pass(&mut peer, 1000, &[NEW]);
        assert_eq!((peer.address(), peer.moves()), (at(NEW), 1));
        // Copies from elsewhere at the same moment do not hinder it.
        let mut peer = known();
        peer.see(at(ATTACKER), || Time::ZERO);
        peer.see(at(NEW), || Time::ZERO);
        pass(&mut peer, 1000, &[NEW]);
        assert_eq!((peer.address(), peer.moves()), (at(NEW), 1));
    }

    #[test]
    fn a_long_round_trip_gives_the_present_address_as_long() {
        let mut peer = known();
        peer.see(at(NEW), || Time::ZERO);
        let s = |seconds: u64| Time::ZERO + Span::from_secs(seconds);
        let number = peer.ask(at(NEW), s(0));
        peer.answered(number, s(2));
        assert!(!peer.due(s(3)).is_empty() && peer.address() == at(HOME));
        assert!(peer.due(s(4)).is_empty() && peer.address() == at(NEW));
    }

    #[test]
    fn a_guess_gives_way_to_where_the_peer_speaks_from() {
        let mut peer = Peer::at(at(HOME));
        assert_eq!((peer.address(), peer.everywhere(), peer.is_heard()), (at(HOME), vec![at(HOME)], false));
        peer.see(at(NEW), || Time::ZERO);
        // The guess leads to the peer too, another way: it is not asked.
        assert_eq!((peer.address(), peer.everywhere(), peer.is_heard()), (at(NEW), vec![at(NEW)], true));
        pass(&mut peer, 1000, &[HOME, NEW]);
        assert_eq!((peer.address(), peer.is_known(), peer.moves()), (at(NEW), true, 0));
        // Copies came first: what is sent there does not arrive.
        let mut peer = Peer::at(at(HOME));
        peer.see(at(ATTACKER), || Time::ZERO);
        peer.see(at(NEW), || Time::ZERO);
        pass(&mut peer, 1000, &[NEW]);
        assert_eq!((peer.address(), peer.is_known()), (at(NEW), true));
    }

    #[test]
    fn what_a_flood_of_addresses_keeps_is_bounded() {
        let mut peer = known();
        for port in 10..10_000 {
            peer.see(at(port), || Time::ZERO);
        }
        assert_eq!(peer.everywhere().len(), 1 + MAX_CANDIDATES);
        for _ in 0..10_000 {
            peer.ask(at(10), Time::ZERO);
        }
        assert_eq!(peer.questions.len(), MAX_QUESTIONS);
        peer.answered(u64::MAX, Time::ZERO);
        assert!(!peer.is_settled());
    }

    #[test]
    fn greetings_are_read_as_they_were_written_and_nothing_else_is() {
        for greeting in [Greeting::Ask, Greeting::Answer(0), Greeting::Answer(u64::MAX)] {
            assert_eq!(Greeting::from_bytes(&greeting.to_bytes()), Some(greeting));
        }
        for wrong in [&[][..], &[0; 8], &[0; 10], &[2; 9]] {
            assert_eq!(Greeting::from_bytes(wrong), None);
        }
    }
}
