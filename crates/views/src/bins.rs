//! Minima and maxima of a series over time, in a bounded number of bins.

/// Consecutive samples of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bin {
    /// Time of the first sample, ns.
    pub(crate) first_ns: u64,
    /// Time of the last sample, ns.
    pub(crate) last_ns: u64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Value of the last sample.
    pub(crate) close: f64,
    /// Number of samples.
    pub(crate) count: u64,
}

impl Bin {
    pub(crate) const fn of(time_ns: u64, value: f64) -> Self {
        Self { first_ns: time_ns, last_ns: time_ns, low: value, high: value, close: value, count: 1 }
    }

    /// Joins the bin that follows.
    pub(crate) fn join(&mut self, next: &Self) {
        self.low = self.low.min(next.low);
        self.high = self.high.max(next.high);
        if next.last_ns >= self.last_ns {
            self.close = next.close;
            self.last_ns = next.last_ns;
        }
        self.first_ns = self.first_ns.min(next.first_ns);
        self.count += next.count;
    }
}

/// Bins of a series, in order of time.
///
/// As long as the bins fit, each sample is a bin. Later a bin has up to `per` samples and stays within a cell of
/// `cell_ns`, since distant samples must not look like one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bins {
    pub(crate) list: Vec<Bin>,
    pub(crate) per: u64,
    pub(crate) cell_ns: u64,
}

/// Maximum bins per cell of time: one in this many bins may begin because a cell ends.
const BINS_PER_CELL: u64 = 8;

impl Default for Bins {
    fn default() -> Self {
        Self { list: Vec::new(), per: 1, cell_ns: u64::MAX }
    }
}

impl Bins {
    /// Returns true if every sample is a bin.
    pub(crate) const fn is_exact(&self) -> bool {
        self.per == 1
    }

    /// Adds a sample. Times may step back a little.
    #[inline]
    pub(crate) fn add(&mut self, time_ns: u64, value: f64, max: usize) {
        let (per, cell_ns) = (self.per, self.cell_ns);
        match self.list.last_mut() {
            Some(last) if time_ns < last.last_ns => return self.add_late(time_ns, value, max),
            Some(last) if last.count < per && last.first_ns / cell_ns == time_ns / cell_ns => {
                last.join(&Bin::of(time_ns, value));
                return;
            }
            _ => self.list.push(Bin::of(time_ns, value)),
        }
        if self.list.len() > max {
            self.thin(max);
        }
    }

    /// Adds a sample that comes after a later sample.
    #[cold]
    fn add_late(&mut self, time_ns: u64, value: f64, max: usize) {
        let place = self.list.partition_point(|bin| bin.first_ns <= time_ns);
        let sample = Bin::of(time_ns, value);
        let (per, cell_ns) = (self.per, self.cell_ns);
        match place.checked_sub(1).map(|before| &mut self.list[before]) {
            // Bins do not overlap, thus the sample joins even a full bin.
            Some(bin) if time_ns < bin.last_ns && per > 1 => bin.join(&sample),
            Some(bin) if bin.count < per && bin.first_ns / cell_ns == time_ns / cell_ns => bin.join(&sample),
            _ => self.list.insert(place, sample),
        }
        if self.list.len() > max {
            self.thin(max);
        }
    }

    /// Joins neighbours until at most half of `max` bins are left.
    #[cold]
    pub(crate) fn thin(&mut self, max: usize) {
        let (Some(first), Some(last)) = (self.list.first(), self.list.last()) else { return };
        let span_ns = (last.last_ns - first.first_ns).max(1);
        let cells = (max as u64 / BINS_PER_CELL).max(1);
        self.cell_ns = span_ns.div_ceil(cells).checked_next_power_of_two().unwrap_or(u64::MAX);
        while self.list.len() > (max / 2).max(1) && self.per <= u64::MAX / 2 {
            self.per *= 2;
            self.join_neighbours();
        }
    }

    fn join_neighbours(&mut self) {
        let (per, cell_ns) = (self.per, self.cell_ns);
        self.list.dedup_by(|next, kept| {
            let joins = kept.count + next.count <= per && kept.first_ns / cell_ns == next.first_ns / cell_ns;
            if joins {
                kept.join(next);
            }
            joins
        });
    }

    /// Returns the positions of the bins with samples from `from_ns` to before `to_ns`.
    pub(crate) fn within(&self, from_ns: u64, to_ns: u64) -> std::ops::Range<usize> {
        let from = self.list.partition_point(|bin| bin.last_ns < from_ns);
        let to = self.list.partition_point(|bin| bin.first_ns < to_ns);
        from..to.max(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bins_of(samples: &[(u64, f64)], max: usize) -> Bins {
        let mut bins = Bins::default();
        for &(time_ns, value) in samples {
            bins.add(time_ns, value, max);
        }
        bins
    }

    #[test]
    fn few_samples_are_kept_as_they_are() {
        let samples: Vec<_> = (0..100).map(|at| (at * 10, at as f64)).collect();
        let bins = bins_of(&samples, 100);
        assert!(bins.is_exact() && bins.list.len() == 100);
        assert_eq!(bins.within(100, 200), 10..20);
        assert_eq!(bins.within(101, 101), 11..11);
    }

    #[test]
    fn a_sample_far_from_the_others_is_not_joined_with_them() {
        let samples: Vec<_> = (0..10_000).map(|at| (at, 1.0)).chain([(1_000_000, 9.0)]).collect();
        let bins = bins_of(&samples, 64);
        let last = bins.list.last().unwrap();
        assert_eq!((last.first_ns, last.count, last.high), (1_000_000, 1, 9.0));
    }

    proptest! {
        #[test]
        fn no_sample_is_lost_and_bins_hold_what_lies_in_them(
            steps in prop::collection::vec((0u64..1_000_000, -1e6..1e6, 0u64..3_000), 1..2_000),
            max in 16usize..200,
        ) {
            let mut now = 5_000;
            let samples: Vec<(u64, f64)> = steps.iter().map(|&(step, value, back)| {
                now += step;
                (now - back, value)
            }).collect();
            let bins = bins_of(&samples, max);
            prop_assert!(bins.list.len() <= max);
            prop_assert_eq!(bins.list.iter().map(|bin| bin.count).sum::<u64>(), samples.len() as u64);
            prop_assert!(bins.list.windows(2).all(|pair| pair[0].last_ns <= pair[1].first_ns));
            for &(time_ns, value) in &samples {
                let holds = |bin: &Bin| bin.first_ns <= time_ns && time_ns <= bin.last_ns && bin.low <= value && value <= bin.high;
                prop_assert!(bins.list.iter().any(holds));
            }
            for bin in &bins.list {
                prop_assert!(samples.iter().any(|&(_, value)| value == bin.low));
                prop_assert!(samples.iter().any(|&(_, value)| value == bin.high));
            }
        }
    }
}
