//! Helpers shared by the tests.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests use files and fail by panicking")]

use packetlog::Error;
use packetlog::pantheon::{Direction, Imported, Input, Log, import};
use record::{Event, Record};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Directory that is removed after its test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("packetlog-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the sorted names of the files in the directory.
    pub(crate) fn list(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn text(name: &str, bytes: impl AsRef<[u8]>) -> Input {
    Input::new(name, std::io::Cursor::new(bytes.as_ref().to_vec()))
}

pub(crate) fn file(path: &Path) -> Input {
    Input::open(path).unwrap()
}

/// Returns all records of a log.
pub(crate) fn collect(log: Log, direction: Direction) -> Result<(Vec<Record>, Imported), Error> {
    let mut records = Vec::new();
    let imported = import(log, direction, &mut |record| {
        records.push(record);
        Ok(())
    })?;
    assert_eq!(imported.records, records.len() as u64);
    Ok((records, imported))
}

/// Returns the error message of an import.
pub(crate) fn complaint(log: Log) -> String {
    collect(log, Direction::Data).unwrap_err().to_string()
}

/// Returns a record with packet number and data bytes 0.
pub(crate) fn record(time_us: u64, event: Event, flow: u32, size_bytes: u32, delay_us: i64) -> Record {
    Record {
        time_ns: time_us * 1000,
        flow,
        event,
        seq: 0,
        size_bytes,
        data_bytes: 0,
        one_way_delay_ns: delay_us * 1000,
    }
}
