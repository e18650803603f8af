//! What programs write about themselves: a file with a line of JSON for each value of a time series. The run's
//! `flows.parquet` gets them.

use crate::Error;
use endpoint::{Clock, Correction, is_plain};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use strict_input::Refusal;
use units::Time;

/// Maximum number of bytes of a program's samples: some million lines.
const MAX_BYTES: u64 = 64 << 20;

/// A value that a program saw at some time of the run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProgramSample {
    pub(crate) at: Time,
    pub(crate) field: String,
    pub(crate) unit: String,
    pub(crate) value: f64,
}

impl ProgramSample {
    /// With the time of the run's own clock.
    pub(crate) fn corrected(self, correction: &Correction) -> Self {
        Self { at: correction.time_of(self.at), ..self }
    }
}

/// A line as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// `CLOCK_MONOTONIC`, ns: the one clock that every process of the machine reads alike.
    monotonic_ns: u64,
    field: String,
    #[serde(default)]
    unit: String,
    value: f64,
}

/// The samples of `file` from the start of the run to `end`. No file holds none, nor does a last line that was cut off
/// when its program was ended.
///
/// # Errors
/// One line: the number of a line that is no sample, what is no plain file or is too long, and what is allowed.
pub(crate) fn read_samples(file: &Path, clock: Clock, end: Time) -> Result<Vec<ProgramSample>, Error> {
    let mut reader = match open(file) {
        Ok(file) => BufReader::new(file.take(MAX_BYTES)),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::system("samples", error)),
    };
    let mut samples = Vec::new();
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        reader.read_until(b'\n', &mut bytes).map_err(|error| Error::system("samples", error))?;
        if bytes.last() != Some(&b'\n') {
            break;
        }
        let refused = |why: &dyn std::fmt::Display| {
            let shown: String = String::from_utf8_lossy(&bytes).trim_end().chars().take(80).collect();
            Refusal::of_key(
                "samples",
                format!(
                    "line {number}: `{shown}`: {why}: allowed is \
                 {{\"monotonic_ns\": 1, \"field\": \"name\", \"unit\": \"ms\", \"value\": 1.0}}"
                ),
            )
        };
        let Line { monotonic_ns, field, unit, value } =
            serde_json::from_slice(&bytes).map_err(|error| refused(&error))?;
        if !is_plain(&field, &unit, value) {
            return Err(refused(
                &"a name or a unit that is empty, longer than 64 letters or not printable ASCII",
            )
            .into());
        }
        if let Some(at) = clock.time_of(monotonic_ns).filter(|at| *at <= end) {
            samples.push(ProgramSample { at, field, unit, value });
        }
    }
    Ok(samples)
}

/// Opens what a program left under the name of its samples.
fn open(file: &Path) -> std::io::Result<File> {
    let opened = open_regular(file)?;
    let bytes = opened.metadata()?.len();
    if bytes > MAX_BYTES {
        return Err(std::io::Error::other(format!("{bytes} bytes: allowed are at most {MAX_BYTES}")));
    }
    Ok(opened)
}

/// Opens what a program left under a name. It may be anything: a pipe would be waited for.
pub(crate) fn open_regular(file: &Path) -> std::io::Result<File> {
    let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOFOLLOW;
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(std::io::Error::other("is no plain file"));
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(name: &str, content: &str) -> Result<Vec<ProgramSample>, Error> {
        let file = std::env::temp_dir().join(format!("program-samples-{}-{name}", std::process::id()));
        fs::write(&file, content).unwrap();
        let samples = read_samples(&file, Clock::starting_at(1000), Time::from_ns(500));
        fs::remove_file(&file).unwrap();
        samples
    }

    #[test]
    fn samples_are_placed_on_the_clock_of_the_run() {
        let line = |ns: u64, value: &str| {
            format!("{{\"monotonic_ns\": {ns}, \"field\": \"rtt\", \"unit\": \"ms\", \"value\": {value}}}\n")
        };
        let lines = [line(999, "1"), line(1000, "2.5"), line(1500, "3"), line(1501, "4")].concat();
        let samples = read("placed", &(lines + "{\"monotonic_ns\": 12")).unwrap();
        let found: Vec<(u64, f64)> = samples.iter().map(|sample| (sample.at.as_ns(), sample.value)).collect();
        assert_eq!(found, [(0, 2.5), (500, 3.0)]);
        assert_eq!((samples[0].field.as_str(), samples[0].unit.as_str()), ("rtt", "ms"));
    }

    #[test]
    fn what_is_no_plain_file_or_too_long_is_refused_at_once() {
        // A pipe hung the run for ever, a file of 1.5 GB without a line took as much memory.
        let folder = std::env::temp_dir().join(format!("program-samples-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let (pipe, link, sparse) = (folder.join("pipe"), folder.join("link"), folder.join("sparse"));
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        File::create(&sparse).unwrap().set_len(MAX_BYTES + 1).unwrap();
        let refusal = |file: &Path| {
            read_samples(file, Clock::starting_at(0), Time::ZERO).expect_err("it is refused").to_string()
        };
        assert_eq!(refusal(&pipe), "samples: is no plain file");
        assert_eq!(refusal(&folder), "samples: is no plain file");
        assert!(refusal(&link).starts_with("samples: "), "{}", refusal(&link));
        assert_eq!(refusal(&sparse), "samples: 67108865 bytes: allowed are at most 67108864");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_no_sample_is_named() {
        let good = "{\"monotonic_ns\": 1100, \"field\": \"rtt\", \"value\": 1}\n";
        for bad in [
            "{\"monotonic_ns\": 1, \"field\": \"\\u001b[2J\", \"value\": 1}",
            "nonsense",
            "{\"monotonic_ns\": 1, \"field\": \"x\", \"value\": null}",
            "{\"field\": \"x\"}",
        ] {
            let error = read("bad", &format!("{good}{bad}\n")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("samples: line 2: `{bad}`: ")), "{error}");
            assert!(error.contains("allowed is {\"monotonic_ns\": 1"), "{error}");
        }
        let absent = std::env::temp_dir().join(format!("program-samples-{}-absent", std::process::id()));
        assert_eq!(read_samples(&absent, Clock::starting_at(0), Time::ZERO).unwrap(), []);
    }
}
