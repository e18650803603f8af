//! Sums and means over time bins, in bounded memory.

/// Maximum number of bins.
const MOST: usize = 1 << 11;
/// Width of the first bins, ns.
const FIRST_NS: u64 = 10_000_000;

/// Count and sum of values in each time bin.
#[derive(Clone, Debug)]
pub(super) struct Means {
    pub(super) width_ns: u64,
    pub(super) bins: Vec<(u64, f64)>,
}

impl Default for Means {
    fn default() -> Self {
        Self { width_ns: FIRST_NS, bins: Vec::new() }
    }
}

impl Means {
    pub(super) fn add(&mut self, time_ns: u64, value: f64) {
        while time_ns / self.width_ns >= MOST as u64 {
            self.width_ns = self.width_ns.saturating_mul(2);
            let joined =
                |pair: &[(u64, f64)]| pair.iter().fold((0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            self.bins = self.bins.chunks(2).map(joined).collect();
        }
        let bin = (time_ns / self.width_ns) as usize;
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, (0, 0.0));
        }
        self.bins[bin].0 += 1;
        self.bins[bin].1 += value;
    }

    /// Returns the count and the sum in the bins that overlap this time, and the duration of these bins, ns.
    pub(super) fn within(&self, from_ns: u64, to_ns: u64) -> (u64, f64, u64) {
        let from = ((from_ns / self.width_ns) as usize).min(self.bins.len());
        let to = (to_ns.div_ceil(self.width_ns) as usize).clamp(from, self.bins.len());
        let (count, sum) =
            self.bins[from..to].iter().fold((0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (count, sum, ((to - from) as u64).saturating_mul(self.width_ns))
    }

    /// Returns the mean over all bins.
    pub(super) fn mean(&self) -> Option<f64> {
        let (count, sum, _) = self.within(0, u64::MAX);
        (count > 0).then(|| sum / count as f64)
    }

    /// Returns the part of the run, `bins` bins long, with the largest mean: its beginning, end and mean.
    pub(super) fn largest(&self, bins: usize) -> Option<(u64, u64, f64)> {
        let bins = bins.clamp(1, self.bins.len().max(1));
        let means = self.bins.windows(bins).enumerate().filter_map(|(start, window)| {
            let (count, sum) = window.iter().fold((0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            (count > 0).then(|| {
                (
                    (start as u64).saturating_mul(self.width_ns),
                    ((start + bins) as u64).saturating_mul(self.width_ns),
                    sum / count as f64,
                )
            })
        });
        // the first of equals
        means.fold(
            None,
            |best: Option<(u64, u64, f64)>, one| {
                if best.is_some_and(|best| best.2 >= one.2) { best } else { Some(one) }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_with_the_largest_mean_is_found_after_bins_were_joined() {
        let mut means = Means::default();
        for at in 0..100_000_u64 {
            let value = if (40_000..50_000).contains(&at) { 9.0 } else { 1.0 };
            means.add(at * 1_000_000, value);
        }
        assert!(means.bins.len() <= MOST);
        let (from_ns, to_ns, mean) = means.largest(100).unwrap();
        assert!(
            mean > 8.9 && from_ns >= 39_900_000_000 && to_ns <= 50_100_000_000,
            "{from_ns} {to_ns} {mean}"
        );
        assert!((means.mean().unwrap() - 1.8).abs() < 1e-9);
        assert_eq!(means.within(0, 1).0, means.bins[0].0);
    }
}
