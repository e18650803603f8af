//! Effects of losses: they end probes and set the long-term bound; a spurious episode is undone.

use super::model::ShortTerm;
use super::{Bbr3, State};
use crate::{Ack, AckedPacket};
use units::Time;

/// State to restore if a loss episode was spurious.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// State that the losses ended.
    pub(super) state: Option<State>,
    short_term: ShortTerm,
    /// Long-term bound, packets.
    inflight_longterm: f64,
}

impl Default for Undo {
    /// Returns an undo that restores nothing.
    fn default() -> Self {
        Self { state: None, short_term: ShortTerm { bps: 0.0, in_flight: 0.0 }, inflight_longterm: 0.0 }
    }
}

impl Bbr3 {
    pub(super) fn save_for_undo(&mut self) {
        self.undo =
            Undo { state: None, short_term: self.short_term, inflight_longterm: self.inflight_longterm };
    }

    pub(super) fn undo_losses(&mut self) {
        let Undo { state, short_term, inflight_longterm } = std::mem::take(&mut self.undo);
        self.restore_cwnd();
        self.in_recovery = false;
        self.timeout_until = None;
        self.loss_in_round = false;
        self.reset_full_bw();
        self.short_term.bps = self.short_term.bps.max(short_term.bps);
        self.short_term.in_flight = self.short_term.in_flight.max(short_term.in_flight);
        self.inflight_longterm = self.inflight_longterm.max(inflight_longterm);
        if self.settings.linux {
            return;
        }
        match state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_refill();
            }
            _ => {}
        }
    }

    /// Returns true if too much was lost since the newest acknowledged packet left, relative to its flight.
    pub(super) fn is_inflight_too_high(&self, ack: &Ack<'_>) -> bool {
        let newest = ack.newest();
        let lost = self.lost_bytes.saturating_sub(newest.lost_at_send_bytes);
        lost as f64 > self.settings.loss_threshold * newest.in_flight_at_send_bytes as f64
    }

    pub(super) fn on_lost_packet(&mut self, now: Time, packet: &AckedPacket) {
        self.lost_bytes += u64::from(packet.bytes);
        if packet.number != self.next_in_lost_range {
            self.lost_ranges += 1;
        }
        self.next_in_lost_range = packet.number + 1;
        self.note_loss();
        if !self.probe.is_sample {
            return;
        }
        let threshold = self.settings.loss_threshold;
        let in_flight = self.window.in_packets(packet.in_flight_at_send_bytes);
        let lost = self.window.in_packets(self.lost_bytes.saturating_sub(packet.lost_at_send_bytes));
        if lost <= threshold * in_flight {
            return;
        }
        // The bound is the part of this packet (a burst, in the draft's model) that still fitted.
        let size = self.window.in_packets(u64::from(packet.bytes));
        let before = (in_flight - size).max(0.0);
        let budget = threshold * before;
        let lost_prefix = if self.settings.linux {
            self.whole((budget.ceil() - (lost - size)).max(0.0) / (1.0 - threshold).max(f64::EPSILON))
        } else {
            (budget - (lost - size)) / (1.0 - threshold).max(f64::EPSILON)
        };
        self.on_inflight_too_high(now, (before + lost_prefix).max(0.0));
    }

    fn note_loss(&mut self) {
        if !self.loss_in_round {
            self.loss_round_delivered = self.delivered_bytes;
            self.loss_in_round = true;
        }
    }

    /// Handles a timeout by Linux' rules: all packets in flight count as lost, and the short-term bound begins at the
    /// window before the timeout.
    pub(super) fn lose_all(&mut self, now: Time, in_flight_bytes: u64) {
        if !self.settings.linux || in_flight_bytes == 0 {
            return;
        }
        self.note_loss();
        let in_flight = self.window.in_packets(in_flight_bytes);
        if self.probe.is_sample {
            self.on_inflight_too_high(now, (in_flight - 1.0).max(0.0));
        }
        self.reset_full_bw();
        let is_probing = matches!(self.state, State::Startup | State::Refill | State::Up);
        if !is_probing && self.short_term.in_flight.is_infinite() {
            self.short_term.in_flight = self.window.packets.max(self.prior_cwnd);
        }
    }

    /// Handles a probe with `in_flight` packets that lost too much or was marked too often; once per probe.
    pub(super) fn on_inflight_too_high(&mut self, now: Time, in_flight: f64) {
        self.probe.prev_too_high = true;
        self.probe.is_sample = false;
        if !self.app_limited {
            self.inflight_longterm = in_flight.max(self.settings.beta * self.target_inflight());
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now);
        }
    }
}
