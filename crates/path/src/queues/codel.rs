//! CoDel (RFC 8289), and Mahimahi's variant.
//!
//! The size limits are tail drops on arrival. With `ecn`, an ECN-capable packet is marked instead of dropped. "One
//! packet" of the standing-queue test is the largest packet that has arrived (RFC 8289: the interface's MTU).
//!
//! Quirk `mahimahi` (`src/packet/codel_packet_queue.cc` of ravinet/mahimahi@ae477d4): clock and spacings in whole ms.
//! One packet is 1504 bytes. The packet that fails the test is delivered and the next one is dropped. At the end of the
//! dropping state one packet more than necessary is dropped. No ECN.

use super::control_law::{Law, Settings};
use super::discipline::{Discipline, QueueTable};
use super::fifo::{Fifo, Limits};
use super::quirk::{MAHIMAHI_PACKET_BYTES, QueueQuirk};
use super::settings::{milliseconds, unknown};
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Span, Time};

/// Controlled delay, RFC 8289.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodelSpec {
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
    /// Width of the estimator's window, ms.
    #[serde(default = "hundred")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub interval_ms: f64,
    /// Mark instead of drop.
    #[serde(default)]
    pub ecn: bool,
    /// Differences to the RFC.
    #[serde(default)]
    pub quirk: QueueQuirk,
}

fn five() -> f64 {
    5.0
}
fn hundred() -> f64 {
    100.0
}

impl CodelSpec {
    fn settings(&self) -> Result<Settings, Refusal> {
        let mut settings = Settings::new(self.target_ms, self.interval_ms, self.ecn)?;
        self.quirk.check(self.ecn, &[("target_ms", self.target_ms), ("interval_ms", self.interval_ms)])?;
        if self.quirk.is_mahimahi() {
            settings.tick = Span::from_ms(1);
            settings.one_packet_bytes = MAHIMAHI_PACKET_BYTES;
        }
        Ok(settings)
    }
}

impl QueueTable for CodelSpec {
    type Discipline = Codel;

    fn check(&self) -> Result<(), Refusal> {
        Limits::new(self.packets, self.bytes)?;
        self.settings().map(drop)
    }

    fn build(&self, _rng: Rng) -> Result<Codel, Refusal> {
        Ok(Codel {
            fifo: Fifo::default(),
            limits: Limits::new(self.packets, self.bytes)?,
            settings: self.settings()?,
            law: Law::default(),
            quirk: self.quirk,
        })
    }

    fn packets(&self) -> Option<u64> {
        self.packets
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Codel {
    fifo: Fifo,
    limits: Limits,
    settings: Settings,
    law: Law,
    quirk: QueueQuirk,
}

impl Codel {
    fn dequeue_mahimahi<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let clock = self.settings.clock(now);
        let (packet, droppable) = self.law.take(clock, &self.settings, &mut self.fifo)?;
        if self.law.dropping {
            self.law.dropping = droppable;
            while self.law.dropping && clock >= self.law.drop_next {
                let (victim, droppable) = self.law.take(clock, &self.settings, &mut self.fifo)?;
                tap.packet(now, PacketEvent::Dropped, &victim);
                self.law.count += 1;
                self.law.dropping = droppable;
                if droppable {
                    self.law.drop_next += self.settings.spacing(self.law.count);
                }
            }
        } else if droppable {
            // Droppable means that more than one packet's bytes follow, so there is a victim.
            let (victim, _) = self.law.take(clock, &self.settings, &mut self.fifo)?;
            tap.packet(now, PacketEvent::Dropped, &victim);
            self.law.enter(clock, &self.settings);
        }
        Some(packet)
    }
}

impl Discipline for Codel {
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        if !self.limits.admit(&self.fifo, packet.size_bytes) {
            tap.packet(now, PacketEvent::Dropped, &packet);
            return;
        }
        if !self.quirk.is_mahimahi() {
            self.settings.one_packet_bytes = self.settings.one_packet_bytes.max(u64::from(packet.size_bytes));
        }
        tap.packet(now, PacketEvent::Enqueued, &packet);
        self.fifo.push(packet);
    }

    fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        if self.quirk.is_mahimahi() {
            return self.dequeue_mahimahi(now, tap);
        }
        self.law.dequeue(now, &self.settings, &mut self.fifo, tap)
    }

    fn packets(&self) -> u64 {
        self.fifo.packets()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        match name {
            "packets" | "bytes" => self.limits.set(name, value)?,
            "target_ms" | "interval_ms" => {
                let span = milliseconds(name, value)?;
                self.quirk.check_time(name, value)?;
                *(if name == "target_ms" {
                    &mut self.settings.target
                } else {
                    &mut self.settings.interval
                }) = span;
            }
            _ => return Err(unknown(name, "packets, bytes, target_ms, interval_ms")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{CodelSpec, QueueQuirk};
    use crate::Ecn;
    use crate::queues::QueueSpec;
    use crate::queues::testing::{Bench, numbers};

    fn spec(quirk: QueueQuirk, ecn: bool) -> QueueSpec {
        QueueSpec::Codel(CodelSpec {
            packets: None,
            bytes: None,
            target_ms: 5.0,
            interval_ms: 100.0,
            ecn,
            quirk,
        })
    }

    /// Returns a bench on which 2000 packets of 1000 bytes arrive at time 0 and leave one per ms from 1 ms on, until
    /// `until_ms`.
    fn overloaded_bench(spec: &QueueSpec, ecn: Ecn, until_ms: u64) -> Bench {
        let mut bench = Bench::new(spec);
        (0..2000).for_each(|_| bench.arrive_with(0, 1000, ecn));
        for ms in 1..=until_ms {
            bench.at_ms(ms);
            bench.leave();
        }
        bench
    }

    fn ms(times: &[(units::Time, crate::Packet)]) -> Vec<u64> {
        times.iter().map(|(time, _)| time.as_ns() / 1_000_000).collect()
    }

    #[test]
    fn drops_follow_the_control_law() {
        let bench = overloaded_bench(&spec(QueueQuirk::None, false), Ecn::NOT_ECT, 430);
        // The delay is 5 ms at 5 ms, so the state begins at 105 ms. Then drops are due at 205 ms, then 70.71 later at
        // 275.71, 57.74 later at 333.45, 50 later at 383.45, and 44.72 later at 428.17 ms. Each happens at the next
        // departure.
        assert_eq!(ms(&bench.tap.dropped), [105, 205, 276, 334, 384, 429]);
        // 104 packets have left before 105 ms: number 104 is dropped and 105 sent instead.
        assert_eq!(bench.tap.dropped[0].1.number, 104);
        assert_eq!(bench.tap.dequeued[104].1.number, 105);
        assert_eq!(bench.tap.dequeued.len(), 430);
    }

    #[test]
    fn capable_packets_are_marked_at_the_same_times_and_still_leave() {
        let bench = overloaded_bench(&spec(QueueQuirk::None, true), Ecn::ECT0, 430);
        assert_eq!(ms(&bench.tap.marked), [105, 205, 276, 334, 384, 429]);
        assert!(bench.tap.dropped.is_empty());
        assert_eq!(bench.tap.dequeued[104].1.ecn, Ecn::CE);
        let dropped = overloaded_bench(&spec(QueueQuirk::None, true), Ecn::NOT_ECT, 430).tap.dropped.len();
        assert_eq!(dropped, 6);
    }

    #[test]
    fn mahimahi_delivers_the_first_and_drops_the_one_behind_on_a_millisecond_clock() {
        let bench = overloaded_bench(&spec(QueueQuirk::Mahimahi, false), Ecn::NOT_ECT, 430);
        // 205, + 70 = 275, + 57 = 332, + 50 = 382, + 44 = 426 ms.
        assert_eq!(ms(&bench.tap.dropped), [105, 205, 275, 332, 382, 426]);
        assert_eq!(bench.tap.dequeued[104].1.number, 104);
        assert_eq!(bench.tap.dropped[0].1.number, 105);
    }

    #[test]
    fn mahimahi_drops_one_packet_too_many_on_leaving_the_state() {
        let dropped = |quirk| {
            let mut bench = Bench::new(&spec(quirk, false));
            (0..108).for_each(|_| bench.arrive(0, 1000));
            for ms in 1..=105 {
                bench.at_ms(ms);
                bench.leave();
            }
            // Packets 106 and 107 are left and the next drop is due at 205 ms; 108 to 110 are fresh.
            bench.at_ms(203);
            (0..3).for_each(|_| bench.arrive(0, 1000));
            for ms in [204, 205] {
                bench.at_ms(ms);
                bench.leave();
            }
            numbers(&bench.tap.dropped)
        };
        // At 205 ms the old packet 107 is first. The RFC drops it, finds 108 fresh, and sends 108. Mahimahi sends 107
        // and drops 108 without checking its age.
        assert_eq!(dropped(QueueQuirk::None), [104, 107]);
        assert_eq!(dropped(QueueQuirk::Mahimahi), [105, 108]);
    }

    #[test]
    fn the_standing_queue_test_spares_one_packet_of_1504_bytes_in_mahimahi() {
        let dropped = |quirk, size| {
            let mut bench = Bench::new(&spec(quirk, false));
            (0..3).for_each(|_| bench.arrive(0, size));
            for ms in [50, 150] {
                bench.at_ms(ms);
                bench.leave();
            }
            bench.tap.dropped.len()
        };
        // At 150 ms one packet is behind the leaving one: never more than one packet, so no drop by the RFC.
        assert_eq!(dropped(QueueQuirk::None, 1600), 0);
        // 1600 > 1504: droppable in Mahimahi; 1504 is not.
        assert_eq!(dropped(QueueQuirk::Mahimahi, 1600), 1);
        assert_eq!(dropped(QueueQuirk::Mahimahi, 1504), 0);
    }

    #[test]
    fn arrivals_over_the_limit_are_dropped_at_the_tail() {
        let mut bench = Bench::new(&QueueSpec::Codel(CodelSpec {
            packets: Some(2),
            bytes: None,
            target_ms: 5.0,
            interval_ms: 100.0,
            ecn: true,
            quirk: QueueQuirk::None,
        }));
        (0..3).for_each(|_| bench.arrive_with(0, 1000, Ecn::ECT0));
        assert_eq!(numbers(&bench.tap.dropped), [2]);
    }

    #[test]
    fn bad_changes_are_refused() {
        let mut queue = Bench::new(&spec(QueueQuirk::Mahimahi, false)).queue;
        for (name, value, expected) in [
            ("target_ms", 0.0, "target_ms = 0: must be above 0"),
            ("target_ms", 1.5, "target_ms = 1.5: allowed is whole ms with `quirk` = mahimahi"),
            ("interval_ms", f64::NAN, "interval_ms = NaN: must be above 0"),
            ("limit", 3.0, "limit cannot be changed; allowed: packets, bytes, target_ms, interval_ms"),
        ] {
            assert_eq!(queue.set(name, value).unwrap_err().to_string(), format!("queue `codel`: {expected}"));
        }
    }
}
