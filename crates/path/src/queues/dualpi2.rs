//! `DualPI2`, the dual-queue coupled AQM for L4S (RFC 9332 section 2.5 and appendix A).
//!
//! - Packets with ECT(1) or CE go to the L4S queue, all others to the classic one.
//! - A PI controller updates the base probability p' every `t_update`, by the age of the oldest packet in either queue.
//!   Classic packets are marked with p'^2, or dropped if they are not ECN-capable. L4S packets are marked with the
//!   coupling factor times p', or by the ramp over their own delay if that is more. The square balances the rates: a
//!   classic sender's rate depends on 1/sqrt(p), a scalable sender's on 1/p.
//! - Under overload, with a coupled probability of 1, both queues drop with p'^2 and ECN no longer helps (A.2).
//! - Signals are spread evenly, by adding up probabilities, as in the RFC's `recur`.
//! - Scheduler: weighted round robin in bytes. While both queues have packets, the classic queue gets `classic_share`.
//!   After the L4S queue was empty it goes first again, for as long as it may be ahead.
//!
//! The last waiting packet is not dropped. Sans-IO: the next packet triggers the updates due since the last packet.
//! Their input, the ages of the oldest packets, is exact.

use super::discipline::{Discipline, QueueTable};
use super::fifo::{Fifo, Limits, mark};
use super::settings::{fraction, milliseconds, milliseconds_or_zero, refuse, unknown, whole};
use crate::{Ecn, Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Span, Time};

/// Maximum gain and coupling factor.
const HIGHEST: f64 = 1000.0;

/// Dual-queue coupled AQM for L4S, RFC 9332. Defaults are from RFC 9332 appendix A.1, except the share, which is from
/// Linux (tc-dualpi2(8)).
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dualpi2Spec {
    /// Limit over both queues, packets.
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
    /// Limit over both queues, bytes.
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
    /// Target delay of the classic queue, ms.
    #[serde(default = "target")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub target_ms: f64,
    /// Time between updates of the probability, ms.
    #[serde(default = "t_update")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub t_update_ms: f64,
    /// Integral gain: change of p' per update and second off target, Hz.
    #[serde(default = "alpha")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1000))]
    pub alpha_hz: f64,
    /// Proportional gain: change of p' per second of delay growth, Hz.
    #[serde(default = "beta")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1000))]
    pub beta_hz: f64,
    /// Coupling factor: L4S packets are marked with this times p'.
    #[serde(default = "coupling")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1000))]
    pub coupling: f64,
    /// Delay from which on L4S packets are marked by the ramp, ms.
    #[serde(default = "l4s_min")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub l4s_min_ms: f64,
    /// Width of the ramp, ms; 0 makes it a step.
    #[serde(default = "l4s_range")]
    #[schemars(range(min = 0, max = 3_600_000))]
    pub l4s_range_ms: f64,
    /// Number of waiting L4S packets up to which the ramp does nothing.
    #[serde(default = "l4s_spared")]
    pub l4s_spared_packets: u64,
    /// Share of the link for the classic queue while both wait.
    #[serde(default = "classic_share")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub classic_share: f64,
}

fn target() -> f64 {
    15.0
}
fn t_update() -> f64 {
    16.0
}
fn alpha() -> f64 {
    0.16
}
fn beta() -> f64 {
    3.2
}
fn coupling() -> f64 {
    2.0
}
fn l4s_min() -> f64 {
    0.8
}
fn l4s_range() -> f64 {
    0.4
}
fn l4s_spared() -> u64 {
    1
}
fn classic_share() -> f64 {
    0.1
}

/// Checks that the gain is above 0 and at most [`HIGHEST`]; returns it.
fn gain(name: &str, value: f64) -> Result<f64, Refusal> {
    if value > 0.0 && value <= HIGHEST {
        return Ok(value);
    }
    Err(refuse(name, value, "a number above 0, at most 1000"))
}

/// Checks that the classic queue's share is above 0 and below 1; returns it.
fn share(name: &str, value: f64) -> Result<f64, Refusal> {
    fraction(name, value)
        .ok()
        .filter(|value| *value < 1.0)
        .ok_or_else(|| refuse(name, value, "a number above 0, below 1"))
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    target: Span,
    t_update: Span,
    alpha_hz: f64,
    beta_hz: f64,
    coupling: f64,
    l4s_min: Span,
    l4s_range: Span,
    l4s_spared: u64,
    classic_share: f64,
}

impl Dualpi2Spec {
    fn settings(&self) -> Result<Settings, Refusal> {
        Ok(Settings {
            target: milliseconds("target_ms", self.target_ms)?,
            t_update: milliseconds("t_update_ms", self.t_update_ms)?,
            alpha_hz: gain("alpha_hz", self.alpha_hz)?,
            beta_hz: gain("beta_hz", self.beta_hz)?,
            coupling: gain("coupling", self.coupling)?,
            l4s_min: milliseconds("l4s_min_ms", self.l4s_min_ms)?,
            l4s_range: milliseconds_or_zero("l4s_range_ms", self.l4s_range_ms)?,
            l4s_spared: self.l4s_spared_packets,
            classic_share: share("classic_share", self.classic_share)?,
        })
    }
}

impl QueueTable for Dualpi2Spec {
    type Discipline = Dualpi2;

    fn check(&self) -> Result<(), Refusal> {
        Limits::new(self.packets, self.bytes)?;
        self.settings().map(drop)
    }

    fn build(&self, _rng: Rng) -> Result<Dualpi2, Refusal> {
        let settings = self.settings()?;
        Ok(Dualpi2 {
            l4s: Lane::default(),
            classic: Lane::default(),
            limits: Limits::new(self.packets, self.bytes)?,
            settings,
            base: 0.0,
            last_delay: 0.0,
            next_update: Time::ZERO + settings.t_update,
            ahead: 0.0,
            one_packet_bytes: 0,
        })
    }

    fn packets(&self) -> Option<u64> {
        self.packets
    }
}

/// One of the two queues.
#[derive(Clone, Debug, Default)]
struct Lane {
    fifo: Fifo,
    /// Sum of probabilities since the last signal.
    sum: f64,
}

impl Lane {
    /// Returns the waiting time of the oldest packet.
    fn delay(&self, now: Time) -> Span {
        self.fifo.first().map_or(Span::ZERO, |packet| now - packet.queued)
    }

    /// Returns true if a signal of this probability is due.
    fn recurs(&mut self, probability: f64) -> bool {
        self.sum += probability;
        let due = self.sum > 1.0 || probability >= 1.0;
        if due {
            self.sum = (self.sum - 1.0).max(0.0);
        }
        due
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Dualpi2 {
    l4s: Lane,
    classic: Lane,
    limits: Limits,
    settings: Settings,
    /// Base probability p'.
    base: f64,
    /// Delay at the last update, s.
    last_delay: f64,
    next_update: Time,
    /// Bytes by which the L4S queue is ahead of its share.
    ahead: f64,
    /// Largest packet seen.
    one_packet_bytes: u32,
}

impl Dualpi2 {
    /// Makes the updates due by `now` [RFC 9332 A.1, A.2].
    fn catch_up(&mut self, now: Time) {
        while now >= self.next_update {
            let at = self.next_update;
            self.next_update += self.settings.t_update;
            let delay = self.l4s.delay(at).max(self.classic.delay(at)).as_secs_f64();
            let off = delay - self.settings.target.as_secs_f64();
            let step = self.settings.alpha_hz * off + self.settings.beta_hz * (delay - self.last_delay);
            self.base = (self.base + step).clamp(0.0, 1.0);
            self.last_delay = delay;
            if self.base == 0.0 && self.packets() == 0 && now >= self.next_update {
                // Idle: the updates still due change nothing.
                let missed = (now - self.next_update).as_ns() / self.settings.t_update.as_ns();
                self.next_update += self.settings.t_update * (missed + 1);
            }
        }
    }

    /// Updates the scheduler's balance for a packet; `both`: true if both queues had packets when it was sent.
    fn account(&mut self, from_l4s: bool, both: bool, size_bytes: u32) {
        let share = self.settings.classic_share;
        self.ahead += match (both, from_l4s) {
            (true, true) => share * f64::from(size_bytes),
            (true, false) => -(1.0 - share) * f64::from(size_bytes),
            (false, _) => 0.0,
        };
    }

    /// Returns the next L4S packet; `None` if it was dropped.
    fn take_l4s<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let waiting = self.l4s.fifo.packets();
        let mut packet = self.l4s.fifo.pop()?;
        let coupled = self.settings.coupling * self.base;
        let marked = if coupled >= 1.0 {
            if self.packets() > 0 && self.l4s.recurs(self.base * self.base) {
                tap.packet(now, PacketEvent::Dropped, &packet);
                return None;
            }
            true
        } else {
            let native =
                if waiting > self.settings.l4s_spared { self.ramp(now - packet.queued) } else { 0.0 };
            self.l4s.recurs(coupled.max(native))
        };
        if marked {
            mark(now, &mut packet, tap);
        }
        Some(packet)
    }

    /// Returns the L4S queue's own probability for a packet that waited for `delay`.
    fn ramp(&self, delay: Span) -> f64 {
        let Settings { l4s_min, l4s_range, .. } = self.settings;
        if delay >= l4s_min + l4s_range {
            1.0
        } else if delay > l4s_min {
            (delay - l4s_min).as_secs_f64() / l4s_range.as_secs_f64()
        } else {
            0.0
        }
    }

    /// Returns the next classic packet; `None` if it was dropped.
    fn take_classic<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let mut packet = self.classic.fifo.pop()?;
        let overload = self.settings.coupling * self.base >= 1.0;
        if self.classic.recurs(self.base * self.base) {
            if packet.ecn.is_capable() && !overload {
                mark(now, &mut packet, tap);
            } else if self.packets() > 0 {
                tap.packet(now, PacketEvent::Dropped, &packet);
                return None;
            }
        }
        Some(packet)
    }
}

impl Discipline for Dualpi2 {
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        self.catch_up(now);
        let size_bytes = u64::from(packet.size_bytes);
        if self.limits.exceeded(self.packets() + 1, self.bytes() + size_bytes) {
            tap.packet(now, PacketEvent::Dropped, &packet);
            return;
        }
        self.one_packet_bytes = self.one_packet_bytes.max(packet.size_bytes);
        tap.packet(now, PacketEvent::Enqueued, &packet);
        let is_l4s = packet.ecn == Ecn::ECT1 || packet.ecn == Ecn::CE;
        if is_l4s && self.l4s.fifo.is_empty() {
            self.ahead = -(1.0 - self.settings.classic_share) * f64::from(self.one_packet_bytes);
        }
        if is_l4s { &mut self.l4s } else { &mut self.classic }.fifo.push(packet);
    }

    fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        self.catch_up(now);
        loop {
            let both = !self.l4s.fifo.is_empty() && !self.classic.fifo.is_empty();
            let from_l4s = if both { self.ahead <= 0.0 } else { !self.l4s.fifo.is_empty() };
            let packet = if from_l4s { self.take_l4s(now, tap) } else { self.take_classic(now, tap) };
            match packet {
                Some(packet) => {
                    self.account(from_l4s, both, packet.size_bytes);
                    return Some(packet);
                }
                None if self.packets() == 0 => return None,
                None => {}
            }
        }
    }

    fn packets(&self) -> u64 {
        self.l4s.fifo.packets() + self.classic.fifo.packets()
    }

    fn bytes(&self) -> u64 {
        self.l4s.fifo.bytes() + self.classic.fifo.bytes()
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        let settings = &mut self.settings;
        match name {
            "packets" | "bytes" => self.limits.set(name, value)?,
            "target_ms" => settings.target = milliseconds(name, value)?,
            "t_update_ms" => settings.t_update = milliseconds(name, value)?,
            "alpha_hz" => settings.alpha_hz = gain(name, value)?,
            "beta_hz" => settings.beta_hz = gain(name, value)?,
            "coupling" => settings.coupling = gain(name, value)?,
            "l4s_min_ms" => settings.l4s_min = milliseconds(name, value)?,
            "l4s_range_ms" => settings.l4s_range = milliseconds_or_zero(name, value)?,
            "l4s_spared_packets" => settings.l4s_spared = whole(name, value)?,
            "classic_share" => settings.classic_share = share(name, value)?,
            _ => {
                return Err(unknown(
                    name,
                    "packets, bytes, target_ms, t_update_ms, alpha_hz, beta_hz, coupling, l4s_min_ms, \
                     l4s_range_ms, l4s_spared_packets, classic_share",
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "dualpi2_tests.rs"]
mod tests;
