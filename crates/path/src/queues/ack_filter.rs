//! ACK filter: a droptail queue in which an acknowledgement replaces those that it makes superfluous.
//!
//! When an ACK arrives, every waiting ACK of its flow without further information is dropped (Linux v6.6,
//! `net/sched/sch_cake.c`, `cake_ack_filter`, in the mode `ack-filter-aggressive`). The driver identifies these ACKs
//! ([`Tap::is_superseded`]), because a path does not look into packets. The new ACK waits at the end, so it does not
//! overtake data of other flows.

use super::discipline::{Discipline, QueueTable};
use super::droptail::{Droptail, DroptailSpec};
use super::fifo::Limits;
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Time};

/// Refuses arrivals that do not fit, and drops ACKs that a later ACK makes superfluous. At least one limit is needed.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckFilterSpec {
    /// Limit, packets.
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
    /// Limit, bytes.
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
}

impl QueueTable for AckFilterSpec {
    type Discipline = AckFilter;

    fn check(&self) -> Result<(), Refusal> {
        Limits::at_least_one(self.packets, self.bytes).map(drop)
    }

    fn build(&self, rng: Rng) -> Result<AckFilter, Refusal> {
        let queue = DroptailSpec { packets: self.packets, bytes: self.bytes };
        queue.build(rng).map(AckFilter)
    }

    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn packets(&self) -> Option<u64> {
        self.packets
    }
}

#[derive(Clone, Debug)]
pub(crate) struct AckFilter(Droptail);

impl Discipline for AckFilter {
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        let mut index = 0;
        while let Some(older) = self.0.fifo.get(index) {
            if older.flow == packet.flow && tap.is_superseded(older, &packet) {
                if let Some(older) = self.0.fifo.remove(index) {
                    tap.packet(now, PacketEvent::Dropped, &older);
                }
            } else {
                index += 1;
            }
        }
        self.0.enqueue(now, packet, tap);
    }

    fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        self.0.dequeue(now, tap)
    }

    fn packets(&self) -> u64 {
        self.0.packets()
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        self.0.set(name, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tap for which a packet of 40 bytes is an ACK that makes all earlier ACKs superfluous.
    #[derive(Default)]
    struct Acks(Vec<u64>);

    impl Tap for Acks {
        fn packet(&mut self, _now: Time, event: PacketEvent, packet: &Packet) {
            if event == PacketEvent::Dropped {
                self.0.push(packet.number);
            }
        }

        fn is_superseded(&self, older: &Packet, newer: &Packet) -> bool {
            older.size_bytes == 40 && newer.size_bytes == 40 && older.number < newer.number
        }
    }

    /// Returns the numbers of dropped and of sent packets for arrivals of (flow, size) in the order of their numbers.
    fn filtered(spec: &AckFilterSpec, arrivals: &[(u32, u32)]) -> (Vec<u64>, Vec<u64>) {
        let mut queue = spec.build(Rng::new(1, "queue")).unwrap();
        let mut tap = Acks::default();
        for ((flow, size), number) in arrivals.iter().zip(0..) {
            queue.enqueue(Time::ZERO, Packet::new(*flow, number, *size, 0, Time::ZERO), &mut tap);
        }
        let left = core::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut tap)).map(|packet| packet.number);
        let left = left.collect();
        assert_eq!((queue.packets(), queue.bytes()), (0, 0));
        (tap.0, left)
    }

    const PLENTY: AckFilterSpec = AckFilterSpec { packets: Some(100), bytes: None };

    #[test]
    fn a_later_ack_takes_the_place_of_earlier_ones_of_its_flow() {
        let arrivals = [(0, 40), (1, 40), (0, 40), (0, 1500), (0, 40), (1, 1500)];
        assert_eq!(filtered(&PLENTY, &arrivals), (vec![0, 2], vec![1, 3, 4, 5]));
    }

    #[test]
    fn what_the_driver_does_not_call_superfluous_stays() {
        assert_eq!(filtered(&PLENTY, &[(0, 41), (0, 42), (0, 40)]), (vec![], vec![0, 1, 2]));
    }

    #[test]
    fn room_is_made_before_the_limit_is_looked_at() {
        let spec = AckFilterSpec { packets: Some(2), bytes: None };
        // Packet 0 makes room for 2; packet 3 finds 1 and 2.
        assert_eq!(filtered(&spec, &[(0, 40), (1, 40), (0, 40), (2, 40)]), (vec![0, 3], vec![1, 2]));
    }
}
