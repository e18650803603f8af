//! What takes back a reduction after a loss that was none.

use super::Window;

/// Window and ssthresh, packets, before the latest reduction on loss.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo(Option<(f64, f64)>);

impl Undo {
    /// Remembers both, before a loss reduces them.
    pub(crate) fn remember(&mut self, window: Window, ssthresh: f64) {
        self.0 = Some((window.packets, ssthresh));
    }

    /// Forgets them: something else than a loss has reduced the window.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }

    /// Brings both back where they are smaller now, once (Linux v6.12, `net/ipv4/tcp_cong.c`, `tcp_reno_undo_cwnd`).
    pub(crate) fn restore(&mut self, window: &mut Window, ssthresh: &mut f64) {
        if let Some((packets, before)) = self.0.take() {
            window.packets = window.packets.max(packets);
            *ssthresh = ssthresh.max(before);
        }
    }
}
