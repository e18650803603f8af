//! The interface between a transport and a congestion controller.
//!
//! The transport reports what happened (events), the controller answers with what is allowed ([`Control`]). Loss
//! detection, retransmission, rate sampling, recovery epochs and pacing belong to the transport; a controller only
//! decides how much may be in flight and how fast it may leave.

use crate::Agent;
use core::fmt::Debug;
use units::{Rate, Span, Time};

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

    /// The retransmission timer expired, or persistent congestion was established.
    fn on_timeout(&mut self, _event: &Timeout) {}

    /// The receiver reported new CE marks. Called before [`on_ack`](Self::on_ack) of the same ACK.
    fn on_ecn(&mut self, _event: &Ecn) {}

    /// All packets of the last loss episode turned out to be delivered: the reduction may be undone.
    fn on_spurious_loss(&mut self, _now: Time) {}

    /// The application begins a flow of its own: what was in flight is forgotten, and a controller may start afresh. Its
    /// packets have the number `next_number` and later ones.
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

    /// Writes the internal state by name and unit, for time series and plots.
    fn fields(&self, sink: &mut dyn FieldSink);
}

/// What a sender tells the scheme's [`ReceiverHalf`](crate::ReceiverHalf) with one packet: two words whose format is the
/// scheme's own. Their bytes on the wire are part of the transport's header.
pub type Message = [u64; 2];

/// What a controller is given when it is built.
#[derive(Clone, Debug)]
pub struct Start {
    /// Time of the flow's start.
    pub now: Time,
    /// Maximum segment size: bytes the controller counts per full packet.
    pub mss_bytes: u32,
    /// Initial window of the transport, bytes.
    pub initial_window_bytes: u64,
    /// Seed of this flow's random streams.
    pub seed: u64,
}

/// What a controller allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Most bytes in flight; `u64::MAX` for none.
    pub window_bytes: u64,
    /// Pacing rate; `None` sends as fast as the window opens.
    pub pacing: Option<Rate>,
    /// Most bytes that may leave back to back when pacing; 0 means one packet.
    pub burst_bytes: u64,
    /// When to call [`Controller::on_wake`]; [`Time::NEVER`] for not at all.
    pub wake_at: Time,
    /// Bitrate a live encoder is to produce, payload bits; `None` for controllers that know nothing of encoders: the
    /// transport derives it from window and pacing then.
    pub media_rate: Option<Rate>,
    /// Size of packets without application data (probes, heartbeats; 0 is allowed), sent as window and pacing admit
    /// whenever no packet of the application may leave; `None` for no such packets.
    pub filler_bytes: Option<u32>,
}

impl Control {
    /// A window without pacing and without timer.
    pub const fn window(window_bytes: u64) -> Self {
        Self {
            window_bytes,
            pacing: None,
            burst_bytes: 0,
            wake_at: Time::NEVER,
            media_rate: None,
            filler_bytes: None,
        }
    }
}

/// A packet was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Now.
    pub now: Time,
    /// Packet number: increases by one per transmission, never reused.
    pub number: u64,
    /// Bytes counted for this packet.
    pub bytes: u32,
    /// Bytes in flight, this packet included.
    pub in_flight_bytes: u64,
    /// Whether the packet carries data that was sent before.
    pub retransmission: bool,
    /// Whether the packet carries no application data ([`Control::filler_bytes`]).
    pub filler: bool,
}

/// A live source wrote a frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Now.
    pub now: Time,
    /// Its size.
    pub bytes: u64,
    /// Whether it is a key frame.
    pub key: bool,
    /// Bytes that wait to be sent, this frame included.
    pub queued_bytes: u64,
    /// How long the oldest of them has been waiting.
    pub queue_delay: Span,
}

/// One newly acknowledged packet; laid out as plug-ins see it, which are given these very packets.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AckedPacket {
    /// Packet number.
    pub number: u64,
    /// When it was sent (sender's clock).
    pub sent_at: Time,
    /// When it arrived (receiver's clock; the offset between the clocks is unknown).
    pub received_at: Time,
    /// Total bytes lost on the connection when this packet was sent.
    pub lost_at_send_bytes: u64,
    /// Bytes in flight just after this packet was sent.
    pub in_flight_at_send_bytes: u64,
    /// Bytes counted for this packet.
    pub bytes: u32,
    /// Whether it carried retransmitted data.
    pub retransmission: bool,
    /// Whether it had been declared lost before (a spurious loss).
    pub was_lost: bool,
}

impl AckedPacket {
    /// One-way delay in ns with the unknown clock offset in it: only differences mean anything.
    pub fn one_way_delay_ns(&self) -> i64 {
        self.received_at.as_ns() as i64 - self.sent_at.as_ns() as i64
    }
}

/// A delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation, section 3).
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSample {
    /// Bytes delivered over the interval.
    pub delivered_bytes: u64,
    /// The longer of the send and the ACK interval.
    pub interval: Span,
    /// `delivered_bytes` over `interval`.
    pub rate: Rate,
    /// Total delivered bytes when the newest acknowledged packet was sent.
    pub prior_delivered_bytes: u64,
    /// Bytes lost over the interval.
    pub lost_bytes: u64,
    /// Bytes in flight just after the newest acknowledged packet was sent.
    pub in_flight_at_send_bytes: u64,
    /// Whether the sample was taken while the application limited the sender.
    pub app_limited: bool,
}

/// At least one packet was newly acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Now.
    pub now: Time,
    /// Newly acknowledged packets, in ascending packet number; empty only if the ACK brings nothing but feedback of the
    /// scheme's receiver-side half.
    pub packets: &'a [AckedPacket],
    /// Sum of their bytes.
    pub acked_bytes: u64,
    /// Bytes that a window grows by: those, unless the transport counts them as the stream is completed.
    pub growth_bytes: u64,
    /// Bytes declared lost by this same ACK (already reported through `on_loss`).
    pub lost_bytes: u64,
    /// RTT of the newest acknowledged packet, if this ACK gives a sample.
    pub rtt: Option<Span>,
    /// Smoothed RTT (RFC 6298 / RFC 9002).
    pub srtt: Span,
    /// RTT variation.
    pub rttvar: Span,
    /// Smallest RTT of the connection's life.
    pub min_rtt: Span,
    /// Delay the receiver reports to have held this ACK.
    pub ack_delay: Span,
    /// Bytes in flight before this ACK was processed.
    pub in_flight_before_bytes: u64,
    /// Bytes in flight now.
    pub in_flight_bytes: u64,
    /// Most bytes in flight at any moment since the start of the previous round trip.
    pub peak_in_flight_bytes: u64,
    /// Whether the window, not the application or the pacer, limited sending since the previous round trip.
    pub window_limited: bool,
    /// Whether the application has nothing to send.
    pub app_limited: bool,
    /// Total bytes delivered on the connection.
    pub delivered_bytes: u64,
    /// Delivery-rate sample, if valid.
    pub rate: Option<RateSample>,
    /// Whether a round trip ended with this ACK: a packet sent after the previous round's end was acknowledged.
    pub round_start: bool,
    /// Whether a loss episode is going on (an ACK that ends it has `false`).
    pub in_recovery: bool,
    /// Packet number the next transmission will get.
    pub next_number: u64,
    /// Bytes the application has written and that wait to be sent; `u64::MAX` if it always has more.
    pub queued_bytes: u64,
    /// How long the oldest frame of a live source has been waiting to be sent; zero for other applications.
    pub queue_delay: Span,
    /// What the receiver-side half of the scheme put into the ACK; empty without one.
    pub feedback: &'a [u8],
}

impl Ack<'_> {
    /// The newest acknowledged packet. Panics if there is none: for schemes without a receiver-side half.
    pub fn newest(&self) -> &AckedPacket {
        &self.packets[self.packets.len() - 1]
    }

    /// Whether a window-based controller may grow `window_bytes`: Linux's rule, which lets slow start grow while the
    /// window is less than twice what was really in flight.
    pub fn may_grow(&self, window_bytes: u64, in_slow_start: bool) -> bool {
        self.window_limited || (in_slow_start && window_bytes < 2 * self.peak_in_flight_bytes)
    }
}

/// Packets were declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a> {
    /// Now.
    pub now: Time,
    /// The lost packets, in ascending packet number; `received_at` is meaningless.
    pub packets: &'a [AckedPacket],
    /// Sum of their bytes.
    pub lost_bytes: u64,
    /// Bytes in flight before they were taken out.
    pub in_flight_before_bytes: u64,
    /// Bytes in flight now.
    pub in_flight_bytes: u64,
    /// Whether this is the first loss of an episode: a lost packet was sent after the previous episode began.
    pub new_episode: bool,
    /// Smoothed RTT.
    pub srtt: Span,
    /// Packet number the next transmission will get.
    pub next_number: u64,
}

/// Which timer fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// TCP's retransmission timeout: everything outstanding is declared lost.
    Rto,
    /// QUIC's persistent congestion (RFC 9002 7.6).
    PersistentCongestion,
}

/// The connection is in serious trouble; everything outstanding has been declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// Now.
    pub now: Time,
    /// Which timer fired.
    pub kind: TimeoutKind,
    /// Whether no acknowledgement arrived since the previous timeout (a backed-off repeat).
    pub repeated: bool,
    /// Bytes in flight before everything was declared lost.
    pub in_flight_before_bytes: u64,
    /// Packet number the next transmission will get.
    pub next_number: u64,
}

/// New CE marks were reported.
#[derive(Clone, Copy, Debug)]
pub struct Ecn {
    /// Now.
    pub now: Time,
    /// Packets newly reported as CE-marked.
    pub ce_packets: u64,
    /// Packets newly reported in total.
    pub packets: u64,
    /// Whether this is the first mark of an episode (once per round trip).
    pub new_episode: bool,
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// Smoothed RTT.
    pub srtt: Span,
}

/// Receives a controller's state, field by field.
pub trait FieldSink {
    /// One field: `name` and `unit` are constants of the controller, `value` its present value.
    fn put(&mut self, name: &'static str, unit: &'static str, value: f64);
}
