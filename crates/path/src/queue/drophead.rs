//! Drophead: everything is accepted, then the oldest packets go until the limits hold (reference `emulation` 1.6).

use super::fifo::{Fifo, Limits, unknown};
use crate::{Packet, PacketEvent, Tap};
use units::Time;

#[derive(Clone, Debug)]
pub(crate) struct Drophead {
    pub(super) fifo: Fifo,
    limits: Limits,
}

impl Drophead {
    pub(super) fn new(limits: Limits) -> Self {
        Self { fifo: Fifo::default(), limits }
    }

    pub(super) fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        tap.packet(now, PacketEvent::Enqueued, &packet);
        self.fifo.push(packet);
        while self.limits.exceeded(self.fifo.packets(), self.fifo.bytes()) {
            let Some(oldest) = self.fifo.pop() else { break };
            tap.packet(now, PacketEvent::Dropped, &oldest);
        }
    }

    pub(super) fn dequeue(&mut self) -> Option<Packet> {
        self.fifo.pop()
    }

    pub(super) fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        match name {
            "packets" | "bytes" => self.limits.set(name, value),
            _ => Err(unknown(name, "packets, bytes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::queue::QueueSpec;
    use crate::queue::testing::{Bench, numbers};

    #[test]
    fn the_oldest_packet_goes_when_the_queue_is_full() {
        let mut bench = Bench::new(&QueueSpec::Drophead { packets: Some(2), bytes: None });
        (0..4).for_each(|_| bench.arrive(0, 1500));
        assert_eq!(numbers(&bench.tap.dropped), [0, 1]);
        assert_eq!(bench.leave(), Some(2));
    }

    #[test]
    fn several_small_packets_go_for_a_large_one() {
        let mut bench = Bench::new(&QueueSpec::Drophead { packets: None, bytes: Some(2000) });
        // 4 x 500 = 2000 fits; 1500 more make 3500, so three of 500 go: 500 + 1500 = 2000 fits again.
        for size in [500, 500, 500, 500, 1500] {
            bench.arrive(0, size);
        }
        assert_eq!(numbers(&bench.tap.dropped), [0, 1, 2]);
        assert_eq!((bench.queue.packets(), bench.queue.bytes()), (2, 2000));
    }

    #[test]
    fn a_packet_over_the_limit_empties_the_queue_and_goes_itself() {
        let mut bench = Bench::new(&QueueSpec::Drophead { packets: None, bytes: Some(1000) });
        for size in [500, 1001] {
            bench.arrive(0, size);
        }
        assert_eq!(numbers(&bench.tap.dropped), [0, 1]);
        assert!(bench.queue.is_empty());
    }
}
