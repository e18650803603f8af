//! Limits of BBR: pacing rate, send quantum, window.

use super::{Bbr3, State};
use crate::Ack;
use units::{Rate, Span, Time};

/// Maximum send quantum, bytes.
const MAX_QUANTUM_BYTES: f64 = 65_536.0;
/// Number of send quanta per second: each is 1 ms at the pacing rate.
const QUANTA_PER_S: f64 = 1000.0;
/// Minimum send quantum, packets.
const MIN_QUANTUM: f64 = 2.0;
/// Constants of Linux's send quantum. Linux shifts by 10 bits, adds 64 KB halved for every 512 us of RTT, counts whole
/// packets, and leaves room for headers.
const LINUX_QUANTA_PER_S: f64 = 1024.0;
const LINUX_HALVED_EVERY_US: u64 = 512;
const LINUX_MAX_QUANTUM_BYTES: f64 = 65_536.0 - 1.0 - 320.0;
/// Maximum allowance for ACK aggregation in Linux, as a time at the bandwidth.
const LINUX_MAX_EXTRA: Span = Span::from_ms(100);
/// Number of quanta that the two ends and the pacer may hold.
const OFFLOAD_QUANTA: f64 = 3.0;
/// Room for the probe itself if the BDP is tiny, packets.
const UP_ALLOWANCE: f64 = 2.0;
/// Minimum rate: a bandwidth that rounds to nothing still lets packets leave.
const SLOWEST: Rate = Rate::from_bps(1);

impl Bbr3 {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.settings.startup_pacing_gain,
            State::Drain => self.settings.drain_pacing_gain,
            State::Down => self.settings.down_pacing_gain,
            State::Up => self.settings.up_pacing_gain,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => self.settings.up_cwnd_gain,
            State::ProbeRtt => self.settings.probe_rtt_cwnd_gain,
            _ => self.settings.cwnd_gain,
        }
    }

    pub(super) fn initial_pacing(&self, rtt: Span) -> Rate {
        let bytes = (self.initial_window * self.mss_bytes) as u64;
        let rate = Rate::from_bytes_per(bytes, rtt.max(Span::from_us(1)));
        let margin = if self.settings.linux { self.settings.pacing_margin } else { 0.0 };
        rate.mul_f64(self.settings.startup_pacing_gain * (1.0 - margin)).max(SLOWEST)
    }

    /// Sets the pacing rate to `gain` times the bandwidth; before the pipe is full the rate only rises.
    pub(super) fn set_pacing(&mut self, gain: f64) {
        let rate = Rate::from_bps_f64(self.bps() * gain * (1.0 - self.settings.pacing_margin));
        if self.full_bw_reached || rate > self.pacing {
            self.pacing = rate.max(SLOWEST);
        }
    }

    pub(super) fn update_pacing(&mut self, srtt: Span) {
        if !self.has_seen_rtt && !srtt.is_zero() {
            self.has_seen_rtt = true;
            self.pacing = self.initial_pacing(srtt);
        }
        self.set_pacing(self.pacing_gain());
    }

    /// Returns the number of packets that leave back to back.
    pub(super) fn send_quantum(&self) -> f64 {
        if self.settings.linux {
            let halvings =
                self.min_rtt.rtt.map_or(u64::MAX, |rtt| rtt.as_ns() / 1000 / LINUX_HALVED_EVERY_US);
            let allowance = if halvings < 32 { f64::from(65_536_u32 >> halvings) } else { 0.0 };
            let bytes = self.pacing.bytes_per_sec() / LINUX_QUANTA_PER_S + allowance;
            return (bytes.min(LINUX_MAX_QUANTUM_BYTES) / self.mss_bytes).floor().max(MIN_QUANTUM);
        }
        let bytes = (self.pacing.bytes_per_sec() / QUANTA_PER_S).min(MAX_QUANTUM_BYTES);
        (bytes / self.mss_bytes).max(MIN_QUANTUM)
    }

    /// Returns a number of packets, which by Linux' rules is whole.
    pub(super) fn whole(&self, packets: f64) -> f64 {
        if self.settings.linux { packets.floor() } else { packets }
    }

    /// Converts `bytes` in flight to packets. By Linux' rules these are the packets in the network when the next burst
    /// may leave. Deliveries until then do not count; the burst counts if the rate is above the bandwidth.
    pub(super) fn in_network(&self, bytes: u64, now: Time) -> f64 {
        let in_flight = self.window.in_packets(bytes);
        if !self.settings.linux {
            return in_flight;
        }
        let wait = self.next_departure.max(now) - now;
        let delivered = (self.bps() / 8.0 * wait.as_secs_f64() / self.mss_bytes).floor();
        let burst = if self.pacing_gain() > 1.0 { self.send_quantum() } else { 0.0 };
        (in_flight + burst - delivered).max(0.0)
    }

    /// Updates the pacer's state after a departure.
    pub(super) fn note_departure(&mut self, now: Time, bytes: u32) {
        self.next_departure = self.next_departure.max(now) + self.pacing.time_for(u64::from(bytes));
    }

    /// Returns at least the flight that keeps the pipe full in spite of bursts at both ends.
    fn with_budget(&self, packets: f64) -> f64 {
        let budget = packets.max(OFFLOAD_QUANTA * self.send_quantum()).max(self.settings.min_cwnd);
        if self.state == State::Up { budget + UP_ALLOWANCE } else { budget }
    }

    /// Returns `gain` BDPs of `bps`, packets; Linux rounds up.
    pub(super) fn bdp_times(&self, gain: f64, bps: f64) -> f64 {
        let packets = gain * self.bdp(bps);
        if self.settings.linux { packets.ceil() } else { packets }
    }

    /// Returns the packets in flight at one BDP of `bps`.
    pub(super) fn inflight(&self, bps: f64) -> f64 {
        self.with_budget(self.bdp_times(1.0, bps))
    }

    /// Saves the window at the start of recovery or `ProbeRTT`, unless one of them has already reduced it.
    pub(super) fn save_cwnd(&mut self) {
        let is_cut = self.in_recovery || self.timeout_until.is_some() || self.state == State::ProbeRtt;
        self.prior_cwnd = if is_cut { self.prior_cwnd.max(self.window.packets) } else { self.window.packets };
    }

    pub(super) fn restore_cwnd(&mut self) {
        self.window.packets = self.window.packets.max(self.prior_cwnd);
    }

    /// Restores the saved window at the end of recovery; the model's bounds still hold.
    pub(super) fn follow_recovery(&mut self, ack: &Ack<'_>) {
        let has_recovered = self.in_recovery && !ack.in_recovery;
        let has_restarted = self.timeout_until.is_some_and(|until| ack.delivered_bytes >= until);
        if has_recovered || has_restarted {
            self.in_recovery = false;
            self.timeout_until = None;
            // Linux has kept the window during recovery.
            if has_restarted || !self.settings.linux {
                self.restore_cwnd();
            }
        }
    }

    pub(super) fn update_cwnd(&mut self, ack: &Ack<'_>) {
        let acked = self.window.in_packets(ack.acked_bytes);
        let extra = if self.settings.extra_acked { self.extra_allowance() } else { 0.0 };
        let most = self.with_budget(self.bdp_times(self.cwnd_gain(), self.bps()) + extra);
        let is_beginning = if self.settings.linux {
            self.window.packets < 2.0 * self.initial_window
        } else {
            (ack.delivered_bytes as f64) < self.initial_window * self.mss_bytes
        };
        let cwnd = &mut self.window.packets;
        if self.full_bw_reached {
            *cwnd = (*cwnd + acked).min(most);
        } else if *cwnd < most || is_beginning {
            *cwnd += acked;
        }
        *cwnd = cwnd.max(self.settings.min_cwnd);
        if self.state == State::ProbeRtt {
            self.window.packets = self.window.packets.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    fn extra_allowance(&self) -> f64 {
        let extra = self.extra_acked.get();
        if self.settings.linux {
            extra.min(self.whole(self.bps() / 8.0 * LINUX_MAX_EXTRA.as_secs_f64() / self.mss_bytes))
        } else {
            extra
        }
    }

    /// Applies the bounds that losses have set.
    fn bound_cwnd(&mut self) {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let cap = long_term.min(self.short_term.in_flight).max(self.settings.min_cwnd);
        self.window.packets = self.window.packets.min(cap);
    }
}
