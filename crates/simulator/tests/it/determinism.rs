//! Tests that one specification always gives identical bytes, also compared with earlier versions.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::harness::{self, Scratch, datagram_flow, flow};
use packetlog::{Key, PacketLogReader, Sample, SampleTable, read_samples};
use record::{Event, Record};
use runs::{PacketColumns, SampleColumns};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Returns a path with most random elements, and traffic in both directions.
fn busy_path() -> Value {
    json!({
        "data": [
            {"kind": "link", "rate_mbps": 10.0, "queue": {"kind": "red", "packets": 60,
             "min_threshold_packets": 10, "max_threshold_packets": 40}},
            {"kind": "gilbert-elliott", "p": 0.001, "r": 0.3, "h": 0.5, "k": 0.999},
            {"kind": "jitter", "distribution": "exponential", "mean_ms": 1.0, "preserve_order": true},
            {"kind": "delay", "delay_ms": 20.0},
        ],
        "ack": [
            {"kind": "poisson", "rate_mbps": 5.0, "queue": {"kind": "fq-codel"}},
            {"kind": "delay", "delay_ms": 20.0},
        ],
    })
}

fn spec(flows: &[Value], seed: u64) -> Value {
    json!({"seed": seed, "duration_s": 5.0, "log": "full", "path": busy_path(), "flows": flows})
}

fn run_to(spec: &Value, directory: &Path) -> Vec<u8> {
    harness::record(spec, directory);
    read(&directory.join("packets.parquet"))
}

#[expect(clippy::disallowed_methods, reason = "the files of a run are compared")]
fn read(file: &Path) -> Vec<u8> {
    std::fs::read(file).unwrap()
}

fn mixed_flows() -> Vec<Value> {
    let mut backwards = flow("cubic");
    backwards["reverse"] = json!(true);
    let mut late = flow("bbr");
    late["start_s"] = json!(1.0);
    late["rtt_ms"] = json!(90.0);
    vec![flow("reno"), late, datagram_flow("copa"), backwards]
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let (first, second, third) = (Scratch::new(), Scratch::new(), Scratch::new());
    let log = run_to(&spec(&mixed_flows(), 1), &first.0);
    assert_eq!(log, run_to(&spec(&mixed_flows(), 1), &second.0));
    assert_ne!(log, run_to(&spec(&mixed_flows(), 2), &third.0));
    for table in ["flows.parquet", "links.parquet"] {
        assert_eq!(read(&first.0.join(table)), read(&second.0.join(table)), "{table}");
    }
}

#[test]
fn the_log_is_in_time_order_and_every_packet_has_one_fate() {
    let scratch = Scratch::new();
    run_to(&spec(&mixed_flows(), 3), &scratch.0);
    let records: Vec<Record> =
        PacketLogReader::open(scratch.0.join("packets.parquet")).unwrap().map(Result::unwrap).collect();
    assert!(records.windows(2).all(|pair| pair[0].time_ns <= pair[1].time_ns));
    let count = |event| records.iter().filter(|record| record.event == event).count() as i64;
    let under_way = count(Event::Send) - count(Event::Deliver) - count(Event::Drop);
    assert!((0..200).contains(&under_way), "{under_way} data packets under way");
    let under_way = count(Event::AckSend) - count(Event::AckDeliver) - count(Event::AckDrop);
    assert!((0..200).contains(&under_way), "{under_way} ACKs under way");
}

#[test]
fn what_is_logged_does_not_change_what_happens() {
    let mut plain = json!({"seed": 1, "duration_s": 5.0, "path": crate::harness::dumbbell(20.0, 30.0, 40),
        "flows": [flow("cubic"), flow("vegas")]});
    let mut records = Vec::new();
    for level in ["full", "packets"] {
        plain["log"] = json!(level);
        let scratch = Scratch::new();
        run_to(&plain, &scratch.0);
        let log = PacketLogReader::open(scratch.0.join("packets.parquet")).unwrap();
        let is_common =
            |record: &Record| !matches!(record.event, Event::Enqueue | Event::Dequeue | Event::Acked);
        records.push(log.map(Result::unwrap).filter(is_common).collect::<Vec<_>>());
    }
    assert!(records[0].len() > 10_000);
    assert!(records[0] == records[1], "the records differ");
}

#[test]
fn a_full_log_says_what_every_sender_knew() {
    let scratch = Scratch::new();
    run_to(&spec(&mixed_flows(), 3), &scratch.0);
    let records: Vec<Record> =
        PacketLogReader::open(scratch.0.join("packets.parquet")).unwrap().map(Result::unwrap).collect();
    let numbers = |flow: u32, event: Event| -> Vec<u64> {
        records.iter().filter(|r| r.flow == flow && r.event == event).map(|r| r.seq).collect()
    };
    for flow in 1..=4 {
        let (sent, delivered) = (numbers(flow, Event::Send), numbers(flow, Event::Deliver));
        let (mut acked, lost) = (numbers(flow, Event::Acked), numbers(flow, Event::Lost));
        assert!(
            acked.len() > 100 && !lost.is_empty(),
            "flow {flow}: {} acked, {} lost",
            acked.len(),
            lost.len()
        );
        assert!(
            acked.iter().all(|number| delivered.contains(number)),
            "flow {flow}: acked, but not delivered"
        );
        assert!(lost.iter().all(|number| sent.contains(number)), "flow {flow}: lost, but not sent");
        let count = acked.len();
        acked.sort_unstable();
        acked.dedup();
        assert_eq!(acked.len(), count, "flow {flow}: acknowledged twice");
    }
    let samples = read_samples(scratch.0.join("flows.parquet"), SampleTable::Flows).unwrap();
    let in_flight = samples.iter().filter(|s| &*s.field == "in_flight" && s.key == Key::Flow(1));
    // The state is logged more often than every 100 ms of 5 s: after every ACK.
    assert!(in_flight.count() > numbers(1, Event::AckDeliver).len());
}

#[test]
fn memory_holds_what_the_files_hold() {
    let scratch = Scratch::new();
    let spec = spec(&mixed_flows(), 4);
    run_to(&spec, &scratch.0);
    let memory = harness::run(&spec).memory;
    let log = PacketLogReader::open(scratch.0.join("packets.parquet")).unwrap();
    let mut from_file = PacketColumns::default();
    log.map(Result::unwrap).for_each(|record| from_file.push(&record));
    let columns = |packets: PacketColumns| {
        let PacketColumns { time_ns, flow, event, seq, size_bytes, data_bytes, one_way_delay_ns } = packets;
        (time_ns, flow, event, seq, size_bytes, data_bytes, one_way_delay_ns)
    };
    assert!(columns(memory.packets) == columns(from_file), "packets differ");
    for (table, file) in [(SampleTable::Flows, "flows.parquet"), (SampleTable::Links, "links.parquet")] {
        let samples = read_samples(scratch.0.join(file), table).unwrap();
        let in_memory = match table {
            SampleTable::Flows => rows(&memory.flows, |row| Key::Flow(memory.flows.owner[row])),
            SampleTable::Links => rows(&memory.links, |row| Key::Link(memory.links.owner.get(row).into())),
        };
        assert!(samples.len() >= 400, "{file} has {} rows", samples.len());
        assert!(samples == in_memory, "{file} differs");
    }
}

fn rows<K>(columns: &SampleColumns<K>, key: impl Fn(usize) -> Key) -> Vec<Sample> {
    let row = |row: usize| Sample {
        time_ns: columns.time_ns[row],
        key: key(row),
        field: columns.field.get(row).into(),
        unit: columns.unit.get(row).into(),
        value: columns.value[row],
    };
    (0..columns.value.len()).map(row).collect()
}

/// Returns FNV-1a over all fields of all path records: the log without the file format and without the sender's
/// verdicts.
fn digest(records: impl Iterator<Item = Record>) -> u64 {
    let of_path = records.filter(|record| !matches!(record.event, Event::Lost | Event::Acked));
    of_path.fold(0xcbf2_9ce4_8422_2325, |hash, record| {
        let fields = [
            record.time_ns,
            u64::from(record.flow),
            record.event as u64,
            record.seq,
            u64::from(record.size_bytes),
            u64::from(record.data_bytes),
            record.one_way_delay_ns as u64,
        ];
        fields.iter().fold(hash, |hash, field| (hash ^ field).wrapping_mul(0x0000_0100_0000_01b3))
    })
}

/// One line per controller, and one for the scheme `copa-delay`: a change in behavior changes a line. With
/// `UPDATE_GOLDEN=1` the file is rewritten; the changelog must list such a change as one that changes results.
#[test]
#[expect(clippy::disallowed_methods, reason = "golden files are read, and written on request")]
fn every_controller_behaves_as_recorded() {
    let file = Path::new("tests/it/golden/controllers.txt");
    let mut text = String::from("controller sent delivered goodput_kbit_s p95_delay_us log_digest\n");
    let registry = congestion::Registry::builtin();
    let defaults = registry.iter().map(|entry| (entry.name, flow(entry.name)));
    let mut copa_delay = flow("copa");
    copa_delay["parameters"] = json!({"mode_switching": "off", "velocity_cap": "0.1"});
    for (name, flow) in defaults.chain([("copa-delay", copa_delay)]) {
        let scratch = Scratch::new();
        let stats = harness::record(&spec(&[flow], 1), &scratch.0);
        let log = PacketLogReader::open(scratch.0.join("packets.parquet")).unwrap();
        writeln!(
            text,
            "{} {} {} {:.0} {:.0} {:016x}",
            name,
            stats["flows"][0]["packets_sent"],
            stats["flows"][0]["packets_delivered"],
            stats["flows"][0]["goodput_mbps"].as_f64().unwrap() * 1e3,
            stats["flows"][0]["delay_p95_ms"].as_f64().unwrap() * 1e3,
            digest(log.map(Result::unwrap)),
        )
        .unwrap();
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(file, &text).unwrap();
    }
    let recorded = std::fs::read_to_string(file).expect("run once with UPDATE_GOLDEN=1");
    assert_eq!(
        text, recorded,
        "behaviour changed: if intended, rerun with UPDATE_GOLDEN=1 and note it in CHANGELOG.md"
    );
}
