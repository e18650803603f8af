//! FQ-CoDel (RFC 8290): one CoDel queue per hashed flow, served by deficit round robin that prefers new flows.
//!
//! - Flows are hashed by flow number with a seeded mix; two flows in one queue share it (section 4.1).
//! - A queue that becomes busy joins the new list with one quantum. Queues of the new list are served before queues of
//!   the old list. A queue that has used its quantum, or runs empty, goes to the end of the old list (section 4.2).
//! - On overflow half the packets, at most 64, are dropped from the head of the queue with most bytes (section 4.1).
//! - CoDel's standing-queue test looks at the flow's own queue, so a flow's only packet is never dropped.

use super::control_law::{Law, Settings};
use super::discipline::{Discipline, QueueTable};
use super::fifo::{Fifo, Limits};
use super::settings::{milliseconds, refuse, unknown, whole};
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Time};

/// Maximum number of packets dropped at once on overflow (RFC 8290 section 4.1).
const DROP_BATCH: u64 = 64;
/// Mark of the end of a list.
const NONE: u32 = u32::MAX;
/// Minimum quantum, bytes: with a smaller one a full packet would take many empty rounds.
const MIN_QUANTUM_BYTES: u64 = 64;
/// Maximum number of queues.
const MOST_FLOWS: u64 = 65_536;

/// Fair queueing with CoDel per flow, RFC 8290.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FqCodelSpec {
    /// Number of queues.
    #[serde(default = "flows")]
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: u64,
    /// Bytes per round and flow.
    #[serde(default = "full_frame")]
    #[schemars(range(min = 64, max = 1_073_741_824))]
    pub quantum_bytes: u64,
    /// Acceptable standing delay, ms.
    #[serde(default = "five")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub target_ms: f64,
    /// Width of the estimator's window, ms.
    #[serde(default = "hundred")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub interval_ms: f64,
    /// Limit over all flows, packets.
    #[serde(default = "packets")]
    #[schemars(range(min = 1))]
    pub packets: u64,
    /// Limit over all flows, bytes (the role of Linux's memory limit).
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
    /// Mark instead of drop.
    #[serde(default)]
    pub ecn: bool,
}

// RFC 8290 section 5.2.
fn flows() -> u64 {
    1024
}
fn full_frame() -> u64 {
    1514
}
fn packets() -> u64 {
    10_240
}
fn five() -> f64 {
    5.0
}
fn hundred() -> f64 {
    100.0
}

impl FqCodelSpec {
    fn limits(&self) -> Result<Limits, Refusal> {
        Limits::new(Some(self.packets), self.bytes)
    }

    fn settings(&self) -> Result<Settings, Refusal> {
        Settings::new(self.target_ms, self.interval_ms, self.ecn)
    }
}

impl QueueTable for FqCodelSpec {
    type Discipline = FqCodel;

    fn check(&self) -> Result<(), Refusal> {
        self.limits()?;
        if !(1..=MOST_FLOWS).contains(&self.flows) {
            return Err(refuse("flows", self.flows as f64, "a whole number from 1 to 65536"));
        }
        quantum(self.quantum_bytes as f64)?;
        self.settings().map(drop)
    }

    fn build(&self, mut rng: Rng) -> Result<FqCodel, Refusal> {
        let flow = Flow { fifo: Fifo::default(), law: Law::default(), deficit: 0, next: NONE, listed: false };
        Ok(FqCodel {
            flows: vec![flow; self.flows as usize],
            new: List::EMPTY,
            old: List::EMPTY,
            limits: self.limits()?,
            settings: self.settings()?,
            quantum_bytes: self.quantum_bytes,
            packets: 0,
            bytes: 0,
            salt: rng.next_u64(),
        })
    }

    fn packets(&self) -> Option<u64> {
        Some(self.packets)
    }
}

#[derive(Clone, Debug)]
struct Flow {
    fifo: Fifo,
    law: Law,
    /// Bytes that the flow may still send in this round.
    deficit: i64,
    /// Next flow in the list.
    next: u32,
    /// True if a list contains the flow.
    listed: bool,
}

/// A singly linked list of flows through [`Flow::next`].
#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

impl List {
    const EMPTY: Self = Self { head: NONE, tail: NONE };

    fn push(&mut self, flows: &mut [Flow], index: u32) {
        flows[index as usize].next = NONE;
        if self.tail == NONE {
            self.head = index;
        } else {
            flows[self.tail as usize].next = index;
        }
        self.tail = index;
    }

    fn pop(&mut self, flows: &[Flow]) {
        self.head = flows[self.head as usize].next;
        if self.head == NONE {
            self.tail = NONE;
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FqCodel {
    flows: Vec<Flow>,
    new: List,
    old: List,
    limits: Limits,
    settings: Settings,
    quantum_bytes: u64,
    packets: u64,
    bytes: u64,
    /// Seed of the hash.
    salt: u64,
}

impl FqCodel {
    /// Returns the queue of flow number `flow`: the salted number, mixed as in Steele's `SplitMix64`, scaled to the
    /// queues.
    fn index(&self, flow: u32) -> u32 {
        let mut mixed = (u64::from(flow) ^ self.salt).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * self.flows.len() as u128) >> 64) as u32
    }

    fn drop_from_longest<T: Tap>(&mut self, now: Time, tap: &mut T) {
        let (mut longest, mut most) = (NONE, 0);
        for list in [self.new, self.old] {
            let mut index = list.head;
            while index != NONE {
                let flow = &self.flows[index as usize];
                if flow.fifo.bytes() > most {
                    (longest, most) = (index, flow.fifo.bytes());
                }
                index = flow.next;
            }
        }
        let Some(flow) = self.flows.get_mut(longest as usize) else { return };
        for _ in 0..flow.fifo.packets().div_ceil(2).min(DROP_BATCH) {
            let Some(packet) = flow.fifo.pop() else { break };
            self.packets -= 1;
            self.bytes -= u64::from(packet.size_bytes);
            tap.packet(now, PacketEvent::Dropped, &packet);
        }
    }

    fn serve<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        loop {
            let is_new = self.new.head != NONE;
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = list.head;
            let flow = self.flows.get_mut(index as usize)?;
            if flow.deficit <= 0 {
                flow.deficit += self.quantum_bytes as i64;
                list.pop(&self.flows);
                self.old.push(&mut self.flows, index);
                continue;
            }
            let (packets, bytes) = (flow.fifo.packets(), flow.fifo.bytes());
            let packet = flow.law.dequeue(now, &self.settings, &mut flow.fifo, tap);
            self.packets -= packets - flow.fifo.packets();
            self.bytes -= bytes - flow.fifo.bytes();
            if let Some(packet) = packet {
                flow.deficit -= i64::from(packet.size_bytes);
                return Some(packet);
            }
            // Empty: a new flow waits one round in the old list, so that it cannot jump ahead by returning at once.
            flow.listed = is_new;
            list.pop(&self.flows);
            if is_new {
                self.old.push(&mut self.flows, index);
            }
        }
    }

    /// Removes all flows from the lists. With nothing queued further rounds would do only that.
    fn forget_flows(&mut self) {
        for list in [self.new, self.old] {
            let mut index = list.head;
            while index != NONE {
                let flow = &mut self.flows[index as usize];
                flow.listed = false;
                index = flow.next;
            }
        }
        (self.new, self.old) = (List::EMPTY, List::EMPTY);
    }
}

impl Discipline for FqCodel {
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        tap.packet(now, PacketEvent::Enqueued, &packet);
        let size_bytes = u64::from(packet.size_bytes);
        self.settings.one_packet_bytes = self.settings.one_packet_bytes.max(size_bytes);
        self.packets += 1;
        self.bytes += size_bytes;
        let index = self.index(packet.flow);
        let flow = &mut self.flows[index as usize];
        flow.fifo.push(packet);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum_bytes as i64;
            self.new.push(&mut self.flows, index);
        }
        while self.limits.exceeded(self.packets, self.bytes) {
            self.drop_from_longest(now, tap);
        }
    }

    fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let packet = self.serve(now, tap);
        if self.packets == 0 {
            self.forget_flows();
        }
        packet
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        match name {
            "packets" | "bytes" => self.limits.set(name, value)?,
            "target_ms" => self.settings.target = milliseconds(name, value)?,
            "interval_ms" => self.settings.interval = milliseconds(name, value)?,
            "quantum_bytes" => self.quantum_bytes = quantum(value)?,
            _ => return Err(unknown(name, "packets, bytes, target_ms, interval_ms, quantum_bytes")),
        }
        Ok(())
    }
}

/// Checks `quantum_bytes`.
fn quantum(value: f64) -> Result<u64, Refusal> {
    let name = "quantum_bytes";
    whole(name, value)
        .ok()
        .filter(|bytes| (MIN_QUANTUM_BYTES..=1 << 30).contains(bytes))
        .ok_or_else(|| refuse(name, value, "a whole number from 64 to 1073741824"))
}

#[cfg(test)]
mod tests {
    use super::FqCodelSpec;
    use crate::Ecn;
    use crate::queues::QueueSpec;
    use crate::queues::testing::{Bench, numbers};
    use units::Time;

    fn spec(flows: u64, packets: u64, ecn: bool) -> QueueSpec {
        QueueSpec::FqCodel(FqCodelSpec {
            flows,
            quantum_bytes: 1514,
            target_ms: 5.0,
            interval_ms: 100.0,
            packets,
            bytes: None,
            ecn,
        })
    }

    fn flows(events: &[(Time, crate::Packet)]) -> Vec<u32> {
        events.iter().map(|(_, packet)| packet.flow).collect()
    }

    #[test]
    fn a_sparse_flow_does_not_wait_behind_a_bulk_flow() {
        let mut bench = Bench::new(&spec(1024, 10_240, false));
        (0..500).for_each(|_| bench.arrive(1, 1500));
        for ms in 1..=1000 {
            bench.at_ms(ms);
            bench.arrive(1, 1500);
            if ms % 50 == 0 {
                bench.arrive(2, 100);
            }
            bench.leave();
        }
        let sparse: Vec<_> = bench.tap.dequeued.iter().filter(|(_, packet)| packet.flow == 2).collect();
        assert_eq!(sparse.len(), 20);
        // Each packet leaves in the ms of its arrival; a packet of the bulk flow waits for about 500 others at first.
        assert!(sparse.iter().all(|(time, packet)| *time == packet.queued));
        assert!(bench.tap.dropped.iter().all(|(_, packet)| packet.flow == 1));
    }

    #[test]
    fn two_flows_share_bytes_equally_whatever_their_packet_sizes() {
        let mut bench = Bench::new(&spec(1024, 100_000, false));
        for _ in 0..3000 {
            bench.arrive(1, 1500);
            (0..3).for_each(|_| bench.arrive(2, 500));
        }
        let mut sent = [0u64; 3];
        // CoDel does nothing within 1 ms of the arrivals.
        for _ in 0..4000 {
            let packet = bench.leave_packet().unwrap();
            sent[packet.flow as usize] += u64::from(packet.size_bytes);
        }
        let difference = sent[1].abs_diff(sent[2]);
        // The flows are at most one quantum and one packet apart at any time.
        assert!(difference <= 1514 + 1500, "{sent:?}");
    }

    #[test]
    fn rounds_alternate_and_a_newcomer_goes_first() {
        let mut bench = Bench::new(&spec(1024, 100, false));
        for flow in [1, 1, 1, 1, 2, 2, 2, 2] {
            bench.arrive(flow, 1514);
        }
        (0..4).for_each(|_| _ = bench.leave());
        bench.arrive(3, 100);
        (0..3).for_each(|_| _ = bench.leave());
        // A quantum allows one packet of 1514 bytes; then the deficit is zero and the turn is over.
        assert_eq!(flows(&bench.tap.dequeued), [1, 2, 1, 2, 3, 1, 2]);
    }

    #[test]
    fn a_flow_that_ran_empty_cannot_jump_ahead_by_returning_at_once() {
        let mut bench = Bench::new(&spec(1024, 100, false));
        (0..6).for_each(|_| bench.arrive(1, 757));
        _ = bench.leave();
        bench.arrive(2, 100);
        // Flow 1 ends its round of two packets. Flow 2 sends, runs empty and waits behind flow 1.
        (0..3).for_each(|_| _ = bench.leave());
        bench.arrive(2, 100);
        (0..2).for_each(|_| _ = bench.leave());
        assert_eq!(flows(&bench.tap.dequeued), [1, 1, 2, 1, 1, 2]);
    }

    #[test]
    fn after_an_idle_time_every_flow_is_new() {
        let mut bench = Bench::new(&spec(1024, 100, false));
        bench.arrive(2, 1514);
        _ = bench.leave();
        for flow in [2, 2, 1] {
            bench.arrive(flow, 1514);
        }
        (0..3).for_each(|_| _ = bench.leave());
        // If flow 2 still had its old deficit of zero, it would have to wait for flow 1.
        assert_eq!(flows(&bench.tap.dequeued), [2, 2, 1, 2]);
    }

    #[test]
    fn overflow_drops_half_of_the_longest_queue_from_its_head_and_at_most_64() {
        let mut bench = Bench::new(&spec(1024, 10, false));
        (0..4).for_each(|_| bench.arrive(2, 1500)); // numbers 0 to 3
        (0..7).for_each(|_| bench.arrive(1, 1500)); // numbers 4 to 10; the last makes 11 > 10
        // Flow 1 holds 7: the oldest ceil(7 / 2) = 4 are dropped.
        assert_eq!(numbers(&bench.tap.dropped), [4, 5, 6, 7]);
        assert_eq!(bench.queue.packets(), 7);
        let mut bench = Bench::new(&spec(1024, 1000, false));
        (0..1001).for_each(|_| bench.arrive(1, 1500));
        assert_eq!((bench.tap.dropped.len(), bench.queue.packets()), (64, 937));
    }

    #[test]
    fn each_flow_has_its_own_control_law() {
        let mut bench = Bench::new(&spec(1024, 10_240, true));
        (0..1000).for_each(|_| bench.arrive_with(1, 1500, Ecn::ECT0));
        for ms in 1..=300 {
            bench.at_ms(ms);
            // Flow 2 never waits.
            bench.arrive_with(2, 1500, Ecn::ECT0);
            bench.leave();
            bench.leave();
        }
        let ms: Vec<u64> = bench.tap.marked.iter().map(|(time, _)| time.as_ns() / 1_000_000).collect();
        // As in CoDel alone: above target at 5 ms, entry at 105 ms, then 205, 275.7 ms.
        assert_eq!(ms, [105, 205, 276]);
        assert!(flows(&bench.tap.marked).iter().all(|flow| *flow == 1));
    }

    #[test]
    fn one_queue_for_all_is_codel() {
        let mut shared = Bench::new(&spec(1, 10_240, false));
        for flow in 0..5 {
            shared.arrive(flow, 1500);
        }
        (0..5).for_each(|_| _ = shared.leave());
        assert_eq!(numbers(&shared.tap.dequeued), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn flows_spread_over_the_queues() {
        let mut bench = Bench::new(&spec(1024, 10_240, false));
        let crate::queues::Queue::FqCodel(queue) = &mut bench.queue else { panic!() };
        let mut used: Vec<u32> = (0..256).map(|flow| queue.index(flow)).collect();
        used.sort_unstable();
        used.dedup();
        // 256 flows into 1024 queues: 1024 x (1 - (1 - 1/1024)^256) = 226.6 expected, standard deviation below 5.
        assert!((207..=246).contains(&used.len()), "{}", used.len());
    }
}
