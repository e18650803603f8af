//! Events that a controller receives.

use units::{Rate, Span, Time};

/// Departure of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Present time.
    pub now: Time,
    /// Packet number: increases by one per transmission, never reused.
    pub number: u64,
    /// Payload bytes of this packet, as windows and pacing count them.
    pub bytes: u32,
    /// Payload bytes in flight, this packet included.
    pub in_flight_bytes: u64,
    /// True if the packet carries data that was sent before.
    pub retransmission: bool,
    /// True if the packet carries no application data ([`Control::filler_bytes`](crate::Control::filler_bytes)).
    pub filler: bool,
    /// Frame of a live source that the payload belongs to ([`Frame::number`]); 0 for other applications and fillers. A
    /// packet never carries payload of two frames.
    pub frame: u32,
    /// True if the frame ends with this packet.
    pub frame_end: bool,
    /// Number of retransmission timeouts that fit into the idle time before this packet, with nothing in flight. 0 for
    /// every other packet, and if the transport lets no window decay (`restart_window`).
    pub idle_timeouts: u32,
}

/// Frame that a live source wrote.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Present time.
    pub now: Time,
    /// Number of the frame, from 1: the value of [`Sent::frame`].
    pub number: u32,
    /// Payload bytes of the frame.
    pub bytes: u64,
    /// True for a key frame.
    pub key: bool,
    /// Payload bytes that wait to be sent, with this frame.
    pub queued_bytes: u64,
    /// Waiting time of the oldest frame in the queue.
    pub queue_delay: Span,
}

/// Newly acknowledged packet. Plug-ins receive these very packets, so the layout is that of the C interface.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AckedPacket {
    /// Packet number.
    pub number: u64,
    /// Time of sending (sender's clock).
    pub sent_at: Time,
    /// Time of arrival (receiver's clock; the offset between the clocks is unknown).
    pub received_at: Time,
    /// Total payload bytes lost on the connection when this packet was sent.
    pub lost_at_send_bytes: u64,
    /// Payload bytes in flight just after this packet was sent.
    pub in_flight_at_send_bytes: u64,
    /// Payload bytes counted for this packet.
    pub bytes: u32,
    /// True if the packet carried retransmitted data.
    pub retransmission: bool,
    /// True if the packet had been declared lost before (a spurious loss).
    pub was_lost: bool,
    /// True if the packet arrived with a CE mark. If the ACK that carried its mark was lost, this is false even for a
    /// marked packet; [`Ecn::ce_packets`] counts that packet too.
    pub ce: bool,
}

impl AckedPacket {
    /// Returns the one-way delay plus the unknown clock offset, ns: only differences have a meaning.
    pub fn one_way_delay_ns(&self) -> i64 {
        self.received_at.as_ns() as i64 - self.sent_at.as_ns() as i64
    }
}

/// Delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation, section 3).
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSample {
    /// Payload bytes delivered over the interval.
    pub delivered_bytes: u64,
    /// Longer one of the send interval and the ACK interval.
    pub interval: Span,
    /// `delivered_bytes` over `interval`, payload bits per second.
    pub rate: Rate,
    /// Total payload bytes delivered when the newest acknowledged packet was sent.
    pub prior_delivered_bytes: u64,
    /// Payload bytes lost over the interval.
    pub lost_bytes: u64,
    /// Payload bytes in flight just after the newest acknowledged packet was sent.
    pub in_flight_at_send_bytes: u64,
    /// True if the application limited the sender during the sample.
    pub app_limited: bool,
}

/// Acknowledgement of at least one new packet.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Present time.
    pub now: Time,
    /// Newly acknowledged packets, in ascending packet number; empty only if the ACK carries nothing but feedback of
    /// the scheme's receiver-side half.
    pub packets: &'a [AckedPacket],
    /// Sum of the packets' payload bytes, with selectively acknowledged packets and retransmissions.
    pub acked_bytes: u64,
    /// Payload bytes that a window grows by: `acked_bytes`, unless the transport counts bytes when the stream is
    /// completed.
    pub growth_bytes: u64,
    /// Payload bytes declared lost by this same ACK (already reported through `on_loss`).
    pub lost_bytes: u64,
    /// RTT of the newest acknowledged packet, if this ACK gives a sample.
    pub rtt: Option<Span>,
    /// Smoothed RTT (RFC 6298 / RFC 9002).
    pub srtt: Span,
    /// RTT variation.
    pub rttvar: Span,
    /// Minimum RTT since the connection began.
    pub min_rtt: Span,
    /// Delay of this ACK at the receiver, as the receiver reports it.
    pub ack_delay: Span,
    /// Payload bytes in flight before this ACK was processed.
    pub in_flight_before_bytes: u64,
    /// Payload bytes in flight now: sent, neither acknowledged nor declared lost.
    pub in_flight_bytes: u64,
    /// Maximum of the payload bytes in flight since the start of the previous round trip.
    pub peak_in_flight_bytes: u64,
    /// True if the controller's window limited sending since the previous round trip. False if the limit was the
    /// application, the pacer, or a window or buffer set by the user or the receiver.
    pub window_limited: bool,
    /// True if, since the previous round trip, the pacer kept back packets that would have filled the controller's
    /// window. The window is not underused then (RFC 9002 7.8).
    pub pacing_limited: bool,
    /// True if the application had nothing to send although the window had room, and the packets in flight at that time
    /// have not arrived. This ACK's packets count as arrived; the application may have more data by now.
    pub app_limited: bool,
    /// Total payload bytes delivered on the connection; each transmission that arrived counts.
    pub delivered_bytes: u64,
    /// Delivery-rate sample, if valid.
    pub rate: Option<RateSample>,
    /// True if a round trip ended with this ACK: a packet sent after the previous round's end was acknowledged.
    pub round_start: bool,
    /// True during an episode that a loss or a mark began. False in the ACK that ends the episode and in every ACK
    /// after a timeout. During the episode the transport does not reduce the controller's window.
    pub in_recovery: bool,
    /// Packet number of the next transmission.
    pub next_number: u64,
    /// Payload bytes written by the application that wait to be sent; `u64::MAX` if the application always has more.
    pub queued_bytes: u64,
    /// Time that the oldest frame of a live source has been waiting to be sent; zero for other applications.
    pub queue_delay: Span,
    /// Feedback of the scheme's receiver-side half in this ACK; empty without one.
    pub feedback: &'a [u8],
    /// Payload bytes of the stream that the receiver has completely, from its beginning: TCP's cumulative
    /// acknowledgement. Zero for transports without retransmissions.
    pub complete_bytes: u64,
    /// Payload bytes of the stream that have been sent, from its beginning. Retransmitted bytes count once.
    pub sent_bytes: u64,
}

impl Ack<'_> {
    /// Returns the newest acknowledged packet. Panics if there is none; meant for schemes without a receiver-side half.
    pub fn newest(&self) -> &AckedPacket {
        &self.packets[self.packets.len() - 1]
    }

    /// Returns true if packets beyond a missing one have arrived (Linux: the state Disorder and the states after it).
    /// False for transports without retransmissions.
    pub fn has_hole(&self) -> bool {
        self.complete_bytes != 0 && self.sent_bytes - self.complete_bytes > self.in_flight_bytes
    }

    /// Returns true if a window-based controller may grow `window_bytes`, because the window was used. In slow start,
    /// Linux allows growth while the window is less than twice the bytes really in flight.
    pub fn may_grow(&self, window_bytes: u64, in_slow_start: bool) -> bool {
        self.window_limited
            || self.pacing_limited
            || (in_slow_start && window_bytes < 2 * self.peak_in_flight_bytes)
    }
}

/// Packets that were declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a> {
    /// Present time.
    pub now: Time,
    /// Lost packets, in ascending packet number; `received_at` has no meaning.
    pub packets: &'a [AckedPacket],
    /// Sum of the packets' payload bytes.
    pub lost_bytes: u64,
    /// Payload bytes in flight with the lost packets.
    pub in_flight_before_bytes: u64,
    /// Payload bytes in flight without the lost packets.
    pub in_flight_bytes: u64,
    /// True for the first loss of an episode: a lost packet was sent after the previous episode began. The controller
    /// reduces its window here, once. The transport reads the window right after this call.
    pub new_episode: bool,
    /// True if the losses come from an ACK whose [`Controller::on_ack`](crate::Controller::on_ack) follows at once.
    /// Otherwise they come from a timer, or from an ACK that acknowledges nothing new.
    pub by_ack: bool,
    /// Smoothed RTT.
    pub srtt: Span,
    /// Packet number of the next transmission.
    pub next_number: u64,
}

/// Kind of timer that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// TCP's retransmission timeout: everything outstanding is declared lost.
    Rto,
    /// QUIC's persistent congestion (RFC 9002 7.6).
    PersistentCongestion,
}

/// Minimum window after a retransmission timeout, packets (RFC 5681 3.1, loss window).
const LOSS_WINDOW: f64 = 1.0;

/// Minimum window after persistent congestion, packets (RFC 9002 7.2, 7.6.2).
const MIN_WINDOW: f64 = 2.0;

/// Timeout of the connection. A retransmission timeout has declared everything outstanding lost. Persistent congestion
/// follows from losses that [`Controller::on_loss`](crate::Controller::on_loss) has just reported.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// Present time.
    pub now: Time,
    /// Kind of timer.
    pub kind: TimeoutKind,
    /// True if no acknowledgement arrived since the previous timeout (a backed-off repeat).
    pub repeated: bool,
    /// Payload bytes in flight before the losses.
    pub in_flight_before_bytes: u64,
    /// Packet number of the next transmission.
    pub next_number: u64,
}

impl Timeout {
    /// Returns true if the slow start threshold must be reduced. A repeated timeout does not reduce it (RFC 5681 3.1).
    /// Persistent congestion does not either, because its losses have already reduced it (RFC 9002 B.8).
    pub fn reduces_threshold(&self) -> bool {
        self.kind == TimeoutKind::Rto && !self.repeated
    }

    /// Returns the window after the timeout, packets.
    pub const fn window_packets(&self) -> f64 {
        match self.kind {
            TimeoutKind::Rto => LOSS_WINDOW,
            TimeoutKind::PersistentCongestion => MIN_WINDOW,
        }
    }
}

/// New CE marks in an ACK.
#[derive(Clone, Copy, Debug)]
pub struct Ecn {
    /// Present time.
    pub now: Time,
    /// Number of packets newly reported as CE-marked.
    pub ce_packets: u64,
    /// Number of packets newly reported in total.
    pub packets: u64,
    /// Departure time of the newest packet that the same ACK acknowledges (RFC 9002 B.7: the `sent_time` of the
    /// congestion event).
    pub newest_sent_at: Time,
    /// True for the first mark of an episode (once per round trip). The controller reduces its window.
    pub new_episode: bool,
    /// Payload bytes in flight.
    pub in_flight_bytes: u64,
    /// Smoothed RTT.
    pub srtt: Span,
}
