//! A short exchange in the formats of different stacks, and unusable files.

use super::{import, records};
use crate::common::Scratch;
use packetlog::qlog::import_file;
use packetlog::{Interrupts, SampleTable, read_samples};
use record::Event;
use std::io::Write;

/// Checks the exchange: two packets of 1,200 bytes are sent, the first is acknowledged after 40 ms, the second declared
/// lost. The window is 12,000 bytes, the smoothed RTT 40 ms. Handshake packets and pure ACKs are left out.
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
    assert_eq!(found[0].1.notes, ["trace 2 is left out: the file says \"gone\""]);
}

const HEADER: &str = "{\"qlog_version\":\"0.3\",\"trace\":{}}\n";

fn event(time: u64, name: &str, data: &str) -> String {
    format!("{{\"time\":{time},\"name\":\"{name}\",\"data\":{data}}}")
}

/// Returns events of packets 0, 1, ... that are sent at 0, 10, ... ms and acknowledged 40 ms later.
fn exchange(packets: u64) -> Vec<String> {
    let sent = |number: u64| {
        event(number * 10, "transport:packet_sent", &format!("{{\"header\":{{\"packet_number\":{number}}}}}"))
    };
    let acked = |number: u64| {
        let frames = format!("[{{\"frame_type\":\"ack\",\"acked_ranges\":[[{number},{number}]]}}]");
        let data = format!("{{\"header\":{{\"packet_number\":{number}}},\"frames\":{frames}}}");
        event(number * 10 + 40, "transport:packet_received", &data)
    };
    (0..packets).map(sent).chain((0..packets).map(acked)).collect()
}

fn sequence(events: &[String]) -> String {
    let header = HEADER.trim_end();
    let all = std::iter::once(header).chain(events.iter().map(|event| &**event));
    all.flat_map(|text| ["\x1e", text, "\n"]).collect()
}

fn whole(traces: &[Vec<String>]) -> String {
    let traces: Vec<_> =
        traces.iter().map(|events| format!("{{\"events\":[{}]}}", events.join(",\n"))).collect();
    format!("{{\"qlog_version\":\"0.3\",\"traces\":[{}]}}", traces.join(",\n"))
}

/// Returns the numbers of sent and acknowledged packets, and the notes.
fn told(text: &[u8]) -> (u64, u64, Vec<String>) {
    let found = import(&Scratch::new(), text).unwrap();
    (found.sent, found.acked, found.notes)
}

#[test]
fn a_file_that_is_cut_off_counts_up_to_there() {
    let text = sequence(&exchange(2));
    let cut = "the file is cut off in line 5: read is what stands before".to_owned();
    assert_eq!(told(&text.as_bytes()[..text.len() - 9]), (2, 1, vec![cut.clone()]));
    let lines = text.replace('\x1e', "");
    assert_eq!(told(&lines.as_bytes()[..lines.len() - 9]), (2, 1, vec![cut]));
    let text = whole(&[exchange(2)]);
    for missing in [1, 3, 4] {
        let (sent, acked, notes) = told(&text.as_bytes()[..text.len() - missing]);
        assert_eq!((sent, acked), (2, 2));
        assert_eq!(notes, ["the file is cut off: read are the 4 events before"]);
    }
    let (sent, acked, notes) = told(&text.as_bytes()[..text.len() - 9]);
    assert_eq!((sent, acked), (2, 1));
    assert_eq!(notes, ["the file is cut off: read are the 3 events before"]);
}

#[test]
fn zeros_behind_the_last_record_are_no_record() {
    let zeros = "\0".repeat(700);
    for text in [sequence(&exchange(2)), sequence(&exchange(2)).replace('\x1e', ""), whole(&[exchange(2)])] {
        let padded = format!("{text}{zeros}");
        let note = "700 zero bytes are left out, with which the file is padded";
        assert_eq!(told(padded.as_bytes()), (2, 2, vec![note.to_owned()]));
    }
}

#[test]
fn a_damaged_record_is_left_out_alone() {
    let mut events = exchange(2);
    events.insert(1, "{\"time\":5,\"na".to_owned());
    events.insert(3, "{\"name\":\"a:b\"}".to_owned());
    let (sent, acked, notes) = told(sequence(&events).as_bytes());
    assert_eq!((sent, acked), (2, 2));
    let has = "1 event is left out, in line 5: has no number `time`";
    let valid = "1 event is left out, in line 3: is not valid JSON: EOF while parsing a string";
    assert_eq!(notes, [has, valid]);
}

#[test]
fn times_after_a_damaged_record_of_deltas_are_said_to_be_early() {
    let header = "{\"qlog_version\":\"0.3\",\"trace\":{\"common_fields\":{\"time_format\":\"delta\"}}}";
    let text = sequence(&[&["{".to_owned()], &exchange(1)[..]].concat()).replace(HEADER.trim_end(), header);
    let (_, _, notes) = told(text.as_bytes());
    assert_eq!(notes[1], "later times are too early by what the left-out events would have added to them");
}

#[test]
fn a_lost_packet_without_a_number_is_left_out() {
    let mut events = exchange(2);
    events.insert(2, event(15, "recovery:packet_lost", "{\"trigger\":\"time_threshold\"}"));
    let note =
        "1 event is left out, in line 4: packet_lost has no packet number: more may be lost than is told";
    assert_eq!(told(sequence(&events).as_bytes()), (2, 2, vec![note.to_owned()]));
}

#[test]
fn a_trace_of_a_handshake_does_not_refuse_the_others() {
    let initial =
        event(0, "transport:packet_sent", "{\"header\":{\"packet_type\":\"initial\",\"packet_number\":0}}");
    let text = whole(&[vec![initial.clone()], exchange(2)]);
    let note = "trace 1 is left out: no packet of the application was sent in it: nothing to import";
    assert_eq!(told(text.as_bytes()), (2, 2, vec![note.to_owned()]));
    let alone = import(&Scratch::new(), whole(&[vec![initial.clone()], vec![initial]]).as_bytes());
    assert!(
        alone
            .unwrap_err()
            .to_string()
            .ends_with(": no packet of the application was sent in it: nothing to import")
    );
}

#[test]
fn a_second_qlog_in_a_sequence_is_not_mixed_with_the_first() {
    let text = sequence(&exchange(2));
    let note = "another qlog begins in line 6: what follows is left out".to_owned();
    assert_eq!(told(format!("{text}{text}").as_bytes()), (2, 2, vec![note]));
    let text = whole(&[exchange(2)]);
    let note = "what follows the first JSON value, from line 4 on, is left out".to_owned();
    assert_eq!(told(format!("{text}\n{text}").as_bytes()), (2, 2, vec![note]));
}

#[test]
fn the_header_of_lines_may_be_longer_than_a_buffer() {
    let custom = format!("{{\"custom\":\"{}\"}}", "x".repeat(100_000));
    let text = sequence(&exchange(2)).replace('\x1e', "").replacen("{}", &custom, 1);
    assert_eq!(told(text.as_bytes()), (2, 2, vec![]));
    let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    assert_eq!(told(&marked), (2, 2, vec![]));
}

#[test]
fn each_path_of_a_multipath_connection_has_packet_numbers_of_its_own() {
    let path = |path: u64, columns: bool| {
        let place = if columns { String::new() } else { format!("\"path_id\":{path},") };
        let sent = format!("{{{place}\"header\":{{\"packet_number\":3}},\"raw\":{{\"length\":1200}}}}");
        let frame = format!("{{\"frame_type\":\"path_ack\",\"path_id\":{path},\"acked_ranges\":[[3,3]]}}");
        (sent, format!("{{\"header\":{{\"packet_number\":0}},\"frames\":[{frame}]}}"))
    };
    let events = [0, 1].map(|number| {
        let (sent, acked) = path(number, false);
        [
            event(number, "transport:packet_sent", &sent),
            event(number + 40, "transport:packet_received", &acked),
        ]
    });
    let text =
        sequence(&[events[0][0].clone(), events[1][0].clone(), events[0][1].clone(), events[1][1].clone()]);
    let scratch = Scratch::new();
    let found = import(&scratch, text.as_bytes()).unwrap();
    assert_eq!((found.sent, found.acked), (2, 2));
    assert_eq!(found.notes, ["2 paths were used: all are one flow here"]);
    let log = records(&scratch.file("out/1/packets.parquet"));
    let delays: Vec<_> =
        log.iter().filter(|r| r.event == Event::Deliver).map(|r| r.one_way_delay_ns).collect();
    assert_eq!(delays, [40_000_000, 40_000_000]);
    // The path is in a column.
    let rows = [0, 1].map(|number| {
        let (sent, acked) = path(number, true);
        [format!("[{number},{number},\"packet_sent\",{sent}]"), format!("[40,0,\"packet_received\",{acked}]")]
    });
    let rows = [&*rows[0][0], &rows[1][0], &rows[0][1], &rows[1][1]].join(",");
    let text = format!(
        "{{\"qlog_version\":\"draft-00\",\"traces\":[{{\"event_fields\":[\"relative_time\",\"path_id\",\"event\",\"data\"],\"events\":[{rows}]}}]}}"
    );
    assert_eq!(told(text.as_bytes()), (2, 2, vec!["2 paths were used: all are one flow here".to_owned()]));
}

#[test]
fn a_connection_that_moves_to_another_path_goes_on_counting() {
    let mut events = exchange(2);
    events[1] = events[1].replacen("\"header\"", "\"path_id\":1,\"header\"", 1);
    assert_eq!(told(sequence(&events).as_bytes()), (2, 2, vec![]));
}

#[test]
fn deltas_that_equal_the_first_one_count() {
    let header = "{\"qlog_version\":\"0.3\",\"trace\":{\"common_fields\":{\"time_format\":\"delta\"}}}";
    let all = exchange(1)
        .into_iter()
        .map(|event| event.replace("\"time\":0", "\"time\":5").replace("\"time\":40", "\"time\":5"));
    let text = sequence(&all.collect::<Vec<_>>()).replace(HEADER.trim_end(), header);
    let scratch = Scratch::new();
    import(&scratch, text.as_bytes()).unwrap();
    let log = records(&scratch.file("out/1/packets.parquet"));
    let delay = log.iter().find(|r| r.event == Event::Deliver).unwrap().one_way_delay_ns;
    assert_eq!(delay, 5_000_000);
}

#[test]
fn compressed_files_are_told_by_their_content_and_bounded() {
    let text = sequence(&exchange(2)).into_bytes();
    let gzip = |text: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    };
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(&text).unwrap();
    for packed in [gzip(&text), bzip2.finish().unwrap(), zstd::stream::encode_all(&*text, 1).unwrap()] {
        assert_eq!(told(&packed), (2, 2, vec![]));
    }
    let refusal = |packed: &[u8]| {
        let message = import(&Scratch::new(), packed).unwrap_err().to_string();
        message.split_once("in.qlog").unwrap().1.to_owned()
    };
    let allowed = "unpack it first; allowed is one file, plain or compressed once by gzip, bzip2, xz or zstd";
    assert_eq!(refusal(&gzip(&gzip(&text))), format!(": is compressed twice: {allowed}"));
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    assert_eq!(refusal(&tar), format!(": is a tar archive: {allowed}"));
    assert_eq!(refusal(&gzip(&tar)), format!(": has a tar archive in it: {allowed}"));
    assert_eq!(refusal(b"PK\x03\x04rest"), format!(": is a zip archive: {allowed}"));
    let bomb = gzip(&[b"\x1e{", &vec![b' '; 300 << 20][..]].concat());
    assert!(
        refusal(&bomb).contains("become more than")
            || refusal(&bomb).contains("is a record of more than 16 MiB")
    );
    let packed = gzip(&text);
    assert_eq!(refusal(&packed[..packed.len() / 2]), ": it ends in the middle of its compressed data");
    let wide: Vec<u8> = String::from_utf8(text).unwrap().encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(
        refusal(&[&b"\xff\xfe"[..], &wide].concat()).starts_with(": is text in UTF-16: allowed is UTF-8")
    );
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
    let cut = refusal(&header[..20]);
    assert_eq!(cut, ": is cut off in its header: nothing to import");
    let wrong = refusal(&format!("\x1e{{\"qlog_version\"\n{sent}"));
    assert!(wrong.starts_with(":1: is not valid JSON: EOF"), "{wrong}");
    let wrong = refusal("{\"qlog_version\":\"0.3\",\"traces\":[{\"events\":[{}, 3]}]}");
    let left = "1 event is left out, in event 2 of trace 1: is neither an object nor an array";
    assert_eq!(wrong, format!(": no packet of the application was sent in it ({left}): nothing to import"));
    let wrong = refusal(&format!("{header}{}", sent.replace("packet_number", "number")));
    let left = "1 event is left out, in line 2: packet_sent has no packet number";
    assert_eq!(wrong, format!(": no packet of the application was sent in it ({left}): nothing to import"));
    let wrong = refusal("{\"qlog_version\":\"0.3\",\"traces\":[3]}");
    assert_eq!(wrong, ": has no trace: trace 1 is left out: it is no object");
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
