//! Loss episodes, and proportional rate reduction within them.

/// One loss episode at a time: from the first loss until a packet sent after it is acknowledged (RFC 9002 7.3.2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Episode {
    /// First packet number sent after the episode began; `None` outside of episodes.
    point: Option<u64>,
    /// First packet number of the latest episode's aftermath, kept after it ended.
    last_point: u64,
    /// Packets declared lost in it, and how many of those turned out to be delivered.
    lost: u64,
    spurious: u64,
    /// Whether a timeout was part of it.
    timed_out: bool,
}

impl Episode {
    pub(crate) const fn is_active(&self) -> bool {
        self.point.is_some()
    }

    /// Packets up to `newest` were lost (or marked); returns whether that begins a new episode.
    pub(crate) fn on_congestion(&mut self, newest: u64, next_number: u64) -> bool {
        if newest < self.last_point {
            return false;
        }
        *self = Self { point: Some(next_number), last_point: next_number, ..Self::default() };
        true
    }

    pub(crate) const fn count_lost(&mut self, packets: u64) {
        self.lost += packets;
    }

    /// A packet that had been declared lost arrived; returns whether the whole episode was a false alarm.
    pub(crate) const fn count_spurious(&mut self) -> bool {
        self.spurious += 1;
        self.spurious == self.lost && !self.timed_out && self.point.is_some()
    }

    /// The timer declared everything before `next_number` lost.
    pub(crate) const fn on_timeout(&mut self, next_number: u64) {
        self.point = None;
        self.last_point = next_number;
        self.timed_out = true;
    }

    /// `newest` was acknowledged; returns whether that ended the episode.
    pub(crate) fn on_ack(&mut self, newest: u64) -> bool {
        let ended = self.point.is_some_and(|point| newest >= point);
        if ended {
            self.point = None;
        }
        ended
    }

    pub(crate) const fn end(&mut self) {
        self.point = None;
    }
}

/// Proportional rate reduction (RFC 6937 with the safe-ACK bound of RFC 9937; reference `schemes-window` 2.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    ssthresh: u64,
    /// Bytes in flight when the episode began.
    flight: u64,
    delivered: u64,
    sent: u64,
    window: u64,
}

impl Prr {
    /// An episode begins with `flight` bytes outstanding; the window is to shrink to `ssthresh`.
    pub(crate) fn begin(ssthresh: u64, flight: u64) -> Self {
        Self { ssthresh, flight: flight.max(1), delivered: 0, sent: 0, window: 0 }
    }

    /// One ACK of the episode. `safe`: it moved the lower edge forward and revealed no new loss.
    pub(crate) fn on_ack(&mut self, delivered: u64, in_flight: u64, payload: u64, safe: bool) {
        self.delivered += delivered;
        let mut allowed = if in_flight > self.ssthresh {
            let share = u128::from(self.delivered) * u128::from(self.ssthresh);
            (share.div_ceil(u128::from(self.flight)) as u64).saturating_sub(self.sent)
        } else {
            let bound =
                self.delivered.saturating_sub(self.sent).max(delivered) + if safe { payload } else { 0 };
            bound.min(self.ssthresh - in_flight)
        };
        if self.sent == 0 {
            allowed = allowed.max(payload);
        }
        self.window = in_flight + allowed;
    }

    pub(crate) const fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Most bytes in flight now.
    pub(crate) const fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_within_a_round_are_one_episode() {
        let mut episode = Episode::default();
        assert!(episode.on_congestion(5, 20));
        assert!(!episode.on_congestion(19, 25));
        assert!(!episode.on_ack(19));
        assert!(episode.on_ack(20));
        // Packet 19 belongs to the old episode even after it ended.
        assert!(!episode.on_congestion(19, 30));
        assert!(episode.on_congestion(20, 30));
    }

    #[test]
    fn an_episode_is_a_false_alarm_when_all_its_losses_arrive() {
        let mut episode = Episode::default();
        episode.on_congestion(5, 20);
        episode.count_lost(2);
        assert!(!episode.count_spurious());
        assert!(episode.count_spurious());
    }

    #[test]
    fn prr_sends_one_packet_for_two_delivered_on_the_way_to_half() {
        // 20 packets in flight, one lost, ssthresh 10: over 19 ACKs about 10 transmissions.
        let mut prr = Prr::begin(10, 20);
        let (mut in_flight, mut transmissions) = (19, 0);
        for _ in 0..19 {
            in_flight -= 1;
            prr.on_ack(1, in_flight, 1, true);
            while in_flight < prr.window() {
                in_flight += 1;
                transmissions += 1;
                prr.on_sent(1);
            }
        }
        assert_eq!((in_flight, transmissions), (10, 10));
    }

    #[test]
    fn prr_rebuilds_towards_ssthresh_when_losses_emptied_the_pipe() {
        let mut prr = Prr::begin(10, 20);
        prr.on_ack(1, 4, 1, true);
        // Below ssthresh: delivered (1) plus one packet because the ACK is safe.
        assert_eq!(prr.window(), 6);
        prr.on_ack(1, 4, 1, false);
        assert_eq!(prr.window(), 6); // delivered 2 in all, nothing sent
    }
}
