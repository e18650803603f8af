//! Merged tunnel logs, which Pantheon's users call "datalink log" and "acklink log" (StanfordSNR/pantheon@23e738c,
//! `src/experiments/merge_tunnel_logs.py`).

#![expect(clippy::inline_always, reason = "measured: `MergedLog::read`")]

use super::direction::Direction;
use super::header::read_header;
use super::input::Input;
use super::lines::{BACKWARDS, CUT_OFF, Fields, Lines};
use super::oddities::{Kind, Oddity};
use super::source::Source;
use super::{ending, loose};
use crate::{Error, STEP_BACK_NS};
use record::Record;
use std::collections::VecDeque;

/// Maximum number of records that are searched for times before the log's zero.
const AHEAD_RECORDS: usize = 1 << 20;

const TIME: &str = "expected a time in ms (whole or up to 3 decimals, not negative) at the start";
const FAR_BELOW: &str = "expected no time before the log's zero so far into the log";
const EVENT: &str = "expected '+', '-' or '#' as second field";
const SIZE: &str = "expected a size in bytes (0 to 4294967295) as third field";
const DELAY: &str = "expected a delay in ms (up to 3 decimals) as fourth field of a '-' line";
const FLOW: &str = "expected the line's end or a flow number (0 to 4294967295) as last field";
const END: &str = "expected the end of the line";
const NO_EVENTS: &str = "has a header but no events (the mark of a failed run)";

/// Merged log, read line by line.
pub(super) struct MergedLog {
    lines: Lines,
    direction: Direction,
    init_us: Option<u64>,
    /// Offset of the log's times that makes all of them nonnegative, ns.
    zero_ns: u64,
    empty: bool,
    seen: ending::Lines,
    /// Records that were read in advance.
    ahead: VecDeque<(i64, Record)>,
}

impl MergedLog {
    /// Opens a log and reads the header.
    pub(super) fn open(input: Input, direction: Direction) -> Result<Self, Error> {
        let mut lines = Lines::new(input);
        lines.take_unterminated();
        let (lines, init_us) = read_header(lines)?;
        let seen = ending::Lines::default();
        let ahead = VecDeque::new();
        let mut log = Self { lines, direction, init_us, zero_ns: 0, empty: true, seen, ahead };
        if !log.lines.is_strict() {
            log.find_zero()?;
        }
        Ok(log)
    }

    /// Reads on until no later line can have a negative time. Then moves the zero so that no time is negative. A line
    /// is at most one backward step earlier than the latest line before it.
    fn find_zero(&mut self) -> Result<(), Error> {
        let mut earliest_ns = 0;
        while self.lines.latest_ns() < STEP_BACK_NS as i64 && self.ahead.len() < AHEAD_RECORDS {
            let Some((at_ns, record)) = self.read()? else { break };
            earliest_ns = earliest_ns.min(at_ns);
            self.ahead.push_back((at_ns, record));
        }
        self.zero_ns = earliest_ns.unsigned_abs();
        if self.zero_ns > 0 {
            // Whole microseconds, since the start of the time axis moves by the same amount.
            self.zero_ns = self.zero_ns.next_multiple_of(1_000);
            let zero_us = self.zero_ns / 1_000;
            if self.init_us.is_some_and(|init_us| init_us < zero_us) {
                return Err(self.lines.unusable("starts before 1970"));
            }
            self.init_us = self.init_us.map(|init_us| init_us - zero_us);
        }
        Ok(())
    }

    /// Returns the next event in the order of the lines, with its time by the log's own zero, ns.
    ///
    /// The function is inlined into the loop over the lines (`inline(always)`, here and below), and rare cases return
    /// early. Thus the fields of an event stay in registers until the sink gets them. Passing them through memory made
    /// an import 1.2 times as long.
    #[inline(always)]
    fn read(&mut self) -> Result<Option<(i64, Record)>, Error> {
        loop {
            if !self.lines.next_line()? {
                return self.at_end();
            }
            if self.lines.at_comment() {
                self.lines.skip();
                continue;
            }
            let (record, length) = match event_line(self.lines.bytes(), self.direction) {
                Ok(line) => line,
                Err(problem) => return self.loose(problem).map(Some),
            };
            let at_ns = record.time_ns as i64;
            self.lines.check_time(at_ns, BACKWARDS)?;
            self.check_end(&record)?;
            self.lines.consume(length);
            self.take_in(at_ns, &record);
            return Ok(Some((at_ns, record)));
        }
    }

    /// Records the event of the last consumed line.
    #[inline]
    fn take_in(&mut self, at_ns: i64, record: &Record) {
        self.lines.pass_time(at_ns);
        self.seen.add(record, self.direction);
        self.empty = false;
    }

    /// Handles a line that Pantheon would not write; `problem` is the message of the strict parser.
    #[cold]
    fn loose(&mut self, problem: &'static str) -> Result<(i64, Record), Error> {
        let found = (!self.lines.is_strict()).then(|| loose::event_line(self.lines.text(), self.direction));
        let Some(line) = found.flatten() else {
            return Err(self.lines.malformed(if self.lines.at_unterminated() { CUT_OFF } else { problem }));
        };
        self.lines.check_time(line.at_ns, BACKWARDS)?;
        self.check_end(&line.record)?;
        self.lines.skip();
        if line.at_ns < 0 {
            self.lines.note(Kind::Negative, line.at_ns.unsigned_abs());
        }
        for kind in line.odd {
            self.lines.note(kind, 0);
        }
        self.take_in(line.at_ns, &line.record);
        Ok((line.at_ns, line.record))
    }

    /// Refuses a last line without a newline if it may be truncated.
    #[inline]
    fn check_end(&mut self, record: &Record) -> Result<(), Error> {
        if !self.lines.at_unterminated() {
            return Ok(());
        }
        if !self.seen.has_like(record, self.lines.text(), self.direction) {
            return Err(self.lines.malformed(CUT_OFF));
        }
        self.lines.note_next(Kind::Unterminated);
        Ok(())
    }

    /// Returns an event with its time by the moved zero.
    #[inline]
    fn counted_from_zero(&self, (at_ns, mut record): (i64, Record)) -> Result<Record, Error> {
        match u64::try_from(at_ns.saturating_add_unsigned(self.zero_ns)) {
            Ok(time_ns) => record.time_ns = time_ns,
            Err(_) => return Err(self.lines.unusable_here(FAR_BELOW)),
        }
        Ok(record)
    }

    #[cold]
    fn at_end(&self) -> Result<Option<(i64, Record)>, Error> {
        if self.empty { Err(self.lines.unusable(NO_EVENTS)) } else { Ok(None) }
    }
}

impl Source for MergedLog {
    fn name(&self) -> &str {
        self.lines.name()
    }

    fn init_us(&self) -> Option<u64> {
        self.init_us
    }

    fn zero_ns(&self) -> u64 {
        self.zero_ns
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }

    fn oddities(&self) -> Vec<Oddity> {
        self.lines.oddities()
    }

    #[inline(always)]
    fn next(&mut self) -> Result<Option<Record>, Error> {
        if let Some(ahead) = self.ahead.pop_front() {
            return self.counted_from_zero(ahead).map(Some);
        }
        match self.read()? {
            Some(event) => self.counted_from_zero(event).map(Some),
            None => Ok(None),
        }
    }
}

/// Parses one event line. Also returns its length.
#[inline(always)]
fn event_line(bytes: &[u8], direction: Direction) -> Result<(Record, usize), &'static str> {
    let mut fields = Fields::new(bytes);
    let time_us = fields.ms_as_us().ok_or(TIME)?;
    if !fields.blank() {
        return Err(TIME);
    }
    let sign = fields.peek();
    if !matches!(sign, b'+' | b'-' | b'#') {
        return Err(EVENT);
    }
    fields.byte(sign);
    if !fields.blank() {
        return Err(EVENT);
    }
    let size_bytes = fields.size().ok_or(SIZE)?;
    let event = match sign {
        b'+' => direction.send(),
        b'-' => direction.deliver(),
        _ => direction.opportunity(),
    };
    let mut delay_us = 0;
    if sign == b'-' {
        if !fields.blank() {
            return Err(if fields.end().is_some() { DELAY } else { SIZE });
        }
        delay_us = fields.signed_ms_as_us().ok_or(DELAY)?;
    }
    let (flow, length) = flow_and_end(&mut fields, sign)?;
    let (time_ns, one_way_delay_ns) = (time_us * 1000, delay_us * 1000);
    Ok((Record { time_ns, flow, event, seq: 0, size_bytes, data_bytes: 0, one_way_delay_ns }, length))
}

/// Returns the flow number, which untagged logs and opportunities lack, and the length of the line.
#[inline(always)]
fn flow_and_end(fields: &mut Fields<'_>, sign: u8) -> Result<(u32, usize), &'static str> {
    let before = match sign {
        b'-' => DELAY,
        _ => SIZE,
    };
    if let Some(length) = fields.end() {
        return Ok((0, length));
    }
    // `end` has passed blanks. A digit now starts the flow number, unless no blank separates it from the field before.
    if !fields.after_blank() {
        return Err(before);
    }
    if sign == b'#' {
        return Err(END);
    }
    let flow = fields.size().ok_or(FLOW)?;
    let length = fields.end().ok_or(FLOW)?;
    Ok((flow, length))
}
