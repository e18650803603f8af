//! Counts per value in pages that exist only for values that occur.

use core::ops::Range;

/// Values per page, as a power of two.
const PAGE_BITS: u32 = 6;
/// Values per page.
const PAGE: usize = 1 << PAGE_BITS;
/// Bytes per page: the price of the first value in it.
pub(crate) const PAGE_BYTES: usize = PAGE * size_of::<u16>();
/// Number of pages on either side of the anchor: 2^19 pages of 64 µs are 33 s. Values further away stay outside, so
/// that a few absurd delays cannot enlarge the directory too much.
const REACH: i64 = 1 << 19;
/// Directory entry of a page that does not exist.
const NONE: u32 = u32::MAX;

/// Returns the number of the page that holds `value`.
pub(crate) const fn page_of(value: i64) -> i64 {
    value >> PAGE_BITS
}

/// Counts of values around an anchor.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    /// Numbers of the pages that may exist.
    window: Range<i64>,
    /// Page number of `directory[0]`.
    first: i64,
    /// Index into `cells` per page number.
    directory: Vec<u32>,
    cells: Vec<[u16; PAGE]>,
}

impl Pages {
    /// Returns pages without values; most values are expected near `anchor`.
    pub(crate) fn around(anchor: i64) -> Self {
        let middle = page_of(anchor);
        let window = middle.saturating_sub(REACH)..middle.saturating_add(REACH);
        Self { window, first: middle, directory: Vec::new(), cells: Vec::new() }
    }

    /// Returns the value in the middle of the window.
    pub(crate) fn anchor(&self) -> i64 {
        (self.window.start + REACH) << PAGE_BITS
    }

    /// Counts `value` once, and returns true, if its page exists and its counter is not full.
    #[inline]
    pub(crate) fn increment(&mut self, value: i64) -> bool {
        let offset = page_of(value).wrapping_sub(self.first) as usize;
        let Some(page) = self.directory.get(offset).and_then(|&slot| self.cells.get_mut(slot as usize))
        else {
            return false;
        };
        let cell = &mut page[(value & (PAGE as i64 - 1)) as usize];
        let Some(next) = cell.checked_add(1) else { return false };
        *cell = next;
        true
    }

    /// Counts `value` `count` times; returns the number of counts that must be kept elsewhere, because the value lies
    /// outside the window or its counter overflowed.
    pub(crate) fn add(&mut self, value: i64, count: u64) -> u64 {
        let Some(slot) = self.slot(page_of(value)) else { return count };
        let cell = &mut self.cells[slot][(value & (PAGE as i64 - 1)) as usize];
        let total = u64::from(*cell) + count;
        *cell = total as u16;
        total - u64::from(*cell)
    }

    /// Returns the index of a page's counters, which are created if necessary.
    fn slot(&mut self, page: i64) -> Option<usize> {
        if !self.window.contains(&page) {
            return None;
        }
        let len = self.directory.len() as i64;
        // The directory grows at least twofold, so that a slowly moving delay does not copy it again and again.
        if page < self.first {
            let start = page.min(self.first - len).max(self.window.start);
            self.directory.splice(0..0, core::iter::repeat_n(NONE, (self.first - start) as usize));
            self.first = start;
        } else if page >= self.first + len {
            let end = (page + 1).max(self.first + 2 * len).min(self.window.end);
            self.directory.resize((end - self.first) as usize, NONE);
        }
        let entry = &mut self.directory[(page - self.first) as usize];
        if *entry == NONE {
            *entry = self.cells.len() as u32;
            self.cells.push([0; PAGE]);
        }
        Some(*entry as usize)
    }

    /// Returns every value that occurs, ascending, with its count.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        self.directory.iter().zip(self.first..).filter(|&(&slot, _)| slot != NONE).flat_map(
            |(&slot, page)| {
                let counts = self.cells[slot as usize].iter().zip(page << PAGE_BITS..);
                counts.filter(|&(&count, _)| count > 0).map(|(&count, value)| (value, u64::from(count)))
            },
        )
    }

    /// Returns the bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.directory.capacity() * size_of::<u32>() + self.cells.capacity() * PAGE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_grows_both_ways() {
        let mut pages = Pages::around(0);
        for value in [0, 1_000_000, -1_000_000, 64, -64, 0] {
            assert_eq!(pages.add(value, 1), 0);
        }
        let counts: Vec<_> = pages.iter().collect();
        assert_eq!(counts, [(-1_000_000, 1), (-64, 1), (0, 2), (64, 1), (1_000_000, 1)]);
    }

    #[test]
    fn values_outside_the_window_are_refused() {
        let mut pages = Pages::around(0);
        let edge = REACH << PAGE_BITS;
        assert_eq!((pages.add(edge, 3), pages.add(-edge - 1, 2)), (3, 2));
        assert_eq!((pages.add(edge - 1, 3), pages.add(-edge, 2)), (0, 0));
        assert!(!pages.increment(i64::MAX) && !pages.increment(i64::MIN));
    }

    #[test]
    fn a_full_counter_hands_the_rest_back() {
        let mut pages = Pages::around(0);
        assert_eq!(pages.add(7, 65_535), 0);
        assert!(!pages.increment(7));
        // 65,535 + 2 = 65,536 + 1: one stays, 65,536 go elsewhere.
        assert_eq!(pages.add(7, 2), 65_536);
        assert_eq!(pages.iter().collect::<Vec<_>>(), [(7, 1)]);
    }
}
