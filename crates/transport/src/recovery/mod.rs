//! Recovery from a loss to its repair: the episode, the limit on sending, and the duration.

mod episode;
mod ns3;
mod prr;

use crate::advance::Advance;
use crate::config::{Config, Reduction, TimerKind};
use congestion::AckedPacket;
pub(crate) use episode::{Episode, Onset};
use prr::{Delivery, Prr};
use units::{Span, Time};

/// Loss episodes of one flow.
#[derive(Debug)]
pub(crate) struct Recovery {
    episode: Episode,
    prr: Option<Prr>,
    reduction: Reduction,
    undo: bool,
    cumulative_growth: bool,
    payload_bytes: u32,
    /// Beginning of the current episode.
    since: Option<Time>,
    episodes: u64,
    recoveries: u64,
    length: Span,
}

/// Position of the next transmission; later it shows which packets left within an episode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frontier {
    /// Packet number of the next transmission.
    pub(crate) number: u64,
    /// First stream byte that was never sent.
    pub(crate) offset: u64,
}

impl Recovery {
    pub(crate) const fn new(config: &Config) -> Self {
        Self {
            episode: Episode::new(matches!(config.timer, TimerKind::Rto) && config.reliable),
            prr: None,
            reduction: config.recovery,
            undo: config.undo,
            cumulative_growth: config.cumulative_growth,
            payload_bytes: config.payload_bytes,
            since: None,
            episodes: 0,
            recoveries: 0,
            length: Span::ZERO,
        }
    }

    /// Returns the current or latest episode.
    pub(crate) const fn episode(&self) -> &Episode {
        &self.episode
    }

    /// Returns the number of episodes that began with losses.
    pub(crate) const fn episodes(&self) -> u64 {
        self.episodes
    }

    /// Returns the number of ended loss episodes and their total duration.
    pub(crate) const fn recoveries(&self) -> (u64, Span) {
        (self.recoveries, self.length)
    }

    /// Returns the maximum bytes in flight while the rate is reduced.
    #[inline]
    pub(crate) fn window(&self) -> Option<u64> {
        self.prr.as_ref().map(Prr::window)
    }

    #[inline]
    pub(crate) const fn on_sent(&mut self, payload_bytes: u32) {
        if let Some(prr) = &mut self.prr {
            prr.on_sent(payload_bytes as u64);
        }
    }

    /// Handles the arrival of packets of which some had been declared lost. Returns true if the whole episode, which
    /// may have ended, was a false alarm that must be undone (RFC 3708, RFC 4015).
    #[cold]
    pub(crate) fn on_spurious(&mut self, arrived: &[AckedPacket]) -> bool {
        let first = self.episode.first_lost();
        let packets = arrived.iter().filter(|packet| packet.was_lost && packet.number >= first).count();
        self.episode.count_spurious(packets as u64) && self.undo
    }

    /// Handles the acknowledgement of packet `newest`, with the stream complete up to `complete`; returns true if the
    /// episode ended.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, newest: u64, complete: u64) -> bool {
        let ended = self.episode.on_ack(newest, complete);
        if ended {
            self.close(now);
        }
        ended
    }

    /// Undoes an episode that was a false alarm; returns true if it contained a timeout.
    pub(crate) fn undo(&mut self, now: Time) -> bool {
        self.close(now);
        self.episode.undo()
    }

    /// Handles persistent congestion: the window is the smallest possible and may grow from there (RFC 9002 B.8).
    pub(crate) fn on_persistent_congestion(&mut self, now: Time) {
        self.episode.end();
        self.close(now);
    }

    /// Handles packets declared lost while `next` comes next; returns true if an episode begins.
    pub(crate) fn on_losses(
        &mut self,
        now: Time,
        onset: Onset,
        lost: &[AckedPacket],
        next: Frontier,
    ) -> bool {
        let begins = match (onset, lost.last()) {
            (Onset::Yes, _) => {
                self.episode.begin(next.number, next.offset);
                true
            }
            (Onset::IfSentSince, Some(newest)) => self.on_congestion(newest.number, next),
            _ => false,
        };
        if let Some(first) = lost.first() {
            self.episode.count_lost(first.number, lost.len() as u64);
        }
        if begins {
            self.episodes += 1;
            // A current episode of QUIC ends when a new one begins.
            self.count_recovery(now);
            self.since = Some(now);
        }
        begins
    }

    /// Handles marks on packets up to `newest` while `next` comes next; returns true if an episode begins.
    pub(crate) const fn on_mark(&mut self, newest: u64, next: Frontier) -> bool {
        let begins = self.on_congestion(newest, next);
        self.episode.on_mark();
        begins
    }

    const fn on_congestion(&mut self, newest: u64, next: Frontier) -> bool {
        self.episode.on_congestion(newest, next.number, next.offset)
    }

    /// Handles a timeout that declared packet `first` and everything after it lost while `next` comes next.
    pub(crate) fn on_timeout(&mut self, now: Time, first: u64, next: Frontier) {
        self.episode.on_timeout(first, next.number, next.offset);
        self.close(now);
    }

    /// Limits sending in the new episode until the flight has shrunk to `window`. `flight` bytes were outstanding, or
    /// `unacknowledged` beyond the cumulative point; `in_flight` are left.
    pub(crate) fn reduce(&mut self, window: u64, flight: u64, unacknowledged: u64, in_flight: u64) {
        let flight = match self.reduction {
            Reduction::Prr => flight,
            Reduction::PrrNs3 => unacknowledged,
            Reduction::Immediate => return,
        };
        self.prr = Some(Prr::begin(window, flight, in_flight, u64::from(self.payload_bytes)));
    }

    /// Handles an ACK of `acked_bytes` that left `in_flight` bytes in flight. `is_safe`: true if the ACK advanced the
    /// lower edge and reported no new loss.
    #[inline]
    pub(crate) fn proceed(&mut self, acked_bytes: u64, in_flight: u64, is_safe: bool, advance: &Advance) {
        if self.prr.is_some() {
            self.reduce_further(acked_bytes, in_flight, is_safe, advance);
        }
    }

    #[cold]
    fn reduce_further(&mut self, acked_bytes: u64, in_flight: u64, is_safe: bool, advance: &Advance) {
        let Some(prr) = &mut self.prr else { return };
        if self.reduction == Reduction::PrrNs3 {
            let ack = Delivery { bytes: advance.arrived_bytes, in_flight, safe: advance.retransmission };
            for _ in 0..ns3::questions(advance) {
                prr.on_ack(&ack, ns3::allowance);
            }
        } else {
            prr.on_ack(&Delivery { bytes: acked_bytes, in_flight, safe: is_safe }, prr::by_rfc);
        }
    }

    /// Returns the bytes by which windows grow with an ACK of `acked_bytes`, the stream being complete up to
    /// `complete`. With an ACK that only reports a hole TCP's window does not grow, until reordering was seen (Linux
    /// v6.12, `net/ipv4/tcp_input.c`, `tcp_may_raise_cwnd`).
    #[inline]
    pub(crate) const fn growth_bytes(
        &self,
        acked_bytes: u64,
        advance: &Advance,
        complete: u64,
        reports_hole: bool,
    ) -> u64 {
        if self.cumulative_growth {
            ns3::growth_bytes(advance, self.episode.is_after_timeout(complete))
        } else if reports_hole {
            0
        } else {
            acked_bytes
        }
    }

    /// Notes that the stream was completed further within the episode; returns true for the first time.
    pub(crate) const fn is_first_partial(&mut self) -> bool {
        self.episode.is_first_partial()
    }

    fn close(&mut self, now: Time) {
        self.prr = None;
        self.count_recovery(now);
    }

    fn count_recovery(&mut self, now: Time) {
        if let Some(since) = self.since.take() {
            self.recoveries += 1;
            self.length += now - since;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(number: u64) -> AckedPacket {
        AckedPacket { number, bytes: 1000, ..AckedPacket::default() }
    }

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    const NEXT: Frontier = Frontier { number: 20, offset: 20_000 };

    #[test]
    fn an_episode_reduces_the_window_until_it_ends_and_its_length_is_counted() {
        let mut recovery = Recovery::new(&Config::tcp());
        assert!(recovery.on_losses(at(10), Onset::IfSentSince, &[lost(5)], NEXT));
        recovery.reduce(10_000, 20_000, 20_000, 19_000);
        assert_eq!(recovery.window(), Some(19_000 + 1448));
        assert!(!recovery.on_losses(at(20), Onset::IfSentSince, &[lost(7)], NEXT), "it goes on");
        assert!(recovery.on_ack(at(40), 25, 20_000));
        assert_eq!((recovery.window(), recovery.episodes()), (None, 1));
        assert_eq!(recovery.recoveries(), (1, Span::from_ms(30)));
    }

    #[test]
    fn a_false_alarm_is_undone_only_where_that_is_wanted() {
        for undo in [true, false] {
            let mut recovery = Recovery::new(&Config { undo, ..Config::tcp() });
            recovery.on_losses(at(10), Onset::IfSentSince, &[lost(5), lost(6)], NEXT);
            let arrived = |number| [AckedPacket { was_lost: true, ..lost(number) }];
            assert!(!recovery.on_spurious(&arrived(4)), "of an earlier episode");
            assert!(!recovery.on_spurious(&arrived(5)));
            assert_eq!(recovery.on_spurious(&arrived(6)), undo);
        }
    }

    #[test]
    fn losses_that_belong_to_no_new_episode_begin_none() {
        let mut recovery = Recovery::new(&Config::ns3_compat());
        assert!(!recovery.on_losses(at(10), Onset::No, &[lost(5)], NEXT));
        // By sequence an episode may begin without a newly lost packet.
        assert!(recovery.on_losses(at(10), Onset::Yes, &[], NEXT));
        assert!(recovery.episode().is_active());
    }

    #[test]
    fn where_the_window_counts_at_once_nothing_else_limits_sending() {
        let mut recovery = Recovery::new(&Config::quic());
        recovery.on_losses(at(10), Onset::IfSentSince, &[lost(5)], NEXT);
        recovery.reduce(10_000, 20_000, 20_000, 19_000);
        assert_eq!(recovery.window(), None);
    }
}
