//! A constant delay. Order is kept: after a scheduled decrease, packets wait for those before them.

use crate::element::Element;
use crate::parameters::{Parameters, milliseconds, milliseconds_above_zero, settable};
use crate::spec::Change;
use crate::walk::WalkSpec;
use crate::{Packet, Tap};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{Span, Time};

/// Parameters of a delay.
#[derive(Deserialize, Serialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct DelaySpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Delay, ms.
    pub delay_ms: f64,
    /// Round times of arrival down to multiples of this, ms; 1 is the clock of Mahimahi's `mm-delay` (reference
    /// `emulation` 1.3). The delay is then up to one tick shorter.
    pub tick_ms: Option<f64>,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of parameters.
    pub walk: Option<WalkSpec>,
}

impl Parameters for DelaySpec {
    fn check(&self, _running: bool) -> Result<(), String> {
        milliseconds("delay_ms", self.delay_ms)?;
        self.tick_ms.map_or(Ok(()), |tick| milliseconds_above_zero("tick_ms", tick))
    }

    settable!(delay_ms, tick_ms);
}

/// A constant delay.
#[derive(Clone, Debug)]
pub(crate) struct Delay {
    span: Span,
    /// Zero for none.
    tick: Span,
    line: Line,
}

/// Packets in order, each with the time it leaves.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    packets: VecDeque<(Time, Packet)>,
    /// When the first one leaves.
    due: Time,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self { packets: VecDeque::new(), due: Time::NEVER }
    }

    /// Appends `packet`, to leave at `time` but not before those ahead of it.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, packet: Packet) {
        let time = self.packets.back().map_or(time, |(last, _)| time.max(*last));
        if self.packets.is_empty() {
            self.due = time;
        }
        self.packets.push_back((time, packet));
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let (_, packet) = self.packets.pop_front()?;
        self.due = self.packets.front().map_or(Time::NEVER, |(time, _)| *time);
        Some(packet)
    }

    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets.len() as u64
    }
}

impl Delay {
    pub(crate) fn new(spec: &DelaySpec) -> Self {
        let mut delay = Self { span: Span::ZERO, tick: Span::ZERO, line: Line::new() };
        delay.change(spec);
        delay
    }

    pub(crate) fn change(&mut self, spec: &DelaySpec) {
        self.span = Span::from_secs_f64(spec.delay_ms / 1e3);
        self.tick = Span::from_secs_f64(spec.tick_ms.unwrap_or(0.0) / 1e3);
    }
}

impl Element for Delay {
    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, _tap: &mut T) -> Option<Packet> {
        let mut from = now;
        if !self.tick.is_zero() {
            from = from - Span::from_ns(from.as_ns() % self.tick.as_ns());
        }
        let time = from + self.span;
        if time <= now && self.line.packets.is_empty() {
            return Some(packet);
        }
        self.line.push(time.max(now), packet);
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.line.due()
    }

    #[inline]
    fn step<T: Tap>(&mut self, _now: Time, _tap: &mut T) -> Option<Packet> {
        self.line.pop()
    }

    fn packets(&self) -> u64 {
        self.line.packets()
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
    fn mahimahis_clock_rounds_arrivals_down_to_whole_ms() {
        let mut bench = Bench::new(r#"[{"kind": "delay", "delay_ms": 20, "tick_ms": 1}]"#);
        for us in [0, 999, 1000, 1500] {
            bench.send(at_us(us), 100);
        }
        bench.run_until(at_ms(100));
        assert_eq!(bench.times_us(), [20_000, 20_000, 21_000, 21_000]);
    }
}
