//! Thinning of the points in a figure of all packets: points that look alike are left out.

use std::collections::HashSet;

/// Number of cells of a figure along time, and along delays on a linear axis: twice its pixels.
const COLUMNS: u64 = 1440;
const ROWS: f64 = 720.0;
/// Base-2 logarithm of the steps of a delay between two powers of two, on a logarithmic axis. A difference below one
/// percent is invisible.
const STEPS_BITS: u32 = 8;

/// Number and ranges of all points before thinning.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Number of points.
    pub points: u64,
    last_ns: u64,
    /// Minimum delay, ns.
    pub low_ns: i64,
    /// Maximum delay, ns.
    pub high_ns: i64,
}

impl Default for Extent {
    fn default() -> Self {
        Self::new()
    }
}

impl Extent {
    /// Returns an extent without points.
    pub const fn new() -> Self {
        Self { points: 0, last_ns: 0, low_ns: i64::MAX, high_ns: i64::MIN }
    }

    /// Counts a point.
    pub fn add(&mut self, time_ns: u64, delay_ns: i64) {
        self.points += 1;
        self.last_ns = self.last_ns.max(time_ns);
        self.low_ns = self.low_ns.min(delay_ns);
        self.high_ns = self.high_ns.max(delay_ns);
    }

    /// Returns the minimum and maximum delay, ms; `None` without points.
    pub fn range_ms(&self) -> Option<(f64, f64)> {
        (self.points > 0).then(|| (self.low_ns as f64 / 1e6, self.high_ns as f64 / 1e6))
    }
}

/// Keeps the first point of each flow in each cell, and the points at the ends of both axes. Points must come in time
/// order.
#[derive(Debug)]
pub struct Thinning {
    extent: Extent,
    column: u64,
    /// Flows and rows that have a point in this column.
    taken: HashSet<(u32, i64)>,
    /// True if the low end of the delays has a point, and the high end.
    ends: [bool; 2],
}

impl Thinning {
    /// Creates a thinning of the points of `extent`.
    pub fn new(extent: Extent) -> Self {
        Self { extent, column: 0, taken: HashSet::new(), ends: [false; 2] }
    }

    /// Returns true if the next point is kept.
    pub fn keeps(&mut self, flow: u32, time_ns: u64, delay_ns: i64) -> bool {
        let Extent { last_ns, low_ns, high_ns, .. } = self.extent;
        let column = (u128::from(time_ns) * u128::from(COLUMNS) / u128::from(last_ns.max(1))) as u64;
        if column != self.column {
            self.column = column;
            self.taken.clear();
        }
        let row = row((low_ns as f64, high_ns as f64), delay_ns as f64);
        let is_end = [delay_ns == low_ns && !self.ends[0], delay_ns == high_ns && !self.ends[1]];
        let is_kept = self.taken.insert((flow, row)) || time_ns == last_ns || is_end.contains(&true);
        if is_kept {
            self.ends = [self.ends[0] || delay_ns == low_ns, self.ends[1] || delay_ns == high_ns];
        }
        is_kept
    }
}

/// Returns the row of a delay on a linear axis, or on a logarithmic one if this separates more delays.
fn row((low, high): (f64, f64), delay: f64) -> i64 {
    let height = ((high - low) / ROWS).max(1.0);
    if delay > 0.0 && delay / f64::from(1 << STEPS_BITS) < height {
        // Exponent and first bits of the mantissa, as negative numbers, which differ from all rows of a linear axis.
        (delay.to_bits() >> (f64::MANTISSA_DIGITS - 1 - STEPS_BITS)) as i64 - (1 << 40)
    } else {
        ((delay - low) / height).floor() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(points: &[(u64, i64)]) -> Vec<(u64, i64)> {
        let mut extent = Extent::new();
        for &(time, delay) in points {
            extent.add(time, delay);
        }
        let mut thinning = Thinning::new(extent);
        points.iter().copied().filter(|&(time, delay)| thinning.keeps(1, time, delay)).collect()
    }

    #[test]
    fn what_cannot_be_told_apart_is_kept_once() {
        let points: Vec<(u64, i64)> =
            (0..1_000_000).map(|n| (n * 1000, 20_000_000 + (n as i64 % 7))).collect();
        let kept = kept(&points);
        assert!(kept.len() < 20_000, "{}", kept.len());
        let columns: HashSet<u64> = kept.iter().map(|(time, _)| time / 1_000_000).collect();
        assert_eq!(columns.len(), 1000, "no time is left out");
    }

    #[test]
    fn the_ends_of_both_axes_and_single_points_are_kept() {
        let mut points: Vec<(u64, i64)> = (0..100_000).map(|n| (n * 1000, 20_000_000)).collect();
        points[500].1 = 19_000_000;
        points[70_000].1 = 90_000_000;
        points[80_001].1 = 1_000_000;
        let kept = kept(&points);
        for point in [500, 70_000, 80_001, 99_999] {
            assert!(kept.contains(&points[point]), "{point}");
        }
    }

    #[test]
    fn small_delays_are_told_apart_beside_large_ones() {
        let ends = (1e6, 1e10);
        assert_ne!(row(ends, 1.00e6), row(ends, 1.01e6));
        assert_ne!(row(ends, 9.00e9), row(ends, 9.02e9));
        assert_eq!(row(ends, 9.001e9), row(ends, 9.002e9));
        assert_ne!(row((-5e6, 5e6), -1e6), row((-5e6, 5e6), 1e6));
    }
}
