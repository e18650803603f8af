//! Rules of the drafts for the events that dumbbell writes, from their CDDL: main-schema-01 with its QUIC events for
//! version 0.3, main-schema-14 and quic-events-13 for the newest version.

use packetlog::qlog::Draft;
use serde_json::Value;

/// Returns the values of a JSON text sequence (RFC 7464: each between a record separator and a newline).
pub(crate) fn sequence(text: &[u8]) -> Vec<Value> {
    assert_eq!(text.first(), Some(&0x1e), "a text sequence begins with a record separator");
    let records = text[1..].split(|&byte| byte == 0x1e);
    records
        .map(|record| {
            assert_eq!(record.last(), Some(&b'\n'), "a record ends with a newline");
            serde_json::from_slice(record).expect("a record is JSON")
        })
        .collect()
}

/// Checks the rules; panics if one is broken.
pub(crate) fn check(text: &[u8], draft: Draft) {
    let values = sequence(text);
    check_header(&values[0], draft);
    let mut last = f64::NEG_INFINITY;
    for event in &values[1..] {
        keys(event, &["time", "name", "data"], &[]);
        let time = event["time"].as_f64().expect("a time is a number");
        assert!(time >= last, "{time} follows {last}");
        last = time;
        check_data(event["name"].as_str().expect("a name is text"), &event["data"], draft);
    }
}

fn check_header(header: &Value, draft: Draft) {
    let trace = &header["trace"];
    text(&trace["vantage_point"]["name"]);
    one_of(&trace["vantage_point"]["type"], &["client", "server", "network", "unknown"]);
    let common = &trace["common_fields"];
    match draft {
        Draft::V03 => {
            keys(header, &["qlog_version", "qlog_format", "trace"], &["title", "description"]);
            assert_eq!(header["qlog_version"], "0.3");
            assert_eq!(header["qlog_format"], "JSON-SEQ");
            keys(trace, &["vantage_point"], &["title", "description", "common_fields", "configuration"]);
            one_of(&common["time_format"], &["absolute", "delta", "relative"]);
            assert!(common["reference_time"].is_number(), "relative times need a reference");
        }
        Draft::Quic13 => {
            keys(header, &["file_schema", "serialization_format", "trace"], &["title", "description"]);
            assert_eq!(header["file_schema"], "urn:ietf:params:qlog:file:sequential");
            assert_eq!(header["serialization_format"], "application/qlog+json-seq");
            keys(trace, &["event_schemas"], &["title", "description", "common_fields", "vantage_point"]);
            assert_eq!(trace["event_schemas"], serde_json::json!(["urn:ietf:params:qlog:events:quic-13"]));
            one_of(&common["time_format"], &["relative_to_epoch", "relative_to_previous_event"]);
            let reference = &common["reference_time"];
            keys(reference, &["clock_type", "epoch"], &["wall_clock_time"]);
            assert_eq!(
                (&reference["clock_type"], &reference["epoch"]),
                (&"monotonic".into(), &"unknown".into())
            );
        }
    }
}

fn check_data(name: &str, data: &Value, draft: Draft) {
    let (transport, recovery, metrics) = match draft {
        Draft::V03 => ("transport:", "recovery:", "recovery:metrics_updated"),
        Draft::Quic13 => ("quic:", "quic:", "quic:recovery_metrics_updated"),
    };
    if name == metrics {
        let (bytes, ms) = (
            ["congestion_window", "bytes_in_flight", "ssthresh", "pacing_rate"],
            ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"],
        );
        keys(data, &[], &[bytes, ms].concat());
        assert!(!data.as_object().unwrap().is_empty(), "at least one metric");
        assert!(bytes.iter().all(|key| data.get(key).is_none_or(Value::is_u64)), "{data}");
        assert!(ms.iter().all(|key| data.get(key).is_none_or(Value::is_number)), "{data}");
    } else if name == format!("{transport}packet_sent") || name == format!("{transport}packet_received") {
        keys(data, &["header"], &["frames", "raw"]);
        check_packet_header(&data["header"]);
        keys(&data["raw"], &[], &["length", "payload_length"]);
        assert!(data["raw"].as_object().unwrap().values().all(Value::is_u64));
        for frame in data.get("frames").map_or(&[][..], |frames| frames.as_array().unwrap()) {
            keys(frame, &["frame_type"], &["acked_ranges", "ack_delay"]);
            assert_eq!(frame["frame_type"], "ack");
            for range in frame["acked_ranges"].as_array().unwrap() {
                let (first, last) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
                assert!(first <= last && range.as_array().unwrap().len() == 2);
            }
        }
    } else if name == format!("{transport}packets_acked") {
        keys(data, &[], &["packet_number_space", "packet_numbers"]);
        one_of(&data["packet_number_space"], &["initial", "handshake", "application_data"]);
        assert!(data["packet_numbers"].as_array().unwrap().iter().all(Value::is_u64), "{data}");
    } else if name == format!("{recovery}packet_lost") {
        keys(data, &[], &["header", "frames", "trigger"]);
        check_packet_header(&data["header"]);
    } else {
        assert_eq!(name, format!("{recovery}congestion_state_updated"));
        keys(data, &["new"], &["old", "trigger"]);
        text(&data["new"]);
    }
}

fn check_packet_header(header: &Value) {
    keys(header, &["packet_type", "packet_number"], &[]);
    one_of(&header["packet_type"], &["initial", "handshake", "0RTT", "1RTT"]);
    assert!(header["packet_number"].is_u64(), "{header}");
}

/// Checks that `value` is an object with all of `needed`, and otherwise only keys of `possible`.
fn keys(value: &Value, needed: &[&str], possible: &[&str]) {
    let fields = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
    for key in needed {
        assert!(fields.contains_key(*key), "{value} has no {key}");
    }
    for key in fields.keys() {
        assert!(needed.contains(&&**key) || possible.contains(&&**key), "{key} is not known: {value}");
    }
}

fn text(value: &Value) {
    assert!(value.is_string(), "{value} is no text");
}

fn one_of(value: &Value, allowed: &[&str]) {
    assert!(allowed.iter().any(|known| value == known), "{value} is none of {allowed:?}");
}
