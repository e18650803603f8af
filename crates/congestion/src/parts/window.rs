//! A congestion window in fractional packets, as TCP-like controllers keep it.

/// A window counted in packets of `mss_bytes`, with the byte conversions in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Size, packets.
    pub(crate) packets: f64,
    mss_bytes: f64,
}

impl Window {
    /// `bytes` expressed in packets of `mss_bytes`.
    pub(crate) fn from_bytes(bytes: u64, mss_bytes: u32) -> Self {
        let mss_bytes = f64::from(mss_bytes.max(1));
        Self { packets: bytes as f64 / mss_bytes, mss_bytes }
    }

    /// Size in bytes, rounded down.
    pub(crate) fn bytes(self) -> u64 {
        (self.packets * self.mss_bytes) as u64
    }

    /// Bytes of one packet.
    pub(crate) const fn segment_bytes(self) -> f64 {
        self.mss_bytes
    }

    /// `bytes` in packets of this window's size.
    pub(crate) fn in_packets(self, bytes: u64) -> f64 {
        bytes as f64 / self.mss_bytes
    }
}
