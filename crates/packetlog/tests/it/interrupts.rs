//! Interruption of long reading and writing.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests use files and fail by panicking")]

use crate::common::{Scratch, record};
use packetlog::pantheon::{Direction, Input, Log, import};
use packetlog::qlog::{Draft, QlogExport, TraceInfo, import_file};
use packetlog::{Error, Interrupts, PacketLogWriter};
use record::Event;
use std::fmt::Write as _;
use std::io::Read;

/// Endless text.
struct Endless(&'static [u8]);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let whole = buffer.len() / self.0.len() * self.0.len();
        for part in buffer[..whole].chunks_exact_mut(self.0.len()) {
            part.copy_from_slice(self.0);
        }
        Ok(whole)
    }
}

fn at_once() -> Interrupts {
    Interrupts::when(|| true)
}

#[test]
fn logs_without_end_are_read_until_somebody_wants_that_to_end() {
    type Form = fn(Input) -> Log;
    let cases: [(Form, &[u8]); 4] = [
        (Log::Merged, b"# nothing\n"),
        (Log::Merged, b"1.000 + 1500 1\n"),
        (Log::MmLink, b"# nothing\n"),
        (Log::MmLink, b"1 + 1504\n1 d 1 1504\n"),
    ];
    for (form, text) in cases {
        let log = form(Input::new("endless.log", Endless(text)).until(&at_once()));
        let ended = import(log, Direction::Data, &mut |_| Ok(())).unwrap_err();
        assert!(matches!(ended, Error::Interrupted), "{ended}");
    }
}

#[test]
fn a_flow_is_written_as_a_qlog_until_somebody_wants_that_to_end() {
    let scratch = Scratch::new();
    let (packets, out) = (scratch.file("packets.parquet"), scratch.file("out.sqlog"));
    let mut log = PacketLogWriter::create(&packets).unwrap();
    for number in 0..300_000 {
        // Packet of another flow, which is read but not written.
        log.write(&record(number, Event::Send, 2, 1500, 0)).unwrap();
    }
    log.finish().unwrap();
    let export = || QlogExport::create(&out, Draft::V03, 1, &TraceInfo::default()).unwrap();
    let ended = export().write_run(&packets, None, &at_once()).unwrap_err();
    assert!(matches!(ended, Error::Interrupted), "{ended}");
    assert_eq!(scratch.list(), ["packets.parquet"]);
    assert_eq!(export().write_run(&packets, None, &Interrupts::none()).unwrap(), 0);
}

#[test]
fn a_qlog_is_read_until_somebody_wants_that_to_end() {
    let scratch = Scratch::new();
    let file = scratch.file("long.sqlog");
    let mut text = "\x1e{\"qlog_version\":\"0.3\",\"trace\":{}}\n".to_owned();
    for number in 0..70_000 {
        writeln!(text, "\x1e{{\"time\":{number},\"name\":\"a:b\",\"data\":{{}}}}").unwrap();
    }
    std::fs::write(&file, text).unwrap();
    let ended = import_file(&file, &scratch.file("out"), &at_once()).unwrap_err();
    assert!(matches!(ended, Error::Interrupted), "{ended}");
}
