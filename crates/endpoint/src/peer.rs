//! Detection of the peer's address. Only an answered question proves that an address leads to the peer.
//!
//! An observer can copy a datagram and send the copy from its own address, ahead of the original. Thus an authentic
//! datagram proves its author, not its source address. Another source address of authentic datagrams is therefore a
//! candidate.
//!
//! Candidates and the present address are asked, each question with its own number. The peer answers to the address
//! that it knows. As long as questions to the present address are answered, the peer stays there. If only questions to
//! a candidate are answered, the peer has moved (compare RFC 9000, sections 8.2 and 9.3).

use crate::seal::TAG_BYTES;
use std::collections::VecDeque;
use std::net::SocketAddrV4;
use units::{Span, Time};

/// Time between two questions while there are candidates.
const ASK_EVERY: Span = Span::from_ms(100);
/// Minimum time that the present address has for an answer after a candidate's answer. The time is at least as long as
/// the candidate's answer took.
const PROBATION: Span = Span::from_ms(500);
/// Time after which a candidate without an answer is forgotten.
const FORGET_AFTER: Span = Span::from_secs(5);
/// Maximum number of simultaneous candidates.
const MAX_CANDIDATES: usize = 4;
/// Maximum number of remembered questions.
const MAX_QUESTIONS: usize = 256;

/// Content of a greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greeting {
    /// Question that the peer must answer.
    Ask,
    /// Answer to the question with this number.
    Answer(u64),
}

/// Length of a greeting, bytes.
pub(crate) const GREETING_BYTES: usize = 9;
/// Length of a datagram with a greeting, bytes (see `envelope.rs`).
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

    /// Decodes a greeting; `None` for other bytes.
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

/// Another source address of authentic datagrams.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    address: SocketAddrV4,
    since: Time,
    /// Times of the first answer to a question to this address, and of this question.
    answered: Option<(Time, Time)>,
}

/// Sent question.
#[derive(Clone, Copy, Debug)]
struct Question {
    number: u64,
    to: SocketAddrV4,
    at: Time,
}

/// Peer's address with its candidates.
#[derive(Debug)]
pub(crate) struct Peer {
    address: SocketAddrV4,
    /// True if a question to the address was answered; before that the address is a guess.
    is_known: bool,
    /// True if authentic datagrams came from the address.
    is_seen: bool,
    candidates: Vec<Candidate>,
    questions: VecDeque<Question>,
    next_question: u64,
    ask_at: Time,
    moves: u64,
}

impl Peer {
    /// Creates a peer with a guess of its address.
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

    /// Returns the destination address. The first source address of authentic datagrams replaces a guess from which
    /// nothing came.
    pub(crate) fn address(&self) -> SocketAddrV4 {
        let first = self.candidates.first().filter(|_| !self.is_known && !self.is_seen);
        first.map_or(self.address, |candidate| candidate.address)
    }

    /// Returns true if a question to the address was answered.
    pub(crate) const fn is_known(&self) -> bool {
        self.is_known
    }

    /// Returns true if an authentic datagram came from any address.
    pub(crate) fn is_heard(&self) -> bool {
        self.is_known || self.is_seen || !self.candidates.is_empty()
    }

    /// Returns true if [`due`](Self::due) has nothing to do.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Returns the number of changes of a known address.
    pub(crate) const fn moves(&self) -> u64 {
        self.moves
    }

    /// Records an authentic datagram from `source`.
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

    /// Records an answer to question `number`. The answer's source does not matter: the peer has the question, thus the
    /// question's destination leads to the peer.
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

    /// Moves to a candidate if its probation is over, and forgets candidates that do not answer. Returns the addresses
    /// to ask now.
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

    /// Returns all possible addresses of the peer. A guess no longer counts after datagrams came from elsewhere. On a
    /// machine with several links it may lead over another path than the measured one.
    pub(crate) fn everywhere(&self) -> Vec<SocketAddrV4> {
        let present =
            Some(self.address).filter(|_| self.is_known || self.is_seen || self.candidates.is_empty());
        present.into_iter().chain(self.candidates.iter().map(|known| known.address)).collect()
    }

    /// Returns the number of a question to `to`.
    pub(crate) fn ask(&mut self, to: SocketAddrV4, now: Time) -> u64 {
        let number = self.next_number();
        if self.questions.len() == MAX_QUESTIONS {
            self.questions.pop_front();
        }
        self.questions.push_back(Question { number, to, at: now });
        number
    }

    /// Returns the number of the next greeting, a question or an answer.
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

    /// Advances the time to `until_ms`. Questions to the addresses in `leads_to_peer` are answered after 10 ms.
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
        // The copies lead nowhere, or the attacker forwards datagrams, so that questions to both addresses are
        // answered.
        for leads_to_peer in [&[HOME][..], &[HOME, ATTACKER]] {
            let mut peer = known();
            peer.see(at(ATTACKER), || Time::ZERO);
            pass(&mut peer, 10_000, leads_to_peer);
            assert_eq!((peer.address(), peer.moves()), (at(HOME), 0));
            assert!(peer.is_settled());
        }
        // A victim that asked for nothing does not answer.
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
        // Simultaneous copies from another address do not prevent the move.
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
        // The guess also leads to the peer, but over another path. Thus it is not asked.
        assert_eq!((peer.address(), peer.everywhere(), peer.is_heard()), (at(NEW), vec![at(NEW)], true));
        pass(&mut peer, 1000, &[HOME, NEW]);
        assert_eq!((peer.address(), peer.is_known(), peer.moves()), (at(NEW), true, 0));
        // Copies came first. Datagrams to their source do not arrive.
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
