//! Loss detection: decides by one of four rules which packets are lost.
//!
//! Each rule marks packets in the [`Flight`] and reports whether a loss episode begins.

mod by_age;
mod by_sequence;
mod duplicates;
mod persistent;
mod reordering;
mod scoreboard;
mod thresholds;
mod utp;

use crate::advance::Advance;
use crate::config::{Config, LossDetection, Reduction};
use crate::flight::{AckSummary, Departure, Flight};
use crate::recovery::{Episode, Onset};
use crate::rtt::RttEstimator;
use by_age::ByAge;
use by_sequence::BySequence;
use duplicates::Duplicates;
pub(crate) use persistent::lasts_longer_than;
use thresholds::Thresholds;
use units::{Rng, Span, Time};
use utp::Utp;

#[derive(Debug)]
enum Rule {
    /// Selective acknowledgement by packet number: RFC 9002 6.1, and RACK (RFC 8985) in Linux's TCP.
    Thresholds(Thresholds),
    /// No selective acknowledgement: RFC 6582.
    Duplicates(Duplicates),
    /// Selective acknowledgement by sequence: RFC 6675 as in ns-3. Boxed, because it is larger than the others and
    /// rarely used.
    BySequence(Box<BySequence>),
    /// Selective acknowledgement by segment number, as in libutp.
    Utp(Box<Utp>),
    /// Time since a packet was sent: PCC's UDT.
    ByAge(ByAge),
}

/// The loss detector of one flow.
#[derive(Debug)]
pub(crate) struct LossDetector {
    rule: Rule,
    /// True if another part needs the news of ACKs about the stream although the rule works by packets.
    sums_packets: bool,
}

impl LossDetector {
    /// Returns a detector; `seed` is for random choices.
    pub(crate) fn new(config: &Config, seed: u64) -> Self {
        let rule = match config.loss_detection {
            LossDetection::Sequence => Rule::BySequence(Box::new(BySequence::new(config.packet_threshold))),
            LossDetection::Utp => {
                let draw = || Rng::new(seed, "first-number").next_u64() as u16;
                let first = config.first_number.unwrap_or_else(draw);
                Rule::Utp(Box::new(Utp::new(config.packet_threshold, first)))
            }
            LossDetection::Age => Rule::ByAge(ByAge::new(config.time_threshold)),
            LossDetection::Packet if config.sack => Rule::Thresholds(Thresholds::new(config)),
            LossDetection::Packet => {
                Rule::Duplicates(Duplicates::new(config.packet_threshold, config.payload_bytes))
            }
        };
        Self { rule, sums_packets: config.cumulative_growth || config.recovery == Reduction::PrrNs3 }
    }

    /// Records that the payload from `offset` on leaves in packet `number`.
    #[inline]
    pub(crate) fn on_sent(
        &mut self,
        now: Time,
        rtt: &RttEstimator,
        offset: u64,
        payload_bytes: u32,
        number: u64,
    ) {
        match &mut self.rule {
            Rule::BySequence(rule) => rule.on_sent(offset, payload_bytes, number),
            Rule::Utp(rule) => rule.on_sent(offset, payload_bytes, number),
            Rule::ByAge(rule) => rule.on_sent(now, rtt),
            Rule::Thresholds(_) | Rule::Duplicates(_) => {}
        }
    }

    /// Returns the news about the stream, complete up to `complete`, from the packets that an ACK newly acknowledges.
    #[inline]
    pub(crate) fn advance(&mut self, flight: &mut Flight, complete: u64) -> Advance {
        match &mut self.rule {
            Rule::BySequence(rule) => rule.advance(flight, complete),
            Rule::Utp(rule) => rule.advance(flight, complete),
            _ if self.sums_packets => Advance::of_packets(flight, complete),
            _ => Advance::default(),
        }
    }

    /// Handles an ACK that acknowledged nothing new; returns true if losses must be searched for.
    pub(crate) const fn on_duplicate(&mut self, flight: &Flight, episode: &Episode) -> bool {
        match &mut self.rule {
            Rule::Duplicates(rule) if flight.bytes() > 0 => rule.on_duplicate() && !episode.is_active(),
            Rule::Utp(_) => true,
            _ => false,
        }
    }

    /// Handles an ACK that acknowledged something new; the next packet has `next_number`.
    #[inline]
    pub(crate) fn on_new(&mut self, flight: &Flight, acknowledged: &AckSummary, next_number: u64) {
        match &mut self.rule {
            Rule::Thresholds(rule) => rule.on_acknowledged(flight, acknowledged, next_number),
            Rule::Duplicates(rule) => rule.forget(),
            Rule::BySequence(_) | Rule::Utp(_) | Rule::ByAge(_) => {}
        }
    }

    /// Returns true if packets arrived after later packets, so that later packets are no sign of a loss any more.
    #[inline]
    pub(crate) const fn has_seen_reordering(&self) -> bool {
        matches!(&self.rule, Rule::Thresholds(rule) if rule.has_seen_reordering())
    }

    /// Declares packets of the flight lost; the stream is complete up to `complete`.
    #[inline]
    pub(crate) fn detect(
        &mut self,
        now: Time,
        flight: &mut Flight,
        rtt: &RttEstimator,
        episode: &Episode,
        complete: u64,
        advance: &Advance,
    ) -> Onset {
        match &mut self.rule {
            Rule::Thresholds(rule) => {
                rule.detect(now, flight, rtt, episode.is_active() || episode.is_after_timeout(complete))
            }
            Rule::Duplicates(rule) => rule.detect(flight, episode),
            Rule::BySequence(rule) => rule.detect(flight, episode, advance),
            Rule::Utp(rule) => rule.detect(flight),
            Rule::ByAge(rule) => rule.detect(now, flight, rtt),
        }
    }

    /// Handles the beginning of an episode, after the controller was told. Returns the packet that is declared lost as
    /// well; its payload is sent again first.
    pub(crate) fn begin_episode(&mut self, flight: &mut Flight) -> Option<u64> {
        match &mut self.rule {
            Rule::BySequence(rule) => rule.lose_retransmitted_head(flight),
            _ => None,
        }
    }

    /// Handles the end of an episode: the news about later segments in the last ACK begins no other episode.
    pub(crate) const fn end_episode(&mut self, advance: &mut Advance) {
        advance.sacked_bytes = 0;
        match &mut self.rule {
            Rule::BySequence(rule) => rule.forget_duplicates(),
            Rule::Thresholds(rule) => rule.on_recovered(),
            Rule::Duplicates(_) | Rule::Utp(_) | Rule::ByAge(_) => {}
        }
    }

    /// Returns true if the first missing segment must leave at once, regardless of the window: after a partial ACK (RFC
    /// 6582 3.2).
    #[inline]
    pub(crate) fn wants_head(&self, episode: &Episode, advance: &Advance) -> bool {
        match &self.rule {
            Rule::BySequence(rule) => rule.wants_head(episode, advance),
            Rule::Duplicates(_) => episode.is_active() && advance.completed_bytes > 0,
            Rule::Thresholds(_) | Rule::Utp(_) | Rule::ByAge(_) => false,
        }
    }

    /// Returns true if [`LossDetector::again`] may name packets.
    #[inline]
    pub(crate) const fn repeats_at_once(&self) -> bool {
        matches!(self.rule, Rule::Utp(_))
    }

    /// Returns lost packets whose payload leaves before everything else, regardless of the window, lowest first. One of
    /// them may be declared lost only now, without a sign of congestion.
    pub(crate) fn again(&self, flight: &mut Flight) -> &[u64] {
        if let Rule::Utp(rule) = &self.rule { rule.again(flight) } else { &[] }
    }

    /// Handles a timeout that declared everything in flight lost; returns true if the data are sent again in order.
    pub(crate) fn on_timeout(&mut self) -> bool {
        match &mut self.rule {
            Rule::Thresholds(rule) => {
                rule.on_timeout();
                false
            }
            Rule::ByAge(rule) => {
                rule.on_timeout();
                false
            }
            // Only the cumulative point shows progress: segments above it do not help while the missing segment is not
            // there.
            Rule::Duplicates(rule) => {
                rule.forget();
                true
            }
            Rule::BySequence(rule) => {
                rule.on_timeout();
                true
            }
            Rule::Utp(rule) => {
                rule.on_timeout();
                true
            }
        }
    }

    /// Returns the time at which time alone makes the next packet lost.
    #[inline]
    pub(crate) const fn next_timer(&self) -> Time {
        match &self.rule {
            Rule::Thresholds(rule) => rule.next_timer(),
            Rule::ByAge(rule) => rule.next_timer(),
            Rule::Duplicates(_) | Rule::BySequence(_) | Rule::Utp(_) => Time::NEVER,
        }
    }

    /// Returns the time after its departure for which a lost packet is remembered, in case it arrives after all.
    #[inline]
    pub(crate) fn memory(&self, rtt: &RttEstimator) -> Span {
        match &self.rule {
            Rule::ByAge(rule) => rule.limit(rtt) * 2,
            _ => rtt.smoothed() * 2 + rtt.variation() * 4,
        }
    }

    /// Returns the bytes that have left the flight although no ACK identifies them.
    #[inline]
    pub(crate) const fn departed_bytes(&self) -> u64 {
        if let Rule::Duplicates(rule) = &self.rule { rule.departed_bytes() } else { 0 }
    }

    /// Returns true if an ACK of something new restarts the retransmission timer; the stream is complete up to
    /// `complete`. By sequence only completion does. If selective acknowledgements alone did, the timeout that a lost
    /// retransmission needs would never come.
    #[inline]
    pub(crate) const fn is_progress(&self, advance: &Advance, complete: u64) -> bool {
        !matches!(self.rule, Rule::BySequence(_)) || advance.completed_bytes > 0 || complete == 0
    }

    /// Returns the departure of the packet from which an ACK takes its RTT sample. This is the newest packet of the
    /// ACK, if no later packet was acknowledged before. By sequence it is the first segment that the stream's
    /// completion passed, if that segment was sent once. By sequence the newest packet counts only while no payload was
    /// sent.
    #[inline]
    pub(crate) fn timed_send(
        &self,
        flight: &Flight,
        newest: Departure,
        is_largest: bool,
        advance: &Advance,
        has_sent_payload: bool,
    ) -> Option<Time> {
        match &self.rule {
            Rule::BySequence(_) if has_sent_payload => Some(flight.get(advance.timed?)?.sent_at),
            Rule::BySequence(_) => Some(newest.at),
            Rule::Thresholds(_) | Rule::Duplicates(_) | Rule::Utp(_) | Rule::ByAge(_) => {
                is_largest.then_some(newest.at)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_packet() -> Config {
        Config::tcp()
    }

    fn by_duplicates() -> Config {
        Config { sack: false, ..Config::tcp() }
    }

    fn by_sequence() -> Config {
        Config::ns3_compat()
    }

    fn by_age() -> Config {
        Config { loss_detection: LossDetection::Age, time_threshold: 2.0, ..Config::tcp() }
    }

    /// Returns a detector, and ten segments of 1000 bytes that were sent every millisecond.
    fn start(config: &Config) -> (LossDetector, Flight) {
        let mut detector = LossDetector::new(config, 1);
        let rtt = RttEstimator::new(config);
        (0..10).for_each(|number| detector.on_sent(Time::ZERO, &rtt, number * 1000, 1000, number));
        (detector, Flight::of_test(config))
    }

    /// Returns the departure timed by an ACK whose newest packet is the fourth; the stream's completion passed the
    /// first.
    fn timed(config: &Config, is_largest: bool, timed: Option<u64>, has_sent_payload: bool) -> Option<u64> {
        let (detector, flight) = start(config);
        let newest = Departure { number: 3, at: Time::from_ns(3_000_000) };
        let advance = Advance { timed, ..Advance::default() };
        let at = detector.timed_send(&flight, newest, is_largest, &advance, has_sent_payload);
        at.map(|at| at.as_ns() / 1_000_000)
    }

    #[test]
    fn the_newest_packet_is_timed_unless_a_later_one_was_acknowledged_before() {
        for config in [by_packet(), by_duplicates(), by_age()] {
            assert_eq!(timed(&config, true, Some(0), true), Some(3));
            assert_eq!(timed(&config, false, Some(0), true), None);
        }
    }

    #[test]
    fn by_sequence_the_first_completed_segment_is_timed_if_it_was_sent_once() {
        assert_eq!(timed(&by_sequence(), false, Some(0), true), Some(0));
        assert_eq!(timed(&by_sequence(), true, None, true), None, "Karn's rule");
        assert_eq!(timed(&by_sequence(), false, None, false), Some(3), "the opener");
    }

    #[test]
    fn by_sequence_only_completion_puts_the_timeout_off() {
        let sacked = Advance { arrived_bytes: 1000, sacked_bytes: 1000, ..Advance::default() };
        let completed = Advance { arrived_bytes: 1000, completed_bytes: 1000, ..Advance::default() };
        for config in [by_packet(), by_duplicates()] {
            assert!(start(&config).0.is_progress(&sacked, 5000));
        }
        let (detector, _) = start(&by_sequence());
        assert!(!detector.is_progress(&sacked, 5000) && detector.is_progress(&completed, 5000));
        assert!(detector.is_progress(&Advance::default(), 0), "the opener");
    }

    #[test]
    fn duplicate_acks_count_without_selective_acknowledgements_and_outside_of_episodes() {
        let (mut detector, flight) = start(&by_duplicates());
        let mut episode = Episode::new(true);
        let mut third = |episode: &Episode| (0..3).map(|_| detector.on_duplicate(&flight, episode)).last();
        assert_eq!(third(&episode), Some(true));
        detector.on_new(&flight, &AckSummary::default(), 10);
        assert_eq!(detector.departed_bytes(), 0);
        episode.begin(10, 10_000);
        let mut third = |episode: &Episode| (0..3).map(|_| detector.on_duplicate(&flight, episode)).last();
        assert_eq!(third(&episode), Some(false), "the episode goes on");
        assert_eq!(detector.departed_bytes(), 3 * u64::from(by_duplicates().payload_bytes));
        for config in [by_packet(), by_sequence(), by_age()] {
            let (mut detector, flight) = start(&config);
            assert!((0..9).all(|_| !detector.on_duplicate(&flight, &Episode::new(true))));
            assert_eq!(detector.departed_bytes(), 0);
        }
    }

    #[test]
    fn after_a_timeout_all_is_sent_again_in_order_unless_packets_are_known_one_by_one() {
        let again = [by_packet(), by_duplicates(), by_sequence(), by_age()]
            .map(|config| start(&config).0.on_timeout());
        assert_eq!(again, [false, true, true, false]);
    }

    #[test]
    fn an_episode_that_ends_leaves_nothing_that_could_begin_the_next() {
        let (mut detector, mut flight) = start(&by_sequence());
        let episode = Episode::new(true);
        for (ack, number) in [2, 3, 4].into_iter().enumerate() {
            flight.acknowledged_for_test(ack as u64, &[number], 0);
            let mut advance = detector.advance(&mut flight, 0);
            detector.end_episode(&mut advance);
            assert_eq!(advance.sacked_bytes, 0);
            let rtt = RttEstimator::new(&by_sequence());
            assert_eq!(detector.detect(Time::ZERO, &mut flight, &rtt, &episode, 0, &advance), Onset::No);
        }
    }

    #[test]
    fn packets_are_summed_up_only_for_whom_it_concerns() {
        let sums = |config: &Config| {
            let (mut detector, mut flight) = start(config);
            flight.acknowledged_for_test(0, &[0, 2], 1);
            detector.advance(&mut flight, 1000).arrived_bytes
        };
        assert_eq!(sums(&by_packet()), 0);
        assert_eq!(sums(&Config { cumulative_growth: true, ..by_packet() }), 2000);
        assert_eq!(sums(&by_sequence()), 2000);
    }
}
