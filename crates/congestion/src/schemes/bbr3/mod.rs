//! BBR version 3: paces at the measured bandwidth within bounds on what may be in flight that it learns from losses.
//!
//! Source: draft-ietf-ccwg-bbr (ietf-wg-ccwg/draft-ietf-ccwg-bbr@4ce5e87d), whose names are used; with the parameter
//! `rules` those of Linux's version 3 (google/bbr@001a430, `net/ipv4/tcp_bbr.c`) hold where they differ, which
//! `settings.linux` asks. Read this overview and the life of an ACK first (`mod.rs`), then the model (`model.rs`),
//! Startup, Drain and `ProbeRTT` (`phases.rs`), the bandwidth probe (`probe_bw.rs`), losses and their undoing
//! (`losses.rs`), and what may be sent (`sending.rs`).
//!
//! What differs from version 1 ([`crate::schemes::bbr`]): probing every 2 to 3 s instead of every 8 RTTs; a long-term bound on
//! what is in flight (`inflight_longterm`, where a probe lost more than 2 %), approached carefully and left 15 % below
//! while cruising; short-term bounds on rate and flight after losses outside of probes; `ProbeRTT` twice as often at half
//! a BDP.
//!
//! Choices and deviations:
//! - losses do not carry the mark "application-limited" of their packet: the latest sample's is used;
//! - what a probe carries is compared with the newest acknowledged packet's flight, as in the draft; without a delivery
//!   rate sample an ACK changes neither rounds nor bandwidth;
//! - what an undo goes back to is saved once per loss episode, as in Linux; the draft saves again at the first loss of
//!   every round, also right after a probe ended on loss, and would forget that there was a probe;
//! - "in recovery for a full round" is Linux's test: the round that began with the first loss ends within recovery;
//! - after a timeout the saved window comes back when as much was delivered as the timeout declared lost;
//! - BBR does its own recovery: the transport must not apply PRR. CE marks are ignored unless the parameter `ecn` is
//!   on (`marks.rs`): the draft has no ECN, Linux's version 3 uses it below 5 ms of RTT alone.
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

/// Registry entry.
pub(crate) const ENTRY: Entry = Entry {
    name: "bbr3",
    summary: "BBR version 3 (draft-ietf-ccwg-bbr)",
    parameters: settings::PARAMETERS,
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Bbr3::new(parameters, start))),
};

/// The discriminants are the values of the field `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup = 0,
    Drain = 1,
    /// Of `ProbeBW`: below the bandwidth, until the queue is gone and headroom is free.
    Down = 2,
    /// Of `ProbeBW`: at the bandwidth.
    Cruise = 3,
    /// Of `ProbeBW`: one round at the bandwidth without short-term bounds, to fill the pipe before the probe.
    Refill = 4,
    /// Of `ProbeBW`: above the bandwidth.
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
    /// Packets.
    initial_window: f64,
    rng: Rng,
    state: State,

    // Rounds and counts.
    delivered_bytes: u64,
    lost_bytes: u64,
    round_count: u64,
    round_start: bool,
    /// The round ends when a packet sent at this delivered count is acknowledged.
    next_round_delivered: u64,
    /// The present ACK's.
    sample: Option<Sample>,
    /// Whether the newest sample was application-limited.
    app_limited: bool,
    /// Whether the application limited the sender at the last ACK.
    app_idle: bool,

    // The model.
    max_bw: MaxBandwidth,
    min_rtt: MinRtt,
    extra_acked: ExtraAcked,
    latest: Latest,
    short_term: ShortTerm,
    /// Most packets in flight that probing has found safe; infinite until a probe lost too much.
    inflight_longterm: f64,
    full_bps: f64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,

    // Losses.
    loss_round_delivered: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    /// Ranges of packet numbers lost in this round, and the number that would continue the last one.
    lost_ranges: u32,
    next_in_lost_range: u64,
    /// ACKs of this round that told of losses.
    loss_events: u32,
    undo: Undo,
    in_recovery: bool,
    marks: Marks,
    /// After a timeout, until this much has been delivered.
    timeout_until: Option<u64>,

    // The state machine.
    drain_start_round: u64,
    probe: Probe,
    rounds_since_probe: u64,
    probe_rtt: Option<ProbeRtt>,
    /// Delivered counts between which `ProbeRTT`'s small window limited sending.
    limited: (u64, u64),
    idle_restart: bool,

    // What may be sent.
    window: Window,
    /// Window to go back to after recovery or `ProbeRTT`, packets.
    prior_cwnd: f64,
    pacing: Rate,
    /// When the pacer lets the next packet go.
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
        // Before the first RTT sample an RTT of 1 ms is assumed.
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
            // Restart at the estimated rate, neither probing nor draining.
            self.set_pacing(1.0);
        } else if self.state == State::ProbeRtt {
            self.try_end_probe_rtt(event.now);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        // Linux saves what the losses have left.
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
        // Little goes out to see what the path still carries.
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
