//! Infinite queue: keeps everything.

use super::discipline::{Discipline, QueueTable};
use super::fifo::Fifo;
use super::settings::unknown;
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Time};

/// A queue without limits; it has no settings.
#[derive(Deserialize, Serialize, Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InfiniteSpec {}

impl QueueTable for InfiniteSpec {
    type Discipline = Infinite;

    fn check(&self) -> Result<(), Refusal> {
        Ok(())
    }

    fn build(&self, _rng: Rng) -> Result<Infinite, Refusal> {
        Ok(Infinite { fifo: Fifo::default() })
    }

    fn decides_on_arrival(&self) -> bool {
        true
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Infinite {
    fifo: Fifo,
}

impl Discipline for Infinite {
    #[inline]
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        tap.packet(now, PacketEvent::Enqueued, &packet);
        self.fifo.push(packet);
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

    fn set(&mut self, name: &str, _value: f64) -> Result<(), Refusal> {
        Err(unknown(name, "none"))
    }
}

#[cfg(test)]
mod tests {
    use crate::queues::QueueSpec;
    use crate::queues::testing::Bench;

    #[test]
    fn infinite_keeps_everything() {
        let mut bench = Bench::new(&QueueSpec::default());
        (0..100_000).for_each(|_| bench.arrive(0, 1500));
        assert_eq!((bench.queue.packets(), bench.tap.dropped.len()), (100_000, 0));
    }
}
