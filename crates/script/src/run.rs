//! Execution of scripts.

use crate::expect::Check;
use crate::line::{Line, refusal};
use crate::script::{Script, Subject};
use crate::{controller, receiver, sender};
use congestion::{Entry, Parameters, Start};
use serde_json::{Value as Json, json};
use strict_input::Refusal;

impl Script {
    /// Runs the script with the controller that `entry` builds from `parameters`.
    ///
    /// Returns each condition with its value, and whether it holds. With `with_steps`, also returns every event with
    /// all its fields and the answer.
    ///
    /// `is_other` marks a controller that the script was not made for. Conditions on fields that it does not report
    /// are skipped. If its first answers differ from the script's needs, `not_applicable` has the reason.
    ///
    /// # Errors
    /// Returns an error if an event or condition is not allowed, or a parameter's file cannot be read.
    pub fn run(
        &self,
        entry: Option<(&Entry, &Parameters)>,
        is_other: bool,
        with_steps: bool,
    ) -> Result<Json, Refusal> {
        let build = |start: &Start| match entry {
            Some((entry, parameters)) => entry.build(parameters, start),
            None => Err(refusal(1, "a receiver has no controller: a sender or controller is needed")),
        };
        let (mut checks, steps) = match self.subject {
            Subject::Controller => {
                let controller = build(&self.start())?;
                if is_other && let Some(why) = self.unmet(&*controller)? {
                    return Ok(self.not_applicable(&why));
                }
                controller::run(self, controller, is_other, with_steps)?
            }
            Subject::Sender => {
                let config = self.config()?;
                let controller = build(&self.start())?;
                (sender::run(self, &config, controller, is_other)?, vec![])
            }
            Subject::Receiver => (receiver::run(self, &self.config()?)?, vec![]),
        };
        if !is_other {
            self.mark_known(&mut checks);
        }
        let mut report = json!({
            "title": self.title,
            "checks": checks.iter().map(Check::json).collect::<Vec<Json>>(),
        });
        if with_steps {
            report["steps"] = steps.into_iter().map(Json::Object).collect();
        }
        Ok(report)
    }

    /// Marks the conditions that are known to fail.
    ///
    /// A marked condition that holds is a failure, since its line must be removed.
    fn mark_known(&self, checks: &mut Vec<Check>) {
        for line in &self.lines {
            let Line::KnownFailure { number, line, reason } = line else { continue };
            let mut failing: Vec<&mut Check> =
                checks.iter_mut().filter(|check| check.line == *line && check.holds == Some(false)).collect();
            for check in &mut failing {
                check.known_reason = Some(reason.clone());
            }
            if failing.is_empty() {
                checks.push(Check {
                    line: *number,
                    condition: format!("line {line} does not hold"),
                    value_text: format!("line {line} holds: take this line away"),
                    holds: Some(false),
                    ..Check::default()
                });
            }
        }
    }
}
