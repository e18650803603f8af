//! Random walks of an element's settings, as in ccperf's experiments (<https://ccperf.net/experiments/random_walk>).
//!
//! Every interval, for each key by itself: the last step D becomes `corr` D + N(0, `std`^2), and the value moves by D
//! and is clamped to [`min`, `max`]. Where it is clamped D is set to 0; otherwise a walk with a memory would stay at its
//! bound for a while. ccperf's page does not say what it does there, nor its interval and its first value.

use crate::change::KeyWalk;
use crate::spec::ElementSpec;
use units::{Rng, Span, Time};

/// The walks of one element at work.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    /// The element's place.
    pub(crate) stage: usize,
    /// When the next step is due.
    pub(crate) next: Time,
    interval: Span,
    /// The element as it now is.
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
        let wanted = self.value + self.step;
        self.value = wanted.clamp(self.walk.min, self.walk.max);
        if self.value != wanted {
            self.step = 0.0;
        }
    }
}

impl Walker {
    /// The walks of a checked `element`, if it has any; each key draws from the stream `prefix/walk/KEY`.
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

    /// The element after the step that is due.
    pub(crate) fn step(&mut self) -> &ElementSpec {
        self.next += self.interval;
        self.keys.iter_mut().for_each(Key::advance);
        self.write()
    }

    /// The element after a scheduled change to `state`.
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
