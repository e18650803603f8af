//! Constant delay. After a scheduled decrease packets wait for earlier packets, or overtake them.
//!
//! Waiting models a queue in the network; overtaking models a change of route.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{milliseconds, milliseconds_above_zero};
use crate::store::Store;
use crate::{Packet, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Span, Time};

/// Settings of a delay.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelaySpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Delay, ms.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub delay_ms: f64,
    /// Quirk: times of arrival are rounded down to multiples of this, ms; 1 is the clock of mm-delay
    /// (`src/frontend/delay_queue.cc` of ravinet/mahimahi@ae477d4), and the delay is then up to 1 ms shorter.
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub tick_ms: Option<f64>,
    /// After a decrease packets wait for earlier packets; false: they overtake.
    #[serde(default = "yes")]
    pub preserve_order: bool,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

fn yes() -> bool {
    true
}

impl DelaySpec {
    /// Returns a delay that never changes.
    pub fn new(delay_ms: f64) -> Self {
        Self { name: None, delay_ms, tick_ms: None, preserve_order: yes(), schedule: Vec::new(), walk: None }
    }
}

impl Table for DelaySpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        milliseconds("delay_ms", self.delay_ms)?;
        self.tick_ms.map_or(Ok(()), |tick| milliseconds_above_zero("tick_ms", tick))
    }

    fn delay_ms(&self) -> f64 {
        self.delay_ms
    }

    settings!(delay_ms, tick_ms);
}

impl ElementTable for DelaySpec {
    type Element = Delay;

    fn build(&self, _name: String, _streams: &Streams<'_>) -> Result<Delay, Refusal> {
        let store = Store::new(self.preserve_order);
        let mut delay = Delay { span: Span::ZERO, tick: Span::ZERO, store };
        delay.change(Time::ZERO, self);
        Ok(delay)
    }
}

/// A constant delay.
#[derive(Clone, Debug)]
pub(crate) struct Delay {
    span: Span,
    /// Tick of the clock; zero: no rounding.
    tick: Span,
    store: Store,
}

impl Delay {
    /// Returns the delay if it is equal for all packets.
    pub(crate) fn constant(&self) -> Option<Span> {
        (self.tick.is_zero() && self.store.packets() == 0).then_some(self.span)
    }

    /// Returns the packet that leaves next, if it is known.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Packet> {
        self.store.front()
    }
}

impl Element for Delay {
    type Table = DelaySpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, _tap: &mut T) -> Option<Packet> {
        let mut from = now;
        if !self.tick.is_zero() {
            from = from - Span::from_ns(from.as_ns() % self.tick.as_ns());
        }
        let time = from + self.span;
        if time <= now && self.store.due() == Time::NEVER {
            return Some(packet);
        }
        self.store.push(time.max(now), packet);
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.store.due()
    }

    #[inline]
    fn step<T: Tap>(&mut self, _now: Time, _tap: &mut T) -> Option<Packet> {
        self.store.pop()
    }

    fn change(&mut self, _now: Time, table: &DelaySpec) {
        self.span = Span::from_secs_f64(table.delay_ms / 1e3);
        self.tick = Span::from_secs_f64(table.tick_ms.unwrap_or(0.0) / 1e3);
    }

    fn packets(&self) -> u64 {
        self.store.packets()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms, at_us};

    #[test]
    fn every_packet_is_late_by_the_delay() {
        let mut bench =
            Bench::new(r#"[{"kind": "delay", "delay_ms": 20}, {"kind": "delay", "delay_ms": 0}]"#);
        for us in [0, 0, 700, 30_000] {
            bench.send(at_us(us), 100);
        }
        bench.run_until(at_ms(100));
        assert_eq!(bench.times_us(), [20_000, 20_000, 20_700, 50_000]);
    }

    #[test]
    fn order_is_kept_when_the_delay_falls() {
        let mut bench =
            Bench::new(r#"[{"kind": "delay", "delay_ms": 20, "schedule": [{"at_s": 0.01, "delay_ms": 1}]}]"#);
        for ms in [5, 10, 30] {
            bench.send(at_ms(ms), 100);
        }
        bench.run_until(at_ms(100));
        assert_eq!((bench.times_us(), bench.numbers()), (vec![25_000, 25_000, 31_000], vec![0, 1, 2]));
    }

    #[test]
    fn packets_overtake_when_the_delay_falls_if_asked_to() {
        let mut bench = Bench::new(
            r#"[{"kind": "delay", "delay_ms": 20, "preserve_order": false, "schedule": [{"at_s": 0.01, "delay_ms": 1}]}]"#,
        );
        for ms in [5, 10, 30] {
            bench.send(at_ms(ms), 100);
        }
        bench.run_until(at_ms(100));
        assert_eq!((bench.times_us(), bench.numbers()), (vec![11_000, 25_000, 31_000], vec![1, 0, 2]));
    }

    #[test]
    fn mahimahis_clock_rounds_arrivals_down_to_whole_ms() {
        let mut bench = Bench::new(r#"[{"kind": "delay", "delay_ms": 20, "tick_ms": 1}]"#);
        for us in [0, 999, 1000, 1500] {
            bench.send(at_us(us), 100);
        }
        bench.run_until(at_ms(100));
        assert_eq!(bench.times_us(), [20_000, 20_000, 21_000, 21_000]);
    }
}
