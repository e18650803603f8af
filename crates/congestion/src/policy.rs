//! Learned controllers: what such a scheme sees and does without its network.
//!
//! A trainer or an environment for one takes the place of the network: it reads the same observations and acts by the same
//! means, so that what was learned there acts here as it did.

use crate::steps::StepValues;
use crate::{Ack, Control, Ecn, FieldSink, Loss, Sent, Timeout};
use core::fmt::Debug;
use units::{Span, Time};

/// A learned scheme without its network: it turns events into observations and actions into [`Control`].
pub trait Policy: Debug + Send {
    /// Length of an observation.
    fn inputs(&self) -> usize;

    /// Length of an action: one number for each of several choices, the largest of which is taken, or the numbers that
    /// are the action.
    fn outputs(&self) -> usize;

    /// As of [`Controller`].
    fn on_established(&mut self, _now: Time, _rtt: Span) {}

    /// As of [`Controller`].
    fn on_sent(&mut self, _event: &Sent) {}

    /// As of [`Controller`].
    fn on_ack(&mut self, event: &Ack<'_>);

    /// As of [`Controller`].
    fn on_loss(&mut self, _event: &Loss<'_>) {}

    /// As of [`Controller`].
    fn on_timeout(&mut self, _event: &Timeout) {}

    /// As of [`Controller`].
    fn on_ecn(&mut self, _event: &Ecn) {}

    /// As of [`Controller`].
    fn on_wake(&mut self, _now: Time) {}

    /// What is seen, if it is time to act; asked after every event. Whoever gets it calls [`act`](Self::act) next.
    fn observation(&mut self, now: Time) -> Option<&[f32]>;

    /// Acts.
    fn act(&mut self, now: Time, action: &[f32]);

    /// As of [`Controller`].
    fn control(&self) -> Control;

    /// What happened in the step that the latest observation ended, of policies that count it themselves.
    fn values(&self) -> Option<&StepValues> {
        None
    }

    /// The run is over: of policies that count themselves, the step ends though no observation is due.
    fn end(&mut self, _now: Time) {}

    /// As of [`Controller`].
    fn fields(&self, sink: &mut dyn FieldSink);
}

/// What each of Indigo's five actions makes of a window of packets: a half, 10 less, the same, 10 more, double
/// (StanfordSNR/indigo@2601c92e, env/sender.py).
pub fn windows_after(window: f64) -> [f64; 5] {
    [window / 2.0, window - 10.0, window, window + 10.0, window * 2.0]
}

/// An observation of `seen` and of the last action, which has a place of its own for each choice.
pub(crate) fn with_last_action<const N: usize>(seen: &[f64], last_action: usize) -> [f32; N] {
    let mut observation = [0.0; N];
    for (place, value) in observation.iter_mut().zip(seen) {
        *place = *value as f32;
    }
    observation[seen.len() + last_action] = 1.0;
    observation
}

/// Puts a step at the end of an observation of several, of which the first is forgotten.
pub(crate) fn remember(observation: &mut [f32], step: &[f64]) {
    observation.copy_within(step.len().., 0);
    let last = observation.len() - step.len();
    for (place, value) in observation[last..].iter_mut().zip(step) {
        *place = *value as f32;
    }
}
