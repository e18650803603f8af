//! Counters of a sender, collected from its parts.

use super::Sender;
use units::{Span, Time};

/// Counters and exact time integrals of the sending side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Data packets sent, including retransmissions and the handshake packet.
    pub packets_sent: u64,
    /// Sent packets whose payload was sent before.
    pub retransmissions: u64,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Packets declared lost that were delivered after all.
    pub spurious_losses: u64,
    /// Recovery episodes that began with losses.
    pub episodes: u64,
    /// Expiries of the retransmission timer, and persistent congestion.
    pub timeouts: u64,
    /// Probes sent.
    pub probes: u64,
    /// Integral of the window over time, byte * ns.
    pub window_byte_ns: u128,
    /// Time with a window limit.
    pub window_active: Span,
    /// Integral of bytes in flight over time, byte * ns.
    pub in_flight_byte_ns: u128,
    /// Integral of the smoothed RTT over time, ns * ns.
    pub srtt_ns_ns: u128,
    /// Time since the first RTT sample.
    pub srtt_active: Span,
    /// Integral of the latest delivery rate over time, bit/s * ns.
    pub delivery_rate_ns: u128,
    /// Time since the first delivery rate.
    pub delivery_rate_active: Span,
    /// Time that the integrals cover: from the start to the stop, or to the end of a finite transfer.
    pub active: Span,
    /// Ended loss episodes.
    pub recoveries: u64,
    /// Total duration of the ended loss episodes.
    pub recovery: Span,
    /// Time at which the last byte of a finite transfer was acknowledged.
    pub completed_at: Option<Time>,
}

impl Sender {
    /// Returns the counters, and the integrals up to the latest event or [`Sender::integrate_to`].
    pub fn stats(&self) -> SenderStats {
        let (timeouts, probes) = self.timers.counts();
        let (window_byte_ns, window_active) = self.integrals.window();
        let (srtt_ns_ns, srtt_active) = self.integrals.srtt();
        let (delivery_rate_ns, delivery_rate_active) = self.integrals.delivery_rate();
        let (recoveries, recovery) = self.recovery.recoveries();
        SenderStats {
            packets_sent: self.packets_sent(),
            retransmissions: self.stream.retransmissions(),
            packets_lost: self.flight.packets_lost(),
            spurious_losses: self.flight.spurious_losses(),
            episodes: self.recovery.episodes(),
            timeouts,
            probes,
            window_byte_ns,
            window_active,
            in_flight_byte_ns: self.integrals.in_flight(),
            srtt_ns_ns,
            srtt_active,
            delivery_rate_ns,
            delivery_rate_active,
            active: self.integrals.active(),
            recoveries,
            recovery,
            completed_at: self.stream.completed_at(),
        }
    }
}
