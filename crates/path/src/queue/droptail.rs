//! Droptail: a FIFO that refuses what does not fit; without limits it is the infinite queue.
//!
//! A packet is accepted if the backlog including it stays within both limits (reference `emulation` 1.6).

use super::fifo::{Fifo, Limits, unknown};
use crate::{Packet, PacketEvent, Tap};
use units::Time;

#[derive(Clone, Debug)]
pub(crate) struct Droptail {
    pub(super) fifo: Fifo,
    limits: Limits,
    /// Whether it was asked for as `infinite`: then it has no limit to change.
    infinite: bool,
}

impl Droptail {
    pub(super) fn new(limits: Limits) -> Self {
        Self { fifo: Fifo::default(), limits, infinite: false }
    }

    pub(super) fn infinite() -> Self {
        Self { fifo: Fifo::default(), limits: Limits::new(None, None), infinite: true }
    }

    pub(super) fn kind(&self) -> &'static str {
        if self.infinite { "infinite" } else { "droptail" }
    }

    #[inline]
    pub(super) fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        if self.limits.admit(&self.fifo, packet.size_bytes) {
            tap.packet(now, PacketEvent::Enqueued, &packet);
            self.fifo.push(packet);
        } else {
            tap.packet(now, PacketEvent::Dropped, &packet);
        }
    }

    #[inline]
    pub(super) fn dequeue(&mut self) -> Option<Packet> {
        self.fifo.pop()
    }

    pub(super) fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        match name {
            _ if self.infinite => Err(unknown(name, "nothing")),
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
    fn two_packets_fit_in_a_limit_of_two_and_the_third_is_dropped() {
        let mut bench = Bench::new(&QueueSpec::Droptail { packets: Some(2), bytes: None });
        (0..3).for_each(|_| bench.arrive(0, 1500));
        assert_eq!(numbers(&bench.tap.enqueued), [0, 1]);
        assert_eq!(numbers(&bench.tap.dropped), [2]);
    }

    #[test]
    fn the_byte_limit_is_inclusive() {
        let mut bench = Bench::new(&QueueSpec::Droptail { packets: None, bytes: Some(3000) });
        // 1500 + 1500 = 3000 is allowed; then not even one byte more.
        for size in [1500, 1500, 1] {
            bench.arrive(0, size);
        }
        assert_eq!((bench.queue.packets(), bench.queue.bytes()), (2, 3000));
        assert_eq!(numbers(&bench.tap.dropped), [2]);
    }

    #[test]
    fn a_small_packet_passes_where_a_large_one_did_not() {
        let mut bench = Bench::new(&QueueSpec::Droptail { packets: Some(10), bytes: Some(2000) });
        for size in [1500, 1000, 500] {
            bench.arrive(0, size);
        }
        assert_eq!(numbers(&bench.tap.dropped), [1]);
        assert_eq!(bench.queue.bytes(), 2000);
    }

    #[test]
    fn infinite_keeps_everything() {
        let mut bench = Bench::new(&QueueSpec::default());
        (0..100_000).for_each(|_| bench.arrive(0, 1500));
        assert_eq!((bench.queue.packets(), bench.tap.dropped.len()), (100_000, 0));
    }

    #[test]
    fn a_lowered_limit_holds_for_the_next_arrival() {
        let mut bench = Bench::new(&QueueSpec::Droptail { packets: Some(3), bytes: None });
        (0..3).for_each(|_| bench.arrive(0, 1500));
        bench.queue.set("packets", 2.0).unwrap();
        bench.leave();
        bench.arrive(0, 1500);
        // One left, two remain, the limit is two: the fourth packet does not fit.
        assert_eq!(numbers(&bench.tap.dropped), [3]);
    }
}
