//! Data packets within a time: where each was when.

use crate::columns::Columns;
use crate::kept::Kept;
use record::{Event, Record};
use serde_json::json;
use std::collections::BTreeMap;

/// What is known of a packet, ns; NaN where nothing is.
#[derive(Clone, Copy)]
struct Packet {
    flow: u32,
    seq: u64,
    size_bytes: u32,
    /// By the position of the event in `EVENTS`.
    times_ns: [f64; EVENTS.len()],
}

/// What can happen to it, with the names of the columns.
const EVENTS: [(Event, &str); 8] = [
    (Event::Send, "send_ns"),
    (Event::Enqueue, "enqueue_ns"),
    (Event::Dequeue, "dequeue_ns"),
    (Event::Drop, "drop_ns"),
    (Event::Mark, "mark_ns"),
    (Event::Deliver, "deliver_ns"),
    (Event::Acked, "acked_ns"),
    (Event::Lost, "lost_ns"),
];
const SEND: usize = 0;
const DROP: usize = 3;
const DELIVER: usize = 5;

impl Kept {
    /// The packets that were on the path from `from_ns` to `to_ns`: of one flow (from 1), or of all of them (0). If there are
    /// more than `most`, their number alone.
    pub(crate) fn packets(&self, from_ns: u64, to_ns: u64, flow: u32, most: u32) -> Vec<u8> {
        // Who is on the path now was sent at most the longest delay ago. What became of it shows as long after.
        let (begin_ns, end_ns) =
            (from_ns.saturating_sub(self.longest_ns), to_ns.saturating_add(self.longest_ns));
        let mut packets: Vec<Packet> = Vec::new();
        let mut rows: BTreeMap<(u32, u64), usize> = BTreeMap::new();
        let asked = |record: &&Record| record.flow > 0 && (flow == 0 || record.flow == flow);
        for record in self.records_from(begin_ns).take_while(|record| record.time_ns < end_ns).filter(asked) {
            let Some(event) = EVENTS.iter().position(|(event, _)| *event == record.event) else { continue };
            let key = (record.flow, record.seq);
            if event == SEND && record.time_ns < to_ns {
                rows.entry(key).or_insert_with(|| {
                    packets.push(Packet {
                        flow: record.flow,
                        seq: record.seq,
                        size_bytes: record.size_bytes,
                        times_ns: [f64::NAN; EVENTS.len()],
                    });
                    packets.len() - 1
                });
            }
            if let Some(&row) = rows.get(&key)
                && packets[row].times_ns[event].is_nan()
            {
                packets[row].times_ns[event] = record.time_ns as f64;
            }
        }
        packets.retain(|packet| {
            let gone_ns = packet.times_ns[DELIVER].min(packet.times_ns[DROP]);
            gone_ns.is_nan() || gone_ns >= from_ns as f64
        });
        let mut made = Columns::default();
        let meta = json!({"whole_until_ns": self.whole_until_ns()});
        if packets.len() > most as usize {
            let number = packets.len();
            return made.bytes(&json!({"too_many": number, "whole_until_ns": self.whole_until_ns()}));
        }
        made.counts("flow", &packets.iter().map(|packet| packet.flow).collect::<Vec<_>>());
        made.numbers("seq", &packets.iter().map(|packet| packet.seq as f64).collect::<Vec<_>>());
        made.counts("size_bytes", &packets.iter().map(|packet| packet.size_bytes).collect::<Vec<_>>());
        for (index, (_, name)) in EVENTS.iter().enumerate() {
            made.numbers(name, &packets.iter().map(|packet| packet.times_ns[index]).collect::<Vec<_>>());
        }
        made.bytes(&meta)
    }
}
