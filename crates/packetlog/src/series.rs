//! Samples as time series in bounded memory. If there are more points than a figure can show, the extremes are kept.

use crate::Error;
use std::collections::HashMap;
use std::hash::Hash;

/// Maximum number of points of all series: 64 MiB.
const MOST_POINTS: usize = 1 << 22;
/// Minimum length of a series that is thinned, points.
const LEAST_THINNED: usize = 64;

/// Time series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// Times since the start of the run, ns, ascending.
    pub time_ns: Vec<u64>,
    /// Value at each time.
    pub value: Vec<f64>,
}

impl Points {
    /// Keeps the lowest and the highest of every four successive points.
    fn halve(&mut self) {
        let mut kept = Self::default();
        for (times, values) in self.time_ns.chunks(4).zip(self.value.chunks(4)) {
            let places = 0..values.len();
            let low = places.clone().min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
            let high = places.max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
            for place in [low.min(high), low.max(high)] {
                kept.time_ns.push(times[place]);
                kept.value.push(values[place]);
            }
        }
        *self = kept;
    }
}

/// Collector of samples into time series by key.
///
/// Above four million points, every long series loses half of its points: the lowest and the highest of every four
/// successive points stay.
#[derive(Debug)]
pub struct Gathered<K> {
    series: HashMap<K, Points>,
    points: usize,
    most: usize,
}

impl<K> Default for Gathered<K> {
    fn default() -> Self {
        Self { series: HashMap::new(), points: 0, most: MOST_POINTS }
    }
}

impl<K: Eq + Hash> Gathered<K> {
    /// Adds a sample to the series of `key`. Samples of a series must come in time order.
    ///
    /// # Errors
    /// Returns an error if there are too many series to fit even after thinning.
    pub fn add(&mut self, key: K, time_ns: u64, value: f64) -> Result<(), Error> {
        let series = self.series.entry(key).or_default();
        series.time_ns.push(time_ns);
        series.value.push(value);
        self.points += 1;
        if self.points > self.most { self.thin() } else { Ok(()) }
    }

    /// Returns the series in any order.
    pub fn into_series(self) -> impl Iterator<Item = (K, Points)> {
        self.series.into_iter()
    }

    #[cold]
    fn thin(&mut self) -> Result<(), Error> {
        for series in self.series.values_mut().filter(|series| series.value.len() >= LEAST_THINNED) {
            series.halve();
        }
        self.points = self.series.values().map(|series| series.value.len()).sum();
        // This margin prevents repeated thinning.
        if self.points <= self.most / 4 * 3 {
            return Ok(());
        }
        let (series, points) = (self.series.len(), self.most);
        Err(Error::Series { series, points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(most: usize, samples: impl Iterator<Item = (u32, f64)>) -> Result<Vec<(u32, Points)>, Error> {
        let mut found = Gathered { most, ..Gathered::default() };
        for (time_ns, (key, value)) in samples.enumerate() {
            found.add(key, time_ns as u64, value)?;
        }
        let mut series: Vec<_> = found.into_series().collect();
        series.sort_by_key(|(key, _)| *key);
        Ok(series)
    }

    #[test]
    fn few_samples_stay_as_they_are() {
        let found = gathered(1000, (0..1000).map(|at| (at % 3, f64::from(at)))).unwrap();
        assert_eq!(found.iter().map(|(_, points)| points.value.len()).sum::<usize>(), 1000);
        assert_eq!(found[1].1.time_ns[..3], [1, 4, 7]);
        assert_eq!(found[1].1.value[..3], [1.0, 4.0, 7.0]);
    }

    #[test]
    fn of_many_samples_the_extremes_and_the_last_total_stay() {
        // A counter, a wave with one spike, and a short series.
        let wave = |at: u32| if at == 54_321 { 1e9 } else { f64::from(at % 100) };
        let samples = (0..100_000).map(|at| match at % 2 {
            _ if at % 10_000 == 0 => (2, f64::from(at)),
            0 => (0, f64::from(at)),
            _ => (1, wave(at)),
        });
        let found = gathered(4096, samples).unwrap();
        assert!(found.iter().map(|(_, points)| points.value.len()).sum::<usize>() <= 4096);
        assert_eq!(found[0].1.value.last(), Some(&99_998.0));
        assert!(found[0].1.value.is_sorted() && found[1].1.time_ns.is_sorted());
        assert_eq!(found[1].1.value.iter().filter(|&&value| value == 1e9).count(), 1);
        assert_eq!(found[2].1.value.len(), 10);
    }

    #[test]
    fn too_many_series_are_refused() {
        let found = gathered(4096, (0..1_000_000).map(|at| (at, 0.0)));
        assert_eq!(
            found.unwrap_err().to_string(),
            "has 4097 time series or more: so many that 4096 points do not show them"
        );
    }
}
