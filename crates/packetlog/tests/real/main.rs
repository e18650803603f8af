//! Tests with real logs of Pantheon runs, if available (the repository does not contain them).
//!
//! The numbers of Pantheon's own analysis must follow from the imported records.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests use files and fail by panicking")]

#[allow(dead_code, reason = "shared with the tests that need no logs")]
#[path = "../it/common.rs"]
mod common;

use common::{Scratch, collect, file};
use packetlog::pantheon::{Direction, Log, MergedExport, import_run};
use packetlog::{PacketLogReader, PacketLogWriter};
use record::{Event, Record};
use std::path::PathBuf;
use std::process::ExitCode;

/// Scheme, throughput in Mbit/s, 95th percentile of delay in ms, and loss from `pantheon_perf.json`.
const PUBLISHED: [(&str, f64, f64, f64); 3] = [
    ("vegas", 0.239_856_595_661_442_9, 1595.672, 0.015_554_178_082_665_238),
    ("bbr", 0.362_323_317_786_863_9, 5641.576, 0.208_348_153_290_275_78),
    ("cubic", 0.514_434_293_341_829_7, 9001.323, 0.186_673_611_560_941_87),
];

/// Returns the reason why the logs of a Pantheon run are missing; `None` if they exist.
fn missing() -> Option<String> {
    needs::folder("PANTHEON_LOGS").err()
}

/// Returns the directory of the logs.
fn logs() -> PathBuf {
    needs::folder("PANTHEON_LOGS").expect("asked before")
}

/// Returns the bytes of all records with this event.
fn bytes(records: &[Record], event: Event) -> u64 {
    records.iter().filter(|record| record.event == event).map(|record| u64::from(record.size_bytes)).sum()
}

fn the_published_metrics_follow_from_the_records_exactly() {
    let folder = logs();
    for (scheme, tput_mbps, delay_p95_ms, loss) in PUBLISHED {
        let log = Log::Merged(file(&folder.join(format!("{scheme}_datalink_run1.log"))));
        let (records, _) = collect(log, Direction::Data).unwrap();
        let delivered: Vec<_> = records.iter().filter(|record| record.event == Event::Deliver).collect();
        let (first, last) = (delivered[0].time_ns, delivered[delivered.len() - 1].time_ns);
        let bits = 8.0 * bytes(&records, Event::Deliver) as f64;
        let ms = |ns: u64| (ns / 1000) as f64 / 1000.0;
        let found_tput = bits / (1000.0 * (ms(last) - ms(first)));
        assert_eq!(found_tput, tput_mbps, "{scheme}");
        let mut delays_us: Vec<_> = delivered.iter().map(|record| record.one_way_delay_ns / 1000).collect();
        delays_us.sort_unstable();
        let rank = (0.95 * (delays_us.len() - 1) as f64).round_ties_even() as usize;
        assert_eq!(delays_us[rank] as f64 / 1000.0, delay_p95_ms, "{scheme}");
        let found_loss = 1.0 - bits / (8.0 * bytes(&records, Event::Send) as f64);
        assert_eq!(found_loss, loss, "{scheme}");
        // The trace has 3652 opportunities; the log begins with the first one.
        assert_eq!(records.iter().filter(|record| record.event == Event::Opportunity).count(), 3652);
        assert_eq!(records[0].event, Event::Opportunity);
    }
}

fn an_imported_log_is_exported_byte_for_byte() {
    let folder = logs();
    for scheme in ["vegas", "bbr", "cubic"] {
        for (kind, direction) in [("datalink", Direction::Data), ("acklink", Direction::Ack)] {
            let path = folder.join(format!("{scheme}_{kind}_run1.log"));
            let (records, imported) = collect(Log::Merged(file(&path)), direction).unwrap();
            let scratch = Scratch::new();
            let copy = scratch.file("copy.log");
            let mut export = MergedExport::create(&copy, direction, imported.init_us.unwrap()).unwrap();
            records.iter().try_for_each(|record| export.write(record)).unwrap();
            assert_eq!(export.finish().unwrap(), imported.lines);
            assert!(std::fs::read(&copy).unwrap() == std::fs::read(&path).unwrap(), "{scheme} {kind}");
        }
    }
}

fn mm_link_logs_of_real_runs_are_read() {
    let folder = logs();
    // Arrivals, departures and opportunities as counted in the files.
    let cases = [
        ("vegas_mm_datalink", 1173, 1169, 3652),
        ("bbr_mm_datalink", 2190, 1820, 3652),
        ("cubic_mm_datalink", 3021, 2542, 3652),
        ("cubic_mm_acklink", 1524, 1524, 3652),
    ];
    for (name, arrivals, departures, opportunities) in cases {
        let log = Log::MmLink(file(&folder.join(format!("{name}_run1.log"))));
        let (records, _) = collect(log, Direction::Data).unwrap();
        let count = |event| records.iter().filter(|record| record.event == event).count();
        let found = (count(Event::Send), count(Event::Deliver), count(Event::Opportunity));
        assert_eq!(found, (arrivals, departures, opportunities), "{name}");
    }
}

fn a_real_run_goes_through_a_packet_log_unchanged() {
    let folder = logs();
    let log = |kind: &str| Log::Merged(file(&folder.join(format!("cubic_{kind}_run1.log"))));
    let scratch = Scratch::new();
    let path = scratch.file("packets.parquet");
    let mut writer = PacketLogWriter::create(&path).unwrap();
    let mut records = Vec::new();
    let imported = import_run(log("datalink"), log("acklink"), &mut |record| {
        records.push(record);
        writer.write(&record)
    });
    // The data direction has 9109 events, the other direction 6676.
    assert_eq!(imported.unwrap().records, 9109 + 6676);
    assert_eq!(writer.finish().unwrap(), 9109 + 6676);
    let again: Vec<_> = PacketLogReader::open(&path).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(again, records);
}

fn main() -> ExitCode {
    let tests = needs::tests![
        the_published_metrics_follow_from_the_records_exactly,
        an_imported_log_is_exported_byte_for_byte,
        mm_link_logs_of_real_runs_are_read,
        a_real_run_goes_through_a_packet_log_unchanged,
    ];
    needs::run(vec![(missing, tests)])
}
