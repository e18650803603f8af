//! Drophead: accepts everything, then drops the oldest packets until the limits hold (as
//! `src/packet/drop_head_packet_queue.hh` of ravinet/mahimahi@ae477d4).

use super::discipline::{Discipline, QueueTable};
use super::fifo::{Fifo, Limits};
use super::settings::unknown;
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Time};

/// Drops the oldest packets for arrivals that do not fit. At least one limit is needed.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropheadSpec {
    /// Limit, packets.
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
    /// Limit, bytes.
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
}

impl QueueTable for DropheadSpec {
    type Discipline = Drophead;

    fn check(&self) -> Result<(), Refusal> {
        Limits::at_least_one(self.packets, self.bytes).map(drop)
    }

    fn build(&self, _rng: Rng) -> Result<Drophead, Refusal> {
        let limits = Limits::at_least_one(self.packets, self.bytes)?;
        Ok(Drophead { fifo: Fifo::default(), limits })
    }

    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn packets(&self) -> Option<u64> {
        self.packets
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Drophead {
    fifo: Fifo,
    limits: Limits,
}

impl Discipline for Drophead {
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        tap.packet(now, PacketEvent::Enqueued, &packet);
        self.fifo.push(packet);
        while self.limits.exceeded(self.fifo.packets(), self.fifo.bytes()) {
            let Some(oldest) = self.fifo.pop() else { break };
            tap.packet(now, PacketEvent::Dropped, &oldest);
        }
    }

    fn dequeue<T: Tap>(&mut self, _now: Time, _tap: &mut T) -> Option<Packet> {
        self.fifo.pop()
    }

    fn packets(&self) -> u64 {
        self.fifo.packets()
    }

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
    use super::DropheadSpec;
    use crate::queues::QueueSpec;
    use crate::queues::testing::{Bench, numbers};

    fn bench(packets: Option<u64>, bytes: Option<u64>) -> Bench {
        Bench::new(&QueueSpec::Drophead(DropheadSpec { packets, bytes }))
    }

    #[test]
    fn the_oldest_packet_goes_when_the_queue_is_full() {
        let mut bench = bench(Some(2), None);
        (0..4).for_each(|_| bench.arrive(0, 1500));
        assert_eq!(numbers(&bench.tap.dropped), [0, 1]);
        assert_eq!(bench.leave(), Some(2));
    }

    #[test]
    fn several_small_packets_go_for_a_large_one() {
        let mut bench = bench(None, Some(2000));
        // 4 x 500 = 2000 fits; 1500 more make 3500, so three packets of 500 are dropped: 500 + 1500 = 2000 fits again.
        for size in [500, 500, 500, 500, 1500] {
            bench.arrive(0, size);
        }
        assert_eq!(numbers(&bench.tap.dropped), [0, 1, 2]);
        assert_eq!((bench.queue.packets(), bench.queue.bytes()), (2, 2000));
    }

    #[test]
    fn a_packet_over_the_limit_empties_the_queue_and_goes_itself() {
        let mut bench = bench(None, Some(1000));
        for size in [500, 1001] {
            bench.arrive(0, size);
        }
        assert_eq!(numbers(&bench.tap.dropped), [0, 1]);
        assert!(bench.queue.is_empty());
    }
}
