//! Statistics over runs and over flows.

use units::Rng;

/// Arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Median (mean of the two middle values if their number is even); `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { upper } else { f64::midpoint(sorted[middle - 1], upper) })
}

/// Sample standard deviation (divisor `n - 1`); `None` of fewer than two values.
pub fn sample_standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// Percentile bootstrap confidence interval of the mean (Efron and Tibshirani 1993, section 13.3): `resamples` means of
/// as many values drawn with replacement; the interval cuts off `(1 - level) / 2` of them on either side.
///
/// `None` of fewer than two values, without resamples, or if `level` is not between 0 and 1.
pub fn bootstrap_interval(values: &[f64], level: f64, resamples: usize, rng: &mut Rng) -> Option<(f64, f64)> {
    if values.len() < 2 || resamples == 0 || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let n = values.len() as u64;
    let mut means: Vec<f64> = (0..resamples)
        .map(|_| (0..n).map(|_| values[rng.below(n) as usize]).sum::<f64>() / n as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    let last = (resamples - 1) as f64;
    let at = |fraction: f64| means[(fraction * last).round_ties_even() as usize];
    Some((at((1.0 - level) / 2.0), at(f64::midpoint(1.0, level))))
}

/// Jain's fairness index `(sum x)^2 / (n * sum x^2)` (Jain, Chiu, Hawe 1984): 1 if all shares are equal, 1/n if one has
/// everything. `None` if there is nothing to share.
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    jain_index_of(shares.iter().copied())
}

/// [`jain_index`] without a slice.
pub(crate) fn jain_index_of(shares: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum, squares) =
        shares.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

/// Entropy of the shares, nat: `ln n` if all n are equal, 0 if one has everything. `None` if there is nothing to share.
pub(crate) fn entropy_of(shares: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let sum: f64 = shares.clone().sum();
    (sum > 0.0).then(|| {
        let terms = shares.filter(|&share| share > 0.0).map(|share| share / sum).map(|p| p * libm::log(p));
        // One share alone is 1 ln 1: without the absolute value its entropy would be -0.
        terms.sum::<f64>().abs()
    })
}

/// Harm that a competitor does to a victim by one metric (Ware et al., `HotNets` 2019): of the performance alone `solo`
/// the fraction that is gone `with` the competitor; 0 is none, 1 everything, negative that the victim gains.
///
/// Of metrics of which less is better (delay, loss) it is the fraction of the value `with` the competitor that would
/// not be there without. `None` of values that are negative or not finite, and where that fraction is of zero.
pub fn harm(solo: f64, with: f64, more_is_better: bool) -> Option<f64> {
    if !(solo >= 0.0 && with >= 0.0 && solo.is_finite() && with.is_finite()) {
        return None;
    }
    if solo == with {
        return Some(0.0);
    }
    let (lost, of) = if more_is_better { (solo - with, solo) } else { (with - solo, with) };
    (of > 0.0).then(|| lost / of)
}

/// The two numbers by which Pantheon compares a path with its model: of one scheme, or of one scheme and flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Throughput over the runs (mean or median), Mbit/s.
    pub throughput_mbps: f64,
    /// 95th percentile of the one-way delay over the runs (mean or median), ms.
    pub delay_p95_ms: f64,
}

/// How far a model of a path is from the path, as fractions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicationError {
    /// Mean relative error of the throughput.
    pub throughput: f64,
    /// Mean relative error of the delay.
    pub delay: f64,
    /// Mean of both.
    pub overall: f64,
}

/// Pantheon's replication error over pairs of (real, model): mean relative error of the throughput and of the delay,
/// both weighted equally (Yan et al., USENIX ATC 2018, section 5).
///
/// For several flows the pairs are one per scheme and flow. `None` without pairs or if a real value is not positive.
pub fn replication_error(pairs: &[(Outcome, Outcome)]) -> Option<ReplicationError> {
    let relative = |value: fn(&Outcome) -> f64| -> Option<f64> {
        let errors = pairs.iter().map(|(real, model)| {
            let real = value(real);
            (real > 0.0).then(|| (value(model) - real).abs() / real)
        });
        mean(&errors.collect::<Option<Vec<_>>>()?)
    };
    let throughput = relative(|outcome| outcome.throughput_mbps)?;
    let delay = relative(|outcome| outcome.delay_p95_ms)?;
    Some(ReplicationError { throughput, delay, overall: f64::midpoint(throughput, delay) })
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

    #[test]
    fn jain_is_one_over_n_when_one_flow_takes_all() {
        assert_eq!(jain_index(&[7.0]), Some(1.0));
        assert_eq!(jain_index(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        // Shares 3:1: 16 / (2 x 10) = 0.8.
        assert_eq!(jain_index(&[3.0, 1.0]), Some(0.8));
        assert_eq!((jain_index(&[]), jain_index(&[0.0, 0.0])), (None, None));
    }

    #[test]
    fn entropy_is_ln_n_when_all_shares_are_equal() {
        let entropy = |shares: &[f64]| entropy_of(shares.iter().copied());
        assert_eq!(entropy(&[7.0]).map(f64::to_bits), Some(0.0_f64.to_bits()));
        assert_eq!((entropy(&[7.0, 0.0]), entropy(&[]), entropy(&[0.0])), (Some(0.0), None, None));
        assert!((entropy(&[5.0; 6]).unwrap() - libm::log(6.0)).abs() < 1e-12);
        // Shares 3:1: -(0.75 ln 0.75 + 0.25 ln 0.25).
        assert!((entropy(&[3.0, 1.0]).unwrap() - 0.5623).abs() < 5e-5);
    }

    #[test]
    fn harm_is_the_part_that_the_competitor_takes() {
        // 15 alone, 3 beside the other: 80 % harm; 50 ms alone, 200 ms beside it: 75 %.
        assert_eq!((harm(15.0, 3.0, true), harm(50.0, 200.0, false)), (Some(0.8), Some(0.75)));
        assert_eq!((harm(15.0, 0.0, true), harm(0.0, 0.01, false)), (Some(1.0), Some(1.0)));
        // A victim can gain.
        assert_eq!((harm(10.0, 12.0, true), harm(100.0, 50.0, false)), (Some(-0.2), Some(-1.0)));
        assert_eq!((harm(0.0, 0.0, true), harm(0.0, 0.0, false)), (Some(0.0), Some(0.0)));
        assert_eq!((harm(0.0, 1.0, true), harm(1.0, 0.0, false)), (None, None));
        assert_eq!((harm(-1.0, 1.0, true), harm(1.0, f64::NAN, false)), (None, None));
    }

    #[test]
    fn bootstrap_repeats_with_its_seed_and_covers_about_the_normal_interval() {
        let mut rng = Rng::new(3, "sample");
        let values: Vec<f64> = (0..400).map(|_| rng.normal(10.0, 2.0)).collect();
        let interval =
            |seed| bootstrap_interval(&values, 0.95, 4_000, &mut Rng::new(seed, "bootstrap")).unwrap();
        assert_eq!(interval(1), interval(1));
        assert_ne!(interval(1), interval(2));
        // Normal theory: mean +- 1.96 s / sqrt(n). With 4,000 resamples either end is known to about 3 %.
        let (low, high) = interval(1);
        let half = 1.96 * sample_standard_deviation(&values).unwrap() / 20.0;
        let mean = mean(&values).unwrap();
        assert!((low - (mean - half)).abs() < 0.1 * half, "{low} {mean} {half}");
        assert!((high - (mean + half)).abs() < 0.1 * half, "{high} {mean} {half}");
    }

    #[test]
    fn bootstrap_of_equal_values_is_a_point_and_bad_inputs_have_none() {
        let mut rng = Rng::new(1, "bootstrap");
        assert_eq!(bootstrap_interval(&[4.0, 4.0], 0.9, 100, &mut rng), Some((4.0, 4.0)));
        for (values, level, resamples) in
            [(&[4.0][..], 0.9, 10), (&[1.0, 2.0], 0.9, 0), (&[1.0, 2.0], 1.0, 10)]
        {
            assert_eq!(bootstrap_interval(values, level, resamples, &mut rng), None);
        }
        assert_eq!(bootstrap_interval(&[1.0, 2.0], f64::NAN, 10, &mut rng), None);
    }

    fn outcome((throughput_mbps, delay_p95_ms): (f64, f64)) -> Outcome {
        Outcome { throughput_mbps, delay_p95_ms }
    }

    #[test]
    fn replication_error_of_the_nepal_path_is_the_published_one() {
        // Pantheon, USENIX ATC 2018, figure 3a (path 188): nine schemes, real and emulated, Mbit/s and ms. The page
        // computes 14.96 %, 23.16 %, 19.06 % from the figure's own points; the paper prints 19.1 %.
        let points = [
            ((0.436, 261.4), (0.401, 274.4)),
            ((0.405, 214.3), (0.397, 215.8)),
            ((0.506, 325.3), (0.522, 482.0)),
            ((0.479, 271.1), (0.517, 373.9)),
            ((0.181, 78.7), (0.090, 93.8)),
            ((0.226, 119.9), (0.247, 146.3)),
            ((0.502, 228.7), (0.478, 313.5)),
            ((0.393, 211.7), (0.324, 175.0)),
            ((0.354, 343.1), (0.466, 415.4)),
        ];
        let pairs = points.map(|(real, model)| (outcome(real), outcome(model)));
        let error = replication_error(&pairs).unwrap();
        assert!((error.throughput - 0.1496).abs() < 5e-4, "{error:?}");
        assert!((error.delay - 0.2316).abs() < 5e-4, "{error:?}");
        assert!((error.overall - 0.1906).abs() < 5e-4, "{error:?}");
    }

    #[test]
    fn replication_error_needs_real_values() {
        assert_eq!(replication_error(&[]), None);
        assert_eq!(replication_error(&[(outcome((0.0, 5.0)), outcome((1.0, 5.0)))]), None);
        // Half the throughput, the same delay: 50 %, 0 %, 25 %.
        let error = replication_error(&[(outcome((2.0, 5.0)), outcome((1.0, 5.0)))]).unwrap();
        assert_eq!((error.throughput, error.delay, error.overall), (0.5, 0.0, 0.25));
    }
}
