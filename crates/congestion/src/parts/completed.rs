//! Progress of the completed stream from ACK to ACK.

use crate::Ack;
use std::mem;

/// Payload bytes of the stream that were complete at the latest ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Completed {
    bytes: u64,
}

impl Completed {
    /// Returns true if `ack` completes no more of the stream, because data before the acknowledged packets is missing.
    /// Linux grows no window on such ACKs (v6.12, `net/ipv4/tcp_input.c`, `tcp_may_raise_cwnd`). Call this once for
    /// every ACK.
    pub(crate) fn is_duplicate(&mut self, ack: &Ack<'_>) -> bool {
        mem::replace(&mut self.bytes, ack.complete_bytes) == ack.complete_bytes && ack.has_hole()
    }
}
