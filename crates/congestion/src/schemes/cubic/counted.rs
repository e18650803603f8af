//! CUBIC's growth in whole packets, as in the Linux kernel (v5.15, `net/ipv4/tcp_cubic.c`) and ns-3.41
//! (`src/internet/model/tcp-cubic.cc`). The window grows by one packet for every `count` acknowledged packets; `count`
//! is a quotient of whole numbers.

use super::{Cubic, Epoch, Phase};
use crate::Ack;

/// Maximum number of packets acknowledged per packet of growth before the first loss (ns-3: `CntClamp`).
const FIRST_COUNT: f64 = 20.0;
/// Minimum number of packets acknowledged per packet of growth: half a window per RTT.
const LEAST_COUNT: f64 = 2.0;
/// Number of packets acknowledged per packet of growth at and above the target, in windows.
const AT_TARGET: f64 = 100.0;

/// Counts of acknowledged packets that have not caused growth yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counter {
    /// Count for the window.
    window: f64,
    /// Count for the window that Reno would have.
    reno: f64,
    /// True if a reduction keeps the count for the window, as in ns-3.
    is_kept: bool,
}

impl Counter {
    pub(super) const fn new(is_kept: bool) -> Self {
        Self { window: 0.0, reno: 0.0, is_kept }
    }

    /// Resets the count for the window at a reduction (Linux v6.12, `net/ipv4/tcp_input.c`, `tcp_init_cwnd_reduction`).
    pub(super) const fn begin_episode(&mut self) {
        if !self.is_kept {
            self.window = 0.0;
        }
    }
}

impl Cubic {
    /// Grows the window in congestion avoidance after `acked` packets.
    pub(super) fn grow_counted(&mut self, ack: &Ack<'_>, acked: f64, mut counter: Counter) {
        let cwnd = self.state.window.packets.floor();
        counter.window += acked;
        let mut epoch = self.state.epoch.unwrap_or_else(|| {
            counter.reno = 0.0;
            Epoch { w_est: cwnd, ..self.begin_epoch(ack.now) }
        });
        counter.reno += acked;
        let t = ack.now + ack.min_rtt - epoch.began;
        let below = t.as_secs_f64() < epoch.k;
        let distance = (epoch.cubic(self.c, t) - epoch.origin).abs().floor();
        let target = if below { epoch.origin - distance } else { epoch.origin + distance };
        let mut count = AT_TARGET * cwnd;
        if target > cwnd {
            count = (cwnd / (target - cwnd)).floor();
        }
        if self.state.w_max == 0.0 {
            count = count.min(FIRST_COUNT);
        }
        epoch.phase = if below { Phase::Concave } else { Phase::Convex };
        if self.reno_friendly {
            // Reno's window with this beta grows by one packet per `share` acknowledged packets.
            let share = (cwnd * (8.0 / self.alpha).floor() / 8.0).floor().max(1.0);
            let grown = ((counter.reno / share).ceil() - 1.0).max(0.0);
            counter.reno -= grown * share;
            epoch.w_est += grown;
            if epoch.w_est > cwnd {
                let most = (cwnd / (epoch.w_est - cwnd)).floor();
                if count > most {
                    (count, epoch.phase) = (most, Phase::RenoFriendly);
                }
            }
        }
        let count = count.max(LEAST_COUNT);
        if counter.window >= count {
            counter.window -= count;
            self.state.window.packets += 1.0;
        }
        self.state.epoch = Some(epoch);
        self.counter = Some(counter);
    }
}
