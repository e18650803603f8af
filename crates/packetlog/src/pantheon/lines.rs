//! Lines of a text log in a large buffer, and their fields, without an allocation per line.

use super::input::Input;
use super::oddities::{Kind, Oddities, Oddity};
use super::source::LONGEST_NS;
use crate::{Error, STEP_BACK_NS};
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// Read buffer and maximum length of a line, bytes.
const BUFFER_BYTES: usize = 256 * 1024;

/// Number of bytes of a log per work step: the length of the shortest lines.
const BYTES_PER_STEP: usize = 8;

/// Maximum time or delay, ms: the year 2096 for times since 1970. Sums of four such times fit into 64 bits as ns.
pub(super) const MAX_MS: u64 = 4_000_000_000_000;

/// Byte order mark, which some editors write before a text.
const MARK: &[u8] = b"\xef\xbb\xbf";

const TOO_LONG: &str = "expected a time of at most 1000000 s after the log's zero";
const FAR_BACK: &str = "expected a time at most 1 s before that of a line above";
pub(super) const BACKWARDS: &str = "expected a time not before that of the line above";
pub(super) const CUT_OFF: &str = "the log is cut off: its last line has no newline";

/// Lines of one log. After [`Lines::next_line`], the bytes always contain a newline, so parsing needs one pass.
pub(super) struct Lines {
    input: Input,
    buffer: Vec<u8>,
    /// Start of the next line.
    next: usize,
    /// End of the last complete line in the buffer.
    complete: usize,
    /// End of the bytes read so far.
    filled: usize,
    /// Number of consumed lines.
    number: u64,
    /// Latest time so far by the log's own zero, ns.
    latest_ns: i64,
    oddities: Oddities,
    /// True if the last line may lack its newline.
    may_be_unterminated: bool,
    unterminated: bool,
}

impl Lines {
    pub(super) fn new(input: Input) -> Self {
        Self {
            input,
            buffer: vec![0; BUFFER_BYTES],
            next: 0,
            complete: 0,
            filled: 0,
            number: 0,
            latest_ns: i64::MIN,
            oddities: Oddities::default(),
            may_be_unterminated: false,
            unterminated: false,
        }
    }

    /// Allows a last line without a newline. The caller must check that the line is complete.
    pub(super) fn take_unterminated(&mut self) {
        self.may_be_unterminated = !self.is_strict();
    }

    /// Returns true if only lines as Pantheon writes them are allowed.
    pub(super) fn is_strict(&self) -> bool {
        self.input.strict
    }

    /// Returns true if the next line is a last line without a newline.
    #[inline]
    pub(super) fn at_unterminated(&self) -> bool {
        self.unterminated && self.next < self.complete
    }

    /// Records an oddity of the next line.
    pub(super) fn note_next(&mut self, kind: Kind) {
        self.oddities.note(kind, self.number + 1, 0);
    }

    /// Returns the latest time so far by the log's own zero, ns.
    pub(super) fn latest_ns(&self) -> i64 {
        self.latest_ns
    }

    /// Checks the time `at_ns` of the next line: its backward step and its distance from zero. `backwards` is the
    /// message if times must not step back.
    #[inline]
    pub(super) fn check_time(&self, at_ns: i64, backwards: &'static str) -> Result<(), Error> {
        let is_back = at_ns < self.latest_ns;
        if at_ns.unsigned_abs() > LONGEST_NS {
            Err(self.malformed(TOO_LONG))
        } else if is_back && self.is_strict() {
            Err(self.malformed(backwards))
        } else if is_back && self.latest_ns.abs_diff(at_ns) > STEP_BACK_NS {
            Err(self.malformed(FAR_BACK))
        } else {
            Ok(())
        }
    }

    /// Updates the latest time with the last consumed line.
    #[inline]
    pub(super) fn pass_time(&mut self, at_ns: i64) {
        if at_ns < self.latest_ns {
            self.note(Kind::StepBack, self.latest_ns.abs_diff(at_ns));
        }
        self.latest_ns = self.latest_ns.max(at_ns);
    }

    /// Records an oddity of the last consumed line.
    pub(super) fn note(&mut self, kind: Kind, size_ns: u64) {
        self.oddities.note(kind, self.number, size_ns);
    }

    pub(super) fn oddities(&self) -> Vec<Oddity> {
        self.oddities.list(self.name())
    }

    pub(super) fn name(&self) -> &str {
        &self.input.name
    }

    /// Returns the number of consumed lines.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Ensures that a complete line is next. Returns false at the end of the log.
    #[inline]
    pub(super) fn next_line(&mut self) -> Result<bool, Error> {
        if self.next < self.complete { Ok(true) } else { self.refill() }
    }

    /// Returns the bytes from the start of the next line to the end of the last complete one.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.next..self.complete]
    }

    /// Skips the next line, which has `length` bytes with its newline.
    #[inline]
    pub(super) fn consume(&mut self, length: usize) {
        self.next += length;
        self.number += 1;
    }

    /// Returns the next line without its newline.
    pub(super) fn text(&self) -> &[u8] {
        let bytes = self.bytes();
        &bytes[..bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len())]
    }

    /// Returns true if the next line is a comment.
    #[inline]
    pub(super) fn at_comment(&self) -> bool {
        self.bytes()[0] == b'#'
            || (!self.is_strict() && self.bytes()[0] == b' ' && self.text().trim_ascii().starts_with(b"#"))
    }

    /// Skips the next line of any length.
    pub(super) fn skip(&mut self) {
        self.consume(self.text().len() + 1);
    }

    /// Returns an error for the next line, which breaks the grammar.
    #[cold]
    pub(super) fn malformed(&self, problem: impl Into<Cow<'static, str>>) -> Error {
        Error::line(self.name(), self.number + 1, self.text(), problem)
    }

    /// Returns an error for an unusable log, with the number of the last consumed line.
    #[cold]
    pub(super) fn unusable_here(&self, problem: impl Into<Cow<'static, str>>) -> Error {
        Error::Log { log: self.name().to_owned(), line: Some(self.number), problem: problem.into() }
    }

    /// Returns an error for a log that is unusable as a whole.
    #[cold]
    pub(super) fn unusable(&self, problem: impl Into<Cow<'static, str>>) -> Error {
        Error::log(self.name(), problem)
    }

    #[cold]
    fn refill(&mut self) -> Result<bool, Error> {
        self.buffer.copy_within(self.complete..self.filled, 0);
        self.filled -= self.complete;
        (self.next, self.complete) = (0, 0);
        loop {
            let rest = &self.buffer[..self.filled];
            if self.filled == BUFFER_BYTES {
                let problem = format!("expected a line of at most {BUFFER_BYTES} bytes");
                return Err(Error::line(self.name(), self.number + 1, rest, problem));
            }
            let read = self.read_some()?;
            if read == 0 && self.filled == 0 {
                return Ok(false);
            }
            if read == 0 && self.may_be_unterminated {
                self.buffer[self.filled] = b'\n';
                self.filled += 1;
                self.complete = self.filled;
                self.unterminated = true;
                return Ok(true);
            }
            if read == 0 {
                return Err(Error::line(self.name(), self.number + 1, &self.buffer[..self.filled], CUT_OFF));
            }
            let fresh = &self.buffer[self.filled..self.filled + read];
            if let Some(newline) = fresh.iter().rposition(|&byte| byte == b'\n') {
                self.complete = self.filled + newline + 1;
            }
            self.filled += read;
            if self.complete > 0 {
                self.pass_mark();
                return Ok(true);
            }
        }
    }

    /// Skips a byte order mark at the log's start.
    fn pass_mark(&mut self) {
        if self.number == 0 && !self.is_strict() && self.bytes().starts_with(MARK) {
            self.next += MARK.len();
            self.oddities.note(Kind::Mark, 1, 0);
        }
    }

    fn read_some(&mut self) -> Result<usize, Error> {
        loop {
            match self.input.reader.read(&mut self.buffer[self.filled..]) {
                Ok(read) => {
                    self.input.interrupts.after((read / BYTES_PER_STEP) as u64)?;
                    return Ok(read);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(Path::new(&self.input.name), "read", error)),
            }
        }
    }
}

/// Cursor over the fields of a line. The bytes contain a newline, which only [`Fields::end`] passes.
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(b'\n')
    }

    /// Returns true if nothing is left, not even a newline.
    pub(super) fn all_read(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Reads one byte if it equals `wanted`.
    #[inline]
    pub(super) fn byte(&mut self, wanted: u8) -> bool {
        let found = self.peek() == wanted;
        self.at += usize::from(found);
        found
    }

    /// Reads one or more blanks.
    #[inline]
    pub(super) fn blank(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
        self.at > start
    }

    /// Reads the end of the line: blanks, a carriage return, and the newline. Returns the line's length.
    #[inline]
    pub(super) fn end(&mut self) -> Option<usize> {
        if self.peek() != b'\n' {
            self.blank();
            self.byte(b'\r');
        }
        (self.byte(b'\n')).then_some(self.at)
    }

    /// Returns true if the last byte read is a blank.
    #[inline]
    pub(super) fn after_blank(&self) -> bool {
        self.at > 0 && matches!(self.bytes[self.at - 1], b' ' | b'\t')
    }

    /// Reads an integer up to `max`, followed by any byte that is no digit.
    #[inline]
    pub(super) fn number(&mut self, max: u64) -> Option<u64> {
        let (start, mut value) = (self.at, 0u64);
        loop {
            let digit = self.peek().wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
            self.at += 1;
        }
        (self.at > start && value <= max).then_some(value)
    }

    /// Reads a size in bytes.
    #[inline]
    pub(super) fn size(&mut self) -> Option<u32> {
        self.number(u64::from(u32::MAX)).map(|size| size as u32)
    }

    /// Reads whole milliseconds.
    #[inline]
    pub(super) fn ms(&mut self) -> Option<u64> {
        self.number(MAX_MS)
    }

    /// Reads milliseconds with up to three decimals. Returns microseconds.
    #[inline]
    pub(super) fn ms_as_us(&mut self) -> Option<u64> {
        let whole = self.ms()? * 1000;
        if !self.byte(b'.') {
            return Some(whole);
        }
        let (mut fraction, mut scale) = (0, 1000);
        while scale > 1 {
            let digit = self.peek().wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            scale /= 10;
            fraction += u64::from(digit) * scale;
            self.at += 1;
        }
        (scale < 1000).then_some(whole + fraction)
    }

    /// Reads as [`Fields::ms_as_us`], with an optional minus sign.
    #[inline]
    pub(super) fn signed_ms_as_us(&mut self) -> Option<i64> {
        let negative = self.byte(b'-');
        let us = self.ms_as_us()? as i64;
        Some(if negative { -us } else { us })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> Option<(i64, usize)> {
        let mut fields = Fields::new(text.as_bytes());
        fields.signed_ms_as_us().map(|us| (us, fields.at))
    }

    #[test]
    fn milliseconds_keep_their_microseconds() {
        assert_eq!(ms("5012.318 "), Some((5_012_318, 8)));
        assert_eq!(ms("7\n"), Some((7_000, 1)));
        assert_eq!(ms("0.5 "), Some((500, 3)));
        assert_eq!(ms("-1.034 "), Some((-1_034, 6)));
        assert_eq!(ms("-0.000\n"), Some((0, 6)));
        assert_eq!(ms("4000000000000.999 "), Some((4_000_000_000_000_999, 17)));
    }

    #[test]
    fn what_is_no_number_of_milliseconds_is_refused() {
        for text in [
            "",
            "\n",
            " ",
            "x",
            ".5",
            "5.",
            "5. ",
            "-",
            "+5",
            "--5",
            "nan",
            "4000000000001 ",
            "99999999999999999999",
        ] {
            assert_eq!(ms(text), None, "{text:?}");
        }
        // The fourth decimal remains, and no field may follow without a blank.
        assert_eq!(ms("1.2345"), Some((1_234, 5)));
    }

    #[test]
    fn lines_longer_than_the_buffer_are_refused() {
        let log = vec![b'7'; BUFFER_BYTES + 10];
        let mut lines = Lines::new(Input::new("long.log", std::io::Cursor::new(log)));
        let message = lines.next_line().unwrap_err().to_string();
        assert!(message.starts_with("long.log:1: expected a line of at most 262144 bytes"), "{message}");
    }
}
