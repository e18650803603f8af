//! Controller of a flow in training: the scheme's own policy, with the expert or the network as actor. It notes every
//! step.

use super::lstm::{Episode, Memory, Model, largest};
use super::scheme::Scheme;
use congestion::{Acting, Policy, windows_after};
use std::sync::{Arc, Mutex, PoisonError};
use units::Time;

const ACTIONS: usize = 5;

/// Returns the action whose window is nearest to `target`; the first of equal actions.
pub(super) fn expert(scheme: &Scheme, window: f64, target: f64) -> usize {
    let [least, most] = scheme.limits;
    let distances = windows_after(window).map(|window| (window.clamp(least, most) - target).abs());
    (1..ACTIONS).fold(0, |best, action| if distances[action] < distances[best] { action } else { best })
}

/// Notes of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub(super) episode: Episode,
    /// Steps in which the network chose the expert's action.
    pub(super) agreed: usize,
}

/// Notes shared with their reader.
pub(super) type SharedNotes = Arc<Mutex<Notes>>;

/// Controller of a flow in training.
#[derive(Debug)]
pub(super) struct Pupil {
    scheme: Scheme,
    policy: Box<dyn Policy>,
    /// Window that the expert wants, packets.
    target: f64,
    /// Acting network; `None`: the expert acts.
    actor: Option<(Arc<Model>, Memory)>,
    /// Maximum steps that are noted.
    steps: usize,
    notes: SharedNotes,
    observation: Vec<f32>,
}

impl Pupil {
    pub(super) fn new(
        scheme: Scheme,
        policy: Box<dyn Policy>,
        target: f64,
        model: Option<Arc<Model>>,
        steps: usize,
        notes: SharedNotes,
    ) -> Self {
        let observation = vec![0.0; policy.inputs()];
        let actor = model.map(|model| {
            let memory = model.memory();
            (model, memory)
        });
        Self { scheme, policy, target, actor, steps, notes, observation }
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
        self.observation.copy_from_slice(observation);
        let window = f64::from(self.observation[self.scheme.window]) * self.scheme.window_unit;
        let label = expert(&self.scheme, window, self.target);
        let action = match &mut self.actor {
            None => label,
            Some((model, memory)) => largest(model.step(&self.observation, memory)),
        };
        let mut scores = [0.0; ACTIONS];
        scores[action] = 1.0;
        self.policy.act(now, &scores);
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.episode.labels.len() < self.steps {
            notes.episode.observations.extend_from_slice(&self.observation);
            notes.episode.labels.push(label as u8);
            notes.agreed += usize::from(action == label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scheme::{INDIGO_SCHEME, MUSES_SCHEME};
    use super::*;

    #[test]
    fn the_expert_goes_to_its_window_as_fast_as_it_can() {
        let action = |window, target| expert(&INDIGO_SCHEME, window, target);
        assert_eq!(
            [(10.0, 45.0), (30.0, 45.0), (41.0, 45.0), (60.0, 45.0), (200.0, 45.0)]
                .map(|(window, target)| action(window, target)),
            [3, 3, 2, 1, 0]
        );
        assert_eq!(action(40.0, 100.0), 4);
        assert_eq!(action(20.0, 2.0), 0, "a half and ten less are the same: the first");
        assert_eq!(expert(&MUSES_SCHEME, 10.0, 3.0), 0, "no window below ten");
    }
}
