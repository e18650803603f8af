//! Size of an acknowledgement on the wire.

use crate::config::Config;
use crate::wire::AckFrame;

/// Parts of the size of an ACK's IP datagram, bytes.
#[derive(Clone, Copy, Debug)]
pub struct AckSize {
    bytes: u32,
    option_bytes: u32,
    range_bytes: u32,
}

impl AckSize {
    /// Returns the sizes in `config`.
    pub const fn new(config: &Config) -> Self {
        Self {
            bytes: config.ack_bytes,
            option_bytes: config.ack_option_bytes,
            range_bytes: config.ack_range_bytes,
        }
    }

    /// Returns the bytes of the datagram that carries `frame`.
    #[inline]
    pub fn of(&self, frame: &AckFrame) -> u32 {
        let further = frame.ranges.len().saturating_sub(1) as u32;
        let option_bytes = if further > 0 { self.option_bytes } else { 0 };
        self.bytes
            + option_bytes
            + further * self.range_bytes
            + frame.feedback.len() as u32
            + frame.padding_bytes
    }
}
