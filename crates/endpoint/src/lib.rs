//! Ends of flows on real sockets, under the real clock: our transport over UDP, and the kernel's TCP.
//!
//! Nothing here knows what lies between the two ends: an emulated path, a wire, or the loopback device. Each end works
//! by the [`Clock`] of its machine and writes an [`EventLog`] of its own; [`merged`] puts the logs of a run into one
//! order, given how far their clocks are apart.
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

/// How late a timer may be without a pacer falling behind; also what a busy machine's scheduler takes at times.
const TIMER_SLACK: Span = Span::from_ms(1);

/// How long a busy end sleeps, as a network card collects packets for a while before it interrupts.
const QUANTUM: Span = Span::from_us(60);

/// Bytes of one write to a stream, or one read from it.
const CHUNK_BYTES: usize = 256 << 10;

/// The longest that a thread goes without looking whether it is told to stop.
const STOP_CHECK: Span = Span::from_ms(100);
