//! Averages, percentiles and deviations of values.

/// Returns the arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the median (mean of the two middle values if their number is even); `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { upper } else { f64::midpoint(sorted[middle - 1], upper) })
}

/// Returns the percentile by nearest rank as in Pantheon: the value number `percent / 100 (n - 1)` from 0 of n sorted
/// values, halves to even. `None` without values.
pub fn nearest_rank(values: &[f64], percent: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = percent / 100.0 * sorted.len().saturating_sub(1) as f64;
    sorted.get(place.round_ties_even() as usize).copied()
}

/// Returns the sample standard deviation (divisor `n - 1`); `None` for fewer than two values.
pub fn sample_standard_deviation(values: &[f64]) -> Option<f64> {
    sample_variance(values).map(f64::sqrt)
}

/// Returns the sample variance (divisor `n - 1`); `None` for fewer than two values.
pub(super) fn sample_variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| squares / (values.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_divides_by_one_less_than_the_number_of_values() {
        // Squares about the mean 5: 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32; 32 / 7.
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        assert_eq!(sample_standard_deviation(&values), Some((32.0_f64 / 7.0).sqrt()));
        assert_eq!((mean(&[]), sample_standard_deviation(&[1.0])), (None, None));
    }

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
