//! Loss episodes: from the first loss until what was sent before it is settled.

/// Whether losses that were just found begin an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onset {
    /// They do.
    Yes,
    /// They do not.
    No,
    /// If one of the lost packets left after the previous episode began (RFC 9002 7.3.2).
    IfSentSince,
}

/// One loss episode at a time: from the first loss until what was sent before it is settled.
///
/// QUIC's episode ends when a packet sent after its beginning is acknowledged (RFC 9002 7.3.2), TCP's when everything
/// sent before its beginning has arrived (RFC 6582, RFC 6675).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    tcp: bool,
    active: bool,
    /// First packet number sent after the (latest) episode began.
    number: u64,
    /// Stream offset sent up to then.
    offset: u64,
    /// Packets declared lost in it, and how many of those turned out to be delivered.
    lost: u64,
    spurious: u64,
    /// Whether a timeout was part of it.
    timed_out: bool,
    /// Whether the stream was completed further since it began.
    advanced: bool,
}

impl Episode {
    pub(crate) const fn new(tcp: bool) -> Self {
        Self {
            tcp,
            active: false,
            number: 0,
            offset: 0,
            lost: 0,
            spurious: 0,
            timed_out: false,
            advanced: false,
        }
    }

    /// Whether an episode is going on.
    pub(crate) const fn is_active(&self) -> bool {
        self.active
    }

    /// Packets up to `newest` were lost (or marked) while `number` and `offset` come next; returns whether that
    /// begins a new episode.
    pub(crate) const fn on_congestion(&mut self, newest: u64, number: u64, offset: u64) -> bool {
        if newest < self.number || (self.tcp && self.active) {
            return false;
        }
        self.begin(number, offset);
        true
    }

    /// An episode begins while `number` and `offset` come next.
    pub(crate) const fn begin(&mut self, number: u64, offset: u64) {
        *self = Self { active: true, number, offset, ..Self::new(self.tcp) };
    }

    /// The stream was completed further within the episode; returns whether for the first time.
    pub(crate) const fn is_first_partial(&mut self) -> bool {
        !std::mem::replace(&mut self.advanced, true)
    }

    /// Whether what a timeout declared lost has not all arrived, with the stream complete up to `complete`.
    pub(crate) const fn is_after_timeout(&self, complete: u64) -> bool {
        self.timed_out && complete < self.offset
    }

    /// So many packets were declared lost.
    pub(crate) const fn count_lost(&mut self, packets: u64) {
        self.lost += packets;
    }

    /// So many packets arrived that had been declared lost; returns whether the whole episode was a false alarm.
    pub(crate) const fn count_spurious(&mut self, packets: u64) -> bool {
        let before = self.spurious;
        self.spurious += packets;
        before < self.lost && self.lost <= self.spurious && !self.timed_out && self.active
    }

    /// The timer declared everything before `number` and `offset` lost.
    pub(crate) const fn on_timeout(&mut self, number: u64, offset: u64) {
        self.active = false;
        (self.number, self.offset) = (number, offset);
        self.timed_out = true;
    }

    /// Packet `newest` was acknowledged, and the stream is complete up to `complete`; returns whether that ended
    /// the episode.
    pub(crate) const fn on_ack(&mut self, newest: u64, complete: u64) -> bool {
        let settled = if self.tcp { complete >= self.offset } else { newest >= self.number };
        let ended = self.active && settled;
        if ended {
            self.active = false;
        }
        ended
    }

    /// The episode is over.
    pub(crate) const fn end(&mut self) {
        self.active = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_within_a_round_are_one_episode() {
        let mut episode = Episode::new(false);
        assert!(episode.on_congestion(5, 20, 0));
        assert!(!episode.on_congestion(19, 25, 0));
        assert!(!episode.on_ack(19, 0));
        assert!(episode.on_ack(20, 0));
        // Packet 19 belongs to the old episode even after it ended.
        assert!(!episode.on_congestion(19, 30, 0));
        assert!(episode.on_congestion(20, 30, 0));
    }

    #[test]
    fn an_episode_of_tcp_lasts_until_everything_sent_before_it_has_arrived() {
        let mut episode = Episode::new(true);
        assert!(episode.on_congestion(5, 20, 20_000));
        assert!(!episode.on_ack(25, 19_000));
        // A lost retransmission does not begin another one.
        assert!(!episode.on_congestion(25, 30, 30_000));
        assert!(episode.on_ack(29, 20_000));
    }

    #[test]
    fn an_episode_is_a_false_alarm_when_all_its_losses_arrive() {
        let mut episode = Episode::new(false);
        episode.on_congestion(5, 20, 0);
        episode.count_lost(2);
        assert!(!episode.count_spurious(1));
        assert!(episode.count_spurious(1));
        // Several at once: what is counted beyond the episode's own losses are those of an earlier one.
        episode.begin(30, 0);
        episode.count_lost(2);
        assert!(episode.count_spurious(3));
        assert!(!episode.count_spurious(0));
        episode.on_timeout(40, 0);
        episode.count_lost(5);
        assert!(!episode.count_spurious(4));
    }
}
