//! Loss episodes: from the first loss until all packets sent before it are settled.

/// Rule that decides whether new losses begin an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onset {
    /// They begin an episode.
    Yes,
    /// They begin no episode.
    No,
    /// They begin an episode if one of the lost packets left after the previous episode began (RFC 9002 7.3.2).
    IfSentSince,
}

/// Current or latest loss episode: from the first loss until all packets sent before it are settled.
///
/// QUIC's episode ends when a packet sent after its beginning is acknowledged (RFC 9002 7.3.2). TCP's ends when
/// everything sent before its beginning has arrived (RFC 6582, RFC 6675). An ended episode is remembered until the next
/// one begins, because its losses may still turn out to be late packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    tcp: bool,
    active: bool,
    /// First packet number sent after the current or latest episode began.
    number: u64,
    /// Stream offset sent up to the beginning.
    offset: u64,
    /// Lowest packet declared lost in the episode.
    first_lost: u64,
    /// Packets declared lost in the episode, and the spurious losses among them.
    lost: u64,
    spurious: u64,
    /// Timeout within the episode, if any.
    timeout: Timeout,
    /// True if congestion is certain: the episode contains a mark.
    is_certain: bool,
    /// True if the stream was completed further since the episode began.
    advanced: bool,
}

/// A timeout of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timeout {
    None,
    /// No packet sent after the timeout was acknowledged. If a packet sent before the timeout arrives first, the
    /// timeout was false. `number` is the first packet sent after the timeout.
    Open {
        number: u64,
    },
    /// Real timeout: not a false alarm.
    Real,
}

impl Episode {
    pub(crate) const fn new(tcp: bool) -> Self {
        Self {
            tcp,
            active: false,
            number: 0,
            offset: 0,
            first_lost: u64::MAX,
            lost: 0,
            spurious: 0,
            timeout: Timeout::None,
            is_certain: false,
            advanced: false,
        }
    }

    /// Returns true if an episode lasts until everything sent before it has arrived.
    pub(crate) const fn is_of_tcp(&self) -> bool {
        self.tcp
    }

    /// Returns true during an episode.
    pub(crate) const fn is_active(&self) -> bool {
        self.active
    }

    /// Handles the loss (or marking) of packets up to `newest` while `number` and `offset` come next; returns true if
    /// an episode begins.
    pub(crate) const fn on_congestion(&mut self, newest: u64, number: u64, offset: u64) -> bool {
        if newest < self.number || (self.tcp && self.active) {
            return false;
        }
        self.begin(number, offset);
        true
    }

    /// Begins an episode while `number` and `offset` come next.
    pub(crate) const fn begin(&mut self, number: u64, offset: u64) {
        *self = Self { active: true, number, offset, ..Self::new(self.tcp) };
    }

    /// Notes that the stream was completed further within the episode; returns true for the first time.
    pub(crate) const fn is_first_partial(&mut self) -> bool {
        !std::mem::replace(&mut self.advanced, true)
    }

    /// Returns true if data that a timeout declared lost are still missing, with the stream complete up to `complete`.
    pub(crate) const fn is_after_timeout(&self, complete: u64) -> bool {
        !matches!(self.timeout, Timeout::None) && complete < self.offset
    }

    /// Counts `packets` packets declared lost, from `first` on.
    pub(crate) fn count_lost(&mut self, first: u64, packets: u64) {
        self.first_lost = self.first_lost.min(first);
        self.lost += packets;
    }

    /// Notes a mark reported by the receiver: congestion is certain, even if all losses were false.
    pub(crate) const fn on_mark(&mut self) {
        self.is_certain = true;
    }

    /// Returns the lowest packet that counts as one of the episode's losses.
    pub(crate) const fn first_lost(&self) -> u64 {
        self.first_lost
    }

    /// Counts arrivals of the episode's packets that had been declared lost. Returns true if the whole episode was a
    /// false alarm. A timeout is false with the first such packet (RFC 3522), losses are false with the last.
    pub(crate) const fn count_spurious(&mut self, packets: u64) -> bool {
        let before = self.spurious;
        self.spurious += packets;
        match self.timeout {
            Timeout::None => before < self.lost && self.lost <= self.spurious && !self.is_certain,
            Timeout::Open { .. } => packets > 0 && !self.is_certain,
            Timeout::Real => false,
        }
    }

    /// Handles a timeout: everything from packet `first` up to `number` and `offset` is lost. A repeated timeout
    /// belongs to the first one. A timeout within an episode is real.
    pub(crate) fn on_timeout(&mut self, first: u64, number: u64, offset: u64) {
        match self.timeout {
            Timeout::Open { .. } => {}
            Timeout::None | Timeout::Real => {
                let is_real = self.active || !self.tcp;
                *self = Self::new(self.tcp);
                self.first_lost = first;
                self.timeout = if is_real { Timeout::Real } else { Timeout::Open { number } };
            }
        }
        self.active = false;
        (self.number, self.offset) = (number, offset);
    }

    /// Handles the acknowledgement of packet `newest`, with the stream complete up to `complete`; returns true if the
    /// episode ended.
    pub(crate) const fn on_ack(&mut self, newest: u64, complete: u64) -> bool {
        if let Timeout::Open { number } = self.timeout
            && newest >= number
        {
            self.timeout = Timeout::Real;
        }
        let settled = if self.tcp { complete >= self.offset } else { newest >= self.number };
        let ended = self.active && settled;
        if ended {
            self.active = false;
        }
        ended
    }

    /// Ends the episode and its timeout after a false alarm; returns true if there was a timeout.
    pub(crate) const fn undo(&mut self) -> bool {
        let timed_out = !matches!(self.timeout, Timeout::None);
        self.active = false;
        self.timeout = Timeout::None;
        timed_out
    }

    /// Ends the episode.
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
        episode.count_lost(4, 2);
        assert!(!episode.count_spurious(1));
        assert!(episode.count_spurious(1));
        assert!(!episode.count_spurious(0));
    }

    #[test]
    fn an_episode_that_has_ended_can_still_turn_out_to_be_a_false_alarm() {
        for tcp in [true, false] {
            let mut episode = Episode::new(tcp);
            episode.on_congestion(5, 20, 20_000);
            episode.count_lost(5, 1);
            assert!(episode.on_ack(20, 20_000));
            assert!(episode.count_spurious(1));
            // A packet lost afterwards begins another episode.
            assert!(episode.on_congestion(25, 30, 30_000));
        }
    }

    #[test]
    fn a_mark_is_no_false_alarm() {
        let mut episode = Episode::new(true);
        episode.on_congestion(5, 20, 20_000);
        episode.count_lost(5, 1);
        episode.on_mark();
        assert!(!episode.count_spurious(1));
    }

    #[test]
    fn one_packet_from_before_it_shows_that_a_timeout_was_false_unless_a_later_one_came_first() {
        let mut episode = Episode::new(true);
        episode.on_timeout(10, 40, 40_000);
        episode.on_timeout(40, 41, 40_000);
        assert_eq!((episode.first_lost(), episode.is_after_timeout(39_999)), (10, true));
        assert!(!episode.on_ack(10, 11_000) && episode.count_spurious(1));
        assert!(episode.undo() && !episode.is_after_timeout(11_000));
        episode.on_timeout(50, 60, 60_000);
        episode.on_ack(60, 51_000);
        assert!(!episode.count_spurious(1), "its retransmission was needed");
    }

    #[test]
    fn a_timeout_within_an_episode_is_real() {
        let mut episode = Episode::new(true);
        episode.on_congestion(5, 20, 20_000);
        episode.on_timeout(6, 30, 30_000);
        assert!(!episode.count_spurious(1));
    }
}
