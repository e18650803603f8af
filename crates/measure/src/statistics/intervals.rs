//! Confidence intervals of means, and tests of differences between means.

use super::averages::{mean, sample_standard_deviation, sample_variance};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Minimum number of values for an interval. Suppose that values have two equally likely results. Then a quarter of all
/// samples of three values has no scatter at all, and an eighth of all samples of four. So no interval holds its level.
/// From five values on it does, as a test shows.
pub const FEWEST_FOR_INTERVAL: usize = 5;

/// Returns the confidence interval of the mean: Student's t on the values or on their logarithms, at each end the one
/// that reaches further.
///
/// On the logarithms it is Cox's interval of a log-normal mean with t for the normal quantile (Olsson 2005, Journal of
/// Statistics Education 13(1), the modified Cox method): `exp(m + v/2 +- t sqrt(v/n + v^2 / (2 (n - 1))))` of their
/// mean and variance. It counts if all values are positive. Alone it holds for no other distribution, and Student's
/// interval alone is too short for skewed ones. If no value is negative, the lower end is not negative either.
///
/// `None` for fewer than [`FEWEST_FOR_INTERVAL`] values, for values without scatter, which give no estimate of it, for
/// values that are not finite, or if `level` is not between 0 and 1.
pub fn confidence_interval(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let (mut low, mut high) = student_interval(values, level)?;
    if let Some((lower, upper)) = cox_interval(values, level) {
        (low, high) = (low.min(lower), high.max(upper));
    }
    if values.iter().all(|&value| value >= 0.0) {
        low = low.max(0.0);
    }
    Some((low, high))
}

/// Returns the confidence interval of the mean of fractions of a whole: Student's t alone, limited to at most 1. If no
/// value is negative, the lower end is at least 0.
///
/// Fractions have no long tail, and Cox's interval of their logarithms could end above 1. `None` in the cases of
/// [`confidence_interval`].
pub fn fraction_interval(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let (low, high) = student_interval(values, level)?;
    let least = if values.iter().all(|&value| value >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
    let most = if values.iter().all(|&value| value <= 1.0) { 1.0 } else { f64::INFINITY };
    Some((low.max(least), high.min(most)))
}

fn student_interval(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let n = values.len();
    let deviation = sample_standard_deviation(values)?;
    let has_scatter = deviation.is_finite() && values.iter().any(|&value| value != values[0]);
    if n < FEWEST_FOR_INTERVAL || !has_scatter || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let half = quantile(f64::midpoint(1.0, level), (n - 1) as f64)? * deviation / (n as f64).sqrt();
    let mean = mean(values)?;
    Some((mean - half, mean + half))
}

fn cox_interval(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let logarithms: Vec<f64> =
        values.iter().map(|&value| (value > 0.0).then(|| libm::log(value))).collect::<Option<_>>()?;
    let n = logarithms.len() as f64;
    let variance = sample_variance(&logarithms)?;
    let error = (variance / n + variance * variance / (2.0 * (n - 1.0))).sqrt();
    let half = quantile(f64::midpoint(1.0, level), n - 1.0)? * error;
    let middle = mean(&logarithms)? + variance / 2.0;
    Some((libm::exp(middle - half), libm::exp(middle + half)))
}

/// Returns the value that Student's t does not exceed with `probability`; `None` unless that is between 0 and 1 and
/// `freedom` positive.
pub fn quantile(probability: f64, freedom: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    (probability > 0.0 && probability < 1.0).then(|| student.inverse_cdf(probability))
}

/// Difference between two means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Lower end of the interval of the second mean less the first.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Probability that means of equal populations differ at least this much.
    pub p: f64,
    /// Difference that the given number of runs with the given scatter shows at this level with probability [`POWER`].
    pub would_show: f64,
}

/// Probability with which a difference of [`Difference::would_show`] is shown.
pub const POWER: f64 = 0.8;

/// Returns the difference between the means of two samples, by Student's t with Welch's degrees of freedom (Welch 1947,
/// Biometrika 34, 28-35).
///
/// `None` for fewer than [`FEWEST_FOR_INTERVAL`] values on either side, or without any scatter.
pub fn difference(first: &[f64], second: &[f64], level: f64) -> Option<Difference> {
    if first.len().min(second.len()) < FEWEST_FOR_INTERVAL {
        return None;
    }
    let share = |values: &[f64]| Some(sample_variance(values)? / values.len() as f64);
    let (one, other) = (share(first)?, share(second)?);
    let freedom = (one + other) * (one + other)
        / (one * one / (first.len() - 1) as f64 + other * other / (second.len() - 1) as f64);
    tested(mean(second)? - mean(first)?, (one + other).sqrt(), freedom, level)
}

/// Returns the difference of values in pairs, such as runs with one seed: Student's t of the differences within the
/// pairs.
pub fn paired_difference(first: &[f64], second: &[f64], level: f64) -> Option<Difference> {
    if first.len() != second.len() || first.len() < FEWEST_FOR_INTERVAL {
        return None;
    }
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| b - a).collect();
    let n = differences.len() as f64;
    let error = sample_standard_deviation(&differences)? / n.sqrt();
    tested(mean(&differences)?, error, n - 1.0, level)
}

fn tested(difference: f64, error: f64, freedom: f64, level: f64) -> Option<Difference> {
    if !(error > 0.0 && error.is_finite() && level > 0.0 && level < 1.0) {
        return None;
    }
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let half = student.inverse_cdf(f64::midpoint(1.0, level)) * error;
    let p = (2.0 * student.sf((difference / error).abs())).min(1.0);
    let would_show = half + student.inverse_cdf(POWER) * error;
    Some(Difference { low: difference - half, high: difference + half, p, would_show })
}

/// Returns the probabilities of many tests made at once, adjusted (Holm 1979, Scandinavian Journal of Statistics 6,
/// 65-70). If all results below 0.05 are called different, then with 95 % none of them is so by chance. The order is
/// kept.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    let mut adjusted = vec![0.0; probabilities.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(((order.len() - rank) as f64 * probabilities[index]).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rng;

    #[test]
    fn an_interval_of_fractions_stays_within_the_whole() {
        let shares = [0.247, 0.384, 0.370, 0.009, 0.120];
        let (low, high) = fraction_interval(&shares, 0.95).unwrap();
        assert!((low - 0.025).abs() < 1e-3 && (high - 0.427).abs() < 1e-3, "{low} to {high}");
        let (turned, ends) = fraction_interval(&shares.map(|share| 1.0 - share), 0.95).unwrap();
        assert!((turned - (1.0 - high)).abs() < 1e-12 && (ends - (1.0 - low)).abs() < 1e-12);
        assert_eq!(fraction_interval(&[0.99, 1.0, 0.98, 1.0, 0.96], 0.95).unwrap().1, 1.0);
        assert_eq!(fraction_interval(&[0.0, 0.0, 0.0, 0.1, 0.0], 0.95).unwrap().0, 0.0);
        assert!(fraction_interval(&[-0.2, 0.1, 0.1, -0.1, 0.0], 0.95).unwrap().0 < -0.1);
        assert_eq!(fraction_interval(&[0.1, 0.2], 0.95), None);
    }

    #[test]
    fn students_interval_is_that_of_the_tables() {
        // t of 4 degrees of freedom at 97.5 %: 2.776; mean 3, deviation sqrt(2.5), half 2.776 sqrt(2.5 / 5) = 1.963.
        let (low, high) = student_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).unwrap();
        assert!((low - 1.037).abs() < 1e-3 && (high - 4.963).abs() < 1e-3, "{low} {high}");
        // Logarithms 0 to 4: mean 2, variance 2.5; half 2.776 sqrt(0.5 + 6.25 / 8) = 3.143 about 3.25.
        let values = [0.0, 1.0, 2.0, 3.0, 4.0].map(libm::exp);
        let (low, high) = cox_interval(&values, 0.95).unwrap();
        assert!(
            (low - libm::exp(0.107)).abs() < 2e-3 && (high / libm::exp(6.393) - 1.0).abs() < 2e-3,
            "{low} {high}"
        );
        // The wider one at either end, and never below zero for values that are not: Student's lower end is negative.
        assert!(student_interval(&values, 0.95).unwrap().0 < 0.0);
        let both = confidence_interval(&values, 0.95).unwrap();
        assert_eq!((both.0.to_bits(), both.1), (0.0_f64.to_bits(), high));
    }

    #[test]
    fn too_few_values_and_values_without_scatter_have_no_interval() {
        assert_eq!(confidence_interval(&[1.0, 2.0, 3.0, 4.0], 0.95), None);
        assert_eq!(confidence_interval(&[4.0; 8], 0.95), None);
        for level in [0.0, 1.0, f64::NAN] {
            assert_eq!(confidence_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], level), None);
        }
        assert_eq!(confidence_interval(&[1.0, 2.0, 3.0, 4.0, f64::INFINITY], 0.95), None);
        assert_eq!(difference(&[1.0; 4], &[2.0, 3.0, 4.0, 5.0, 6.0], 0.95), None);
        assert_eq!(paired_difference(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.5, 2.5, 3.5, 4.5, 5.5], 0.95), None);
    }

    /// Returns the percentage of samples of `n` values for which `holds` is true. With 8,000 samples the standard error
    /// is 0.24.
    fn covers(n: usize, draw: impl Fn(&mut Rng) -> f64, holds: impl Fn(&[f64]) -> bool) -> f64 {
        let mut rng = Rng::new(n as u64, "coverage");
        let hits = (0..8_000).filter(|_| {
            let values: Vec<f64> = (0..n).map(|_| draw(&mut rng)).collect();
            holds(&values)
        });
        hits.count() as f64 / 80.0
    }

    fn is_in(interval: Option<(f64, f64)>, truth: f64) -> bool {
        interval.is_some_and(|(low, high)| low <= truth && truth <= high)
    }

    #[test]
    fn an_interval_called_95_percent_covers_95_percent() {
        let log_normal = |deviation: f64| move |rng: &mut Rng| libm::exp(rng.normal(0.0, deviation));
        let log_mean = |deviation: f64| libm::exp(deviation * deviation / 2.0);
        for n in [5, 6, 8, 10, 30] {
            let holds = |truth: f64| move |values: &[f64]| is_in(confidence_interval(values, 0.95), truth);
            let mut percentages = vec![
                covers(n, |rng| rng.normal(100.0, 3.0), holds(100.0)),
                covers(n, |rng| rng.normal(10.0, 2.0), holds(10.0)),
                covers(n, |rng| rng.normal(0.0, 1.0), holds(0.0)),
            ];
            percentages
                .extend([0.1, 0.5, 1.0].map(|sigma| covers(n, log_normal(sigma), holds(log_mean(sigma)))));
            assert!(
                percentages.iter().all(|percent| (93.0..=97.0).contains(percent)),
                "{n}: {percentages:?}"
            );
            // Only few different samples are possible, so coverage moves in steps: 93.8 at 5, 97.9 at 10, 95.7 at 30.
            let two = covers(n, |rng| if rng.uniform() < 0.5 { 1.0 } else { 2.0 }, holds(1.5));
            assert!((92.0..=98.5).contains(&two), "{n}: {two}");
        }
    }

    #[test]
    fn of_fewer_than_five_no_interval_would_hold() {
        for (n, most) in [(3, 77.0), (4, 89.0)] {
            let scattered = covers(
                n,
                |rng| if rng.uniform() < 0.5 { 1.0 } else { 2.0 },
                |values| values.iter().any(|&value| value != values[0]),
            );
            assert!(
                scattered < most,
                "{n}: even an endless interval, where there is scatter, holds in {scattered} %"
            );
        }
    }

    #[test]
    fn equal_means_are_called_different_in_one_of_twenty() {
        let log_normal = |rng: &mut Rng| libm::exp(rng.normal(0.0, 0.5));
        for n in [5, 10, 30] {
            let apart = covers(2 * n, log_normal, |values| {
                difference(&values[..n], &values[n..], 0.95).is_some_and(|found| found.p < 0.05)
            });
            let paired = covers(
                2 * n,
                |rng| rng.normal(5.0, 1.0),
                |values| {
                    paired_difference(&values[..n], &values[n..], 0.95).is_some_and(|found| found.p < 0.05)
                },
            );
            assert!((2.0..=7.0).contains(&apart) && (4.0..=6.0).contains(&paired), "{n}: {apart} {paired}");
        }
    }

    #[test]
    fn pairs_find_what_their_common_scatter_hides() {
        let first = [10.0, 20.0, 30.0, 40.0, 50.0];
        let second = [11.1, 20.9, 31.0, 41.2, 50.8];
        // Differences 1.1, 0.9, 1, 1.2, 0.8: mean 1, deviation sqrt(0.025), half 2.776 sqrt(0.005) = 0.196.
        let interval = paired_difference(&first, &second, 0.95).unwrap();
        assert!((interval.low - 0.804).abs() < 1e-3 && (interval.high - 1.196).abs() < 1e-3, "{interval:?}");
        assert!(interval.p < 0.001);
        assert!(difference(&first, &second, 0.95).unwrap().p > 0.9);
    }

    #[test]
    fn many_tests_need_more_evidence_each() {
        // Holm: 3 x 0.01, 2 x 0.02, 1 x 0.03, each at least the previous one.
        let adjusted = holm(&[0.03, 0.01, 0.02]);
        assert!(adjusted.iter().zip([0.04, 0.03, 0.04]).all(|(a, b)| (a - b).abs() < 1e-12), "{adjusted:?}");
        assert_eq!((holm(&[]), holm(&[0.4, 0.9])), (vec![], vec![0.8, 0.9]));
    }
}
