//! Additive growth in whole packets.

use super::Window;

/// Number of packets acknowledged since the window last grew in congestion avoidance. The window grows by one packet
/// per window of them, as Linux counts (v6.12, `net/ipv4/tcp_cong.c`, `tcp_cong_avoid_ai`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    packets: f64,
}

impl Counted {
    /// Counts `acked` packets and grows the window.
    pub(crate) fn grow(&mut self, window: &mut Window, acked: f64) {
        self.packets += acked;
        let whole = window.packets.floor().max(1.0);
        if self.packets >= whole {
            self.packets -= whole;
            window.packets += 1.0;
        }
    }

    /// Grows the window like Linux's Reno after `acked` packets: in slow start by all of them, up to `ssthresh`.
    pub(crate) fn grow_like_reno(&mut self, window: &mut Window, ssthresh: f64, acked: f64) {
        if window.packets < ssthresh {
            window.packets = (window.packets + acked).min(ssthresh);
        } else {
            self.grow(window, acked);
        }
    }

    /// Resets the count at the beginning of an episode.
    pub(crate) fn reset(&mut self) {
        self.packets = 0.0;
    }
}
