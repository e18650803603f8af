//! Packets of a window, compared with all records of the run.

use crate::runs_in_memory::{SimulatedRun, flow, path, run};
use crate::table::Table;
use record::Event;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use views::{NoRows, View};

static RAN: LazyLock<SimulatedRun> =
    LazyLock::new(|| run(&path(20.0, 30.0, 40, &[]), &[flow("cubic"), flow("reno")], 5.0, "full"));

/// Times of a packet by event, ns.
type Times = BTreeMap<u8, u64>;

fn by_hand(ran: &SimulatedRun) -> BTreeMap<(u32, u64), Times> {
    let packets = &ran.memory.packets;
    let mut times_by_packet: BTreeMap<(u32, u64), Times> = BTreeMap::new();
    let data =
        [Event::Send, Event::Enqueue, Event::Dequeue, Event::Drop, Event::Deliver, Event::Lost, Event::Acked];
    for row in 0..packets.time_ns.len() {
        let event = packets.event[row];
        if data.iter().any(|one| *one as u8 == event) {
            let times = times_by_packet.entry((packets.flow[row], packets.seq[row])).or_default();
            times.entry(event).or_insert(packets.time_ns[row]);
        }
    }
    times_by_packet
}

#[test]
fn every_packet_of_a_window_is_there_with_all_its_times() {
    let hand = by_hand(&RAN);
    let view = View::new(&RAN.pyramid, &RAN.memory).with_retransmissions(RAN.retransmissions());
    for (from, to) in [(0.0, 1e8), (7e8, 1.2e9), (2.5e9, 2.6e9), (4.9e9, 5e9)] {
        let table = Table::of(&view.packets(from, to, 0, 100_000).unwrap());
        let expected: Vec<_> = hand
            .iter()
            .filter(|(_, times)| {
                let end = [Event::Deliver, Event::Drop, Event::Acked, Event::Lost]
                    .iter()
                    .filter_map(|event| times.get(&(*event as u8)))
                    .max();
                (times[&0] as f64) < to && end.is_none_or(|end| *end as f64 >= from)
            })
            .collect();
        let (flows, seqs) = (table.numbers("flow"), table.numbers("seq"));
        assert!(!expected.is_empty());
        let mut times_by_packet: Vec<_> =
            flows.iter().zip(&seqs).map(|(flow, seq)| (*flow as u32, *seq as u64)).collect();
        times_by_packet.sort_unstable();
        let keys: Vec<_> = expected.iter().map(|(key, _)| **key).collect();
        assert_eq!(times_by_packet, keys);
        for (event, name) in [
            (Event::Send, "send_ns"),
            (Event::Enqueue, "enqueue_ns"),
            (Event::Dequeue, "dequeue_ns"),
            (Event::Drop, "drop_ns"),
            (Event::Deliver, "deliver_ns"),
            (Event::Lost, "lost_ns"),
            (Event::Acked, "acked_ns"),
        ] {
            let times = table.numbers(name);
            for (row, time) in times.iter().enumerate() {
                let expected_time =
                    hand[&(flows[row] as u32, seqs[row] as u64)].get(&(event as u8)).map(|time| *time as f64);
                assert_eq!(
                    Some(*time).filter(|time| !time.is_nan()),
                    expected_time,
                    "{name} of {} {}",
                    flows[row],
                    seqs[row]
                );
            }
        }
    }
}

#[test]
fn retransmissions_are_those_that_the_sender_counted() {
    let counts = RAN.retransmissions();
    assert!(counts.iter().any(|(_, count)| *count > 10), "{counts:?}");
    let view = View::new(&RAN.pyramid, &RAN.memory).with_retransmissions(counts.clone());
    for (flow, count) in counts {
        let table = Table::of(&view.packets(0.0, 5e9, flow, 1 << 20).unwrap());
        let again = table.numbers("retransmission");
        assert_eq!(again.iter().filter(|&&flag| flag == 1.0).count() as u64, count);
        assert!(again.iter().all(|&flag| flag < 2.0));
        // The sender still waited for an earlier packet when this packet was acknowledged.
        let (acked, lost) = (table.numbers("acked_ns"), table.numbers("lost_ns"));
        let sacked = table.numbers("sacked");
        assert!(sacked.contains(&1.0));
        for row in (0..sacked.len()).step_by(37) {
            let waited = (0..row).any(|before| {
                let resolved = if lost[before].is_nan() { acked[before] } else { lost[before] };
                resolved > acked[row]
            });
            assert_eq!(sacked[row] == 1.0, waited, "row {row}");
        }
    }
    // Without a count the retransmissions are unknown.
    let table = Table::of(&View::new(&RAN.pyramid, &RAN.memory).packets(0.0, 1e8, 1, 10_000).unwrap());
    assert!(table.numbers("retransmission").contains(&2.0));
}

#[test]
fn too_many_packets_are_counted_and_not_told() {
    let view = View::new(&RAN.pyramid, &RAN.memory);
    let table = Table::of(&view.packets(0.0, 5e9, 0, 100).unwrap());
    let sent = RAN.memory.packets.event.iter().filter(|&&event| event == Event::Send as u8).count() as f64;
    let reported = table.meta["too_many"].as_f64().unwrap();
    assert!((reported - sent).abs() < 0.01 * sent && table.numbers("seq").is_empty());
    assert_eq!(
        View::new(&RAN.pyramid, &NoRows).packets(0.0, 1.0, 0, 10).unwrap_err().to_string(),
        "this run has no packet log: run it again with --log packets"
    );
}

#[test]
fn the_life_of_a_packet_is_told_in_order() {
    let view = View::new(&RAN.pyramid, &RAN.memory).with_retransmissions(RAN.retransmissions());
    let packets = &RAN.memory.packets;
    let dropped = (0..packets.seq.len()).find(|&row| packets.event[row] == Event::Drop as u8).unwrap();
    let (flow, seq) = (packets.flow[dropped], packets.seq[dropped]);
    let life: Value = serde_json::from_str(&view.life(flow, seq).unwrap()).unwrap();
    assert_eq!(life["packet"]["drop_ns"], packets.time_ns[dropped]);
    let sentences: Vec<_> =
        life["sentences"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect();
    assert!(
        sentences[0].starts_with("Sent at ") && sentences[1].starts_with("Dropped inside the path"),
        "{sentences:?}"
    );
    assert!(sentences[2].starts_with("Declared lost by the sender"), "{sentences:?}");
    let life: Value = serde_json::from_str(&view.life(1, 500).unwrap()).unwrap();
    let sentences = life["sentences"].to_string();
    for part in
        ["Sent at", "Entered a link's queue", "after waiting", "Arrived at the receiver", "Acknowledged at"]
    {
        assert!(sentences.contains(part), "{part} in {sentences}");
    }
    assert_eq!(view.life(1, 1 << 40).unwrap_err().to_string(), "flow 1 sent no packet 1099511627776");
    assert!(view.life(7, 0).is_err());
}
