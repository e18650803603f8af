//! The interface between a transport and a congestion controller.
//!
//! The transport reports what happened (events), the controller answers with what is allowed ([`Control`]). Loss
//! detection, retransmission, rate sampling, recovery epochs and pacing belong to the transport; a controller only
//! decides how much may be in flight and how fast it may leave.
//!
//! # Units of bytes, windows and rates
//!
//! Every count of bytes, every window and every rate is of payload: bytes of the application, without the headers of IP
//! and transport, and retransmissions like the data that they repeat. A full packet counts [`Start::mss_bytes`](crate::Start::mss_bytes). What a
//! path carries is more: each packet is longer by the transport's `header_bytes` (52 in TCP's profile), so a link of
//! 12 Mbit/s delivers 11.58 Mbit/s of payload in packets of 1448 bytes. A filler counts [`Control::filler_bytes`].
//!
//! # Who reduces the window
//!
//! The controller reduces it. The transport never changes the window that [`Controller::control`] returns, not even
//! after a loss, a mark or a timeout: a controller that does not lower its window on the first loss of an episode
//! ([`Loss::new_episode`]) keeps the old window. The transport reads the window right after [`Controller::on_loss`] or
//! [`Controller::on_ecn`] has begun an episode, and decides how that window is reached (`recovery` of the transport).
//! With `prr`, TCP's, the flight shrinks to that window over a round trip (RFC 6937), and until the episode ends this
//! alone limits it: what the controller changes of its window meanwhile counts from the end of the episode on.
//! With `immediate`, QUIC's and that of controllers that keep a window of their own during recovery (BBR), the window
//! counts at every moment: nothing leaves until the flight has shrunk below it. After a timeout nothing
//! is in flight and the window counts at once: the controller sets it to one packet if it wants to begin there.

use crate::agent::Agent;
use crate::control::{Control, FieldSink, Message};
use crate::events::{Ack, Ecn, Frame, Loss, Sent, Timeout};
use core::fmt::Debug;
use units::{Span, Time};

/// A congestion controller: a pure state machine driven by transport events.
///
/// Order of calls for one incoming ACK: [`on_loss`](Self::on_loss) for packets the ACK reveals as lost, then
/// [`on_ack`](Self::on_ack) (RFC 9002 A.7 order). [`control`](Self::control) is read after every event.
pub trait Controller: Debug + Send {
    /// The connection is set up, which took `rtt`; not called for transports without a handshake.
    fn on_established(&mut self, _now: Time, _rtt: Span) {}

    /// A packet was sent (its bytes are already counted in `in_flight_bytes`).
    fn on_sent(&mut self, _event: &Sent) {}

    /// At least one packet was newly acknowledged.
    fn on_ack(&mut self, event: &Ack<'_>);

    /// Packets were declared lost by packet or time threshold.
    fn on_loss(&mut self, _event: &Loss<'_>) {}

    /// The retransmission timer expired, or persistent congestion was established: then [`on_loss`](Self::on_loss) has
    /// come before. The transport leaves the window alone.
    fn on_timeout(&mut self, _event: &Timeout) {}

    /// The receiver reported new CE marks. Called before [`on_ack`](Self::on_ack) of the same ACK.
    fn on_ecn(&mut self, _event: &Ecn) {}

    /// The episode is over because what was in flight at its beginning is settled (TCP: has arrived up to there; QUIC:
    /// a packet sent since was acknowledged). Called before [`on_ack`](Self::on_ack) of the same ACK, also for episodes
    /// that marks began. Not called for an episode that a timeout, persistent congestion or
    /// [`on_spurious_loss`](Self::on_spurious_loss) ends.
    fn on_recovered(&mut self, _now: Time) {}

    /// The reduction of the latest episode may be undone: all packets that were declared lost in it turned out to be
    /// delivered, or a packet arrived that the retransmission timeout had declared lost (RFC 3522, RFC 3708, RFC 4015). The
    /// episode is over; it may have ended long before, but no other one has begun since.
    fn on_spurious_loss(&mut self, _now: Time) {}

    /// The application begins a flow of its own: what was in flight is forgotten, and a controller may start afresh.
    /// Its packets have the number `next_number` and later ones.
    fn on_anew(&mut self, _now: Time, _next_number: u64) {}

    /// The time asked for in [`Control::wake_at`] has come.
    fn on_wake(&mut self, _now: Time) {}

    /// The encoder of a live source wrote a frame: it waits to be sent.
    fn on_frame(&mut self, _event: &Frame) {}

    /// What the packet just reported by [`on_sent`](Self::on_sent) carries to the scheme's receiver-side half.
    fn message(&mut self, _event: &Sent) -> Message {
        Message::default()
    }

    /// Who decides for it from outside, if somebody does: the driver stops while its decision is due.
    fn agent(&mut self) -> Option<&mut Agent> {
        None
    }

    /// What is allowed now. Pure: calling it changes nothing.
    fn control(&self) -> Control;

    /// The slow start threshold, payload bytes (`u64::MAX` before the first loss); `None` for controllers without one.
    fn slow_start_threshold_bytes(&self) -> Option<u64> {
        None
    }

    /// Writes the internal state by name and unit, for time series and plots.
    fn fields(&self, sink: &mut dyn FieldSink);
}
