//! BBR v1: paces at the maximum delivery rate of ten rounds, with a window of two bandwidth-delay products.
//!
//! Source: Linux v5.1 to v6.6, `net/ipv4/tcp_bbr.c`, and draft-cardwell-iccrg-bbr-congestion-control-00. Read the model
//! first (`mod.rs`), then the limits (`sending.rs`), policers (`policer.rs`) and ACK aggregation (`aggregation.rs`).
//!
//! Deviations from Linux:
//!
//! - The bandwidth maximum is exact; Linux approximates it with three samples.
//! - Rates and windows are not rounded to 1/256 and to whole packets, except if the algorithm rounds up.
//! - The state after a timeout (`TCP_CA_Loss`) ends when as much was delivered as the timeout declared lost. Linux
//!   leaves it then, without SACK reneging.
//! - BBR does its own recovery: the transport must not apply PRR to it. CE marks are ignored, as in Linux.
//!
//! Expected: a lone flow gets 97-99 % of the link (1 % margin, 2 % `PROBE_RTT`) with a short queue. Random loss `p` up
//! to about 15 % costs little more than itself. The reason: between two probes pacing follows the delivered bytes, not
//! the sent ones, so about `0.99 (1 - p)^2` of the link arrives. Several flows share a queue of about one BDP.

mod aggregation;
mod policer;
mod sending;
mod settings;
#[cfg(test)]
mod tests;

use crate::parts::{Window, WindowedMax};
use crate::{
    Ack, Build, Control, Controller, Entry, FieldSink, Loss, Parameters, RateSample, Sent, Start, Timeout,
    TimeoutKind,
};
use aggregation::Aggregation;
use policer::Policer;
use sending::Recovery;
use settings::Settings;
use units::{Rate, Rng, Span, Time};

/// Number of phases of the `PROBE_BW` gain cycle: up, down, six times level.
const CYCLE_PHASES: u64 = 8;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "bbr",
    summary: "BBR v1 as in Linux 5.x (Cardwell et al. 2016)",
    parameters: settings::PARAMETERS,
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Bbr::new(parameters, start))),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Progress of `PROBE_RTT` once the window has come down.
#[derive(Clone, Copy, Debug)]
struct ProbeRtt {
    /// Earliest end.
    done_at: Time,
    /// True if a round trip has passed at the small window.
    has_passed_round: bool,
}

#[derive(Debug)]
struct Bbr {
    settings: Settings,
    mss_bytes: f64,
    rng: Rng,
    mode: Mode,
    /// Maximum delivery rate of the last rounds, bit/s by round number.
    max_bps: WindowedMax<u64>,
    /// Value of the filter, bit/s; kept when samples stop.
    bps: u64,
    policer: Policer,
    aggregation: Aggregation,
    round_count: u64,
    round_start: bool,
    /// Delivered count at the end of the round: the round ends when a packet sent at this count is acknowledged.
    next_round_delivered: u64,
    delivered_bytes: u64,
    lost_bytes: u64,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    probe_rtt: Option<ProbeRtt>,
    /// Delivered counts between which packets were sent at the small window of `PROBE_RTT`: their rate samples are
    /// application-limited.
    limited: (u64, u64),
    full_bps: u64,
    full_bw_count: u32,
    is_pipe_full: bool,
    cycle_index: u64,
    cycle_start: Time,
    window: Window,
    /// Window to restore after recovery or `PROBE_RTT`, packets.
    prior_cwnd: f64,
    recovery: Recovery,
    pacing: Rate,
    /// Departure time of the next packet at the pacing rate.
    departure: Time,
    has_seen_rtt: bool,
    /// True if the application limited the sender at the last ACK.
    app_limited: bool,
    idle_restart: bool,
}

impl Bbr {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let settings = Settings::new(parameters);
        let rounds = |name| parameters.integer(name) as u32;
        let mut bbr = Self {
            mss_bytes: f64::from(start.mss_bytes.max(1)),
            rng: Rng::new(start.seed, "bbr"),
            mode: Mode::Startup,
            max_bps: WindowedMax::new(parameters.integer("bw_window_rounds") as u64),
            bps: 0,
            policer: Policer::new(
                parameters.flag("lt_bw"),
                rounds("lt_min_rounds"),
                parameters.number("lt_loss_ratio"),
                rounds("lt_hold_rounds"),
            ),
            aggregation: Aggregation::default(),
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            delivered_bytes: 0,
            lost_bytes: 0,
            min_rtt: None,
            min_rtt_at: start.now,
            probe_rtt: None,
            limited: (u64::MAX, 0),
            full_bps: 0,
            full_bw_count: 0,
            is_pipe_full: false,
            cycle_index: 0,
            cycle_start: start.now,
            window: Window::from_bytes(start.initial_window_bytes, start.mss_bytes),
            prior_cwnd: 0.0,
            recovery: Recovery::default(),
            pacing: Rate::ZERO,
            departure: start.now,
            has_seen_rtt: false,
            app_limited: false,
            idle_restart: false,
            settings,
        };
        // Before the first RTT sample, the RTT counts as 1 ms.
        bbr.pacing = bbr.initial_pacing(Span::from_ms(1));
        bbr
    }

    /// Returns the estimated bandwidth, bit/s.
    fn bw_bps(&self) -> u64 {
        self.policer.estimate_bps().unwrap_or(self.bps)
    }

    fn packets_per_s(&self) -> f64 {
        self.bw_bps() as f64 / (8.0 * self.mss_bytes)
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.settings.startup_gain,
            Mode::Drain => self.settings.drain_gain,
            Mode::ProbeBw if self.policer.estimate_bps().is_some() => 1.0,
            Mode::ProbeBw => match self.cycle_index {
                0 => self.settings.probe_up_gain,
                1 => self.settings.probe_down_gain,
                _ => 1.0,
            },
            Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => self.settings.startup_gain,
            Mode::ProbeBw => self.settings.cwnd_gain,
            Mode::ProbeRtt => 1.0,
        }
    }

    fn update_bandwidth(&mut self, ack: &Ack<'_>) {
        self.round_start = false;
        let Some(sample) = &ack.rate else { return };
        if sample.prior_delivered_bytes >= self.next_round_delivered {
            self.next_round_delivered = ack.delivered_bytes;
            self.round_count += 1;
            self.round_start = true;
            self.recovery.conserves_packets = false;
        }
        let app_limited = self.is_limited(sample);
        if self.update_policer(ack.now, ack.lost_bytes > 0, app_limited) {
            self.enter_probe_bw(ack.now);
        }
        let bps = sample.rate.bps();
        // An application-limited sample can only prove that there is more bandwidth, not that there is less.
        if !app_limited || bps >= self.bps {
            self.max_bps.push(self.round_count, bps);
            self.bps = self.max_bps.get().unwrap_or(bps);
        }
    }

    fn is_limited(&self, sample: &RateSample) -> bool {
        sample.app_limited || (self.limited.0..=self.limited.1).contains(&sample.prior_delivered_bytes)
    }

    /// Updates the policer detection. Returns true if probing for bandwidth restarts.
    fn update_policer(&mut self, now: Time, has_losses: bool, app_limited: bool) -> bool {
        self.policer.update(&policer::Sample {
            now,
            delivered_bytes: self.delivered_bytes,
            lost_bytes: self.lost_bytes,
            has_losses,
            app_limited,
            round_start: self.round_start,
            in_probe_bw: self.mode == Mode::ProbeBw,
        })
    }

    fn update_aggregation(&mut self, ack: &Ack<'_>, delivered_bytes: u64) {
        if self.settings.extra_acked && ack.rate.is_some() {
            let acked = self.window.in_packets(delivered_bytes);
            let rate = self.packets_per_s();
            self.aggregation.update(ack.now, acked, rate, self.window.packets, self.round_start);
        }
    }

    fn update_cycle(&mut self, ack: &Ack<'_>) {
        if self.mode == Mode::ProbeBw && self.is_next_phase_due(ack) {
            self.advance_cycle(ack.now);
        }
    }

    fn is_next_phase_due(&self, ack: &Ack<'_>) -> bool {
        let has_lasted = self.min_rtt.is_none_or(|min_rtt| ack.now - self.cycle_start > min_rtt);
        let gain = self.pacing_gain();
        let in_flight = self.in_flight_at_departure(ack.now, ack.in_flight_before_bytes);
        if gain > 1.0 {
            // Probing up continues until the pipe really holds that much, or cannot.
            has_lasted && (ack.lost_bytes > 0 || in_flight >= self.in_flight_at(self.bps, gain))
        } else if gain < 1.0 {
            // Draining may end early, once the queue is gone.
            has_lasted || in_flight <= self.in_flight_at(self.bps, 1.0)
        } else {
            has_lasted
        }
    }

    fn advance_cycle(&mut self, now: Time) {
        self.cycle_index = (self.cycle_index + 1) % CYCLE_PHASES;
        self.cycle_start = now;
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        // The second phase is excluded, because it would drain a queue that does not exist.
        self.cycle_index = CYCLE_PHASES - 1 - self.rng.below(CYCLE_PHASES - 1);
        self.advance_cycle(now);
    }

    fn check_full_pipe(&mut self, ack: &Ack<'_>) {
        let app_limited = ack.rate.as_ref().is_none_or(|sample| self.is_limited(sample));
        if self.is_pipe_full || !self.round_start || app_limited {
            return;
        }
        if self.bps as f64 >= self.full_bps as f64 * self.settings.full_bw_growth {
            self.full_bps = self.bps;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.is_pipe_full = self.full_bw_count >= self.settings.full_bw_rounds;
    }

    fn check_drain(&mut self, ack: &Ack<'_>) {
        if self.mode == Mode::Startup && self.is_pipe_full {
            self.mode = Mode::Drain;
        }
        let in_flight = self.in_flight_at_departure(ack.now, ack.in_flight_bytes);
        if self.mode == Mode::Drain && in_flight <= self.in_flight_at(self.bps, 1.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    fn update_min_rtt(&mut self, ack: &Ack<'_>) {
        let is_stale = ack.now > self.min_rtt_at + self.settings.min_rtt_window;
        if let Some(rtt) = ack.rtt {
            // The receiver probably held back an ACK for a lone small packet: no reason to raise the minimum.
            let maybe_delayed = ack.packets.len() == 1
                && (ack.acked_bytes as f64) < self.mss_bytes
                && ack.packets[0].in_flight_at_send_bytes <= ack.acked_bytes;
            if self.min_rtt.is_none_or(|min_rtt| rtt <= min_rtt) || (is_stale && !maybe_delayed) {
                self.min_rtt = Some(rtt);
                self.min_rtt_at = ack.now;
            }
        }
        if is_stale && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt = None;
            self.limited.0 = ack.delivered_bytes;
        }
        if self.mode == Mode::ProbeRtt {
            self.run_probe_rtt(ack);
        }
        self.idle_restart = false;
    }

    fn run_probe_rtt(&mut self, ack: &Ack<'_>) {
        self.limited.1 = ack.delivered_bytes + ack.in_flight_bytes;
        if let Some(probe) = &mut self.probe_rtt {
            probe.has_passed_round |= self.round_start;
            if probe.has_passed_round {
                self.try_end_probe_rtt(ack.now);
            }
        } else if self.window.in_packets(ack.in_flight_bytes) <= self.settings.min_cwnd {
            let done_at = ack.now + self.settings.probe_rtt_time;
            self.probe_rtt = Some(ProbeRtt { done_at, has_passed_round: false });
            self.next_round_delivered = ack.delivered_bytes;
        }
    }

    fn try_end_probe_rtt(&mut self, now: Time) {
        if self.probe_rtt.is_none_or(|probe| now <= probe.done_at) {
            return;
        }
        self.min_rtt_at = now;
        self.window.packets = self.window.packets.max(self.prior_cwnd);
        if self.is_pipe_full {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}

impl Controller for Bbr {
    /// Takes the handshake's RTT as the first sample (Linux: `bbr_init` takes `tcp_min_rtt`).
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.min_rtt = Some(rtt);
        self.min_rtt_at = now;
        self.update_pacing(rtt);
    }

    fn on_sent(&mut self, event: &Sent) {
        self.note_departure(event.now, event.bytes);
        let was_idle = event.in_flight_bytes <= u64::from(event.bytes);
        if !was_idle || !self.app_limited {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(event.now);
        match self.mode {
            // Sending restarts at the estimated rate, neither probing nor draining.
            Mode::ProbeBw => self.set_pacing(1.0),
            Mode::ProbeRtt => self.try_end_probe_rtt(event.now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.lost_bytes += loss.lost_bytes;
        if loss.new_episode {
            self.save_cwnd();
        }
        self.recovery.note_loss(loss);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.packets.is_empty() {
            return;
        }
        let newly_delivered = ack.delivered_bytes - self.delivered_bytes;
        self.delivered_bytes = ack.delivered_bytes;
        self.app_limited = ack.app_limited;
        self.update_bandwidth(ack);
        self.update_aggregation(ack, newly_delivered);
        self.update_cycle(ack);
        self.check_full_pipe(ack);
        self.check_drain(ack);
        self.update_min_rtt(ack);
        self.update_pacing(ack.srtt);
        self.update_cwnd(ack);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if !timeout.repeated && !self.recovery.is_fast() {
            self.save_cwnd();
        }
        if timeout.kind == TimeoutKind::Rto {
            self.lost_bytes += timeout.in_flight_before_bytes;
        }
        self.recovery.enter_loss(self.delivered_bytes + timeout.in_flight_before_bytes);
        // A small window tests the path's capacity.
        self.window.packets = timeout.window_packets();
        self.full_bps = 0;
        self.round_start = true;
        if self.update_policer(timeout.now, true, false) {
            self.enter_probe_bw(timeout.now);
        }
    }

    fn on_spurious_loss(&mut self, _now: Time) {
        self.full_bps = 0;
        self.full_bw_count = 0;
        self.policer.reset();
        self.recovery.end_loss();
    }

    fn control(&self) -> Control {
        Control {
            pacing: Some(self.pacing),
            burst_bytes: (self.send_quantum() * self.mss_bytes) as u64,
            ..Control::window(self.window.bytes())
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let mode = match self.mode {
            Mode::Startup => 0.0,
            Mode::Drain => 1.0,
            Mode::ProbeBw => 2.0,
            Mode::ProbeRtt => 3.0,
        };
        sink.put("cwnd", "packets", self.window.packets);
        sink.put("pacing_rate", "Mbit/s", self.pacing.mbps());
        sink.put("bw", "Mbit/s", self.bw_bps() as f64 / 1e6);
        sink.put("min_rtt", "ms", self.min_rtt.map_or(f64::NAN, Span::as_ms_f64));
        sink.put("mode", "0 startup, 1 drain, 2 probe_bw, 3 probe_rtt", mode);
        sink.put("pacing_gain", "", self.pacing_gain());
        sink.put("cwnd_gain", "", self.cwnd_gain());
        sink.put("full_bw", "Mbit/s", self.full_bps as f64 / 1e6);
        sink.put("round_count", "rounds", self.round_count as f64);
        sink.put("extra_acked", "packets", self.aggregation.allowance(self.packets_per_s()));
        sink.put("lt_bw", "Mbit/s", self.policer.estimate_bps().unwrap_or(0) as f64 / 1e6);
    }
}
