//! Random walks of an element's settings, as in ccperf's experiments (<https://ccperf.net/experiments/random_walk>).
//!
//! Each key makes one step per interval: the last step D becomes `corr` D + N(0, `std`^2), and the value moves by D and
//! is clamped to [`min`, `max`]. If it is clamped, D is set to 0; otherwise a walk with a memory would stay at its
//! bound for a while. ccperf's page does not specify this case, nor the interval and the first value.

use crate::change::KeyWalk;
use crate::spec::ElementSpec;
use units::{Rng, Span, Time};

/// Running walks of one element.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    /// Index of the element's stage.
    pub(crate) stage: usize,
    /// Time of the next step.
    pub(crate) next: Time,
    interval: Span,
    /// Current settings of the element.
    spec: ElementSpec,
    keys: Vec<Key>,
}

#[derive(Clone, Debug)]
struct Key {
    name: String,
    walk: KeyWalk,
    value: f64,
    /// The last step, D.
    step: f64,
    rng: Rng,
}

impl Key {
    fn advance(&mut self) {
        self.step = self.walk.corr * self.step + self.rng.normal(0.0, self.walk.std);
        let next = self.value + self.step;
        self.value = next.clamp(self.walk.min, self.walk.max);
        if self.value != next {
            self.step = 0.0;
        }
    }
}

impl Walker {
    /// Returns the walks of a checked `element`, if it has any; each key draws from the stream `prefix/walk/KEY`.
    pub(crate) fn build(element: &ElementSpec, stage: usize, seed: u64, prefix: &str) -> Option<Self> {
        let spec = element.walk()?;
        let keys = spec.keys.iter().map(|(name, walk)| Key {
            name: name.clone(),
            walk: *walk,
            value: walk.start(),
            step: 0.0,
            rng: Rng::new(seed, &format!("{prefix}/walk/{name}")),
        });
        let interval = Span::from_secs_f64(spec.interval_ms / 1e3);
        let spec = element.at_start().into_owned();
        Some(Self { stage, next: Time::ZERO + interval, interval, spec, keys: keys.collect() })
    }

    /// Makes the step that is due; returns the element after it.
    pub(crate) fn step(&mut self) -> &ElementSpec {
        self.next += self.interval;
        self.keys.iter_mut().for_each(Key::advance);
        self.write()
    }

    /// Applies a scheduled change to `state`; returns the element after it.
    pub(crate) fn adopt(&mut self, state: &ElementSpec) -> &ElementSpec {
        self.spec = state.clone();
        self.write()
    }

    fn write(&mut self) -> &ElementSpec {
        for key in &self.keys {
            let result = self.spec.set_nearest(&key.name, key.value);
            debug_assert!(result.is_ok(), "checked when the direction was built: {result:?}");
        }
        &self.spec
    }
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
