//! Delay profile of Verus: the delay that each window leads to.

use super::spline::{MIN_KNOTS, Spline};

/// Number of windows in the profile, packets (`MAX_W_DELAY_CURVE`).
pub(super) const MAX_WINDOW: usize = 40_000;
/// Packets per knot of the fit; fewer if the profile is too short for [`FEWEST_KNOTS`].
const PACKETS_PER_KNOT: usize = 15;
const FEWEST_KNOTS: usize = 5;
/// Minimum window from which the profile can be distrusted, packets.
const SMALLEST_LIMIT: usize = 100;
/// Weight of the past in the recorded delays.
const MEMORY: f64 = 0.875;
/// Minimum window from which the profile is searched, packets.
const SEARCH_FROM: usize = 2;
/// Step by which a set point above everything recorded is lowered, ms.
const SEARCH_STEP_MS: f64 = 2.0;

/// Recorded delays, and the curve fitted to them.
#[derive(Debug)]
pub(super) struct Profile {
    /// Average delay by window, ms; negative without a record.
    recorded: Vec<f64>,
    /// One above the largest window recorded.
    end: usize,
    /// Window from which on records are forgotten at the next fit.
    limit: usize,
    curve: Option<Spline>,
    /// Memory for the points of a fit.
    points: Vec<(f64, f64)>,
}

impl Profile {
    pub(super) fn new() -> Self {
        Self {
            recorded: vec![-1.0; MAX_WINDOW],
            end: 0,
            limit: MAX_WINDOW,
            curve: None,
            points: Vec::with_capacity(256),
        }
    }

    pub(super) fn clear(&mut self) {
        self.recorded[..self.end].fill(-1.0);
        (self.end, self.limit, self.curve) = (0, MAX_WINDOW, None);
    }

    /// Records that a packet sent at window `window` was acknowledged after `delay_ms`.
    pub(super) fn record(&mut self, window: usize, delay_ms: f64) {
        let Some(average) = self.recorded.get_mut(window) else { return };
        *average = if *average < 0.0 { delay_ms } else { MEMORY * *average + (1.0 - MEMORY) * delay_ms };
        self.end = self.end.max(window + 1);
    }

    /// Distrusts the profile from `window` on, because packets were lost there.
    pub(super) fn distrust_from(&mut self, window: usize) {
        self.limit = window.max(SMALLEST_LIMIT);
    }

    pub(super) const fn has_curve(&self) -> bool {
        self.curve.is_some()
    }

    /// Returns the recorded delay at `window`, ms; negative if there is none.
    pub(super) fn recorded(&self, window: f64) -> f64 {
        self.recorded.get(window as usize).copied().unwrap_or(-1.0)
    }

    /// Returns the delay at `window`, ms: of the curve, or the recorded one while there is no curve.
    pub(super) fn delay_at(&self, window: f64) -> f64 {
        self.curve.as_ref().map_or_else(|| self.recorded(window), |curve| curve.value(window))
    }

    /// Returns the largest window before the delay exceeds `delay_ms`, packets; `None` if the profile does not contain
    /// it.
    pub(super) fn window_for(&self, delay_ms: f64) -> Option<f64> {
        let found = if let Some(curve) = &self.curve {
            (SEARCH_FROM..MAX_WINDOW).find(|&window| curve.value(window as f64) > delay_ms)
        } else {
            let known = self.recorded.get(SEARCH_FROM..self.end)?;
            let largest = known.iter().copied().fold(-1.0, f64::max);
            if largest < 0.0 {
                return None;
            }
            let excess = delay_ms - largest;
            let steps = if excess < 0.0 { 0.0 } else { (excess / SEARCH_STEP_MS).floor() + 1.0 };
            let delay_ms = delay_ms - steps * SEARCH_STEP_MS;
            known.iter().position(|&delay| delay >= 0.0 && delay > delay_ms).map(|at| at + SEARCH_FROM)
        };
        found.map(|window| (window - 1) as f64)
    }

    /// Fits the curve to the records; `exponent` is the decimal logarithm of the penalty. Returns false if there are
    /// too few records.
    pub(super) fn fit(&mut self, exponent: f64) -> bool {
        let end = self.end.min(self.limit);
        self.recorded[end..self.end].fill(-1.0);
        (self.end, self.limit) = (end, MAX_WINDOW);
        self.points.clear();
        let seen = self.recorded[..end].iter().enumerate().filter(|(_, delay)| **delay >= 0.0);
        self.points.extend(seen.map(|(window, delay)| (window as f64, *delay)));
        let largest = self.points.last().map_or(0, |(window, _)| *window as usize);
        let spacing = PACKETS_PER_KNOT.min(largest / FEWEST_KNOTS);
        if spacing == 0 {
            return false;
        }
        self.curve = Spline::fit(&self.points, (largest / spacing).max(MIN_KNOTS), exponent);
        self.curve.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the profile of a link that adds half a millisecond per packet beyond 40.
    fn recorded(windows: usize) -> Profile {
        let mut profile = Profile::new();
        (1..windows).for_each(|window| profile.record(window, 25.0 + 0.5 * (window as f64 - 40.0).max(0.0)));
        profile
    }

    #[test]
    fn recorded_delays_are_averages_of_an_eighth() {
        let mut profile = Profile::new();
        profile.record(7, 40.0);
        profile.record(7, 80.0);
        assert_eq!((profile.recorded(7.9), profile.recorded(8.0)), (45.0, -1.0));
        profile.record(MAX_WINDOW, 1.0);
    }

    #[test]
    fn without_a_curve_the_records_are_searched() {
        let profile = recorded(121);
        // The delay is 45 ms at 80 packets; the first window above is 81.
        assert_eq!(profile.window_for(45.0), Some(80.0));
        assert_eq!(profile.window_for(10.0), Some(1.0));
        // The set point is above everything recorded (65 ms at 120), so it is lowered by 2 ms until a record is above
        // it.
        assert_eq!(profile.window_for(65.0), Some(116.0));
        assert_eq!(profile.window_for(1066.0), Some(118.0));
        assert_eq!(Profile::new().window_for(10.0), None);
    }

    #[test]
    fn the_curve_inverts_the_profile_and_reaches_beyond_it() {
        let mut profile = recorded(200);
        assert!(profile.fit(2.0) && profile.has_curve());
        for window in [60.0, 100.0, 150.0] {
            let found = profile.window_for(profile.delay_at(window)).unwrap();
            assert!((found - window).abs() <= 1.0, "{window}: {found}");
        }
        let beyond = profile.window_for(125.0).unwrap();
        assert!((230.0..=250.0).contains(&beyond), "{beyond}: a straight line says 240");
    }

    #[test]
    fn windows_at_which_packets_were_lost_are_forgotten() {
        let mut profile = recorded(300);
        profile.distrust_from(150);
        assert!(profile.fit(2.0));
        assert_eq!((profile.recorded(149.0), profile.recorded(150.0)), (79.5, -1.0));
        // The limit is never below 100 packets, and holds only once.
        profile.distrust_from(5);
        assert!(profile.fit(2.0) && profile.fit(2.0));
        assert_eq!((profile.recorded(99.0), profile.recorded(100.0)), (54.5, -1.0));
    }

    #[test]
    fn four_packets_are_too_short_a_profile() {
        assert!(!recorded(5).fit(2.0));
        assert!(recorded(6).fit(2.0));
        let mut profile = recorded(50);
        profile.clear();
        assert!(!profile.fit(2.0));
    }
}
