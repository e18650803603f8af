//! Exact percentiles of delays in bounded memory.

use super::pages::{PAGE_BYTES, Pages, page_of};
use std::collections::BTreeMap;

/// Number of samples that are kept unchanged before pages are considered: 16 KiB.
const FIRST_RAW_LIMIT: usize = 4_096;

/// Delays in whole microseconds with their counts: percentiles are exact at that resolution.
///
/// Few samples are kept in a list. The list turns into pages of neighbouring values when the pages need at most twice
/// its memory. So memory is bounded by the range of the delays (2 bytes per µs of the range in use), not by their
/// number. Negative delays (clocks that disagree) are ordinary values.
#[derive(Clone, Debug)]
pub struct DelayHistogram {
    count: u64,
    store: Store,
    raw_limit: usize,
    /// Values that the store cannot hold (absurd delays, overflows of its counters).
    outside: BTreeMap<i64, u64>,
}

#[derive(Clone, Debug)]
enum Store {
    Raw(Vec<i32>),
    Paged(Pages),
}

/// Summary of a delay distribution, µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelaySummary {
    /// Smallest delay.
    pub min_us: i64,
    /// Arithmetic mean.
    pub mean_us: f64,
    /// 10th percentile.
    pub p10_us: i64,
    /// Median.
    pub p50_us: i64,
    /// 95th percentile.
    pub p95_us: i64,
    /// 99th percentile.
    pub p99_us: i64,
    /// Largest delay.
    pub max_us: i64,
}

impl Default for DelayHistogram {
    fn default() -> Self {
        Self { count: 0, store: Store::Raw(Vec::new()), raw_limit: FIRST_RAW_LIMIT, outside: BTreeMap::new() }
    }
}

impl DelayHistogram {
    /// Returns the number of delays.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds one delay, µs.
    #[inline]
    pub fn record(&mut self, delay_us: i64) {
        self.count += 1;
        let has_room = match (&mut self.store, i32::try_from(delay_us)) {
            (Store::Paged(pages), _) => pages.increment(delay_us),
            (Store::Raw(values), Ok(small)) if values.len() < self.raw_limit => {
                values.push(small);
                true
            }
            (Store::Raw(_), _) => false,
        };
        if !has_room {
            self.add_slowly(delay_us, 1);
        }
    }

    /// Adds the delays of `other`.
    pub fn merge(&mut self, other: &Self) {
        match &other.store {
            Store::Raw(values) => {
                for &value in values {
                    self.record(i64::from(value));
                }
            }
            Store::Paged(pages) => {
                if let Store::Raw(values) = &self.store {
                    let anchor = median(values).unwrap_or_else(|| pages.anchor());
                    self.turn_into_pages(anchor);
                }
                for (value, count) in pages.iter() {
                    self.count += count;
                    self.add_slowly(value, count);
                }
            }
        }
        for (&value, &count) in &other.outside {
            self.count += count;
            *self.outside.entry(value).or_default() += count;
        }
    }

    /// Returns the `percent`-th percentile by nearest rank, µs. It is the value at index `round(percent / 100 * (n -
    /// 1))` of the sorted delays. Halves are rounded to even (numpy's `nearest`), as in Pantheon's `tunnel_graph.py`.
    pub fn percentile_us(&mut self, percent: f64) -> Option<i64> {
        let rank = self.rank(percent);
        let mut cumulative = 0;
        self.sorted().find_map(|(value, count)| {
            cumulative += count;
            (rank < cumulative).then_some(value)
        })
    }

    /// Returns minimum, mean and percentiles; `None` without delays.
    pub fn summary(&mut self) -> Option<DelaySummary> {
        let ranks = [10.0, 50.0, 95.0, 99.0].map(|percent| self.rank(percent));
        let (mut cumulative, mut sum, mut min_us, mut max_us) = (0, 0_i128, None, 0);
        let mut percentiles = [0; 4];
        for (value, count) in self.sorted() {
            for (percentile, rank) in percentiles.iter_mut().zip(ranks) {
                if (cumulative..cumulative + count).contains(&rank) {
                    *percentile = value;
                }
            }
            cumulative += count;
            sum += i128::from(value) * i128::from(count);
            min_us.get_or_insert(value);
            max_us = value;
        }
        let [p10_us, p50_us, p95_us, p99_us] = percentiles;
        Some(DelaySummary {
            min_us: min_us?,
            mean_us: sum as f64 / cumulative as f64,
            p10_us,
            p50_us,
            p95_us,
            p99_us,
            max_us,
        })
    }

    /// Returns the values at which the distribution rises, ascending, µs, with the number of delays up to each value.
    ///
    /// If there are more than `most` values (at least 2), the result has those at which the counts are evenly spread,
    /// including the first and the last.
    pub fn steps(&mut self, most: usize) -> Vec<(i64, u64)> {
        let all = self.count;
        let (mut different, mut latest, mut first) = (0, None, 0);
        for (value, count) in self.sorted() {
            if latest != Some(value) {
                different += 1;
                latest = Some(value);
            }
            if different == 1 {
                first += count;
            }
        }
        let pieces = most.max(2) as u64 - 1;
        let target =
            |piece: u64| first + (u128::from(all - first) * u128::from(piece) / u128::from(pieces)) as u64;
        let (mut steps, mut cumulative, mut piece) = (Vec::<(i64, u64)>::new(), 0, 0);
        let mut sorted = self.sorted().peekable();
        while let Some((value, count)) = sorted.next() {
            cumulative += count;
            if sorted.peek().is_some_and(|&(next, _)| next == value) {
                continue; // it comes twice: the second time with all of them
            }
            if different <= most || cumulative >= target(piece) {
                steps.push((value, cumulative));
                while piece < pieces && cumulative >= target(piece) {
                    piece += 1;
                }
            }
        }
        steps
    }

    /// Returns the approximate bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let outside = self.outside.len() * 2 * size_of::<(i64, u64)>();
        outside
            + match &self.store {
                Store::Raw(values) => values.capacity() * size_of::<i32>(),
                Store::Paged(pages) => pages.heap_bytes(),
            }
    }

    fn rank(&self, percent: f64) -> u64 {
        // The product of two doubles as numpy forms it: percent / 100 first.
        (percent / 100.0 * self.count.saturating_sub(1) as f64).round_ties_even() as u64
    }

    /// Returns every value ascending with a count; a value may come twice.
    fn sorted(&mut self) -> impl Iterator<Item = (i64, u64)> + '_ {
        let store: Box<dyn Iterator<Item = (i64, u64)> + '_> = match &mut self.store {
            Store::Raw(values) => {
                values.sort_unstable();
                Box::new(values.iter().map(|&value| (i64::from(value), 1)))
            }
            Store::Paged(pages) => Box::new(pages.iter()),
        };
        let mut store = store.peekable();
        let mut outside = self.outside.iter().map(|(&value, &count)| (value, count)).peekable();
        core::iter::from_fn(move || match (store.peek(), outside.peek()) {
            (Some(inner), Some(outer)) if outer.0 < inner.0 => outside.next(),
            (Some(_), _) => store.next(),
            (None, _) => outside.next(),
        })
    }

    /// Handles everything but the common case of [`record`](Self::record); does not touch `count`.
    #[cold]
    #[inline(never)]
    fn add_slowly(&mut self, value: i64, count: u64) {
        if let Store::Raw(values) = &self.store
            && values.len() >= self.raw_limit
        {
            self.reconsider();
        }
        let left = match (&mut self.store, i32::try_from(value)) {
            (Store::Raw(values), Ok(small)) if count == 1 => {
                values.push(small);
                0
            }
            (Store::Raw(_), _) => count,
            (Store::Paged(pages), _) => pages.add(value, count),
        };
        if left > 0 {
            *self.outside.entry(value).or_default() += left;
        }
    }

    /// Turns a full list into pages, or doubles its limit if pages would need much more memory.
    fn reconsider(&mut self) {
        let Store::Raw(values) = &mut self.store else { return };
        values.sort_unstable();
        let pages = values.chunk_by(|a, b| page_of(i64::from(*a)) == page_of(i64::from(*b))).count();
        if pages * PAGE_BYTES > 2 * values.len() * size_of::<i32>() {
            self.raw_limit *= 2;
        } else {
            let anchor = i64::from(values[values.len() / 2]);
            self.turn_into_pages(anchor);
        }
    }

    fn turn_into_pages(&mut self, anchor: i64) {
        let store = core::mem::replace(&mut self.store, Store::Paged(Pages::around(anchor)));
        if let Store::Raw(values) = store {
            for value in values {
                self.add_slowly(i64::from(value), 1);
            }
        }
    }
}

/// Returns the middle of unsorted values.
fn median(values: &[i32]) -> Option<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).map(|&value| i64::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(values: impl IntoIterator<Item = i64>) -> DelayHistogram {
        let mut histogram = DelayHistogram::default();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    /// Computes the percentile by the definition.
    fn brute_force(values: &[i64], percent: f64) -> Option<i64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let index = percent / 100.0 * values.len().saturating_sub(1) as f64;
        sorted.get(index.round_ties_even() as usize).copied()
    }

    #[test]
    fn ranks_round_halves_to_even() {
        // 0.95 * 10 = 9.5 rounds to 10; 0.5 * 1 = 0.5 to 0; 0.5 * 3 = 1.5 to 2.
        assert_eq!(histogram(0..=10).percentile_us(95.0), Some(10));
        assert_eq!(histogram(0..=1).percentile_us(50.0), Some(0));
        assert_eq!(histogram(0..=3).percentile_us(50.0), Some(2));
        assert_eq!(DelayHistogram::default().percentile_us(95.0), None);
        assert_eq!(DelayHistogram::default().summary(), None);
    }

    #[test]
    fn steps_of_a_distribution_are_all_of_them_or_evenly_spread() {
        assert_eq!(DelayHistogram::default().steps(5), []);
        assert_eq!(histogram([7, 3, 7]).steps(5), [(3, 1), (7, 3)]);
        let steps = histogram(0..10_000).steps(5);
        assert_eq!(steps, [(0, 1), (2_499, 2_500), (4_999, 5_000), (7_499, 7_500), (9_999, 10_000)]);
        // when a counter is full, the rest is kept elsewhere: the value is still one step
        let full = histogram(core::iter::repeat_n(5, 200_000).chain([9]));
        assert_eq!(full.clone().steps(5), [(5, 200_000), (9, 200_001)]);
    }

    #[test]
    fn a_summary_holds_minimum_mean_and_percentiles() {
        // 101 values 0, 10, ..., 1000: index 10, 50, 95, 99 of 0..=100.
        let summary = histogram((0..=100).map(|i| (100 - i) * 10)).summary().unwrap();
        let expected = DelaySummary {
            min_us: 0,
            mean_us: 500.0,
            p10_us: 100,
            p50_us: 500,
            p95_us: 950,
            p99_us: 990,
            max_us: 1_000,
        };
        assert_eq!(summary, expected);
    }

    #[test]
    fn memory_follows_the_range_of_delays_and_not_their_number() {
        // Ten million delays over 40 ms: 625 pages of 128 B, twice that after doubling, and the directory.
        let mut histogram = histogram((0..10_000_000).map(|i| 20_000 + i * 7_919 % 40_000));
        assert!(histogram.heap_bytes() < 200_000, "{}", histogram.heap_bytes());
        // 7,919 and 40,000 have no common factor: each value occurs 250 times, index 5,000,000 of them is the first of
        // the 20,001st value.
        let summary = histogram.summary().unwrap();
        assert_eq!((summary.min_us, summary.p50_us, summary.max_us), (20_000, 40_000, 59_999));
        assert_eq!(summary.mean_us, 39_999.5);
    }

    #[test]
    fn few_scattered_delays_stay_a_list() {
        // 8,300 delays over 1 s touch up to 8,300 pages (1 MB); the list takes at most 64 KiB.
        let histogram = histogram((0..8_300).map(|i| i * 104_729 % 1_000_000));
        assert!(histogram.heap_bytes() <= 65_536, "{}", histogram.heap_bytes());
    }

    #[test]
    fn one_delay_may_come_more_often_than_a_counter_holds() {
        let mut histogram = histogram((0..300_000).map(|i| if i < 200_000 { 5 } else { 6 }));
        assert_eq!(histogram.percentile_us(66.0), Some(5));
        assert_eq!(histogram.percentile_us(67.0), Some(6));
        assert!((histogram.summary().unwrap().mean_us - (5.0 + 1.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn absurd_delays_are_kept_exactly() {
        let mut histogram = histogram([i64::MIN, -4_000_000_000, 3, i64::MAX]);
        assert_eq!(histogram.percentile_us(0.0), Some(i64::MIN));
        assert_eq!(histogram.percentile_us(100.0 / 3.0), Some(-4_000_000_000));
        assert_eq!(histogram.percentile_us(100.0), Some(i64::MAX));
    }

    fn delays() -> impl Strategy<Value = Vec<i64>> {
        let one = prop_oneof![
            8 => 20_000_i64..21_000,
            3 => -500_i64..60_000,
            1 => -200_000_000_i64..200_000_000,
            1 => any::<i64>(),
        ];
        prop_oneof![prop::collection::vec(one, 0..40), prop::collection::vec(0_i64..3_000, 4_000..9_000)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn percentiles_equal_brute_force(values in delays(), percent in 0.0..=100.0_f64) {
            let mut histogram = histogram(values.iter().copied());
            for percent in [percent, 0.0, 50.0, 95.0, 99.0, 100.0] {
                prop_assert_eq!(histogram.percentile_us(percent), brute_force(&values, percent));
            }
            if let Some(summary) = histogram.summary() {
                prop_assert_eq!(Some(summary.p10_us), brute_force(&values, 10.0));
                prop_assert_eq!(Some(summary.p50_us), brute_force(&values, 50.0));
                prop_assert_eq!(Some(summary.p95_us), brute_force(&values, 95.0));
                prop_assert_eq!(Some(summary.p99_us), brute_force(&values, 99.0));
                prop_assert_eq!(Some(summary.min_us), values.iter().min().copied());
                prop_assert_eq!(Some(summary.max_us), values.iter().max().copied());
            }
        }

        #[test]
        fn merging_equals_recording_everything(a in delays(), b in delays(), c in delays()) {
            let mut merged = histogram(a.iter().copied());
            merged.merge(&histogram(b.iter().copied()));
            merged.merge(&histogram(c.iter().copied()));
            let all = [a, b, c].concat();
            prop_assert_eq!(merged.count(), all.len() as u64);
            for percent in [0.0, 5.0, 50.0, 95.0, 100.0] {
                prop_assert_eq!(merged.percentile_us(percent), brute_force(&all, percent));
            }
        }
    }
}
