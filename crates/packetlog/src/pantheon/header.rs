//! Headers of logs with their times.

use super::lines::{Fields, Lines};
use super::loose;
use super::oddities::Kind;
use crate::Error;

pub(super) const TIMESTAMP: &str = "expected a time in ms (whole or up to 3 decimals) after the last ':'";

/// Reads the comment lines at the start of a merged or mm-link log. Also returns the init timestamp, us since 1970.
pub(super) fn read_header(mut lines: Lines) -> Result<(Lines, Option<u64>), Error> {
    let mut init_us = None;
    if !lines.next_line()? {
        return Err(lines.unusable("is empty"));
    }
    while lines.next_line()? && lines.at_comment() {
        if init_us.is_none() {
            init_us = init_timestamp(&mut lines)?;
        }
        lines.skip();
    }
    Ok((lines, init_us))
}

/// Returns the time in a comment line `# init timestamp: TIME_MS`, us; `None` for other comments.
fn init_timestamp(lines: &mut Lines) -> Result<Option<u64>, Error> {
    const MARK: &[u8] = b"# init timestamp:";
    let Some(stamp) = lines.text().trim_ascii_start().strip_prefix(MARK) else { return Ok(None) };
    match parse_timestamp(stamp) {
        Some(us) => Ok(Some(us)),
        None if lines.is_strict() => Err(lines.malformed(TIMESTAMP)),
        None => {
            let us = loose::timestamp(stamp);
            lines.note_next(Kind::Notation);
            Ok(us)
        }
    }
}

/// Parses milliseconds with optional surrounding blanks. Returns microseconds.
pub(super) fn parse_timestamp(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let mut fields = Fields::new(text);
    let us = fields.ms_as_us()?;
    fields.all_read().then_some(us)
}
