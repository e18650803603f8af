//! Conditions of an expectation, and their check.

use crate::line::refusal;
use serde_json::{Value as Json, json};
use strict_input::Refusal;
use units::Time;

/// Default tolerance, as a fraction of the expected value.
///
/// Windows are whole bytes, and Linux stores constants in 1024ths (717 / 1024 for 0.7 is 0.03 % more).
const RELATIVE: f64 = 1e-3;

/// Required relation of a value to the expected value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    /// At most the tolerance away.
    Near(f64),
    AtLeast,
    AtMost,
}

/// Condition such as `cwnd=20~0.5`, `pacing>=12`, `state=drain`.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) key: String,
    relation: Relation,
    /// Expected value as written: a number, `none`, or the name of a state.
    expected: String,
    number: Option<f64>,
}

/// Name, unit and value of a field. The unit lists the names of states.
#[derive(Clone, Debug)]
pub(crate) struct FieldValue {
    pub(crate) name: String,
    pub(crate) unit: String,
    /// Value; not finite if absent.
    pub(crate) value: f64,
}

/// Checked condition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Check {
    pub(crate) line: usize,
    pub(crate) at: Time,
    pub(crate) condition: String,
    pub(crate) value_text: String,
    /// True if the condition holds; `None` if the controller does not report the field.
    pub(crate) holds: Option<bool>,
    pub(crate) source: String,
    /// Reason why the condition is known to fail.
    pub(crate) known_reason: Option<String>,
}

impl Check {
    pub(crate) fn json(&self) -> Json {
        json!({
            "line": self.line,
            "time_s": self.at.as_secs_f64(),
            "condition": self.condition,
            "found": self.value_text,
            "holds": self.holds,
            "source": self.source,
            "known": self.known_reason,
        })
    }
}

impl Condition {
    /// Reads a condition. An error describes the expected form.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let split = |operator: &'static str| text.split_once(operator).map(|parts| (operator, parts));
        let parts = split(">=").or_else(|| split("<=")).or_else(|| split("="));
        let Some((operator, (key, value))) = parts.filter(|(_, (key, _))| !key.is_empty()) else {
            return Err(Refusal::new(format!(
                "`{text}`: expected `NAME=VALUE`, `NAME>=VALUE` or `NAME<=VALUE`"
            )));
        };
        let (expected, tolerance) =
            value.split_once('~').map_or((value, None), |(value, by)| (value, Some(by)));
        let number = expected.parse::<f64>().ok().filter(|number| number.is_finite());
        let relation = match (operator, number) {
            (">=", Some(_)) if tolerance.is_none() => Relation::AtLeast,
            ("<=", Some(_)) if tolerance.is_none() => Relation::AtMost,
            ("=", None) if tolerance.is_none() && !expected.is_empty() => Relation::Near(0.0),
            ("=", Some(number)) => match tolerance {
                None => Relation::Near(RELATIVE * number.abs()),
                Some(by) => {
                    let (by, scale) = by.strip_suffix('%').map_or((by, 1.0), |by| (by, number.abs() / 100.0));
                    let by = by.parse::<f64>().ok().filter(|by| by.is_finite() && *by >= 0.0);
                    let Some(by) = by else {
                        return Err(Refusal::new(format!(
                            "`{text}`: expected a tolerance such as `0.5` or `1%` after `~`"
                        )));
                    };
                    Relation::Near(by * scale)
                }
            },
            _ => return Err(Refusal::new(format!("`{text}`: expected a number"))),
        };
        Ok(Self { key: key.to_owned(), relation, expected: expected.to_owned(), number })
    }

    /// Returns true if the field meets the condition, and the field's value as text.
    pub(crate) fn check(&self, field: &FieldValue) -> Result<(bool, String), Refusal> {
        let value = field.value;
        let Some(expected) = self.number else {
            if self.expected == "none" {
                return Ok((!value.is_finite(), number_text(value)));
            }
            let name = state_name(&field.unit, value).unwrap_or_else(|| number_text(value));
            if !states(&field.unit).any(|(_, name)| name == self.expected) {
                let names: Vec<String> = states(&field.unit).map(|(_, name)| name).collect();
                let names = if names.is_empty() { "a number".to_owned() } else { names.join(", ") };
                return Err(Refusal::new(format!("`{}={}`: expected {names}", self.key, self.expected)));
            }
            return Ok((name == self.expected, name));
        };
        let holds = match self.relation {
            Relation::Near(tolerance) => (value - expected).abs() <= tolerance,
            Relation::AtLeast => value >= expected,
            Relation::AtMost => value <= expected,
        };
        Ok((holds, number_text(value)))
    }
}

/// Returns a number as text that reads back as the same number.
pub(crate) fn number_text(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { "none".to_owned() }
}

/// Returns the states in a unit such as `0 startup, 1 drain`.
fn states(unit: &str) -> impl Iterator<Item = (f64, String)> {
    unit.split(", ").filter_map(|part| {
        let (number, name) = part.split_once(' ')?;
        Some((number.parse().ok()?, name.to_lowercase().replace(' ', "-")))
    })
}

fn state_name(unit: &str, value: f64) -> Option<String> {
    states(unit).find(|(number, _)| *number == value).map(|(_, name)| name)
}

/// Checks the conditions of one line. `find` returns the field of a key.
pub(crate) fn look<'a>(
    (number, at, source): (usize, Time, &str),
    conditions: &[String],
    is_other: bool,
    find: impl Fn(&str) -> Option<&'a FieldValue>,
    checks: &mut Vec<Check>,
) -> Result<(), Refusal> {
    for text in conditions {
        let condition = Condition::parse(text).map_err(|why| refusal(number, why))?;
        let (holds, value_text) = match find(&condition.key) {
            Some(field) => match condition.check(field) {
                Ok((holds, text)) => (Some(holds), text),
                Err(_) if is_other => (None, "no such state".to_owned()),
                Err(why) => return Err(refusal(number, why)),
            },
            None if is_other => (None, "not reported".to_owned()),
            None => {
                return Err(refusal(number, format!("`{text}`: no field `{}` is reported", condition.key)));
            }
        };
        checks.push(Check {
            line: number,
            at,
            condition: text.clone(),
            value_text,
            holds,
            source: source.to_owned(),
            known_reason: None,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(condition: &str, unit: &str, value: f64) -> bool {
        let field = FieldValue { name: "x".to_owned(), unit: unit.to_owned(), value };
        Condition::parse(condition).unwrap().check(&field).unwrap().0
    }

    #[test]
    fn a_value_is_compared_within_what_is_written() {
        assert!(holds("x=20", "", 20.019) && !holds("x=20", "", 20.021));
        assert!(holds("x=20~0.5", "", 20.5) && !holds("x=20~0.5", "", 20.6));
        assert!(holds("x=200~1%", "", 198.0) && !holds("x=200~1%", "", 197.9));
        assert!(holds("x>=4", "", 4.0) && !holds("x>=4", "", 3.9));
        assert!(holds("x<=4", "", 4.0) && !holds("x<=4", "", f64::INFINITY));
        assert!(
            holds("x=none", "", f64::INFINITY) && holds("x=none", "", f64::NAN) && !holds("x=none", "", 1.0)
        );
        assert!(!holds("x=1", "", f64::NAN), "no value is no number");
    }

    #[test]
    fn a_state_has_the_name_that_its_unit_gives_it() {
        let unit = "0 slow start, 1 Reno-friendly";
        assert!(holds("x=slow-start", unit, 0.0) && holds("x=reno-friendly", unit, 1.0));
        assert!(!holds("x=slow-start", unit, 1.0) && holds("x=1", unit, 1.0));
        let field = FieldValue { name: "x".to_owned(), unit: unit.to_owned(), value: 0.0 };
        let error = Condition::parse("x=drain").unwrap().check(&field).unwrap_err();
        assert_eq!(error.to_string(), "`x=drain`: expected slow-start, reno-friendly");
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in ["x", "=1", "x=", "x=1~", "x=1~-1", "x>=none", "x>=1~2", "x=a~1", "x=1~x%"] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }
}
