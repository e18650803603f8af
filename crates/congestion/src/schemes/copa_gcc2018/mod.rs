//! Copa as genericCC ran it in Pantheon from June 2018 and in the fairness reproduction, quirks included.
//!
//! Source: venkatarun95/genericCC@d0153f8, `markoviancc.cc` and `rtt-window.cc`; its transport: `ctcp.hh`. Differences
//! from the paper:
//!
//! - The velocity doubles every RTT from the first one, without waiting for three.
//! - A change of direction within an RTT keeps the old velocity until the RTT's end.
//! - The velocity is limited only to a full window per RTT.
//! - A path without delay (all samples equal) counts as competitive.
//! - Every ACK that reveals a loss doubles delta in competitive mode, up to the default.
//! - More than 30 % loss within two RTTs shrinks the window by 30 %.
//! - `delta_conf = constant` has no effect after the first ACK: delta becomes the default of 0.5.
//!
//! The transport provides one ACK per packet, loss detection as soon as a later packet is acknowledged, and a timeout
//! after 2 s without ACK. Its windows count started packets, and its pacing restarts when the window opens. Deviations:
//!
//! - The transport reports losses before the ACK. They are kept and applied after the window rule, to the newest packet
//!   of the ACK. For one-packet ACKs this is genericCC's order.
//! - The program waits a tenth of the handshake's RTT before its first packet; here the first packet leaves at once.
//!
//! Expected (`docs/evidence/derivations.md`, Copa): alone on 46 Mbit/s, 20 ms and a token bucket of 15 kB with 0.2-2 ms
//! of jitter 38-44 Mbit/s; Jain's index of ten flows 0.93-0.97.

#[cfg(test)]
mod tests;

use crate::parts::copa_gcc::{
    Clock, DELTA, HISTORY_MS, INITIAL_WINDOW, Losses, MIN_WINDOW, PROBE_ACKS, ns, pacing,
};
use crate::parts::{WindowedMax, WindowedMin};
use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Loss, Parameter, Parameters, Start, Timeout};
use units::Time;

/// Delta from the first ACK on with `delta_conf = constant`, 1/packet.
const DEFAULT_DELTA: f64 = 0.5;
/// Fraction of the delay range below which a sample counts as "queue nearly empty".
const EMPTY_SHARE: f64 = 0.1;
/// Number of packets that losses must exceed to be judged.
const LOSS_SAMPLE: u64 = 20;
/// Loss rate above which the window shrinks, and the fraction of the window that remains.
const LOSS_LIMIT: f64 = 0.3;
const LOSS_KEEP: f64 = 0.7;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "copa-gcc2018",
    summary: "Copa as in genericCC d0153f8 (Pantheon from June 2018), quirks included",
    parameters: &[
        DELTA,
        Parameter::choice(
            "delta_conf",
            "auto",
            &["auto", "constant"],
            "Mode switching, or none (then delta silently becomes 0.5 at the first ACK, as in genericCC).",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(CopaGcc::new(parameters, start))),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Default,
    Competitive,
}

/// RTT statistics over sliding windows, ms.
#[derive(Debug)]
struct RttWindows {
    latest: f64,
    /// Smoothed RTT with weight 1/16.
    srtt: f64,
    min: WindowedMin<f64>,
    standing: WindowedMin<f64>,
    min4: WindowedMin<f64>,
    max4: WindowedMax<f64>,
}

impl RttWindows {
    fn new() -> Self {
        let length = ns(HISTORY_MS);
        Self {
            latest: 0.0,
            srtt: 0.0,
            min: WindowedMin::new(length),
            standing: WindowedMin::new(length),
            min4: WindowedMin::new(length),
            max4: WindowedMax::new(length),
        }
    }

    fn clear(&mut self) {
        self.srtt = 0.0;
        self.min.clear();
        self.standing.clear();
        self.min4.clear();
        self.max4.clear();
    }

    fn push(&mut self, now: Time, rtt: f64) {
        let now = now.as_ns();
        self.latest = rtt;
        self.srtt = if self.srtt == 0.0 { rtt } else { 15.0 / 16.0 * self.srtt + rtt / 16.0 };
        self.min.push(now, rtt);
        let history = HISTORY_MS.max(20.0 * self.min());
        self.min.set_length(ns(history));
        self.standing.set_length(ns(history.min(self.srtt / 2.0)));
        self.min4.set_length(ns(history.min(4.0 * self.srtt)));
        self.max4.set_length(ns(history.min(4.0 * self.srtt)));
        self.standing.push(now, rtt);
        self.min4.push(now, rtt);
        self.max4.push(now, rtt);
    }

    fn min(&self) -> f64 {
        self.min.get().unwrap_or(0.0)
    }

    /// Returns `RTTstanding`: the minimum of the last half RTT.
    fn standing(&self) -> f64 {
        self.standing.get().unwrap_or(0.0)
    }

    /// Returns true if one sample of the last four RTTs was within a tenth of the delay range above the minimum.
    fn was_queue_empty(&self) -> bool {
        let (min, min4, max4) = (self.min(), self.min4.get().unwrap_or(0.0), self.max4.get().unwrap_or(0.0));
        min4 < min + EMPTY_SHARE * (max4 - min)
    }
}

/// Loss rate for the reduction on loss, over at least two RTTs and more than 20 packets.
#[derive(Clone, Copy, Debug, Default)]
struct LossShare {
    since_ms: f64,
    lost: u64,
    packets: u64,
}

impl LossShare {
    /// Counts one more packet. Returns true if the loss rate has become too high.
    fn count(&mut self, now_ms: f64, rtt_ms: f64, is_lost: bool) -> bool {
        self.lost += u64::from(is_lost);
        self.packets += 1;
        if now_ms <= self.since_ms + 2.0 * rtt_ms || self.packets <= LOSS_SAMPLE {
            return false;
        }
        let is_bad = self.lost as f64 / self.packets as f64 > LOSS_LIMIT;
        *self = Self { since_ms: now_ms, lost: 0, packets: 0 };
        is_bad
    }
}

/// State that restarts after two seconds of silence. Times in ms, 0 for "never".
#[derive(Debug)]
struct State {
    /// Window, packets.
    window: f64,
    /// Time between two packets, ms; 0 (unpaced) before the first update of the window.
    spacing: f64,
    /// Copa's delta, 1/packet.
    delta: f64,
    mode: Mode,
    in_slow_start: bool,
    /// Velocity ("amt"): packets per RTT, times delta.
    velocity: f64,
    /// Increases less decreases since the last update ("dir"), and the direction in force ("pdir").
    direction_sum: i64,
    direction: i64,
    velocity_updated_at: f64,
    delta_updated_at: f64,
    delta_updated_on_loss_at: f64,
    acked: u64,
    loss_share: LossShare,
}

impl State {
    fn new(delta: f64) -> Self {
        Self {
            window: INITIAL_WINDOW,
            spacing: 0.0,
            delta,
            mode: Mode::Default,
            in_slow_start: true,
            velocity: 1.0,
            direction_sum: 1,
            direction: 1,
            velocity_updated_at: 0.0,
            delta_updated_at: 0.0,
            delta_updated_on_loss_at: 0.0,
            acked: 0,
            loss_share: LossShare::default(),
        }
    }
}

#[derive(Debug)]
struct CopaGcc {
    default_delta: f64,
    initial_delta: f64,
    switches_modes: bool,
    mss_bytes: f64,
    clock: Clock,
    rtt: RttWindows,
    losses: Losses,
    state: State,
}

impl CopaGcc {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let switches_modes = parameters.choice("delta_conf") == "auto";
        let delta = parameters.number("delta");
        let (default_delta, initial_delta) =
            if switches_modes { (delta, 1.0) } else { (DEFAULT_DELTA, delta) };
        Self {
            default_delta,
            initial_delta,
            switches_modes,
            mss_bytes: f64::from(start.mss_bytes.max(1)),
            clock: Clock::new(start),
            rtt: RttWindows::new(),
            losses: Losses::default(),
            state: State::new(initial_delta),
        }
    }

    fn on_packet(&mut self, now: Time, sent_at: Time, lost: u64) {
        let rtt = now.since(sent_at).as_ms_f64();
        let now_ms = self.clock.ms(now);
        self.rtt.push(now, rtt);
        self.update_delta(now_ms, false, rtt);
        self.update_window(now_ms);
        let mut reduces = false;
        for _ in 0..lost {
            reduces |= self.state.loss_share.count(now_ms, rtt, true);
        }
        if lost > 0 {
            self.update_delta(now_ms, true, 0.0);
        }
        reduces |= self.state.loss_share.count(now_ms, rtt, false);
        if reduces {
            self.state.window = MIN_WINDOW.max(LOSS_KEEP * self.state.window);
            self.state.spacing = 0.5 * self.rtt.standing() / self.state.window;
        }
        self.state.acked += 1;
    }

    fn update_delta(&mut self, now: f64, lost: bool, rtt: f64) {
        let state = &mut self.state;
        if self.switches_modes {
            state.mode = if self.rtt.was_queue_empty() { Mode::Default } else { Mode::Competitive };
        }
        let never = state.delta_updated_at == 0.0;
        match state.mode {
            Mode::Default => {
                if never || state.delta_updated_on_loss_at + rtt < now {
                    state.delta = self.default_delta;
                    state.delta_updated_at = now;
                }
            }
            Mode::Competitive => {
                if never {
                    state.delta = self.default_delta;
                }
                if lost && state.delta_updated_on_loss_at + rtt < now {
                    state.delta *= 2.0;
                    state.delta_updated_on_loss_at = now;
                } else if state.delta_updated_at + rtt < now {
                    state.delta = 1.0 / (1.0 / state.delta + 1.0);
                    state.delta_updated_at = now;
                }
                state.delta = state.delta.min(self.default_delta);
            }
        }
    }

    fn update_window(&mut self, now: f64) {
        let state = &mut self.state;
        if state.acked < PROBE_ACKS {
            return;
        }
        let standing = self.rtt.standing();
        let queueing = standing - self.rtt.min();
        let target = if queueing == 0.0 { f64::INFINITY } else { standing / (queueing * state.delta) };
        if state.in_slow_start {
            state.window += 1.0;
            state.in_slow_start = state.window < target;
        } else {
            if state.velocity_updated_at + self.rtt.latest < now {
                if state.direction * state.direction_sum > 0 {
                    state.velocity *= 2.0;
                } else {
                    state.velocity = 1.0;
                    state.direction = -state.direction;
                }
                state.velocity_updated_at = now;
                state.direction_sum = 0;
            }
            // The velocity is always a power of two, so genericCC's conversion to an integer changes nothing.
            if state.velocity > state.window * state.delta {
                state.velocity /= 2.0;
            }
            state.velocity = state.velocity.max(1.0);
            let step = state.velocity / (state.delta * state.window);
            if state.window < target {
                state.direction_sum += 1;
                state.window += step;
            } else {
                state.direction_sum -= 1;
                state.window -= step;
            }
        }
        state.window = state.window.max(MIN_WINDOW);
        state.spacing = 0.5 * standing / state.window;
    }
}

impl Controller for CopaGcc {
    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.losses.note(loss.packets.len());
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some((newest, older)) = ack.packets.split_last() else { return };
        for packet in older {
            self.on_packet(ack.now, packet.sent_at, 0);
        }
        let lost = self.losses.take();
        self.on_packet(ack.now, newest.sent_at, lost);
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        self.rtt.clear();
        self.losses = Losses::default();
        self.state = State::new(self.initial_delta);
    }

    fn control(&self) -> Control {
        Control {
            pacing: pacing(self.mss_bytes, self.state.spacing),
            ..Control::window((self.state.window * self.mss_bytes) as u64)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "packets", self.state.window);
        sink.put("velocity", "packets", self.state.velocity);
        sink.put("direction", "", self.state.direction as f64);
        sink.put("delta", "1/packet", self.state.delta);
        sink.put("rtt_standing", "ms", self.rtt.standing());
        sink.put("rtt_min", "ms", self.rtt.min());
        sink.put("queueing_delay", "ms", self.rtt.standing() - self.rtt.min());
        sink.put(
            "mode",
            "0 default, 1 competitive",
            f64::from(u8::from(self.state.mode == Mode::Competitive)),
        );
        sink.put("slow_start", "0 no, 1 yes", f64::from(u8::from(self.state.in_slow_start)));
    }
}
