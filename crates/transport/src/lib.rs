//! The sans-IO transport: a [`Sender`] and a [`Receiver`] that any driver (simulator, datapath) can run.
//!
//! One state machine serves TCP-like, QUIC-like and plain datagram schemes; they differ in configuration ([`Config`]).
//! Every transmission gets its own packet number (RFC 9002 3.2), so every acknowledgement is unambiguous.

mod ack_size;
mod advance;
mod application;
mod buffers;
mod bursts;
mod config;
mod ecn;
mod encoder;
mod feedback;
mod flight;
mod frames;
mod integrals;
mod keepalive;
mod loss;
mod opening;
mod pacer;
mod packets;
mod ranges;
mod rate;
mod receiver;
mod receiver_behavior;
mod recovery;
mod rounds;
mod rtt;
mod sender;
mod stream;
mod timers;
mod wire;

/// Estimators of a sender that can be used by themselves.
pub mod estimators {
    pub use crate::rate::{Newest, RateSampler, Snapshot};
    pub use crate::rounds::Rounds;
    pub use crate::rtt::RttEstimator;
}

pub use ack_size::AckSize;
pub use application::{Application, ApplicationSpec};
pub use config::{
    Config, LossDetection, Reduction, Reordering, RtoFloor, TimerKind, TimerRestart, WindowRounding,
};
pub use ecn::{EcnMode, EcnValidation};
pub use encoder::{EncoderSpec, EncoderStats};
pub use flight::{Finding, Verdict};
pub use frames::DecodedFrame;
pub use ranges::{Range, RangeSet};
pub use receiver::{Receiver, ReceiverStats};
pub use receiver_behavior::ReceiverBehavior;
pub use sender::{MEDIA_SHARE, Sender, SenderStats};
pub use wire::{AckFrame, Arrival, Data, EcnCounts, FrameMark, Part};
