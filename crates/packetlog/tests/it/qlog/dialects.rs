//! The same short exchange as different stacks write it, and files that are no good.

use super::{import, records};
use crate::common::Scratch;
use packetlog::qlog::import_file;
use packetlog::{Interrupts, SampleTable, read_samples};
use record::Event;

/// Two packets of 1,200 bytes are sent, the first is acknowledged after 40 ms, the second declared lost; the window is
/// 12,000 bytes, the smoothed RTT 40 ms. Handshake packets and pure ACKs are not part of it.
fn check(text: &str) {
    let scratch = Scratch::new();
    let found = import(&scratch, text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!((found.sent, found.acked, found.lost), (2, 1, 1), "{text}");
    assert_eq!(found.last_ns, 90_000_000, "{text}");
    let log = records(&scratch.file("out/1/packets.parquet"));
    let delivered: Vec<_> = log.iter().filter(|r| r.event == Event::Deliver).collect();
    assert_eq!(
        (delivered[0].seq, delivered[0].one_way_delay_ns, delivered[0].size_bytes),
        (7, 40_000_000, 1200)
    );
    let samples = read_samples(scratch.file("out/1/flows.parquet"), SampleTable::Flows).unwrap();
    let value = |field: &str| samples.iter().find(|s| &*s.field == field).map(|s| s.value);
    assert_eq!(
        (value("window"), value("cwnd"), value("srtt")),
        (Some(12_000.0), Some(10.0), Some(40.0)),
        "{text}"
    );
}

fn lines(separator: &str, lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [separator, line, "\n"]).collect()
}

#[test]
fn json_text_sequences_of_version_0_3() {
    check(&lines(
        "\x1e",
        &[
            r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"server"},"common_fields":{"time_format":"relative","reference_time":1e12}}}"#,
            r#"{"time":5.0,"name":"transport:packet_sent","data":{"header":{"packet_type":"handshake","packet_number":0},"raw":{"length":1200}}}"#,
            r#"{"time":10.0,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":1200},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":1150}]}}"#,
            r#"{"time":10.5,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":8},"raw":{"length":1200},"frames":[{"frame_type":"stream","stream_id":0,"offset":1150,"length":1150},{"frame_type":"ack","acked_ranges":[[0,3]]}]}}"#,
            r#"{"time":11.0,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":9},"raw":{"length":40},"frames":[{"frame_type":"ack","acked_ranges":[[0,4]]}]}}"#,
            r#"{"time":50.0,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":4},"frames":[{"frame_type":"ack","acked_ranges":[[0,7]]}]}}"#,
            r#"{"time":50.0,"name":"recovery:metrics_updated","data":{"congestion_window":12000,"smoothed_rtt":40.0,"ssthresh":18446744073709551615}}"#,
            r#"{"time":95.0,"name":"recovery:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":8}}}"#,
        ],
    ));
}

#[test]
fn the_newest_drafts() {
    check(&lines(
        "\x1e",
        &[
            r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","trace":{"event_schemas":["urn:ietf:params:qlog:events:quic-13"],"common_fields":{"time_format":"relative_to_previous_event","reference_time":{"clock_type":"monotonic","epoch":"unknown"}}}}"#,
            r#"{"time":3.0,"name":"quic:packet_sent","data":{"header":{"packet_type":"initial","packet_number":0}}}"#,
            r#"{"time":5.0,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":1200},"frames":[{"frame_type":"stream","stream_id":0,"raw":{"payload_length":1150}}]}}"#,
            r#"{"time":0.0,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":8},"raw":{"length":1200}}}"#,
            r#"{"time":40.0,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":4},"frames":[{"frame_type":"ack","acked_ranges":[[7]]}]}}"#,
            r#"{"time":0.0,"name":"quic:recovery_metrics_updated","data":{"congestion_window":12000,"smoothed_rtt":40}}"#,
            r#"{"time":45.0,"name":"quic:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":8}}}"#,
        ],
    ));
}

#[test]
fn json_of_version_0_3_with_the_fields_of_aioquic() {
    check(
        r#"{"qlog_format":"JSON","qlog_version":"0.3","traces":[{"common_fields":{"ODCID":"00"},"vantage_point":{"name":"x","type":"server"},
        "events":[
          {"time":1553986553500.0,"name":"transport:version_information","data":{}},
          {"time":1553986553510.0,"name":"transport:packet_sent","data":{"header":{"packet_number":7,"packet_type":"1RTT"},"raw":{"length":1200},"frames":[{"frame_type":"stream","length":1100}]}},
          {"time":1553986553510.0,"name":"transport:packet_sent","data":{"header":{"packet_number":8,"packet_type":"1RTT"},"raw":{"length":1200},"frames":[{"frame_type":"ping"}]}},
          {"time":1553986553550.0,"name":"transport:packet_received","data":{"header":{"packet_number":1,"packet_type":"1RTT"},"frames":[{"frame_type":"ack","acked_ranges":[[7,7]]}]}},
          {"time":1553986553550.0,"name":"recovery:metrics_updated","data":{"cwnd":12000,"smoothed_rtt":40.0}},
          {"time":1553986553590.0,"name":"recovery:packet_lost","data":{"type":"1RTT","packet_number":8}}]}]}"#,
    );
}

#[test]
fn arrays_in_microseconds_with_the_fields_of_picoquic_and_mvfst() {
    check(
        r#"{"qlog_version":"draft-00","traces":[{"vantage_point":{"name":"backend","type":"server"},"configuration":{"time_units":"us"},
        "event_fields":["relative_time","category","event","data"],
        "events":[
          [5000,"transport","packet_sent",{"packet_type":"initial","header":{"packet_number":"0","packet_size":1252}}],
          [10000,"transport","packet_sent",{"packet_type":"1RTT","header":{"packet_number":"7","packet_size":1200},"frames":[{"frame_type":"stream","length":"1100"}]}],
          [10100,"TRANSPORT","PACKET_SENT",{"packet_type":"1RTT","header":{"packet_number":"8","packet_size":"1200"}}],
          [50000,"transport","packet_received",{"packet_type":"1RTT","header":{"packet_number":"3"},"frames":[{"frame_type":"ack","acked_ranges":[["7","7"]]}]}],
          [50000,"recovery","metrics_updated",{"cwnd":12000,"smoothed_rtt":40000}],
          [95000,"recovery","packet_lost",{"packet_type":"1RTT","packet_number":8}],
          []]}]}"#,
    );
}

#[test]
fn lines_of_json_of_draft_02() {
    check(&lines(
        "",
        &[
            r#"{"qlog_version":"draft-02","qlog_format":"NDJSON","trace":{"common_fields":{"time_format":"absolute"}}}"#,
            r#"{"time":"5","name":"connectivity:connection_started","data":{}}"#,
            r#"{"time":"10","name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":1200}}}"#,
            r#"{"time":"10","name":"transport:packet_sent","data":{"header":{"packet_type":"0RTT","packet_number":8},"raw":{"length":1200}}}"#,
            r#"{"time":"50","name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"ack","acked_ranges":[7]}]}}"#,
            r#"{"time":"50","name":"recovery:congestion_metric_update","data":{"current_cwnd":12000,"smoothed_rtt":40}}"#,
            r#"{"time":"95","name":"recovery:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":8}}}"#,
        ],
    ));
}

#[test]
fn every_trace_of_a_file_is_read_and_those_that_are_errors_are_left_out() {
    let scratch = Scratch::new();
    let file = scratch.file("two.qlog");
    let event = r#"{"time":0,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1}}}"#;
    let text = format!(
        r#"{{"qlog_version":"0.3","title":"both","traces":[{{"events":[{event}]}},{{"error_description":"gone","uri":"x"}},
        {{"title":"second","events":[{event},{event}]}}]}}"#
    );
    std::fs::write(&file, text).unwrap();
    let found = import_file(&file, &scratch.file("out"), &Interrupts::none()).unwrap();
    let shown: Vec<_> = found.iter().map(|(title, trace)| (&**title, trace.sent)).collect();
    assert_eq!(shown, [("both", 1), ("second", 2)]);
}

#[test]
fn files_that_are_no_good_are_refused_by_file_and_line() {
    let refusal = |text: &str| {
        let scratch = Scratch::new();
        let message = import(&scratch, text.as_bytes()).unwrap_err().to_string();
        message.split_once("in.qlog").unwrap().1.to_owned()
    };
    let header = "\x1e{\"qlog_version\":\"0.3\",\"trace\":{}}\n";
    let sent =
        "\x1e{\"time\":1,\"name\":\"transport:packet_sent\",\"data\":{\"header\":{\"packet_number\":1}}}\n";
    assert_eq!(refusal(""), ": is empty");
    assert_eq!(
        refusal("\u{7f}ELF"),
        ": is no qlog: it begins with neither a JSON object nor a record separator"
    );
    assert!(refusal("{\"a\": 1}").starts_with(": is no qlog: it has neither `qlog_version` nor"));
    assert!(refusal("\x1e{\"a\":1}\n").starts_with(":1: is no qlog"));
    assert_eq!(refusal("{\"qlog_version\":\"0.3\"}"), ": has no list `traces`");
    let cut = refusal("{\"qlog_version\":\"0.3\",\n\"traces\":[\n{\"events\":[{\"time\"");
    assert!(cut.starts_with(":3: is not valid JSON: EOF while parsing"), "{cut}");
    let cut = refusal(&format!("{header}{sent}\x1e{{\"time\":2,\"na"));
    assert!(cut.starts_with(":3: is not valid JSON: EOF"), "{cut}");
    let wrong = refusal(&format!("{header}{sent}\x1e{{\"name\":\"a:b\"}}\n"));
    assert!(wrong.starts_with(":3: has no number `time`, found '{"), "{wrong}");
    let wrong = refusal("{\"qlog_version\":\"0.3\",\"traces\":[{\"events\":[{}, 3]}]}");
    assert_eq!(wrong, ": event 2 of trace 1: is neither an object nor an array");
    let wrong = refusal(&format!("{header}{}", sent.replace("packet_number", "number")));
    assert!(wrong.starts_with(":2: packet_sent has no packet number"), "{wrong}");
    assert!(refusal(header).ends_with(": no packet of the application was sent in it: nothing to import"));
}

#[test]
fn what_never_ends_is_not_read_into_memory() {
    for (begin, bytes, problem) in [
        ("{", (1 << 28) + 1, ": is one JSON object of more than 256 MiB: a sequence"),
        ("\x1e", (1 << 24) + 2, ":1: is a record of more than 16 MiB"),
    ] {
        let scratch = Scratch::new();
        let file = scratch.file("in.qlog");
        std::fs::write(&file, begin).unwrap();
        std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(bytes).unwrap();
        let refused = import_file(&file, &scratch.file("out"), &Interrupts::none()).unwrap_err().to_string();
        assert!(refused.contains(&format!("in.qlog{problem}")), "{refused}");
    }
}

#[test]
fn what_would_take_many_times_its_length_in_memory_is_refused() {
    let header = r#"{"qlog_version": "0.3", "trace": {}}"#;
    let objects = "{},".repeat(1 << 16);
    let text = lines("\u{1e}", &[header, &format!(r#"{{"time": 1, "junk": [{objects}0]}}"#)]);
    let scratch = Scratch::new();
    let error = import(&scratch, text.as_bytes()).unwrap_err().to_string();
    assert!(
        error.contains("has 65537 objects and ") && error.contains("allowed are 65536 and 1048576"),
        "{error}"
    );
    let zeros = "0,".repeat(1 << 25);
    let whole = format!(r#"{{"qlog_version": "0.3", "traces": [{{"events": [{zeros}0]}}]}}"#);
    let error = import(&scratch, whole.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("allowed are 4194304 and 33554432"), "{error}");
}
