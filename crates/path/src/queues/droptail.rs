//! Droptail: a FIFO that refuses packets that do not fit.
//!
//! A packet is accepted if the backlog including the packet stays within both limits, as in
//! `src/packet/drop_tail_packet_queue.hh` of ravinet/mahimahi@ae477d4.

use super::discipline::{Discipline, QueueTable};
use super::fifo::{Fifo, Limits};
use super::settings::unknown;
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Time};

/// Refuses arrivals that do not fit. At least one limit is needed.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DroptailSpec {
    /// Limit, packets.
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
    /// Limit, bytes.
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
}

impl QueueTable for DroptailSpec {
    type Discipline = Droptail;

    fn check(&self) -> Result<(), Refusal> {
        Limits::at_least_one(self.packets, self.bytes).map(drop)
    }

    fn build(&self, _rng: Rng) -> Result<Droptail, Refusal> {
        let limits = Limits::at_least_one(self.packets, self.bytes)?;
        Ok(Droptail { fifo: Fifo::default(), limits })
    }

    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn packets(&self) -> Option<u64> {
        self.packets
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Droptail {
    pub(super) fifo: Fifo,
    limits: Limits,
}

impl Droptail {
    /// Returns the maximum number of waiting packets and bytes.
    pub(super) fn most(&self) -> (u64, u64) {
        self.limits.most()
    }
}

impl Discipline for Droptail {
    #[inline]
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        if self.limits.admit(&self.fifo, packet.size_bytes) {
            tap.packet(now, PacketEvent::Enqueued, &packet);
            self.fifo.push(packet);
        } else {
            tap.packet(now, PacketEvent::Dropped, &packet);
        }
    }

    #[inline]
    fn dequeue<T: Tap>(&mut self, _now: Time, _tap: &mut T) -> Option<Packet> {
        self.fifo.pop()
    }

    #[inline]
    fn packets(&self) -> u64 {
        self.fifo.packets()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        match name {
            "packets" | "bytes" => self.limits.set(name, value),
            _ => Err(unknown(name, "packets, bytes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DroptailSpec;
    use crate::queues::QueueSpec;
    use crate::queues::testing::{Bench, numbers};

    fn bench(packets: Option<u64>, bytes: Option<u64>) -> Bench {
        Bench::new(&QueueSpec::Droptail(DroptailSpec { packets, bytes }))
    }

    #[test]
    fn two_packets_fit_in_a_limit_of_two_and_the_third_is_dropped() {
        let mut bench = bench(Some(2), None);
        (0..3).for_each(|_| bench.arrive(0, 1500));
        assert_eq!(numbers(&bench.tap.enqueued), [0, 1]);
        assert_eq!(numbers(&bench.tap.dropped), [2]);
    }

    #[test]
    fn the_byte_limit_is_inclusive() {
        let mut bench = bench(None, Some(3000));
        // 1500 + 1500 = 3000 bytes are allowed, and no byte more.
        for size in [1500, 1500, 1] {
            bench.arrive(0, size);
        }
        assert_eq!((bench.queue.packets(), bench.queue.bytes()), (2, 3000));
        assert_eq!(numbers(&bench.tap.dropped), [2]);
    }

    #[test]
    fn a_small_packet_passes_where_a_large_one_did_not() {
        let mut bench = bench(Some(10), Some(2000));
        for size in [1500, 1000, 500] {
            bench.arrive(0, size);
        }
        assert_eq!(numbers(&bench.tap.dropped), [1]);
        assert_eq!(bench.queue.bytes(), 2000);
    }

    #[test]
    fn a_lowered_limit_holds_for_the_next_arrival() {
        let mut bench = bench(Some(3), None);
        (0..3).for_each(|_| bench.arrive(0, 1500));
        bench.queue.set("packets", 2.0).unwrap();
        bench.leave();
        bench.arrive(0, 1500);
        // One packet left, two remain, the limit is two: the fourth packet does not fit.
        assert_eq!(numbers(&bench.tap.dropped), [3]);
    }
}
