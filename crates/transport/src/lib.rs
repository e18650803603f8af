//! The sans-IO transport: a [`Sender`] and a [`Receiver`] that any driver (simulator, datapath) can run.
//!
//! One state machine serves TCP-like, QUIC-like and plain datagram schemes; what differs is configuration
//! ([`Config`]). Every transmission gets its own packet number (RFC 9002 3.2), so every acknowledgement is unambiguous.

mod acked;
mod application;
mod conduct;
mod config;
mod encoder;
mod frames;
mod pacer;
mod ranges;
mod rate;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod sender;
mod sent;
mod sequence;
mod timers;
mod wire;

pub use application::{Application, ApplicationSpec};
pub use conduct::Conduct;
pub use config::{Config, Ecn, LossDetection, Recovery, RtoFloor, TimerKind, TimerRestart, WindowRounding};
pub use encoder::{EncoderSpec, EncoderStats, FrameMark};
pub use frames::DecodedFrame;
pub use ranges::{Range, RangeSet};
pub use receiver::{Receiver, ReceiverStats};
pub use sender::{MEDIA_SHARE, Sender, SenderStats, Verdict};
pub use wire::{AckFrame, AckSize, Arrival, Data, EcnCounts, Part};
