//! Interface between a transport and a congestion controller.
//!
//! The transport reports events; the controller answers with its limits ([`Control`]). Loss detection, retransmission,
//! rate sampling, recovery epochs and pacing belong to the transport. A controller only decides the amount in flight
//! and the rate of departures.
//!
//! # Units of bytes, windows and rates
//!
//! Every count of bytes, every window and every rate is of payload: bytes of the application, without the headers of IP
//! and transport. Retransmissions count like the data that they repeat. A full packet counts
//! [`Start::mss_bytes`](crate::Start::mss_bytes). A path carries more: each packet is longer by the transport's
//! `header_bytes` (52 in TCP's profile). So a link of 12 Mbit/s delivers 11.58 Mbit/s of payload in packets of 1448
//! bytes. A filler counts [`Control::filler_bytes`].
//!
//! # Reduction of the window
//!
//! The controller reduces the window. The transport never changes the window that [`Controller::control`] returns, not
//! even after a loss, a mark or a timeout. A controller that does not lower its window on the first loss of an episode
//! ([`Loss::new_episode`]) keeps the old window.
//!
//! The transport reads the window right after [`Controller::on_loss`] or [`Controller::on_ecn`] has begun an episode.
//! The `recovery` of the transport decides the way to reach that window:
//!
//! - With `prr`, TCP's way, the flight shrinks to that window over a round trip (RFC 6937). Until the episode ends this
//!   alone limits the flight; later changes of the window count from the end of the episode on.
//! - With `immediate` the window counts at every moment: nothing leaves until the flight is smaller. QUIC uses it, and
//!   controllers with their own window for recovery (BBR).
//!
//! After a timeout nothing is in flight and the window counts at once: the controller sets it to one packet to restart
//! from there.

use crate::agent::Agent;
use crate::control::{Control, FieldSink, Message};
use crate::events::{Ack, Ecn, Frame, Loss, Sent, Timeout};
use core::fmt::Debug;
use units::{Span, Time};

/// Congestion controller: a pure state machine driven by transport events.
///
/// Order of calls for one incoming ACK: [`on_loss`](Self::on_loss) for packets the ACK reveals as lost, then
/// [`on_ack`](Self::on_ack) (RFC 9002 A.7 order). [`control`](Self::control) is read after every event.
pub trait Controller: Debug + Send {
    /// Handles the end of the connection set-up, which took `rtt`. Transports without a handshake do not call this.
    fn on_established(&mut self, _now: Time, _rtt: Span) {}

    /// Handles a sent packet (its bytes are already counted in `in_flight_bytes`).
    fn on_sent(&mut self, _event: &Sent) {}

    /// Handles newly acknowledged packets, at least one.
    fn on_ack(&mut self, event: &Ack<'_>);

    /// Handles packets that were declared lost by packet or time threshold.
    fn on_loss(&mut self, _event: &Loss<'_>) {}

    /// Handles an expired retransmission timer or persistent congestion. For persistent congestion
    /// [`on_loss`](Self::on_loss) was called before. The transport does not change the window.
    fn on_timeout(&mut self, _event: &Timeout) {}

    /// Handles new CE marks that the receiver reported. Called before [`on_ack`](Self::on_ack) of the same ACK.
    fn on_ecn(&mut self, _event: &Ecn) {}

    /// Handles the end of an episode: everything that was in flight at its beginning is settled. With TCP the stream
    /// has arrived up to there; with QUIC a packet sent since then was acknowledged. Called before
    /// [`on_ack`](Self::on_ack) of the same ACK, also for episodes that marks began. Not called for an episode that a
    /// timeout, persistent congestion or [`on_spurious_loss`](Self::on_spurious_loss) ends.
    fn on_recovered(&mut self, _now: Time) {}

    /// Handles proof that the latest episode was spurious: its reduction may be undone. Either all packets that were
    /// declared lost in it have been delivered, or a packet has arrived that the retransmission timeout had declared
    /// lost (RFC 3522, RFC 3708, RFC 4015). The episode is over. It may have ended long before, but no other episode
    /// has begun since.
    fn on_spurious_loss(&mut self, _now: Time) {}

    /// Handles a new flow of the application: packets in flight are forgotten, and a controller may start afresh. The
    /// new flow's packets have the number `next_number` and later ones.
    fn on_anew(&mut self, _now: Time, _next_number: u64) {}

    /// Handles the time requested in [`Control::wake_at`].
    fn on_wake(&mut self, _now: Time) {}

    /// Handles a frame that the encoder of a live source wrote: the frame waits to be sent.
    fn on_frame(&mut self, _event: &Frame) {}

    /// Returns the message to the scheme's receiver-side half in the packet just reported by
    /// [`on_sent`](Self::on_sent).
    fn message(&mut self, _event: &Sent) -> Message {
        Message::default()
    }

    /// Returns the agent if decisions come from outside. The driver stops while a decision is due.
    fn agent(&mut self) -> Option<&mut Agent> {
        None
    }

    /// Returns the present limits. Pure: calling it changes nothing.
    fn control(&self) -> Control;

    /// Returns the slow start threshold, payload bytes (`u64::MAX` before the first loss); `None` for controllers
    /// without one.
    fn slow_start_threshold_bytes(&self) -> Option<u64> {
        None
    }

    /// Writes the internal state by name and unit, for time series and plots.
    fn fields(&self, sink: &mut dyn FieldSink);
}
