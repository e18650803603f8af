//! Which ACKs complete more of the stream.

use crate::Ack;
use std::mem;

/// How much of the stream was complete at the latest ACK, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Completed {
    bytes: u64,
}

impl Completed {
    /// Whether `ack` completes no more of the stream, as something before what it acknowledges is missing. Linux grows no
    /// window by such ACKs (v6.12, `net/ipv4/tcp_input.c`, `tcp_may_raise_cwnd`). To be asked once for every ACK.
    pub(crate) fn is_duplicate(&mut self, ack: &Ack<'_>) -> bool {
        mem::replace(&mut self.bytes, ack.complete_bytes) == ack.complete_bytes && ack.has_hole()
    }
}
