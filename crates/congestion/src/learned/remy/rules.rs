//! Rules: an action and the range of signals that it is for.

use super::memory::Signals;
use strict_input::Refusal;

/// Upper end of the signals for newly made rules; tables of 2013 end at a tenth of it. Signals beyond belong to the
/// last rule.
pub const DOMAIN: f64 = 163_840.0;
/// Maximum window, packets (tcpexmachina/remy@ad05f8a, `src/whisker.hh`).
pub const MAX_WINDOW: u32 = 1_000_000;
/// Maximum time between two packets that a rule may have, ms.
pub const MAX_INTERSEND_MS: f64 = 1e6;

/// Action of a rule: change of the window, and time between packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// Packets added to the window.
    pub window_increment: i32,
    /// Multiple of the window before.
    pub window_multiple: f64,
    /// Time between two packets, ms.
    pub intersend_ms: f64,
}

impl Action {
    /// Returns the new window if the window before is `window` packets.
    pub fn window_after(&self, window: u32) -> u32 {
        let packets = f64::from(window) * self.window_multiple + f64::from(self.window_increment);
        (packets as i64).clamp(0, i64::from(MAX_WINDOW)) as u32
    }
}

/// Rule for signals from `lower` (inclusive) to `upper` (exclusive).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Minimum of each signal.
    pub lower: Signals,
    /// Upper bound of each signal, exclusive.
    pub upper: Signals,
    /// Action of the rule.
    pub action: Action,
}

/// Refuses impossible numbers.
///
/// # Errors
/// One line with the number and the allowed values.
pub(super) fn check(rule: &Rule) -> Result<(), Refusal> {
    let Action { window_increment, window_multiple, intersend_ms } = rule.action;
    let within = |name: &str, value: f64, least: f64, most: f64| {
        let is_fine = (least..=most).contains(&value);
        if is_fine {
            Ok(())
        } else {
            Err(Refusal::of_value(name, value, format!("allowed is {least} to {most}")))
        }
    };
    let most = f64::from(MAX_WINDOW);
    within("window_increment", f64::from(window_increment), -most, most)?;
    within("window_multiple", window_multiple, 0.0, 1e3)?;
    within("intersend_ms", intersend_ms, 0.0, MAX_INTERSEND_MS)?;
    for (from, to) in rule.lower.into_iter().zip(rule.upper) {
        // Remy cuts at a median, so a half may be empty.
        if !(from >= 0.0 && from <= to && to.is_finite()) {
            return Err(Refusal::new(format!(
                "signals from {from} to {to}: allowed are intervals from 0 on"
            )));
        }
    }
    Ok(())
}
