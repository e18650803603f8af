//! How late the emulator was: the time between when the path let a packet go and when it really went.

use measure::DelayHistogram;
use schemars::JsonSchema;
use serde::Serialize;
use units::Span;

/// Buckets by powers of two: the last one takes everything from 2^23 us (8 s) on.
const BUCKETS: usize = 25;
/// A run tells that it was late if the 99th percentile exceeds this, or [`RTT_SHARE`] of the base RTT if that is more.
const BOUND: Span = Span::from_ms(1);
/// Share of the base RTT that lateness may reach.
const RTT_SHARE: u64 = 20;
/// A run tells that an end of a flow stood still for longer than this, or [`STALL_RTT_SHARE`] of the base RTT if that
/// is more.
const STALL_BOUND: Span = Span::from_ms(20);
/// Share of the base RTT that an end may stand still.
const STALL_RTT_SHARE: u64 = 4;

/// Time for which a controller that keeps the highest rate of the last rounds remembers what left in a burst after a pause,
/// in base RTTs: BBR's filter of ten rounds (Linux v6.12, `net/ipv4/tcp_bbr.c`, `bbr_bw_rtts`).
pub(crate) const REMEMBERED_RTTS: u64 = 10;
/// A run says that it stood still if controllers remember pauses for more than this part of its time: one in so many.
const PAUSED_PARTS: u64 = 10;
/// Shortest lateness that belongs to a pause: no bound is lower.
const SHORTEST_PAUSE: Span = BOUND;
/// Maximum number of pauses that are kept.
const MAX_PAUSES: usize = 1 << 16;

/// Share of the longest queue that a pause may last without a loss of its own: so much has left the queue meanwhile, and has
/// room in it afterwards (`tests/core/test_lateness_bounds.py`).
const QUEUE_SHARE: u64 = 2;

/// Cost of a loss that would not have been, as time at a flow's rate: the median for CUBIC at 96 Mbit/s on fresh seeds, where
/// it was 0.1 to 1.0 s (docs/how-to/emulation.md).
const LOSS: Span = Span::from_ms(500);

/// Lateness of every departure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness {
    delays: DelayHistogram,
    buckets: [u64; BUCKETS],
    pauses: Pauses,
    passages: Option<(Span, Span)>,
}

/// Times in which a direction stood still; afterwards what was due left at once.
#[derive(Clone, Debug, Default)]
struct Pauses {
    /// Of each pause the lateness of the packet that was latest.
    longest: Vec<Span>,
    /// Whether the last packet was late.
    is_late: bool,
}

impl Pauses {
    #[inline]
    fn record(&mut self, late: Span) {
        let was_late = std::mem::replace(&mut self.is_late, late > SHORTEST_PAUSE);
        if !self.is_late {
            return;
        }
        if !was_late && self.longest.len() < MAX_PAUSES {
            self.longest.push(late);
        } else if let Some(longest) = self.longest.last_mut() {
            *longest = late.max(*longest);
        }
    }

    /// Returns the time of all pauses together.
    fn total(&self) -> Span {
        self.longest.iter().fold(Span::ZERO, |sum, longest| sum + *longest)
    }

    /// Returns for how long rates were wrong because of all pauses. What was due leaves in a burst, which a controller that keeps
    /// the highest rate remembers. Of flows that go by losses the burst finds room if the pause is shorter than `unnoticed`:
    /// then the link had nothing to send for so long at most.
    fn remembered(&self, unnoticed: Option<Span>) -> Span {
        let time = |pause: Span| match unnoticed {
            None => pause * REMEMBERED_RTTS,
            Some(unnoticed) if pause < unnoticed => pause,
            Some(_) => pause.max(LOSS),
        };
        self.longest.iter().fold(Span::ZERO, |sum, pause| sum + time(*pause))
    }

    fn longer_than(&self, bound: Span) -> u64 {
        self.longest.iter().filter(|longest| **longest > bound).count() as u64
    }
}

/// The distribution in numbers.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct LatenessReport {
    /// Departures.
    pub packets: u64,
    /// Mean, us.
    pub mean: f64,
    /// Median, us.
    pub p50: i64,
    /// 90th percentile, us.
    pub p90: i64,
    /// 95th percentile, us.
    pub p95: i64,
    /// 99th percentile, us.
    pub p99: i64,
    /// 99.9th percentile, us.
    pub p999: i64,
    /// Largest, us.
    pub max: i64,
    /// What the 99th percentile may reach before a run tells that it was late, us.
    pub bound: i64,
    /// Times that a direction stood still for longer than the bound, of the one that stood still for longer in all.
    pub pauses: u64,
    /// How many of them there may be before a run tells of them.
    pub pauses_bound: u64,
    /// Time in which this direction stood still for longer than 1 ms, us.
    pub paused: u64,
    /// Time for which pauses made rates wrong, us.
    pub remembered: u64,
    /// Departures that were less late than 1, 2, 4, 8, ... us, and not less than the value before.
    pub histogram: Vec<u64>,
}

impl Lateness {
    #[inline]
    pub(crate) fn record(&mut self, late: Span) {
        self.pauses.record(late);
        let us = late.as_ns() / 1000;
        self.delays.record(us as i64);
        self.buckets[(u64::BITS - us.leading_zeros()).min(BUCKETS as u32 - 1) as usize] += 1;
    }

    /// A packet takes so long through the path, by the path's own clock.
    #[inline]
    pub(crate) fn record_passage(&mut self, time: Span) {
        let (shortest, longest) = self.passages.get_or_insert((time, time));
        (*shortest, *longest) = ((*shortest).min(time), (*longest).max(time));
    }

    /// Returns how long packets were in queues, of the direction where that is longest.
    fn longest_queue(&self) -> Span {
        self.passages.map_or(Span::ZERO, |(shortest, longest)| longest - shortest)
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if other.longest_queue() > self.longest_queue() {
            self.passages = other.passages;
        }
        self.delays.merge(&other.delays);
        // One pause of the machine is one of both directions.
        if other.pauses.total() > self.pauses.total() {
            self.pauses = other.pauses.clone();
        }
        for (sum, count) in self.buckets.iter_mut().zip(other.buckets) {
            *sum += count;
        }
    }

    /// Returns the mean, us.
    pub(crate) fn mean_us(&mut self) -> f64 {
        self.delays.summary().map_or(0.0, |summary| summary.mean_us)
    }

    /// Returns the distribution on a path of this base RTT, in a run of this duration; `loss_based`: all flows go by losses alone.
    pub(crate) fn report(&mut self, base_rtt: Span, duration: Span, loss_based: bool) -> LatenessReport {
        let remembered_ns = base_rtt.as_ns().saturating_mul(REMEMBERED_RTTS * PAUSED_PARTS).max(1);
        let packets = self.delays.count();
        let (mean, paused) = (self.mean_us(), self.pauses.total().as_ns() / 1000);
        let unnoticed = loss_based.then(|| self.longest_queue() / QUEUE_SHARE);
        let remembered = self.pauses.remembered(unnoticed).as_ns() / 1000;
        let mut percentile = |percent: f64| self.delays.percentile_us(percent).unwrap_or(0);
        let used = self.buckets.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        LatenessReport {
            packets,
            mean,
            p50: percentile(50.0),
            p90: percentile(90.0),
            p95: percentile(95.0),
            p99: percentile(99.0),
            p999: percentile(99.9),
            max: percentile(100.0),
            bound: (bound(base_rtt).as_ns() / 1000) as i64,
            pauses: self.pauses.longer_than(bound(base_rtt)),
            pauses_bound: (duration.as_ns() / remembered_ns).max(1),
            paused,
            remembered,
            histogram: self.buckets[..used].to_vec(),
        }
    }
}

/// Returns what the 99th percentile of lateness may reach, of the emulator and of the ends, on a path of this base RTT.
pub(crate) fn bound(base_rtt: Span) -> Span {
    BOUND.max(base_rtt / RTT_SHARE)
}

/// Returns what a run has to tell whose ends were `latest` late at most, if anything. Their lateness shows in no departure.
pub(crate) fn stalled(latest: Span, base_rtt: Span) -> Option<String> {
    let bound = STALL_BOUND.max(base_rtt / STALL_RTT_SHARE);
    let ms = |span: Span| span.as_ns() as f64 / 1e6;
    (latest > bound)
        .then(|| format!("an end of a flow stood still for {:.0} ms, bound {:.0} ms", ms(latest), ms(bound)))
}

impl LatenessReport {
    /// Returns what the run has to tell of it, if anything.
    pub(crate) fn remark(&self) -> Option<String> {
        let ms = |us: i64| us as f64 / 1e3;
        if self.p99 <= self.bound && self.pauses > self.pauses_bound {
            return Some(format!(
                "the emulator stood still {} times for more than {:.2} ms, bound {} times (longest {:.2} ms)",
                self.pauses,
                ms(self.bound),
                self.pauses_bound,
                ms(self.max)
            ));
        }
        (self.p99 > self.bound).then(|| {
            format!(
                "the emulator was late: p99 {:.2} ms above the bound of {:.2} ms (median {:.3} ms)",
                ms(self.p99),
                ms(self.bound),
                ms(self.p50)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(late_us: &[u64], rtt_ms: u64) -> LatenessReport {
        let mut lateness = Lateness::default();
        for &us in late_us {
            lateness.record(Span::from_us(us));
        }
        let mut sum = Lateness::default();
        sum.merge(&lateness);
        sum.report(Span::from_ms(rtt_ms), Span::from_secs(10), false)
    }

    #[test]
    fn lateness_is_counted_in_powers_of_two() {
        let report = report(&[0, 1, 2, 3, 4, 1000], 40);
        assert_eq!(report.histogram, [1, 1, 2, 1, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!((report.packets, report.p50, report.max), (6, 2, 1000));
    }

    #[test]
    fn ends_may_stand_still_for_a_quarter_of_the_rtt() {
        let stalled = |ms, rtt_ms| stalled(Span::from_ms(ms), Span::from_ms(rtt_ms));
        assert_eq!((stalled(20, 10), stalled(50, 200)), (None, None));
        assert_eq!(stalled(51, 200).unwrap(), "an end of a flow stood still for 51 ms, bound 50 ms");
        assert!(stalled(21, 10).is_some());
    }

    #[test]
    fn pauses_that_no_percentile_shows_made_spikes_of_bandwidth() {
        // Each pause is ten packets of 2,000: the 99th percentile is 20 us.
        let run = |pauses: usize, late_us: u64| {
            let all: Vec<u64> = (0..20_000)
                .map(|number| if number % 2000 < 10 && number / 2000 < pauses { late_us } else { 20 })
                .collect();
            report(&all, 40)
        };
        // 10 s are 250 RTTs of 40 ms: two pauses are remembered for 20 of them.
        let (few, short, many) = (run(2, 5000), run(9, 1900), run(3, 5000));
        assert_eq!((few.p99, few.pauses, few.pauses_bound, few.remark()), (20, 2, 2, None));
        assert_eq!((short.pauses, short.remark()), (0, None));
        assert_eq!(
            many.remark().unwrap(),
            "the emulator stood still 3 times for more than 2.00 ms, bound 2 times (longest 5.00 ms)"
        );
    }

    #[test]
    fn the_bound_is_a_millisecond_or_a_twentieth_of_the_rtt() {
        let late = [1500; 100];
        assert!(report(&late, 10).remark().unwrap().contains("p99 1.50 ms above the bound of 1.00 ms"));
        assert_eq!(report(&late, 40).remark(), None);
        assert_eq!(report(&[], 0).remark(), None);
    }
}
