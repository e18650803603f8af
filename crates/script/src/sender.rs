//! Runs of scripts that drive the transport's sender: ACKs are the input, packets the output.

use crate::answers::Fields;
use crate::expect::{Check, FieldValue, look};
use crate::line::{Line, Words};
use crate::script::{MAX_EVENTS, Script};
use crate::values::{Numbers, all_numbers, time_text};
use congestion::Controller;
use core::fmt::Write as _;
use std::collections::{BTreeMap, VecDeque};
use strict_input::Refusal;
use transport::{AckFrame, Application, ApplicationSpec, Arrival, Config, Data, RangeSet, Sender};
use units::Time;

/// End of the flow, after all events.
const STOP: Time = Time::from_ns(u64::MAX / 4);

/// Sent packet with its time.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Time,
    data: Data,
}

impl Departure {
    fn text(&self) -> String {
        let Data { number, offset, payload_bytes, retransmission, .. } = self.data;
        let again = if retransmission { "yes" } else { "no" };
        format!(
            "@{} out {number} offset={offset} bytes={payload_bytes} retransmission={again}",
            time_text(self.at)
        )
    }
}

struct Driver<'a> {
    script: &'a Script,
    sender: Sender,
    now: Time,
    /// Sent packets that no line has named yet.
    departures: VecDeque<Departure>,
    /// All sent packets by number.
    sent: BTreeMap<u64, Departure>,
    /// Acknowledged packets, and acknowledged bytes of the stream.
    acked: RangeSet,
    stream: RangeSet,
    frame: AckFrame,
    checks: Vec<Check>,
}

/// Runs a script. Returns the checked conditions.
pub(crate) fn run(
    script: &Script,
    config: &Config,
    controller: Box<dyn Controller>,
    is_other: bool,
) -> Result<Vec<Check>, Refusal> {
    let application =
        Application::new(application_spec(script)?, Time::ZERO, config.payload_bytes, script.seed);
    let sender =
        Sender::new(config, controller, application, Time::ZERO, STOP).with_seed(config, script.seed);
    let mut driver = Driver {
        script,
        sender,
        now: Time::ZERO,
        departures: VecDeque::new(),
        sent: BTreeMap::new(),
        acked: RangeSet::default(),
        stream: RangeSet::default(),
        frame: AckFrame::default(),
        checks: Vec::new(),
    };
    for line in &script.lines {
        match line {
            Line::Event(words) => driver.event(words.clone())?,
            Line::Expect { number, conditions, source } => {
                let mut fields = Fields::default();
                driver.sender.all_fields(&mut fields);
                let timer = driver.sender.next_timer();
                let value = if timer.is_finite() { timer.as_secs_f64() } else { f64::INFINITY };
                fields.0.push(FieldValue { name: "timer".to_owned(), unit: "s".to_owned(), value });
                let find = |key: &str| fields.find(key);
                let place = (*number, driver.now, source.as_str());
                look(place, conditions, is_other, find, &mut driver.checks)?;
            }
            Line::KnownFailure { .. } => {}
        }
    }
    driver.refuse_departed(script.lines.last().map_or(1, Line::number));
    Ok(driver.checks)
}

/// Returns the application that the lines `write` describe; without such lines it always has data.
fn application_spec(script: &Script) -> Result<ApplicationSpec, Refusal> {
    let mut writes = Vec::new();
    for line in &script.lines {
        let Line::Event(words) = line else { continue };
        if words.name == "write" {
            let mut words = words.clone();
            let bytes = words.whole("bytes")?.ok_or_else(|| words.refusal("`write` needs `bytes`"))?;
            words.end(&["bytes"])?;
            writes.push(((words.at - Time::ZERO).as_ms_f64(), bytes));
        }
    }
    let application =
        if writes.is_empty() { ApplicationSpec::Greedy } else { ApplicationSpec::Trace { writes } };
    application.validate()?;
    Ok(application)
}

impl Driver<'_> {
    fn event(&mut self, mut words: Words) -> Result<(), Refusal> {
        let numbers = std::mem::take(&mut words.packets);
        match words.name.as_str() {
            "write" => self.advance(&words, words.at),
            "out" => self.out(&mut words, &numbers),
            "skip" => {
                words.end(&[])?;
                self.advance(&words, words.at)?;
                self.departures.clear();
                Ok(())
            }
            "wait" => {
                words.end(&[])?;
                self.advance(&words, words.at)
            }
            "ack" => {
                if words.at > Time::ZERO {
                    self.advance(&words, Time::from_ns(words.at.as_ns() - 1))?;
                }
                self.refuse_early(&words);
                self.ack(&mut words, &numbers)
            }
            name => {
                Err(words.refusal(format!("unknown event `{name}`: expected write, ack, out, wait or skip")))
            }
        }
    }

    /// Advances time: timers expire, packets leave.
    fn advance(&mut self, words: &Words, until: Time) -> Result<(), Refusal> {
        let mut steps = 0;
        loop {
            let next = self.sender.next_timer().max(self.now);
            if next > until {
                self.now = self.now.max(until);
                return Ok(());
            }
            self.now = next;
            self.sender.on_timer(next);
            self.poll(words)?;
            steps += 1;
            if steps > MAX_EVENTS {
                return Err(words.refusal(format!("more than {MAX_EVENTS} timers expire before this line")));
            }
        }
    }

    fn poll(&mut self, words: &Words) -> Result<(), Refusal> {
        let mut data = Data::default();
        while self.sender.poll_transmit(self.now, &mut data) {
            let departure = Departure { at: self.now, data };
            self.departures.push_back(departure);
            self.sent.insert(data.number, departure);
            if self.sent.len() > MAX_EVENTS {
                return Err(words.refusal(format!("more than {MAX_EVENTS} packets leave before this line")));
            }
        }
        Ok(())
    }

    /// Adds failures for packets that left before an input by more than the tolerance and that no line names.
    fn refuse_early(&mut self, words: &Words) {
        let is_early = |departure: &Departure| departure.at + self.script.tolerance < words.at;
        let count = self.departures.iter().take_while(|departure| is_early(departure)).count();
        let later = self.departures.split_off(count);
        self.refuse_departed(words.number);
        self.departures = later;
    }

    /// Adds failures for packets that left and that no line names.
    fn refuse_departed(&mut self, line: usize) {
        for departure in self.departures.drain(..) {
            self.checks.push(Check {
                line,
                at: departure.at,
                condition: "no other packet leaves before this line".to_owned(),
                value_text: departure.text(),
                holds: Some(false),
                ..Check::default()
            });
        }
    }

    /// Checks packets that must leave at a time.
    fn out(&mut self, words: &mut Words, numbers: &Numbers) -> Result<(), Refusal> {
        if numbers.is_empty() {
            return Err(words.refusal("`out` needs packets, for example `0..9`"));
        }
        self.advance(words, words.at)?;
        let (mut offset, bytes) = (words.whole("offset")?, words.size("bytes")?);
        let retransmission = words.flag("retransmission")?;
        words.end(&["offset", "bytes", "retransmission"])?;
        for number in all_numbers(numbers) {
            if self.departures.is_empty() {
                self.advance(words, words.at + self.script.tolerance)?;
            }
            let departure = self.departures.pop_front();
            let late = |at: Time| at.max(words.at).since(at.min(words.at)) > self.script.tolerance;
            let holds = departure.is_some_and(|Departure { at, data }| {
                !late(at)
                    && data.number == number
                    && offset.is_none_or(|offset| offset == data.offset)
                    && bytes.is_none_or(|bytes| bytes == data.payload_bytes)
                    && retransmission.is_none_or(|again| again == data.retransmission)
            });
            let mut condition = format!("@{} out {number}", time_text(words.at));
            if let Some(offset) = &mut offset {
                let _ = write!(condition, " offset={offset}");
                *offset += u64::from(bytes.unwrap_or(self.script.mss_bytes));
            }
            if let Some(bytes) = bytes {
                let _ = write!(condition, " bytes={bytes}");
            }
            if let Some(again) = retransmission {
                condition += if again { " retransmission=yes" } else { " retransmission=no" };
            }
            let value_text =
                departure.map_or_else(|| "no packet leaves".to_owned(), |departure| departure.text());
            let (line, at, source) = (words.number, words.at, words.source().to_owned());
            self.checks.push(Check {
                line,
                at,
                condition,
                value_text,
                holds: Some(holds),
                source,
                known_reason: None,
            });
        }
        Ok(())
    }

    /// Adds an ACK: of packets by number, or of bytes as in TCP.
    fn ack(&mut self, words: &mut Words, numbers: &Numbers) -> Result<(), Refusal> {
        let next = words.whole("next")?;
        let mut newly: Vec<u64> = all_numbers(numbers).collect();
        if let Some(number) = newly.iter().find(|number| !self.sent.contains_key(number)) {
            return Err(words.refusal(format!("packet {number} has not left")));
        }
        // The bytes belong to the latest packet that carried them.
        let mut ranges: Vec<(u64, u64)> = words.numbers("sack")?.unwrap_or_default();
        for (_, last) in &mut ranges {
            *last += 1;
        }
        if let Some(next) = next.filter(|next| *next > 0) {
            ranges.push((0, next));
        }
        let mut latest = BTreeMap::new();
        for (number, Departure { data, .. }) in self.sent.iter().filter(|_| !ranges.is_empty()) {
            latest.insert(data.offset, (*number, data.offset + u64::from(data.payload_bytes)));
        }
        for (start, end) in ranges {
            let covered = latest.range(start..end).filter(|(_, (_, last))| *last <= end);
            newly.extend(covered.map(|(_, (number, _))| *number));
        }
        newly.sort_unstable();
        newly.dedup();
        newly.retain(|number| !self.acked.contains(*number));
        // Waiting for a packet may have passed this time.
        let now = self.now.max(words.at);
        self.frame.clear();
        for number in newly {
            self.acked.insert(number, number + 1);
            let Departure { at, data } = self.sent[&number];
            self.stream.insert(data.offset, data.offset + u64::from(data.payload_bytes));
            self.frame.arrivals.push(Arrival { number, at: at + (now - at) / 2, ce: false });
        }
        self.frame.largest = self.acked.last().map_or(0, |last| last.end - 1);
        self.frame.ranges.extend(self.acked.descending());
        let complete = self.stream.first().filter(|first| first.start == 0).map_or(0, |first| first.end);
        self.frame.next_offset = next.unwrap_or(complete).max(self.frame.next_offset);
        self.frame.delay = words.span("delay")?.unwrap_or_default();
        self.frame.ecn.ce += words.whole("ce")?.unwrap_or(0).min(1 << 32);
        self.frame.ecn.ect0 += words.whole("ect0")?.unwrap_or(0).min(1 << 32);
        self.frame.ecn.ect1 += words.whole("ect1")?.unwrap_or(0).min(1 << 32);
        words.end(&["next", "sack", "delay", "ce", "ect0", "ect1"])?;
        self.now = now;
        self.sender.on_ack(now, &self.frame);
        self.frame.number += 1;
        self.poll(words)
    }
}
