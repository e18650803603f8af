//! A clock that is wrong on purpose: how corrections of clocks are tried out with one machine.

use std::sync::OnceLock;
use strict_input::Refusal;

/// What a clock shows, as a function of what it would show: an offset, a drift and a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distortion {
    /// Added from the start, ns.
    offset_ns: i64,
    /// Nanoseconds gained in a nanosecond.
    drift: f64,
    /// When drift begins, ns of the true clock.
    base_ns: u64,
    /// When the clock steps, ns of the true clock, and by how much.
    step: Option<(u64, i64)>,
}

/// The distortion of this process, if it has one.
static OF_PROCESS: OnceLock<Distortion> = OnceLock::new();

/// What is allowed, for messages.
const FORM: &str = "offset=37ms,drift=100ppm,step=+20ms@5s (each may be left out)";

impl Distortion {
    /// Reads `offset=37ms,drift=-100ppm,step=+20ms@5s`: drift begins and the step's time counts from `now_ns` of the true
    /// clock.
    ///
    /// # Errors
    /// One line with the form that is allowed.
    pub fn parse(text: &str, now_ns: u64) -> Result<Self, Refusal> {
        let refused = || Refusal::of_key(format!("clock `{text}`"), format!("allowed is {FORM}"));
        let mut distortion = Self { base_ns: now_ns, ..Self::default() };
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(refused)?;
            match name {
                "offset" => distortion.offset_ns = nanoseconds(value).ok_or_else(refused)?,
                "drift" => {
                    let ppm = value.strip_suffix("ppm").and_then(|number| number.parse::<f64>().ok());
                    distortion.drift = ppm.filter(|ppm| ppm.abs() <= 1e4).ok_or_else(refused)? * 1e-6;
                }
                "step" => {
                    let (by, after) = value.split_once('@').ok_or_else(refused)?;
                    let (by, after) = (nanoseconds(by), nanoseconds(after));
                    let (by, after) = by.zip(after).filter(|(_, after)| *after >= 0).ok_or_else(refused)?;
                    distortion.step = Some((now_ns + after as u64, by));
                }
                _ => return Err(refused()),
            }
        }
        Ok(distortion)
    }

    /// What the clock shows when the true one shows `true_ns`.
    pub(crate) fn shown(self, true_ns: u64) -> u64 {
        let stepped = self.step.filter(|(at, _)| true_ns >= *at).map_or(0, |(_, by)| by);
        self.smooth(true_ns).saturating_add_signed(stepped)
    }

    /// The same without the step.
    fn smooth(self, true_ns: u64) -> u64 {
        let gained = (true_ns as i64 - self.base_ns as i64) as f64 * self.drift;
        true_ns.saturating_add_signed(self.offset_ns + gained.round() as i64)
    }

    /// What the true clock shows when this one first shows `shown_ns`: for timers.
    pub(crate) fn true_of(self, shown_ns: u64) -> u64 {
        let before = self.unsmooth(shown_ns);
        match self.step {
            Some((at, by)) if before >= at => self.unsmooth(shown_ns.saturating_add_signed(-by)).max(at),
            _ => before,
        }
    }

    fn unsmooth(self, shown_ns: u64) -> u64 {
        let base = self.base_ns as i64;
        let since = (shown_ns as i64 - self.offset_ns - base) as f64 / (1.0 + self.drift);
        (base + since.round() as i64).max(0) as u64
    }
}

/// Nanoseconds of `37ms`, `+1s`, `-20us`.
fn nanoseconds(text: &str) -> Option<i64> {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (number, scale) = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)))?;
    let value = number.parse::<f64>().ok()? * scale;
    (value.abs() <= 1e18).then_some(value as i64)
}

/// From now on the clocks of this process show what `distortion` says. Only the first call counts.
pub fn distort(distortion: Distortion) {
    let _first = OF_PROCESS.set(distortion);
}

/// The distortion of this process.
#[inline]
pub(crate) fn of_process() -> Option<Distortion> {
    OF_PROCESS.get().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn offset_drift_and_step_add_up_and_timers_find_their_way_back() {
        let wrong = Distortion::parse("offset=37ms,drift=100ppm,step=+20ms@5s", 100 * S).unwrap();
        assert_eq!(wrong.shown(100 * S), 100 * S + 37_000_000);
        assert_eq!(wrong.shown(104 * S), 104 * S + 37_400_000);
        assert_eq!(wrong.shown(106 * S), 106 * S + 57_600_000);
        for true_ns in [100 * S, 104 * S, 105 * S, 106 * S, 160 * S] {
            assert!(wrong.true_of(wrong.shown(true_ns)).abs_diff(true_ns) <= 2, "{true_ns}");
        }
        // What it never shows comes with the step.
        assert_eq!(wrong.true_of(wrong.shown(105 * S) - 10_000_000), 105 * S);
    }

    #[test]
    fn what_is_no_distortion_is_refused() {
        for text in
            ["", "offset", "offset=3", "drift=3", "drift=1e9ppm", "step=1s", "step=1s@-1s", "skew=1ppm"]
        {
            assert!(
                Distortion::parse(text, 0).unwrap_err().to_string().contains("allowed is offset="),
                "{text}"
            );
        }
    }
}
