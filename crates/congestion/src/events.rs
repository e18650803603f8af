//! Events that a controller is told.

use units::{Rate, Span, Time};

/// A packet was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Now.
    pub now: Time,
    /// Packet number: increases by one per transmission, never reused.
    pub number: u64,
    /// Payload bytes of this packet: what windows and pacing count for it.
    pub bytes: u32,
    /// Payload bytes in flight, this packet included.
    pub in_flight_bytes: u64,
    /// Whether the packet carries data that was sent before.
    pub retransmission: bool,
    /// Whether the packet carries no application data ([`Control::filler_bytes`](crate::Control::filler_bytes)).
    pub filler: bool,
    /// The frame of a live source that the payload belongs to ([`Frame::number`]); 0 for other applications and
    /// fillers. A packet never carries payload of two frames.
    pub frame: u32,
    /// Whether the frame ends with this packet.
    pub frame_end: bool,
    /// Retransmission timeouts that have passed since the packet before, with nothing in flight; 0 for every other packet, and
    /// where the transport lets no window decay (`restart_window`).
    pub idle_timeouts: u32,
}

/// A live source wrote a frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Now.
    pub now: Time,
    /// Its number, from 1: the one that [`Sent::frame`] names.
    pub number: u32,
    /// Its payload bytes.
    pub bytes: u64,
    /// Whether it is a key frame.
    pub key: bool,
    /// Payload bytes that wait to be sent, this frame included.
    pub queued_bytes: u64,
    /// Waiting time of the oldest frame in the queue.
    pub queue_delay: Span,
}

/// One newly acknowledged packet; laid out as plug-ins see it, which are given these very packets.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AckedPacket {
    /// Packet number.
    pub number: u64,
    /// Time of sending (sender's clock).
    pub sent_at: Time,
    /// When it arrived (receiver's clock; the offset between the clocks is unknown).
    pub received_at: Time,
    /// Payload bytes lost on the connection, in all, when this packet was sent.
    pub lost_at_send_bytes: u64,
    /// Payload bytes in flight just after this packet was sent.
    pub in_flight_at_send_bytes: u64,
    /// Payload bytes counted for this packet.
    pub bytes: u32,
    /// Whether it carried retransmitted data.
    pub retransmission: bool,
    /// Whether it had been declared lost before (a spurious loss).
    pub was_lost: bool,
    /// True if the packet arrived with a CE mark. If the ACK that carried its mark was lost, this is false even for a
    /// marked packet; [`Ecn::ce_packets`] counts that packet too.
    pub ce: bool,
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
    /// Payload bytes delivered over the interval.
    pub delivered_bytes: u64,
    /// The longer of the send and the ACK interval.
    pub interval: Span,
    /// `delivered_bytes` over `interval`: payload bits per second.
    pub rate: Rate,
    /// Payload bytes delivered in all when the newest acknowledged packet was sent.
    pub prior_delivered_bytes: u64,
    /// Payload bytes lost over the interval.
    pub lost_bytes: u64,
    /// Payload bytes in flight just after the newest acknowledged packet was sent.
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
    /// Sum of their payload bytes, selectively acknowledged ones and retransmissions included.
    pub acked_bytes: u64,
    /// Payload bytes that a window grows by: those, unless the transport counts them as the stream is completed.
    pub growth_bytes: u64,
    /// Payload bytes declared lost by this same ACK (already reported through `on_loss`).
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
    /// Payload bytes in flight before this ACK was processed.
    pub in_flight_before_bytes: u64,
    /// Payload bytes in flight now: sent, neither acknowledged nor declared lost.
    pub in_flight_bytes: u64,
    /// Most payload bytes in flight at any moment since the start of the previous round trip.
    pub peak_in_flight_bytes: u64,
    /// Whether the controller's window limited sending since the previous round trip: not the application, nor the pacer, nor a
    /// window or buffer that the user or the receiver has set.
    pub window_limited: bool,
    /// Whether the pacer kept packets back since the previous round trip that would have filled the controller's window: the
    /// window is not underused then (RFC 9002 7.8).
    pub pacing_limited: bool,
    /// Whether the application had nothing to send although the window had room, and what was in flight then has not
    /// arrived. This ACK's packets count as arrived; the application may have more by now.
    pub app_limited: bool,
    /// Payload bytes delivered on the connection in all, each transmission that arrived counted.
    pub delivered_bytes: u64,
    /// Delivery-rate sample, if valid.
    pub rate: Option<RateSample>,
    /// Whether a round trip ended with this ACK: a packet sent after the previous round's end was acknowledged.
    pub round_start: bool,
    /// Whether an episode is going on that a loss or a mark began (an ACK that ends it has `false`, and so has every
    /// ACK after a timeout). The transport reduces nothing of the controller's window meanwhile.
    pub in_recovery: bool,
    /// Packet number the next transmission will get.
    pub next_number: u64,
    /// Payload bytes that the application has written and that wait to be sent; `u64::MAX` if it always has more.
    pub queued_bytes: u64,
    /// How long the oldest frame of a live source has been waiting to be sent; zero for other applications.
    pub queue_delay: Span,
    /// What the receiver-side half of the scheme put into the ACK; empty without one.
    pub feedback: &'a [u8],
    /// The receiver has the stream complete up to here, payload bytes from its beginning: TCP's cumulative
    /// acknowledgement. Zero where nothing is sent again.
    pub complete_bytes: u64,
    /// The stream has been sent up to here, payload bytes from its beginning; what is sent again does not count twice.
    pub sent_bytes: u64,
}

impl Ack<'_> {
    /// The newest acknowledged packet. Panics if there is none: for schemes without a receiver-side half.
    pub fn newest(&self) -> &AckedPacket {
        &self.packets[self.packets.len() - 1]
    }

    /// Whether packets beyond one that is missing have arrived (Linux: the state Disorder, and what follows it). False
    /// where nothing is sent again.
    pub fn has_hole(&self) -> bool {
        self.complete_bytes != 0 && self.sent_bytes - self.complete_bytes > self.in_flight_bytes
    }

    /// Whether a window-based controller may grow `window_bytes`: what grows is what was used. Linux lets slow start grow
    /// while the window is less than twice what was really in flight.
    pub fn may_grow(&self, window_bytes: u64, in_slow_start: bool) -> bool {
        self.window_limited
            || self.pacing_limited
            || (in_slow_start && window_bytes < 2 * self.peak_in_flight_bytes)
    }
}

/// Packets were declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a> {
    /// Now.
    pub now: Time,
    /// The lost packets, in ascending packet number; `received_at` is meaningless.
    pub packets: &'a [AckedPacket],
    /// Sum of their payload bytes.
    pub lost_bytes: u64,
    /// Payload bytes in flight before they were taken out.
    pub in_flight_before_bytes: u64,
    /// Payload bytes in flight now.
    pub in_flight_bytes: u64,
    /// Whether this is the first loss of an episode: a lost packet was sent after the previous episode began. The
    /// window is the controller's to reduce, here and once; the transport reads it right after this call.
    pub new_episode: bool,
    /// Whether an ACK revealed them whose [`Controller::on_ack`](crate::Controller::on_ack) follows at once; otherwise a timer did, or an ACK that
    /// acknowledges nothing new.
    pub by_ack: bool,
    /// Smoothed RTT.
    pub srtt: Span,
    /// Packet number the next transmission will get.
    pub next_number: u64,
}

/// Timer that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// TCP's retransmission timeout: everything outstanding is declared lost.
    Rto,
    /// QUIC's persistent congestion (RFC 9002 7.6).
    PersistentCongestion,
}

/// Smallest window after a retransmission timeout, packets (RFC 5681 3.1, loss window).
const LOSS_WINDOW: f64 = 1.0;

/// Smallest window after persistent congestion, packets (RFC 9002 7.2, 7.6.2).
const MIN_WINDOW: f64 = 2.0;

/// The connection is in serious trouble. A retransmission timeout has declared everything outstanding lost; persistent
/// congestion was found with losses that [`Controller::on_loss`](crate::Controller::on_loss) has just reported.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// Now.
    pub now: Time,
    /// Timer that fired.
    pub kind: TimeoutKind,
    /// Whether no acknowledgement arrived since the previous timeout (a backed-off repeat).
    pub repeated: bool,
    /// Payload bytes in flight before the losses.
    pub in_flight_before_bytes: u64,
    /// Packet number the next transmission will get.
    pub next_number: u64,
}

impl Timeout {
    /// Whether the slow start threshold is to be reduced: not by a timeout that is repeated (RFC 5681 3.1), nor by persistent
    /// congestion, whose losses have reduced the threshold already (RFC 9002 B.8).
    pub fn reduces_threshold(&self) -> bool {
        self.kind == TimeoutKind::Rto && !self.repeated
    }

    /// The window to go on from, packets.
    pub const fn window_packets(&self) -> f64 {
        match self.kind {
            TimeoutKind::Rto => LOSS_WINDOW,
            TimeoutKind::PersistentCongestion => MIN_WINDOW,
        }
    }
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
    /// When the newest packet left that the same ACK acknowledges (RFC 9002 B.7: the `sent_time` of the congestion event).
    pub newest_sent_at: Time,
    /// Whether this is the first mark of an episode (once per round trip). The window is the controller's to reduce.
    pub new_episode: bool,
    /// Payload bytes in flight.
    pub in_flight_bytes: u64,
    /// Smoothed RTT.
    pub srtt: Span,
}
