//! `ProbeBW`: down, cruise, refill, up, and the long-term bound on the flight.

use super::model::{Latest, ShortTerm};
use super::{Bbr3, State};
use crate::Ack;
use units::{Span, Time};

/// Maximum number of doublings of the long-term bound's slope.
const MAX_UP_ROUNDS: u32 = 30;

/// Kind of ACKs that arrive: for packets sent before, during or after a bandwidth probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    /// ACKs of packets sent before the probe, while the pipe is filled.
    Refilling,
    /// ACKs of packets sent before Up, in Up.
    Starting,
    /// ACKs of packets sent in Up.
    Feedback,
    /// ACKs of packets sent in Up, after its end.
    Stopping,
}

/// State of the bandwidth probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    ack_phase: AckPhase,
    /// True if losses belong to the probe: it sent the lost packets, and there was no reaction yet.
    pub(super) is_sample: bool,
    /// True if the last probe lost too much.
    pub(super) prev_too_high: bool,
    /// True if the last probe ended for caution, when it reached the long-term bound.
    precautionary: bool,
    /// Number of rounds spent in Up.
    up_rounds: u32,
    /// Packets acknowledged in Up since the bound's last growth by a packet, and the number needed for the next growth.
    up_acked: f64,
    up_acked_per_packet: f64,
    /// Beginning of Down, and the time from there to the next probe.
    cycle_start: Time,
    pub(super) wait: Span,
}

impl Probe {
    pub(super) fn new(now: Time) -> Self {
        Self {
            ack_phase: AckPhase::Init,
            is_sample: false,
            prev_too_high: false,
            precautionary: false,
            up_rounds: 0,
            up_acked: 0.0,
            up_acked_per_packet: f64::INFINITY,
            cycle_start: now,
            wait: Span::ZERO,
        }
    }

    /// Ends the probe as soon as the packets in flight are acknowledged.
    pub(super) fn stop_feedback(&mut self) {
        self.ack_phase = AckPhase::Stopping;
    }
}

impl Bbr3 {
    /// Removes the short-term bounds.
    pub(super) fn reset_short_term(&mut self) {
        self.short_term = ShortTerm::UNSET;
    }

    /// Forgets losses, marks and deliveries of this round: a probe caused them, so they do not describe the time after
    /// it.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        self.marks.in_round = false;
        self.latest = Latest::default();
    }

    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.probe.up_acked_per_packet = f64::INFINITY;
        // The wait is random for mixing and fairness: 2 to 3 s, or the rounds that Reno takes to find the bandwidth.
        self.rounds_since_probe = self.rng.below(2);
        let spread_s = self.rng.uniform() * self.settings.probe_wait_spread_s;
        self.probe.wait = Span::from_secs_f64(self.settings.probe_wait_s + spread_s);
        self.probe.cycle_start = now;
        self.probe.stop_feedback();
        self.start_round();
        self.state = State::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        if self.settings.linux && self.short_term.in_flight.is_finite() {
            self.short_term.in_flight = self.short_term.in_flight.min(self.inflight_longterm);
        }
        self.state = State::Cruise;
    }

    pub(super) fn start_refill(&mut self) {
        self.reset_short_term();
        self.probe.up_rounds = 0;
        self.probe.up_acked = 0.0;
        self.probe.precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    fn start_up(&mut self) {
        self.probe.ack_phase = AckPhase::Starting;
        self.start_round();
        self.restart_full_bw();
        self.state = State::Up;
        self.raise_longterm_slope();
    }

    /// Starts the search for a plateau from the present rate.
    fn restart_full_bw(&mut self) {
        // An ACK without a sample has no new rate.
        let bps = self.sample.map_or(self.full_bps, |sample| sample.bps);
        self.reset_full_bw();
        self.full_bps = bps;
    }

    pub(super) fn update_probe_bw(&mut self, ack: &Ack<'_>) {
        if !self.full_bw_reached || self.adapt_longterm(ack) {
            return;
        }
        match self.state {
            State::Down => {
                if self.is_time_to_probe(ack.now) {
                    self.start_refill();
                } else if self.is_time_to_cruise(ack) {
                    self.start_cruise();
                }
            }
            State::Cruise => {
                if self.is_time_to_probe(ack.now) {
                    self.start_refill();
                }
            }
            State::Refill => {
                if self.round_start {
                    self.probe.is_sample = true;
                    self.start_up();
                }
            }
            State::Up => {
                if self.is_time_to_go_down(ack) {
                    self.probe.prev_too_high = false;
                    self.start_down(ack.now);
                }
            }
            State::Startup | State::Drain | State::ProbeRtt => {}
        }
    }

    /// Follows the acknowledgements of a probe, and raises the long-term bound if it proved safe. Returns true if this
    /// decided the next state.
    fn adapt_longterm(&mut self, ack: &Ack<'_>) -> bool {
        if self.probe.ack_phase == AckPhase::Starting && self.round_start {
            self.probe.ack_phase = AckPhase::Feedback;
        }
        if self.probe.ack_phase == AckPhase::Stopping && self.round_start {
            self.probe.is_sample = false;
            self.probe.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if self.sample.is_some_and(|sample| !sample.app_limited) {
                    self.max_bw.advance();
                }
                // After a careful probe without losses a real one follows.
                if self.probe.precautionary && !self.probe.prev_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if self.marks.is_inflight_too_high() {
            if !self.probe.is_sample {
                return false;
            }
            self.on_inflight_too_high(ack.now, self.window.in_packets(ack.newest().in_flight_at_send_bytes));
            return self.state == State::Down;
        }
        if self.is_inflight_too_high(ack) {
            // By Linux' rules an ACK can end a probe, too, not only a lost packet.
            if self.settings.linux && self.probe.is_sample {
                let carried = self.window.in_packets(ack.newest().in_flight_at_send_bytes);
                self.on_inflight_too_high(ack.now, carried);
            }
            return false;
        }
        if self.inflight_longterm.is_finite() {
            let carried = self.window.in_packets(ack.newest().in_flight_at_send_bytes);
            self.inflight_longterm = self.inflight_longterm.max(carried);
            if self.state == State::Up {
                self.probe_longterm_upward(ack);
            }
        }
        false
    }

    /// Raises the long-term bound by 1, 2, 4, ... packets per round while it limits the flight.
    fn probe_longterm_upward(&mut self, ack: &Ack<'_>) {
        if !self.is_limited_by_longterm(ack) {
            return;
        }
        let probe = &mut self.probe;
        probe.up_acked += self.window.in_packets(ack.acked_bytes);
        if probe.up_acked >= probe.up_acked_per_packet {
            let growth = (probe.up_acked / probe.up_acked_per_packet).floor();
            probe.up_acked -= growth * probe.up_acked_per_packet;
            self.inflight_longterm += growth;
        }
        if self.round_start {
            self.raise_longterm_slope();
        }
    }

    fn raise_longterm_slope(&mut self) {
        let growth = f64::from(1_u32 << self.probe.up_rounds);
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(MAX_UP_ROUNDS);
        self.probe.up_acked_per_packet = self.whole(self.window.packets / growth).max(1.0);
    }

    fn is_limited_by_longterm(&self, ack: &Ack<'_>) -> bool {
        ack.window_limited && self.window.packets >= self.inflight_longterm
    }

    fn is_time_to_probe(&self, now: Time) -> bool {
        let rounds = self.target_inflight().min(self.settings.probe_wait_rounds);
        now > self.probe.cycle_start + self.probe.wait || self.rounds_since_probe as f64 >= rounds
    }

    /// Returns the flight that Up and Down compare with; by Linux' rules the flight before this ACK.
    fn in_flight(&self, ack: &Ack<'_>) -> f64 {
        let bytes = if self.settings.linux { ack.in_flight_before_bytes } else { ack.in_flight_bytes };
        self.in_network(bytes, ack.now)
    }

    fn is_time_to_cruise(&self, ack: &Ack<'_>) -> bool {
        let in_flight = self.in_flight(ack);
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight(self.max_bw.get())
    }

    fn is_time_to_go_down(&mut self, ack: &Ack<'_>) -> bool {
        if self.probe.prev_too_high && self.in_flight(ack) >= self.inflight_longterm {
            self.probe.precautionary = true;
            return true;
        }
        if self.is_limited_by_longterm(ack) {
            // The bound keeps the rate from growing, so this is not a plateau of the path.
            self.restart_full_bw();
            return false;
        }
        self.full_bw_now
    }

    /// Returns the target flight, packets: the BDP unless congestion cut the window.
    pub(super) fn target_inflight(&self) -> f64 {
        let bdp = if self.settings.linux { self.inflight(self.bps()) } else { self.bdp(self.bps()) };
        bdp.min(self.window.packets)
    }

    /// Returns the long-term bound less room for other flows; infinite while unset.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm.is_finite() {
            let headroom = self.whole(self.settings.headroom * self.inflight_longterm).max(1.0);
            (self.inflight_longterm - headroom).max(self.settings.min_cwnd)
        } else {
            f64::INFINITY
        }
    }
}
