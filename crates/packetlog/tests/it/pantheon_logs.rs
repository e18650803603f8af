//! Merged, mm-link and raw logs: their meaning, and the errors of malformed ones.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::common::{collect, complaint, record, text};
use packetlog::Error;
use packetlog::pantheon::{ClockOffsets, Direction, FlowLog, Log, RawPair, import, import_run};
use record::{Event, Record};

const HEADER: &str = "# init timestamp: 1744824396327.000\n";

fn merged(body: &str) -> Log {
    Log::Merged(text("a.log", body))
}

fn mm_link(body: &str) -> Log {
    Log::MmLink(text("mm.log", body))
}

fn data(log: Log) -> Vec<Record> {
    collect(log, Direction::Data).unwrap().0
}

#[test]
fn a_merged_log_maps_to_sends_deliveries_and_opportunities() {
    let log = format!("{HEADER}5012.318 + 1500 1\n5040.961 - 1500 28.643 1\n5041.000 # 1500\n");
    let (records, imported) = collect(merged(&log), Direction::Data).unwrap();
    let expected = [
        record(5_012_318, Event::Send, 1, 1500, 0),
        record(5_040_961, Event::Deliver, 1, 1500, 28_643),
        record(5_041_000, Event::Opportunity, 0, 1500, 0),
    ];
    assert_eq!(records, expected);
    assert_eq!((imported.lines, imported.init_us), (4, Some(1_744_824_396_327_000)));
    let (records, _) = collect(merged(&log), Direction::Ack).unwrap();
    let events: Vec<_> = records.iter().map(|record| record.event).collect();
    assert_eq!(events, [Event::AckSend, Event::AckDeliver, Event::AckOpportunity]);
}

#[test]
fn untagged_logs_old_integer_logs_and_negative_delays_are_read() {
    let log = "12 + 96\n14 - 96 2\n15.5 - 96 -0.250\r\n16 - 96 1.5 3 \n# a remark\n16\t+  40\t7\n";
    let expected = [
        record(12_000, Event::Send, 0, 96, 0),
        record(14_000, Event::Deliver, 0, 96, 2_000),
        record(15_500, Event::Deliver, 0, 96, -250),
        record(16_000, Event::Deliver, 3, 96, 1_500),
        record(16_000, Event::Send, 7, 40, 0),
    ];
    let (records, imported) = collect(merged(log), Direction::Data).unwrap();
    assert_eq!(records, expected);
    assert_eq!((imported.lines, imported.init_us), (6, None));
}

#[test]
fn unusable_merged_logs_are_named() {
    assert_eq!(complaint(merged("")), "a.log: is empty");
    // Exactly the remains of a failed Pantheon run: 36 bytes.
    assert_eq!(HEADER.len(), 36);
    let mark = "a.log: has a header but no events (the mark of a failed run)";
    assert_eq!(complaint(merged(HEADER)), mark);
    let cut_off = complaint(merged(&format!("{HEADER}1.000 + 1500 1\n1.500 - 1500 0.5")));
    assert_eq!(
        cut_off,
        "a.log:3: the log is cut off: its last line has no newline, found '1.500 - 1500 0.5'"
    );
    let cut_off = complaint(merged("# init timest"));
    assert_eq!(cut_off, "a.log:1: the log is cut off: its last line has no newline, found '# init timest'");
    let backwards = complaint(merged("5.000 + 1500 1\n4.999 + 1500 1\n"));
    assert_eq!(
        backwards,
        "a.log:2: expected a time not before that of the line above, found '4.999 + 1500 1'"
    );
    let header = complaint(merged("# init timestamp: yesterday\n1 + 2\n"));
    let expected = "a.log:1: expected a time in ms (whole or up to 3 decimals) after the last ':', \
                    found '# init timestamp: yesterday'";
    assert_eq!(header, expected);
}

#[test]
fn malformed_merged_lines_say_what_was_expected() {
    let cases = [
        ("", "a time in ms"),
        ("x + 1500 1", "a time in ms"),
        ("-1.000 + 1500 1", "a time in ms"),
        ("1.2345 + 1500 1", "a time in ms"),
        ("1.000+ 1500 1", "a time in ms"),
        ("4000000000001 + 1500 1", "a time in ms"),
        (" 1.000 + 1500 1", "a time in ms"),
        ("1.000", "a time in ms"),
        ("1.000 ", "'+', '-' or '#' as second field"),
        ("1.000 * 1500 1", "'+', '-' or '#' as second field"),
        ("1.000 d 1 1500", "'+', '-' or '#' as second field"),
        ("1.000 +1500 1", "'+', '-' or '#' as second field"),
        ("1.000 +", "'+', '-' or '#' as second field"),
        ("1.000 + -1500 1", "a size in bytes"),
        ("1.000 + 1500.5 1", "a size in bytes"),
        ("1.000 + 4294967296 1", "a size in bytes"),
        ("1.000 # x", "a size in bytes"),
        ("1.000 - 1500", "a delay in ms"),
        ("1.000 - 1500 ", "a delay in ms"),
        ("1.000 - 1500 fast 1", "a delay in ms"),
        ("1.000 - 1500 1.0005 1", "a delay in ms"),
        ("1.000 + 1500 -1", "the line's end or a flow number"),
        ("1.000 + 1500 1 1", "the line's end or a flow number"),
        ("1.000 + 1500 4294967296", "the line's end or a flow number"),
        ("1.000 - 1500 1.0 1 1", "the line's end or a flow number"),
        ("1.000 # 1500 1", "the end of the line"),
    ];
    for (line, expected) in cases {
        let message = complaint(merged(&format!("{HEADER}0.500 + 40 1\n{line}\n")));
        assert!(message.starts_with(&format!("a.log:3: expected {expected}")), "{line:?}: {message}");
        assert!(message.ends_with(&format!("found '{line}'")), "{line:?}: {message}");
    }
}

#[test]
fn bytes_that_are_no_text_are_shown_escaped_and_long_lines_shortened() {
    let log = b"1.000 + 1500 1\n2.000 \xff\x00 1500\n";
    let message = complaint(Log::Merged(text("a.log", log)));
    assert_eq!(message, "a.log:2: expected '+', '-' or '#' as second field, found '2.000 \\xff\\x00 1500'");
    let message = complaint(merged(&format!("{}\n", "y".repeat(1_000))));
    assert!(message.ends_with(&format!("found '{}...'", "y".repeat(80))), "{message}");
}

#[test]
fn logs_longer_than_the_read_buffer_are_read_whole() {
    // 40,000 lines of 20 bytes, read in odd pieces into a buffer of 262,144 bytes.
    struct Pieces(std::io::Cursor<Vec<u8>>);
    impl std::io::Read for Pieces {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let length = out.len().min(4_099);
            self.0.read(&mut out[..length])
        }
    }
    let lines: Vec<_> = (0..40_000).map(|line| format!("{line:06}.000 + {line:05} 12\n")).collect();
    let body = lines.concat();
    let input = packetlog::pantheon::Input::new("long.log", Pieces(std::io::Cursor::new(body.into_bytes())));
    let records = data(Log::Merged(input));
    assert_eq!(records.len(), 40_000);
    for (line, found) in (0..).zip(&records) {
        assert_eq!(*found, record(u64::from(line) * 1_000, Event::Send, 12, line, 0));
    }
}

#[test]
fn an_error_of_the_sink_ends_the_import() {
    let mut seen = 0;
    let result = import(merged("1 + 1\n2 + 1\n3 + 1\n"), Direction::Data, &mut |_| {
        seen += 1;
        if seen < 2 {
            Ok(())
        } else {
            Err(Error::Log { log: "sink".into(), line: None, problem: "is full".into() })
        }
    });
    assert_eq!(result.unwrap_err().to_string(), "sink: is full");
    assert_eq!(seen, 2);
}

#[test]
fn mm_link_logs_keep_their_sizes_and_tell_their_drops() {
    let log = "# mahimahi mm-link (Uplink) [12mbps.trace] > x.log\n# queue: droptail [packets=500]\n\
               # init timestamp: 1744824396327\n# base timestamp: 41\n\
               43 + 1504\n44 # 1504\n44 - 1504 1\n44 d 3 4512\n45 d 2 1545\n";
    let (records, imported) = collect(mm_link(log), Direction::Data).unwrap();
    let expected = [
        record(43_000, Event::Send, 0, 1504, 0),
        record(44_000, Event::Opportunity, 0, 1504, 0),
        record(44_000, Event::Deliver, 0, 1504, 1_000),
        record(44_000, Event::Drop, 0, 1504, 0),
        record(44_000, Event::Drop, 0, 1504, 0),
        record(44_000, Event::Drop, 0, 1504, 0),
        // The log contains only the sum of both sizes.
        record(45_000, Event::Drop, 0, 773, 0),
        record(45_000, Event::Drop, 0, 772, 0),
    ];
    assert_eq!(records, expected);
    assert_eq!(imported.init_us, Some(1_744_824_396_327_000));
    let (records, _) = collect(mm_link("1 d 1 80\n"), Direction::Ack).unwrap();
    assert_eq!(records[0].event, Event::AckDrop);
}

#[test]
fn malformed_mm_link_logs_say_what_was_expected() {
    assert_eq!(complaint(mm_link("")), "mm.log: is empty");
    assert_eq!(complaint(mm_link("# base timestamp: 41\n")), "mm.log: has no events");
    let cases = [
        ("1.5 + 1504", "a time in whole ms"),
        ("0 + 1504", "a time not before"),
        ("2 ! 1504", "'+', '-', '#' or 'd'"),
        ("2 + -4", "a size in bytes"),
        ("2 - 1504", "a delay in whole ms"),
        ("2 - 1504 1.5", "the end of the line"),
        ("2 - 1504 -1", "a delay in whole ms"),
        ("2 + 1504 1", "the end of the line"),
        ("2 d 3", "a number of packets"),
        ("2 d 0 0", "a number of packets"),
        ("2 d 1000001 4294967295", "a number of packets"),
        ("2 d 3 2", "at least as many bytes as packets"),
        ("2 d 1 1504 7", "the end of the line"),
    ];
    for (line, expected) in cases {
        let message = complaint(mm_link(&format!("1 + 1504\n{line}\n")));
        assert!(message.starts_with(&format!("mm.log:2: expected {expected}")), "{line:?}: {message}");
    }
}

#[test]
fn no_more_packets_are_dropped_than_arrived_and_a_queue_may_have_held() {
    // Without a limit, twenty bytes of a log would become a million records.
    let dropped = |lines: &str| format!("1 + 1504\n2 d 1000000 1000000\n{lines}");
    let message = complaint(mm_link(&dropped("2 d 1 1\n2 d 1 1\n")));
    let expected = "mm.log:4: expected no more dropped packets ('d') than arrived ('+') before and 1000000 besides, \
                    found '2 d 1 1'";
    assert_eq!(message, expected);
    let (records, _) =
        collect(mm_link(&dropped("2 d 1 1\n3 + 1504\n3 d 1 1504\n")), Direction::Data).unwrap();
    assert_eq!(records.len(), 1_000_004);
}

const EGRESS: &str = "# 'mm-tunnelclient' '--egress-log=b' egress: 1514764800123.456\n";
const INGRESS: &str = "# 'mm-tunnelserver' '--ingress-log=a' ingress: 1514764800120.000\n";

fn raw_with(egress: &str, ingress: &str, offsets: ClockOffsets) -> RawPair {
    let egress = text("e.log", format!("{EGRESS}{egress}"));
    RawPair { egress, ingress: text("i.log", format!("{INGRESS}{ingress}")), offsets }
}

fn raw(egress: &str, ingress: &str) -> Log {
    Log::Raw(raw_with(egress, ingress, ClockOffsets::default()))
}

fn sent(time_us: u64, event: Event, uid: u64, size: u32, delay_us: i64) -> Record {
    Record { seq: uid, ..record(time_us, event, 0, size, delay_us) }
}

#[test]
fn a_raw_pair_is_merged_on_the_earlier_clock() {
    // The sender's clock starts 3.456 ms after the receiver's, so its times are shifted by 3456 us.
    let egress = "3501.020 - 0 - 96\n3501.871 - 1 - 1500\n3502.000 - 2 - 1500\n";
    let ingress = "3524.476 - 0 - 96\n3530.000 - 2 - 1500\n3530.000 - 2 - 1500\n";
    let (records, imported) = collect(raw(egress, ingress), Direction::Data).unwrap();
    let expected = [
        sent(3_504_476, Event::Send, 0, 96, 0),
        sent(3_505_327, Event::Send, 1, 1500, 0),
        sent(3_505_456, Event::Send, 2, 1500, 0),
        sent(3_524_476, Event::Deliver, 0, 96, 20_000),
        // Packet 1 was lost. Packet 2 came twice, and both arrivals count.
        sent(3_530_000, Event::Deliver, 2, 1500, 24_544),
        sent(3_530_000, Event::Deliver, 2, 1500, 24_544),
    ];
    assert_eq!(records, expected);
    assert_eq!((imported.lines, imported.init_us), (8, Some(1_514_764_800_120_000)));
}

#[test]
fn clock_offsets_shift_either_side() {
    // Egress zero: ...123.456 + 1.850 = ...125.306; ingress zero: ...120.000 - 1.970 = ...118.030: 7.276 ms apart.
    let offsets = ClockOffsets { egress_us: 1_850, ingress_us: -1_970 };
    let pair = raw_with("10.000 - 0 - 100\n", "20.000 - 0 - 100\n", offsets);
    let (records, imported) = collect(Log::Raw(pair), Direction::Ack).unwrap();
    let expected =
        [sent(17_276, Event::AckSend, 0, 100, 0), sent(20_000, Event::AckDeliver, 0, 100, 20_000 - 17_276)];
    assert_eq!(records, expected);
    assert_eq!(imported.init_us, Some(1_514_764_800_118_030));
}

#[test]
fn clocks_that_disagree_give_negative_delays() {
    // Sent at 103.456 ms and 104.456 ms on the receiver's clock, received at 50 ms and 60 ms.
    let records = data(raw("100.000 - 0 - 100\n101.000 - 1 - 100\n", "50.000 - 1 - 100\n60.000 - 0 - 100\n"));
    let expected = [
        sent(50_000, Event::Deliver, 1, 100, 50_000 - 104_456),
        sent(60_000, Event::Deliver, 0, 100, 60_000 - 103_456),
        sent(103_456, Event::Send, 0, 100, 0),
        sent(104_456, Event::Send, 1, 100, 0),
    ];
    assert_eq!(records, expected);
}

#[test]
fn a_packet_sent_when_another_arrives_goes_first() {
    let records = data(raw("1.000 - 0 - 100\n6.544 - 1 - 100\n", "10.000 - 0 - 100\n"));
    let events: Vec<_> = records.iter().map(|record| (record.time_ns, record.event, record.seq)).collect();
    let expected =
        [(4_456_000, Event::Send, 0), (10_000_000, Event::Send, 1), (10_000_000, Event::Deliver, 0)];
    assert_eq!(events, expected);
}

#[test]
fn gaps_in_the_uids_are_no_obstacle() {
    let records = data(raw("1 - 5 - 100\n2 - 9 - 200\n3 - 10 - 300\n", "20 - 9 - 200\n21 - 10 - 300\n"));
    let delivered: Vec<_> =
        records.iter().filter(|r| r.event == Event::Deliver).map(|r| (r.seq, r.size_bytes)).collect();
    assert_eq!(delivered, [(9, 200), (10, 300)]);
}

#[test]
fn fatal_raw_pairs_are_named() {
    let packet = "1.000 - 0 - 100\n";
    let cases = [
        (complaint(raw("", packet)), "e.log: has a header but no packets"),
        (complaint(raw(packet, "")), "i.log: has a header but no packets"),
        (
            complaint(raw(packet, "9.000 - 0 - 100\n9.500 - 1 - 100\n")),
            "i.log:3: received uid 1 was never sent according to e.log",
        ),
        (
            complaint(raw("1.000 - 4 - 100\n", "9.000 - 3 - 100\n")),
            "i.log:2: received uid 3 was never sent according to e.log",
        ),
        (
            complaint(raw(packet, "9.000 - 0 - 101\n")),
            "i.log:2: uid 0 was sent with 100 bytes and received with 101",
        ),
        (
            complaint(raw("1.000 - 1 - 100\n1.000 - 1 - 100\n", "9.000 - 1 - 100\n")),
            "e.log:3: expected a uid larger than that of the line above, found uid 1",
        ),
        (
            complaint(raw("2.000 - 0 - 100\n1.000 - 1 - 100\n", "9.000 - 0 - 100\n")),
            "e.log:3: expected a time not before that of the line above (did the clock step?), \
             found '1.000 - 1 - 100'",
        ),
    ];
    for (message, expected) in cases {
        assert_eq!(message, expected);
    }
    for line in [
        "-1.000 - 1 - 100",
        "9.000 - 1",
        "9.000 1 100",
        "9.000 - -1 - 100",
        "9.000 - 1 - -100",
        "9 - 1 - 1 - 1",
    ] {
        let message = complaint(raw(packet, &format!("{line}\n")));
        assert!(message.starts_with("i.log:2: expected 'TIME_MS - UID - BYTES'"), "{message}");
    }
    let empty =
        RawPair { egress: text("e.log", ""), ingress: text("i.log", ""), offsets: ClockOffsets::default() };
    assert_eq!(complaint(Log::Raw(empty)), "e.log: is empty");
    let headless = RawPair {
        egress: text("e.log", packet),
        ingress: text("i.log", packet),
        offsets: ClockOffsets::default(),
    };
    assert!(
        complaint(Log::Raw(headless)).starts_with("e.log:1: expected a header line '# ... egress: TIME_MS'")
    );
    let early = raw_with(packet, packet, ClockOffsets { egress_us: i64::MIN, ingress_us: 0 });
    assert!(complaint(Log::Raw(early)).contains("puts its start out of 1970 to 2096"));
}

#[test]
fn matching_packets_takes_bounded_memory() {
    // The first log has one packet more than the 2^20 remembered ones, all sent before the first arrival. In the second
    // log a packet arrives whose uid was sent further ahead than 2^20 packets.
    let sent = (1 << 20) + 1;
    let lines: Vec<_> = (0..sent).map(|uid| format!("{uid} - {uid} - 100\n")).collect();
    let egress = lines.concat();
    let late = complaint(raw(&egress, "9000000.000 - 1 - 100\n9000001.000 - 0 - 100\n"));
    assert_eq!(late, "i.log:3: received uid 0 was sent more than 1048576 packets earlier according to e.log");
    let early = complaint(raw(&egress, "1.000 - 1048576 - 100\n"));
    assert_eq!(
        early,
        "i.log:2: received uid 1048576 is not among the next 1048576 packets sent (are the clock offsets \
         right?) according to e.log"
    );
    let in_time = data(raw(&egress, "9000000.000 - 1048576 - 100\n9000001.000 - 1 - 100\n"));
    assert_eq!(in_time.len(), sent + 2);
}

#[test]
fn several_flows_are_numbered_and_share_the_link() {
    let first = "# init timestamp: 1000.500\n1.000 + 100\n3.000 - 100 2.000\n";
    let second = "# init timestamp: 1002.000\n0.500 + 200\n2.000 - 200 1.500\n";
    let link =
        "# init timestamp: 1000\n# base timestamp: 0\n1 + 1504\n2 # 1504\n4 # 1504\n4 d 1 1504\n5 - 104 1\n";
    let log = Log::Multiple {
        flows: vec![FlowLog::Merged(text("1.log", first)), FlowLog::Merged(text("2.log", second))],
        mm_link: Some(text("mm.log", link)),
    };
    let (records, imported) = collect(log, Direction::Data).unwrap();
    // The zero is the link's 1000.000. Flow 1 is shifted by 0.5 ms, flow 2 by 2 ms. Opportunities lose the TUN header.
    let expected = [
        record(1_500, Event::Send, 1, 100, 0),
        record(2_000, Event::Opportunity, 0, 1500, 0),
        record(2_500, Event::Send, 2, 200, 0),
        record(3_500, Event::Deliver, 1, 100, 2_000),
        record(4_000, Event::Opportunity, 0, 1500, 0),
        record(4_000, Event::Deliver, 2, 200, 1_500),
    ];
    assert_eq!(records, expected);
    assert_eq!((imported.lines, imported.init_us), (13, Some(1_000_000)));
}

#[test]
fn raw_pairs_can_be_flows_of_a_run() {
    let pair = || raw_with("1.000 - 0 - 100\n", "9.000 - 0 - 100\n", ClockOffsets::default());
    let log = Log::Multiple { flows: vec![FlowLog::Raw(pair()), FlowLog::Raw(pair())], mm_link: None };
    let flows: Vec<_> = data(log).iter().map(|record| (record.time_ns, record.flow)).collect();
    assert_eq!(flows, [(4_456_000, 1), (4_456_000, 2), (9_000_000, 1), (9_000_000, 2)]);
}

#[test]
fn fatal_merges_of_several_flows_are_named() {
    let several = |flow: &str, link: Option<&str>| {
        let flows = vec![FlowLog::Merged(text("1.log", flow))];
        complaint(Log::Multiple { flows, mm_link: link.map(|body| text("mm.log", body)) })
    };
    let link = "# init timestamp: 1000\n2 # 1504\n";
    let flow = "# init timestamp: 1000.500\n1.000 + 100\n";
    let no_init = "has no line '# init timestamp: TIME_MS', needed to merge it";
    assert_eq!(several("1.000 + 100\n", Some(link)), format!("1.log: {no_init}"));
    assert_eq!(several(flow, Some("2 # 1504\n")), format!("mm.log: {no_init}"));
    let unused = several(flow, Some("# init timestamp: 1000\n2 + 1504\n"));
    assert_eq!(unused, "mm.log: has no delivery opportunities ('#' lines)");
    let failed = several("# init timestamp: 1000.500\n", Some(link));
    assert_eq!(failed, "1.log: has a header but no events (the mark of a failed run)");
    let tagged = several("# init timestamp: 1000.500\n1.000 + 100 1\n", Some(link));
    assert_eq!(tagged, "1.log:2: expected the log of one flow: no '#' lines, no flow numbers");
    let small = several(flow, Some("# init timestamp: 1000\n2 # 3\n"));
    assert!(small.starts_with("mm.log:2: expected an opportunity of at least 4 bytes"), "{small}");
}

#[test]
fn both_directions_share_one_time_axis() {
    let forward = "# init timestamp: 1000.000\n1.000 + 1500 1\n9.000 - 1500 8.000 1\n";
    let back = "# init timestamp: 999.000\n10.500 + 76 1\n12.000 - 76 1.500 1\n";
    let mut records = Vec::new();
    let mut sink = |record| {
        records.push(record);
        Ok(())
    };
    let imported =
        import_run(Log::Merged(text("d.log", forward)), Log::Merged(text("a.log", back)), &mut sink).unwrap();
    let expected = [
        record(2_000, Event::Send, 1, 1500, 0),
        record(10_000, Event::Deliver, 1, 1500, 8_000),
        record(10_500, Event::AckSend, 1, 76, 0),
        record(12_000, Event::AckDeliver, 1, 76, 1_500),
    ];
    assert_eq!(records, expected);
    assert_eq!((imported.records, imported.lines, imported.init_us), (4, 6, Some(999_000)));
}
