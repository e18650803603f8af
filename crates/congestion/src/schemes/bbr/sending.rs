//! Limits of BBR: pacing rate, send quantum, window, and the window during recovery.

use super::{Bbr, Mode};
use crate::{Ack, Loss};
use std::mem;
use units::{Rate, Span, Time};

/// Maximum send quantum, bytes.
const MAX_QUANTUM_BYTES: f64 = 65_536.0;
/// Maximum number of packets per quantum.
const MAX_QUANTUM_PACKETS: f64 = 127.0;
/// Send quantum: 1/1024 s at the pacing rate (Linux's pacing shift of 10).
const QUANTA_PER_S: f64 = 1024.0;
/// Pacing rate below which the minimum quantum is one packet instead of two, bit/s.
const SLOW_BPS: u64 = 1_200_000;
/// Minimum rate: a bandwidth that rounds to nothing still lets packets leave.
const SLOWEST: Rate = Rate::from_bps(1);
/// Packets in flight before the first RTT sample (TCP's initial window).
const INITIAL_CWND: f64 = 10.0;

/// State of TCP's loss recovery, as far as Linux's BBR uses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// `TCP_CA_Open` to `TCP_CA_CWR`.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// State after a timeout, until this much has been delivered.
    Loss { until_delivered_bytes: u64 },
}

/// Recovery at the last ACK (Linux: `prev_ca_state`), and losses since.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    state: State,
    /// True in the first round of recovery: one packet leaves for each that left the network.
    pub(super) conserves_packets: bool,
    has_loss: bool,
    has_lost_retransmission: bool,
}

impl Recovery {
    pub(super) fn note_loss(&mut self, loss: &Loss<'_>) {
        self.has_loss = true;
        self.has_lost_retransmission |= loss.packets.iter().any(|packet| packet.retransmission);
    }

    pub(super) fn enter_loss(&mut self, until_delivered_bytes: u64) {
        self.state = State::Loss { until_delivered_bytes };
        self.has_loss = false;
        self.has_lost_retransmission = false;
    }

    /// Handles a spurious timeout: the next ACK ends the state after it.
    pub(super) const fn end_loss(&mut self) {
        if let State::Loss { until_delivered_bytes } = &mut self.state {
            *until_delivered_bytes = 0;
        }
    }

    /// Returns true if TCP was in fast recovery at the last ACK.
    pub(super) fn is_fast(&self) -> bool {
        self.state == State::Recovery
    }

    /// Returns the state after `ack`. An episode that ECN marks began, without a loss, is not recovery.
    fn next(&mut self, ack: &Ack<'_>) -> State {
        let has_loss = mem::take(&mut self.has_loss);
        let has_lost_retransmission = mem::take(&mut self.has_lost_retransmission);
        match self.state {
            State::Loss { until_delivered_bytes: until }
                if ack.delivered_bytes < until && !(has_lost_retransmission && ack.in_recovery) =>
            {
                self.state
            }
            State::Open if !has_loss => State::Open,
            _ if ack.in_recovery => State::Recovery,
            _ => State::Open,
        }
    }
}

impl Bbr {
    pub(super) fn initial_pacing(&self, rtt: Span) -> Rate {
        let bytes = (self.window.packets * self.mss_bytes) as u64;
        let rate = Rate::from_bytes_per(bytes, rtt.max(Span::from_us(1)));
        rate.mul_f64(self.settings.startup_gain * (1.0 - self.settings.pacing_margin)).max(SLOWEST)
    }

    /// Sets the pacing rate to `gain` times the bandwidth; before the pipe is full the rate only rises.
    pub(super) fn set_pacing(&mut self, gain: f64) {
        let bps = self.bw_bps() as f64 * gain * (1.0 - self.settings.pacing_margin);
        let rate = Rate::from_bps_f64(bps);
        if self.is_pipe_full || rate > self.pacing {
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
        let least = if self.pacing.bps() < SLOW_BPS { 1.0 } else { 2.0 };
        let bytes = (self.pacing.bytes_per_sec() / QUANTA_PER_S).min(MAX_QUANTUM_BYTES);
        (bytes / self.mss_bytes).floor().max(least).min(MAX_QUANTUM_PACKETS)
    }

    /// Returns `gain` bandwidth-delay products, whole packets.
    fn bdp(&self, bps: u64, gain: f64) -> f64 {
        self.min_rtt.map_or(INITIAL_CWND, |min_rtt| {
            (gain * bps as f64 / 8.0 * min_rtt.as_secs_f64() / self.mss_bytes).ceil()
        })
    }

    /// Adds room for bursts on both ends. The result is even, for receivers that acknowledge every other packet, and
    /// allows a probe of a tiny BDP.
    fn with_quanta(&self, packets: f64) -> f64 {
        let padded = (packets + 3.0 * self.send_quantum()).ceil();
        let even = 2.0 * (padded / 2.0).ceil();
        if self.mode == Mode::ProbeBw && self.cycle_index == 0 { even + 2.0 } else { even }
    }

    /// Returns the packets in flight that a pacing gain of `gain` leads to.
    pub(super) fn in_flight_at(&self, bps: u64, gain: f64) -> f64 {
        self.with_quanta(self.bdp(bps, gain))
    }

    /// Updates the pacer's state after the departure of `bytes`.
    pub(super) fn note_departure(&mut self, now: Time, bytes: u32) {
        let quantum = self.pacing.time_for((self.send_quantum() * self.mss_bytes) as u64);
        let next = self.departure.max(now) + self.pacing.time_for(u64::from(bytes));
        self.departure = next.min(now + quantum);
    }

    /// Returns how many packets of `in_flight_bytes` will be in the network when the next packet leaves. If the flight
    /// is to grow, the next quantum counts, too (Linux: `bbr_packets_in_net_at_edt`).
    pub(super) fn in_flight_at_departure(&self, now: Time, in_flight_bytes: u64) -> f64 {
        let delivered = (self.packets_per_s() * (self.departure.max(now) - now).as_secs_f64()).floor();
        let leaving = if self.pacing_gain() > 1.0 { self.send_quantum() } else { 0.0 };
        (self.window.in_packets(in_flight_bytes) + leaving - delivered).max(0.0)
    }

    /// Saves the window at the start of recovery or `PROBE_RTT`, unless one of them has already reduced it.
    pub(super) fn save_cwnd(&mut self) {
        self.prior_cwnd = if self.recovery.state == State::Open && self.mode != Mode::ProbeRtt {
            self.window.packets
        } else {
            self.prior_cwnd.max(self.window.packets)
        };
    }

    pub(super) fn update_cwnd(&mut self, ack: &Ack<'_>) {
        let acked = self.window.in_packets(ack.acked_bytes);
        self.follow_recovery(ack, acked);
        if self.recovery.conserves_packets {
            let outstanding = self.window.in_packets(ack.in_flight_bytes) + acked;
            self.window.packets = self.window.packets.max(outstanding);
        } else {
            let mut target = self.bdp(self.bw_bps(), self.cwnd_gain());
            if self.settings.extra_acked && self.is_pipe_full {
                target += self.aggregation.allowance(self.packets_per_s()).floor();
            }
            target = self.with_quanta(target);
            let delivered = self.window.in_packets(ack.delivered_bytes);
            if self.is_pipe_full {
                self.window.packets = (self.window.packets + acked).min(target);
            } else if self.window.packets < target || delivered < INITIAL_CWND {
                self.window.packets += acked;
            }
            self.window.packets = self.window.packets.max(self.settings.min_cwnd);
        }
        if self.mode == Mode::ProbeRtt {
            self.window.packets = self.window.packets.min(self.settings.min_cwnd);
        }
    }

    /// Follows recovery: losses reduce the window at once, entering recovery conserves packets for a round, and leaving
    /// it restores the window. An event within recovery does neither (Linux: `bbr_set_cwnd_to_recover_or_restore`).
    fn follow_recovery(&mut self, ack: &Ack<'_>, acked: f64) {
        let before = self.recovery.state;
        let now = self.recovery.next(ack);
        self.recovery.state = now;
        self.window.packets = (self.window.packets - self.window.in_packets(ack.lost_bytes)).max(1.0);
        if now == State::Recovery && before != State::Recovery {
            self.recovery.conserves_packets = true;
            self.next_round_delivered = ack.delivered_bytes;
            self.window.packets = (self.window.in_packets(ack.in_flight_bytes) + acked).max(1.0);
        } else if now == State::Open && before != State::Open {
            self.recovery.conserves_packets = false;
            self.window.packets = self.window.packets.max(self.prior_cwnd);
        }
    }
}
