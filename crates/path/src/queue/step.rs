//! Step marking: every packet beyond a threshold is marked, none below it.
//!
//! With `threshold_packets`, the queue of DCTCP (Alizadeh et al. 2010, section 3.1): an arrival is marked if the backlog
//! it joins, itself included, exceeds the threshold K. With `threshold_ms`, the step of L4S's low-latency queue (RFC
//! 9332 appendix A.1): a packet that waited longer is marked as it leaves. Packets that are not ECN-capable pass
//! unharmed, and only the limits drop.

use super::fifo::{Fifo, Limits, mark, milliseconds, unknown, whole};
use crate::{Packet, PacketEvent, Tap};
use units::{Span, Time};

/// Beyond what packets are marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Threshold {
    Packets(u64),
    Sojourn(Span),
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(super) fifo: Fifo,
    limits: Limits,
    threshold: Threshold,
}

impl Step {
    pub(super) fn new(limits: Limits, threshold: Threshold) -> Self {
        Self { fifo: Fifo::default(), limits, threshold }
    }

    #[inline]
    pub(super) fn enqueue<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) {
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
    pub(super) fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let mut packet = self.fifo.pop()?;
        if let Threshold::Sojourn(longest) = self.threshold
            && now - packet.queued > longest
            && packet.ecn.is_capable()
        {
            mark(now, &mut packet, tap);
        }
        Some(packet)
    }

    pub(super) fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
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
    use crate::Ecn;
    use crate::queue::QueueSpec;
    use crate::queue::testing::{Bench, numbers};

    fn by_packets(packets: Option<u64>, threshold: u64) -> Bench {
        Bench::new(&QueueSpec::Step {
            packets,
            bytes: None,
            threshold_packets: Some(threshold),
            threshold_ms: None,
        })
    }

    fn by_sojourn(threshold_ms: f64) -> Bench {
        Bench::new(&QueueSpec::Step {
            packets: None,
            bytes: None,
            threshold_packets: None,
            threshold_ms: Some(threshold_ms),
        })
    }

    #[test]
    fn arrivals_beyond_the_threshold_are_marked_and_none_below() {
        let mut bench = by_packets(None, 2);
        (0..4).for_each(|_| bench.arrive_with(0, 1500, Ecn::ECT0));
        assert_eq!(numbers(&bench.tap.marked), [2, 3]);
        // Three leave: the next arrival is the second in the queue.
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
        let error = by_packets(None, 2).queue.set("threshold_ms", 1.0).unwrap_err();
        assert!(
            error.contains("`threshold_ms` cannot be changed") && error.contains("threshold_packets"),
            "{error}"
        );
        assert!(by_packets(None, 2).queue.set("threshold_packets", 0.0).is_err());
        assert!(by_sojourn(1.0).queue.set("threshold_ms", 0.0).is_err());
    }
}
