//! Export and import of qlog. Exports keep the drafts' rules. Imports accept every format that stacks write, and
//! nothing else.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::disallowed_methods, reason = "logs are written to a temporary directory")]

mod dialects;
mod rules;

use crate::common::Scratch;
use packetlog::qlog::{Draft, ImportedTrace, QlogExport, TraceInfo, import_file};
use packetlog::{Error, Interrupts, PacketLogReader, PacketLogWriter, SampleTable, SampleWriter};
use proptest::prelude::*;
use record::{Event, Record};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Imports `text` and returns the result of its only trace.
fn import(scratch: &Scratch, text: &[u8]) -> Result<ImportedTrace, Error> {
    let file = scratch.file("in.qlog");
    std::fs::write(&file, text).unwrap();
    let found = import_file(&file, &scratch.file("out"), &Interrupts::none())?;
    assert_eq!(found.len(), 1);
    Ok(found[0].1.clone())
}

fn records(path: &Path) -> Vec<Record> {
    PacketLogReader::open(path).unwrap().map(Result::unwrap).collect()
}

fn record(time_ms: u64, flow: u32, event: Event, seq: u64, data_bytes: u32) -> Record {
    let on_path = !matches!(event, Event::Lost | Event::Acked);
    Record {
        time_ns: time_ms * 1_000_000,
        flow,
        event,
        seq,
        size_bytes: if on_path { data_bytes + 52 } else { 0 },
        data_bytes,
        one_way_delay_ns: 0,
    }
}

/// Writes a run of two flows. Packet 2 of flow 1 is lost, packet 3 comes in two fragments, ACK 1 acknowledges two
/// packets.
fn write_run(scratch: &Scratch) -> (PathBuf, PathBuf) {
    let (packets, samples) = (scratch.file("packets.parquet"), scratch.file("flows.parquet"));
    let mut log = PacketLogWriter::create(&packets).unwrap();
    let second_fragment = Record { size_bytes: 60, ..record(3, 1, Event::Send, 3, 0) };
    for entry in [
        record(0, 1, Event::Send, 0, 0),
        record(0, 2, Event::Send, 0, 0),
        record(1, 1, Event::Enqueue, 0, 0),
        record(2, 1, Event::Send, 1, 1448),
        record(2, 1, Event::Send, 2, 1448),
        record(3, 1, Event::Send, 3, 1448),
        second_fragment,
        record(3, 0, Event::Opportunity, 0, 1448),
        record(4, 1, Event::Drop, 2, 0),
        record(20, 1, Event::AckDeliver, 0, 0),
        record(20, 1, Event::Acked, 0, 0),
        record(24, 1, Event::AckDeliver, 1, 0),
        record(24, 1, Event::Acked, 1, 1448),
        record(24, 1, Event::Acked, 3, 1448),
        record(24, 1, Event::Lost, 2, 1448),
        record(24, 1, Event::Send, 4, 1448),
    ] {
        log.write(&entry).unwrap();
    }
    log.finish().unwrap();
    let mut table = SampleWriter::create(&samples, SampleTable::Flows).unwrap();
    for (time_ms, flow, field, unit, value) in [
        (0, 1, "window", "bytes", 14_480.0),
        (0, 1, "in_flight", "bytes", 0.0),
        (2, 2, "window", "bytes", 1.0),
        (20, 1, "srtt", "ms", 20.25),
        (20, 1, "lowest_rtt", "ms", 20.25),
        (24, 1, "recovery", "0 no, 1 yes", 1.0),
        (24, 1, "ssthresh", "packets", 5.0),
        (24, 1, "cwnd", "packets", 5.0),
        (24, 1, "in_flight", "bytes", 0.0),
        (24, 1, "in_flight", "bytes", 1448.0),
        (25, 1, "pacing", "Mbit/s", 9.5),
    ] {
        table.flow(time_ms * 1_000_000, flow, field, unit, value).unwrap();
    }
    table.finish().unwrap();
    (packets, samples)
}

fn export(scratch: &Scratch, draft: Draft) -> Vec<u8> {
    let (packets, samples) = write_run(scratch);
    let info = TraceInfo { title: "a \"title\"".into(), description: "what".into(), name: "reno".into() };
    let out = scratch.file("out.sqlog");
    let events = QlogExport::create(&out, draft, 1, &info)
        .unwrap()
        .write_run(&packets, Some((&samples).into()), &Interrupts::none())
        .unwrap();
    let text = std::fs::read(&out).unwrap();
    assert_eq!(rules::sequence(&text).len() as u64, events + 1);
    text
}

#[test]
fn a_part_of_a_run_begins_with_the_state_it_finds() {
    let scratch = Scratch::new();
    let (packets, samples) = write_run(&scratch);
    let out = scratch.file("part.sqlog");
    let export = QlogExport::create(&out, Draft::V03, 1, &TraceInfo::default()).unwrap();
    // The range is from 22 ms to before 25 ms.
    let export = export.during(22_000_000, Some(25_000_000));
    let events = export.write_run(&packets, Some((&samples).into()), &Interrupts::none()).unwrap();
    let values = rules::sequence(&std::fs::read(&out).unwrap());
    assert_eq!(values.len() as u64, events + 1);
    assert_eq!(values[1]["time"], 22.0);
    assert_eq!(values[1]["name"], "recovery:metrics_updated");
    let found = &values[1]["data"];
    assert_eq!((&found["congestion_window"], &found["smoothed_rtt"]), (&json!(14_480), &json!(20.25)));
    let times: Vec<f64> = values[2..].iter().map(|event| event["time"].as_f64().unwrap()).collect();
    assert!(!times.is_empty() && times.iter().all(|&time| time == 24.0), "{times:?}");
}

#[test]
fn what_is_written_keeps_the_rules_of_its_draft() {
    for (draft, _) in Draft::NAMES {
        let scratch = Scratch::new();
        rules::check(&export(&scratch, draft), draft);
    }
}

#[test]
fn a_flow_is_written_event_by_event() {
    let scratch = Scratch::new();
    let values = rules::sequence(&export(&scratch, Draft::V03));
    let shown: Vec<String> = values[1..]
        .iter()
        .map(|event| {
            let name = event["name"].as_str().unwrap().split(':').nth(1).unwrap();
            format!("{} {name} {}", event["time"], event["data"])
        })
        .collect();
    let ack = |number: u64, ranges: &str| {
        format!(
            r#"packet_received {{"frames":[{{"acked_ranges":{ranges},"frame_type":"ack"}}],"header":{{"packet_number":{number},"packet_type":"1RTT"}},"raw":{{"length":52}}}}"#
        )
    };
    let sent = |number: u64, length: u32| {
        format!(
            r#"packet_sent {{"header":{{"packet_number":{number},"packet_type":"1RTT"}},"raw":{{"length":{length},"payload_length":1448}}}}"#
        )
    };
    let expected = [
        r#"0.0 packet_sent {"header":{"packet_number":0,"packet_type":"1RTT"},"raw":{"length":52}}"#
            .to_owned(),
        r#"0.0 metrics_updated {"bytes_in_flight":0,"congestion_window":14480}"#.to_owned(),
        format!("2.0 {}", sent(1, 1500)),
        format!("2.0 {}", sent(2, 1500)),
        format!("3.0 {}", sent(3, 1560)),
        format!("20.0 {}", ack(0, "[[0,0]]")),
        r#"20.0 metrics_updated {"min_rtt":20.25,"smoothed_rtt":20.25}"#.to_owned(),
        format!("24.0 {}", ack(1, "[[1,1],[3,3]]")),
        r#"24.0 packet_lost {"header":{"packet_number":2,"packet_type":"1RTT"}}"#.to_owned(),
        r#"24.0 congestion_state_updated {"new":"recovery"}"#.to_owned(),
        r#"24.0 metrics_updated {"bytes_in_flight":0,"ssthresh":7240}"#.to_owned(),
        format!("24.0 {}", sent(4, 1500)),
        r#"24.0 metrics_updated {"bytes_in_flight":1448}"#.to_owned(),
        r#"25.0 metrics_updated {"pacing_rate":9500000}"#.to_owned(),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn what_is_exported_is_imported_again() {
    for (draft, _) in Draft::NAMES {
        let scratch = Scratch::new();
        let text = export(&scratch, draft);
        let found = import(&scratch, &text).unwrap();
        assert_eq!((found.sent, found.acked, found.lost, found.metrics), (5, 3, 1, 5));
        let log = records(&scratch.file("out/1/packets.parquet"));
        let of = |event: Event| -> Vec<(u64, u64)> {
            log.iter().filter(|r| r.event == event).map(|r| (r.time_ns / 1_000_000, r.seq)).collect()
        };
        assert_eq!(of(Event::Send), [(0, 0), (2, 1), (2, 2), (3, 3), (24, 4)]);
        assert_eq!(of(Event::Acked), [(20, 0), (24, 1), (24, 3)]);
        assert_eq!(of(Event::Lost), [(24, 2)]);
        assert_eq!(of(Event::AckDeliver), [(20, 0), (24, 1)]);
        let delays: Vec<_> = log
            .iter()
            .filter(|r| r.event == Event::Deliver)
            .map(|r| r.one_way_delay_ns / 1_000_000)
            .collect();
        assert_eq!(delays, [20, 22, 21], "what the sender sees of a delay is the round trip");
    }
}

/// Tests real packets: ACKs arrive, and the sender handles two of them a moment later.
#[test]
fn what_a_sender_learns_after_an_ack_arrived_is_an_event_of_its_own() {
    for (draft, prefix) in [(Draft::V03, "transport"), (Draft::Quic13, "quic")] {
        let scratch = Scratch::new();
        let packets = scratch.file("packets.parquet");
        let mut log = PacketLogWriter::create(&packets).unwrap();
        for entry in [
            record(0, 1, Event::Send, 0, 1448),
            record(0, 1, Event::Send, 1, 1448),
            record(1, 1, Event::Send, 2, 1448),
            record(1, 1, Event::Send, 3, 1448),
            record(20, 1, Event::AckDeliver, 0, 0),
            record(20, 1, Event::AckDeliver, 1, 0),
            record(21, 1, Event::Acked, 0, 1448),
            record(21, 1, Event::Acked, 2, 1448),
            record(22, 1, Event::Acked, 3, 1448),
            record(22, 1, Event::Lost, 1, 1448),
            record(23, 1, Event::Send, 4, 1448),
        ] {
            log.write(&entry).unwrap();
        }
        log.finish().unwrap();
        let out = scratch.file("out.sqlog");
        QlogExport::create(&out, draft, 1, &TraceInfo::default())
            .unwrap()
            .write_run(&packets, None, &Interrupts::none())
            .unwrap();
        let text = std::fs::read(&out).unwrap();
        rules::check(&text, draft);
        let told: Vec<_> = rules::sequence(&text)[5..]
            .iter()
            .map(|event| {
                (event["time"].to_string(), event["name"].clone(), event["data"]["packet_numbers"].clone())
            })
            .collect();
        let lost = if draft == Draft::V03 { "recovery" } else { prefix };
        let expected = [
            ("20.0", format!("{prefix}:packet_received"), Value::Null),
            ("20.0", format!("{prefix}:packet_received"), Value::Null),
            ("21.0", format!("{prefix}:packets_acked"), serde_json::json!([0, 2])),
            ("22.0", format!("{prefix}:packets_acked"), serde_json::json!([3])),
            ("22.0", format!("{lost}:packet_lost"), Value::Null),
            ("23.0", format!("{prefix}:packet_sent"), Value::Null),
        ];
        assert_eq!(told, expected.map(|(time, name, numbers)| (time.to_owned(), name.into(), numbers)));
        let found = import(&scratch, &text).unwrap();
        assert_eq!((found.sent, found.acked, found.lost), (5, 3, 1));
        let log = records(&scratch.file("out/1/packets.parquet"));
        let delays = log.iter().filter(|r| r.event == Event::Deliver).map(|r| r.one_way_delay_ns / 1_000_000);
        assert_eq!(delays.collect::<Vec<_>>(), [21, 20, 21]);
    }
}

#[test]
fn acknowledgements_of_the_handshake_and_wrong_ones_are_left_out() {
    let scratch = Scratch::new();
    let trace = |data: &str| {
        let header = r#"{"qlog_version":"0.3","trace":{}}"#;
        let sent = r#"{"time":0,"name":"transport:packet_sent","data":{"header":{"packet_number":1}}}"#;
        let acked = format!(r#"{{"time":1,"name":"transport:packets_acked","data":{data}}}"#);
        format!("\x1e{header}\n\x1e{sent}\n\x1e{acked}\n").into_bytes()
    };
    let acked = |data: &str| import(&scratch, &trace(data)).map(|found| found.acked);
    assert_eq!(acked(r#"{"packet_numbers":[1]}"#).unwrap(), 1);
    assert_eq!(acked(r#"{"packet_number_space":"handshake","packet_numbers":[1]}"#).unwrap(), 0);
    let wrong = import(&scratch, &trace(r#"{"packet_numbers":["one"]}"#)).unwrap();
    let note = "1 event is left out, in line 3: packet_numbers must be a list of packet numbers";
    assert_eq!((wrong.acked, wrong.notes), (0, vec![note.to_owned()]));
}

#[test]
fn a_log_without_the_senders_view_and_without_samples_is_written_as_far_as_it_goes() {
    let scratch = Scratch::new();
    let packets = scratch.file("packets.parquet");
    let mut log = PacketLogWriter::create(&packets).unwrap();
    log.write(&record(1, 1, Event::Send, 7, 1000)).unwrap();
    log.write(&record(9, 1, Event::AckDeliver, 3, 0)).unwrap();
    log.finish().unwrap();
    let out = scratch.file("out.sqlog");
    let export = QlogExport::create(&out, Draft::V03, 1, &TraceInfo::default()).unwrap();
    assert_eq!(export.write_run(&packets, None, &Interrupts::none()).unwrap(), 2);
    let text = std::fs::read(&out).unwrap();
    rules::check(&text, Draft::V03);
    assert!(rules::sequence(&text)[2]["data"].get("frames").is_none());
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof!["[a-z0-9.:]{0,8}", Just("1RTT".to_owned()), Just("ack".to_owned())].prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("header"),
        Just("packet_number"),
        Just("packet_type"),
        Just("frames"),
        Just("frame_type"),
        Just("acked_ranges"),
        Just("packet_numbers"),
        Just("raw"),
        Just("length"),
        Just("new"),
        Just("congestion_window"),
        Just("smoothed_rtt"),
        Just("ssthresh"),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

fn any_event() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("transport:packet_sent"),
        Just("quic:packet_received"),
        Just("recovery:packet_lost"),
        Just("transport:packets_acked"),
        Just("recovery:metrics_updated"),
        Just("quic:congestion_state_updated"),
        Just("x"),
    ];
    prop_oneof![
        4 => (any::<f64>(), name, any_value())
            .prop_map(|(time, name, data)| serde_json::json!({"time": time, "name": name, "data": data})),
        1 => any_value(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Tests that any bytes are imported, or refused in one line with the file's name, without a panic or a remaining
    /// file.
    #[test]
    fn any_bytes_are_read_or_refused_in_one_line(
        start in prop_oneof![Just(&b"\x1e{\"qlog_version\":\"0.3\",\"trace\":{}}\n"[..]), Just(&b"{\"qlog_version\":\"0.3\",\"traces\":["[..]), Just(&b""[..])],
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let scratch = Scratch::new();
        if let Err(error) = import(&scratch, &[start, &rest].concat()) {
            let message = error.to_string();
            prop_assert!(!message.contains('\n') && message.contains("in.qlog"), "{message}");
            prop_assert!(!scratch.file("out/1/packets.parquet").exists());
        }
    }

    #[test]
    fn any_events_are_read_or_refused_in_one_line(events in prop::collection::vec(any_event(), 0..12), array in any::<bool>()) {
        let scratch = Scratch::new();
        let text = if array {
            serde_json::json!({"qlog_version": "0.3", "traces": [{"events": events}]}).to_string()
        } else {
            let header = r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","trace":{}}"#.to_owned();
            let lines = std::iter::once(header).chain(events.iter().map(Value::to_string));
            lines.flat_map(|line| ["\x1e".to_owned(), line, "\n".to_owned()]).collect()
        };
        match import(&scratch, text.as_bytes()) {
            Ok(found) => {
                let log = records(&scratch.file("out/1/packets.parquet"));
                prop_assert!(found.acked <= found.sent);
                prop_assert_eq!(log.iter().filter(|r| r.event == Event::Send).count() as u64, found.sent);
            }
            Err(error) => {
                let message = error.to_string();
                prop_assert!(!message.contains('\n') && message.contains("in.qlog"), "{message}");
            }
        }
    }
}
