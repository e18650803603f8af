//! CUBIC: the window is a cubic function of the time since the last reduction.
//!
//! Source: RFC 9438, with HyStart++ (RFC 9406) or Linux's HyStart to end the first slow start. After a reduction at
//! `W_max` the window follows `W(t) = C * (t - K)^3 + W_max`, `K = cbrt((W_max - cwnd) / C)`. It returns fast towards
//! `W_max`, is flat around it, and then probes ever faster. It is never below Reno's window (`W_est`).
//!
//! Choices that RFC 9438 leaves open, and deviations:
//!
//! - The reduction starts from cwnd, as in Linux, not from the flight size. An application-limited window does not
//!   grow, which is the guard that section 4.6 asks for with that choice.
//! - Time during which nothing is in flight, or the window does not limit sending, does not count in `t` (section 4.2).
//! - An ACK never shrinks the window, even if the look-ahead of one RTT had carried it above `W_est`.
//! - After a timeout the first epoch has `K = 0` (section 4.8).
//!
//! Expected: with random losses at rate `p` a mean window of `1.054 * (RTT / p)^(3/4)` packets if that exceeds Reno's
//! (RFC 9438 5.1); full use of a drop-tail queue of at least 0.43 BDP.

use crate::parts::{Completed, SlowStart, Window};
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
};
use units::{Span, Time};

mod counted;
use counted::Counter;

/// Minimum window after a loss, packets (RFC 9438 4.6).
const MIN_WINDOW: f64 = 2.0;
/// Minimum window after a CE mark, packets (RFC 9438 4.6).
const MIN_WINDOW_ECN: f64 = 1.0;
/// Maximum growth in one RTT, as a multiple of the window (RFC 9438 4.2).
const MAX_GROWTH: f64 = 1.5;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "cubic",
    summary: "TCP CUBIC (RFC 9438) with HyStart++ (RFC 9406)",
    parameters: &[
        Parameter::number("c", "packets/s^3", 0.4, (0.001, 100.0), "Steepness of the cubic (RFC 9438 5.1)."),
        Parameter::number("beta", "", 0.7, (0.1, 0.95), "Factor of the window kept on loss (RFC 9438 4.6)."),
        Parameter::flag(
            "fast_convergence",
            true,
            "A shrinking flow gives up window for newcomers (RFC 9438 4.7).",
        ),
        Parameter::flag("reno_friendly", true, "Never grow slower than Reno would (RFC 9438 4.3)."),
        Parameter::choice(
            "slow_start",
            "hystart++",
            &["hystart++", "hystart", "hystart-ns3", "classic"],
            "How the first slow start ends: RFC 9406, HyStart as in Linux or ns-3, or by loss.",
        ),
        Parameter::choice(
            "growth",
            "exact",
            &["exact", "counted", "counted-ns3"],
            "By RFC 9438's fractions, or in whole packets: as Linux counts them, or as ns-3, which keeps the count at a loss.",
        ),
        Parameter::integer(
            "hystart_limit",
            "packets",
            8,
            (0, 1_000_000),
            "L of HyStart++: most growth per ACK; 8 unpaced, 0 for no limit when pacing (RFC 9406 4.3).",
        ),
        Parameter::flag(
            "count_pauses",
            false,
            "The cubic's clock runs on while nothing is in flight, as in ns-3 (RFC 9438 4.2: it stands still).",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| {
        let counter = match parameters.choice("growth") {
            "exact" => None,
            growth => Some(Counter::new(growth == "counted-ns3")),
        };
        let counts_pauses = parameters.flag("count_pauses");
        Box::new(Cubic { counts_pauses, counter, ..Cubic::new(parameters, start) })
    }),
};

/// CUBIC, also the base of [`crate::schemes::prague`] and [`crate::learned::orca`].
#[derive(Debug)]
pub(crate) struct Cubic {
    /// CUBIC's C, packets/s^3.
    c: f64,
    beta: f64,
    /// Reno's increase per RTT with which a flow with this `beta` has Reno's mean window (RFC 9438 4.3).
    alpha: f64,
    /// Number of connections whose aggressiveness the flow has.
    connections: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    /// True if the clock runs while nothing is in flight.
    counts_pauses: bool,
    /// Counts for growth in whole packets; `None` for fractional growth.
    counter: Option<Counter>,
    completed: Completed,
    state: State,
    /// State before the present loss episode.
    undo: Option<State>,
    /// Arrival time of the latest ACK, or departure time of the packet that ended a pause.
    acked_at: Time,
    /// Departure time of the latest packet.
    sent_at: Time,
}

/// State that a reduction changes.
#[derive(Clone, Copy, Debug)]
struct State {
    window: Window,
    /// Slow start threshold, packets.
    ssthresh: f64,
    /// Window before the latest reduction, after fast convergence, packets. With 0 the next epoch begins flat.
    w_max: f64,
    /// Window before the latest reduction, packets.
    cwnd_prior: f64,
    slow_start: SlowStart,
    epoch: Option<Epoch>,
}

/// Congestion avoidance since a reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Time,
    /// Top of the plateau, packets.
    origin: f64,
    /// Time from the beginning to the plateau, s.
    k: f64,
    /// Estimate of Reno's window, packets.
    w_est: f64,
    phase: Phase,
}

/// Rule that decides the window; the discriminants are the values of the field `phase`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    SlowStart = 0,
    /// Conservative slow start of HyStart++.
    Conservative = 1,
    /// Growth along `W_est`, which is above the cubic.
    RenoFriendly = 2,
    /// Growth along the cubic below the plateau.
    Concave = 3,
    /// Growth along the cubic beyond the plateau.
    Convex = 4,
}

impl Epoch {
    /// Returns the cubic `span` after the beginning, packets. [RFC 9438 4.2]
    fn cubic(&self, c: f64, span: Span) -> f64 {
        let t = span.as_secs_f64() - self.k;
        c * t * t * t + self.origin
    }
}

impl Cubic {
    pub(crate) fn new(parameters: &Parameters, start: &Start) -> Self {
        let beta = parameters.number("beta");
        let limit = parameters.number("hystart_limit");
        let limit = if limit == 0.0 { f64::INFINITY } else { limit };
        Self {
            c: parameters.number("c"),
            beta,
            alpha: 3.0 * (1.0 - beta) / (1.0 + beta),
            connections: 1.0,
            fast_convergence: parameters.flag("fast_convergence"),
            reno_friendly: parameters.flag("reno_friendly"),
            counts_pauses: false,
            counter: None,
            completed: Completed::default(),
            state: State {
                window: Window::from_bytes(start.initial_window_bytes, start.mss_bytes),
                ssthresh: f64::INFINITY,
                w_max: 0.0,
                cwnd_prior: 0.0,
                slow_start: SlowStart::named(parameters.choice("slow_start"), limit),
                epoch: None,
            },
            undo: None,
            acked_at: start.now,
            sent_at: start.now,
        }
    }

    /// Returns CUBIC with the aggressiveness of several connections, one of which reduces at a loss
    /// (google/quiche@4942657, `cubic_bytes.cc`, `Alpha`, `Beta`, `BetaLastMax`).
    pub(crate) fn emulating(mut self, connections: f64) -> Self {
        self.beta = (connections - 1.0 + self.beta) / connections;
        self.alpha = 3.0 * connections * connections * (1.0 - self.beta) / (1.0 + self.beta);
        self.connections = connections;
        self
    }

    /// Returns CUBIC as in Linux: growth in whole packets, HyStart.
    pub(crate) fn linux(start: &Start) -> Self {
        let base = Self::new(&Parameters::defaults(ENTRY.parameters), start);
        let slow_start = SlowStart::named("hystart", f64::INFINITY);
        let state = State { slow_start, ..base.state };
        Self { counter: Some(Counter::default()), state, ..base }
    }

    /// Returns the slow start threshold, packets.
    pub(crate) const fn ssthresh(&self) -> f64 {
        self.state.ssthresh
    }

    /// Returns the window, packets.
    pub(crate) fn window(&self) -> f64 {
        self.state.window.packets
    }

    pub(crate) fn set_window(&mut self, packets: f64) {
        self.state.window.packets = packets;
    }

    /// Ends slow start: congestion avoidance continues from the present window.
    pub(crate) fn end_slow_start(&mut self) {
        self.state.ssthresh = self.state.window.packets;
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.state.window.packets < self.state.ssthresh
    }

    /// Handles a congestion event; the window keeps at least `min_window` packets.
    fn reduce(&mut self, min_window: f64) {
        let state = &mut self.state;
        let cwnd = state.window.packets;
        state.cwnd_prior = cwnd;
        // Fast convergence. [RFC 9438 4.7]
        let is_shrinking = self.fast_convergence && cwnd < state.w_max;
        state.w_max = if is_shrinking { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        state.ssthresh = (cwnd * self.beta).max(MIN_WINDOW);
        state.window.packets = (cwnd * self.beta).max(min_window);
        if let Some(counter) = &mut self.counter {
            counter.begin_episode();
            state.w_max = state.w_max.floor();
            state.ssthresh = state.ssthresh.floor();
            state.window.packets = state.window.packets.floor();
        }
        state.epoch = None;
        state.slow_start.on_congestion();
    }

    /// Grows the window in slow start. Returns the acknowledged packets that are left for congestion avoidance.
    fn grow_in_slow_start(&mut self, ack: &Ack<'_>, may_grow: bool) -> f64 {
        let state = &mut self.state;
        let step = state.slow_start.on_ack(ack, &state.window);
        let mut left = 0.0;
        if may_grow {
            let room = state.ssthresh - state.window.packets;
            left = (step.growth - room).max(0.0);
            state.window.packets += step.growth.min(room);
        }
        if step.leave {
            // W_max is unknown: the epoch begins on its plateau. [RFC 9438 4.10]
            state.ssthresh = state.window.packets;
            state.cwnd_prior = state.window.packets;
        }
        left
    }

    fn begin_epoch(&self, now: Time) -> Epoch {
        let cwnd = self.state.window.packets;
        let origin = self.state.w_max.max(cwnd);
        let k = libm::cbrt((origin - cwnd) / self.c);
        Epoch { began: now, origin, k, w_est: cwnd, phase: Phase::Concave }
    }

    /// Grows the window in congestion avoidance after `acked` packets. [RFC 9438 4.2 to 4.5]
    fn grow(&mut self, ack: &Ack<'_>, acked: f64) {
        if let Some(counter) = self.counter {
            self.grow_counted(ack, acked, counter);
            return;
        }
        let mut epoch = self.state.epoch.unwrap_or_else(|| self.begin_epoch(ack.now));
        let cwnd = self.state.window.packets;
        let alpha = if epoch.w_est >= self.state.cwnd_prior { self.connections } else { self.alpha };
        epoch.w_est += alpha * acked / cwnd;
        let t = ack.now - epoch.began;
        if self.reno_friendly && epoch.cubic(self.c, t) < epoch.w_est {
            epoch.phase = Phase::RenoFriendly;
            self.state.window.packets = epoch.w_est.max(cwnd);
        } else {
            epoch.phase = if t.as_secs_f64() < epoch.k { Phase::Concave } else { Phase::Convex };
            let target = epoch.cubic(self.c, t + ack.srtt).clamp(cwnd, MAX_GROWTH * cwnd);
            self.state.window.packets += (target - cwnd) / cwnd * acked;
        }
        self.state.epoch = Some(epoch);
    }

    fn phase(&self) -> Phase {
        match self.state.epoch {
            Some(epoch) if !self.in_slow_start() => epoch.phase,
            _ if !self.in_slow_start() => Phase::Concave,
            _ if self.state.slow_start.is_conservative() => Phase::Conservative,
            _ => Phase::SlowStart,
        }
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let pause = ack.now - self.acked_at;
        self.acked_at = ack.now;
        let is_duplicate = self.completed.is_duplicate(ack) && self.counter.is_some();
        if ack.in_recovery {
            return;
        }
        let in_slow_start = self.in_slow_start();
        let may_grow = ack.may_grow(self.state.window.bytes(), in_slow_start);
        let mut acked = self.state.window.in_packets(ack.growth_bytes);
        if in_slow_start {
            acked = self.grow_in_slow_start(ack, may_grow && !is_duplicate);
        }
        if !may_grow {
            // The cubic's clock stops while the window does not limit sending. [RFC 9438 4.2]
            if let Some(epoch) = &mut self.state.epoch {
                epoch.began += pause;
            }
        } else if !is_duplicate && acked > 0.0 && !self.in_slow_start() {
            self.grow(ack, acked);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.new_episode {
            self.undo = Some(self.state);
            self.reduce(MIN_WINDOW);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.reduces_threshold() {
            self.undo = Some(self.state);
            self.reduce(MIN_WINDOW);
        }
        self.state.w_max = 0.0;
        self.state.epoch = None;
        self.state.slow_start.on_timeout();
        self.state.window.packets = timeout.window_packets();
    }

    fn on_sent(&mut self, event: &Sent) {
        let state = &mut self.state;
        state.window.restart(event.idle_timeouts, &mut state.ssthresh);
        if event.in_flight_bytes == u64::from(event.bytes) && !self.counts_pauses {
            // The cubic's clock stops while nothing is in flight. [RFC 9438 4.2]
            if let Some(epoch) = &mut state.epoch {
                epoch.began += event.now - self.sent_at.max(self.acked_at);
            }
            self.acked_at = event.now;
        }
        self.sent_at = event.now;
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        if ecn.new_episode {
            // Undoing an earlier loss must not undo this reduction.
            self.undo = None;
            self.reduce(MIN_WINDOW_ECN);
        }
    }

    fn on_spurious_loss(&mut self, _now: Time) {
        // A window that has outgrown the old one keeps its present course. [RFC 9438 4.9]
        if let Some(before) = self.undo.take()
            && self.state.window.packets < before.window.packets
        {
            self.state = before;
        }
    }

    fn control(&self) -> Control {
        Control::window(self.state.window.bytes())
    }

    fn slow_start_threshold_bytes(&self) -> Option<u64> {
        Some(self.state.window.in_bytes(self.state.ssthresh))
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let (k, w_est) = self.state.epoch.map_or((f64::NAN, f64::NAN), |epoch| (epoch.k, epoch.w_est));
        sink.put("cwnd", "packets", self.state.window.packets);
        sink.put("ssthresh", "packets", self.state.ssthresh);
        sink.put("w_max", "packets", self.state.w_max);
        sink.put("k", "s", k);
        sink.put("w_est", "packets", w_est);
        sink.put(
            "phase",
            "0 slow start, 1 conservative, 2 Reno-friendly, 3 concave, 4 convex",
            f64::from(self.phase() as u8),
        );
    }
}

#[cfg(test)]
mod tests;
