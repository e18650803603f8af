//! PIE as in RFC 8033: drops on arrival with a probability that a PI controller updates every `t_update`, so that the
//! queueing delay meets a target.
//!
//! The delay estimate is RFC 8033's first method: backlog over departure rate. The rate is measured over departures of
//! 16 KiB while the backlog is at least that (section 5.2). There are two refinements. The departure that starts a
//! measurement is not counted, because counting it overestimates the rate by a packet. Until the first measurement the
//! link's current rate is used (zero delay if it is unknown).
//! Optional elements present: ECN marking below 10 % (5.1), de-randomisation (5.4) and the cap on increases (5.5). The
//! controller is never switched off (5.3).
//!
//! Sans-IO: the next packet triggers the periodic updates due since the last packet, with the backlog of that time.

use super::spec::Settings;
use crate::queues::discipline::Discipline;
use crate::queues::fifo::{Fifo, Limits, mark};
use crate::queues::settings::{milliseconds, milliseconds_or_zero, unknown};
use crate::{Packet, PacketEvent, Tap};
use strict_input::Refusal;
use units::{Rate, Rng, Span, Time};

/// Weight of the deviation from the target, Hz (RFC 8033 section 4.2).
const ALPHA: f64 = 0.125;
/// Weight of the change since the last update, Hz (RFC 8033 section 4.2).
const BETA: f64 = 1.25;
/// Bytes of one measurement of the departure rate (RFC 8033 section 5.2).
const DEPARTURE_BYTES: u64 = 1 << 14;
/// Weight of a new measurement: `DEPARTURE_BYTES` / 2^16 (RFC 8033 section 5.2).
const DEPARTURE_WEIGHT: f64 = 0.25;
/// Unit of the backlog, bytes: a backlog up to two of these never causes a drop.
const PACKET_BYTES: u64 = 1500;
/// Decay of the probability per update without any delay (RFC 8033 section 4.2).
const DECAY: f64 = 0.98;
/// Probability above which ECN-capable packets are dropped too (RFC 8033 section 5.1).
const MARK_BELOW: f64 = 0.1;
/// Sums of probabilities: below the first no packet is dropped, from the second on every packet (RFC 8033 section 5.4).
const DROP_SUMS: (f64, f64) = (0.85, 8.5);
/// Probability from which on it grows by at most [`LARGEST_STEP`] per update (RFC 8033 section 5.5).
const STEPS_CAPPED_FROM: f64 = 0.1;
const LARGEST_STEP: f64 = 0.02;

#[derive(Clone, Debug)]
pub(crate) struct Rfc8033 {
    fifo: Fifo,
    limits: Limits,
    settings: Settings,
    rng: Rng,
    controller: Controller,
    next_update: Time,
    /// Sum of drop probabilities since the last drop.
    accumulated: f64,
    departures: Departures,
}

/// State that an update changes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Controller {
    drop_probability: f64,
    /// Queueing delays at the last two updates, s.
    delay: f64,
    delay_old: f64,
    /// Remaining time in which every packet is accepted.
    burst_allowance: Span,
}

/// Departure rate, stored as the time in which [`DEPARTURE_BYTES`] leave.
#[derive(Clone, Copy, Debug, Default)]
struct Departures {
    /// Start of the current measurement and bytes that left since.
    measuring: Option<(Time, u64)>,
    /// Average time, s; zero before the first measurement.
    average: f64,
    link: Rate,
}

impl Departures {
    /// Counts a departure of `size_bytes`; `backlog_bytes` remain.
    fn on_departure(&mut self, now: Time, size_bytes: u32, backlog_bytes: u64) {
        let busy = backlog_bytes >= DEPARTURE_BYTES;
        let Some((start, bytes)) = &mut self.measuring else {
            self.measuring = busy.then_some((now, 0));
            return;
        };
        *bytes += u64::from(size_bytes);
        if *bytes < DEPARTURE_BYTES {
            return;
        }
        let sample = (now - *start).as_secs_f64() * DEPARTURE_BYTES as f64 / *bytes as f64;
        self.average = if self.average == 0.0 {
            sample
        } else {
            self.average + DEPARTURE_WEIGHT * (sample - self.average)
        };
        self.measuring = busy.then_some((now, 0));
    }

    /// Returns the estimated wait behind `backlog_bytes`, s.
    fn delay(&self, backlog_bytes: u64) -> f64 {
        if self.average > 0.0 {
            backlog_bytes as f64 * self.average / DEPARTURE_BYTES as f64
        } else if self.link > Rate::ZERO {
            backlog_bytes as f64 / self.link.bytes_per_sec()
        } else {
            0.0
        }
    }
}

/// Returns the factor by which the controller slows down while the probability is small (RFC 8033 section 4.2).
fn tuning(drop_probability: f64) -> f64 {
    match drop_probability {
        p if p < 0.000_001 => 1.0 / 2048.0,
        p if p < 0.000_01 => 1.0 / 512.0,
        p if p < 0.000_1 => 1.0 / 128.0,
        p if p < 0.001 => 1.0 / 32.0,
        p if p < 0.01 => 1.0 / 8.0,
        p if p < 0.1 => 1.0 / 2.0,
        _ => 1.0,
    }
}

impl Controller {
    fn update(&mut self, delay: f64, settings: &Settings) {
        let target = settings.target.as_secs_f64();
        self.delay_old = self.delay;
        self.delay = delay;
        // [RFC 8033 4.2]
        let step =
            (ALPHA * (delay - target) + BETA * (delay - self.delay_old)) * tuning(self.drop_probability);
        let capped = self.drop_probability >= STEPS_CAPPED_FROM && step > LARGEST_STEP; // [RFC 8033 5.5]
        self.drop_probability += if capped { LARGEST_STEP } else { step };
        if delay == 0.0 && self.delay_old == 0.0 {
            self.drop_probability *= DECAY;
        }
        self.drop_probability = self.drop_probability.clamp(0.0, 1.0);
        // [RFC 8033 4.4]
        let calm = self.drop_probability == 0.0 && delay < target / 2.0 && self.delay_old < target / 2.0;
        self.burst_allowance =
            if calm { settings.max_burst } else { self.burst_allowance - settings.t_update };
    }
}

impl Rfc8033 {
    pub(super) fn new(limits: Limits, settings: Settings, rng: Rng) -> Self {
        Self {
            fifo: Fifo::default(),
            limits,
            settings,
            rng,
            controller: Controller {
                drop_probability: 0.0,
                delay: 0.0,
                delay_old: 0.0,
                burst_allowance: settings.max_burst,
            },
            next_update: Time::ZERO + settings.t_update,
            accumulated: 0.0,
            departures: Departures::default(),
        }
    }

    #[inline]
    fn catch_up(&mut self, now: Time) {
        if now >= self.next_update {
            self.update_until(now);
        }
    }

    fn update_until(&mut self, now: Time) {
        let period = self.settings.t_update;
        let delay = self.departures.delay(self.fifo.bytes());
        while now >= self.next_update {
            let before = self.controller;
            self.controller.update(delay, &self.settings);
            self.next_update += period;
            if self.controller == before && now >= self.next_update {
                // Settled: the updates still due change nothing.
                let missed = (now - self.next_update).as_ns() / period.as_ns();
                self.next_update += period * (missed + 1);
            }
        }
    }

    /// Returns true if the controller signals this arrival, by drop or mark [RFC 8033 4.1, 5.4].
    fn signals(&mut self) -> bool {
        let probability = self.controller.drop_probability;
        let relaxed =
            self.controller.delay_old < self.settings.target.as_secs_f64() / 2.0 && probability < 0.2;
        if !self.controller.burst_allowance.is_zero() || relaxed || self.fifo.bytes() <= 2 * PACKET_BYTES {
            return false;
        }
        if probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += probability;
        let hit = self.accumulated >= DROP_SUMS.0
            && (self.accumulated >= DROP_SUMS.1 || self.rng.chance(probability));
        if hit {
            self.accumulated = 0.0;
        }
        hit
    }
}

impl Discipline for Rfc8033 {
    fn enqueue<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) {
        self.catch_up(now);
        let mut accepted = self.limits.admit(&self.fifo, packet.size_bytes);
        if accepted && self.signals() {
            if self.settings.ecn && packet.ecn.is_capable() && self.controller.drop_probability <= MARK_BELOW
            {
                mark(now, &mut packet, tap);
            } else {
                accepted = false;
            }
        }
        if accepted {
            tap.packet(now, PacketEvent::Enqueued, &packet);
            self.fifo.push(packet);
        } else {
            tap.packet(now, PacketEvent::Dropped, &packet);
        }
    }

    fn dequeue<T: Tap>(&mut self, now: Time, _tap: &mut T) -> Option<Packet> {
        self.catch_up(now);
        let packet = self.fifo.pop()?;
        self.departures.on_departure(now, packet.size_bytes, self.fifo.bytes());
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.fifo.packets()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn set_rate(&mut self, rate: Rate) {
        self.departures.link = rate;
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        match name {
            "packets" | "bytes" => self.limits.set(name, value)?,
            "target_ms" => self.settings.target = milliseconds(name, value)?,
            "t_update_ms" => self.settings.t_update = milliseconds(name, value)?,
            "max_burst_ms" => self.settings.max_burst = milliseconds_or_zero(name, value)?,
            _ => return Err(unknown(name, "packets, bytes, target_ms, t_update_ms, max_burst_ms")),
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "rfc8033_tests.rs"]
mod tests;
