//! A flow in training: the scheme's own policy, the expert or the network acting for it, and a note of every step.

use super::lstm::{Episode, Memory, Model, largest};
use super::scheme::Scheme;
use congestion::{Acting, Policy, windows_after};
use std::sync::{Arc, Mutex, PoisonError};
use units::Time;

const ACTIONS: usize = 5;

/// The action whose window is nearest to `target`, the first of equal ones.
pub(super) fn expert(scheme: &Scheme, window: f64, target: f64) -> usize {
    let [least, most] = scheme.limits;
    let distances = windows_after(window).map(|window| (window.clamp(least, most) - target).abs());
    (1..ACTIONS).fold(0, |best, action| if distances[action] < distances[best] { action } else { best })
}

/// What is noted of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub(super) episode: Episode,
    /// Steps in which the network did what the expert says.
    pub(super) agreed: usize,
}

/// Shared with whoever reads the notes.
pub(super) type Shared = Arc<Mutex<Notes>>;

/// Its controller.
#[derive(Debug)]
pub(super) struct Pupil {
    scheme: Scheme,
    policy: Box<dyn Policy>,
    /// The window that the expert wants, packets.
    target: f64,
    /// Who acts; the expert if there is none.
    learned: Option<(Arc<Model>, Memory)>,
    /// Most steps that are noted.
    steps: usize,
    notes: Shared,
    seen: Vec<f32>,
}

impl Pupil {
    pub(super) fn new(
        scheme: Scheme,
        policy: Box<dyn Policy>,
        target: f64,
        learned: Option<Arc<Model>>,
        steps: usize,
        notes: Shared,
    ) -> Self {
        let seen = vec![0.0; policy.inputs()];
        let learned = learned.map(|model| {
            let memory = model.memory();
            (model, memory)
        });
        Self { scheme, policy, target, learned, steps, notes, seen }
    }
}

impl Acting for Pupil {
    type Policy = dyn Policy;

    fn policy(&self) -> &Self::Policy {
        &*self.policy
    }

    fn policy_mut(&mut self) -> &mut Self::Policy {
        &mut *self.policy
    }

    fn ask(&mut self, now: Time) {
        let Some(observation) = self.policy.observation(now) else { return };
        self.seen.copy_from_slice(observation);
        let window = f64::from(self.seen[self.scheme.window]) * self.scheme.window_unit;
        let label = expert(&self.scheme, window, self.target);
        let chosen = match &mut self.learned {
            None => label,
            Some((model, memory)) => largest(model.step(&self.seen, memory)),
        };
        let mut scores = [0.0; ACTIONS];
        scores[chosen] = 1.0;
        self.policy.act(now, &scores);
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.episode.labels.len() < self.steps {
            notes.episode.seen.extend_from_slice(&self.seen);
            notes.episode.labels.push(label as u8);
            notes.agreed += usize::from(chosen == label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scheme::{INDIGO_SCHEME, MUSES_SCHEME};
    use super::*;

    #[test]
    fn the_expert_goes_to_its_window_as_fast_as_it_can() {
        let chosen = |window, target| expert(&INDIGO_SCHEME, window, target);
        assert_eq!(
            [(10.0, 45.0), (30.0, 45.0), (41.0, 45.0), (60.0, 45.0), (200.0, 45.0)]
                .map(|(window, target)| chosen(window, target)),
            [3, 3, 2, 1, 0]
        );
        assert_eq!(chosen(40.0, 100.0), 4);
        assert_eq!(chosen(20.0, 2.0), 0, "a half and ten less are the same: the first");
        assert_eq!(expert(&MUSES_SCHEME, 10.0, 3.0), 0, "no window below ten");
    }
}
