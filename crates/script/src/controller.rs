//! Runs of scripts that drive a controller.

use crate::answers::answers;
use crate::event::Event;
use crate::expect::{Check, look, number_text};
use crate::ledger::Ledger;
use crate::line::Line;
use crate::script::{MAX_EVENTS, Script};
use congestion::Controller;
use core::fmt::Write as _;
use serde_json::{Map, Value as Json};
use strict_input::Refusal;
use units::Time;

/// Checked conditions, and every event with its answer.
pub(crate) type Outcome = (Vec<Check>, Vec<Map<String, Json>>);

/// Runs a script. Returns the checked conditions, and every event with its answer.
pub(crate) fn run(
    script: &Script,
    mut controller: Box<dyn Controller>,
    is_other: bool,
    with_steps: bool,
) -> Result<Outcome, Refusal> {
    let mut ledger = Ledger::new(script.mss_bytes);
    let (mut checks, mut steps, mut at, mut events) = (Vec::new(), Vec::new(), Time::ZERO, 0);
    for line in &script.lines {
        match line {
            Line::Event(words) => {
                if words.at < at {
                    return Err(words.refusal("its time is before that of the last event of the line above"));
                }
                let number = words.number;
                ledger.read(words.clone(), &mut |event: Event| {
                    at = at.max(event.at());
                    events += 1;
                    event.tell(controller.as_mut());
                    let (control, fields) = answers(controller.as_ref(), script.mss_bytes);
                    if with_steps {
                        let mut step = event.json();
                        let answer = fields.0.iter().map(|field| {
                            let value = if field.value.is_finite() { field.value.into() } else { Json::Null };
                            (field.name.clone(), value)
                        });
                        step.insert("line".to_owned(), number.into());
                        step.insert("answer".to_owned(), Json::Object(answer.collect()));
                        steps.push(step);
                    }
                    control.window_bytes
                })?;
                if events > MAX_EVENTS {
                    return Err(words.refusal(format!("a script has at most {MAX_EVENTS} events")));
                }
            }
            Line::Expect { number, conditions, source } => {
                let (_, fields) = answers(controller.as_ref(), script.mss_bytes);
                let find = |key: &str| fields.find(key);
                look((*number, at, source), conditions, is_other, find, &mut checks)?;
            }
            Line::KnownFailure { .. } => {}
        }
    }
    Ok((checks, steps))
}

/// Returns the answer of a controller as an expectation.
pub(crate) fn expectation(controller: &dyn Controller, mss_bytes: u32) -> String {
    let (_, fields) = answers(controller, mss_bytes);
    let mut line = "expect".to_owned();
    for field in &fields.0 {
        let _ = write!(line, " {}={}", field.name, number_text(field.value));
    }
    line
}
