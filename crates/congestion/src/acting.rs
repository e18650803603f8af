//! Controllers that consist of a policy and of a decision maker, for example a network.

use crate::agent::Agent;
use crate::network::Network;
use crate::policy::Policy;
use crate::steps::Steps;
use crate::{Ack, Control, Controller, Ecn, FieldSink, Loss, Sent, Timeout};
use core::fmt::Debug;
use units::{Span, Time};

/// Policy together with its decision maker: a network, a trainer or an external program. Every such pair is a
/// controller.
pub trait Acting: Debug + Send {
    /// Type of the policy.
    type Policy: Policy + ?Sized;

    /// Returns the policy.
    fn policy(&self) -> &Self::Policy;

    /// Returns the policy, which receives the events.
    fn policy_mut(&mut self) -> &mut Self::Policy;

    /// Decides if a decision is due; called after every event.
    fn ask(&mut self, now: Time);

    /// Like [`Controller::agent`]. An agent counts each event before the policy receives the event.
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

/// Policy and the network that decides for it.
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

impl Acting for Agent {
    type Policy = dyn Policy;

    fn policy(&self) -> &Self::Policy {
        Self::policy(self)
    }

    fn policy_mut(&mut self) -> &mut Self::Policy {
        Self::policy_mut(self)
    }

    fn ask(&mut self, now: Time) {
        Self::ask(self, now);
    }

    fn agent(&mut self) -> Option<&mut Agent> {
        Some(self)
    }
}
