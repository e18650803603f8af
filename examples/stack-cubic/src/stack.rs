//! The stack's own controller: CUBIC (RFC 9438), bytes and seconds, as a QUIC stack calls it (RFC 9002 appendix B).
//!
//! It knows nothing of dumbbell.

#![allow(clippy::disallowed_methods)] // a stack's own code uses the standard library's mathematics

/// Multiplicative decrease factor (RFC 9438 section 4.6).
const BETA: f64 = if cfg!(feature = "wrong-beta") { 0.8 } else { 0.7 };
/// Scaling constant, segments / s^3 (RFC 9438 section 5.1).
const C: f64 = 0.4;

/// One connection's controller. Windows are in bytes, times in seconds.
#[derive(Debug)]
pub struct Cubic {
    mss: f64,
    window: f64,
    ssthresh: f64,
    /// Window before the last reduction, as fast convergence leaves it.
    w_max: f64,
    /// When this epoch of congestion avoidance began, and the window then.
    epoch: Option<(f64, f64)>,
    /// The window of a Reno flow since then (RFC 9438 section 4.3).
    w_est: f64,
    recovery_began: f64,
    /// When growth was last allowed: time without it is no time of the epoch (RFC 9438 section 4.2).
    grew_at: f64,
}

impl Cubic {
    /// A controller with an initial window.
    pub const fn new(mss: f64, initial_window: f64) -> Self {
        Self {
            mss,
            window: initial_window,
            ssthresh: f64::INFINITY,
            w_max: 0.0,
            epoch: None,
            w_est: 0.0,
            recovery_began: f64::NEG_INFINITY,
            grew_at: f64::NEG_INFINITY,
        }
    }

    /// A packet of `bytes` that left at `sent` is acknowledged; `limited` says whether the window was in use.
    pub fn on_ack(&mut self, now: f64, sent: f64, bytes: f64, rtt: f64, limited: bool) {
        if sent <= self.recovery_began {
            return;
        }
        if !limited {
            self.epoch = self.epoch.map(|(began, start)| (began + (now - self.grew_at).max(0.0), start));
            self.grew_at = now;
            return;
        }
        self.grew_at = now;
        if self.window < self.ssthresh {
            self.window += bytes;
            return;
        }
        let (began, start) = *self.epoch.get_or_insert((now, self.window));
        if now <= began {
            self.w_est = start;
        }
        let w_max = self.w_max.max(start);
        let k = ((w_max - start) / self.mss / C).cbrt();
        let target = C.mul_add((now + rtt - began - k).powi(3), w_max / self.mss) * self.mss;
        let alpha = if self.w_est < self.w_max { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        self.w_est += alpha * self.mss * bytes / self.window;
        let cubic = target.clamp(self.window, 1.5 * self.window);
        self.window += (cubic - self.window) / self.window * bytes;
        self.window = self.window.max(self.w_est);
    }

    /// A packet that left at `sent` is lost, or it is the newest of an ACK that reports CE marks: one reduction for each
    /// round trip.
    pub fn on_congestion(&mut self, now: f64, sent: f64) {
        if sent <= self.recovery_began {
            return;
        }
        self.recovery_began = now;
        self.w_max = if self.window < self.w_max { self.window * (1.0 + BETA) / 2.0 } else { self.window };
        self.window = (self.window * BETA).max(2.0 * self.mss);
        self.ssthresh = self.window;
        self.epoch = None;
    }

    /// Persistent congestion (RFC 9002 section 7.6): the losses have reduced the threshold before.
    pub fn on_persistent_congestion(&mut self) {
        self.window = 2.0 * self.mss;
        self.recovery_began = f64::NEG_INFINITY;
        self.epoch = None;
    }

    /// Bytes that may be in flight.
    pub const fn window(&self) -> f64 {
        self.window
    }

    /// Where slow start ends, bytes.
    pub const fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}
