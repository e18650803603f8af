//! Proportional rate reduction: during an episode the flight shrinks to the new window step by step, as data are
//! delivered.

/// Effect of one ACK of an episode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    /// Bytes newly acknowledged.
    pub(super) bytes: u64,
    /// Bytes in flight after the ACK.
    pub(super) in_flight: u64,
    /// RFC 9937: true if the ACK advanced the lower edge and reported no new loss. ns-3: true if a retransmitted
    /// segment completed the stream.
    pub(super) safe: bool,
}

/// State of one episode, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// Target of the flight.
    pub(super) ssthresh: u64,
    /// Bytes in flight when the episode began.
    pub(super) flight: u64,
    /// Bytes delivered since.
    pub(super) delivered: u64,
    /// Bytes sent since.
    pub(super) sent: u64,
    /// Payload of a full packet.
    pub(super) payload: u64,
    /// Maximum bytes in flight now.
    window: u64,
}

impl Prr {
    /// Begins an episode with `flight` bytes outstanding, of which `in_flight` are left; the window shrinks to
    /// `ssthresh`. Until the ACK is fully processed only the retransmission may leave.
    pub(super) fn begin(ssthresh: u64, flight: u64, in_flight: u64, payload: u64) -> Self {
        let window = in_flight + payload;
        Self { ssthresh, flight: flight.max(1), delivered: 0, sent: 0, payload, window }
    }

    /// Handles one ACK; `rule` returns the bytes that may leave after it: [`by_rfc`] or [`super::ns3::allowance`].
    pub(super) fn on_ack(&mut self, ack: &Delivery, rule: fn(&Self, &Delivery) -> u64) {
        self.delivered += ack.bytes;
        let allowed = rule(self, ack);
        // The first retransmission of an episode always leaves.
        let least = if self.sent == 0 { self.payload } else { 0 };
        self.window = ack.in_flight + allowed.max(least);
    }

    pub(super) const fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Returns the maximum bytes in flight now.
    pub(super) const fn window(&self) -> u64 {
        self.window
    }
}

/// Returns the bytes that may leave after an ACK by RFC 6937 3.1, with the bound of RFC 9937 below `ssthresh`.
pub(super) fn by_rfc(prr: &Prr, ack: &Delivery) -> u64 {
    if ack.in_flight > prr.ssthresh {
        let share = u128::from(prr.delivered) * u128::from(prr.ssthresh);
        return (share.div_ceil(u128::from(prr.flight)) as u64).saturating_sub(prr.sent);
    }
    let bound =
        prr.delivered.saturating_sub(prr.sent).max(ack.bytes) + if ack.safe { prr.payload } else { 0 };
    bound.min(prr.ssthresh - ack.in_flight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(in_flight: u64, safe: bool) -> Delivery {
        Delivery { bytes: 1, in_flight, safe }
    }

    #[test]
    fn at_first_only_the_retransmission_may_leave() {
        assert_eq!(Prr::begin(10, 20, 19, 1).window(), 20);
    }

    #[test]
    fn one_packet_leaves_for_two_delivered_on_the_way_to_half() {
        // 20 packets in flight, one lost, ssthresh 10: over 19 ACKs about 10 transmissions.
        let mut prr = Prr::begin(10, 20, 19, 1);
        let (mut in_flight, mut transmissions) = (19, 0);
        for _ in 0..19 {
            in_flight -= 1;
            prr.on_ack(&delivery(in_flight, true), by_rfc);
            while in_flight < prr.window() {
                in_flight += 1;
                transmissions += 1;
                prr.on_sent(1);
            }
        }
        assert_eq!((in_flight, transmissions), (10, 10));
    }

    #[test]
    fn the_flight_grows_back_to_ssthresh_when_losses_emptied_the_pipe() {
        let mut prr = Prr::begin(10, 20, 4, 1);
        prr.on_ack(&delivery(4, true), by_rfc);
        // Below ssthresh: delivered (1) plus one packet because the ACK is safe.
        assert_eq!(prr.window(), 6);
        prr.on_ack(&delivery(4, false), by_rfc);
        assert_eq!(prr.window(), 6); // delivered 2 in all, nothing sent
    }
}
