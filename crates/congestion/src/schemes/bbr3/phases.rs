//! Startup, Drain and `ProbeRTT`.

use super::{Bbr3, State};
use crate::Ack;
use units::Time;

/// Rounds after which Drain ends even if the queue does not: the bandwidth was overestimated.
const MAX_DRAIN_ROUNDS: u64 = 3;

/// Progress of `ProbeRTT` once what is in flight has come down.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeRtt {
    /// Earliest end.
    done_at: Time,
    /// Whether a round trip has passed since.
    has_passed_round: bool,
}

impl Bbr3 {
    /// Startup also ends if a full round in recovery lost too much, in several places.
    pub(super) fn check_startup_losses(&mut self, ack: &Ack<'_>) {
        if !self.loss_round_start {
            return;
        }
        let is_high = self.lost_ranges >= self.settings.startup_full_loss_count
            && ack.in_recovery
            && self.is_inflight_too_high(ack);
        self.lost_ranges = 0;
        if self.state == State::Startup && !self.full_bw_reached && is_high {
            self.undo.state = Some(State::Startup);
            self.leave_full_startup();
        }
    }

    /// Startup has found more than the path holds.
    pub(super) fn leave_full_startup(&mut self) {
        self.full_bw_now = true;
        self.full_bw_reached = true;
        self.inflight_longterm = self.bdp(self.bps()).max(self.latest.in_flight);
    }

    pub(super) fn check_startup_and_drain(&mut self, ack: &Ack<'_>) {
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.round_count;
        }
        if self.state == State::Drain {
            let is_drained = self.window.in_packets(ack.in_flight_bytes) <= self.inflight(self.bps());
            if is_drained || self.round_count > self.drain_start_round + MAX_DRAIN_ROUNDS {
                self.start_down(ack.now);
            }
        }
    }

    pub(super) fn update_min_rtt(&mut self, ack: &Ack<'_>) {
        let (interval, window) = (self.settings.probe_rtt_interval, self.settings.min_rtt_window);
        self.min_rtt.update(ack.now, ack.rtt, interval, window);
        if self.state != State::ProbeRtt && self.min_rtt.is_probe_due && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt = None;
            self.probe.stop_feedback();
            self.start_round();
            self.limited.0 = ack.delivered_bytes;
        }
        if self.state == State::ProbeRtt {
            self.run_probe_rtt(ack);
        }
        self.idle_restart = false;
    }

    /// Most packets in flight during `ProbeRTT`.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        (self.settings.probe_rtt_cwnd_gain * self.bdp(self.bps())).max(self.settings.min_cwnd)
    }

    fn run_probe_rtt(&mut self, ack: &Ack<'_>) {
        self.limited.1 = ack.delivered_bytes + ack.in_flight_bytes;
        if let Some(probe) = &mut self.probe_rtt {
            probe.has_passed_round |= self.round_start;
            if probe.has_passed_round {
                self.try_end_probe_rtt(ack.now);
            }
        } else if self.window.in_packets(ack.in_flight_bytes) <= self.probe_rtt_cwnd() {
            let done_at = ack.now + self.settings.probe_rtt_time;
            self.probe_rtt = Some(ProbeRtt { done_at, has_passed_round: false });
            self.start_round();
        }
    }

    pub(super) fn try_end_probe_rtt(&mut self, now: Time) {
        if self.probe_rtt.is_none_or(|probe| now <= probe.done_at) {
            return;
        }
        self.min_rtt.probe_at = now;
        self.restore_cwnd();
        self.reset_short_term();
        if self.full_bw_reached {
            // The clock of bandwidth probing starts anew; the queue is gone already.
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
