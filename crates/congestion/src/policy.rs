//! Learned controllers without their network: their observations and the effects of their actions.
//!
//! A trainer or an environment takes the place of the network. It reads the same observations and uses the same
//! actions, so a trained network behaves alike in both places.

use crate::steps::StepValues;
use crate::{Ack, Control, Ecn, FieldSink, Loss, Sent, Timeout};
use core::fmt::Debug;
use units::{Span, Time};

/// Learned scheme without its network: it turns events into observations, and actions into [`Control`].
pub trait Policy: Debug + Send {
    /// Returns the length of an observation.
    fn inputs(&self) -> usize;

    /// Returns the length of an action. An action has either one number per choice, of which the maximum counts, or the
    /// numbers that the scheme applies.
    fn outputs(&self) -> usize;

    /// See [`Controller`].
    fn on_established(&mut self, _now: Time, _rtt: Span) {}

    /// See [`Controller`].
    fn on_sent(&mut self, _event: &Sent) {}

    /// See [`Controller`].
    fn on_ack(&mut self, event: &Ack<'_>);

    /// See [`Controller`].
    fn on_loss(&mut self, _event: &Loss<'_>) {}

    /// See [`Controller`].
    fn on_timeout(&mut self, _event: &Timeout) {}

    /// See [`Controller`].
    fn on_ecn(&mut self, _event: &Ecn) {}

    /// See [`Controller`].
    fn on_wake(&mut self, _now: Time) {}

    /// Returns the observation if an action is due. Called after every event; the caller must call [`act`](Self::act)
    /// next.
    fn observation(&mut self, now: Time) -> Option<&[f32]>;

    /// Applies an action.
    fn act(&mut self, now: Time, action: &[f32]);

    /// See [`Controller`].
    fn control(&self) -> Control;

    /// Returns the counters of the step that the latest observation ended; `None` if the policy does not count its own
    /// steps.
    fn values(&self) -> Option<&StepValues> {
        None
    }

    /// Handles the end of the run. A policy that counts its own steps ends the step without an observation.
    fn end(&mut self, _now: Time) {}

    /// See [`Controller`].
    fn fields(&self, sink: &mut dyn FieldSink);
}

/// Returns the windows after each of Indigo's five actions on `window` packets: a half, 10 less, the same, 10 more,
/// double (StanfordSNR/indigo@2601c92e, env/sender.py).
pub fn windows_after(window: f64) -> [f64; 5] {
    [window / 2.0, window - 10.0, window, window + 10.0, window * 2.0]
}

/// Returns an observation of `seen` and of the last action, in one-hot form.
pub(crate) fn with_last_action<const N: usize>(seen: &[f64], last_action: usize) -> [f32; N] {
    let mut observation = [0.0; N];
    for (place, value) in observation.iter_mut().zip(seen) {
        *place = *value as f32;
    }
    observation[seen.len() + last_action] = 1.0;
    observation
}

/// Appends a step to an observation of several steps and removes the first one.
pub(crate) fn remember(observation: &mut [f32], step: &[f64]) {
    observation.copy_within(step.len().., 0);
    let last = observation.len() - step.len();
    for (place, value) in observation[last..].iter_mut().zip(step) {
        *place = *value as f32;
    }
}
