//! Ends of flows on real sockets with the real clock: the built-in transport over UDP, and kernel TCP.
//!
//! The crate does not depend on the medium between the ends, which may be an emulated path, a network or the loopback
//! device. Each end uses the [`Clock`] of its machine and writes its own [`EventLog`]. [`merged`] merges the logs of a
//! run by time with the corrections between their clocks.
#![allow(clippy::disallowed_methods, reason = "this crate is about real clocks and sockets")]

mod board;
mod clock;
mod codec;
mod distortion;
mod envelope;
mod error;
mod flow;
mod guard;
mod journal;
mod layout;
mod live_tcp;
mod log;
mod merge;
mod pace;
mod peer;
mod punctuality;
mod samples;
mod seal;
mod session;
mod socket;
mod sys;
mod tcp_info;
mod tcp_receiver;
mod tcp_sender;
#[cfg(test)]
mod tests;
mod timer;
mod udp_receiver;
mod udp_sender;
mod urgency;

pub use board::{Board, Meter, Reading, Shown};
pub use clock::{Clock, Correction, Stretch, monotonic_ns, wall_clock_ahead_ns};
pub use codec::{DataFields, IP_UDP_BYTES, data_fields, decode_ack};
pub use distortion::{Distortion, distort};
pub use envelope::{ENVELOPE_BYTES, Opened, close_envelope, open_envelope};
pub use error::Error;
pub use flow::{FlowReport, ReceiverReport, SenderReport, receive_tcp, receive_udp, send_tcp, send_udp};
pub use guard::{Guard, Guarded, SILENCE, Wire};
pub use journal::Journal;
pub use layout::{HEAD_BYTES, word};
pub use log::{EventLog, MOST_FLOWS};
pub use merge::{ClockedLog, merged};
pub use pace::Pace;
pub use punctuality::{Delays, Punctuality};
pub use samples::is_plain;
pub use seal::{Key, Kind, Seal, TAG_BYTES, Window};
pub use session::Session;
pub use socket::{Datagram, Inbox, MAX_DATAGRAM_BYTES, Outbox, prepare, prepare_for_network};
pub use sys::{BATCH, Refusal, dropped_at, keep_refusals, set_hops, set_type_of_service, take_refusal};
pub use timer::Waiter;
pub use urgency::{Scheduled, Urgency, be_foremost_as_program, set_punctual};

use units::Span;

/// Maximum delay of a timer without effect on a pacer. A busy machine's scheduler can also cause such a delay.
const TIMER_SLACK: Span = Span::from_ms(1);

/// Sleep of a busy end. A network card collects packets for a similar time before an interrupt.
const QUANTUM: Span = Span::from_us(60);

/// Length of one write to or read from a stream, bytes.
const CHUNK_BYTES: usize = 256 << 10;

/// Maximum time between two checks whether a thread should stop.
const STOP_CHECK: Span = Span::from_ms(100);
