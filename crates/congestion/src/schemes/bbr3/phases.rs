//! Startup, Drain and `ProbeRTT`.

use super::{Bbr3, State};
use crate::Ack;
use units::Time;

/// Maximum number of rounds in Drain. If the queue lasts longer, the bandwidth was overestimated.
const MAX_DRAIN_ROUNDS: u64 = 3;

/// Progress of `ProbeRTT` once the flight has come down.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeRtt {
    /// Earliest end.
    done_at: Time,
    /// True if a round trip has passed since then.
    has_passed_round: bool,
}

impl Bbr3 {
    /// Ends Startup if a full round in recovery lost too much, in several places.
    pub(super) fn check_startup_losses(&mut self, ack: &Ack<'_>) {
        // Linux counts the ACKs that reported losses.
        self.loss_events += u32::from(ack.lost_bytes > 0);
        if !self.loss_round_start {
            return;
        }
        let losses = if self.settings.linux { self.loss_events } else { self.lost_ranges };
        let is_high = losses >= self.settings.startup_full_loss_count
            && ack.in_recovery
            && self.is_inflight_too_high(ack);
        self.lost_ranges = 0;
        self.loss_events = 0;
        if self.state == State::Startup && !self.full_bw_reached && is_high {
            self.undo.state = Some(State::Startup);
            self.leave_full_startup();
        }
    }

    /// Ends Startup: it has found more than the path holds.
    pub(super) fn leave_full_startup(&mut self) {
        self.full_bw_reached = true;
        let bdp = if self.settings.linux {
            self.inflight(self.max_bw.get())
        } else {
            self.full_bw_now = true;
            self.bdp(self.bps())
        };
        self.inflight_longterm = bdp.max(self.latest.in_flight);
    }

    pub(super) fn check_startup_and_drain(&mut self, ack: &Ack<'_>) {
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.round_count;
            if self.settings.linux {
                self.reset_congestion_signals();
            }
        }
        if self.state == State::Drain {
            let (bps, most_rounds) = if self.settings.linux {
                (self.max_bw.get(), u64::MAX)
            } else {
                (self.bps(), MAX_DRAIN_ROUNDS)
            };
            let is_drained = self.in_network(ack.in_flight_bytes, ack.now) <= self.inflight(bps);
            if is_drained || self.round_count - self.drain_start_round > most_rounds {
                self.start_down(ack.now);
            }
        }
    }

    pub(super) fn update_min_rtt(&mut self, ack: &Ack<'_>) {
        self.min_rtt.update(ack.now, ack.rtt, &self.settings);
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

    /// Returns the maximum number of packets in flight during `ProbeRTT`.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_times(self.settings.probe_rtt_cwnd_gain, self.bps()).max(self.settings.min_cwnd)
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
            // The clock of bandwidth probing restarts; the queue is gone already.
            self.start_down(now);
            self.start_cruise();
        } else {
            self.state = State::Startup;
        }
    }
}
