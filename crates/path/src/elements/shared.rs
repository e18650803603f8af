//! Downlink of a cellular cell with other users: the rate rises with the backlog.
//!
//! With `backlog` bytes waiting, including the packet being sent, the link serves at a rate between `least_mbps` and
//! `rate_mbps`, in proportion to the backlog up to `full_bytes`. So sparse traffic is served evenly and slowly, a burst
//! at a low rate, a full queue at the full rate. The rate is set once per packet.

use crate::buffer::Buffer;
use crate::change::{Change, WalkSpec};
use crate::element::{Capacity, Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{rate, refuse};
use crate::{LinkTally, Packet, QueueSpec, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rate, Span, Time};

/// Settings of a link whose rate depends on the backlog.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Rate with a backlog of `full_bytes` or more, Mbit/s.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub rate_mbps: f64,
    /// Rate with almost no backlog, Mbit/s; at most `rate_mbps`.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub least_mbps: f64,
    /// Backlog at which the rate reaches `rate_mbps`, bytes.
    pub full_bytes: u64,
    /// Queue in front of the link.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl Table for SharedSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        rate("rate_mbps", self.rate_mbps)?;
        rate("least_mbps", self.least_mbps)?;
        if self.least_mbps > self.rate_mbps {
            let allowed = format!("must be at most rate_mbps, {}", self.rate_mbps);
            return Err(refuse("least_mbps", self.least_mbps, allowed));
        }
        self.queue.validate()
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn capacity(&self) -> Option<Capacity> {
        Some(Capacity::in_bursts(self.rate_mbps))
    }

    settings!(rate_mbps, least_mbps, full_bytes);
}

impl ElementTable for SharedSpec {
    type Element = BacklogLink;

    fn build(&self, name: String, streams: &Streams<'_>) -> Result<BacklogLink, Refusal> {
        let mut buffer = Buffer::build(&self.queue, name, streams.queue())?;
        buffer.set_rate(Rate::from_mbps(self.rate_mbps));
        Ok(BacklogLink { spec: self.clone(), buffer, sending: None, sent_at: Time::NEVER })
    }
}

/// Link whose rate depends on the backlog.
#[derive(Clone, Debug)]
pub(crate) struct BacklogLink {
    spec: SharedSpec,
    buffer: Buffer,
    sending: Option<Packet>,
    /// Time at which `sending` is sent completely.
    sent_at: Time,
}

impl BacklogLink {
    /// Starts to send the first waiting packet.
    fn start<T: Tap>(&mut self, now: Time, tap: &mut T) {
        self.sending = self.buffer.dequeue(now, tap);
        self.sent_at = self.sending.map_or(Time::NEVER, |packet| now + self.time(packet.size_bytes));
    }

    /// Returns the transmission time of a packet of `bytes` with the backlog behind it.
    fn time(&self, bytes: u32) -> Span {
        let SharedSpec { rate_mbps, least_mbps, full_bytes, .. } = self.spec;
        let backlog = self.buffer.gauge.tally.queue_bytes + u64::from(bytes);
        let share = if full_bytes == 0 { 1.0 } else { (backlog as f64 / full_bytes as f64).min(1.0) };
        let mbps = least_mbps + (rate_mbps - least_mbps) * share;
        Span::from_secs_f64(f64::from(bytes) * 8e-6 / mbps)
    }
}

impl Element for BacklogLink {
    type Table = SharedSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        let sending = self.sending.map(|packet| packet.size_bytes);
        self.buffer.enqueue(now, packet, sending, tap);
        if self.sending.is_none() {
            self.start(now, tap);
        }
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.sent_at
    }

    #[inline]
    fn step<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let packet = self.sending?;
        self.buffer.gauge.sent(packet.size_bytes);
        self.start(now, tap);
        Some(packet)
    }

    fn change(&mut self, now: Time, table: &SharedSpec) {
        self.buffer.gauge.offer(now, Rate::from_mbps(self.spec.rate_mbps));
        self.buffer.set_rate(Rate::from_mbps(table.rate_mbps));
        self.spec = table.clone();
    }

    fn packets(&self) -> u64 {
        self.buffer.packets() + u64::from(self.sending.is_some())
    }

    fn set_queue(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        self.buffer.set(name, value)
    }

    fn tally(&self) -> Option<&LinkTally> {
        Some(&self.buffer.gauge.tally)
    }

    fn watch_from(&mut self, at: Time) {
        self.buffer.gauge.watch_from(at);
    }

    fn settle(&mut self, now: Time) {
        self.buffer.gauge.integrate(now);
        self.buffer.gauge.offer(now, Rate::from_mbps(self.spec.rate_mbps));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms, at_us, elements};
    use units::Time;

    /// Link of 4 Mbit/s with nothing waiting, 12 Mbit/s with 6000 bytes or more.
    const CELL: &str = r#"[{"kind": "shared", "rate_mbps": 12, "least_mbps": 4, "full_bytes": 6000,
        "queue": {"kind": "droptail", "packets": 4}}]"#;

    #[test]
    fn the_rate_goes_by_what_waits() {
        let mut bench = Bench::new(CELL);
        (0..3).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.send(at_ms(50), 1500);
        bench.run_until(at_ms(100));
        // The first packet starts alone: 1500 of 6000 bytes, 4 + 8/4 = 6 Mbit/s. Then two wait: 8 Mbit/s, then one: 6
        // Mbit/s.
        assert_eq!(bench.times_us(), [2000, 3500, 5500, 52_000]);
    }

    #[test]
    fn a_full_queue_has_the_whole_rate_and_no_more() {
        let mut bench = Bench::new(CELL);
        (0..400).for_each(|i| bench.send(at_us(500 * i), 1500));
        let stats = bench.stats(at_ms(200));
        assert!(bench.is_conserved() && bench.numbers().is_sorted());
        assert!(stats.packets_dropped > 0 && stats.max_queue_packets == 4, "{stats:?}");
        let spans: Vec<u64> = bench.times_us().windows(2).map(|pair| pair[1] - pair[0]).collect();
        // Four or five packets of 1500 bytes, including the one being sent.
        assert!(spans[20..].iter().all(|span| *span == 1000), "{:?}", &spans[20..40]);
    }

    #[test]
    fn with_one_rate_it_is_a_link() {
        let times = |json: &str| {
            let mut bench = Bench::new(json);
            (0..300).for_each(|i| bench.send(at_us(200 * i), 42 + 3 * (i * 37 % 200) as u32));
            bench.run_until(at_ms(1000));
            bench.times_us()
        };
        let shared = r#"[{"kind": "shared", "rate_mbps": 12, "least_mbps": 12, "full_bytes": 0}]"#;
        assert_eq!(times(shared), times(r#"[{"kind": "link", "rate_mbps": 12}]"#));
    }

    #[test]
    fn bad_values_are_refused() {
        for (keys, part) in [
            (r#""rate_mbps": 5, "least_mbps": 6"#, "least_mbps = 6: must be at most rate_mbps, 5"),
            (r#""rate_mbps": 5, "least_mbps": 0"#, "least_mbps = 0: must be above 0"),
            (
                r#""rate_mbps": 5, "least_mbps": 2, "schedule": [{"at_s": 1, "rate_mbps": 1}]"#,
                "schedule[0]: least_mbps = 2: must be at most rate_mbps, 1",
            ),
        ] {
            let spec = elements(&format!(r#"[{{"kind": "shared", "full_bytes": 9000, {keys}}}]"#)).remove(0);
            let error = spec.validate().unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{keys}: {error}");
        }
    }
}
