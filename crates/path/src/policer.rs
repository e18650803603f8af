//! A token bucket without a queue: packets for which there are no tokens are dropped, or marked if they can be.

use crate::bucket::Bucket;
use crate::element::Element;
use crate::parameters::{Parameters, burst, rate, settable};
use crate::spec::Change;
use crate::stats::Meter;
use crate::walk::WalkSpec;
use crate::{Ecn, LinkStats, Packet, PacketEvent, Tap};
use serde::{Deserialize, Serialize};
use units::{Rate, Time};

/// Parameters of a policer.
#[derive(Deserialize, Serialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct PolicerSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Rate of the tokens, Mbit/s.
    pub rate_mbps: f64,
    /// Depth of the bucket, bytes; it is full at the start.
    pub burst_bytes: u64,
    /// What happens to a packet in excess.
    #[serde(default)]
    pub action: PolicerAction,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of parameters.
    pub walk: Option<WalkSpec>,
}

/// What a policer does with a packet in excess.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum PolicerAction {
    /// Drop it.
    #[default]
    Drop,
    /// Set CE and let it pass without tokens; drop it if it is not ECN-capable.
    Mark,
}

impl Parameters for PolicerSpec {
    fn check(&self, _running: bool) -> Result<(), String> {
        rate("rate_mbps", self.rate_mbps)?;
        burst("burst_bytes", self.burst_bytes)
    }

    settable!(rate_mbps, burst_bytes);
}

/// A policer.
#[derive(Clone, Debug)]
pub(crate) struct Policer {
    bucket: Bucket,
    action: PolicerAction,
    meter: Meter,
}

impl Policer {
    pub(crate) fn new(spec: &PolicerSpec, name: String) -> Self {
        let bucket = Bucket::new(Rate::from_mbps(spec.rate_mbps), spec.burst_bytes);
        Self { bucket, action: spec.action, meter: Meter::new(name) }
    }

    pub(crate) fn change(&mut self, now: Time, spec: &PolicerSpec) {
        self.meter.offer(now, self.bucket.rate());
        self.bucket.change(now, Rate::from_mbps(spec.rate_mbps), spec.burst_bytes);
    }
}

impl Element for Policer {
    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) -> Option<Packet> {
        self.meter.arrived(packet.size_bytes);
        self.bucket.update(now);
        if self.bucket.has(self.bucket.need(packet.size_bytes)) {
            self.bucket.take(packet.size_bytes);
        } else if self.action == PolicerAction::Mark && packet.ecn.is_capable() {
            packet.ecn = Ecn::CE;
            self.meter.stats.packets_marked += 1;
            tap.packet(now, PacketEvent::Marked, &packet);
        } else {
            self.meter.drop(now, &packet, tap);
            return None;
        }
        self.meter.sent(packet.size_bytes);
        Some(packet)
    }

    fn stats(&self) -> Option<&LinkStats> {
        Some(&self.meter.stats)
    }

    fn finish(&mut self, now: Time) {
        self.meter.offer(now, self.bucket.rate());
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
