//! Sums over bins of time, the source of rates.

/// Width of the narrowest bins, ns.
const NARROWEST_NS: u64 = 1_000;

/// Sums of the non-empty bins of time, in order of time.
///
/// Bins are 1 µs wide, then 2, 10, 20, 100, ...: each width is a multiple of the narrower widths.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sums {
    pub(crate) width_ns: u64,
    /// Number of the bin, and its sum.
    pub(crate) bins: Vec<(u64, u64)>,
}

impl Default for Sums {
    fn default() -> Self {
        Self { width_ns: NARROWEST_NS, bins: Vec::new() }
    }
}

/// Returns the next width, ns, or `None` if it exceeds all times.
pub(crate) fn wider(width_ns: u64) -> Option<u64> {
    let mut power = NARROWEST_NS;
    while power <= width_ns / 10 {
        power *= 10;
    }
    width_ns.checked_mul(if width_ns == power { 2 } else { 5 })
}

/// Returns true if bins can have this width.
pub(crate) fn is_width(width_ns: u64) -> bool {
    let mut width = Some(NARROWEST_NS);
    while let Some(candidate) = width {
        if candidate >= width_ns {
            return candidate == width_ns;
        }
        width = wider(candidate);
    }
    false
}

/// Returns the narrowest width that is at least `least_ns`, a multiple of `of_ns`, and 1, 2 or 5 times a power of
/// ten.
pub(crate) fn readable(least_ns: u64, of_ns: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        for factor in [1, 2, 5] {
            let Some(width) = power.checked_mul(factor) else { return of_ns.max(least_ns) };
            if width >= least_ns && width.is_multiple_of(of_ns) {
                return width;
            }
        }
        let Some(next) = power.checked_mul(10) else { return of_ns.max(least_ns) };
        power = next;
    }
}

impl Sums {
    /// Adds `amount` at this time. Times may step back a little.
    #[inline]
    pub(crate) fn add(&mut self, time_ns: u64, amount: u64, max: usize) {
        let bin = time_ns / self.width_ns;
        match self.bins.last_mut() {
            Some((last, sum)) if *last == bin => *sum += amount,
            Some((last, _)) if *last > bin => self.add_late(bin, amount, max),
            _ => self.push(bin, amount, max),
        }
    }

    #[inline]
    fn push(&mut self, bin: u64, amount: u64, max: usize) {
        self.bins.push((bin, amount));
        if self.bins.len() > max {
            self.widen(max);
        }
    }

    #[cold]
    fn add_late(&mut self, bin: u64, amount: u64, max: usize) {
        match self.bins.binary_search_by_key(&bin, |&(number, _)| number) {
            Ok(place) => self.bins[place].1 += amount,
            Err(place) => {
                self.bins.insert(place, (bin, amount));
                if self.bins.len() > max {
                    self.widen(max);
                }
            }
        }
    }

    /// Widens the bins until there are at most `max`.
    #[cold]
    pub(crate) fn widen(&mut self, max: usize) {
        while self.bins.len() > max
            && let Some(width_ns) = wider(self.width_ns)
        {
            let factor = width_ns / self.width_ns;
            self.width_ns = width_ns;
            for (bin, _) in &mut self.bins {
                *bin /= factor;
            }
            self.bins.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
        }
    }

    /// Returns the bins that overlap this time.
    pub(crate) fn within(&self, from_ns: u64, to_ns: u64) -> &[(u64, u64)] {
        let from = self.bins.partition_point(|&(bin, _)| (bin + 1).saturating_mul(self.width_ns) <= from_ns);
        let to = self.bins.partition_point(|&(bin, _)| bin.saturating_mul(self.width_ns) < to_ns);
        &self.bins[from..to.max(from)]
    }

    /// Returns the approximate sum within this time.
    pub(crate) fn about(&self, from_ns: u64, to_ns: u64) -> f64 {
        let part = |&(bin, sum): &(u64, u64)| {
            let start = bin.saturating_mul(self.width_ns);
            let overlap = start.saturating_add(self.width_ns).min(to_ns).saturating_sub(start.max(from_ns));
            sum as f64 * overlap as f64 / self.width_ns as f64
        };
        self.within(from_ns, to_ns).iter().map(part).sum()
    }

    /// Returns the sum of all bins.
    pub(crate) fn total(&self) -> u64 {
        self.bins.iter().fold(0, |total, &(_, sum)| total.saturating_add(sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn widths_are_multiples_of_those_before() {
        let mut width = NARROWEST_NS;
        for expected in [2_000, 10_000, 20_000, 100_000, 200_000, 1_000_000] {
            width = wider(width).unwrap();
            assert_eq!(width, expected);
            assert!(is_width(width));
        }
        assert!(!is_width(5_000) && !is_width(0) && !is_width(1_024));
    }

    #[test]
    fn readable_widths_hold_whole_bins() {
        assert_eq!(readable(3_000, 1_000), 5_000);
        assert_eq!(readable(3_000, 2_000), 10_000);
        assert_eq!(readable(1, 1), 1);
        assert_eq!(readable(40_000_000, 20_000), 50_000_000);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            steps in prop::collection::vec((0u64..10_000_000, 0u64..2_000, 0u64..5_000), 1..1_000),
            max in 2usize..100,
        ) {
            let mut sums = Sums::default();
            let mut now = 10_000;
            let mut samples = Vec::new();
            for (step, amount, back) in steps {
                now += step;
                sums.add(now - back, amount, max);
                samples.push((now - back, amount));
            }
            prop_assert!(sums.bins.len() <= max && is_width(sums.width_ns));
            prop_assert!(sums.bins.windows(2).all(|pair| pair[0].0 < pair[1].0));
            for &(bin, sum) in &sums.bins {
                let inside = samples.iter().filter(|(time_ns, _)| time_ns / sums.width_ns == bin);
                prop_assert_eq!(sum, inside.map(|(_, amount)| amount).sum::<u64>());
            }
            let all: u64 = samples.iter().map(|(_, amount)| amount).sum();
            prop_assert_eq!(sums.total(), all);
            prop_assert!((sums.about(0, u64::MAX / 2) - all as f64).abs() <= 1e-6 * all as f64);
        }
    }
}
