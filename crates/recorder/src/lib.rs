//! Files of runs: an observer that writes the packet log and the samples of a run, and tables of the numbers of many
//! runs.

mod numbers;

pub use numbers::{NumberBatch, NumberTables, NumberedRun};

use packetlog::{Error, PacketLogWriter, SampleTable, SampleWriter};
use record::Record;
use runs::{LogLevel, Observer, RunSpec};
use std::path::Path;
use units::Time;

/// Writes `packets.parquet` (unless the run's `log` is `none`), `flows.parquet` and `links.parquet`. A write error
/// requests the end of the run and is kept for [`finish`](Self::finish). A recorder that is dropped without `finish`
/// leaves no files behind.
#[derive(Debug, Default)]
pub struct Recorder {
    packets: Option<PacketLogWriter>,
    samples: Option<Samples>,
    failure: Option<Error>,
}

#[derive(Debug)]
struct Samples {
    flows: SampleWriter,
    links: SampleWriter,
}

impl Recorder {
    /// Creates the files of a run of `spec` in `directory`; no files without a directory.
    ///
    /// # Errors
    /// One line naming the file that cannot be written.
    pub fn create(directory: Option<&Path>, spec: &RunSpec) -> Result<Self, Error> {
        let Some(directory) = directory else { return Ok(Self::default()) };
        let create = || {
            let packets = (spec.log != LogLevel::None)
                .then(|| PacketLogWriter::create(directory.join("packets.parquet")))
                .transpose()?;
            let flows = SampleWriter::create(directory.join("flows.parquet"), SampleTable::Flows)?;
            let links = SampleWriter::create(directory.join("links.parquet"), SampleTable::Links)?;
            Ok(Self { packets, samples: Some(Samples { flows, links }), failure: None })
        };
        create()
    }

    /// Completes the files.
    ///
    /// # Errors
    /// One line about the first write that failed.
    pub fn finish(self) -> Result<(), Error> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let finish = || {
            self.packets.map(PacketLogWriter::finish).transpose()?;
            if let Some(Samples { flows, links }) = self.samples {
                flows.finish()?;
                links.finish()?;
            }
            Ok(())
        };
        finish()
    }

    // A separate function, so that runs without a packet log do not pay for it.
    #[inline(never)]
    fn write(&mut self, record: &Record) {
        let result = self.packets.as_mut().map_or(Ok(()), |packets| packets.write(record));
        self.note(result);
    }

    /// Stops all writing after the first error.
    #[inline]
    fn note(&mut self, written: Result<(), Error>) {
        if let Err(error) = written {
            *self = Self { failure: Some(error), ..Self::default() };
        }
    }
}

impl Observer for Recorder {
    #[inline]
    fn record(&mut self, record: &Record) {
        if self.packets.is_some() {
            self.write(record);
        }
    }

    fn wants_values(&self) -> bool {
        self.samples.is_some()
    }

    fn flow_value(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        if let Some(samples) = &mut self.samples {
            let result = samples.flows.flow(at.as_ns(), flow, field, unit, value);
            self.note(result);
        }
    }

    fn link_value(&mut self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
        if let Some(samples) = &mut self.samples {
            let result = samples.links.link(at.as_ns(), link, field, unit, value);
            self.note(result);
        }
    }

    fn stop(&self) -> Option<String> {
        self.failure.as_ref().map(Error::to_string)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files are what this is about")]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn spec(log: &str) -> RunSpec {
        let text = format!(
            r#"{{"seed": 1, "duration_s": 1.0, "log": "{log}", "flows": [],
                 "path": {{"data": [], "ack": [], "overhead_bytes": 0, "mtu_bytes": 1500, "fragment": true}}}}"#
        );
        strict_input::parse(&text).unwrap()
    }

    /// Returns an empty directory.
    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("dumbbell-recorder-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        directory
    }

    fn files(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    fn sent(time_ns: u64) -> Record {
        Record {
            time_ns,
            flow: 1,
            event: record::Event::Send,
            seq: 0,
            size_bytes: 1500,
            data_bytes: 1448,
            one_way_delay_ns: 0,
        }
    }

    #[test]
    fn files_appear_when_they_are_complete_and_only_those_that_are_wanted() {
        for (log, expected) in [
            ("packets", &["flows.parquet", "links.parquet", "packets.parquet"][..]),
            ("none", &["flows.parquet", "links.parquet"]),
        ] {
            let directory = directory(log);
            let mut recorder = Recorder::create(Some(&directory), &spec(log)).unwrap();
            recorder.record(&sent(5));
            recorder.flow_value(Time::ZERO, 1, "cwnd", "packets", 10.0);
            recorder.link_value(Time::ZERO, "data/link", "queue", "packets", 0.0);
            assert!(recorder.wants_values() && recorder.stop().is_none());
            assert!(expected.iter().all(|name| !directory.join(name).exists()));
            recorder.finish().unwrap();
            assert_eq!(files(&directory), expected);
            std::fs::remove_dir_all(&directory).unwrap();
        }
    }

    #[test]
    fn a_failure_ends_the_run_and_leaves_nothing_behind() {
        let directory = directory("failure");
        let mut recorder = Recorder::create(Some(&directory), &spec("packets")).unwrap();
        recorder.record(&sent(5));
        recorder.record(&sent(4));
        recorder.record(&sent(6));
        let why = recorder.stop().expect("a reason");
        assert!(why.contains("packets.parquet") && why.contains("time order"), "{why}");
        assert!(!recorder.wants_values());
        assert_eq!(recorder.finish().unwrap_err().to_string(), why);
        assert!(files(&directory).is_empty());
        std::fs::remove_dir_all(&directory).unwrap();
        let refusal = Recorder::create(Some(&directory), &spec("packets")).unwrap_err().to_string();
        assert!(refusal.contains("packets.parquet"), "{refusal}");
    }

    #[test]
    fn without_a_directory_nothing_is_wanted() {
        let recorder = Recorder::create(None, &spec("full")).unwrap();
        assert!(!recorder.wants_values());
        recorder.finish().unwrap();
    }
}
