//! RED: random early detection (Floyd and Jacobson 1993), with the gentle slope (Floyd 2000).
//!
//! An exponentially weighted average of the backlog is compared with two thresholds on every arrival. Between them the
//! probability grows from 0 to `max_probability`. Above the upper threshold, gentle RED raises it further, to 1 at
//! twice the threshold; plain RED drops everything. Drops are spread evenly by the count of packets since the last
//! drop.
//!
//! - If everything is dropped, ECN-capable packets are dropped too (RFC 3168 section 7).
//! - Thresholds in bytes change the averaged quantity, not the probability of packets of different size (RFC 7141).
//! - An idle time ages the average as if packets of `packet_bytes` had left an empty queue at the link's rate; if the
//!   rate is unknown, as if one packet had left.

use super::discipline::{Discipline, QueueTable};
use super::fifo::{Fifo, Limits, mark};
use super::settings::{fraction, refuse, unknown, whole};
use crate::element_settings::full_packet;
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rate, Rng, Time};

/// Random early detection. Both thresholds are needed, both in packets or both in bytes.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedSpec {
    /// Limit, packets.
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
    /// Limit, bytes.
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
    /// Average backlog below which nothing is dropped, packets.
    #[schemars(range(min = 1))]
    pub min_threshold_packets: Option<u64>,
    /// Average backlog at which the probability reaches its maximum, packets.
    #[schemars(range(min = 1))]
    pub max_threshold_packets: Option<u64>,
    /// The lower threshold in bytes.
    #[schemars(range(min = 1))]
    pub min_threshold_bytes: Option<u64>,
    /// The upper threshold in bytes.
    #[schemars(range(min = 1))]
    pub max_threshold_bytes: Option<u64>,
    /// Probability at the upper threshold.
    #[serde(default = "tenth")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
    pub max_probability: f64,
    /// Weight of a new sample in the average.
    #[serde(default = "usual_weight")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
    pub weight: f64,
    /// Usual packet size, bytes; ages the average in idle times.
    #[serde(default = "full_packet::<u64>")]
    #[schemars(range(min = 1))]
    pub packet_bytes: u64,
    /// Raise the probability to 1 between once and twice the upper threshold instead of at once.
    #[serde(default = "yes")]
    pub gentle: bool,
    /// Mark instead of drop, except if everything is dropped.
    #[serde(default)]
    pub ecn: bool,
}

fn tenth() -> f64 {
    0.1
}
/// Weight of Floyd and Jacobson 1993.
fn usual_weight() -> f64 {
    0.002
}
fn yes() -> bool {
    true
}

impl RedSpec {
    fn settings(&self) -> Result<Settings, Refusal> {
        let in_packets = (self.min_threshold_packets, self.max_threshold_packets);
        let in_bytes = (self.min_threshold_bytes, self.max_threshold_bytes);
        let (min, max, in_bytes) = match (in_packets, in_bytes) {
            ((Some(min), Some(max)), (None, None)) => (min, max, false),
            ((None, None), (Some(min), Some(max))) => (min, max, true),
            _ => {
                return Err(Refusal::of_key(
                    "thresholds",
                    "allowed is `min_threshold_packets` with `max_threshold_packets`, \
                            or `min_threshold_bytes` with `max_threshold_bytes`",
                ));
            }
        };
        let name = if in_bytes { "min_threshold_bytes" } else { "min_threshold_packets" };
        let settings = Settings {
            min: whole(name, min as f64)? as f64,
            max: max as f64,
            in_bytes,
            max_probability: fraction("max_probability", self.max_probability)?,
            weight: fraction("weight", self.weight)?,
            packet_bytes: whole("packet_bytes", self.packet_bytes as f64)?,
            gentle: self.gentle,
            ecn: self.ecn,
        };
        settings.check()?;
        Ok(settings)
    }
}

impl QueueTable for RedSpec {
    type Discipline = Red;

    fn check(&self) -> Result<(), Refusal> {
        Limits::new(self.packets, self.bytes)?;
        self.settings().map(drop)
    }

    fn build(&self, rng: Rng) -> Result<Red, Refusal> {
        Ok(Red::new(Limits::new(self.packets, self.bytes)?, self.settings()?, rng))
    }

    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn packets(&self) -> Option<u64> {
        self.packets
    }
}

/// Checked [`RedSpec`] for the discipline.
#[derive(Clone, Copy, Debug)]
struct Settings {
    /// Thresholds, packets or bytes.
    min: f64,
    max: f64,
    in_bytes: bool,
    max_probability: f64,
    /// Weight of a new sample of the backlog.
    weight: f64,
    packet_bytes: u64,
    gentle: bool,
    ecn: bool,
}

impl Settings {
    /// Refuses thresholds in the wrong order.
    fn check(&self) -> Result<(), Refusal> {
        if self.min < self.max {
            return Ok(());
        }
        let name = if self.in_bytes { "max_threshold_bytes" } else { "max_threshold_packets" };
        Err(refuse(name, self.max, &format!("a whole number above the minimum threshold, {}", self.min)))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Red {
    fifo: Fifo,
    limits: Limits,
    settings: Settings,
    rng: Rng,
    /// Average backlog, packets or bytes.
    average: f64,
    /// Packets since the last signal; -1 while the average is below the lower threshold.
    count: i64,
    /// Time at which the queue became empty.
    idle_since: Time,
    rate: Rate,
}

/// Treatment of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Accept,
    /// Mark, or drop a packet that cannot be marked.
    Signal,
    Drop,
}

impl Red {
    fn new(limits: Limits, settings: Settings, rng: Rng) -> Self {
        Self {
            fifo: Fifo::default(),
            limits,
            settings,
            rng,
            average: 0.0,
            count: -1,
            idle_since: Time::ZERO,
            rate: Rate::ZERO,
        }
    }

    fn update_average(&mut self, now: Time) {
        if self.fifo.is_empty() {
            let packet_time = self.rate.time_for(self.settings.packet_bytes).as_secs_f64();
            let departures = if self.rate == Rate::ZERO || packet_time == 0.0 {
                1.0
            } else {
                (now - self.idle_since).as_secs_f64() / packet_time
            };
            self.average *= libm::pow(1.0 - self.settings.weight, departures);
        } else {
            let backlog = if self.settings.in_bytes { self.fifo.bytes() } else { self.fifo.packets() };
            self.average += self.settings.weight * (backlog as f64 - self.average);
        }
    }

    /// Returns the probability from the average alone; `None` if everything is dropped.
    fn probability(&self) -> Option<f64> {
        let Settings { min, max, max_probability, gentle, .. } = self.settings;
        if self.average < max {
            Some(max_probability * (self.average - min) / (max - min))
        } else if gentle && self.average < 2.0 * max {
            Some(max_probability + (1.0 - max_probability) * (self.average - max) / max)
        } else {
            None
        }
    }

    fn verdict(&mut self) -> Verdict {
        if self.average < self.settings.min {
            self.count = -1;
            return Verdict::Accept;
        }
        let Some(probability) = self.probability() else {
            self.count = 0;
            return Verdict::Drop;
        };
        self.count += 1;
        if self.rng.chance(spread(probability, self.count)) {
            self.count = 0;
            return Verdict::Signal;
        }
        Verdict::Accept
    }
}

impl Discipline for Red {
    fn enqueue<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) {
        self.update_average(now);
        let fits = self.limits.admit(&self.fifo, packet.size_bytes);
        let accepted = match self.verdict() {
            Verdict::Accept => fits,
            Verdict::Signal if fits && self.settings.ecn && packet.ecn.is_capable() => {
                mark(now, &mut packet, tap);
                true
            }
            Verdict::Signal | Verdict::Drop => false,
        };
        if accepted {
            tap.packet(now, PacketEvent::Enqueued, &packet);
            self.fifo.push(packet);
        } else {
            self.count = self.count.min(0);
            tap.packet(now, PacketEvent::Dropped, &packet);
        }
    }

    fn dequeue<T: Tap>(&mut self, now: Time, _tap: &mut T) -> Option<Packet> {
        let packet = self.fifo.pop()?;
        if self.fifo.is_empty() {
            self.idle_since = now;
        }
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.fifo.packets()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        let mut settings = self.settings;
        match (name, settings.in_bytes) {
            ("packets" | "bytes", _) => return self.limits.set(name, value),
            ("min_threshold_packets", false) | ("min_threshold_bytes", true) => {
                settings.min = whole(name, value)? as f64;
            }
            ("max_threshold_packets", false) | ("max_threshold_bytes", true) => {
                settings.max = whole(name, value)? as f64;
            }
            ("max_probability", _) => settings.max_probability = fraction(name, value)?,
            ("weight", _) => settings.weight = fraction(name, value)?,
            ("packet_bytes", _) => settings.packet_bytes = whole(name, value)?,
            _ => {
                let unit = if settings.in_bytes { "bytes" } else { "packets" };
                return Err(unknown(
                    name,
                    &format!(
                        "packets, bytes, min_threshold_{unit}, max_threshold_{unit}, max_probability, weight, \
                         packet_bytes"
                    ),
                ));
            }
        }
        settings.check()?;
        self.settings = settings;
        Ok(())
    }
}

/// Returns the probability that spreads signals evenly: `p / (1 - count * p)`, 1 from `count = 1/p - 1` on.
fn spread(probability: f64, count: i64) -> f64 {
    let left = 1.0 - count as f64 * probability;
    if left <= probability { 1.0 } else { probability / left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::testing::Recorder;
    use crate::{Ecn, NoTap};
    use units::Span;

    fn red(settings: Settings) -> Red {
        Red::new(Limits::new(Some(100), None).unwrap(), settings, Rng::new(1, "red"))
    }

    const SETTINGS: Settings = Settings {
        min: 5.0,
        max: 15.0,
        in_bytes: false,
        max_probability: 0.1,
        weight: 0.25,
        packet_bytes: 1500,
        gentle: true,
        ecn: false,
    };

    fn arrive(red: &mut Red, now: Time, packets: u32) {
        for _ in 0..packets {
            red.enqueue(now, Packet::new(0, 0, 1500, 0, now), &mut NoTap);
        }
    }

    #[test]
    fn the_average_is_exponentially_weighted() {
        let mut red = red(SETTINGS);
        arrive(&mut red, Time::ZERO, 4);
        // Arrivals find 0, 1, 2, 3 packets: 0; 0.25; 0.25 + 0.25 x 1.75 = 0.6875; 0.6875 + 0.25 x 2.3125 = 1.265625
        assert_eq!(red.average, 1.265_625);
    }

    #[test]
    fn thresholds_in_bytes_average_bytes() {
        let mut red = red(Settings { min: 10_000.0, max: 20_000.0, in_bytes: true, ..SETTINGS });
        arrive(&mut red, Time::ZERO, 3);
        // 0; 0.25 x 1500 = 375; 375 + 0.25 x (3000 - 375) = 1031.25
        assert_eq!(red.average, 1031.25);
    }

    #[test]
    fn idle_time_ages_the_average_at_the_rate_of_the_link() {
        let mut red = red(SETTINGS);
        red.set_rate(Rate::from_mbps(12.0));
        red.average = 8.0;
        arrive(&mut red, Time::ZERO, 1);
        red.dequeue(Time::ZERO, &mut NoTap).unwrap();
        red.average = 8.0;
        // 3 ms are three packets of 1500 bytes at 12 Mbit/s: 8 x 0.75^3 = 3.375
        arrive(&mut red, Time::ZERO + Span::from_ms(3), 1);
        assert!((red.average - 3.375).abs() < 1e-12, "{}", red.average);
    }

    #[test]
    fn the_probability_rises_to_the_maximum_and_gently_on_to_one() {
        let at = |average, gentle| {
            let mut red = red(Settings { gentle, ..SETTINGS });
            red.average = average;
            red.probability()
        };
        // 0.1 x (10 - 5) / 10 = 0.05; at 15: 0.1; gently 0.1 + 0.9 x 7.5 / 15 = 0.55 at 22.5; everything from 30 on.
        assert_eq!(at(5.0, true), Some(0.0));
        assert!((at(10.0, true).unwrap() - 0.05).abs() < 1e-12);
        assert!((at(15.0, true).unwrap() - 0.1).abs() < 1e-12);
        assert!((at(22.5, true).unwrap() - 0.55).abs() < 1e-12);
        assert_eq!(at(30.0, true), None);
        assert_eq!(at(14.999, false).map(|p| p < 0.1), Some(true));
        assert_eq!(at(15.0, false), None);
    }

    #[test]
    fn the_count_spreads_signals_evenly() {
        // p = 0.1: 0.1, 0.1 / 0.9, ..., 0.1 / 0.2, and 1 at the tenth packet (count 9).
        let spread: Vec<f64> = (0..10).map(|count| spread(0.1, count)).collect();
        assert_eq!(spread[0], 0.1);
        assert!((spread[1] - 0.111_111_111).abs() < 1e-9);
        assert!((spread[8] - 0.5).abs() < 1e-9);
        assert_eq!((spread[9], super::spread(0.1, 100)), (1.0, 1.0));
    }

    #[test]
    fn signals_are_one_to_ten_packets_apart_at_one_tenth() {
        let mut red = red(Settings { max_probability: 0.2, ..SETTINGS });
        red.average = 10.0;
        red.count = 0;
        let gaps: Vec<u32> = (0..5000)
            .map(|_| (1..100).find(|_| red.verdict() == Verdict::Signal).expect("a tenth at the latest"))
            .collect();
        // After a signal the count goes 1, 2, ..., 9: uniform over 1 to 9 packets; the mean's error is 0.04.
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&9)));
        let mean = f64::from(gaps.iter().sum::<u32>()) / 5000.0;
        assert!((4.8..5.2).contains(&mean), "{mean}");
    }

    #[test]
    fn below_the_lower_threshold_everything_passes_and_above_the_upper_nothing() {
        let mut red = red(Settings { gentle: false, ecn: true, ..SETTINGS });
        red.average = 4.999;
        assert_eq!((red.verdict(), red.count), (Verdict::Accept, -1));
        red.average = 15.0;
        assert_eq!((red.verdict(), red.count), (Verdict::Drop, 0));
    }

    #[test]
    fn capable_packets_are_marked_between_the_thresholds_and_dropped_above() {
        let outcome = |average: f64| {
            let settings = Settings { gentle: false, ecn: true, max_probability: 1.0, ..SETTINGS };
            let mut red = Red::new(Limits::new(None, None).unwrap(), settings, Rng::new(1, "red"));
            let mut tap = Recorder::default();
            arrive(&mut red, Time::ZERO, 5);
            for _ in 0..200 {
                red.average = average;
                let mut packet = Packet::new(0, 0, 1500, 0, Time::ZERO);
                packet.ecn = Ecn::ECT0;
                red.enqueue(Time::ZERO, packet, &mut tap);
                red.dequeue(Time::ZERO, &mut NoTap);
            }
            (tap.marked.is_empty(), tap.dropped.is_empty())
        };
        assert_eq!(outcome(10.0), (false, true));
        assert_eq!(outcome(40.0), (true, false));
    }

    #[test]
    fn the_count_starts_over_after_an_overflow() {
        let settings = Settings { max_probability: 0.001, ..SETTINGS };
        let mut red = Red::new(Limits::new(Some(8), None).unwrap(), settings, Rng::new(1, "red"));
        arrive(&mut red, Time::ZERO, 8);
        red.average = 8.0;
        red.count = 20;
        arrive(&mut red, Time::ZERO, 1);
        assert_eq!((red.fifo.packets(), red.count), (8, 0));
    }

    #[test]
    fn changed_thresholds_stay_in_order() {
        let mut red = red(SETTINGS);
        red.set("max_threshold_packets", 20.0).unwrap();
        assert!(
            red.set("min_threshold_packets", 20.0).unwrap_err().to_string().contains("above the minimum")
        );
        assert!(
            red.set("min_threshold_bytes", 20.0).unwrap_err().to_string().contains("min_threshold_packets")
        );
        assert_eq!((red.settings.min, red.settings.max), (5.0, 20.0));
    }
}
