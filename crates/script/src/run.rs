//! Runs scripts.

use crate::expect::Check;
use crate::line::{Line, refusal};
use crate::script::{Script, Subject};
use crate::{controller, receiver, sender};
use congestion::{Entry, Parameters, Start};
use serde_json::{Value as Json, json};
use strict_input::Refusal;

impl Script {
    /// Runs the script with the controller that `entry` builds of `parameters`: each condition with what was found, and whether
    /// it holds; with `with_steps` every event with all of its fields, and the answer to it. Another controller than the one that
    /// the script is for (`is_other`) need not report all fields: those conditions are skipped. If it begins with other answers than
    /// the script needs, `not_applicable` says so.
    ///
    /// # Errors
    /// One line: an event or condition that is not allowed, or a file that a parameter names.
    pub fn run(
        &self,
        entry: Option<(&Entry, &Parameters)>,
        is_other: bool,
        with_steps: bool,
    ) -> Result<Json, Refusal> {
        let built = |start: &Start| match entry {
            Some((entry, parameters)) => entry.build(parameters, start),
            None => Err(refusal(1, "a receiver has no controller: a sender or controller is needed")),
        };
        let (mut checks, steps) = match self.subject {
            Subject::Controller => {
                let controller = built(&self.start())?;
                if is_other && let Some(why) = self.unmet(&*controller)? {
                    return Ok(self.not_applicable(&why));
                }
                controller::run(self, controller, is_other, with_steps)?
            }
            Subject::Sender => {
                let config = self.config()?;
                let controller = built(&self.start())?;
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

    /// Notes which conditions are known not to hold. One that holds after all is a failure, so that nobody keeps the line.
    fn mark_known(&self, checks: &mut Vec<Check>) {
        for line in &self.lines {
            let Line::Known { number, of, reason } = line else { continue };
            let mut failing: Vec<&mut Check> =
                checks.iter_mut().filter(|check| check.line == *of && check.holds == Some(false)).collect();
            for check in &mut failing {
                check.known = Some(reason.clone());
            }
            if failing.is_empty() {
                checks.push(Check {
                    line: *number,
                    condition: format!("line {of} does not hold"),
                    found: format!("line {of} holds: take this line away"),
                    holds: Some(false),
                    ..Check::default()
                });
            }
        }
    }
}
