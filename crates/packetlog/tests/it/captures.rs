//! Damaged captures: whatever is in a file, the import ends, with an error that names the file or with records in order.

#![allow(clippy::disallowed_methods, reason = "tests use files")]

use crate::common::Scratch;
use packetlog::PacketLogReader;
use packetlog::capture::{Clocks, import_both, import_one};
use proptest::prelude::*;

/// A TCP segment of 100 bytes from port 1000 to port 2000, or its ACK, in an IPv4 datagram.
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

/// A capture of ten segments and their ACKs.
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

/// Imports a file with these contents; what is wrong with it, if so.
fn import(scratch: &Scratch, content: &[u8]) -> Result<u64, String> {
    let file = scratch.file("x.pcap");
    std::fs::write(&file, content).expect("a scratch file");
    let folder = scratch.file("out");
    let other = import_both(&file, &file, Clocks::Auto, &scratch.file("both"));
    let found = import_one(&file, None, &folder).map_err(|error| error.to_string())?;
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
    // Of each segment: that it was sent, acknowledged and delivered, and its ACK.
    assert_eq!(import(&scratch, &capture()), Ok(40));
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
