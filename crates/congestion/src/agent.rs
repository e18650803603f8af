//! Agents: learned schemes whose decisions come from an environment or a trainer instead of a network.
//!
//! An agent is the policy of a scheme without the network. When an observation falls due, the driver stops before the
//! flow sends anything under the old control. The environment decides, and the driver continues: [`Agent::is_waiting`],
//! [`Agent::act`]. A policy whose observations fall due with an ACK or with its own timer acts as under its network,
//! bit for bit. The policy receives the remaining events of the same call before it acts.

use crate::policy::Policy;
use crate::steps::{StepValues, Steps};
use crate::{STEP_FIELDS, Start};
use units::Time;

/// Policy that waits for external decisions.
#[derive(Debug)]
pub struct Agent {
    policy: Box<dyn Policy>,
    /// Counters of the step; `None` if the policy counts its own steps.
    steps: Option<Steps>,
    values: StepValues,
    observation: Vec<f32>,
    is_waiting: bool,
    decisions: u64,
}

impl Agent {
    /// Returns an agent for a flow with the start conditions `start`.
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

    /// Returns the length of an observation.
    pub fn inputs(&self) -> usize {
        self.policy.inputs()
    }

    /// Returns the length of an action.
    pub fn outputs(&self) -> usize {
        self.policy.outputs()
    }

    /// Returns true if a decision is due. Nothing is sent until [`act`](Self::act).
    pub const fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Returns the observation for the latest decision; zeros before the first decision.
    pub fn observation(&self) -> &[f32] {
        &self.observation
    }

    /// Returns the counters of the step that the latest decision ended.
    pub const fn values(&self) -> &StepValues {
        &self.values
    }

    /// Returns the number of decisions that have fallen due.
    pub const fn decisions(&self) -> u64 {
        self.decisions
    }

    /// Applies a decision; has no effect if no decision is due.
    pub fn act(&mut self, now: Time, action: &[f32]) {
        if core::mem::take(&mut self.is_waiting) {
            self.policy.act(now, action);
        }
    }

    /// Ends the step at `now` without a decision, at the end of the run.
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

    /// Checks whether a decision is due.
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
