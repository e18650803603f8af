//! What a controller is built from, what it allows, and how it shows its state.

use units::{Rate, Span, Time};

/// What a sender tells the scheme's [`ReceiverHalf`](crate::ReceiverHalf) with one packet: two words whose format is
/// the scheme's own. Their bytes on the wire are part of the transport's header.
pub type Message = [u64; 2];

/// Input of the constructor of a controller.
#[derive(Clone, Debug)]
pub struct Start {
    /// Time of the flow's start.
    pub now: Time,
    /// Payload of a full packet, bytes, without headers: what it counts in every window and rate.
    pub mss_bytes: u32,
    /// Initial window of the transport, payload bytes.
    pub initial_window_bytes: u64,
    /// Seed of this flow's random streams.
    pub seed: u64,
}

/// Limits that a controller sets: window, rate, time of the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Most payload bytes in flight, retransmissions and fillers included, headers not; `u64::MAX` for no limit. During
    /// an episode another window may count (see the module's head).
    pub window_bytes: u64,
    /// Pacing rate, payload bits per second: a packet of `n` payload bytes keeps the next one waiting `8 n / pacing`,
    /// whatever its headers; `None` sends as fast as the window opens.
    pub pacing: Option<Rate>,
    /// Most payload bytes that may leave back to back when pacing; 0 means one packet.
    pub burst_bytes: u64,
    /// Time of the next call of [`Controller::on_wake`](crate::Controller::on_wake); [`Time::NEVER`]: none.
    pub wake_at: Time,
    /// Bitrate a live encoder is to produce, payload bits; `None` for controllers that know nothing of encoders: the
    /// transport derives it from window and pacing then.
    pub media_rate: Option<Rate>,
    /// Size of packets without application data (probes, heartbeats; 0 is allowed), sent as window and pacing admit
    /// whenever no packet of the application may leave; `None` for no such packets. They count in the window.
    pub filler_bytes: Option<u32>,
    /// A frame of a live source whose first byte has waited longer than this to be sent is dropped whole, and the
    /// encoder told to make a key frame; `None` drops none. A frame that has begun to leave is finished.
    pub max_frame_wait: Option<Span>,
    /// Whether the controller itself limits the sender: delivery-rate samples of packets that are sent meanwhile, and
    /// until what was in flight at the end of it has arrived, are marked as application-limited.
    pub app_limited: bool,
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
            max_frame_wait: None,
            app_limited: false,
        }
    }
}

/// Receives a controller's state, field by field.
pub trait FieldSink {
    /// One field: `name` and `unit` are constants of the controller, `value` its present value.
    fn put(&mut self, name: &'static str, unit: &'static str, value: f64);
}
