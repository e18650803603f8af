//! Pantheon's replication error: the distance between a path and its model.

use super::averages::mean;

/// Throughput and delay by which Pantheon compares a path with its model, for one scheme, or for one scheme and flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Throughput over the runs (mean or median), Mbit/s.
    pub throughput_mbps: f64,
    /// 95th percentile of the one-way delay over the runs (mean or median), ms.
    pub delay_p95_ms: f64,
}

/// Error of a path's model, as fractions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicationError {
    /// Mean relative error of the throughput.
    pub throughput: f64,
    /// Mean relative error of the delay.
    pub delay: f64,
    /// Mean of both errors.
    pub overall: f64,
}

/// Returns Pantheon's replication error over pairs of (real, model): mean relative error of the throughput and of the
/// delay, both weighted equally (Yan et al., USENIX ATC 2018, section 5).
///
/// For several flows there is one pair per scheme and flow. `None` without pairs or if a real value is not positive.
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
        // Half the throughput and an equal delay: 50 %, 0 %, 25 %.
        let error = replication_error(&[(outcome((2.0, 5.0)), outcome((1.0, 5.0)))]).unwrap();
        assert_eq!((error.throughput, error.delay, error.overall), (0.5, 0.0, 0.25));
    }
}
