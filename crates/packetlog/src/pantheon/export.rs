//! Export of logs for the tools of Pantheon and mahimahi (StanfordSNR/pantheon@23e738c, `src/analysis/tunnel_graph.py`;
//! ravinet/mahimahi@ae477d4, `scripts/mm-delay-graph`).

use super::direction::Direction;
use crate::pending::Pending;
use crate::{Error, STEP_BACK_NS};
use record::{Record, time_to_us};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Write buffer, bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// Unfinished text log. The file gets its name only when it is complete.
struct TextLog {
    pending: Pending,
    out: BufWriter<File>,
    line: Vec<u8>,
    lines: u64,
    latest_ns: u64,
}

impl TextLog {
    fn create(path: &Path) -> Result<Self, Error> {
        let (pending, file) = Pending::create(path)?;
        let out = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self { pending, out, line: Vec::new(), lines: 0, latest_ns: 0 })
    }

    fn check_order(&mut self, record: &Record) -> Result<(), Error> {
        if record.time_ns.saturating_add(STEP_BACK_NS) < self.latest_ns {
            let problem = format!(
                "records must be in time order, but {} ns follows {} ns",
                record.time_ns, self.latest_ns
            );
            return Err(Error::file(self.pending.path(), problem));
        }
        self.latest_ns = self.latest_ns.max(record.time_ns);
        Ok(())
    }

    /// Writes the current line and a newline.
    fn end_line(&mut self) -> Result<(), Error> {
        self.line.push(b'\n');
        self.out.write_all(&self.line).map_err(|e| Error::io(self.pending.path(), "write", e))?;
        self.line.clear();
        self.lines += 1;
        Ok(())
    }

    fn finish(self) -> Result<u64, Error> {
        let path = self.pending.path().to_owned();
        let file = self.out.into_inner().map_err(|e| Error::io(&path, "write", e.into_error()))?;
        self.pending.commit(file)?;
        Ok(self.lines)
    }
}

/// Writes one direction of a run as a merged tunnel log (datalink or acklink log).
///
/// Times are rounded to microseconds. Flow 0 is written without a flow number. Events unknown to the grammar (drops,
/// marks, queue events) and records of the other direction are left out.
pub struct MergedExport {
    log: TextLog,
    direction: Direction,
}

impl MergedExport {
    /// Creates a log with the name `path`. `init_us` is the time of the run's zero, us since 1970.
    pub fn create(path: impl AsRef<Path>, direction: Direction, init_us: u64) -> Result<Self, Error> {
        let mut log = TextLog::create(path.as_ref())?;
        log.line.extend_from_slice(b"# init timestamp: ");
        push_ms(&mut log.line, init_us);
        log.end_line()?;
        Ok(Self { log, direction })
    }

    /// Adds one record. Records must come in time order, except for steps of a clock.
    pub fn write(&mut self, record: &Record) -> Result<(), Error> {
        self.log.check_order(record)?;
        let Some(sign) = sign_of(record, self.direction).filter(|&sign| sign != b'd') else { return Ok(()) };
        let line = &mut self.log.line;
        push_ms(line, time_to_us(record.time_ns));
        push_sign(line, sign);
        push_number(line, u64::from(record.size_bytes));
        if sign == b'-' {
            line.push(b' ');
            push_signed_ms(line, record.one_way_delay_ns);
        }
        if sign != b'#' && record.flow != 0 {
            line.push(b' ');
            push_number(line, u64::from(record.flow));
        }
        self.log.end_line()
    }

    /// Completes the file and returns its number of lines.
    pub fn finish(self) -> Result<u64, Error> {
        self.log.finish()
    }
}

/// Writes one direction of a run as a log of mahimahi's mm-link, for mahimahi's graphs.
///
/// Times are rounded down to milliseconds, as mahimahi's clock is. A delay is the difference of two rounded times.
/// Sizes are written as recorded (mahimahi logs 4 bytes more than the IP datagram). Flows are not distinguished. Marks
/// and queue events are left out.
pub struct MmLinkExport {
    log: TextLog,
    direction: Direction,
}

impl MmLinkExport {
    /// Creates a log with the name `path`. `init_ms` is the time of the run's zero, ms since 1970.
    pub fn create(path: impl AsRef<Path>, direction: Direction, init_ms: u64) -> Result<Self, Error> {
        let mut log = TextLog::create(path.as_ref())?;
        let side = match direction {
            Direction::Data => "Uplink",
            Direction::Ack => "Downlink",
        };
        // mahimahi's graphs count time from the base timestamp, which is the run's zero here.
        let header = [
            format!("# mahimahi mm-link ({side}) [written by dumbbell]"),
            format!("# init timestamp: {init_ms}"),
            "# base timestamp: 0".to_owned(),
        ];
        for line in header {
            log.line.extend_from_slice(line.as_bytes());
            log.end_line()?;
        }
        Ok(Self { log, direction })
    }

    /// Adds one record. Records must come in time order, except for steps of a clock.
    pub fn write(&mut self, record: &Record) -> Result<(), Error> {
        self.log.check_order(record)?;
        let Some(sign) = sign_of(record, self.direction) else { return Ok(()) };
        let line = &mut self.log.line;
        let time_ms = record.time_ns / 1_000_000;
        push_number(line, time_ms);
        push_sign(line, sign);
        if sign == b'd' {
            line.extend_from_slice(b"1 ");
        }
        push_number(line, u64::from(record.size_bytes));
        if sign == b'-' {
            let entered_ns = i128::from(record.time_ns) - i128::from(record.one_way_delay_ns);
            let delay_ms = i128::from(time_ms) - entered_ns.div_euclid(1_000_000);
            line.push(b' ');
            // A packet cannot leave a link before it enters. Disagreeing clocks can give such times.
            push_number(line, u64::try_from(delay_ms).unwrap_or(0));
        }
        self.log.end_line()
    }

    /// Completes the file and returns its number of lines.
    pub fn finish(self) -> Result<u64, Error> {
        self.log.finish()
    }
}

/// Returns the event's sign in the logs; `None` if the logs do not contain the event.
fn sign_of(record: &Record, direction: Direction) -> Option<u8> {
    let signs = [
        (direction.send(), b'+'),
        (direction.deliver(), b'-'),
        (direction.opportunity(), b'#'),
        (direction.drop(), b'd'),
    ];
    signs.iter().find(|(event, _)| *event == record.event).map(|(_, sign)| *sign)
}

fn push_sign(line: &mut Vec<u8>, sign: u8) {
    line.extend_from_slice(&[b' ', sign, b' ']);
}

fn push_number(line: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[first..]);
}

/// Appends milliseconds with three decimals.
fn push_ms(line: &mut Vec<u8>, us: u64) {
    push_number(line, us / 1000);
    let rest = us % 1000;
    line.extend_from_slice(&[
        b'.',
        b'0' + (rest / 100) as u8,
        b'0' + (rest / 10 % 10) as u8,
        b'0' + (rest % 10) as u8,
    ]);
}

fn push_signed_ms(line: &mut Vec<u8>, ns: i64) {
    let us = time_to_us(ns.unsigned_abs());
    if ns < 0 && us > 0 {
        line.push(b'-');
    }
    push_ms(line, us);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(push: impl Fn(&mut Vec<u8>)) -> String {
        let mut line = Vec::new();
        push(&mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn milliseconds_have_three_decimals() {
        assert_eq!(written(|line| push_ms(line, 0)), "0.000");
        assert_eq!(written(|line| push_ms(line, 5_012_318)), "5012.318");
        assert_eq!(written(|line| push_ms(line, 1_000_007)), "1000.007");
    }

    #[test]
    fn nanoseconds_are_rounded_to_the_nearest_microsecond() {
        assert_eq!((time_to_us(1499), time_to_us(1500)), (1, 2));
        assert_eq!(written(|line| push_signed_ms(line, -1_034_499)), "-1.034");
        assert_eq!(written(|line| push_signed_ms(line, -499)), "0.000");
        assert_eq!(written(|line| push_signed_ms(line, i64::MIN)), "-9223372036854.776");
    }
}
