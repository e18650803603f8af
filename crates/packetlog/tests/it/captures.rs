//! Damaged captures. An import of any file ends with an error that names the file, or with ordered records.

#![allow(clippy::disallowed_methods, reason = "tests use files")]

use crate::common::Scratch;
use packetlog::capture::{Clocks, Role, import_both, import_one};
use packetlog::{Interrupts, PacketLogReader};
use proptest::prelude::*;

/// Returns a TCP segment of 100 bytes from port 1000 to port 2000, or its ACK, in an IPv4 datagram.
fn datagram(seq: u32, is_data: bool) -> Vec<u8> {
    let payload = if is_data { 100 } else { 0 };
    let mut data = vec![0x45, 0, 0, 40 + payload as u8, 0, 0, 0x40, 0, 64, 6, 0, 0];
    let ends = [[10, 0, 0, 1], [10, 0, 0, 2]];
    let (from, to) = if is_data { (0, 1) } else { (1, 0) };
    data.extend([ends[from], ends[to]].concat());
    let ports = [1000_u16.to_be_bytes(), 2000_u16.to_be_bytes()];
    data.extend([ports[from], ports[to]].concat());
    let (number, ack) = if is_data { (seq, 1) } else { (1, seq + 100) };
    data.extend([number.to_be_bytes(), ack.to_be_bytes()].concat());
    data.extend([0x50, 0x10, 0, 100, 0, 0, 0, 0]);
    data.extend(vec![0; payload]);
    data
}

/// Returns a capture of ten segments and their ACKs.
fn capture() -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    for number in 0..20_u32 {
        let data = datagram(number / 2 * 100, number % 2 == 0);
        for word in [1_700_000_000, number * 1_000, data.len() as u32, data.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(data);
    }
    file
}

/// Imports a file with these contents. Returns the number of records or the error message.
fn import(scratch: &Scratch, content: &[u8]) -> Result<u64, String> {
    let file = scratch.file("x.pcap");
    std::fs::write(&file, content).expect("a scratch file");
    let folder = scratch.file("out");
    let other = import_both(&file, &file, Clocks::Auto, &scratch.file("both"), &Interrupts::none());
    let found = import_one(&file, None, &folder, &Interrupts::none()).map_err(|error| error.to_string())?;
    if let Err(error) = other {
        assert!(error.to_string().contains("x.pcap"), "{error}");
    }
    let mut records = 0;
    for part in found {
        let log =
            PacketLogReader::open(folder.join(&part.name).join("packets.parquet")).expect("a packet log");
        let mut last_ns = 0;
        for record in log {
            let record = record.expect("a record");
            assert!(record.time_ns >= last_ns && record.time_ns <= part.last_ns, "{record:?}");
            last_ns = record.time_ns;
            records += 1;
        }
        assert_eq!(part.flows.is_empty(), part.records == 0);
    }
    Ok(records)
}

#[test]
fn a_whole_capture_has_what_was_written() {
    let scratch = Scratch::new();
    // Each segment has four events: send, acknowledgment, delivery, and the delivery of its ACK.
    assert_eq!(import(&scratch, &capture()), Ok(40));
}

/// Returns a Linux cooked capture (SLL2) of frames with their times (us) and interfaces.
fn cooked(frames: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 65_535, 276] {
        file.extend(word.to_le_bytes());
    }
    for (at_us, interface, datagram) in frames {
        let mut data = vec![0x08, 0, 0, 0];
        data.extend(interface.to_be_bytes());
        data.extend([0; 12]);
        data.extend(datagram);
        for word in [1_700_000_000, *at_us, data.len() as u32, data.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(data);
    }
    file
}

/// Returns the number of records and the notes of an import.
fn notes(content: &[u8], role: Role) -> (u64, Vec<String>) {
    let scratch = Scratch::new();
    let file = scratch.file("x.pcap");
    std::fs::write(&file, content).expect("a scratch file");
    let found = import_one(&file, Some(role), &scratch.file("out"), &Interrupts::none()).expect("a capture");
    let [part] = &found[..] else { panic!("{found:?}") };
    (part.records, part.notes.clone())
}

#[test]
fn a_packet_that_passes_several_interfaces_counts_once() {
    let mut passing = Vec::new();
    for number in 0..20_u32 {
        let mut packet = datagram(number / 2 * 100, number % 2 == 0);
        for interface in [2, 3, 4] {
            passing.push((number * 1_000 + interface, interface, packet.clone()));
            packet[8] -= 1; // each hop takes one off, and writes another checksum
            packet[11] ^= interface as u8;
        }
    }
    let (records, found) = notes(&cooked(&passing), Role::Sender);
    assert_eq!(records, 40);
    let copies = "40 packets were captured before, on another interface that they passed or by a port mirror: these copies are \
                  left out";
    assert!(found.iter().any(|note| note == copies), "{found:?}");
    // The same interface shows the packet again, thus it was retransmitted.
    let first = passing[0].clone();
    let again = [first.clone(), (100, 2, first.2.clone()), (101, 3, first.2)];
    assert_eq!(notes(&cooked(&again), Role::Sender).0, 3, "sent, lost, sent");
}

#[test]
fn what_was_acknowledged_and_is_not_in_the_capture_is_noted() {
    let whole: Vec<(u32, u32, Vec<u8>)> =
        (0..20_u32).map(|number| (number * 1_000, 2, datagram(number / 2 * 100, number % 2 == 0))).collect();
    let is_noted = |frames: &[(u32, u32, Vec<u8>)], role| {
        let (_, found) = notes(&cooked(frames), role);
        found.iter().find(|note| note.contains("bytes of payload are not in the capture")).cloned()
    };
    let lost = whole.iter().enumerate().filter(|(at, _)| ![4, 10, 12].contains(at));
    let lost: Vec<_> = lost.map(|(_, frame)| frame.clone()).collect();
    for role in [Role::Sender, Role::Receiver] {
        assert_eq!(is_noted(&whole, role), None);
        let note = is_noted(&lost, role).expect("a note");
        assert!(
            note.starts_with("300 bytes of payload are not in the capture, though they were acknowledged"),
            "{note}"
        );
        assert!(note.contains("too low"), "{note}");
    }
    // Neither late nor unacknowledged payload is missing.
    let mut late = whole.clone();
    late.swap(4, 7);
    assert_eq!(is_noted(&late, Role::Sender), None);
    let unanswered: Vec<_> = lost.iter().filter(|frame| frame.2.len() > 40).cloned().collect();
    assert_eq!(is_noted(&unanswered, Role::Sender), None);
}

/// Returns a capture of a connection whose receiver announced an MSS of `mss` bytes: `segments` segments of 60,000
/// bytes with only their headers captured.
fn offloaded(mss: u16, segments: u32) -> Vec<u8> {
    let [high, low] = mss.to_be_bytes();
    let mut file = capture()[..24].to_vec();
    let mut add = |is_data: bool, numbers: (u32, u32), flags: u8, options: &[u8], payload: u16| {
        let mut data = datagram(0, is_data)[..40].to_vec();
        let length = 40 + options.len() as u16 + payload;
        data[2..4].copy_from_slice(&length.to_be_bytes());
        data[24..28].copy_from_slice(&numbers.0.to_be_bytes());
        data[28..32].copy_from_slice(&numbers.1.to_be_bytes());
        data[32..34].copy_from_slice(&[0x50 + (options.len() as u8 * 4), flags]);
        data.extend(options);
        for word in [1_700_000_000, 0, data.len() as u32, u32::from(length)] {
            file.extend(word.to_le_bytes());
        }
        file.extend(data);
    };
    add(true, (0, 0), 2, &[], 0);
    add(false, (0, 1), 0x12, &[2, 4, high, low], 0);
    for number in 0..segments {
        add(true, (1 + number * 60_000, 1), 0x10, &[], 60_000);
    }
    file
}

#[test]
fn an_announced_segment_of_one_byte_is_taken_for_the_smallest_that_linux_sends() {
    let scratch = Scratch::new();
    // One segment of 60,000 bytes became 7,500 packets of 8 bytes.
    let records = import(&scratch, &offloaded(1, 1)).expect("a capture");
    assert_eq!(records, 60_000 / 48);
    assert_eq!(import(&scratch, &offloaded(60, 1)), Ok(60_000 / 60));
}

#[test]
fn segments_that_become_too_many_packets_are_refused() {
    let scratch = Scratch::new();
    let problem = import(&scratch, &offloaded(1, 5_000)).expect_err("millions of packets");
    let expected = "x.pcap: its first 841 packets become 1048750, those of this connection with 48 bytes of payload each: \
                    allowed are 1024 times as many, at least 1048576 and at most 4294967296";
    assert!(problem.ends_with(expected), "{problem}");
    assert!(import(&scratch, &offloaded(1_000, 5_000)).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn whatever_is_changed_is_an_error_of_one_line_or_a_log_in_order(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        length in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let scratch = Scratch::new();
        let mut content = capture();
        for (place, byte) in changes {
            let place = place.index(content.len());
            content[place] = byte;
        }
        if is_cut {
            content.truncate(length.index(content.len()));
        }
        if let Err(problem) = import(&scratch, &content) {
            prop_assert!(problem.contains("x.pcap") && !problem.contains('\n'), "{}", problem);
        }
    }

    #[test]
    fn no_file_of_any_bytes_is_more_than_refused(content in prop::collection::vec(any::<u8>(), 0..400)) {
        let scratch = Scratch::new();
        prop_assert!(import(&scratch, &content).is_err());
    }
}
