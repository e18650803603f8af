//! Comparison of the later half of samples with the earlier half, in bounded memory.

/// Maximum number of sums; up to this number of samples each sum has one sample.
const MOST: usize = 4096;
/// Number of sums for which memory is allocated at first.
const USUAL: usize = 256;

/// Samples in the order of their arrival. Beyond [`MOST`] samples neighbours are added up. A half may then begin within
/// such a sum and gets its share of it.
#[derive(Clone, Debug)]
pub(crate) struct Halves {
    /// Sums of `group` samples each; the last one may have fewer.
    sums: Vec<f64>,
    group: usize,
    count: usize,
    total: f64,
}

impl Halves {
    /// Returns an empty set of samples.
    pub(crate) fn new() -> Self {
        Self { sums: Vec::with_capacity(USUAL), group: 1, count: 0, total: 0.0 }
    }

    /// Forgets all samples.
    pub(crate) fn clear(&mut self) {
        self.sums.clear();
        (self.group, self.count, self.total) = (1, 0, 0.0);
    }

    /// Adds a sample.
    #[inline]
    pub(crate) fn push(&mut self, sample: f64) {
        if self.count == self.sums.len() * self.group {
            if self.sums.len() == MOST {
                self.add_neighbours();
            }
            self.sums.push(0.0);
        }
        if let Some(last) = self.sums.last_mut() {
            *last += sample;
        }
        self.count += 1;
        self.total += sample;
    }

    #[cold]
    fn add_neighbours(&mut self) {
        for place in 0..MOST / 2 {
            self.sums[place] = self.sums[2 * place] + self.sums[2 * place + 1];
        }
        self.sums.truncate(MOST / 2);
        self.group *= 2;
    }

    /// Number of samples.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// Returns the mean; `None` without samples.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total / self.count as f64)
    }

    /// Returns the mean of the later half less the mean of the earlier half; 0 for fewer than two samples. If the
    /// number is odd, the earlier half is the smaller one.
    pub(crate) fn growth(&self) -> f64 {
        let half = self.count / 2;
        if half == 0 {
            return 0.0;
        }
        let whole = half / self.group;
        let mut earlier: f64 = self.sums[..whole].iter().sum();
        let mut later: f64 = self.sums[whole..].iter().sum();
        let rest = half % self.group;
        if rest > 0 {
            let shared = self.group.min(self.count - whole * self.group);
            let part = self.sums[whole] * rest as f64 / shared as f64;
            (earlier, later) = (earlier + part, later - part);
        }
        later / (self.count - half) as f64 - earlier / half as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: impl Iterator<Item = f64>) -> Halves {
        let mut halves = Halves::new();
        samples.for_each(|sample| halves.push(sample));
        halves
    }

    #[test]
    fn halves_are_compared_and_the_later_one_is_the_larger() {
        let mut halves = of([1.0, 2.0, 4.0, 6.0, 8.0].into_iter());
        assert_eq!((halves.count(), halves.mean(), halves.growth()), (5, Some(4.2), 6.0 - 1.5));
        halves.clear();
        assert_eq!((halves.mean(), halves.growth()), (None, 0.0));
        halves.push(3.0);
        assert_eq!((halves.mean(), halves.growth()), (Some(3.0), 0.0));
    }

    #[test]
    fn many_samples_take_no_more_memory_and_are_told_as_exactly_where_they_grow_evenly() {
        for count in [MOST, MOST + 1, 3 * MOST + 7, 100 * MOST + 333] {
            let halves = of((0..count).map(|sample| sample as f64));
            let half = count / 2;
            let exact = (half + count - 1) as f64 / 2.0 - (half - 1) as f64 / 2.0;
            assert!((halves.growth() / exact - 1.0).abs() < 1e-3, "{count}: {} {exact}", halves.growth());
            assert_eq!((halves.count(), halves.sums.capacity()), (count, MOST));
        }
    }
}
