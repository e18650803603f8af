//! Undo of a reduction after a spurious loss.

use super::Window;

/// Window and ssthresh, packets, before the latest reduction on loss.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo(Option<(f64, f64)>);

impl Undo {
    /// Saves window and ssthresh before a loss reduces them.
    pub(crate) fn remember(&mut self, window: Window, ssthresh: f64) {
        self.0 = Some((window.packets, ssthresh));
    }

    /// Drops the saved values after a reduction for another reason than loss.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }

    /// Restores the saved values if the present ones are smaller, once (Linux v6.12, `net/ipv4/tcp_cong.c`,
    /// `tcp_reno_undo_cwnd`).
    pub(crate) fn restore(&mut self, window: &mut Window, ssthresh: &mut f64) {
        if let Some((packets, before)) = self.0.take() {
            window.packets = window.packets.max(packets);
            *ssthresh = ssthresh.max(before);
        }
    }
}
