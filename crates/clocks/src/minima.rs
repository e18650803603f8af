//! Smallest apparent delay of every short stretch of time, updated packet by packet.

use crate::Point;

/// Maximum stretches. Above this number, pairs of stretches are joined.
const CELLS: usize = 1 << 14;
/// Initial width of a stretch, ns.
const FIRST_WIDTH_NS: i64 = 1 << 20;
/// Maximum absolute time or apparent delay, ns: 36 years. No clock is further off, and sums of a few values fit into
/// an `i64`.
pub(crate) const FURTHEST_NS: i64 = 1 << 60;

/// Packet of one direction with the smallest apparent delay, in each of at most 16384 stretches of time.
///
/// Takes one pass, bounded memory and packets in any order. Delays far above the minimum tell nothing about a clock.
/// Thus millions of packets need not be stored.
#[derive(Clone, Debug)]
pub struct Minima {
    width_ns: i64,
    /// Number of the first cell: `at_ns / width_ns`, rounded down.
    first: i64,
    cells: Vec<Option<Point>>,
    packets: u64,
    beyond: bool,
}

impl Default for Minima {
    fn default() -> Self {
        Self { width_ns: FIRST_WIDTH_NS, first: 0, cells: Vec::new(), packets: 0, beyond: false }
    }
}

impl Minima {
    /// Adds a packet.
    pub fn push(&mut self, point: Point) {
        if !within(point.at_ns) || !within(point.apparent_ns) {
            self.beyond = true;
            return;
        }
        self.packets += 1;
        let mut cell = point.at_ns.div_euclid(self.width_ns);
        if self.cells.is_empty() {
            self.first = cell;
        }
        while cell.max(self.last()) - cell.min(self.first) >= CELLS as i64 {
            self.widen();
            cell = point.at_ns.div_euclid(self.width_ns);
        }
        if cell < self.first {
            let missing = (self.first - cell) as usize;
            self.cells.splice(0..0, std::iter::repeat_n(None, missing));
            self.first = cell;
        }
        let index = (cell - self.first) as usize;
        if index >= self.cells.len() {
            self.cells.resize(index + 1, None);
        }
        keep(&mut self.cells[index], point);
    }

    /// Returns the number of packets so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns true if a time or an apparent delay was further from zero than 36 years.
    pub(crate) fn beyond(&self) -> bool {
        self.beyond
    }

    /// Returns the stored packets in order of time.
    pub(crate) fn points(&self) -> impl Iterator<Item = Point> + '_ {
        self.cells.iter().flatten().copied()
    }

    fn last(&self) -> i64 {
        self.first + (self.cells.len() as i64 - 1).max(0)
    }

    fn widen(&mut self) {
        let first = self.first.div_euclid(2);
        let mut cells = vec![None; (self.last().div_euclid(2) - first + 1) as usize];
        for (offset, point) in self.cells.iter().enumerate() {
            if let Some(point) = *point {
                keep(&mut cells[((self.first + offset as i64).div_euclid(2) - first) as usize], point);
            }
        }
        self.cells = cells;
        self.first = first;
        self.width_ns *= 2;
    }
}

impl Extend<Point> for Minima {
    fn extend<I: IntoIterator<Item = Point>>(&mut self, points: I) {
        for point in points {
            self.push(point);
        }
    }
}

fn keep(cell: &mut Option<Point>, point: Point) {
    if cell.is_none_or(|kept| point.apparent_ns < kept.apparent_ns) {
        *cell = Some(point);
    }
}

pub(crate) fn within(ns: i64) -> bool {
    (-FURTHEST_NS..=FURTHEST_NS).contains(&ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_smallest_of_each_stretch_in_any_order() {
        let points: Vec<Point> = (0..400_000_i64)
            .map(|n| Point { at_ns: (n * 7919 % 400_000) * 1_000_000, apparent_ns: n % 1000 })
            .collect();
        let mut minima = Minima::default();
        minima.extend(points.iter().copied());
        assert_eq!(minima.packets(), 400_000);
        let points: Vec<Point> = minima.points().collect();
        assert!(points.len() <= CELLS && points.len() > CELLS / 4, "{}", points.len());
        assert!(points.is_sorted_by_key(|point| point.at_ns));
        for point in points {
            let cell = point.at_ns.div_euclid(minima.width_ns) - minima.first;
            assert!(
                minima.cells[cell as usize].is_some_and(|points| points.apparent_ns <= point.apparent_ns)
            );
        }
    }
}
