//! Conditions of an expectation, and whether they hold.

use crate::line::refusal;
use serde_json::{Value as Json, json};
use strict_input::Refusal;
use units::Time;

/// Default tolerance, as a fraction of the expected value: windows of whole bytes, and constants in 1024ths as Linux has
/// them (717 / 1024 for 0.7 is 0.03 % more).
const RELATIVE: f64 = 1e-3;

/// How a value has to stand to the one expected.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    /// At most the tolerance away.
    Near(f64),
    AtLeast,
    AtMost,
}

/// `cwnd=20~0.5`, `pacing>=12`, `state=drain`.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) key: String,
    relation: Relation,
    /// As written: a number, `none`, or a state by its name.
    expected: String,
    number: Option<f64>,
}

/// A state's name and value, and the unit of a field, which lists the names of states.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) unit: String,
    /// Not finite if there is none.
    pub(crate) value: f64,
}

/// One condition that was looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Check {
    pub(crate) line: usize,
    pub(crate) at: Time,
    pub(crate) condition: String,
    pub(crate) found: String,
    /// `None` if the controller does not report the field.
    pub(crate) holds: Option<bool>,
    pub(crate) source: String,
    /// Why it is known not to hold.
    pub(crate) known: Option<String>,
}

impl Check {
    pub(crate) fn json(&self) -> Json {
        json!({
            "line": self.line,
            "time_s": self.at.as_secs_f64(),
            "condition": self.condition,
            "found": self.found,
            "holds": self.holds,
            "source": self.source,
            "known": self.known,
        })
    }
}

impl Condition {
    /// Reads one; an error says what is expected.
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

    /// Whether `found` is as expected, and how it is written.
    pub(crate) fn check(&self, found: &Found) -> Result<(bool, String), Refusal> {
        let value = found.value;
        let Some(expected) = self.number else {
            if self.expected == "none" {
                return Ok((!value.is_finite(), number_text(value)));
            }
            let name = state_name(&found.unit, value).unwrap_or_else(|| number_text(value));
            if !states(&found.unit).any(|(_, name)| name == self.expected) {
                let known: Vec<String> = states(&found.unit).map(|(_, name)| name).collect();
                let known = if known.is_empty() { "a number".to_owned() } else { known.join(", ") };
                return Err(Refusal::new(format!("`{}={}`: expected {known}", self.key, self.expected)));
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

/// Writes a number so that it reads back as the same.
pub(crate) fn number_text(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { "none".to_owned() }
}

/// States that a unit such as `0 startup, 1 drain` names.
fn states(unit: &str) -> impl Iterator<Item = (f64, String)> {
    unit.split(", ").filter_map(|part| {
        let (number, name) = part.split_once(' ')?;
        Some((number.parse().ok()?, name.to_lowercase().replace(' ', "-")))
    })
}

fn state_name(unit: &str, value: f64) -> Option<String> {
    states(unit).find(|(number, _)| *number == value).map(|(_, name)| name)
}

/// Looks at the conditions of one line: `find` returns what was found for a key.
pub(crate) fn look<'a>(
    (number, at, source): (usize, Time, &str),
    conditions: &[String],
    is_other: bool,
    find: impl Fn(&str) -> Option<&'a Found>,
    checks: &mut Vec<Check>,
) -> Result<(), Refusal> {
    for text in conditions {
        let condition = Condition::parse(text).map_err(|why| refusal(number, why))?;
        let (holds, found) = match find(&condition.key) {
            Some(found) => match condition.check(found) {
                Ok((holds, found)) => (Some(holds), found),
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
            found,
            holds,
            source: source.to_owned(),
            known: None,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(condition: &str, unit: &str, value: f64) -> bool {
        let found = Found { name: "x".to_owned(), unit: unit.to_owned(), value };
        Condition::parse(condition).unwrap().check(&found).unwrap().0
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
        let found = Found { name: "x".to_owned(), unit: unit.to_owned(), value: 0.0 };
        let refused = Condition::parse("x=drain").unwrap().check(&found).unwrap_err();
        assert_eq!(refused.to_string(), "`x=drain`: expected slow-start, reno-friendly");
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in ["x", "=1", "x=", "x=1~", "x=1~-1", "x>=none", "x>=1~2", "x=a~1", "x=1~x%"] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }
}
