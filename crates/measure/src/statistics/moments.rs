//! Streaming mean and variance of values.

/// Count, mean and squared deviations (Welford 1962): equal values have exactly their value as mean and no variance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (value - self.mean);
    }

    /// Returns the mean; `None` without values, or if values left the range of numbers.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0 && self.mean.is_finite()).then_some(self.mean)
    }

    /// Returns the sample variance (divisor `n - 1`); `None` for fewer than two values.
    pub(crate) fn variance(&self) -> Option<f64> {
        (self.count > 1 && self.squares.is_finite()).then(|| self.squares / (self.count - 1) as f64)
    }

    /// Returns the standard deviation / mean; `None` if the mean is not positive.
    pub(crate) fn variation(&self) -> Option<f64> {
        let mean = self.mean().filter(|&mean| mean > 0.0)?;
        Some(self.variance()?.sqrt() / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        for &value in values {
            moments.add(value);
        }
        moments
    }

    #[test]
    fn equal_values_do_not_vary() {
        let moments = moments(&[0.1; 7]);
        assert_eq!(
            (moments.mean(), moments.variance(), moments.variation()),
            (Some(0.1), Some(0.0), Some(0.0))
        );
    }

    #[test]
    fn variance_divides_by_one_less_than_the_number_of_values() {
        // Mean 5, squares 32 (as in `statistics`).
        let moments = moments(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((moments.variance().unwrap() - 32.0 / 7.0).abs() < 1e-12);
        assert!((moments.variation().unwrap() - (32.0_f64 / 7.0).sqrt() / 5.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_have_no_statistics() {
        assert_eq!((moments(&[]).mean(), moments(&[3.0]).variance()), (None, None));
        assert_eq!(moments(&[0.0, 0.0]).variation(), None);
        assert_eq!(moments(&[f64::MAX, f64::INFINITY]).mean(), None);
    }
}
