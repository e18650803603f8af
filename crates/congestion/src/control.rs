//! Values that a controller starts from, limits that it sets, and the interface that shows its state.

use units::{Rate, Span, Time};

/// Message of a sender to the scheme's [`ReceiverHalf`](crate::ReceiverHalf), one for each packet: two words in the
/// scheme's own format. The transport's header includes the bytes of the message.
pub type Message = [u64; 2];

/// Input of a controller's constructor.
#[derive(Clone, Debug)]
pub struct Start {
    /// Time of the flow's start.
    pub now: Time,
    /// Payload of a full packet, bytes, without headers: the unit of every window and rate.
    pub mss_bytes: u32,
    /// Initial window of the transport, payload bytes.
    pub initial_window_bytes: u64,
    /// Seed of this flow's random streams.
    pub seed: u64,
}

/// Limits that a controller sets: window, rate and time of the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Maximum payload bytes in flight, with retransmissions and fillers, without headers; `u64::MAX` for no limit.
    /// During an episode the transport may use another window (see the head of `controller.rs`).
    pub window_bytes: u64,
    /// Pacing rate, payload bits per second: a packet of `n` payload bytes delays the next one by `8 n / pacing`,
    /// regardless of its headers. With `None`, packets leave as soon as the window allows.
    pub pacing: Option<Rate>,
    /// Maximum payload bytes that may leave back to back when pacing; 0 means one packet.
    pub burst_bytes: u64,
    /// Time of the next call of [`Controller::on_wake`](crate::Controller::on_wake); [`Time::NEVER`] for no call.
    pub wake_at: Time,
    /// Target bitrate of a live encoder, payload bits. `None` for controllers without encoder support: the transport
    /// then derives the bitrate from window and pacing.
    pub media_rate: Option<Rate>,
    /// Size of packets without application data (probes, heartbeats; 0 is allowed). They leave when window and pacing
    /// allow a packet but the application has none to send. They count in the window. `None` for no such packets.
    pub filler_bytes: Option<u32>,
    /// Maximum time that the first byte of a live source's frame may wait. A frame that waits longer is dropped as a
    /// whole, and the encoder makes a key frame. A frame whose sending has begun is finished. `None` drops no frame.
    pub max_frame_wait: Option<Span>,
    /// True if the controller itself limits the sender. Delivery-rate samples are then marked as application-limited,
    /// until all packets in flight at the end of the limitation have arrived.
    pub app_limited: bool,
}

impl Control {
    /// Returns a window without pacing and without timer.
    pub const fn window(window_bytes: u64) -> Self {
        Self {
            window_bytes,
            pacing: None,
            burst_bytes: 0,
            wake_at: Time::NEVER,
            media_rate: None,
            filler_bytes: None,
            max_frame_wait: None,
            app_limited: false,
        }
    }
}

/// Receiver of a controller's state, field by field.
pub trait FieldSink {
    /// Receives one field. `name` and `unit` are constants of the controller, `value` is the present value.
    fn put(&mut self, name: &'static str, unit: &'static str, value: f64);
}
