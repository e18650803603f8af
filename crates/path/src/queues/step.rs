//! Step marking: every packet beyond a threshold is marked, none below.
//!
//! With `threshold_packets` this is the queue of DCTCP (Alizadeh et al. 2010, section 3.1): an arrival is marked if the
//! backlog, including the arrival, exceeds the threshold K. With `threshold_ms` it is the step of L4S's low-latency
//! queue (RFC 9332 appendix A.1): a packet that waited longer is marked at departure. Packets that are not ECN-capable
//! pass, and only the limits drop.

use super::discipline::{Discipline, QueueTable};
use super::fifo::{Fifo, Limits, mark};
use super::settings::{milliseconds, unknown, whole};
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Span, Time};

/// Marks every ECN-capable packet beyond one threshold. Exactly one threshold is needed.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// Limit, packets.
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
    /// Limit, bytes.
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
    /// Backlog, arrival included, beyond which arrivals are marked (DCTCP's K), packets.
    #[schemars(range(min = 1))]
    pub threshold_packets: Option<u64>,
    /// Time in the queue beyond which departures are marked (L4S), ms.
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub threshold_ms: Option<f64>,
}

impl StepSpec {
    fn threshold(&self) -> Result<Threshold, Refusal> {
        match (self.threshold_packets, self.threshold_ms) {
            (Some(most), None) => Ok(Threshold::Packets(whole("threshold_packets", most as f64)?)),
            (None, Some(longest)) => Ok(Threshold::Sojourn(milliseconds("threshold_ms", longest)?)),
            _ => {
                Err(Refusal::of_key("threshold", "allowed is one of `threshold_packets` and `threshold_ms`"))
            }
        }
    }
}

impl QueueTable for StepSpec {
    type Discipline = Step;

    fn check(&self) -> Result<(), Refusal> {
        Limits::new(self.packets, self.bytes)?;
        self.threshold().map(drop)
    }

    fn build(&self, _rng: Rng) -> Result<Step, Refusal> {
        let limits = Limits::new(self.packets, self.bytes)?;
        Ok(Step { fifo: Fifo::default(), limits, threshold: self.threshold()? })
    }

    fn decides_on_arrival(&self) -> bool {
        self.threshold_ms.is_none()
    }

    fn packets(&self) -> Option<u64> {
        self.packets
    }
}

/// Threshold beyond which packets are marked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Threshold {
    Packets(u64),
    Sojourn(Span),
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    fifo: Fifo,
    limits: Limits,
    threshold: Threshold,
}

impl Discipline for Step {
    #[inline]
    fn enqueue<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) {
        if !self.limits.admit(&self.fifo, packet.size_bytes) {
            tap.packet(now, PacketEvent::Dropped, &packet);
            return;
        }
        if let Threshold::Packets(most) = self.threshold
            && self.fifo.packets() >= most
            && packet.ecn.is_capable()
        {
            mark(now, &mut packet, tap);
        }
        tap.packet(now, PacketEvent::Enqueued, &packet);
        self.fifo.push(packet);
    }

    #[inline]
    fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let mut packet = self.fifo.pop()?;
        if let Threshold::Sojourn(longest) = self.threshold
            && now - packet.queued > longest
            && packet.ecn.is_capable()
        {
            mark(now, &mut packet, tap);
        }
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.fifo.packets()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        match (name, &mut self.threshold) {
            ("packets" | "bytes", _) => self.limits.set(name, value)?,
            ("threshold_packets", Threshold::Packets(most)) => *most = whole(name, value)?,
            ("threshold_ms", Threshold::Sojourn(longest)) => *longest = milliseconds(name, value)?,
            (_, Threshold::Packets(_)) => return Err(unknown(name, "packets, bytes, threshold_packets")),
            (_, Threshold::Sojourn(_)) => return Err(unknown(name, "packets, bytes, threshold_ms")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::StepSpec;
    use crate::Ecn;
    use crate::queues::QueueSpec;
    use crate::queues::testing::{Bench, numbers};

    fn by_packets(packets: Option<u64>, threshold: u64) -> Bench {
        Bench::new(&QueueSpec::Step(StepSpec {
            packets,
            bytes: None,
            threshold_packets: Some(threshold),
            threshold_ms: None,
        }))
    }

    fn by_sojourn(threshold_ms: f64) -> Bench {
        Bench::new(&QueueSpec::Step(StepSpec {
            packets: None,
            bytes: None,
            threshold_packets: None,
            threshold_ms: Some(threshold_ms),
        }))
    }

    #[test]
    fn arrivals_beyond_the_threshold_are_marked_and_none_below() {
        let mut bench = by_packets(None, 2);
        (0..4).for_each(|_| bench.arrive_with(0, 1500, Ecn::ECT0));
        assert_eq!(numbers(&bench.tap.marked), [2, 3]);
        // Three packets leave: the next arrival is the second in the queue.
        (0..3).for_each(|_| assert!(bench.leave().is_some()));
        bench.arrive_with(0, 1500, Ecn::ECT1);
        assert_eq!(numbers(&bench.tap.marked), [2, 3]);
        assert!(bench.tap.dropped.is_empty());
    }

    #[test]
    fn packets_that_are_not_capable_pass_unharmed_and_the_limit_drops() {
        let mut bench = by_packets(Some(3), 1);
        (0..4).for_each(|_| bench.arrive(0, 1500));
        assert!(bench.tap.marked.is_empty());
        assert_eq!(numbers(&bench.tap.dropped), [3]);
    }

    #[test]
    fn what_waited_longer_than_the_threshold_leaves_marked() {
        let mut bench = by_sojourn(1.0);
        (0..3).for_each(|_| bench.arrive_with(0, 1500, Ecn::ECT1));
        bench.arrive(0, 1500);
        bench.at_ms(1);
        assert_eq!(bench.leave_packet().map(|packet| packet.ecn), Some(Ecn::ECT1));
        bench.at_ms(2);
        assert_eq!(bench.leave_packet().map(|packet| packet.ecn), Some(Ecn::CE));
        bench.queue.set("threshold_ms", 2.0).unwrap();
        assert_eq!(bench.leave_packet().map(|packet| packet.ecn), Some(Ecn::ECT1));
        bench.at_ms(9);
        assert_eq!(bench.leave_packet().map(|packet| packet.ecn), Some(Ecn::NOT_ECT));
    }

    #[test]
    fn only_the_threshold_in_use_can_be_changed() {
        let error = by_packets(None, 2).queue.set("threshold_ms", 1.0).unwrap_err().to_string();
        assert!(
            error.contains("threshold_ms cannot be changed") && error.contains("threshold_packets"),
            "{error}"
        );
        assert!(by_packets(None, 2).queue.set("threshold_packets", 0.0).is_err());
        assert!(by_sojourn(1.0).queue.set("threshold_ms", 0.0).is_err());
    }
}
