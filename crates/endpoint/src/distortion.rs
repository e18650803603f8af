//! Deliberately wrong clock, for tests of clock corrections on one machine.

use std::sync::OnceLock;
use strict_input::Refusal;

/// Distortion of a clock: an offset, a drift and a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distortion {
    /// Offset from the start, ns.
    offset_ns: i64,
    /// Drift, ns per ns.
    drift: f64,
    /// Beginning of the drift, ns of the true clock.
    base_ns: u64,
    /// Time of the step, ns of the true clock, and size of the step, ns.
    step: Option<(u64, i64)>,
}

/// Distortion of this process, if any.
static OF_PROCESS: OnceLock<Distortion> = OnceLock::new();

/// Allowed form, for messages.
const FORM: &str = "offset=37ms,drift=100ppm,step=+20ms@5s (each may be left out)";

impl Distortion {
    /// Parses `offset=37ms,drift=-100ppm,step=+20ms@5s`. The drift begins at `now_ns` of the true clock, and the step's
    /// time counts from there.
    ///
    /// # Errors
    /// Returns one line with the allowed form.
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

    /// Returns the distorted time at `true_ns` of the true clock.
    pub(crate) fn shown(self, true_ns: u64) -> u64 {
        let stepped = self.step.filter(|(at, _)| true_ns >= *at).map_or(0, |(_, by)| by);
        self.smooth(true_ns).saturating_add_signed(stepped)
    }

    /// Returns the distorted time without the step.
    fn smooth(self, true_ns: u64) -> u64 {
        let gained = (true_ns as i64 - self.base_ns as i64) as f64 * self.drift;
        true_ns.saturating_add_signed(self.offset_ns + gained.round() as i64)
    }

    /// Returns the true time at which the distorted clock first reaches `shown_ns`, for timers.
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

/// Parses a duration such as `37ms`, `+1s` or `-20us` into nanoseconds.
fn nanoseconds(text: &str) -> Option<i64> {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (number, scale) = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)))?;
    let value = number.parse::<f64>().ok()? * scale;
    (value.abs() <= 1e18).then_some(value as i64)
}

/// Distorts the clocks of this process from now on. Only the first call has an effect.
pub fn distort(distortion: Distortion) {
    let _first = OF_PROCESS.set(distortion);
}

/// Returns the distortion of this process.
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
        // Times that a forward step skips begin at the step.
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
