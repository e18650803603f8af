//! Logs of mahimahi's mm-link (ravinet/mahimahi@ae477d4, `src/frontend/link_queue.cc`), alone or as the opportunities
//! of a merged log.

use super::direction::Direction;
use super::header::read_header;
use super::input::Input;
use super::lines::{BACKWARDS, Fields, Lines};
use super::oddities::Oddity;
use super::source::Source;
use crate::Error;
use record::{Event, Record};

/// Bytes that mahimahi counts for the TUN header of each packet. Pantheon subtracts them.
const TUN_HEADER_BYTES: u32 = 4;

/// Maximum packets in one `d` line, and in all `d` lines without a preceding `+` line: more than any queue holds.
const MAX_DROPPED: u64 = 1_000_000;

const TIME: &str = "expected a time in whole ms at the start";
const EVENT: &str = "expected '+', '-', '#' or 'd' as second field";
const SIZE: &str = "expected a size in bytes (0 to 4294967295) as third field";
const DELAY: &str = "expected a delay in whole ms as fourth field of a '-' line";
const DROPS: &str =
    "expected a number of packets (1 to 1000000) and one of bytes (0 to 4294967295) after 'd'";
const NEVER_ARRIVED: &str =
    "expected no more dropped packets ('d') than arrived ('+') before and 1000000 besides";
const TOO_MANY_DROPS: &str = "expected at least as many bytes as packets after 'd'";
const END: &str = "expected the end of the line";
const SMALL: &str = "expected an opportunity of at least 4 bytes (the TUN header)";

/// Wanted events of the log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// All events, with the sizes as logged (IP datagram + 4 bytes).
    All,
    /// Only opportunities, without the TUN header, for a merged log.
    Opportunities,
}

/// Log of mm-link, read line by line.
pub(super) struct MmLinkLog {
    lines: Lines,
    direction: Direction,
    take: Take,
    init_us: Option<u64>,
    /// Time of the last line, us.
    at_us: u64,
    empty: bool,
    /// Drops of the last `d` line that are not reported yet: packets, bytes.
    drops: (u32, u32),
    /// Number of packets that may still be dropped: arrived packets and those in the queue at the log's start.
    droppable: u64,
}

/// Event line.
struct Line {
    time_us: u64,
    event: Event,
    /// Number of packets in a `d` line; otherwise 1.
    packets: u32,
    bytes: u32,
    delay_us: i64,
}

impl MmLinkLog {
    /// Opens a log and reads the header.
    pub(super) fn open(input: Input, direction: Direction, take: Take) -> Result<Self, Error> {
        let (lines, init_us) = read_header(Lines::new(input))?;
        Ok(Self {
            lines,
            direction,
            take,
            init_us,
            at_us: 0,
            empty: true,
            drops: (0, 0),
            droppable: MAX_DROPPED,
        })
    }

    fn at_end(&self) -> Result<Option<Record>, Error> {
        match (self.empty, self.take) {
            (false, _) => Ok(None),
            (true, Take::All) => Err(self.lines.unusable("has no events")),
            (true, Take::Opportunities) => {
                Err(self.lines.unusable("has no delivery opportunities ('#' lines)"))
            }
        }
    }

    fn record(&self, event: Event, size_bytes: u32, delay_us: i64) -> Record {
        Record {
            time_ns: self.at_us * 1000,
            flow: 0,
            event,
            seq: 0,
            size_bytes,
            data_bytes: 0,
            one_way_delay_ns: delay_us * 1000,
        }
    }

    /// Counts arrived and dropped packets: mahimahi drops only packets that arrived.
    #[inline]
    fn count(&mut self, line: &Line) -> Result<(), Error> {
        if line.event == self.direction.send() {
            self.droppable += 1;
        } else if line.event == self.direction.drop() {
            let left = self.droppable.checked_sub(u64::from(line.packets));
            self.droppable = left.ok_or_else(|| self.lines.malformed(NEVER_ARRIVED))?;
        }
        Ok(())
    }

    /// Returns one of the packets of a `d` line. The log contains only their total size, so packets get equal sizes.
    fn dropped(&mut self) -> Record {
        let (packets, bytes) = self.drops;
        let share = bytes.div_ceil(packets);
        self.drops = (packets - 1, bytes - share);
        self.record(self.direction.drop(), share, 0)
    }
}

impl Source for MmLinkLog {
    fn name(&self) -> &str {
        self.lines.name()
    }

    fn init_us(&self) -> Option<u64> {
        self.init_us
    }

    fn zero_ns(&self) -> u64 {
        0
    }

    fn oddities(&self) -> Vec<Oddity> {
        self.lines.oddities()
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }

    fn next(&mut self) -> Result<Option<Record>, Error> {
        loop {
            if self.drops.0 > 0 {
                return Ok(Some(self.dropped()));
            }
            if !self.lines.next_line()? {
                return self.at_end();
            }
            if self.lines.at_comment() {
                self.lines.skip();
                continue;
            }
            let (line, length) = event_line(self.lines.bytes(), self.direction)
                .map_err(|problem| self.lines.malformed(problem))?;
            let opportunity = line.event == self.direction.opportunity();
            let mut size_bytes = line.bytes;
            if self.take == Take::Opportunities && opportunity {
                let without = size_bytes.checked_sub(TUN_HEADER_BYTES);
                size_bytes = without.ok_or_else(|| self.lines.malformed(SMALL))?;
            }
            let at_ns = (line.time_us * 1000) as i64;
            self.lines.check_time(at_ns, BACKWARDS)?;
            self.count(&line)?;
            self.lines.consume(length);
            self.lines.pass_time(at_ns);
            self.at_us = line.time_us;
            if self.take == Take::Opportunities && !opportunity {
                continue;
            }
            self.empty = false;
            if line.event == self.direction.drop() {
                self.drops = (line.packets, line.bytes);
                continue;
            }
            return Ok(Some(self.record(line.event, size_bytes, line.delay_us)));
        }
    }
}

/// Parses one event line. Also returns its length.
#[inline]
fn event_line(bytes: &[u8], direction: Direction) -> Result<(Line, usize), &'static str> {
    let mut fields = Fields::new(bytes);
    let time_us = fields.ms().ok_or(TIME)? * 1000;
    if !fields.blank() {
        return Err(TIME);
    }
    let sign = fields.peek();
    let event = match sign {
        b'+' => direction.send(),
        b'-' => direction.deliver(),
        b'#' => direction.opportunity(),
        b'd' => direction.drop(),
        _ => return Err(EVENT),
    };
    fields.byte(sign);
    if !fields.blank() {
        return Err(EVENT);
    }
    let (mut packets, mut delay_us) = (1, 0);
    if sign == b'd' {
        packets = fields.number(MAX_DROPPED).filter(|&packets| packets > 0).ok_or(DROPS)? as u32;
        if !fields.blank() {
            return Err(DROPS);
        }
    }
    let bytes = fields.size().ok_or(if sign == b'd' { DROPS } else { SIZE })?;
    if sign == b'd' && bytes < packets {
        return Err(TOO_MANY_DROPS);
    }
    if sign == b'-' {
        if !fields.blank() {
            return Err(DELAY);
        }
        delay_us = fields.ms().ok_or(DELAY)? as i64 * 1000;
    }
    let length = fields.end().ok_or(END)?;
    Ok((Line { time_us, event, packets, bytes, delay_us }, length))
}
