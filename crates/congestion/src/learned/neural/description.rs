//! Description of a custom policy: a line of words `KEY=VALUE`, stored with the network that decides for the policy.

use super::sights::{SIGHTS, Sight};
use strict_input::Refusal;

/// Meaning of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Action {
    /// One number `a` from -1 to 1: the pacing rate is multiplied by 1 + x a, or divided by 1 - x a for a below 0.
    RateMult(f64),
    /// One number `a` from -1 to 1: the window is multiplied by 2^(x a).
    CwndMult2(f64),
    /// One of five: half the window, 10 packets less, the same, 10 more, double.
    Indigo5,
}

/// Time at which a decision is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// Time since the last decision, ms.
    TimeMs(f64),
    /// Time since the last decision, as a fraction of the mean RTT of the last step.
    Rtt(f64),
    /// Number of ACKs since the last decision.
    Acks(u64),
}

/// Custom policy.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) sees: Vec<&'static Sight>,
    pub(crate) history: usize,
    pub(crate) action: Action,
    pub(crate) step: Step,
    pub(crate) require_ack: bool,
    pub(crate) delay_ms: f64,
    pub(crate) start_mbps: f64,
    pub(crate) start_packets: f64,
    pub(crate) most_mbps: f64,
    pub(crate) most_packets: f64,
}

/// Maximum history, steps.
const MOST_HISTORY: f64 = 1000.0;
/// Maximum number of values of an observation, all steps together; presets have 60 at most.
const MOST_SEEN: usize = 1 << 16;

impl Description {
    /// Reads a line.
    ///
    /// # Errors
    /// One line with the key, the value and the allowed values.
    pub(crate) fn parse(line: &str) -> Result<Self, Refusal> {
        let mut found = Self {
            sees: Vec::new(),
            history: 1,
            action: Action::RateMult(0.025),
            step: Step::Rtt(0.5),
            require_ack: false,
            delay_ms: 0.0,
            start_mbps: 1.0,
            start_packets: 10.0,
            most_mbps: 1000.0,
            most_packets: 10_000.0,
        };
        for word in line.split_whitespace() {
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| Refusal::of_key("policy", format!("`{word}`: allowed is KEY=VALUE")))?;
            found.set(key, value)?;
        }
        if found.sees.is_empty() {
            return Err(Refusal::of_key(
                "policy",
                "`sees` is missing: allowed are names of what is seen, with commas",
            ));
        }
        let (names, history) = (found.sees.len(), found.history);
        if names.saturating_mul(history) > MOST_SEEN {
            return Err(Refusal::of_key(
                "policy",
                format!(
                    "`sees` has {names} names and `history` is {history}: allowed are {MOST_SEEN} numbers in all"
                ),
            ));
        }
        Ok(found)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), Refusal> {
        let number = |least: f64, most: f64| number(key, value, value, least, most);
        match key {
            "sees" => self.sees = value.split(',').map(sight).collect::<Result<_, _>>()?,
            "history" => self.history = number(1.0, MOST_HISTORY)? as usize,
            "action" => self.action = action(value)?,
            "step" => self.step = step(value)?,
            "require_ack" => {
                self.require_ack = match value {
                    "true" => true,
                    "false" => false,
                    _ => {
                        return Err(Refusal::of_key(
                            "policy",
                            format!("`{key}` = `{value}`: allowed are true, false"),
                        ));
                    }
                }
            }
            "delay_ms" => self.delay_ms = number(0.0, 1000.0)?,
            "start_mbps" => self.start_mbps = number(0.001, 1e5)?,
            "start_packets" => self.start_packets = number(1.0, 1e7)?,
            "most_mbps" => self.most_mbps = number(0.001, 1e5)?,
            "most_packets" => self.most_packets = number(1.0, 1e7)?,
            _ => {
                return Err(Refusal::of_key(
                    "policy",
                    format!(
                        "unknown key `{key}`: allowed are sees, history, action, step, require_ack, delay_ms, start_mbps, \
                     start_packets, most_mbps, most_packets"
                    ),
                ));
            }
        }
        Ok(())
    }
}

fn number(key: &str, whole: &str, text: &str, least: f64, most: f64) -> Result<f64, Refusal> {
    text.parse::<f64>().ok().filter(|value| (least..=most).contains(value)).ok_or_else(|| {
        Refusal::of_key("policy", format!("`{key}` = `{whole}`: allowed is a number from {least} to {most}"))
    })
}

fn sight(name: &str) -> Result<&'static Sight, Refusal> {
    SIGHTS.iter().find(|sight| sight.name == name).ok_or_else(|| {
        let known: Vec<&str> = SIGHTS.iter().map(|sight| sight.name).collect();
        Refusal::of_key("policy", format!("`sees` = `{name}`: allowed are {}", known.join(", ")))
    })
}

fn action(value: &str) -> Result<Action, Refusal> {
    let (kind, size) = value.split_once(':').unwrap_or((value, ""));
    let size = |preset: f64, most: f64| match size {
        "" => Ok(preset),
        size => number("action", value, size, 1e-6, most),
    };
    match kind {
        "rate_mult" => Ok(Action::RateMult(size(0.025, 100.0)?)),
        "cwnd_mult2" => Ok(Action::CwndMult2(size(2.0, 10.0)?)),
        "indigo5" if value == kind => Ok(Action::Indigo5),
        _ => Err(Refusal::of_key(
            "policy",
            format!("`action` = `{value}`: allowed are rate_mult:SIZE, cwnd_mult2:SIZE, indigo5"),
        )),
    }
}

fn step(value: &str) -> Result<Step, Refusal> {
    let (kind, size) = value.split_once(':').unwrap_or((value, ""));
    match kind {
        "time_ms" => Ok(Step::TimeMs(number("step", value, size, 0.1, 10_000.0)?)),
        "rtt" => Ok(Step::Rtt(number("step", value, size, 0.01, 100.0)?)),
        "acks" => Ok(Step::Acks(number("step", value, size, 1.0, 1e6)? as u64)),
        _ => Err(Refusal::of_key(
            "policy",
            format!("`step` = `{value}`: allowed are time_ms:MS, rtt:SHARE, acks:NUMBER"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_everything_and_has_defaults() {
        let found = Description::parse(
            "sees=latency_ratio,send_ratio history=10 action=cwnd_mult2 step=time_ms:20 delay_ms=5",
        )
        .unwrap();
        assert_eq!(
            found.sees.iter().map(|sight| sight.name).collect::<Vec<_>>(),
            ["latency_ratio", "send_ratio"]
        );
        assert_eq!(
            (found.history, found.action, found.step),
            (10, Action::CwndMult2(2.0), Step::TimeMs(20.0))
        );
        assert_eq!((found.delay_ms, found.start_packets, found.require_ack), (5.0, 10.0, false));
    }

    #[test]
    fn an_observation_of_any_length_is_refused_before_there_is_one() {
        // The observation would take 4.65 GB for 1.2 million names and a history of 1000.
        let line = |names: usize, history: usize| {
            format!("sees=acks{} history={history}", ",acks".repeat(names - 1))
        };
        assert_eq!(
            Description::parse(&line(66, 1000)).unwrap_err().to_string(),
            "policy: `sees` has 66 names and `history` is 1000: allowed are 65536 numbers in all"
        );
        let error = Description::parse(&line(1_200_000, 1)).unwrap_err().to_string();
        assert!(error.starts_with("policy: `sees` has 1200000 names and `history` is 1: "), "{error}");
        assert_eq!(Description::parse(&line(65, 1000)).unwrap().sees.len(), 65);
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        for (line, expected) in [
            ("", "policy: `sees` is missing"),
            ("sees=rtt", "policy: `sees` = `rtt`: allowed are latency_inflation, latency_ratio,"),
            ("sees=send_ratio history=0", "policy: `history` = `0`: allowed is a number from 1 to 1000"),
            ("sees=send_ratio action=jump", "policy: `action` = `jump`: allowed are rate_mult:SIZE,"),
            ("sees=send_ratio step=rtt", "policy: `step` = `rtt`: allowed is a number from 0.01 to 100"),
            ("sees=send_ratio step=time_ms:NaN", "`step` = `time_ms:NaN`: allowed is a number"),
            ("sees=send_ratio x=1", "policy: unknown key `x`: allowed are sees,"),
            ("sees", "policy: `sees`: allowed is KEY=VALUE"),
            ("sees=send_ratio require_ack=1", "`require_ack` = `1`: allowed are true, false"),
        ] {
            let error = Description::parse(line).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        }
    }
}
