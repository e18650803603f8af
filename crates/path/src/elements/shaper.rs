//! Token bucket with a queue: packets pass without serialization while there are tokens, up to `burst_bytes` of them
//! back to back (as in tc-tbf(8) and tc-htb(8)).
//!
//! A packet leaves when the tokens for all its bytes are available. A packet larger than the bucket leaves when the
//! bucket is full. With `deficit` a packet leaves as soon as the level is not negative, and makes the level negative,
//! as in htb. Without `deficit`, the packet that waits for its tokens no longer counts for the queue's limit.

use crate::bucket::Bucket;
use crate::buffer::Buffer;
use crate::change::{Change, WalkSpec};
use crate::element::{Capacity, Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{burst, rate};
use crate::{LinkTally, Packet, QueueSpec, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rate, Time};

/// Settings of a shaper.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShaperSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Rate of the tokens, Mbit/s.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub rate_mbps: f64,
    /// Depth of the bucket, bytes; it is full at the start.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub burst_bytes: u64,
    /// A packet leaves at any level that is not negative and can make the level negative, as in htb.
    #[serde(default)]
    pub deficit: bool,
    /// Queue in front of the shaper.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl Table for ShaperSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        rate("rate_mbps", self.rate_mbps)?;
        burst("burst_bytes", self.burst_bytes)?;
        self.queue.validate()
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn capacity(&self) -> Option<Capacity> {
        Some(Capacity::in_bursts(self.rate_mbps))
    }

    settings!(rate_mbps, burst_bytes);
}

impl ElementTable for ShaperSpec {
    type Element = Shaper;

    fn build(&self, name: String, streams: &Streams<'_>) -> Result<Shaper, Refusal> {
        let rate = Rate::from_mbps(self.rate_mbps);
        let mut buffer = Buffer::build(&self.queue, name, streams.queue())?;
        buffer.set_rate(rate);
        let bucket = Bucket::new(rate, self.burst_bytes);
        Ok(Shaper { buffer, bucket, deficit: self.deficit, head: None, due: Time::NEVER })
    }
}

/// A shaper.
#[derive(Clone, Debug)]
pub(crate) struct Shaper {
    buffer: Buffer,
    bucket: Bucket,
    deficit: bool,
    /// Packet waiting for its tokens; always `None` with `deficit`.
    head: Option<Packet>,
    /// Earliest departure of the next packet.
    due: Time,
}

impl Shaper {
    /// Plans the next departure; the bucket must be up to date.
    #[inline]
    fn plan<T: Tap>(&mut self, now: Time, tap: &mut T) {
        self.due = if self.deficit {
            if self.buffer.is_empty() { Time::NEVER } else { self.bucket.ready(0) }
        } else {
            self.head = self.head.take().or_else(|| self.buffer.dequeue(now, tap));
            match &self.head {
                Some(packet) => self.bucket.ready(self.bucket.need(packet.size_bytes)),
                None => Time::NEVER,
            }
        };
    }
}

impl Element for Shaper {
    type Table = ShaperSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        self.buffer.enqueue(now, packet, None, tap);
        if self.due.is_finite() {
            return None;
        }
        self.bucket.update(now);
        self.plan(now, tap);
        if self.due <= now { self.step(now, tap) } else { None }
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.due
    }

    #[inline]
    fn step<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        self.bucket.update(now);
        let packet = if self.deficit { self.buffer.dequeue(now, tap) } else { self.head.take() };
        if let Some(packet) = &packet {
            self.bucket.take(packet.size_bytes);
            self.buffer.gauge.sent(packet.size_bytes);
        }
        self.plan(now, tap);
        packet
    }

    fn change(&mut self, now: Time, table: &ShaperSpec) {
        self.buffer.gauge.offer(now, self.bucket.rate());
        let rate = Rate::from_mbps(table.rate_mbps);
        self.bucket.change(now, rate, table.burst_bytes);
        self.buffer.set_rate(rate);
        if self.due.is_finite() {
            self.due = self.bucket.ready(self.head.map_or(0, |packet| self.bucket.need(packet.size_bytes)));
        }
    }

    fn packets(&self) -> u64 {
        self.buffer.packets() + u64::from(self.head.is_some())
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
        self.buffer.gauge.offer(now, self.bucket.rate());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms, at_us};
    use units::Time;

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let mut bench = Bench::new(r#"[{"kind": "shaper", "rate_mbps": 12, "burst_bytes": 4500}]"#);
        (0..6).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(100));
        assert_eq!(bench.times_us(), [0, 0, 0, 1000, 2000, 3000]);
        // By 4 ms the tokens for one packet are back.
        (0..2).for_each(|_| bench.send(at_us(4000), 1500));
        bench.run_until(at_ms(100));
        assert_eq!(bench.times_us()[6..], [4000, 5000]);
    }

    #[test]
    fn a_deficit_lets_one_more_packet_through() {
        let mut bench =
            Bench::new(r#"[{"kind": "shaper", "rate_mbps": 12, "burst_bytes": 3750, "deficit": true}]"#);
        (0..6).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(100));
        // 3750 -> 2250 -> 750 -> -750, back at 0 after 0.5 ms; then 1500 bytes per ms.
        assert_eq!(bench.times_us(), [0, 0, 0, 500, 1500, 2500]);
    }

    #[test]
    fn a_packet_larger_than_the_bucket_still_passes() {
        let mut bench = Bench::new(r#"[{"kind": "shaper", "rate_mbps": 12, "burst_bytes": 1000}]"#);
        (0..3).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(100));
        // 1000 - 1500 = -500: full again 1 ms later, and so on.
        assert_eq!(bench.times_us(), [0, 1000, 2000]);
    }

    #[test]
    fn the_queue_is_limited_and_the_rate_can_change() {
        let mut bench = Bench::new(
            r#"[{"kind": "shaper", "rate_mbps": 12, "burst_bytes": 1500, "deficit": true,
                "queue": {"kind": "droptail", "packets": 2}, "schedule": [{"at_s": 0.0005, "rate_mbps": 24}]}]"#,
        );
        (0..5).for_each(|_| bench.send(Time::ZERO, 1500));
        let stats = bench.stats(at_ms(100));
        // Two leave at once (level 1500, then 0), two wait, one is dropped. Level -1500 at 0, -750 at 0.5 ms, 0 at 0.75
        // ms; then 0.5 ms each.
        assert_eq!((bench.times_us(), bench.log.dropped.clone()), (vec![0, 0, 750, 1250], vec![4]));
        // 6000 bit + 99.5 ms x 24 Mbit/s.
        assert_eq!(stats.capacity_bits, 6000 + 2_388_000);
        assert_eq!((stats.packets_in, stats.packets_out, stats.packets_dropped), (5, 4, 1));
    }
}
