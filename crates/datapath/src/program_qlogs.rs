//! qlogs that the programs of a flow write: found after the run, kept beside its files, and read for the state of the sender.

use crate::few::few;
use crate::program_samples::{ProgramSample, open_regular};
use endpoint::{Clock, wall_clock_ahead_ns};
use packetlog::qlog::{ImportedTrace, import_file};
use packetlog::{Interrupts, SampleTable, read_samples};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use units::Time;

/// Maximum number of qlogs of a side that are kept.
pub(crate) const MOST_FILES: usize = 16;
/// Maximum number of bytes of the qlogs of a side that are kept.
const MOST_BYTES: u64 = 256 << 20;
/// Maximum number of notes of a qlog that another machine reports.
const MOST_NOTES: usize = 64;
/// Longest name that a kept file takes over.
const NAME_BYTES: usize = 100;
/// The names of qlogs end like this, or like this with the suffix of a compressed file.
const SUFFIXES: [&str; 2] = [".qlog", ".sqlog"];
const PACKED: [&str; 4] = [".gz", ".bz2", ".xz", ".zst"];
/// Times after this count from 1970, ns: it is 2001-09-09.
const WALL_CLOCK_NS: u64 = 1_000_000_000_000_000_000;

/// A qlog that a program wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct QlogReport {
    /// Its name among the files of the run; the program's own name for it where it is not kept.
    pub file: String,
    /// Size, bytes.
    pub bytes: u64,
    /// Events in it.
    pub events: u64,
    /// Packets of the application that it says were sent.
    pub sent: u64,
    /// Whether the flow's samples have its fields.
    pub sampled: bool,
    /// What a reader of it has to know: damage, and what is left out.
    #[serde(deserialize_with = "few::<_, _, MOST_NOTES>")]
    pub notes: Vec<String>,
}

/// Where a side of a flow writes its qlogs, and what the kept ones are called.
#[derive(Debug)]
pub(crate) struct QlogFolder<'a> {
    pub(crate) folder: PathBuf,
    /// For example `flow-1-sender`.
    pub(crate) prefix: String,
    /// The directory of the run's files, if any are kept.
    pub(crate) kept: Option<&'a Path>,
}

/// A trace that may be what a flow's samples are made of.
struct Candidate {
    report: usize,
    trace: ImportedTrace,
    samples: PathBuf,
}

/// Reason why a qlog is not kept, or not read.
#[derive(Debug, thiserror::Error)]
enum LeftOut {
    #[error("left out: {0}")]
    System(io::Error),
    #[error("left out: of the qlogs of a side {} MiB are kept", MOST_BYTES >> 20)]
    TooMuch,
    /// As it is told, with the name under which the qlog is kept.
    #[error("{0}")]
    Unreadable(String),
}

impl QlogFolder<'_> {
    /// Finds, keeps and reads what the side wrote. Samples that lie between the start of the run and `end` are added to
    /// `samples`, of fields that are not among them yet; none if `samples` is `None`. They are of the trace that sent most
    /// packets. Nothing here fails a run: notes tell what is wrong.
    pub(crate) fn collect(
        &self,
        clock: Clock,
        [start, end]: [Time; 2],
        mut samples: Option<&mut Vec<ProgramSample>>,
    ) -> Vec<QlogReport> {
        let mut reports = Vec::new();
        let (mut bytes, mut best): (u64, Option<Candidate>) = (0, None);
        let names = qlogs_in(&self.folder);
        for (number, name) in names.iter().take(MOST_FILES).enumerate() {
            let mut report = QlogReport { file: shown(name), ..QlogReport::default() };
            match self.take(name, number, &mut bytes, &mut report) {
                Ok(traces) => {
                    for (place, (_, trace)) in traces.into_iter().enumerate() {
                        report.events += trace.events;
                        report.sent += trace.sent;
                        report.notes.extend(trace.notes.iter().cloned());
                        if trace.metrics > 0 && best.as_ref().is_none_or(|best| trace.sent > best.trace.sent)
                        {
                            let samples = self.imported(number).join((place + 1).to_string());
                            best = Some(Candidate { report: reports.len(), trace, samples });
                        }
                    }
                }
                Err(why) => report.notes.push(why.to_string()),
            }
            reports.push(report);
        }
        if let Some((last, more)) = reports.last_mut().zip(names.len().checked_sub(MOST_FILES + 1)) {
            last.notes.push(format!("{} more qlogs are left out: of a side {MOST_FILES} are kept", more + 1));
        }
        if let (Some(best), Some(samples)) = (best, &mut samples) {
            let report = &mut reports[best.report];
            let (from, note) = begin(&best.trace, clock, [start, end]);
            report.notes.extend(note);
            match state(&best.samples.join("flows.parquet"), from, end, samples) {
                Ok(added) => report.sampled = added > 0,
                Err(why) => report.notes.push(why.to_string()),
            }
        }
        reports
    }

    /// Keeps a qlog and reads its traces.
    fn take(
        &self,
        name: &str,
        number: usize,
        bytes: &mut u64,
        report: &mut QlogReport,
    ) -> Result<Vec<(String, ImportedTrace)>, LeftOut> {
        let source = self.folder.join(name);
        let length = length_of(&source).map_err(LeftOut::System)?;
        report.bytes = length;
        if *bytes + length > MOST_BYTES {
            return Err(LeftOut::TooMuch);
        }
        *bytes += length;
        if let Some(kept) = self.kept {
            let file = format!("{}-{}", self.prefix, shown(name));
            copy(&source, &kept.join(&file)).map_err(LeftOut::System)?;
            report.file = file;
        }
        let told = |error: packetlog::Error| {
            let text = error.to_string();
            LeftOut::Unreadable(text.replace(&source.display().to_string(), &report.file))
        };
        import_file(&source, &self.imported(number), &Interrupts::none()).map_err(told)
    }

    /// Returns where the traces of a qlog are put that is read.
    fn imported(&self, number: usize) -> PathBuf {
        self.folder.join(format!("imported-{number}"))
    }
}

/// Returns when a trace began, on the clock of the run, ns: by the wall clock, by the clock that all processes of the
/// machine share, or else as if its first event had been the start of the flow, which a note tells.
fn begin(trace: &ImportedTrace, clock: Clock, [start, end]: [Time; 2]) -> (i128, Option<String>) {
    let run_began_ns = i128::from(clock.monotonic_ns_of(Time::ZERO));
    let told_ns = i128::from(trace.first_ns);
    let in_run = |ns: i128| (-DAY_NS..i128::from(end.as_ns())).contains(&ns);
    if trace.first_ns > WALL_CLOCK_NS {
        let since = told_ns - i128::from(wall_clock_ahead_ns()) - run_began_ns;
        if in_run(since) {
            return (since, None);
        }
    } else if in_run(told_ns - run_began_ns) && told_ns > 0 && told_ns - run_began_ns > -MINUTE_NS {
        return (told_ns - run_began_ns, None);
    }
    let note = "its clock is unknown: its first event counts as the start of the flow";
    (i128::from(start.as_ns()), Some(note.to_owned()))
}

const MINUTE_NS: i128 = 60_000_000_000;
const DAY_NS: i128 = 24 * 60 * MINUTE_NS;

/// Adds the samples of a trace that began at `from_ns` to those of a flow, of fields that these do not have.
fn state(
    file: &Path,
    from_ns: i128,
    end: Time,
    samples: &mut Vec<ProgramSample>,
) -> Result<usize, packetlog::Error> {
    let rows = read_samples(file, SampleTable::Flows)?;
    let known: BTreeSet<String> = samples.iter().map(|sample| sample.field.clone()).collect();
    let before = samples.len();
    samples.extend(rows.into_iter().filter(|row| !known.contains(&*row.field)).filter_map(|row| {
        let at = Time::from_ns(u64::try_from(from_ns + i128::from(row.time_ns)).ok()?);
        let (field, unit) = (row.field.to_string(), row.unit.to_string());
        (at <= end).then_some(ProgramSample { at, field, unit, value: row.value })
    }));
    Ok(samples.len() - before)
}

/// Returns the names of the qlogs in a folder, in order.
fn qlogs_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_qlog(name)).collect();
    names.sort_unstable();
    names
}

fn is_qlog(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let plain = PACKED.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
    SUFFIXES.iter().any(|suffix| plain.ends_with(suffix))
}

/// Returns a name as results may have it: a program can call a file anything.
fn shown(name: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "._-".contains(*letter);
    let letters: Vec<char> =
        name.chars().map(|letter| if is_plain(&letter) { letter } else { '_' }).collect();
    letters[letters.len().saturating_sub(NAME_BYTES)..].iter().collect()
}

fn length_of(file: &Path) -> io::Result<u64> {
    open_regular(file)?.metadata().map(|found| found.len())
}

/// Copies a file that a program may exchange meanwhile, for at most as many bytes as are kept.
fn copy(source: &Path, to: &Path) -> io::Result<()> {
    let mut source = io::Read::take(open_regular(source)?, MOST_BYTES);
    let mut to = fs::OpenOptions::new().write(true).create_new(true).open(to)?;
    io::copy(&mut source, &mut to).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of qlogs, which goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("program-qlogs-{}-{name}", std::process::id()));
            fs::create_dir_all(folder.join("kept")).unwrap();
            fs::create_dir(folder.join("written")).unwrap();
            Self(folder)
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.0.join("written").join(name), text).unwrap();
        }

        fn collect(&self, began_ns: u64, samples: &mut Vec<ProgramSample>) -> Vec<QlogReport> {
            let (kept, folder) = (self.0.join("kept"), self.0.join("written"));
            let folder = QlogFolder { folder, prefix: "flow-1-sender".to_owned(), kept: Some(&kept) };
            let times = [Time::from_secs_f64(1.0), Time::from_secs_f64(9.0)];
            folder.collect(Clock::starting_at(began_ns), times, Some(samples))
        }

        fn kept(&self) -> Vec<String> {
            qlogs_in(&self.0.join("kept"))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    /// A qlog whose first event is at `first_ms`, with a window of 12,000 bytes half a second later.
    fn qlog(first_ms: f64, packets: usize) -> String {
        let mut events = vec![];
        for number in 0..packets {
            events.push(serde_json::json!({"time": first_ms, "name": "transport:packet_sent", "data":
                {"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1200}}}));
        }
        events.push(serde_json::json!({"time": first_ms + 500.0, "name": "recovery:metrics_updated", "data":
            {"congestion_window": 12000 * packets, "smoothed_rtt": 42.0}}));
        serde_json::json!({"qlog_version": "0.3", "traces": [{"common_fields": {}, "events": events}]})
            .to_string()
    }

    fn found(samples: &[ProgramSample]) -> Vec<(u64, &str, f64)> {
        samples.iter().map(|sample| (sample.at.as_ns() / 1_000_000, &*sample.field, sample.value)).collect()
    }

    #[test]
    fn the_state_in_a_programs_qlog_lies_on_the_clock_of_the_run() {
        let began_ns = endpoint::monotonic_ns();
        let wall_ms = (began_ns as i64 + wall_clock_ahead_ns()) as f64 / 1e6;
        let of_clock = [
            ("wall", wall_ms + 2000.0, 2500),
            ("monotonic", began_ns as f64 / 1e6 + 2000.0, 2500),
            ("own", 7.0, 1500),
        ];
        for (clock, first_ms, at_ms) in of_clock {
            let folder = Folder::new(clock);
            folder.write("a b.qlog", &qlog(first_ms, 2));
            let mut samples = Vec::new();
            let reports = folder.collect(began_ns, &mut samples);
            let [report] = &reports[..] else { panic!("{reports:?}") };
            assert_eq!(report.file, "flow-1-sender-a_b.qlog");
            assert_eq!((report.events, report.sent, report.sampled), (3, 2, true));
            assert_eq!(report.notes.is_empty(), clock != "own", "{:?}", report.notes);
            assert_eq!(folder.kept(), [&*report.file]);
            let srtt = found(&samples).into_iter().find(|(_, field, _)| *field == "srtt").unwrap();
            assert!(srtt.0.abs_diff(at_ms) <= 1 && srtt.2 == 42.0, "{clock}: {srtt:?}");
        }
    }

    #[test]
    fn what_a_program_wrote_as_samples_is_not_told_twice() {
        let folder = Folder::new("twice");
        folder.write("x.qlog", &qlog(1.0, 2));
        let own = ProgramSample {
            at: Time::ZERO,
            field: "cwnd".to_owned(),
            unit: "packets".to_owned(),
            value: 3.0,
        };
        let mut samples = vec![own];
        folder.collect(endpoint::monotonic_ns(), &mut samples);
        let fields: Vec<&str> = samples.iter().map(|sample| &*sample.field).collect();
        assert_eq!(fields, ["cwnd", "window", "srtt"]);
    }

    #[test]
    fn of_several_connections_the_one_that_sent_most_is_sampled() {
        let folder = Folder::new("several");
        folder.write("a.qlog", &qlog(1.0, 1));
        folder.write("b.sqlog", &qlog(1.0, 3));
        folder.write("c.txt", "no qlog");
        let mut samples = Vec::new();
        let reports = folder.collect(endpoint::monotonic_ns(), &mut samples);
        assert_eq!(reports.iter().map(|report| report.sampled).collect::<Vec<_>>(), [false, true]);
        let window = found(&samples).into_iter().find(|(_, field, _)| *field == "window").unwrap();
        assert_eq!(window.2, 36_000.0);
    }

    #[test]
    fn a_damaged_qlog_is_a_note_and_never_a_failed_run() {
        let folder = Folder::new("damaged");
        folder.write("cut.qlog", &qlog(1.0, 2)[..40]);
        folder.write("none.qlog", "nonsense");
        std::os::unix::fs::symlink("/dev/zero", folder.0.join("written/link.qlog")).unwrap();
        nix::unistd::mkfifo(&folder.0.join("written/pipe.qlog"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let mut samples = Vec::new();
        let reports = folder.collect(endpoint::monotonic_ns(), &mut samples);
        assert_eq!((reports.len(), samples.len()), (4, 0));
        for report in &reports {
            assert!(!report.notes.is_empty() && !report.sampled, "{report:?}");
        }
        assert_eq!(reports[1].notes[0].split_once(':').unwrap().0, "left out");
        let none = &reports[2].notes[0];
        assert!(none.contains("is no qlog") && !none.contains("written"), "{none}");
        assert_eq!(folder.kept(), ["flow-1-sender-cut.qlog", "flow-1-sender-none.qlog"]);
    }

    #[test]
    fn a_program_that_writes_a_qlog_for_each_of_many_connections_keeps_a_few() {
        let folder = Folder::new("many");
        for number in 0..MOST_FILES + 2 {
            folder.write(&format!("{number:03}.qlog"), &qlog(1.0, 1));
        }
        let reports = folder.collect(endpoint::monotonic_ns(), &mut Vec::new());
        assert_eq!((reports.len(), folder.kept().len()), (MOST_FILES, MOST_FILES));
        assert_eq!(reports[MOST_FILES - 1].notes, ["2 more qlogs are left out: of a side 16 are kept"]);
    }

    #[test]
    fn names_of_qlogs_are_told_whatever_they_are_compressed_with() {
        for name in ["a.qlog", "B.SQLOG", "c.sqlog.gz", "d.qlog.zst"] {
            assert!(is_qlog(name), "{name}");
        }
        for name in ["qlog", "a.qlog.zip", "a.json", "a.gz"] {
            assert!(!is_qlog(name), "{name}");
        }
        assert_eq!(shown("../a\n\u{1b}.qlog"), ".._a__.qlog");
    }
}
