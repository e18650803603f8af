//! Merged tunnel logs: what Pantheon's users call "datalink log" and "acklink log"
//! (StanfordSNR/pantheon@23e738c, `src/experiments/merge_tunnel_logs.py`).

use super::lines::{Fields, Lines};
use super::{Direction, Input, Source, read_header};
use crate::Error;
use record::Record;

const TIME: &str = "expected a time in ms (whole or up to 3 decimals, not negative) at the start";
const BACKWARDS: &str = "expected a time not before that of the line above";
const EVENT: &str = "expected '+', '-' or '#' as second field";
const SIZE: &str = "expected a size in bytes (0 to 4294967295) as third field";
const DELAY: &str = "expected a delay in ms (up to 3 decimals) as fourth field of a '-' line";
const FLOW: &str = "expected the line's end or a flow number (0 to 4294967295) as last field";
const END: &str = "expected the end of the line";
const NO_EVENTS: &str = "has a header but no events (the mark of a failed run)";

/// A merged log, read line by line.
pub(super) struct MergedLog {
    lines: Lines,
    direction: Direction,
    init_us: Option<u64>,
    last_us: u64,
    empty: bool,
}

impl MergedLog {
    /// Reads the header.
    pub(super) fn open(input: Input, direction: Direction) -> Result<Self, Error> {
        let (lines, init_us) = read_header(input)?;
        Ok(Self { lines, direction, init_us, last_us: 0, empty: true })
    }

    #[cold]
    fn at_end(&self) -> Result<Option<Record>, Error> {
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

    fn line(&self) -> u64 {
        self.lines.number()
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Record>, Error> {
        loop {
            if !self.lines.next_line()? {
                return self.at_end();
            }
            if self.lines.bytes()[0] == b'#' {
                self.lines.skip();
                continue;
            }
            match event_line(self.lines.bytes(), self.direction, self.last_us) {
                Ok((record, length)) => {
                    self.lines.consume(length);
                    self.last_us = record.time_ns / 1000;
                    self.empty = false;
                    return Ok(Some(record));
                }
                Err(problem) => return Err(self.lines.malformed(problem)),
            }
        }
    }
}

/// Parses one event line; returns its length too.
#[inline]
fn event_line(bytes: &[u8], direction: Direction, last_us: u64) -> Result<(Record, usize), &'static str> {
    let mut fields = Fields::new(bytes);
    let time_us = fields.ms_as_us().ok_or(TIME)?;
    if time_us < last_us {
        return Err(BACKWARDS);
    }
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

/// The flow number, which untagged logs and opportunities do not have, and the length of the line.
#[inline]
fn flow_and_end(fields: &mut Fields<'_>, sign: u8) -> Result<(u32, usize), &'static str> {
    let before = match sign {
        b'-' => DELAY,
        _ => SIZE,
    };
    if let Some(length) = fields.end() {
        return Ok((0, length));
    }
    // `end` has passed blanks; a digit now starts the flow number, unless it sticks to the field before.
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
