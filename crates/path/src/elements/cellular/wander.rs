//! Random walk of a cellular link's rate, with a pull to a level and with outages.
//!
//! The rate is constant during ticks of 20 ms (as in Sprout's model of a link). After a rate r > 0 the next one is
//! level + (r - level) exp(-reversion tick), plus a normal step. The variance of the step is sigma^2 (1 - exp(-2
//! reversion tick)) / (2 reversion). This is a Brownian motion with a pull to the level (Ornstein-Uhlenbeck), exact at
//! the ticks. It is reflected at the maximum. At or below 0 an outage begins. A tick ends the outage with the
//! probability 1 - exp(-escape tick); the rate then is the absolute value of one step from 0.
//!
//! The level is not the mean: outages and the maximum shift the mean. The level is found from the stationary
//! distribution, which is computed on a grid. The expected visits g of a time without outage solve g = entry + g K. K
//! are the transitions between rates above 0. The outages' share is their mean length. The first rate is drawn from
//! that distribution.

use units::Rng;

/// Length of a tick, s: that of Sprout's model.
pub(super) const TICK_S: f64 = 0.02;
/// Number of grid cells per standard step, and maximum number of cells.
const CELLS_PER_STEP: f64 = 3.0;
const MOST_CELLS: f64 = 400.0;
/// Maximum step, in standard steps: larger steps have a probability of 2e-9.
const REACH: f64 = 6.0;
/// Relative tolerance of the mean.
const TOLERANCE: f64 = 1e-6;

/// Requested shape of the walk, in opportunities/s and per s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) mean: f64,
    pub(super) sigma: f64,
    pub(super) reversion: f64,
    pub(super) escape: f64,
    pub(super) max: f64,
}

/// Random walk of the rate.
#[derive(Clone, Debug)]
pub(super) struct Wander {
    level: f64,
    max: f64,
    /// Share of a deviation that remains after a tick.
    keep: f64,
    /// Standard deviation of a step.
    step: f64,
    /// Probability that an outage ends with a tick.
    escape: f64,
}

/// Long-run distribution of a walk.
#[derive(Clone, Debug)]
pub(super) struct Stationary {
    /// Weight of an outage.
    outage: f64,
    /// Weights of the cells, which cover 0 to the maximum.
    cells: Vec<f64>,
    /// Width of a cell, opportunities/s.
    width: f64,
}

/// Returns the lowest `sigma` for a maximum: steps of one cell of the finest grid.
pub(super) fn lowest_sigma(max: f64) -> f64 {
    max / (MOST_CELLS * TICK_S.sqrt())
}

impl Wander {
    /// Returns the walk with the requested mean, and its distribution.
    ///
    /// # Errors
    /// No level gives this mean.
    pub(super) fn with_mean(shape: &Shape) -> Result<(Self, Stationary), &'static str> {
        let decay = shape.reversion * TICK_S;
        let variance = shape.sigma * shape.sigma * TICK_S * -libm::expm1(-2.0 * decay) / (2.0 * decay);
        let mut wander = Self {
            level: shape.mean,
            max: shape.max,
            keep: libm::exp(-decay),
            step: variance.sqrt(),
            escape: -libm::expm1(-shape.escape * TICK_S),
        };
        let mut excess = |level| {
            wander.level = level;
            wander.stationary().mean() / shape.mean - 1.0
        };
        let level = root(&mut excess, shape.mean, shape.max).ok_or("no such mean is possible")?;
        wander.level = level;
        let stationary = wander.stationary();
        Ok((wander, stationary))
    }

    /// Returns the rate of the next tick.
    pub(super) fn next(&self, rate: f64, rng: &mut Rng) -> f64 {
        if rate > 0.0 {
            let next = rng.normal(self.pull_to_level(rate), self.step);
            let reflected = if next > self.max { 2.0 * self.max - next } else { next };
            reflected.max(0.0)
        } else if rng.chance(self.escape) {
            rng.normal(0.0, self.step).abs().min(self.max)
        } else {
            0.0
        }
    }

    /// Returns `rate` within bounds that changed.
    pub(super) fn clamp(&self, rate: f64) -> f64 {
        rate.min(self.max)
    }

    fn pull_to_level(&self, rate: f64) -> f64 {
        self.level + (rate - self.level) * self.keep
    }

    fn stationary(&self) -> Stationary {
        let count = (CELLS_PER_STEP * self.max / self.step).clamp(2.0, MOST_CELLS).ceil() as usize;
        let width = self.max / count as f64;
        // Row j of `equations` is the balance of cell j: visits from the cells i, less visits to j.
        let mut equations = vec![vec![0.0; count]; count];
        let centres = (0..count).map(|cell| self.pull_to_level((cell as f64 + 0.5) * width));
        for (from, centre) in centres.enumerate() {
            for (to, probability) in self.landing(centre, width, count) {
                equations[to][from] -= probability;
            }
            equations[from][from] += 1.0;
        }
        let mut entry = vec![0.0; count];
        for (to, probability) in self.landing(0.0, width, count) {
            // The rate after an outage is an absolute value, so steps up count twice.
            entry[to] += 2.0 * probability;
        }
        Stationary { outage: 1.0 / self.escape, cells: solve(equations, entry), width }
    }

    /// Returns the cells that a step from around `centre` leads to, with their probabilities.
    fn landing(&self, centre: f64, width: f64, count: usize) -> impl Iterator<Item = (usize, f64)> + use<> {
        let (step, max) = (self.step, self.max);
        let below = move |rate: f64| 0.5 * libm::erfc((centre - rate) / (step * core::f64::consts::SQRT_2));
        let cell = move |rate: f64| (rate / width).floor().clamp(0.0, count as f64 - 1.0) as usize;
        let reach = REACH * step;
        let direct = (cell(centre - reach)..=cell(centre + reach)).map(move |to| {
            let low = to as f64 * width;
            (to, below(low + width) - below(low))
        });
        let reflected = (cell(2.0 * max - centre - reach)..count).map(move |to| {
            let high = 2.0 * max - to as f64 * width;
            (to, below(high) - below(high - width))
        });
        direct.chain(reflected)
    }
}

impl Stationary {
    fn total(&self) -> f64 {
        self.outage + self.cells.iter().sum::<f64>()
    }

    /// Returns the mean rate, opportunities/s.
    fn mean(&self) -> f64 {
        let cells = self.cells.iter().zip(0u32..);
        cells.map(|(weight, cell)| weight * (f64::from(cell) + 0.5) * self.width).sum::<f64>() / self.total()
    }

    /// Draws a rate from this distribution.
    pub(super) fn draw(&self, rng: &mut Rng) -> f64 {
        let mut rest = rng.uniform() * self.total() - self.outage;
        if rest < 0.0 {
            return 0.0;
        }
        let cell = self.cells.iter().position(|weight| {
            rest -= weight;
            rest < 0.0
        });
        (cell.unwrap_or(self.cells.len() - 1) as f64 + rng.uniform()) * self.width
    }
}

/// Returns the root of `excess`, an increasing function: brackets around `start`, then the Illinois variant of the
/// false position.
fn root(excess: &mut impl FnMut(f64) -> f64, start: f64, unit: f64) -> Option<f64> {
    let start_excess = excess(start);
    let away = if start_excess < 0.0 { unit } else { -unit };
    let (mut near, mut far) = ((start, start_excess), (start, start_excess));
    for doubling in 0..40 {
        if (start_excess < 0.0) != (far.1 < 0.0) {
            break;
        }
        near = far;
        let level = start + away * f64::from(1u32 << doubling.min(30)) / 16.0;
        far = (level, excess(level));
    }
    if (near.1 < 0.0) == (far.1 < 0.0) {
        return (start_excess.abs() < TOLERANCE).then_some(start);
    }
    for _ in 0..100 {
        let level = (near.0 * far.1 - far.0 * near.1) / (far.1 - near.1);
        let value = excess(level);
        if value.abs() < TOLERANCE {
            return Some(level);
        }
        if (value < 0.0) == (far.1 < 0.0) {
            near.1 /= 2.0;
        } else {
            near = far;
        }
        far = (level, value);
    }
    None
}

/// Solves `equations` x = `right` by elimination. No pivoting is needed, because every column is dominated by its
/// diagonal.
fn solve(mut equations: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    for pivot in 0..count {
        let (above, below) = equations.split_at_mut(pivot + 1);
        let row = &above[pivot];
        // Far from the diagonal everything is 0: the last entry of the row bounds the work.
        let end = row.iter().rposition(|value| *value != 0.0).map_or(pivot, |last| last + 1);
        for (offset, other) in below.iter_mut().enumerate() {
            let factor = other[pivot] / row[pivot];
            if factor == 0.0 {
                continue;
            }
            for (value, pivotal) in other[pivot..end].iter_mut().zip(&row[pivot..end]) {
                *value -= factor * pivotal;
            }
            right[pivot + 1 + offset] -= factor * right[pivot];
        }
    }
    for row in (0..count).rev() {
        let sum: f64 =
            equations[row][row + 1..].iter().zip(&right[row + 1..]).map(|(value, x)| value * x).sum();
        right[row] = (right[row] - sum) / equations[row][row];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    const LTE: Shape = Shape { mean: 400.0, sigma: 200.0, reversion: 0.5, escape: 1.0, max: 1000.0 };

    /// Returns the mean rate and the share of outages of `ticks` ticks.
    fn walk(shape: &Shape, ticks: u32) -> (f64, f64) {
        let (wander, stationary) = Wander::with_mean(shape).unwrap();
        let mut rng = Rng::new(1, "wander");
        let mut rate = stationary.draw(&mut rng);
        let (mut sum, mut outages) = (0.0, 0u32);
        for _ in 0..ticks {
            assert!((0.0..=shape.max).contains(&rate));
            sum += rate;
            outages += u32::from(rate <= 0.0);
            rate = wander.next(rate, &mut rng);
        }
        (sum / f64::from(ticks), f64::from(outages) / f64::from(ticks))
    }

    #[test]
    fn the_mean_is_held_whatever_the_shape() {
        let shapes = [
            LTE,
            Shape { mean: 45.0, sigma: 18.0, reversion: 2.0, escape: 0.3, max: 90.0 },
            Shape { mean: 170.0, sigma: 300.0, reversion: 8.0, escape: 4.0, max: 500.0 },
            Shape { mean: 900.0, sigma: 200.0, reversion: 0.2, escape: 1.0, max: 1000.0 },
            Shape { mean: 100.0, sigma: 20.0, reversion: 1.0, escape: 1.0, max: 900.0 },
        ];
        for shape in shapes {
            let (_, stationary) = Wander::with_mean(&shape).unwrap();
            assert!((stationary.mean() / shape.mean - 1.0).abs() < 1e-5);
            // 20000 s: standard errors of the means are below 1.3 % (LTE: correlated over 2 s, deviation 270).
            let (mean, outage) = walk(&shape, 1_000_000);
            assert!((mean / shape.mean - 1.0).abs() < 0.03, "{shape:?}: {mean}");
            let expected = stationary.outage / stationary.total();
            assert!((outage - expected).abs() < 0.1 * expected + 0.003, "{shape:?}: {outage} {expected}");
        }
    }

    /// Without outages of any length the distribution within narrow bounds is uniform: half the maximum is the mean.
    #[test]
    fn a_walk_with_hardly_any_pull_is_spread_evenly() {
        let shape = Shape { mean: 480.0, sigma: 400.0, reversion: 0.001, escape: 50.0, max: 1000.0 };
        let (wander, stationary) = Wander::with_mean(&shape).unwrap();
        let total = stationary.total();
        let quarters: Vec<f64> = stationary
            .cells
            .chunks(stationary.cells.len().div_ceil(4))
            .map(|cells| cells.iter().sum::<f64>() / total)
            .collect();
        assert!(quarters.iter().all(|share| (0.2..0.3).contains(share)), "{quarters:?} {}", wander.level);
    }

    #[test]
    fn a_mean_below_that_of_escapes_is_refused() {
        assert!(
            Wander::with_mean(&Shape { mean: 0.01, sigma: 500.0, reversion: 50.0, escape: 50.0, ..LTE })
                .is_err()
        );
        assert!(Wander::with_mean(&Shape { mean: 950.0, ..LTE }).is_ok());
    }

    #[test]
    fn outages_last_as_long_as_they_should() {
        let (wander, _) = Wander::with_mean(&LTE).unwrap();
        let mut rng = Rng::new(2, "outages");
        let lengths = (0..20_000).map(|_| (1..=10_000).find(|_| wander.next(0.0, &mut rng) > 0.0).unwrap());
        let mean_s = lengths.map(f64::from).sum::<f64>() / 20_000.0 * TICK_S;
        // A geometric length has the mean 0.02 / (1 - exp(-0.02)) s; its standard error is 0.007.
        assert!((mean_s - 1.01).abs() < 0.03, "{mean_s}");
    }
}
