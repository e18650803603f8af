//! Latest values of a series, with their mean, minimum and maximum.

use std::collections::VecDeque;

/// Series that remembers at most `most_values` values.
#[derive(Debug)]
pub(super) struct Recent {
    values: VecDeque<f64>,
    most_values: usize,
    sum: f64,
    least: f64,
    most: f64,
}

impl Recent {
    pub(super) fn new(most_values: usize) -> Self {
        Self {
            values: VecDeque::with_capacity(most_values),
            most_values,
            sum: 0.0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        }
    }

    pub(super) fn add(&mut self, value: f64) {
        let forgotten = if self.values.len() == self.most_values { self.values.pop_front() } else { None };
        self.values.push_back(value);
        self.sum += value - forgotten.unwrap_or(0.0);
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
        // All values are searched only if the minimum or the maximum is forgotten.
        if forgotten.is_some_and(|forgotten| forgotten <= self.least) {
            self.least = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        }
        if forgotten.is_some_and(|forgotten| forgotten >= self.most) {
            self.most = self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        }
    }

    pub(super) const fn sum(&self) -> f64 {
        self.sum
    }

    /// Returns the mean; there must be a value.
    pub(super) fn mean(&self) -> f64 {
        self.sum / self.values.len() as f64
    }

    /// Returns the minimum; there must be a value.
    pub(super) const fn least(&self) -> f64 {
        self.least
    }

    /// Returns the maximum; there must be a value.
    pub(super) const fn most(&self) -> f64 {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_counts_no_more() {
        let mut recent = Recent::new(3);
        let mut after = |value: f64| {
            recent.add(value);
            [recent.sum(), recent.mean(), recent.least(), recent.most()]
        };
        assert_eq!(after(5.0), [5.0, 5.0, 5.0, 5.0]);
        assert_eq!(after(1.0), [6.0, 3.0, 1.0, 5.0]);
        assert_eq!(after(3.0), [9.0, 3.0, 1.0, 5.0]);
        assert_eq!(after(2.0), [6.0, 2.0, 1.0, 3.0]);
        assert_eq!(after(4.0), [9.0, 3.0, 2.0, 4.0]);
        assert_eq!(after(4.0), [10.0, 10.0 / 3.0, 2.0, 4.0]);
        assert_eq!(after(4.0), [12.0, 4.0, 4.0, 4.0]);
    }
}
