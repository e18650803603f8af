//! dumbbell's own files of rules: JSON, one rule in a line.
//!
//! ```text
//! {"format": "dumbbell remy 1",
//!  "training": {...},
//!  "rules": [
//!   {"from": [0, 0, 0, 0], "to": [163840, 163840, 163840, 163840], "window_increment": 1, "window_multiple": 1, "intersend_ms": 3},
//!   ...]}
//! ```
//!
//! `from` and `to` are the four signals in the order of [`Signals`]. `training` is for people and for programs that
//! continue the training.

use super::memory::Signals;
use super::rules::{Action, Rule};
use super::table::Table;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strict_input::Refusal;

const FORMAT: &str = "dumbbell remy 1";

/// Contents of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    format: String,
    #[serde(default)]
    training: Value,
    rules: Vec<Line>,
}

/// Rule in a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    from: Signals,
    to: Signals,
    window_increment: i32,
    window_multiple: f64,
    intersend_ms: f64,
}

impl From<&Rule> for Line {
    fn from(rule: &Rule) -> Self {
        let Action { window_increment, window_multiple, intersend_ms } = rule.action;
        Self { from: rule.lower, to: rule.upper, window_increment, window_multiple, intersend_ms }
    }
}

impl From<&Line> for Rule {
    fn from(line: &Line) -> Self {
        let Line { window_increment, window_multiple, intersend_ms, .. } = *line;
        let action = Action { window_increment, window_multiple, intersend_ms };
        Self { lower: line.from, upper: line.to, action }
    }
}

/// Returns a table and the notes about its training.
pub(super) fn read(contents: &[u8]) -> Result<(Table, Value), Refusal> {
    let text: Text =
        serde_json::from_slice(contents).map_err(|cause| Refusal::new(printable(&cause.to_string())))?;
    if text.format != FORMAT {
        return Err(Refusal::new(printable(&format!("format = \"{}\": allowed is {FORMAT:?}", text.format))));
    }
    Ok((Table::new(text.rules.iter().map(Rule::from).collect())?, text.training))
}

/// Maximum length of a message in characters, and the number of characters at the end that a shortened message keeps.
const LONGEST: usize = 300;
const END: usize = 120;

/// Returns a message that quotes a file as one printable line of limited length.
fn printable(message: &str) -> String {
    let mut letters = Vec::new();
    for letter in message.chars() {
        match letter {
            '"' | '\'' | '\\' => letters.push(letter),
            other => letters.extend(other.escape_debug()),
        }
    }
    if letters.len() > LONGEST {
        let end = letters.split_off(letters.len() - END);
        letters.truncate(LONGEST - END);
        letters.extend(" ... ".chars().chain(end));
    }
    letters.into_iter().collect()
}

/// File of a table, with notes about its training.
#[derive(Debug)]
pub struct Written {
    /// Table of rules.
    pub table: Table,
    /// Notes of the trainer.
    pub training: Value,
}

impl Written {
    /// Reads a file of dumbbell's own format.
    ///
    /// # Errors
    /// One line that describes the fault.
    pub fn read(contents: &[u8]) -> Result<Self, Refusal> {
        read(contents).map(|(table, training)| Self { table, training })
    }

    /// Returns the text of the file.
    pub fn to_text(&self) -> String {
        let rules: Vec<String> = self
            .table
            .rules()
            .iter()
            .filter_map(|rule| serde_json::to_string(&Line::from(rule)).ok())
            .map(|line| format!("  {line}"))
            .collect();
        format!(
            "{{\"format\": \"{FORMAT}\",\n \"training\": {},\n \"rules\": [\n{}\n ]}}\n",
            self.training,
            rules.join(",\n")
        )
    }
}
