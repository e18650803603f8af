//! Penalised natural cubic regression spline: least squares on the points plus a penalty for bending.
//!
//! Verus fits its delay profile with ALGLIB's `spline1dfitpenalized`. The model is the same: cubic pieces between
//! equally spaced knots, straight beyond both ends, `sum (y - s(x))^2 + lambda * integral s''^2`. Here it is solved in
//! the basis of cubic B-splines, in which the normal equations have a band of three (de Boor 1978, "A practical guide
//! to splines").

/// Minimum number of knots of a fit.
pub(super) const MIN_KNOTS: usize = 4;

/// Number of side diagonals of the normal equations.
const BAND: usize = 3;

/// Scale of the penalty. The function that is 1 at one knot and 0 at all others bends by 14.4 over the cube of the
/// spacing, and has 0.86 of the points per knot. An exponent of 0 gives both equal weights.
const BENDING: f64 = 16.0;

/// Fitted function.
#[derive(Debug)]
pub(super) struct Spline {
    /// First knot, and the spacing of the knots.
    first: f64,
    spacing: f64,
    /// Coefficients of the B-splines around each knot, with one more at either end.
    coefficients: Vec<f64>,
}

impl Spline {
    /// Fits `points`, ascending in x, with `knots` knots from the first to the last point; `exponent` is the decimal
    /// logarithm of the penalty. `None` if the points do not span an interval.
    pub(super) fn fit(points: &[(f64, f64)], knots: usize, exponent: f64) -> Option<Self> {
        let knots = knots.max(MIN_KNOTS);
        let (first, last) = (points.first()?.0, points.last()?.0);
        let spacing = (last - first) / (knots - 1) as f64;
        if spacing.is_nan() || spacing <= 0.0 {
            return None;
        }
        let mut equations = Equations::new(knots);
        for &(x, y) in points {
            let (interval, offset) = locate((x - first) / spacing, knots);
            equations.add(interval, basis(offset), y, 1.0);
        }
        // In units of the spacing, s'' is linear between the second differences of the coefficients. The integral of
        // its square over an interval with ends a and b is (a^2 + b^2 + (a + b)^2) / 6.
        let penalty = libm::pow(10.0, exponent) * points.len() as f64 / (BENDING * knots as f64);
        for interval in 0..knots - 1 {
            for row in [[1.0, -2.0, 1.0, 0.0], [0.0, 1.0, -2.0, 1.0], [1.0, -1.0, -1.0, 1.0]] {
                equations.add(interval, row, 0.0, penalty / 6.0);
            }
        }
        let mut coefficients = equations.solve()?;
        coefficients.insert(0, 2.0 * coefficients[0] - coefficients[1]);
        coefficients.push(2.0 * coefficients[knots] - coefficients[knots - 1]);
        Some(Self { first, spacing, coefficients })
    }

    /// Returns the function at `x`; straight lines continue it beyond its knots.
    pub(super) fn value(&self, x: f64) -> f64 {
        let knots = self.coefficients.len() - 2;
        let position = (x - self.first) / self.spacing;
        let inside = position.clamp(0.0, (knots - 1) as f64);
        let (interval, offset) = locate(inside, knots);
        let window = &self.coefficients[interval..interval + 4];
        let value: f64 = basis(offset).iter().zip(window).map(|(weight, c)| weight * c).sum();
        if position == inside {
            return value;
        }
        // At either end the second derivative is zero, and this is the slope.
        let slope = if position < inside { window[1] - window[0] } else { window[3] - window[2] };
        value + slope * (position - inside)
    }
}

/// Returns the interval between knots that holds `position` (in spacings from the first), and the offset in it.
fn locate(position: f64, knots: usize) -> (usize, f64) {
    let interval = (position as usize).min(knots - 2);
    (interval, position - interval as f64)
}

/// Returns the four cubic B-splines that are not zero at `u` of an interval.
fn basis(u: f64) -> [f64; 4] {
    let rest = 1.0 - u;
    [
        rest * rest * rest / 6.0,
        (3.0 * u * u * u - 6.0 * u * u + 4.0) / 6.0,
        (3.0 * rest * rest * rest - 6.0 * rest * rest + 4.0) / 6.0,
        u * u * u / 6.0,
    ]
}

/// Symmetric banded normal equations.
#[derive(Debug)]
struct Equations {
    /// Matrix: `rows[i][k]` is the element at (i, i - k).
    rows: Vec<[f64; BAND + 1]>,
    right: Vec<f64>,
}

impl Equations {
    fn new(unknowns: usize) -> Self {
        Self { rows: vec![[0.0; BAND + 1]; unknowns], right: vec![0.0; unknowns] }
    }

    /// Adds the observation that `weights` times the coefficients around `interval` are `y`.
    fn add(&mut self, interval: usize, weights: [f64; 4], y: f64, importance: f64) {
        let unknowns = self.rows.len();
        // The outer coefficients are not unknowns: natural ends continue their neighbours straight.
        let w = weights;
        let (first, row) = if interval == 0 {
            (0, [w[1] + 2.0 * w[0], w[2] - w[0], w[3], 0.0])
        } else if interval == unknowns - 2 {
            (unknowns - 4, [0.0, w[0], w[1] - w[3], w[2] + 2.0 * w[3]])
        } else {
            (interval - 1, weights)
        };
        for i in 0..4 {
            for k in 0..=i {
                self.rows[first + i][k] += importance * row[i] * row[i - k];
            }
            self.right[first + i] += importance * row[i] * y;
        }
    }

    /// Solves the equations by Cholesky factorisation and both substitutions; `None` if the points do not determine the
    /// function.
    fn solve(mut self) -> Option<Vec<f64>> {
        let unknowns = self.rows.len();
        for i in 0..unknowns {
            for k in (0..=BAND.min(i)).rev() {
                let column = i - k;
                // The sum covers the columns that both rows have.
                let shared: f64 = (k + 1..=BAND.min(i))
                    .filter(|other| other - k <= BAND)
                    .map(|other| self.rows[i][other] * self.rows[column][other - k])
                    .sum();
                let rest = self.rows[i][k] - shared;
                if k > 0 {
                    self.rows[i][k] = rest / self.rows[column][0];
                } else if rest > 0.0 {
                    self.rows[i][0] = libm::sqrt(rest);
                } else {
                    return None;
                }
            }
        }
        let mut x = self.right;
        for i in 0..unknowns {
            let known: f64 = (1..=BAND.min(i)).map(|k| self.rows[i][k] * x[i - k]).sum();
            x[i] = (x[i] - known) / self.rows[i][0];
        }
        for i in (0..unknowns).rev() {
            let known: f64 = (1..=BAND.min(unknowns - 1 - i)).map(|k| self.rows[i + k][k] * x[i + k]).sum();
            x[i] = (x[i] - known) / self.rows[i][0];
        }
        Some(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(count: usize, y: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (0..count).map(|x| (x as f64, y(x as f64))).collect()
    }

    #[test]
    fn a_straight_line_is_met_exactly_and_continued() {
        let spline = Spline::fit(&points(100, |x| 3.0 + 0.25 * x), 7, 2.0).unwrap();
        for x in [-50.0, 0.0, 12.3, 99.0, 400.0] {
            assert!((spline.value(x) - (3.0 + 0.25 * x)).abs() < 1e-9, "{x}: {}", spline.value(x));
        }
    }

    #[test]
    fn without_penalty_a_natural_spline_is_met_exactly() {
        let knots = [0.0, 30.0, 60.0, 90.0];
        let reference = Spline {
            first: 0.0,
            spacing: 30.0,
            coefficients: vec![2.0 * 5.0 - 9.0, 5.0, 9.0, 4.0, 20.0, 2.0 * 20.0 - 4.0],
        };
        let fitted = Spline::fit(&points(91, |x| reference.value(x)), knots.len(), -12.0).unwrap();
        for x in 0..91 {
            let (got, want) = (fitted.value(f64::from(x)), reference.value(f64::from(x)));
            assert!((got - want).abs() < 1e-6, "{x}: {got} for {want}");
        }
    }

    #[test]
    fn it_is_smooth_at_the_knots() {
        let spline = Spline::fit(&points(91, |x| (x - 40.0) * (x - 40.0)), 10, -3.0).unwrap();
        let slope = |x: f64| (spline.value(x + 1e-4) - spline.value(x - 1e-4)) / 2e-4;
        for knot in 1..9 {
            let x = f64::from(knot) * 10.0;
            assert!((slope(x - 1e-3) - slope(x + 1e-3)).abs() < 0.02, "{x}");
        }
    }

    #[test]
    fn the_penalty_takes_the_bends_out() {
        let noisy = points(150, |x| x + if (x as u64).is_multiple_of(2) { 20.0 } else { -20.0 });
        let bend = |exponent: f64| {
            let spline = Spline::fit(&noisy, 50, exponent).unwrap();
            (1..148)
                .map(|x| {
                    let at = |offset: i32| spline.value(f64::from(x + offset));
                    (at(1) - 2.0 * at(0) + at(-1)).abs()
                })
                .fold(0.0, f64::max)
        };
        assert!(bend(-6.0) > 10.0 * bend(2.0), "{} {}", bend(-6.0), bend(2.0));
        // An infinite penalty leaves the regression line.
        let line = Spline::fit(&points(101, |x| x * x), 7, 8.0).unwrap();
        assert!((line.value(50.0) - 3350.0).abs() < 10.0, "{}", line.value(50.0));
    }

    #[test]
    fn gaps_are_bridged_and_a_single_place_is_refused() {
        let mut sparse = points(10, |x| x);
        sparse.extend((90..100).map(|x| (f64::from(x), f64::from(x))));
        assert!((Spline::fit(&sparse, 20, 2.0).unwrap().value(50.0) - 50.0).abs() < 1e-6);
        assert!(Spline::fit(&[(5.0, 1.0)], 5, 2.0).is_none());
        assert!(Spline::fit(&[], 5, 2.0).is_none());
    }
}
