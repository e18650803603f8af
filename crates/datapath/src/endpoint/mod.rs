//! The ends of a flow under the real clock: our transport over UDP, and the kernel's TCP.

mod codec;
mod decisions;
mod kernel_tcp;
mod live_tcp;
mod receiver;
mod samples;
mod sender;
mod socket;
mod tcp_info;
#[cfg(test)]
mod tests;

pub(crate) use codec::{DataFields, data_fields};
pub(crate) use decisions::Decisions;
pub(crate) use kernel_tcp::{connect_tcp, run_tcp_receiver, run_tcp_sender};
pub(crate) use live_tcp::{Progress, StreamedFrame, decoded};
pub(crate) use receiver::run_receiver;
pub(crate) use samples::Samples;
pub(crate) use sender::run_sender;

use units::Span;

/// How late a timer may be without a pacer falling behind; also what a busy machine's scheduler takes at times.
const TIMER_SLACK: Span = Span::from_ms(1);

/// How long a busy end sleeps, as a network card collects packets for a while before it interrupts.
const QUANTUM: Span = Span::from_us(60);

/// The longest that a thread goes without looking whether it is told to stop.
const STOP_CHECK: Span = Span::from_ms(100);
