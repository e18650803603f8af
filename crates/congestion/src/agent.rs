//! An agent: a learned scheme whose decisions are made outside, by an environment or a trainer.
//!
//! It is the policy of the scheme without its network. When an observation falls due, the driver stops before the flow
//! sends anything under the old control, somebody decides, and the driver goes on: [`Agent::is_waiting`], [`Agent::act`].
//! A policy whose observations fall due with an ACK or its own timer then acts as under its network, bit for bit; what
//! else happens in the call that made it due is told to it before it acts.

use crate::policy::Policy;
use crate::steps::{StepValues, Steps};
use crate::{STEP_FIELDS, Start};
use units::Time;

/// A policy that waits for decisions from outside.
#[derive(Debug)]
pub struct Agent {
    policy: Box<dyn Policy>,
    /// None of policies that count themselves.
    steps: Option<Steps>,
    values: StepValues,
    observation: Vec<f32>,
    is_waiting: bool,
    decisions: u64,
}

impl Agent {
    /// An agent for a flow that starts as told.
    pub(crate) fn new(policy: impl Policy + 'static, start: &Start) -> Self {
        Self {
            observation: vec![0.0; policy.inputs()],
            steps: policy.values().is_none().then(|| Steps::new(start.now)),
            policy: Box::new(policy),
            values: [0.0; STEP_FIELDS.len()],
            is_waiting: false,
            decisions: 0,
        }
    }

    /// Length of an observation.
    pub fn inputs(&self) -> usize {
        self.policy.inputs()
    }

    /// Length of an action.
    pub fn outputs(&self) -> usize {
        self.policy.outputs()
    }

    /// Whether a decision is due: nothing is sent until [`act`](Self::act).
    pub const fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// What was seen when the latest decision fell due; zeros before the first.
    pub fn observation(&self) -> &[f32] {
        &self.observation
    }

    /// What happened in the step that the latest decision ended.
    pub const fn values(&self) -> &StepValues {
        &self.values
    }

    /// How many decisions have fallen due.
    pub const fn decisions(&self) -> u64 {
        self.decisions
    }

    /// Decides; nothing happens where nothing is due.
    pub fn act(&mut self, now: Time, action: &[f32]) {
        if core::mem::take(&mut self.is_waiting) {
            self.policy.act(now, action);
        }
    }

    /// Ends the step at `now`, though no decision is due: the run is over.
    pub fn close(&mut self, now: Time) {
        self.policy.end(now);
        self.take_values(now);
    }

    pub(crate) fn policy(&self) -> &(dyn Policy + 'static) {
        &*self.policy
    }

    pub(crate) fn policy_mut(&mut self) -> &mut (dyn Policy + 'static) {
        &mut *self.policy
    }

    /// Looks whether a decision is due.
    pub(crate) fn ask(&mut self, now: Time) {
        if self.is_waiting {
            return;
        }
        if let Some(observation) = self.policy.observation(now) {
            self.observation.copy_from_slice(observation);
            self.is_waiting = true;
            self.decisions += 1;
            self.take_values(now);
        }
    }

    pub(crate) const fn steps(&mut self) -> Option<&mut Steps> {
        self.steps.as_mut()
    }

    fn take_values(&mut self, now: Time) {
        if let Some(values) = self.policy.values() {
            self.values = *values;
        } else if let Some(steps) = &mut self.steps
            && now > steps.began()
        {
            self.values = *steps.close(now, &self.policy.control());
        }
    }
}
