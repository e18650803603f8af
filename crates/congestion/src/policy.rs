//! Learned controllers: what such a scheme sees and does without its network, and the controller that both make together.
//!
//! A trainer or an environment for one takes the place of the network: it reads the same observations and acts by the same
//! means, so that what was learned there acts here as it did.

use crate::network::Network;
use crate::steps::{StepValues, Steps};
use crate::{
    Ack, Agent, Control, Controller, Ecn, FieldSink, Loss, Parameters, Sent, Start, Timeout, indigo, muses,
};
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

/// The policy of the learned scheme whose controller is called `name`, its parameters at their defaults; none of other
/// controllers. A trainer takes the place of its network.
pub fn policy(name: &str, start: &Start) -> Option<Box<dyn Policy>> {
    match name {
        "indigo" => {
            let parameters = Parameters::defaults(indigo::ENTRY.parameters);
            Some(Box::new(indigo::Indigo::new(&parameters, start)))
        }
        "muses" => {
            let parameters = Parameters::defaults(muses::ENTRY.parameters);
            Some(Box::new(muses::Muses::new(&parameters, start)))
        }
        _ => None,
    }
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

/// A policy and whoever acts for it: a network, a trainer, somebody outside. What acts is a controller.
pub trait Acting: Debug + Send {
    /// What is acted for.
    type Policy: Policy + ?Sized;

    /// The policy.
    fn policy(&self) -> &Self::Policy;

    /// The policy, to be told what happened.
    fn policy_mut(&mut self) -> &mut Self::Policy;

    /// Acts if it is time to; called after every event.
    fn ask(&mut self, now: Time);

    /// As of [`Controller`]. An agent counts events, each before the policy is told.
    fn agent(&mut self) -> Option<&mut Agent> {
        None
    }
}

fn steps(acting: &mut impl Acting) -> Option<&mut Steps> {
    acting.agent()?.steps()
}

impl<A: Acting> Controller for A {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.policy_mut().on_established(now, rtt);
        self.ask(now);
    }

    fn on_sent(&mut self, event: &Sent) {
        if let Some(steps) = steps(self) {
            steps.on_sent(event);
        }
        self.policy_mut().on_sent(event);
        self.ask(event.now);
    }

    fn on_ack(&mut self, event: &Ack<'_>) {
        if let Some(steps) = steps(self) {
            steps.on_ack(event);
        }
        self.policy_mut().on_ack(event);
        self.ask(event.now);
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        if let Some(steps) = steps(self) {
            steps.on_loss(event);
        }
        self.policy_mut().on_loss(event);
        self.ask(event.now);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        if let Some(steps) = steps(self) {
            steps.on_timeout(event);
        }
        self.policy_mut().on_timeout(event);
        self.ask(event.now);
    }

    fn on_ecn(&mut self, event: &Ecn) {
        if let Some(steps) = steps(self) {
            steps.on_ecn(event);
        }
        self.policy_mut().on_ecn(event);
        self.ask(event.now);
    }

    fn on_wake(&mut self, now: Time) {
        self.policy_mut().on_wake(now);
        self.ask(now);
    }

    fn agent(&mut self) -> Option<&mut Agent> {
        Acting::agent(self)
    }

    fn control(&self) -> Control {
        self.policy().control()
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        self.policy().fields(sink);
    }
}

/// A policy and the network that acts for it.
#[derive(Debug)]
pub(crate) struct Learned<P> {
    pub(crate) policy: P,
    pub(crate) network: Network,
}

impl<P: Policy> Acting for Learned<P> {
    type Policy = P;

    fn policy(&self) -> &P {
        &self.policy
    }

    fn policy_mut(&mut self) -> &mut P {
        &mut self.policy
    }

    fn ask(&mut self, now: Time) {
        if let Some(observation) = self.policy.observation(now) {
            let action = self.network.step(observation);
            self.policy.act(now, action);
        }
    }
}
