//! Copa: aims at a rate of `1 / (delta * queueing delay)`, and competes with flows that fill the queue.
//!
//! Source: Arun and Balakrishnan, NSDI 2018, section 2, with the defaults of the paper. Two rules are not in the paper
//! (`docs/evidence/derivations.md`, Copa):
//!
//! - The velocity is reset to 1 as soon as the comparison contradicts the direction (`quick_turn`,
//!   facebook/mvfst@00e67c1, `quic/congestion_control/Copa.cpp`). If it is tested once per window, as in the paper's
//!   text, the window keeps a limit cycle that the paper's section 3 rules out.
//! - The velocity moves the window by at most itself per round trip (`velocity_cap`, as in the authors' own
//!   venkatarun95/genericCC@d0153f8, `markoviancc.cc`); `copa-delay` has a tenth.
//!
//! Deviations:
//!
//! - A round trip is counted by packet number, not by the smoothed RTT.
//! - A queueing delay of exactly a tenth of the range is "nearly empty", so a path without delay variation is, too.
//! - A constant window has no direction.
//! - An ACK for several packets counts as that many ACKs with one RTT sample.
//! - The window does not grow while the application limits it.
//! - A timeout returns to slow start with the minimum window (the paper has no timeout).
//!
//! Expected: a lone flow fills more than 98 % of a FIFO link with about `2 / delta` packets queued, without loss after
//! slow start. This does not hold for a bandwidth-delay product of 40 packets or less (`docs/schemes/copa.md`, Quirks
//! and switches). Jain's index of 2 to 10 flows is above 0.99. Against Reno it gets about half of the link. Jitter `d`
//! between standing and minimum RTT limits the rate to one packet per `delta * d`.

mod mode;
#[cfg(test)]
mod tests;

use crate::parts::{Rounds, Window, WindowedMin};
use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Loss, Parameter, Parameters, Start, Timeout};
use mode::ModeSwitch;
use std::cmp::Ordering;
use units::{Rate, Span};

/// Minimum window, packets.
const MIN_WINDOW: f64 = 2.0;
/// Number of round trips in one direction before the velocity doubles.
const ROUNDS_BEFORE_DOUBLING: u32 = 3;
/// Pacing rate in windows per `RTTstanding`: high enough that the window limits, not the pacer.
const PACING_GAIN: f64 = 2.0;
/// Minimum rate, so that packets leave in spite of absurdly long RTTs.
const SLOWEST: Rate = Rate::from_bps(1);

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "copa",
    summary: "Copa of the paper (NSDI 2018) and two rules for its velocity, with a switch for each",
    parameters: &[
        Parameter::number(
            "delta",
            "1/packet",
            0.5,
            (0.001, 10.0),
            "About 1/delta packets are kept queued (paper 0.5, Pantheon since 2020 0.1, mvfst 0.05).",
        ),
        Parameter::number(
            "velocity_cap",
            "",
            1.0,
            (0.0, 1.0),
            "Largest change of the window per round trip, as a share of it (at least 1/delta packets); 0 for none.",
        ),
        Parameter::number(
            "noise_floor_ms",
            "ms",
            0.0,
            (0.0, 1000.0),
            "Delay that does not count as queueing.",
        ),
        Parameter::number("min_rtt_window_s", "s", 10.0, (0.1, 3600.0), "Window of the minimum RTT."),
        Parameter::flag(
            "quick_turn",
            true,
            "The velocity is 1 again as soon as the comparison contradicts the direction, not when the round trip ends.",
        ),
        Parameter::flag(
            "mode_switching",
            true,
            "Lower delta while others fill the queue (competitive mode).",
        ),
        Parameter::integer(
            "filled_rounds",
            "RTTs",
            5,
            (1, 1000),
            "Round trips without a nearly empty queue after which competitive mode begins.",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Copa::new(parameters, start))),
};

#[derive(Debug)]
struct Copa {
    window: Window,
    initial_delta: f64,
    /// Copa's delta, 1/packet.
    delta: f64,
    /// Maximum velocity as a fraction of the window, if there is a cap.
    velocity_cap: Option<f64>,
    /// True if a change of direction resets the velocity at once.
    turns_quickly: bool,
    /// Queueing delay that counts as noise, ns.
    noise_floor: u64,
    mode_switch: Option<ModeSwitch>,
    /// Minimum RTT, ns by ns.
    min_rtt: WindowedMin<u64>,
    standing: WindowedMin<u64>,
    in_slow_start: bool,
    velocity: f64,
    /// Direction of the window: +1 up, -1 down, 0 not known yet.
    direction: i8,
    /// Number of round trips in this direction.
    rounds_in_direction: u32,
    /// Window at the start of the round trip, packets.
    cwnd_at_round_start: f64,
    /// Round trips of the direction rule; a change of direction restarts them.
    rounds: Rounds,
}

impl Copa {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let delta = parameters.number("delta");
        let window = Window::from_bytes(start.initial_window_bytes, start.mss_bytes);
        let history = Span::from_secs_f64(parameters.number("min_rtt_window_s"));
        Self {
            window,
            initial_delta: delta,
            delta,
            velocity_cap: Some(parameters.number("velocity_cap")).filter(|cap| *cap > 0.0),
            turns_quickly: parameters.flag("quick_turn"),
            noise_floor: Span::from_secs_f64(parameters.number("noise_floor_ms") / 1e3).as_ns(),
            mode_switch: parameters
                .flag("mode_switching")
                .then(|| ModeSwitch::new(delta, parameters.integer("filled_rounds"))),
            min_rtt: WindowedMin::new(history.as_ns()),
            standing: WindowedMin::new(history.as_ns()),
            in_slow_start: true,
            velocity: 1.0,
            direction: 0,
            rounds_in_direction: 0,
            cwnd_at_round_start: window.packets,
            rounds: Rounds::default(),
        }
    }

    /// Returns the queueing delay `d_q`: standing less minimum RTT, less the noise floor, ns.
    fn queueing_ns(&self) -> u64 {
        match (self.standing.get(), self.min_rtt.get()) {
            (Some(standing), Some(min)) => standing.saturating_sub(min).saturating_sub(self.noise_floor),
            _ => 0,
        }
    }

    /// Returns true if the rate, cwnd per standing RTT, is at or below the target rate `1 / (delta * d_q)`.
    fn is_below_target(&self) -> bool {
        let standing = self.standing.get().unwrap_or(0) as f64;
        self.window.packets * self.delta * self.queueing_ns() as f64 <= standing
    }

    fn take_rtt(&mut self, ack: &Ack<'_>) {
        let Some(rtt) = ack.rtt else { return };
        let now = ack.now.as_ns();
        self.min_rtt.push(now, rtt.as_ns());
        self.standing.set_length((ack.srtt / 2).as_ns());
        self.standing.push(now, rtt.as_ns());
    }

    fn turn(&mut self, direction: i8, next_number: u64) {
        self.direction = direction;
        self.velocity = 1.0;
        self.rounds_in_direction = 0;
        self.begin_round(next_number);
    }

    fn begin_round(&mut self, next_number: u64) {
        self.cwnd_at_round_start = self.window.packets;
        self.rounds.restart(next_number);
    }

    /// Ends a round trip: the velocity doubles if the window has kept its direction for three round trips.
    fn end_round(&mut self) {
        // A constant window has no direction. It is at its minimum, or the application limits it.
        let direction = match self.window.packets.total_cmp(&self.cwnd_at_round_start) {
            Ordering::Greater => 1,
            Ordering::Less => -1,
            Ordering::Equal => 0,
        };
        if direction == self.direction && direction != 0 {
            self.rounds_in_direction += 1;
            if self.rounds_in_direction >= ROUNDS_BEFORE_DOUBLING {
                self.velocity *= 2.0;
            }
        } else {
            self.velocity = 1.0;
            self.rounds_in_direction = 1;
        }
        self.direction = direction;
        self.cwnd_at_round_start = self.window.packets;
    }

    fn update_window(&mut self, ack: &Ack<'_>) {
        let acked = self.window.in_packets(ack.acked_bytes);
        let is_below_target = self.is_below_target();
        let may_grow = ack.window_limited || !ack.app_limited;
        if self.in_slow_start {
            if is_below_target {
                if may_grow {
                    self.window.packets += acked;
                }
                return;
            }
            self.in_slow_start = false;
            self.turn(-1, ack.next_number);
        } else if self.rounds.ended(ack) {
            self.end_round();
        }
        let direction = if is_below_target { 1 } else { -1 };
        if self.turns_quickly && direction != self.direction && self.velocity > 1.0 {
            self.turn(direction, ack.next_number);
        }
        if is_below_target && !may_grow {
            return;
        }
        if let Some(share) = self.velocity_cap {
            self.velocity = self.velocity.min((share * self.delta * self.window.packets).max(1.0));
        }
        let change = acked * self.velocity / (self.delta * self.window.packets);
        self.window.packets = (self.window.packets + f64::from(direction) * change).max(MIN_WINDOW);
    }
}

impl Controller for Copa {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.packets.is_empty() {
            return;
        }
        self.take_rtt(ack);
        if let (Some(switch), Some(standing), Some(min)) =
            (&mut self.mode_switch, self.standing.get(), self.min_rtt.get())
        {
            let queueing = standing.saturating_sub(min).saturating_sub(self.noise_floor);
            self.delta = switch.on_ack(ack, min, queueing);
        }
        self.update_window(ack);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if let Some(switch) = &mut self.mode_switch
            && loss.new_episode
        {
            self.delta = switch.on_loss();
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.packets = MIN_WINDOW;
        self.in_slow_start = true;
        self.turn(0, timeout.next_number);
        if let Some(switch) = &mut self.mode_switch {
            switch.restart();
            self.delta = self.initial_delta;
        }
    }

    fn control(&self) -> Control {
        let window_bytes = self.window.bytes();
        let pacing = self.standing.get().filter(|standing| *standing > 0).map(|standing| {
            Rate::from_bytes_per(window_bytes, Span::from_ns(standing)).mul_f64(PACING_GAIN).max(SLOWEST)
        });
        Control { pacing, ..Control::window(window_bytes) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let ms = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| Span::from_ns(ns).as_ms_f64());
        let is_competitive = self.mode_switch.as_ref().is_some_and(ModeSwitch::is_competitive);
        sink.put("cwnd", "packets", self.window.packets);
        sink.put("velocity", "packets", self.velocity);
        sink.put("direction", "", f64::from(self.direction));
        sink.put("delta", "1/packet", self.delta);
        sink.put("rtt_standing", "ms", ms(self.standing.get()));
        sink.put("rtt_min", "ms", ms(self.min_rtt.get()));
        sink.put("queueing_delay", "ms", ms(Some(self.queueing_ns())));
        sink.put("mode", "0 default, 1 competitive", f64::from(u8::from(is_competitive)));
        sink.put("slow_start", "0 no, 1 yes", f64::from(u8::from(self.in_slow_start)));
    }
}
