//! The records of a qlog file, whatever its serialization.

use super::export::RECORD_SEPARATOR;
use crate::Error;
use crate::regular::open_regular;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Longest file that is one JSON object: all of it is in memory, mostly ten times as large.
const MOST_WHOLE_BYTES: u64 = 1 << 28;
/// Most objects in it, and values of any kind: each object takes some 700 bytes of memory, each value 32 to 64.
const MOST_WHOLE: Counts = Counts { objects: 1 << 22, values: 1 << 25 };
/// Longest record of a sequence, and the most that is in one.
const MOST_RECORD_BYTES: u64 = 1 << 24;
const MOST_RECORD: Counts = Counts { objects: 1 << 16, values: 1 << 20 };

/// One trace of a file, its events still in the file's own form.
pub(super) struct RawTrace {
    /// The file's name, for messages.
    pub(super) log: String,
    /// Title of the trace, or of the file; empty if neither has one.
    pub(super) title: String,
    /// Everything the trace says of itself, without its events.
    pub(super) info: Map<String, Value>,
    events: Events,
}

enum Events {
    /// Those of a file that is one JSON value.
    Whole { trace: usize, events: std::vec::IntoIter<Value>, next: u64 },
    /// Those of a sequence, read as they are needed.
    Sequence(Records),
}

/// An event as the file has it, and where it is.
pub(super) struct RawEvent {
    pub(super) value: Value,
    /// Line number in a sequence, from 1; of a whole JSON the event's number, from 1.
    place: u64,
    trace: Option<usize>,
}

impl RawTrace {
    /// The next event.
    pub(super) fn next_event(&mut self) -> Result<Option<RawEvent>, Error> {
        match &mut self.events {
            Events::Whole { trace, events, next } => {
                *next += 1;
                let (place, trace) = (*next, Some(*trace));
                Ok(events.next().map(|value| RawEvent { value, place, trace }))
            }
            Events::Sequence(records) => {
                let record = records.next_record()?;
                Ok(record.map(|(place, value)| RawEvent { value, place, trace: None }))
            }
        }
    }

    /// An error about an event of this trace.
    pub(super) fn refuse(&self, event: &RawEvent, problem: &str) -> Error {
        match event.trace {
            Some(trace) => {
                Error::log(&self.log, format!("event {} of trace {trace}: {problem}", event.place))
            }
            None => {
                Error::line(&self.log, event.place, event.value.to_string().as_bytes(), problem.to_owned())
            }
        }
    }
}

/// The traces of a qlog file: one of a sequence, any number of a JSON file. Traces that only say why they are missing are
/// left out.
///
/// # Errors
/// A file that cannot be read, is damaged, or is no qlog.
pub(super) fn open_traces(path: &Path) -> Result<Vec<RawTrace>, Error> {
    let log = path.display().to_string();
    let file = open_regular(path)?;
    let mut input = BufReader::new(file);
    let first = input.fill_buf().map_err(|e| Error::io(path, "read", e))?;
    match first.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(&RECORD_SEPARATOR) => open_sequence(Records::new(log, input, RECORD_SEPARATOR)),
        Some(b'{') if is_line_of_sequence(first) => open_sequence(Records::new(log, input, b'\n')),
        Some(b'{') => open_whole(&log, path, input),
        Some(_) => {
            Err(Error::log(&log, "is no qlog: it begins with neither a JSON object nor a record separator"))
        }
        None => Err(Error::log(&log, "is empty")),
    }
}

/// Whether the file is lines of JSON: the first is a complete header that promises a single trace.
fn is_line_of_sequence(start: &[u8]) -> bool {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<Value>(line).is_ok_and(|header| header.get("trace").is_some())
}

fn open_sequence(mut records: Records) -> Result<Vec<RawTrace>, Error> {
    let Some((line, header)) = records.next_record()? else {
        return Err(Error::log(&records.log, "is empty"));
    };
    check_header(&header).map_err(|problem| records.refuse(line, &header, problem))?;
    let Some(Value::Object(info)) = header.get("trace") else {
        return Err(records.refuse(line, &header, "has no object `trace`"));
    };
    let log = records.log.clone();
    let title = title_of(&[info.get("title"), header.get("title")]);
    Ok(vec![RawTrace { log, title, info: info.clone(), events: Events::Sequence(records) }])
}

fn open_whole(log: &str, path: &Path, mut input: BufReader<File>) -> Result<Vec<RawTrace>, Error> {
    let mut text = Vec::new();
    input
        .by_ref()
        .take(MOST_WHOLE_BYTES + 1)
        .read_to_end(&mut text)
        .map_err(|e| Error::io(path, "read", e))?;
    if text.len() as u64 > MOST_WHOLE_BYTES {
        let most = MOST_WHOLE_BYTES >> 20;
        let problem = format!(
            "is one JSON object of more than {most} MiB: a sequence of records (JSON-SEQ) may be longer"
        );
        return Err(Error::log(log, problem));
    }
    Counts::of(&text).check(MOST_WHOLE).map_err(|problem| Error::log(log, problem))?;
    let mut file: Value = serde_json::from_slice(&text).map_err(|error| {
        let line = text.split(|&byte| byte == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
        Error::line(log, error.line() as u64, line, invalid(&error))
    })?;
    check_header(&file).map_err(|problem| Error::log(log, problem))?;
    let file_title = file.get("title").cloned();
    let Some(Value::Array(traces)) = file.get_mut("traces").map(Value::take) else {
        return Err(Error::log(log, "has no list `traces`"));
    };
    let mut found = Vec::new();
    for (index, trace) in traces.into_iter().enumerate() {
        let Value::Object(mut info) = trace else {
            return Err(Error::log(log, format!("trace {}: must be an object", index + 1)));
        };
        if info.contains_key("error_description") {
            continue;
        }
        let Some(Value::Array(events)) = info.remove("events") else {
            return Err(Error::log(log, format!("trace {}: has no list `events`", index + 1)));
        };
        let title = title_of(&[info.get("title"), file_title.as_ref()]);
        let events = Events::Whole { trace: index + 1, events: events.into_iter(), next: 0 };
        found.push(RawTrace { log: log.to_owned(), title, info, events });
    }
    if found.is_empty() {
        return Err(Error::log(log, "has no trace"));
    }
    Ok(found)
}

/// Every version names itself in one of two ways.
fn check_header(header: &Value) -> Result<(), &'static str> {
    let says_so = ["qlog_version", "file_schema"].iter().any(|key| header[key].is_string());
    if says_so { Ok(()) } else { Err("is no qlog: it has neither `qlog_version` nor `file_schema`") }
}

fn title_of(candidates: &[Option<&Value>]) -> String {
    let title = candidates.iter().flatten().find_map(|title| title.as_str().filter(|text| !text.is_empty()));
    title.unwrap_or_default().to_owned()
}

/// The library's complaint without its position, which is counted within the record.
fn invalid(error: &serde_json::Error) -> String {
    let text = error.to_string();
    format!("is not valid JSON: {}", text.split(" at line ").next().unwrap_or_default())
}

/// How many objects and values a text of JSON has. Brackets and commas are counted, also those within quotes: the true
/// numbers are these or smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    objects: u64,
    values: u64,
}

impl Counts {
    fn of(text: &[u8]) -> Self {
        let mut counts = Self { objects: 0, values: 1 };
        for byte in text {
            counts.objects += u64::from(*byte == b'{');
            counts.values += u64::from(matches!(byte, b'{' | b'[' | b','));
        }
        counts
    }

    fn check(self, most: Self) -> Result<(), String> {
        if self.objects > most.objects || self.values > most.values {
            let Self { objects, values } = self;
            return Err(format!(
                "has {objects} objects and {values} values: allowed are {} and {}",
                most.objects, most.values
            ));
        }
        Ok(())
    }
}

/// JSON values with something between them.
struct Records {
    log: String,
    input: BufReader<File>,
    separator: u8,
    /// Line where the next record begins.
    line: u64,
    record: Vec<u8>,
}

impl Records {
    fn new(log: String, input: BufReader<File>, separator: u8) -> Self {
        Self { log, input, separator, line: 1, record: Vec::new() }
    }

    /// The next value, with its line number.
    fn next_record(&mut self) -> Result<Option<(u64, Value)>, Error> {
        loop {
            self.record.clear();
            let mut input = self.input.by_ref().take(MOST_RECORD_BYTES + 1);
            let read = input.read_until(self.separator, &mut self.record);
            let read = read.map_err(|e| Error::io(Path::new(&self.log), "read", e))?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 > MOST_RECORD_BYTES {
                let problem = format!("is a record of more than {} MiB", MOST_RECORD_BYTES >> 20);
                return Err(Error::line(&self.log, self.line, &self.record, problem));
            }
            let line = self.line;
            self.line += self.record.split(|&byte| byte == b'\n').count() as u64 - 1;
            let text = self.record.strip_suffix(&[self.separator]).unwrap_or(&self.record);
            if text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if let Err(problem) = Counts::of(text).check(MOST_RECORD) {
                return Err(Error::line(&self.log, line, text, problem));
            }
            return match serde_json::from_slice(text) {
                Ok(value) => Ok(Some((line, value))),
                Err(error) => {
                    let line = line + (error.line() as u64).saturating_sub(1);
                    Err(Error::line(&self.log, line, text, invalid(&error)))
                }
            };
        }
    }

    fn refuse(&self, line: u64, value: &Value, problem: &'static str) -> Error {
        Error::line(&self.log, line, value.to_string().as_bytes(), problem)
    }
}
