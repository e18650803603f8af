//! Congestion window in fractional packets, as TCP-like controllers keep it.

/// Slow start threshold after a pause, as a fraction of the window.
const RESTART_THRESHOLD: f64 = 0.75;
/// Maximum number of halvings; more leave nothing of any window.
const MOST_HALVINGS: u32 = 40;

/// Congestion window in packets of `mss_bytes`, with the conversions to bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Window, packets.
    pub(crate) packets: f64,
    mss_bytes: f64,
    /// Initial window, packets.
    initial: f64,
}

impl Window {
    /// Returns a window of `bytes` in packets of `mss_bytes`.
    pub(crate) fn from_bytes(bytes: u64, mss_bytes: u32) -> Self {
        let mss_bytes = f64::from(mss_bytes.max(1));
        let packets = bytes as f64 / mss_bytes;
        Self { packets, mss_bytes, initial: packets }
    }

    /// Returns the window in bytes, rounded down.
    pub(crate) fn bytes(self) -> u64 {
        self.in_bytes(self.packets)
    }

    /// Converts `packets` of this window's packet size to bytes, rounded down; the largest number for infinitely many.
    pub(crate) fn in_bytes(self, packets: f64) -> u64 {
        (packets * self.mss_bytes) as u64
    }

    /// Reduces the window after a pause of `timeouts` retransmission timeouts: halves it for each, down to the initial
    /// one. Sets the threshold to three quarters of the window (RFC 5681 4.1, RFC 2861; Linux v6.12,
    /// `net/ipv4/tcp_output.c`, `tcp_cwnd_restart`).
    pub(crate) fn restart(&mut self, timeouts: u32, ssthresh: &mut f64) {
        if timeouts == 0 {
            return;
        }
        let least = self.initial.min(self.packets);
        *ssthresh = ssthresh.max(RESTART_THRESHOLD * self.packets);
        self.packets = (self.packets / (1_u64 << timeouts.min(MOST_HALVINGS)) as f64).max(least);
    }

    /// Returns the size of one packet, bytes.
    pub(crate) const fn segment_bytes(self) -> f64 {
        self.mss_bytes
    }

    /// Converts `bytes` to packets of this window's packet size.
    pub(crate) fn in_packets(self, bytes: u64) -> f64 {
        bytes as f64 / self.mss_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_halves_the_window_once_a_timeout_and_leaves_the_initial_one() {
        let after = |timeouts| {
            let (mut window, mut ssthresh) = (Window::from_bytes(10_000, 1000), 20.0);
            window.packets = 100.0;
            window.restart(timeouts, &mut ssthresh);
            (window.packets, ssthresh)
        };
        assert_eq!(
            [after(0), after(1), after(3), after(40)],
            [(100.0, 20.0), (50.0, 75.0), (12.5, 75.0), (10.0, 75.0)]
        );
        let (mut window, mut ssthresh) = (Window::from_bytes(10_000, 1000), 90.0);
        window.packets = 4.0;
        window.restart(5, &mut ssthresh);
        assert_eq!((window.packets, ssthresh), (4.0, 90.0), "a small window stays");
    }
}
