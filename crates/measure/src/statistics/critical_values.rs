//! Critical values of Student's t as a table, for pages that test differences without this crate.

use serde::Serialize;

use super::intervals::{FEWEST_FOR_INTERVAL, quantile};

/// Number of nodes of the interpolation: 12 are exact to 1e-12, the rest is reserve.
const NODES: usize = 16;

/// Critical values of Student's t, two-sided, as interpolation nodes over the inverse of the degrees of freedom.
///
/// The value for `f` degrees of freedom, at least `min_values - 1`, is the barycentric interpolation at `1 / f`. With
/// nodes `x`, weights `w` and values `y` it is `sum(w / (1/f - x) * y) / sum(w / (1/f - x))`, or `y` if `1/f` equals
/// `x`. Its relative error is below 1e-9.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CriticalValues {
    /// Confidence level of one interval or test.
    pub level: f64,
    /// Minimum number of values for an interval.
    pub min_values: usize,
    /// Nodes: inverse degrees of freedom.
    pub inverse_freedom: Vec<f64>,
    /// Weight of each node.
    pub weights: Vec<f64>,
    /// Critical values at the nodes for 1, 2, ... tests made at once: row `k - 1` is exceeded by chance with
    /// probability `(1 - level) / k`.
    pub values: Vec<Vec<f64>>,
}

impl CriticalValues {
    /// Returns the table for up to `max_tests` tests made at once; `None` if `level` is not between 0 and 1.
    pub fn new(level: f64, max_tests: usize) -> Option<Self> {
        if !(level > 0.0 && level < 1.0) {
            return None;
        }
        // Chebyshev nodes from infinitely many degrees of freedom to the fewest
        let widest = 1.0 / (FEWEST_FOR_INTERVAL - 1) as f64;
        let angle = |node: usize| std::f64::consts::PI * (2 * node + 1) as f64 / (2 * NODES) as f64;
        let inverse_freedom: Vec<f64> =
            (0..NODES).map(|node| widest * (1.0 - libm::cos(angle(node))) / 2.0).collect();
        let weights =
            (0..NODES).map(|node| if node % 2 == 0 { 1.0 } else { -1.0 } * libm::sin(angle(node))).collect();
        let row = |tests: usize| -> Option<Vec<f64>> {
            let probability = 1.0 - (1.0 - level) / (2 * tests) as f64;
            inverse_freedom.iter().map(|inverse| quantile(probability, 1.0 / inverse)).collect()
        };
        let values = (1..=max_tests).map(row).collect::<Option<_>>()?;
        Some(Self { level, min_values: FEWEST_FOR_INTERVAL, inverse_freedom, weights, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the interpolated value, as a page computes it.
    fn value(table: &CriticalValues, tests: usize, freedom: f64) -> f64 {
        let (mut above, mut below) = (0.0, 0.0);
        let nodes = table.inverse_freedom.iter().zip(&table.weights).zip(&table.values[tests - 1]);
        for ((&node, &weight), &value) in nodes {
            let distance = 1.0 / freedom - node;
            if distance == 0.0 {
                return value;
            }
            above += weight / distance * value;
            below += weight / distance;
        }
        above / below
    }

    #[test]
    fn values_are_those_of_printed_tables() {
        // The level 5 %, two-sided, at 4, 10, 30 and 100 degrees of freedom; 5 % / 2 = 2.5 % at 4 and 10.
        let table = CriticalValues::new(0.95, 2).unwrap();
        for (tests, freedom, printed) in [
            (1, 4.0, 2.776),
            (1, 10.0, 2.228),
            (1, 30.0, 2.042),
            (1, 100.0, 1.984),
            (2, 4.0, 3.495),
            (2, 10.0, 2.634),
        ] {
            let quantile = value(&table, tests, freedom);
            assert!((quantile - printed).abs() < 6e-4, "{tests} {freedom}: {quantile}");
        }
    }

    #[test]
    fn interpolated_values_are_the_quantiles() {
        let table = CriticalValues::new(0.95, 12).unwrap();
        for tests in [1, 2, 5, 12] {
            let whole = (4..200).map(f64::from);
            // up to 10,000 degrees of freedom: beyond that the inverse of statrs itself has errors of up to 1e-4
            let broken = (0..260).map(|step| 4.0 * libm::pow(1.03, f64::from(step)));
            for freedom in whole.chain(broken) {
                let exact = quantile(1.0 - 0.05 / (2 * tests) as f64, freedom).unwrap();
                let off = (value(&table, tests, freedom) / exact - 1.0).abs();
                assert!(off < 1e-9, "{tests} tests, {freedom}: off by {off:e}");
            }
        }
    }

    #[test]
    fn many_degrees_of_freedom_are_nearly_the_normal_distribution() {
        // The first terms of the expansion in 1/f (Abramowitz and Stegun 26.7.5) with the normal quantile of 0.975.
        let table = CriticalValues::new(0.95, 1).unwrap();
        let z = 1.959_963_984_540_054_f64;
        for freedom in [1e5, 1e6, 1e9] {
            let second = (5.0 * z * z * z * z * z + 16.0 * z * z * z + 3.0 * z) / 96.0;
            let expected = z + (z * z * z + z) / (4.0 * freedom) + second / (freedom * freedom);
            assert!((value(&table, 1, freedom) / expected - 1.0).abs() < 1e-11, "{freedom}");
        }
    }

    #[test]
    fn a_level_that_is_none_has_no_table() {
        for level in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(CriticalValues::new(level, 1), None);
        }
        assert_eq!(CriticalValues::new(0.95, 0).unwrap().values, Vec::<Vec<f64>>::new());
    }
}
