//! Token bucket without a queue: packets without tokens are dropped, or marked if they are ECN-capable.

use crate::bucket::Bucket;
use crate::change::{Change, WalkSpec};
use crate::element::{Capacity, Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{burst, rate};
use crate::link_counters::Gauge;
use crate::{Ecn, LinkTally, Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rate, Time};

/// Settings of a policer.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicerSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Rate of the tokens, Mbit/s.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub rate_mbps: f64,
    /// Depth of the bucket, bytes; it is full at the start.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub burst_bytes: u64,
    /// Treatment of a packet in excess: `drop`, or `mark` (set CE and pass without tokens; packets that are not
    /// ECN-capable are dropped).
    #[serde(default)]
    pub action: PolicerAction,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

/// Treatment of a packet in excess by a policer.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicerAction {
    /// Drop the packet.
    #[default]
    Drop,
    /// Set CE and let the packet pass without tokens; drop it if it is not ECN-capable.
    Mark,
}

impl Table for PolicerSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        rate("rate_mbps", self.rate_mbps)?;
        burst("burst_bytes", self.burst_bytes)
    }

    fn capacity(&self) -> Option<Capacity> {
        Some(Capacity::in_bursts(self.rate_mbps))
    }

    settings!(rate_mbps, burst_bytes);
}

impl ElementTable for PolicerSpec {
    type Element = Policer;

    fn build(&self, name: String, _streams: &Streams<'_>) -> Result<Policer, Refusal> {
        let bucket = Bucket::new(Rate::from_mbps(self.rate_mbps), self.burst_bytes);
        Ok(Policer { bucket, action: self.action, gauge: Gauge::new(name) })
    }
}

/// A policer.
#[derive(Clone, Debug)]
pub(crate) struct Policer {
    bucket: Bucket,
    action: PolicerAction,
    gauge: Gauge,
}

impl Element for Policer {
    type Table = PolicerSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) -> Option<Packet> {
        self.gauge.arrived(packet.size_bytes);
        self.bucket.update(now);
        if self.bucket.has(self.bucket.need(packet.size_bytes)) {
            self.bucket.take(packet.size_bytes);
        } else if self.action == PolicerAction::Mark && packet.ecn.is_capable() {
            packet.ecn = Ecn::CE;
            self.gauge.tally.packets_marked += 1;
            tap.packet(now, PacketEvent::Marked, &packet);
        } else {
            self.gauge.dropped(now, &packet, tap);
            return None;
        }
        self.gauge.sent(packet.size_bytes);
        Some(packet)
    }

    fn change(&mut self, now: Time, table: &PolicerSpec) {
        self.gauge.offer(now, self.bucket.rate());
        self.bucket.change(now, Rate::from_mbps(table.rate_mbps), table.burst_bytes);
    }

    fn tally(&self) -> Option<&LinkTally> {
        Some(&self.gauge.tally)
    }

    fn settle(&mut self, now: Time) {
        self.gauge.offer(now, self.bucket.rate());
    }
}

#[cfg(test)]
mod tests {
    use crate::Ecn;
    use crate::testing::{Bench, at_ms, at_us};
    use units::Time;

    #[test]
    fn packets_beyond_the_bucket_are_dropped() {
        let mut bench = Bench::new(r#"[{"kind": "policer", "rate_mbps": 12, "burst_bytes": 3000}]"#);
        (0..3).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.send(at_us(999), 1500);
        bench.send(at_us(1000), 1500);
        assert_eq!((bench.log.dropped.clone(), bench.numbers()), (vec![2, 3], vec![0, 1, 4]));
        let stats = bench.stats(at_ms(10));
        assert_eq!((stats.packets_in, stats.packets_out, stats.packets_dropped), (5, 3, 2));
        assert_eq!(stats.capacity_bits, 120_000);
    }

    #[test]
    fn capable_packets_are_marked_if_so_configured() {
        let mut bench =
            Bench::new(r#"[{"kind": "policer", "rate_mbps": 12, "burst_bytes": 1500, "action": "mark"}]"#);
        for ecn in [Ecn::ECT0, Ecn::ECT0, Ecn::NOT_ECT, Ecn::ECT1] {
            bench.send_with(Time::ZERO, 1500, ecn);
        }
        assert_eq!((bench.log.marked.clone(), bench.log.dropped.clone()), (vec![1, 3], vec![2]));
        let ecn: Vec<Ecn> = bench.out.iter().map(|(_, packet)| packet.ecn).collect();
        assert_eq!(ecn, [Ecn::ECT0, Ecn::CE, Ecn::CE]);
        assert_eq!(bench.stats(at_ms(1)).packets_marked, 2);
    }
}
