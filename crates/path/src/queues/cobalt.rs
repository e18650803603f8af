//! COBALT: CoDel and BLUE side by side, the AQM of CAKE (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", LANMAN
//! 2018, section 3; Linux's `sch_cake`), here over one queue.
//!
//! - CoDel is for senders that respond. While packets wait longer than the target, it signals every
//!   `interval / sqrt(count)`. RFC 8289 resets `count` when the delay is below the target; here `count` falls one by
//!   one, as fast as it rose.
//! - BLUE (Feng et al. 1999) is for senders that do not respond. It drops with a probability that rises by 1/256 when
//!   the limit is exceeded and falls by 1/4096 when the queue runs empty, each at most once per target. It never marks.
//! - When a limit is exceeded, the oldest packet is dropped. The last packet waiting is never dropped.
//! - If the link's rate is known, a delay of up to 4 packet times is never too long, the target is at least 1.5 packet
//!   times, and the interval grows with the target.
//!
//! The queue is not called when it runs empty. The next arrival handles this, with the time at which the last packet
//! was sent.

use super::control_law::Settings;
use super::discipline::{Discipline, QueueTable};
use super::fifo::{Fifo, Limits, mark};
use super::settings::{milliseconds, unknown};
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rate, Rng, Span, Time};

/// Increase of BLUE's probability on overflow.
const BLUE_RISE: f64 = 1.0 / 256.0;
/// Decrease of BLUE's probability when the queue runs empty.
const BLUE_FALL: f64 = 1.0 / 4096.0;

/// CoDel and BLUE, as in CAKE.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CobaltSpec {
    /// Limit, packets.
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
    /// Limit, bytes.
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
    /// Acceptable standing delay, ms.
    #[serde(default = "five")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub target_ms: f64,
    /// Time over target before the first signal, ms.
    #[serde(default = "hundred")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub interval_ms: f64,
    /// CoDel marks instead of dropping.
    #[serde(default)]
    pub ecn: bool,
}

fn five() -> f64 {
    5.0
}
fn hundred() -> f64 {
    100.0
}

impl CobaltSpec {
    fn settings(&self) -> Result<Settings, Refusal> {
        Settings::new(self.target_ms, self.interval_ms, self.ecn)
    }
}

impl QueueTable for CobaltSpec {
    type Discipline = Cobalt;

    fn check(&self) -> Result<(), Refusal> {
        Limits::new(self.packets, self.bytes)?;
        self.settings().map(drop)
    }

    fn build(&self, rng: Rng) -> Result<Cobalt, Refusal> {
        let settings = self.settings()?;
        Ok(Cobalt {
            fifo: Fifo::default(),
            limits: Limits::new(self.packets, self.bytes)?,
            settings,
            fitted: settings,
            packet_time: Span::ZERO,
            rate: Rate::ZERO,
            rng,
            count: 0,
            dropping: false,
            drop_next: Time::ZERO,
            blue: 0.0,
            blue_changed: Time::ZERO,
            served: Time::ZERO,
        })
    }

    fn packets(&self) -> Option<u64> {
        self.packets
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Cobalt {
    fifo: Fifo,
    limits: Limits,
    /// Requested settings.
    settings: Settings,
    /// Settings adapted to the link's rate.
    fitted: Settings,
    /// Transmission time of the largest packet seen, at the link's rate; zero if the rate is unknown.
    packet_time: Span,
    rate: Rate,
    rng: Rng,
    /// Signals of the current overload, minus one for each signal interval below target since.
    count: u32,
    dropping: bool,
    /// Time of the next signal or, below target, of the next step back.
    drop_next: Time,
    /// BLUE's probability and the time of its last change.
    blue: f64,
    blue_changed: Time,
    /// Time at which the latest packet is sent completely.
    served: Time,
}

/// Treatment of a packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Send,
    Mark,
    Drop,
}

impl Cobalt {
    /// Returns the transmission time of `bytes` at the link's rate.
    fn time_for(&self, bytes: u64) -> Span {
        if self.rate == Rate::ZERO { Span::ZERO } else { self.rate.time_for(bytes) }
    }

    /// Adapts target and interval to the largest packet at the link's rate.
    fn fit(&mut self) {
        let settings = self.settings;
        self.packet_time = self.time_for(settings.one_packet_bytes);
        let target = settings.target.max(self.packet_time * 3 / 2);
        let interval = (settings.interval + (target - settings.target)).max(target * 2);
        self.fitted = Settings { target, interval, ..settings };
    }

    fn spacing(&self) -> Span {
        self.fitted.spacing(self.count.max(1))
    }

    /// Changes BLUE's probability, at most once per target.
    fn move_blue(&mut self, now: Time, by: f64) {
        if now > self.blue_changed + self.fitted.target {
            self.blue = (self.blue + by).clamp(0.0, 1.0);
            self.blue_changed = now;
        }
    }

    fn overflowed(&mut self, now: Time) {
        self.move_blue(now, BLUE_RISE);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Handles an empty queue at `now`.
    fn found_empty(&mut self, now: Time) {
        if self.blue > 0.0 {
            self.move_blue(now, -BLUE_FALL);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.step_back();
        }
    }

    fn step_back(&mut self) {
        self.count -= 1;
        self.drop_next += self.spacing();
    }

    /// Decides about a packet that leaves after `sojourn`.
    fn judge(&mut self, now: Time, sojourn: Span, capable: bool) -> Verdict {
        let is_over = sojourn > self.fitted.target && sojourn > self.packet_time * 4;
        let mut is_late = now > self.drop_next;
        let is_due = self.count > 0 && now >= self.drop_next;
        if is_over {
            if !self.dropping {
                self.drop_next = now + self.spacing();
            }
            self.count = self.count.max(1);
        }
        self.dropping = is_over;
        let mut verdict = Verdict::Send;
        if is_due && is_over {
            verdict = if self.settings.ecn && capable { Verdict::Mark } else { Verdict::Drop };
            self.count = self.count.saturating_add(1);
            self.drop_next += self.spacing();
            is_late = now > self.drop_next;
        } else if is_due {
            while self.count > 0 && now >= self.drop_next {
                self.step_back();
            }
            is_late = now > self.drop_next;
        }
        if verdict != Verdict::Drop && self.rng.chance(self.blue) {
            verdict = Verdict::Drop;
        }
        // Without signals the time of the next signal shows inactivity.
        if self.count == 0 {
            self.drop_next = now + self.fitted.interval;
        } else if is_late && verdict != Verdict::Drop {
            self.drop_next = now;
        }
        verdict
    }
}

impl Discipline for Cobalt {
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        if self.fifo.is_empty() && now >= self.served {
            self.found_empty(self.served);
        }
        let size_bytes = u64::from(packet.size_bytes);
        if size_bytes > self.settings.one_packet_bytes {
            self.settings.one_packet_bytes = size_bytes;
            self.fit();
        }
        tap.packet(now, PacketEvent::Enqueued, &packet);
        self.fifo.push(packet);
        while self.limits.exceeded(self.fifo.packets(), self.fifo.bytes()) {
            let Some(oldest) = self.fifo.pop() else { return };
            tap.packet(now, PacketEvent::Dropped, &oldest);
            self.overflowed(now);
        }
    }

    fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        loop {
            let mut packet = self.fifo.pop()?;
            match self.judge(now, now - packet.queued, packet.ecn.is_capable()) {
                Verdict::Drop if !self.fifo.is_empty() => {
                    tap.packet(now, PacketEvent::Dropped, &packet);
                    continue;
                }
                Verdict::Mark => mark(now, &mut packet, tap),
                Verdict::Send | Verdict::Drop => {}
            }
            self.served = now + self.time_for(u64::from(packet.size_bytes));
            return Some(packet);
        }
    }

    fn packets(&self) -> u64 {
        self.fifo.packets()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        self.fit();
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        match name {
            "packets" | "bytes" => self.limits.set(name, value)?,
            "target_ms" => self.settings.target = milliseconds(name, value)?,
            "interval_ms" => self.settings.interval = milliseconds(name, value)?,
            _ => return Err(unknown(name, "packets, bytes, target_ms, interval_ms")),
        }
        self.fit();
        Ok(())
    }
}

#[cfg(test)]
#[path = "cobalt_tests.rs"]
mod tests;
