//! Copa as mvfst runs it: the latest RTT is the delay, the window doubles once a round trip, no competitive mode.
//!
//! Source: facebook/mvfst@979f26a, `quic/congestion_control/Copa.cpp`, `Copa.h` and `TokenlessPacer.cpp`, with the
//! constants of `quic/QuicConstants.h`. Differences from the paper's Copa ([`crate::schemes::copa`]):
//!
//! - The queueing delay is the latest RTT less the minimum of 10 s; `RTTstanding` (the minimum of half a smoothed RTT)
//!   only turns the window into a rate. `use_rtt_standing` is the program's `copaUseRttStanding`: the paper's delay.
//! - `delta` is 0.05: about 20 packets are queued instead of the paper's 2.
//! - Slow start doubles the window once a smoothed RTT, with one ACK, and ends at the first ACK above the target rate.
//! - The direction is judged once a smoothed RTT. The velocity has no bound, but it becomes 1 when the comparison
//!   contradicts the direction.
//! - Losses change nothing; persistent congestion leaves the minimum window.
//! - The pacing rate is two windows per smoothed RTT.
//! - Windows are whole bytes, delays whole microseconds, and minima those of Nichols' three estimates.
//!
//! Deviations:
//!
//! - A packet counts as its payload (mvfst: with its QUIC header).
//! - Packets leave at the pacing rate one by one (mvfst: five or more at a time).
//! - A retransmission timeout, which QUIC does not have, counts as persistent congestion.
//!
//! Expected: a lone flow fills a link with about `1 / delta` packets queued, and keeps it filled under random loss.

mod filter;
#[cfg(test)]
mod tests;

use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Parameter, Parameters, Start, Timeout};
use filter::WindowedMin;
use units::{Rate, Span, Time};

/// Pacing rate in windows per smoothed RTT.
const PACING_GAIN: u64 = 2;
/// Tick of the pacer: shorter round trips are not paced (`kDefaultPacingTickInterval`).
const PACING_TICK: Span = Span::from_ms(1);
/// Number of round trips in one direction before the velocity doubles; the second value is for `use_rtt_standing`.
const ROUNDS_BEFORE_DOUBLING: [u32; 2] = [3, 4];
/// Minimum rate, so that packets leave at windows of a byte per second or less.
const SLOWEST: Rate = Rate::from_bps(1);

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "copa_mvfst",
    summary: "Copa as mvfst runs it: driven by the latest RTT, paced at two windows per RTT",
    parameters: &[
        Parameter::number(
            "delta",
            "1/packet",
            0.05,
            (0.001, 10.0),
            "About 1/delta packets are kept queued (copaDeltaParam).",
        ),
        Parameter::flag(
            "use_rtt_standing",
            false,
            "The delay is RTTstanding's, as in the paper, not the latest RTT's (copaUseRttStanding).",
        ),
        Parameter::integer("min_window", "packets", 2, (1, 1000), "Smallest window (kMinCwndInMss)."),
        Parameter::integer(
            "max_window",
            "packets",
            2000,
            (2, 10_000_000),
            "Largest window (kDefaultMaxCwndInMss).",
        ),
        Parameter::number(
            "min_rtt_window_s",
            "s",
            10.0,
            (0.1, 3600.0),
            "Window of the minimum RTT (kMinRTTWindowLength).",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(CopaMvfst::new(parameters, start))),
};

/// Direction of the window; the discriminants are the values of the field `direction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    None = 0,
    Up = 1,
    Down = -1,
}

#[derive(Debug)]
struct CopaMvfst {
    mss_bytes: u64,
    cwnd_bytes: u64,
    min_cwnd_bytes: u64,
    max_cwnd_bytes: u64,
    delta: f64,
    uses_standing: bool,
    /// Latest RTT, us.
    latest_us: u64,
    min_rtt: WindowedMin,
    standing: WindowedMin,
    srtt: Span,
    in_slow_start: bool,
    /// Time when slow start last doubled the window, or of its first ACK.
    doubled_at: Option<Time>,
    velocity: u64,
    direction: Direction,
    /// Number of round trips in this direction.
    rounds_in_direction: u32,
    /// Window when the direction was last judged, bytes.
    recorded_cwnd_bytes: u64,
    recorded_at: Option<Time>,
}

impl CopaMvfst {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let mss_bytes = u64::from(start.mss_bytes.max(1));
        let min_cwnd_bytes = parameters.integer("min_window") as u64 * mss_bytes;
        Self {
            mss_bytes,
            cwnd_bytes: start.initial_window_bytes,
            min_cwnd_bytes,
            max_cwnd_bytes: (parameters.integer("max_window") as u64 * mss_bytes).max(min_cwnd_bytes),
            delta: parameters.number("delta"),
            uses_standing: parameters.flag("use_rtt_standing"),
            latest_us: 0,
            min_rtt: WindowedMin::new((parameters.number("min_rtt_window_s") * 1e6) as u64),
            standing: WindowedMin::new(0),
            srtt: Span::ZERO,
            in_slow_start: true,
            doubled_at: None,
            velocity: 1,
            direction: Direction::None,
            rounds_in_direction: 0,
            recorded_cwnd_bytes: 0,
            recorded_at: None,
        }
    }

    /// Returns the estimated queueing delay, us.
    fn queueing_us(&self) -> u64 {
        let rtt = if self.uses_standing { self.standing.get() } else { self.latest_us };
        rtt.saturating_sub(self.min_rtt.get())
    }

    /// Returns true if the rate is at or below the target; without delay any rate is.
    fn is_below_target(&self) -> bool {
        let queueing = self.queueing_us();
        let target = self.mss_bytes as f64 * 1e6 / (self.delta * queueing as f64);
        queueing == 0 || target >= self.cwnd_bytes as f64 * 1e6 / self.standing.get() as f64
    }

    fn take_rtt(&mut self, ack: &Ack<'_>) {
        if let Some(rtt) = ack.rtt {
            self.latest_us = rtt.as_ns() / 1000;
        }
        let (now_us, srtt_us) = (ack.now.as_ns() / 1000, ack.srtt.as_ns() / 1000);
        self.srtt = Span::from_us(srtt_us);
        // An ACK without a sample repeats the latest one.
        self.min_rtt.update(now_us, self.latest_us);
        self.standing.set_length(if self.uses_standing { srtt_us } else { srtt_us / 2 });
        self.standing.update(now_us, self.latest_us);
    }

    /// Judges the direction once a smoothed RTT: the velocity doubles if the window has kept its direction for long
    /// enough.
    fn judge_direction(&mut self, now: Time) {
        let Some(recorded_at) = self.recorded_at else { return self.record(now) };
        if now - recorded_at < self.srtt {
            return;
        }
        let direction =
            if self.cwnd_bytes > self.recorded_cwnd_bytes { Direction::Up } else { Direction::Down };
        if direction == self.direction {
            self.rounds_in_direction += 1;
            if self.rounds_in_direction >= ROUNDS_BEFORE_DOUBLING[usize::from(self.uses_standing)] {
                self.velocity = self.velocity.saturating_mul(2);
            }
        } else {
            self.velocity = 1;
            self.rounds_in_direction = 0;
        }
        self.direction = direction;
        self.record(now);
    }

    /// Handles a comparison that contradicts the direction: the velocity of one direction is not used in the other.
    fn turn(&mut self, direction: Direction, now: Time) {
        if self.direction != direction && self.velocity > 1 {
            self.direction = direction;
            self.velocity = 1;
            self.rounds_in_direction = 0;
            self.record(now);
        }
    }

    fn record(&mut self, now: Time) {
        self.recorded_at = Some(now);
        self.recorded_cwnd_bytes = self.cwnd_bytes;
    }

    /// Returns the bytes by which an ACK of `packets` moves the window.
    fn step_bytes(&self, packets: usize) -> u64 {
        let moved = (packets as u64 * self.mss_bytes * self.mss_bytes).saturating_mul(self.velocity);
        (moved as f64 / (self.delta * self.cwnd_bytes as f64)) as u64
    }

    fn grow(&mut self, bytes: u64) {
        self.cwnd_bytes = self.cwnd_bytes.saturating_add(bytes).min(self.max_cwnd_bytes);
    }

    fn double(&mut self, now: Time) {
        match self.doubled_at {
            None => self.doubled_at = Some(now),
            Some(at) if now - at > self.srtt => {
                self.grow(self.cwnd_bytes);
                self.doubled_at = Some(now);
            }
            Some(_) => {}
        }
    }

    fn update_window(&mut self, ack: &Ack<'_>) {
        let is_below_target = self.is_below_target();
        if is_below_target && self.in_slow_start {
            return self.double(ack.now);
        }
        self.judge_direction(ack.now);
        if is_below_target {
            self.turn(Direction::Up, ack.now);
            self.grow(self.step_bytes(ack.packets.len()));
        } else {
            self.turn(Direction::Down, ack.now);
            self.in_slow_start = false;
            let step = self.step_bytes(ack.packets.len());
            self.cwnd_bytes = self.cwnd_bytes.saturating_sub(step).max(self.min_cwnd_bytes);
        }
    }
}

impl Controller for CopaMvfst {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.packets.is_empty() {
            return;
        }
        self.take_rtt(ack);
        if self.standing.get() > 0 && self.standing.get() >= self.min_rtt.get() {
            self.update_window(ack);
        }
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        self.cwnd_bytes = self.min_cwnd_bytes;
    }

    fn control(&self) -> Control {
        let pacing = (self.srtt >= PACING_TICK)
            .then(|| Rate::from_bytes_per(PACING_GAIN * self.cwnd_bytes, self.srtt).max(SLOWEST));
        Control { pacing, ..Control::window(self.cwnd_bytes) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "packets", self.cwnd_bytes as f64 / self.mss_bytes as f64);
        sink.put("velocity", "packets", self.velocity as f64);
        sink.put("direction", "", f64::from(self.direction as i8));
        sink.put("rtt_latest", "ms", self.latest_us as f64 / 1e3);
        sink.put("rtt_standing", "ms", self.standing.get() as f64 / 1e3);
        sink.put("rtt_min", "ms", self.min_rtt.get() as f64 / 1e3);
        sink.put("queueing_delay", "ms", self.queueing_us() as f64 / 1e3);
        sink.put("slow_start", "0 no, 1 yes", f64::from(u8::from(self.in_slow_start)));
    }
}
