//! Rate change of Vivace's online learning: gradient times confidence, within a variable bound.
//!
//! Source: Dong et al., NSDI 2018, as coded in PCCproject/PCC-Uspace@b67bb68, `pcc-gradient/sender/app/pcc.h` (Vivace),
//! and @cd43e34, `src/pcc` (PCC-Expr), which differ in constants only. Rates and steps are in the scheme's own unit
//! (Mbit/s of 10^6 or 2^20 bits).
//!
//! The gradient alone is not enough: the utility of a Mbit/s depends on the link. So a step that suits a slow link
//! takes hundreds of decisions on a fast one. The multiplier, the paper's confidence amplifier, grows while decisions
//! agree and solves this.
//!
//! The bound, the paper's dynamic change boundary, is also needed. Near the link's capacity one interval with a loss or
//! a jump of the RTT gives a gradient that is far too large, and the multiplier enlarges it. The bound limits the
//! effect of one decision, and widens while decisions keep hitting it
//! (<https://www.usenix.org/conference/nsdi18/presentation/dong>).

/// Maximum rate change per decision: a fraction of the rate, which widens while decisions keep hitting it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boundary {
    /// Fraction of the rate after a decision that did not hit the bound.
    pub(crate) base: f64,
    /// Addition to the fraction for each hit.
    pub(crate) per_hit: f64,
    hits: f64,
}

impl Boundary {
    /// Returns a bound of `base` times the rate, plus `per_hit` for each hit.
    pub(crate) const fn new(base: f64, per_hit: f64) -> Self {
        Self { base, per_hit, hits: 0.0 }
    }

    /// Returns `change`, cut to the bound at `rate`. Widens the bound if the cut was necessary, narrows it otherwise.
    pub(crate) fn limit(&mut self, change: f64, rate: f64) -> f64 {
        let most = (self.base + self.per_hit * self.hits) * rate;
        if change.abs() > most {
            self.hits += 1.0;
            return most.copysign(change);
        }
        self.hits = (self.hits - 1.0).max(0.0);
        change
    }

    /// Resets the bound to its narrowest.
    pub(crate) const fn reset(&mut self) {
        self.hits = 0.0;
    }
}

/// Constants of a scheme that uses the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepRule {
    /// Rate change per unit of gradient.
    pub(crate) theta: f64,
    /// Slope of the multiplier's last piece: `slope * amplifier - 50` from amplifier 9 on.
    pub(crate) last_slope: f64,
    /// Growth of the amplifier for an agreeing decision, while the amplifier is below `early_below`.
    pub(crate) early_growth: f64,
    /// Growth of the amplifier for an agreeing decision, from `early_below` on.
    pub(crate) late_growth: f64,
    /// Amplifier at which the growth changes: 4 in Vivace (whose amplifiers are whole up to there: "above 3"), 3 in
    /// PCC-Expr.
    pub(crate) early_below: f64,
    /// Minimum change.
    pub(crate) least: f64,
}

/// Confidence amplifier and bound, with their memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GradientStep {
    rule: StepRule,
    boundary: Boundary,
    amplifier: f64,
    /// Number of agreeing decisions that do not raise the amplifier yet, after a change of direction.
    swing: u32,
    previous: f64,
    /// Number of consecutive decisions in the same direction.
    pub(crate) trend: u32,
}

impl GradientStep {
    pub(crate) const fn new(rule: StepRule, boundary: Boundary) -> Self {
        Self { rule, boundary, amplifier: 0.0, swing: 0, previous: 0.0, trend: 0 }
    }

    /// Returns the rate change at `rate` after utilities `u0` and `u1` at the different rates `r0` and `r1`.
    pub(crate) fn change(&mut self, (u0, r0): (f64, f64), (u1, r1): (f64, f64), rate: f64) -> f64 {
        let gradient = if r1 == r0 { 0.0 } else { (u1 - u0) / (r1 - r0) };
        let raw = self.rule.theta * gradient;
        let (turned, kept) = (raw * self.previous < 0.0, raw * self.previous > 0.0);
        if turned {
            // The optimum is passed, or noise misled: steps become small, and two agreeing decisions must come before
            // they grow.
            self.reset();
            self.swing = (self.swing + 1).min(2);
        }
        let amplified = raw * self.multiplier();
        if turned {
            self.trend = 0;
        } else if kept {
            self.trend += 1;
            if self.swing > 0 {
                self.swing -= 1;
            } else {
                let is_early = self.amplifier < self.rule.early_below;
                self.amplifier += if is_early { self.rule.early_growth } else { self.rule.late_growth };
            }
        }
        let bounded = self.boundary.limit(amplified, rate);
        if turned {
            self.reset();
        }
        self.previous = bounded.abs().max(self.rule.least).copysign(bounded);
        self.previous
    }

    /// Returns the multiplier. It is nearly nothing while few decisions agree, which may be chance, and then grows ever
    /// faster. So a rate far from the optimum changes in tens of decisions instead of hundreds.
    fn multiplier(&self) -> f64 {
        match self.amplifier {
            amplifier if amplifier < 3.0 => amplifier + 1.0,
            amplifier if amplifier < 6.0 => 2.0 * amplifier - 2.0,
            amplifier if amplifier < 9.0 => 4.0 * amplifier - 14.0,
            amplifier => self.rule.last_slope * amplifier - 50.0,
        }
    }

    /// Resets confidence and bound to their minimum.
    pub(crate) const fn reset(&mut self) {
        self.amplifier = 0.0;
        self.boundary.reset();
    }

    /// Forgets the latest direction: the next decision neither agrees nor disagrees with it.
    pub(crate) const fn forget_direction(&mut self) {
        self.previous = 0.0;
    }

    /// Records the change that the caller really made, if it differs from the returned one.
    pub(crate) const fn set_previous(&mut self, change: f64) {
        self.previous = change;
    }

    /// Returns the latest change; zero if its direction was forgotten.
    pub(crate) const fn previous(&self) -> f64 {
        self.previous
    }

    /// Returns the rule that the step was built with.
    pub(crate) const fn rule(&self) -> &StepRule {
        &self.rule
    }

    /// Returns the confidence amplifier, for time series.
    pub(crate) const fn amplifier(&self) -> f64 {
        self.amplifier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step() -> GradientStep {
        let rule = StepRule {
            theta: 1.0,
            last_slope: 8.0,
            early_growth: 1.0,
            late_growth: 0.5,
            early_below: 4.0,
            least: 0.5,
        };
        GradientStep::new(rule, Boundary::new(0.05, 0.06))
    }

    #[test]
    fn the_multiplier_at_0_3_6_and_9() {
        let at = |amplifier| GradientStep { amplifier, ..step() }.multiplier();
        assert_eq!([0.0, 3.0, 6.0, 9.0].map(at), [1.0, 4.0, 10.0, 22.0]);
        assert_eq!([2.0, 5.0, 8.0].map(at), [3.0, 8.0, 18.0]);
    }

    #[test]
    fn the_bound_widens_by_6_points_per_hit_and_narrows_again() {
        let mut boundary = Boundary::new(0.05, 0.06);
        let limited: Vec<f64> = (0..3).map(|_| boundary.limit(1e9, 100.0)).collect();
        assert_eq!(limited.iter().map(|change| change.round()).collect::<Vec<_>>(), [5.0, 11.0, 17.0]);
        assert_eq!(boundary.limit(1.0, 100.0), 1.0);
        assert!((boundary.limit(-1e9, 100.0) + 17.0).abs() < 1e-9); // three hits, one miss: two are left
    }

    #[test]
    fn confidence_grows_with_agreement_and_ends_with_a_turn() {
        let mut step = step();
        // A gradient of 1 at rate 1000 keeps every change within the bound.
        let mut decide = |gradient: f64| step.change((0.0, 1.0), (gradient, 2.0), 1000.0);
        let up: Vec<f64> = (0..6).map(|_| decide(1.0)).collect();
        // The first decision has no predecessor. From amplifier 3 on the multiplier doubles its slope; above 3 the
        // growth halves.
        assert_eq!(up, [1.0, 1.0, 2.0, 3.0, 4.0, 6.0]);
        assert_eq!(decide(-1.0), -1.0);
        // One agreeing decision compensates the swing before confidence grows.
        assert_eq!([decide(-1.0), decide(-1.0), decide(-1.0)], [-1.0, -1.0, -2.0]);
    }

    #[test]
    fn no_step_is_smaller_than_the_least() {
        let mut step = step();
        assert_eq!(step.change((0.0, 1.0), (0.001, 2.0), 10.0), 0.5);
        assert_eq!(step.change((0.0, 1.0), (-0.001, 2.0), 10.0), -0.5);
        step.forget_direction();
        assert_eq!(step.previous(), 0.0);
        assert_eq!(step.change((1.0, 2.0), (5.0, 2.0), 10.0), 0.5); // equal rates: no gradient
    }
}
