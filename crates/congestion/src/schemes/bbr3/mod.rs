//! BBR version 3: paces at the measured bandwidth, within bounds on the flight that it learns from losses.
//!
//! Source: draft-ietf-ccwg-bbr (ietf-wg-ccwg/draft-ietf-ccwg-bbr@4ce5e87d), with its names. The parameter `rules`
//! selects those of Linux's version 3 (google/bbr@001a430, `net/ipv4/tcp_bbr.c`) where they differ; the code tests
//! `settings.linux`. Read this overview and the life of an ACK first (`mod.rs`). Then read the model (`model.rs`),
//! Startup, Drain and `ProbeRTT` (`phases.rs`), the bandwidth probe (`probe_bw.rs`), losses and their undo
//! (`losses.rs`), and the limits (`sending.rs`).
//!
//! Differences from version 1 ([`crate::schemes::bbr`]):
//!
//! - It probes every 2 to 3 s instead of every 8 RTTs.
//! - It has a long-term bound on the flight (`inflight_longterm`), the flight at which a probe lost more than 2 %. It
//!   approaches this bound carefully and stays 15 % below it while cruising.
//! - It has short-term bounds on rate and flight after losses outside of probes.
//! - `ProbeRTT` comes twice as often, at half a BDP.
//!
//! Choices and deviations:
//!
//! - Losses do not carry the mark "application-limited" of their packet; the latest sample's mark is used.
//! - The load of a probe is the newest acknowledged packet's flight, as in the draft. An ACK without a delivery rate
//!   sample changes neither rounds nor bandwidth.
//! - The state for an undo is saved once per loss episode, as in Linux. The draft saves it again at the first loss of
//!   every round, also right after a probe ended on loss, and would forget that there was a probe.
//! - "In recovery for a full round" is Linux's test: the round that began with the first loss ends within recovery.
//! - After a timeout the saved window is restored when as much was delivered as the timeout declared lost.
//! - BBR does its own recovery: the transport must not apply PRR. CE marks are ignored unless the parameter `ecn` is on
//!   (`marks.rs`). The draft has no ECN; Linux's version 3 uses it only below 5 ms of RTT.
//!
//! Expected: a lone flow gets 0.98 of the link with little queue; with shallow buffers at most about 2 % is lost.

#[cfg(test)]
mod linux_tests;
mod losses;
mod marks;
mod model;
mod phases;
mod probe_bw;
mod sending;
mod settings;
#[cfg(test)]
mod tests;

use crate::parts::Window;
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameters, Sent, Start, Timeout,
    TimeoutKind,
};
use losses::Undo;
use marks::Marks;
use model::{ExtraAcked, Latest, MaxBandwidth, MinRtt, Sample, ShortTerm};
use phases::ProbeRtt;
use probe_bw::Probe;
use settings::Settings;
use units::{Rate, Rng, Span, Time};

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "bbr3",
    summary: "BBR version 3 (draft-ietf-ccwg-bbr)",
    parameters: settings::PARAMETERS,
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Bbr3::new(parameters, start))),
};

/// State of the algorithm; the discriminants are the values of the field `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup = 0,
    Drain = 1,
    /// Phase of `ProbeBW` below the bandwidth, until the queue is gone and headroom is free.
    Down = 2,
    /// Phase of `ProbeBW` at the bandwidth.
    Cruise = 3,
    /// Phase of `ProbeBW` that fills the pipe before the probe: one round at the bandwidth without short-term bounds.
    Refill = 4,
    /// Phase of `ProbeBW` above the bandwidth.
    Up = 5,
    ProbeRtt = 6,
}

impl State {
    const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }
}

#[derive(Debug)]
struct Bbr3 {
    settings: Settings,
    mss_bytes: f64,
    /// Initial window, packets.
    initial_window: f64,
    rng: Rng,
    state: State,

    // Rounds and counts.
    delivered_bytes: u64,
    lost_bytes: u64,
    round_count: u64,
    round_start: bool,
    /// Delivered count at the end of the round: the round ends when a packet sent at this count is acknowledged.
    next_round_delivered: u64,
    /// Sample of the present ACK.
    sample: Option<Sample>,
    /// True if the newest sample was application-limited.
    app_limited: bool,
    /// True if the application limited the sender at the last ACK.
    app_idle: bool,

    // Model of the path.
    max_bw: MaxBandwidth,
    min_rtt: MinRtt,
    extra_acked: ExtraAcked,
    latest: Latest,
    short_term: ShortTerm,
    /// Maximum safe flight found by probing, packets; infinite until a probe lost too much.
    inflight_longterm: f64,
    full_bps: f64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,

    // Losses.
    loss_round_delivered: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    /// Number of separate ranges of packets lost in this round, and the number that would continue the last range.
    lost_ranges: u32,
    next_in_lost_range: u64,
    /// Number of ACKs in this round that reported losses.
    loss_events: u32,
    undo: Undo,
    in_recovery: bool,
    marks: Marks,
    /// Delivered count at which the state after a timeout ends.
    timeout_until: Option<u64>,

    // State machine.
    drain_start_round: u64,
    probe: Probe,
    rounds_since_probe: u64,
    probe_rtt: Option<ProbeRtt>,
    /// Delivered counts between which `ProbeRTT`'s small window limited sending.
    limited: (u64, u64),
    idle_restart: bool,

    // Limits of sending.
    window: Window,
    /// Window to restore after recovery or `ProbeRTT`, packets.
    prior_cwnd: f64,
    pacing: Rate,
    /// Time at which the pacer releases the next packet.
    next_departure: Time,
    has_seen_rtt: bool,
}

impl Bbr3 {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let window = Window::from_bytes(start.initial_window_bytes, start.mss_bytes);
        let mut bbr = Self {
            settings: Settings::new(parameters),
            mss_bytes: f64::from(start.mss_bytes.max(1)),
            initial_window: window.packets,
            rng: Rng::new(start.seed, "bbr3"),
            state: State::Startup,
            delivered_bytes: 0,
            lost_bytes: 0,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            sample: None,
            app_limited: false,
            app_idle: false,
            max_bw: MaxBandwidth::default(),
            min_rtt: MinRtt::new(start.now),
            extra_acked: ExtraAcked::new(),
            latest: Latest::default(),
            short_term: ShortTerm::UNSET,
            inflight_longterm: f64::INFINITY,
            full_bps: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_in_round: false,
            lost_ranges: 0,
            next_in_lost_range: u64::MAX,
            loss_events: 0,
            undo: Undo::default(),
            in_recovery: false,
            marks: Marks::new(),
            timeout_until: None,
            drain_start_round: 0,
            probe: Probe::new(start.now),
            rounds_since_probe: 0,
            probe_rtt: None,
            limited: (u64::MAX, 0),
            idle_restart: false,
            window,
            prior_cwnd: 0.0,
            pacing: Rate::ZERO,
            next_departure: start.now,
            has_seen_rtt: false,
        };
        // Before the first RTT sample, the RTT counts as 1 ms.
        bbr.pacing = bbr.initial_pacing(Span::from_ms(1));
        bbr
    }
}

impl Controller for Bbr3 {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.min_rtt.begin(now, rtt, &self.settings);
        self.update_pacing(rtt);
    }

    fn on_sent(&mut self, event: &Sent) {
        if self.settings.linux {
            self.note_departure(event.now, event.bytes);
        }
        let was_idle = event.in_flight_bytes <= u64::from(event.bytes);
        if !was_idle || !self.app_idle {
            return;
        }
        self.idle_restart = true;
        self.extra_acked.restart(event.now);
        if self.state.is_probe_bw() {
            // Sending restarts at the estimated rate, neither probing nor draining.
            self.set_pacing(1.0);
        } else if self.state == State::ProbeRtt {
            self.try_end_probe_rtt(event.now);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        // Linux saves the state after the losses.
        if self.settings.linux {
            loss.packets.iter().for_each(|packet| self.on_lost_packet(loss.now, packet));
        }
        if loss.new_episode {
            self.save_cwnd();
            self.save_for_undo();
            self.in_recovery = true;
        }
        if !self.settings.linux {
            loss.packets.iter().for_each(|packet| self.on_lost_packet(loss.now, packet));
        }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.packets.is_empty() {
            return;
        }
        self.delivered_bytes = ack.delivered_bytes;
        self.app_idle = ack.app_limited;
        self.sample = self.sample(ack);
        self.app_limited = self.sample.map_or(self.app_limited, |sample| sample.app_limited);

        self.update_latest(ack);
        self.update_round();
        self.update_max_bw();
        self.update_marks(ack);
        self.check_startup_losses(ack);
        self.adapt_short_term(ack);
        self.update_extra_acked(ack);
        self.check_full_bw();
        self.check_startup_and_drain(ack);
        self.update_probe_bw(ack);
        self.update_min_rtt(ack);
        self.advance_latest();

        self.update_pacing(ack.srtt);
        self.follow_recovery(ack);
        self.update_cwnd(ack);
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        if self.settings.ecn {
            self.marks.on_marks(ecn.ce_packets);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if !timeout.repeated {
            self.save_cwnd();
            self.save_for_undo();
        }
        if timeout.kind == TimeoutKind::Rto {
            self.lost_bytes += timeout.in_flight_before_bytes;
        }
        self.lose_all(timeout.now, timeout.in_flight_before_bytes);
        self.in_recovery = false;
        self.timeout_until = Some(self.delivered_bytes + timeout.in_flight_before_bytes);
        // A small window tests the path's capacity.
        self.window.packets = timeout.window_packets();
    }

    fn on_spurious_loss(&mut self, _now: Time) {
        self.undo_losses();
    }

    fn control(&self) -> Control {
        Control {
            pacing: Some(self.pacing),
            burst_bytes: (self.send_quantum() * self.mss_bytes) as u64,
            ..Control::window(self.window.bytes())
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let if_set = |value: f64| if value.is_finite() { value } else { 0.0 };
        sink.put("cwnd", "packets", self.window.packets);
        sink.put("pacing_rate", "Mbit/s", self.pacing.mbps());
        sink.put("bw", "Mbit/s", self.bps() / 1e6);
        sink.put("max_bw", "Mbit/s", self.max_bw.get() / 1e6);
        sink.put("bw_shortterm", "Mbit/s, 0 unset", if_set(self.short_term.bps) / 1e6);
        sink.put("inflight_shortterm", "packets, 0 unset", if_set(self.short_term.in_flight));
        sink.put("inflight_longterm", "packets, 0 unset", if_set(self.inflight_longterm));
        sink.put("min_rtt", "ms", self.min_rtt.rtt.map_or(f64::NAN, Span::as_ms_f64));
        let state = f64::from(self.state as u8);
        sink.put("state", "0 startup, 1 drain, 2 down, 3 cruise, 4 refill, 5 up, 6 probe_rtt", state);
        sink.put("pacing_gain", "", self.pacing_gain());
        sink.put("full_bw", "Mbit/s", self.full_bps / 1e6);
        sink.put("round_count", "rounds", self.round_count as f64);
        sink.put("extra_acked", "packets", self.extra_acked.get());
    }
}
