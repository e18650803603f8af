//! Loss detection: which packets are lost, by one of three rules.
//!
//! Each rule marks packets in the [`Flight`] and says whether that begins a loss episode.

mod by_sequence;
mod duplicates;
mod persistent;
mod scoreboard;
mod thresholds;

use crate::advance::Advance;
use crate::config::{Config, LossDetection, Reduction};
use crate::flight::Flight;
use crate::recovery::{Episode, Onset};
use crate::rtt::RttEstimator;
use by_sequence::BySequence;
use duplicates::Duplicates;
pub(crate) use persistent::lasts_longer_than;
use thresholds::Thresholds;
use units::Time;

#[derive(Debug)]
enum Rule {
    /// Selective acknowledgement by packet number: RFC 9002 6.1, and what RACK (RFC 8985) gives Linux's TCP.
    Thresholds(Thresholds),
    /// No selective acknowledgement: RFC 6582.
    Duplicates(Duplicates),
    /// Selective acknowledgement by sequence: RFC 6675 as ns-3 follows it. Larger than the others, and seldom used.
    BySequence(Box<BySequence>),
}

/// The loss detector of one flow.
#[derive(Debug)]
pub(crate) struct LossDetector {
    rule: Rule,
    /// Whether somebody wants to know what ACKs tell about the stream although the rule goes by packets.
    sums_packets: bool,
}

impl LossDetector {
    pub(crate) fn new(config: &Config) -> Self {
        let rule = match config.loss_detection {
            LossDetection::Sequence => Rule::BySequence(Box::new(BySequence::new(config.packet_threshold))),
            LossDetection::Packet if config.sack => {
                Rule::Thresholds(Thresholds::new(config.packet_threshold, config.time_threshold))
            }
            LossDetection::Packet => {
                Rule::Duplicates(Duplicates::new(config.packet_threshold, config.payload_bytes))
            }
        };
        Self { rule, sums_packets: config.cumulative_growth || config.recovery == Reduction::PrrNs3 }
    }

    /// The payload from `offset` on leaves in packet `number`.
    #[inline]
    pub(crate) fn on_sent(&mut self, offset: u64, payload_bytes: u32, number: u64) {
        if let Rule::BySequence(rule) = &mut self.rule {
            rule.on_sent(offset, payload_bytes, number);
        }
    }

    /// What the packets that an ACK newly acknowledges mean for the stream, which is complete up to `complete`.
    #[inline]
    pub(crate) fn advance(&mut self, flight: &mut Flight, complete: u64) -> Advance {
        match &mut self.rule {
            Rule::BySequence(rule) => rule.advance(flight, complete),
            _ if self.sums_packets => Advance::of_packets(flight, complete),
            _ => Advance::default(),
        }
    }

    /// An ACK acknowledged nothing new; returns whether losses are to be looked for.
    pub(crate) const fn on_duplicate(&mut self, flight: &Flight, episode: &Episode) -> bool {
        match &mut self.rule {
            Rule::Duplicates(rule) if flight.bytes() > 0 => rule.on_duplicate() && !episode.is_active(),
            _ => false,
        }
    }

    /// An ACK acknowledged something new.
    #[inline]
    pub(crate) const fn on_new(&mut self) {
        if let Rule::Duplicates(rule) = &mut self.rule {
            rule.forget();
        }
    }

    /// Declares packets of the flight lost.
    #[inline]
    pub(crate) fn detect(
        &mut self,
        now: Time,
        flight: &mut Flight,
        rtt: &RttEstimator,
        episode: &Episode,
        advance: &Advance,
    ) -> Onset {
        match &mut self.rule {
            Rule::Thresholds(rule) => rule.detect(now, flight, rtt),
            Rule::Duplicates(rule) => rule.detect(flight, episode),
            Rule::BySequence(rule) => rule.detect(flight, episode, advance),
        }
    }

    /// An episode has begun, and the controller knows; returns the packet that is declared lost as well and whose payload
    /// is to be sent again first.
    pub(crate) fn begin_episode(&mut self, flight: &mut Flight) -> Option<u64> {
        match &mut self.rule {
            Rule::BySequence(rule) => rule.lose_retransmitted_head(flight),
            _ => None,
        }
    }

    /// The episode is over: what the ACK that ended it says about later segments begins no other one.
    pub(crate) const fn end_episode(&mut self, advance: &mut Advance) {
        advance.sacked_bytes = 0;
        if let Rule::BySequence(rule) = &mut self.rule {
            rule.forget_duplicates();
        }
    }

    /// Whether the first missing segment is to leave at once, whatever the window says.
    #[inline]
    pub(crate) fn wants_head(&self, episode: &Episode, advance: &Advance) -> bool {
        matches!(&self.rule, Rule::BySequence(rule) if rule.wants_head(episode, advance))
    }

    /// The timer has declared everything in flight lost; returns whether that is sent again in order.
    pub(crate) fn on_timeout(&mut self) -> bool {
        match &mut self.rule {
            Rule::Thresholds(rule) => {
                rule.on_timeout();
                false
            }
            // Only the cumulative point tells of progress: nothing above it helps while what it waits for is missing.
            Rule::Duplicates(rule) => {
                rule.forget();
                true
            }
            Rule::BySequence(rule) => {
                rule.on_timeout();
                true
            }
        }
    }

    /// When time alone makes the next packet lost.
    #[inline]
    pub(crate) const fn next_timer(&self) -> Time {
        if let Rule::Thresholds(rule) = &self.rule { rule.next_timer() } else { Time::NEVER }
    }

    /// Bytes that have left the flight though no ACK says which.
    #[inline]
    pub(crate) const fn departed_bytes(&self) -> u64 {
        if let Rule::Duplicates(rule) = &self.rule { rule.departed_bytes() } else { 0 }
    }

    /// Whether losses are told by sequence.
    #[inline]
    pub(crate) const fn goes_by_sequence(&self) -> bool {
        matches!(self.rule, Rule::BySequence(_))
    }
}
