//! Records of a qlog file in any serialization.

use super::export::RECORD_SEPARATOR;
use super::problem::Problem;
use crate::{Error, compressed};
use serde_json::{Map, Value};
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// Maximum length of a file that is one JSON object, bytes. The whole object is in memory, mostly ten times as large.
const MAX_WHOLE_BYTES: u64 = 1 << 28;
/// Maximum objects and values of any kind in such a file. An object takes about 700 bytes of memory, a value 32 to
/// 64.
const MAX_WHOLE: Counts = Counts { objects: 1 << 22, values: 1 << 25 };
/// Maximum length of a record of a sequence, bytes, and maximum contents of a record.
const MAX_RECORD_BYTES: u64 = 1 << 24;
const MAX_RECORD: Counts = Counts { objects: 1 << 16, values: 1 << 20 };

/// First bytes of a UTF-16 text in either byte order.
const UTF_16: [&[u8]; 2] = [&[0xff, 0xfe], &[0xfe, 0xff]];
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

type Input = BufReader<Box<dyn Read + Send>>;

/// Traces of a file, and notes on its unreadable parts.
pub(super) struct RawFile {
    pub(super) traces: Vec<RawTrace>,
    pub(super) notes: Vec<String>,
}

/// Trace of a file with events in the file's form.
pub(super) struct RawTrace {
    /// Name of the file, for messages.
    pub(super) log: String,
    /// Number of the trace in the file, from 1.
    pub(super) number: usize,
    /// Title of the trace or of the file; empty if neither has one.
    pub(super) title: String,
    /// Description of the trace, without events.
    pub(super) info: Map<String, Value>,
    /// Damage of the file, as known so far.
    pub(super) notes: Vec<String>,
    events: Events,
}

enum Events {
    /// Events of a file that is one JSON value.
    Whole { events: std::vec::IntoIter<Value>, next: u64 },
    /// Events of a sequence, read on demand.
    Sequence(Records),
}

/// Event in the file's form, with its place.
pub(super) struct RawEvent {
    /// Event, or the reason why it cannot be read.
    pub(super) value: Result<Value, Problem>,
    /// Line number in a sequence; in a whole JSON file the number of the event. Both start at 1.
    place: u64,
}

impl RawTrace {
    /// Returns the next event.
    pub(super) fn next_event(&mut self) -> Result<Option<RawEvent>, Error> {
        match &mut self.events {
            Events::Whole { events, next } => {
                *next += 1;
                let place = *next;
                Ok(events.next().map(|value| RawEvent { value: Ok(value), place }))
            }
            Events::Sequence(records) => {
                let Some(event) = records.next_record(&mut self.notes)? else { return Ok(None) };
                if event.value.as_ref().is_ok_and(|value| value.get("trace").is_some() && is_header(value)) {
                    let line = event.place;
                    self.notes.push(format!("another qlog begins in line {line}: what follows is left out"));
                    return Ok(None);
                }
                Ok(Some(event))
            }
        }
    }

    /// Returns the place of an event in this trace, for messages.
    pub(super) fn place(&self, event: &RawEvent) -> String {
        match self.events {
            Events::Whole { .. } => format!("event {} of trace {}", event.place, self.number),
            Events::Sequence(_) => format!("line {}", event.place),
        }
    }
}

/// Opens the traces of a qlog file: one in a sequence, any number in a JSON file.
///
/// Reads a truncated file up to its last complete event. Leaves out traces that only contain a reason for their
/// absence.
///
/// # Errors
///
/// Returns an error if the file cannot be read, has no complete beginning, or is no qlog.
pub(super) fn open_traces(path: &Path) -> Result<RawFile, Error> {
    let log = path.display().to_string();
    let unreadable = |error| Error::io(path, "read", error);
    let mut input: Input = BufReader::new(compressed::open(path)?);
    if input.fill_buf().map_err(unreadable)?.starts_with(BYTE_ORDER_MARK) {
        input.consume(BYTE_ORDER_MARK.len());
    }
    let first = input.fill_buf().map_err(unreadable)?;
    if UTF_16.iter().any(|mark| first.starts_with(mark)) {
        let problem = "is text in UTF-16: allowed is UTF-8, which `iconv -f UTF-16 -t UTF-8` makes of it";
        return Err(Error::log(&log, problem));
    }
    match first.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(&RECORD_SEPARATOR) => open_sequence(Records::new(log, input, RECORD_SEPARATOR)),
        Some(b'{') => {
            let mut line = Vec::new();
            input.by_ref().take(MAX_RECORD_BYTES).read_until(b'\n', &mut line).map_err(unreadable)?;
            let is_sequence = is_line_of_sequence(&line);
            let input: Input = BufReader::new(Box::new(Cursor::new(line).chain(input)));
            if is_sequence {
                open_sequence(Records::new(log, input, b'\n'))
            } else {
                open_whole(&log, path, input)
            }
        }
        Some(_) => {
            Err(Error::log(&log, "is no qlog: it begins with neither a JSON object nor a record separator"))
        }
        None => Err(Error::log(&log, "is empty")),
    }
}

/// Returns true if the file consists of lines of JSON: its first line is a complete header of a single trace.
fn is_line_of_sequence(line: &[u8]) -> bool {
    Counts::of(line).check(MAX_RECORD).is_ok()
        && serde_json::from_slice::<Value>(line).is_ok_and(|header| header.get("trace").is_some())
}

fn open_sequence(mut records: Records) -> Result<RawFile, Error> {
    let mut notes = Vec::new();
    let Some(RawEvent { value, place }) = records.next_record(&mut notes)? else {
        let problem =
            if notes.is_empty() { "is empty" } else { "is cut off in its header: nothing to import" };
        return Err(Error::log(&records.log, problem));
    };
    let header = value.map_err(|problem| Error::line(&records.log, place, &records.record, problem))?;
    let refuse = |problem| Error::line(&records.log, place, header.to_string().as_bytes(), problem);
    check_header(&header).map_err(refuse)?;
    let Some(Value::Object(info)) = header.get("trace") else {
        return Err(refuse("has no object `trace`"));
    };
    let log = records.log.clone();
    let title = title_of(&[info.get("title"), header.get("title")]);
    let info = info.clone();
    let trace = RawTrace { log, number: 1, title, info, notes, events: Events::Sequence(records) };
    Ok(RawFile { traces: vec![trace], notes: Vec::new() })
}

fn open_whole(log: &str, path: &Path, mut input: Input) -> Result<RawFile, Error> {
    let mut text = Vec::new();
    input
        .by_ref()
        .take(MAX_WHOLE_BYTES + 1)
        .read_to_end(&mut text)
        .map_err(|e| Error::io(path, "read", e))?;
    if text.len() as u64 > MAX_WHOLE_BYTES {
        let most = MAX_WHOLE_BYTES >> 20;
        let problem = format!(
            "is one JSON object of more than {most} MiB: a sequence of records (JSON-SEQ) may be longer"
        );
        return Err(Error::log(log, problem));
    }
    Counts::of(&text).check(MAX_WHOLE).map_err(|problem| Error::log(log, problem))?;
    let mut notes = Vec::new();
    let (content, zeros) = without_padding(&text);
    notes.extend(padding(zeros));
    let (mut file, is_cut) = whole_value(log, content, &mut notes)?;
    drop(text);
    check_header(&file).map_err(|problem| Error::log(log, problem))?;
    let file_title = file.get("title").cloned();
    let Some(Value::Array(traces)) = file.get_mut("traces").map(Value::take) else {
        return Err(Error::log(log, "has no list `traces`"));
    };
    let mut raw_traces = Vec::new();
    let last = traces.len();
    for (index, trace) in traces.into_iter().enumerate() {
        let number = index + 1;
        let mut leave_out = |problem: &str| notes.push(format!("trace {number} is left out: {problem}"));
        let Value::Object(mut info) = trace else {
            leave_out("it is no object");
            continue;
        };
        if let Some(reason) = info.get("error_description") {
            leave_out(&format!("the file says {}", reason.to_string().chars().take(80).collect::<String>()));
            continue;
        }
        let Some(Value::Array(events)) = info.remove("events") else {
            leave_out("it has no list `events`");
            continue;
        };
        let title = title_of(&[info.get("title"), file_title.as_ref()]);
        let mut notes = Vec::new();
        if is_cut && number == last {
            notes.push(format!("the file is cut off: read are the {} events before", events.len()));
        }
        let events = Events::Whole { events: events.into_iter(), next: 0 };
        raw_traces.push(RawTrace { log: log.to_owned(), number, title, info, notes, events });
    }
    if raw_traces.is_empty() {
        let why = if notes.is_empty() { String::new() } else { format!(": {}", notes.join("; ")) };
        return Err(Error::log(log, format!("has no trace{why}")));
    }
    Ok(RawFile { traces: raw_traces, notes })
}

/// Returns the JSON value of a file, and true if the file is truncated. A note mentions text after the value.
fn whole_value(log: &str, text: &[u8], notes: &mut Vec<String>) -> Result<(Value, bool), Error> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let value = values.next().unwrap_or(Ok(Value::Null));
    let read = values.byte_offset();
    match value {
        Ok(value) => {
            if !text[read..].trim_ascii().is_empty() {
                let line = text[..read].split(|&byte| byte == b'\n').count();
                notes.push(format!("what follows the first JSON value, from line {line} on, is left out"));
            }
            Ok((value, false))
        }
        Err(error) => {
            let repaired = error.is_eof().then(|| up_to_last_event(text)).flatten();
            if let Some(Ok(value)) = repaired.map(|text| serde_json::from_slice(&text)) {
                return Ok((value, true));
            }
            let line = text.split(|&byte| byte == b'\n').nth(error.line().saturating_sub(1));
            Err(Error::line(log, error.line() as u64, line.unwrap_or_default(), invalid(&error)))
        }
    }
}

/// Returns the beginning of a truncated text up to the last complete event, with the closing brackets.
fn up_to_last_event(text: &[u8]) -> Option<Vec<u8>> {
    // Events are in the list of a trace, which is in the list of the file.
    const AROUND_EVENTS: &[u8] = b"{[{[";
    let mut open = Vec::new();
    let (mut is_quoted, mut is_escaped) = (false, false);
    let mut end = None;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'{' | b'[' => open.push(byte),
            b'}' | b']' => {
                open.pop();
                if open == AROUND_EVENTS {
                    end = Some(at + 1);
                }
            }
            _ => {}
        }
    }
    end.map(|end| [&text[..end], b"]}]}"].concat())
}

fn padding(zeros: usize) -> Option<String> {
    (zeros > 0).then(|| format!("{zeros} zero bytes are left out, with which the file is padded"))
}

/// Returns the text without white space and without padding zeros, and the number of zeros. Files can have such zeros
/// after a crash.
fn without_padding(text: &[u8]) -> (&[u8], usize) {
    let is_content = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
    let first = text.iter().position(is_content).unwrap_or(text.len());
    let last = text.iter().rposition(is_content).map_or(first, |at| at + 1);
    let zeros = |part: &[u8]| part.iter().map(|&byte| usize::from(byte == 0)).sum::<usize>();
    (&text[first..last], zeros(&text[..first]) + zeros(&text[last..]))
}

/// Checks that a header names its version in one of two ways.
fn check_header(header: &Value) -> Result<(), &'static str> {
    if is_header(header) {
        Ok(())
    } else {
        Err("is no qlog: it has neither `qlog_version` nor `file_schema`")
    }
}

fn is_header(value: &Value) -> bool {
    ["qlog_version", "file_schema"].iter().any(|key| value[key].is_string())
}

fn title_of(candidates: &[Option<&Value>]) -> String {
    let title = candidates.iter().flatten().find_map(|title| title.as_str().filter(|text| !text.is_empty()));
    title.unwrap_or_default().to_owned()
}

/// Returns the library's message without its position, which counts within the record.
fn invalid(error: &serde_json::Error) -> Problem {
    let text = error.to_string();
    Problem::Invalid(text.split(" at line ").next().unwrap_or_default().to_owned())
}

/// Upper bounds of the objects and values in a JSON text.
///
/// Brackets and commas are counted, also within quotes.
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

    fn check(self, most: Self) -> Result<(), Problem> {
        let (Self { objects, values }, Self { objects: most_objects, values: most_values }) = (self, most);
        if objects > most_objects || values > most_values {
            return Err(Problem::TooLarge { objects, values, most_objects, most_values });
        }
        Ok(())
    }
}

/// Reader of JSON values with a separator.
struct Records {
    log: String,
    input: Input,
    separator: u8,
    /// Line number at which the next record begins.
    line: u64,
    record: Vec<u8>,
    /// Number of padding zeros between records so far.
    zeros: usize,
}

impl Records {
    fn new(log: String, input: Input, separator: u8) -> Self {
        Self { log, input, separator, line: 1, record: Vec::new(), zeros: 0 }
    }

    /// Returns the next value with its line number. Returns `None` at a truncated last record, which a note mentions.
    fn next_record(&mut self, notes: &mut Vec<String>) -> Result<Option<RawEvent>, Error> {
        loop {
            self.record.clear();
            let mut input = self.input.by_ref().take(MAX_RECORD_BYTES + 1);
            let read = input.read_until(self.separator, &mut self.record);
            let read = read.map_err(|e| Error::io(Path::new(&self.log), "read", e))?;
            if read == 0 {
                notes.extend(padding(self.zeros));
                return Ok(None);
            }
            if read as u64 > MAX_RECORD_BYTES {
                let problem = format!("is a record of more than {} MiB", MAX_RECORD_BYTES >> 20);
                return Err(Error::line(&self.log, self.line, &self.record, problem));
            }
            let line = self.line;
            self.line += self.record.split(|&byte| byte == b'\n').count() as u64 - 1;
            let is_last = self.record.last() != Some(&self.separator);
            let record = self.record.strip_suffix(&[self.separator]).unwrap_or(&self.record);
            let (text, zeros) = without_padding(record);
            self.zeros += zeros;
            if text.is_empty() {
                continue;
            }
            if let Err(problem) = Counts::of(text).check(MAX_RECORD) {
                return Err(Error::line(&self.log, line, text, problem));
            }
            return match serde_json::from_slice(text) {
                Ok(value) => Ok(Some(RawEvent { value: Ok(value), place: line })),
                Err(error) if is_last && error.is_eof() => {
                    notes.push(format!("the file is cut off in line {line}: read is what stands before"));
                    notes.extend(padding(self.zeros));
                    Ok(None)
                }
                Err(error) => {
                    let place = line + (error.line() as u64).saturating_sub(1);
                    Ok(Some(RawEvent { value: Err(invalid(&error)), place }))
                }
            };
        }
    }
}
