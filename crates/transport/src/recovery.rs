//! Loss episodes, and proportional rate reduction within them.

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

    pub(crate) const fn count_lost(&mut self, packets: u64) {
        self.lost += packets;
    }

    /// A packet that had been declared lost arrived; returns whether the whole episode was a false alarm.
    pub(crate) const fn count_spurious(&mut self) -> bool {
        self.spurious += 1;
        self.spurious == self.lost && !self.timed_out && self.active
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

    pub(crate) const fn end(&mut self) {
        self.active = false;
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

    /// One ACK as ns-3.41 computes it (reference `ccperf` 9.5). `retransmission`: the stream was completed by a
    /// retransmitted segment. Its numbers have 32 bits: where the product of bytes is beyond 4 GiB, what is sent does not
    /// keep up with what is delivered, and the flight falls to `ssthresh` at once.
    pub(crate) fn on_ack_as_ns3(
        &mut self,
        delivered: u64,
        in_flight: u64,
        payload: u64,
        retransmission: bool,
    ) {
        self.delivered += delivered;
        let mut allowed = if in_flight > self.ssthresh {
            let product = (self.delivered as u32).wrapping_mul(self.ssthresh as u32);
            u64::from(product).div_ceil(self.flight).saturating_sub(self.sent)
        } else {
            let bound = if retransmission {
                match self.delivered.checked_sub(self.sent) {
                    Some(due) => due.max(delivered) + payload,
                    // Below zero wraps round to the largest number, and what is added back to it.
                    None => payload.saturating_sub(self.sent - self.delivered),
                }
            } else {
                delivered
            };
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
    fn ns3s_prr_sends_nothing_once_its_product_does_not_fit_32_bits() {
        let segment = 1448;
        let (flight, ssthresh) = (990 * segment, 493 * segment);
        let mut prr = Prr::begin(ssthresh, flight);
        // The first ACK: half a segment is due, but the retransmission leaves at least.
        prr.on_ack_as_ns3(segment, 986 * segment, segment, false);
        assert_eq!(prr.window(), 987 * segment);
        prr.on_sent(segment);
        // Three segments delivered: ceil(4344 * 713864 / 1433520) = 2164 bytes are due, 1448 of them sent.
        prr.on_ack_as_ns3(2 * segment, 983 * segment, segment, false);
        assert_eq!(prr.window(), 983 * segment + 716);
        // Five: 7240 * 713864 - 2^32 = 873,408,064, which makes 610 bytes due in all.
        prr.on_ack_as_ns3(2 * segment, 979 * segment, segment, false);
        assert_eq!(prr.window(), 979 * segment);
    }

    #[test]
    fn ns3s_prr_refills_the_flight_when_a_retransmission_has_arrived() {
        let mut prr = Prr::begin(100, 200);
        (0..80).for_each(|_| prr.on_ack_as_ns3(1, 90, 1, false));
        assert_eq!(prr.window(), 91);
        prr.on_ack_as_ns3(1, 20, 1, true);
        // 81 delivered, none sent, one more: up to ssthresh.
        assert_eq!(prr.window(), 100);
        prr.on_sent(82);
        // As many sent as delivered: two. More sent: none until that is made up for.
        prr.on_ack_as_ns3(1, 90, 1, true);
        assert_eq!(prr.window(), 92);
        prr.on_sent(2);
        prr.on_ack_as_ns3(1, 91, 1, true);
        assert_eq!(prr.window(), 91);
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
