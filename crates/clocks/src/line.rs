//! Lines with a common slope.

use crate::SKEW_LIMIT;
use crate::series::Dot;

/// Least squares with one slope and one intercept per group.
#[derive(Debug, Default)]
pub(crate) struct Line {
    tt: f64,
    ty: f64,
    yy: f64,
    /// Degrees of freedom: values minus intercepts.
    free: f64,
}

impl Line {
    /// Adds a group.
    pub(crate) fn group<'a>(&mut self, dots: impl Iterator<Item = &'a Dot> + Clone) {
        let count = dots.clone().count() as f64;
        if count < 2.0 {
            return;
        }
        let t = dots.clone().map(|dot| dot.t).sum::<f64>() / count;
        let y = dots.clone().map(|dot| dot.y).sum::<f64>() / count;
        for dot in dots {
            self.tt += (dot.t - t) * (dot.t - t);
            self.ty += (dot.t - t) * (dot.y - y);
            self.yy += (dot.y - y) * (dot.y - y);
        }
        self.free += count - 1.0;
    }

    /// Returns the slope, or `None` if no group determines it.
    pub(crate) fn slope(&self) -> Option<f64> {
        (self.tt > 0.0).then(|| self.ty / self.tt)
    }

    /// Returns the standard deviation about the lines.
    pub(crate) fn scatter(&self) -> f64 {
        let rest = self.yy - self.slope().map_or(0.0, |slope| slope * self.ty);
        (rest.max(0.0) / (self.free - 1.0).max(1.0)).sqrt()
    }

    /// Returns the standard error of the slope.
    pub(crate) fn error(&self) -> f64 {
        if self.tt > 0.0 { self.scatter() / self.tt.sqrt() } else { SKEW_LIMIT }
    }
}
