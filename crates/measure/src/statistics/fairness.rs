//! Fairness of shares, and harm done by a competitor.

/// Returns Jain's fairness index `(sum x)^2 / (n * sum x^2)` (Jain, Chiu, Hawe 1984): 1 if all shares are equal, 1/n if
/// one has everything. `None` if there is nothing to share.
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    jain_index_of(shares.iter().copied())
}

/// Returns [`jain_index`] without a slice.
pub(crate) fn jain_index_of(shares: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum, squares) =
        shares.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

/// Returns the entropy of the shares, nat: `ln n` if all n are equal, 0 if one has everything. `None` if there is
/// nothing to share.
pub(crate) fn entropy_of(shares: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let sum: f64 = shares.clone().sum();
    (sum > 0.0).then(|| {
        let terms = shares.filter(|&share| share > 0.0).map(|share| share / sum).map(|p| p * libm::log(p));
        // A single share gives 1 ln 1: without the absolute value its entropy would be -0.
        terms.sum::<f64>().abs()
    })
}

/// Returns the harm that a competitor does to a victim by one metric (Ware et al., `HotNets` 2019): the fraction of the
/// performance alone, `solo`, that is lost `with` the competitor. 0 means no harm, 1 total loss; a negative value means
/// that the victim gains.
///
/// For metrics of which less is better (delay, loss) it is the fraction of the value `with` the competitor that would
/// not be there without the competitor. `None` for values that are negative or not finite, and if that fraction has the
/// denominator zero.
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

#[cfg(test)]
mod tests {
    use super::*;

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
        // 15 alone, 3 with the competitor: 80 % harm; 50 ms alone, 200 ms with the competitor: 75 %.
        assert_eq!((harm(15.0, 3.0, true), harm(50.0, 200.0, false)), (Some(0.8), Some(0.75)));
        assert_eq!((harm(15.0, 0.0, true), harm(0.0, 0.01, false)), (Some(1.0), Some(1.0)));
        // A victim can gain.
        assert_eq!((harm(10.0, 12.0, true), harm(100.0, 50.0, false)), (Some(-0.2), Some(-1.0)));
        assert_eq!((harm(0.0, 0.0, true), harm(0.0, 0.0, false)), (Some(0.0), Some(0.0)));
        assert_eq!((harm(0.0, 1.0, true), harm(1.0, 0.0, false)), (None, None));
        assert_eq!((harm(-1.0, 1.0, true), harm(1.0, f64::NAN, false)), (None, None));
    }
}
