//! Times of a trace's opportunities.

use crate::Error;
use crate::TraceFault;
use units::Time;

const MS: u64 = 1_000_000;

/// Offsets of one cycle, in order.
#[derive(Clone, Debug)]
pub(super) enum Offsets {
    /// Listed, ns.
    List(Box<[u64]>),
    /// Evenly spread: `count` offsets, number `i` (from `first`, which is 0 or 1) at `floor(i * period / count)` ticks.
    Even { count: u64, period: u64, tick_ns: u64, first: u64 },
}

impl Offsets {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::List(list) => list.len() as u64,
            Self::Even { count, .. } => *count,
        }
    }

    /// Returns offset number `index` (from 0), ns.
    #[inline]
    pub(super) fn get(&self, index: u64) -> u64 {
        match self {
            Self::List(list) => list[index as usize],
            Self::Even { count, period, tick_ns, first } => (index + first) * period / count * tick_ns,
        }
    }

    /// Returns the number of offsets that are at most `ns`.
    pub(super) fn count_until(&self, ns: u64) -> u64 {
        match self {
            Self::List(list) => list.partition_point(|offset| *offset <= ns) as u64,
            Self::Even { count, period, tick_ns, first } => {
                // floor(i * period / count) <= x  <=>  i * period < (x + 1) * count
                let limit = (u128::from(ns / tick_ns) + 1) * u128::from(*count) - 1;
                let highest = limit / u128::from(*period);
                (highest + 1 - u128::from(*first)).min(u128::from(*count)) as u64
            }
        }
    }
}

/// Opportunities over time: the offsets repeat from `base` on, with the last one as the period.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    offsets: Offsets,
    base: u64,
    once: bool,
    /// Length of a cycle, ns: the last offset.
    period: u64,
    /// Start of the current cycle, ns.
    cycle: u64,
    /// Index of the next offset in the cycle; past the end when a trace that does not repeat is over.
    index: u64,
    /// Time of the next opportunity.
    next: Time,
}

impl Timeline {
    /// Returns a timeline of `offsets`, which must not be empty; the last one must not be 0.
    pub(super) fn new(offsets: Offsets, base: u64, once: bool) -> Self {
        let period = offsets.get(offsets.len() - 1);
        let mut timeline = Self { offsets, base, once, period, cycle: base, index: 0, next: Time::NEVER };
        timeline.find_next();
        timeline
    }

    /// Returns the next opportunity; [`Time::NEVER`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    #[inline]
    fn find_next(&mut self) {
        self.next = if self.index == self.offsets.len() {
            Time::NEVER
        } else {
            Time::from_ns(self.cycle + self.offsets.get(self.index))
        };
    }

    /// Advances to the opportunity after the next.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.index += 1;
        if self.index == self.offsets.len() && !self.once {
            self.index = 0;
            self.cycle += self.period;
        }
        self.find_next();
    }

    /// Returns the number of opportunities at or before `now`, from the start of the run.
    pub(super) fn count_until(&self, now: Time) -> u64 {
        let Some(elapsed) = now.as_ns().checked_sub(self.base) else { return 0 };
        let cycles = elapsed / self.period;
        if self.once && cycles > 0 {
            return self.offsets.len();
        }
        cycles * self.offsets.len() + self.offsets.count_until(elapsed % self.period)
    }

    /// Advances to the first opportunity after `now`.
    pub(super) fn skip_past(&mut self, now: Time) {
        let Some(elapsed) = now.as_ns().checked_sub(self.base) else { return };
        let cycles = elapsed / self.period;
        if self.once && cycles > 0 {
            self.index = self.offsets.len();
        } else {
            self.cycle = self.base + cycles * self.period;
            self.index = self.offsets.count_until(elapsed % self.period);
        }
        self.find_next();
    }
}

/// Maximum number of characters of a line in a message.
const SHOWN: usize = 40;

/// Reads a trace in Mahimahi's text format: one time in ms per line, not decreasing, the last one above 0.
///
/// # Errors
/// One line naming the number of the line at fault.
pub fn parse_trace(text: &str) -> Result<Vec<u64>, Error> {
    let mut times = Vec::new();
    let mut last = 0;
    for (index, line) in text.lines().enumerate() {
        let refused = |fault| Error::Trace { line: index + 1, fault };
        let digits = line.trim_start();
        let prefix: String = digits.chars().take(SHOWN).collect();
        // The standard library accepts a sign, but mm-link does not.
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let prefix = prefix.escape_default();
            return Err(refused(TraceFault::NotWhole(prefix.to_string())));
        }
        let highest = u64::MAX / MS;
        let time = digits.parse().ok().filter(|time| *time <= highest);
        let time = time.ok_or_else(|| refused(TraceFault::TooLate { shown: prefix, highest }))?;
        if time < last {
            return Err(refused(TraceFault::Decreases { time, last }));
        }
        last = time;
        times.push(time);
    }
    match times.last() {
        None => Err(Error::EmptyTrace),
        Some(0) => Err(Error::Trace { line: times.len(), fault: TraceFault::NoPeriod }),
        Some(_) => Ok(times),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at_ms(ms: u64) -> Time {
        Time::from_ns(ms * MS)
    }

    fn list(ms: &[u64]) -> Offsets {
        Offsets::List(ms.iter().map(|ms| ms * MS).collect())
    }

    /// Returns the number of opportunities up to and including `ms`, counted one by one.
    fn walk(offsets: Offsets, base_ms: u64, once: bool, ms: u64) -> u64 {
        let mut timeline = Timeline::new(offsets, base_ms * MS, once);
        let mut count = 0;
        while timeline.next() <= at_ms(ms) {
            timeline.advance();
            count += 1;
        }
        count
    }

    #[test]
    fn a_file_with_1_offers_one_opportunity_per_ms() {
        assert_eq!(walk(list(&[1]), 0, false, 10_000), 10_000);
    }

    #[test]
    fn a_file_with_0_and_1_offers_two_per_ms_after_the_first() {
        // 0; then 1 and 1 (start of the next cycle) at 1 ms, 2 and 2 at 2 ms, ...: 1 + 2 x 10.
        assert_eq!(walk(list(&[0, 1]), 0, false, 10), 21);
    }

    #[test]
    fn a_file_from_0_to_n_offers_n_plus_1_per_n_ms() {
        // Ten cycles of 5 ms and the first line of the eleventh.
        assert_eq!(walk(list(&[0, 1, 2, 3, 4, 5]), 0, false, 50), 6 * 10 + 1);
    }

    #[test]
    fn once_stops_at_the_last_line() {
        assert_eq!(walk(list(&[2, 4, 4]), 0, true, 1000), 3);
        assert_eq!(Timeline::new(list(&[2, 4, 4]), 0, true).count_until(at_ms(1000)), 3);
    }

    #[test]
    fn pantheons_even_traces_have_their_published_rates() {
        for (lines, last_ms) in [(50_000, 59_998), (250_000, 59_999), (388_600, 59_999), (573_400, 59_999)] {
            let even = Offsets::Even { count: lines, period: 60_000, tick_ns: MS, first: 0 };
            assert_eq!((even.get(0), even.get(lines - 1)), (0, last_ms * MS));
        }
        // 50000 x 12000 bit / 59.998 s = 10.0003 Mbit/s, and so on: lines / last time of the files in
        // StanfordSNR/observatory@84f9454, `traces/`.
        let mbps = |lines: u64, last_ms: u64| lines as f64 * 12e3 / (last_ms as f64 * 1e3);
        assert!((mbps(50_000, 59_998) - 10.0003).abs() < 1e-4);
        assert!((mbps(388_600, 59_999) - 77.7213).abs() < 1e-4);
        assert!((mbps(573_400, 59_999) - 114.6819).abs() < 1e-4);
    }

    #[test]
    fn traces_are_read_and_faults_are_named_by_line() {
        assert_eq!(parse_trace("0\n 1\n1\n7\n").unwrap(), [0, 1, 1, 7]);
        assert_eq!(parse_trace("5").unwrap(), [5]);
        for (text, part) in [
            ("", "no line: a trace has at least one"),
            ("1\n\n2\n", "line 2: ``: allowed is a whole number of ms"),
            ("1\n5\n4\n", "line 3: 4 ms come after 5 ms: times must not decrease"),
            ("+1\n", "line 1: `+1`"),
            ("1\nx\n", "line 2: `x`"),
            ("1\n2 \n", "line 2: `2 `"),
            ("1\n-2\n", "line 2: `-2`"),
            ("1\n2.5\n", "line 2: `2.5`"),
            ("0\n0\n", "line 2: the last time is 0 ms"),
            ("99999999999999999\n", "line 1: 99999999999999999 ms: allowed are at most 18446744073709 ms"),
        ] {
            let error = parse_trace(text).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{text:?}: {error}");
        }
    }

    prop_compose! {
        fn offsets()(
            mut gaps in prop::collection::vec(0u64..5, 1..20),
            count in 1u64..50, period in 1u64..50, even in any::<bool>(), first in 0u64..2,
        ) -> Offsets {
            if even && (first == 1 || (count - 1) * period / count > 0) {
                return Offsets::Even { count, period, tick_ns: MS, first };
            }
            gaps.push(1);
            let mut last = 0;
            Offsets::List(gaps.iter().map(|gap| { last += gap; last * MS }).collect())
        }
    }

    proptest! {
        #[test]
        fn skipping_equals_walking(
            offsets in offsets(), base_ms in 0u64..20, once in any::<bool>(), half_ms in 0u64..600,
        ) {
            let now = Time::from_ns(half_ms * MS / 2);
            let mut walked = Timeline::new(offsets, base_ms * MS, once);
            let mut skipped = walked.clone();
            let mut count = 0;
            while walked.next() <= now {
                walked.advance();
                count += 1;
            }
            skipped.skip_past(now);
            prop_assert_eq!(skipped.count_until(now), count);
            for _ in 0..60 {
                prop_assert_eq!(skipped.next(), walked.next());
                if walked.next() == Time::NEVER { break; }
                walked.advance();
                skipped.advance();
            }
        }
    }
}
