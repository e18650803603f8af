//! Named, ranged, documented parameters of a controller.

use crate::Contents;
use core::fmt::{self, Debug, Formatter};
use std::collections::BTreeMap;
use std::sync::Arc;
use strict_input::Refusal;

/// Kind of values that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// A real number in `min..=max`.
    Number {
        /// Minimum allowed value.
        min: f64,
        /// Maximum allowed value.
        max: f64,
    },
    /// A whole number in `min..=max`.
    Integer {
        /// Minimum allowed value.
        min: i64,
        /// Maximum allowed value.
        max: i64,
    },
    /// A switch.
    Flag,
    /// Name from a list.
    Choice(&'static [&'static str]),
    /// The contents of a file: weights, a table.
    File,
}

/// File that a parameter names. The caller has read it: nothing in this crate opens files.
#[derive(Clone, PartialEq)]
pub struct File {
    /// Name as the user wrote it.
    pub name: Arc<str>,
    /// Contents of the file.
    pub contents: Contents,
}

impl Debug for File {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({:?})", self.name, self.contents)
    }
}

/// Contents of files by the names that the user wrote.
pub type Files = BTreeMap<String, Contents>;

/// Value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A real number.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// On or off.
    Flag(bool),
    /// Name from the list of a [`ParameterKind::Choice`].
    Choice(&'static str),
    /// File; `None` if no file was named.
    File(Option<File>),
}

/// Declaration of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name as typed after the scheme's name: `--set copa.delta=0.1`.
    pub name: &'static str,
    /// Unit in printed text; empty for pure numbers, flags and choices.
    pub unit: &'static str,
    /// Allowed values.
    pub kind: ParameterKind,
    /// Default value.
    pub default: Value,
    /// One sentence with the parameter's effect and the source of the default.
    pub help: &'static str,
    /// True if the controller needs a value: a file without which it cannot run.
    pub is_needed: bool,
}

impl Parameter {
    /// Declares a real number.
    pub const fn number(
        name: &'static str,
        unit: &'static str,
        default: f64,
        range: (f64, f64),
        help: &'static str,
    ) -> Self {
        let kind = ParameterKind::Number { min: range.0, max: range.1 };
        Self { name, unit, kind, default: Value::Number(default), help, is_needed: false }
    }

    /// Declares a whole number.
    pub const fn integer(
        name: &'static str,
        unit: &'static str,
        default: i64,
        range: (i64, i64),
        help: &'static str,
    ) -> Self {
        let kind = ParameterKind::Integer { min: range.0, max: range.1 };
        Self { name, unit, kind, default: Value::Integer(default), help, is_needed: false }
    }

    /// Declares a switch.
    pub const fn flag(name: &'static str, default: bool, help: &'static str) -> Self {
        Self {
            name,
            unit: "",
            kind: ParameterKind::Flag,
            default: Value::Flag(default),
            help,
            is_needed: false,
        }
    }

    /// Declares a choice among `choices`, which must contain `default`.
    pub const fn choice(
        name: &'static str,
        default: &'static str,
        choices: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        let default = Value::Choice(default);
        Self { name, unit: "", kind: ParameterKind::Choice(choices), default, help, is_needed: false }
    }

    /// Declares a file; without a value there is no file.
    pub const fn file(name: &'static str, help: &'static str) -> Self {
        Self { name, unit: "", kind: ParameterKind::File, default: Value::File(None), help, is_needed: false }
    }

    /// Declares a file that the controller needs.
    pub const fn needed_file(name: &'static str, help: &'static str) -> Self {
        let mut file = Self::file(name, help);
        file.is_needed = true;
        file
    }

    /// Reads `text` as a value of this parameter. The value of a file is its contents, which [`Parameters::set`] has.
    ///
    /// # Errors
    /// One line with the parameter's name, the offending value and the allowed values.
    pub fn parse(&self, text: &str) -> Result<Value, Refusal> {
        let allowed = self.allowed();
        let refuse = || {
            Refusal::of_value(
                format!("`{}`", self.name),
                format_args!("`{text}`"),
                format!("allowed is {allowed}"),
            )
        };
        match self.kind {
            ParameterKind::Number { min, max } => text
                .parse::<f64>()
                .ok()
                .filter(|value| *value >= min && *value <= max)
                .map(Value::Number)
                .ok_or_else(refuse),
            ParameterKind::Integer { min, max } => text
                .parse::<i64>()
                .ok()
                .filter(|value| *value >= min && *value <= max)
                .map(Value::Integer)
                .ok_or_else(refuse),
            ParameterKind::Flag => match text {
                "true" | "on" | "1" => Ok(Value::Flag(true)),
                "false" | "off" | "0" => Ok(Value::Flag(false)),
                _ => Err(refuse()),
            },
            ParameterKind::Choice(choices) => choices
                .iter()
                .find(|choice| **choice == text)
                .map(|choice| Value::Choice(choice))
                .ok_or_else(refuse),
            ParameterKind::File => Err(refuse()),
        }
    }

    /// Returns the allowed values, for messages and help.
    pub fn allowed(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        match self.kind {
            ParameterKind::Number { min, max } => format!("a number from {min} to {max}{unit}"),
            ParameterKind::Integer { min, max } => format!("a whole number from {min} to {max}{unit}"),
            ParameterKind::Flag => "true or false".to_owned(),
            ParameterKind::Choice(choices) => choices.join(", "),
            ParameterKind::File => "the name of a file that can be read".to_owned(),
        }
    }
}

/// Parameters of one controller with their present values.
#[derive(Clone, Debug)]
pub struct Parameters {
    declared: &'static [Parameter],
    values: Vec<Value>,
    files: Files,
}

impl Parameters {
    /// Returns the parameters with their default values.
    pub fn defaults(declared: &'static [Parameter]) -> Self {
        Self {
            declared,
            values: declared.iter().map(|parameter| parameter.default.clone()).collect(),
            files: Files::new(),
        }
    }

    /// Returns the parameters with the files that [`set`](Self::set) may name.
    pub fn with_files(self, files: Files) -> Self {
        Self { files, ..self }
    }

    /// Sets one parameter from text; for a file the text is its name.
    ///
    /// # Errors
    /// One line: an unknown name (with the declared ones) or a value that is not allowed.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), Refusal> {
        let Some(index) = self.declared.iter().position(|parameter| parameter.name == name) else {
            let names: Vec<&str> = self.declared.iter().map(|parameter| parameter.name).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Refusal::new(format!("unknown parameter `{name}`: allowed are {known}")));
        };
        let file = self.files.get(text).filter(|_| self.declared[index].kind == ParameterKind::File);
        self.values[index] = match file {
            Some(contents) => Value::File(Some(File { name: text.into(), contents: contents.clone() })),
            None => self.declared[index].parse(text)?,
        };
        Ok(())
    }

    fn value(&self, name: &str) -> &Value {
        let index = self.declared.iter().position(|parameter| parameter.name == name);
        &self.values[index.unwrap_or_else(|| panic!("parameter `{name}` is not declared"))]
    }

    /// Returns a real number (whole numbers convert). Panics if `name` is not declared as a number: a programming
    /// error.
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(value) => *value,
            Value::Integer(value) => *value as f64,
            other => panic!("parameter `{name}` is {other:?}, not a number"),
        }
    }

    /// Returns a whole number. Panics if `name` is not declared as a whole number.
    pub fn integer(&self, name: &str) -> i64 {
        match self.value(name) {
            Value::Integer(value) => *value,
            other => panic!("parameter `{name}` is {other:?}, not a whole number"),
        }
    }

    /// Returns the state of a switch. Panics if `name` is not declared as a switch.
    pub fn flag(&self, name: &str) -> bool {
        match self.value(name) {
            Value::Flag(value) => *value,
            other => panic!("parameter `{name}` is {other:?}, not a switch"),
        }
    }

    /// Returns a choice. Panics if `name` is not declared as a choice.
    pub fn choice(&self, name: &str) -> &'static str {
        match self.value(name) {
            Value::Choice(value) => value,
            other => panic!("parameter `{name}` is {other:?}, not a choice"),
        }
    }

    /// Returns a file, or `None` if no file was named. Panics if `name` is not declared as a file.
    pub fn file(&self, name: &str) -> Option<&File> {
        match self.value(name) {
            Value::File(value) => value.as_ref(),
            other => panic!("parameter `{name}` is {other:?}, not a file"),
        }
    }

    /// Returns a file that the controller needs. Panics if `name` is not declared as a file.
    ///
    /// # Errors
    /// One line if no file was named; `what` describes the needed contents.
    pub fn needed_file(&self, name: &str, what: &str) -> Result<&File, Refusal> {
        self.file(name)
            .ok_or_else(|| Refusal::of_key(format!("`{name}`"), format!("no file named: allowed is {what}")))
    }

    /// Returns the declaration and value of every parameter, in declaration order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Parameter, &Value)> {
        self.declared.iter().zip(&self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[Parameter] = &[
        Parameter::number("delta", "1/packet", 0.5, (0.001, 10.0), "test"),
        Parameter::flag("pacing", true, "test"),
        Parameter::choice("mode", "auto", &["auto", "fixed"], "test"),
        Parameter::file("weights", "test"),
    ];

    #[test]
    fn values_outside_the_range_are_refused_with_what_is_allowed() {
        let mut parameters = Parameters::defaults(DECLARED);
        let refusal = parameters.set("delta", "-1").unwrap_err().to_string();
        assert_eq!(refusal, "`delta` = `-1`: allowed is a number from 0.001 to 10 1/packet");
        assert!(parameters.set("delta", "NaN").is_err());
        assert!(parameters.set("mode", "other").unwrap_err().to_string().contains("auto, fixed"));
        assert!(
            parameters.set("dleta", "1").unwrap_err().to_string().contains("delta, pacing, mode, weights")
        );
        assert_eq!(parameters.number("delta"), 0.5);
    }

    #[test]
    fn values_inside_the_range_are_taken() {
        let mut parameters = Parameters::defaults(DECLARED);
        parameters.set("delta", "0.1").unwrap();
        parameters.set("pacing", "off").unwrap();
        parameters.set("mode", "fixed").unwrap();
        assert_eq!(parameters.number("delta"), 0.1);
        assert!(!parameters.flag("pacing"));
        assert_eq!(parameters.choice("mode"), "fixed");
    }

    #[test]
    fn a_file_is_its_contents_and_one_that_nobody_has_read_is_refused() {
        let files = Files::from([("w.bin".to_owned(), [1, 2, 3].into())]);
        let mut parameters = Parameters::defaults(DECLARED).with_files(files);
        assert_eq!(parameters.file("weights"), None);
        let refusal = parameters.set("weights", "v.bin").unwrap_err().to_string();
        assert_eq!(refusal, "`weights` = `v.bin`: allowed is the name of a file that can be read");
        parameters.set("weights", "w.bin").unwrap();
        let file = parameters.file("weights").unwrap();
        assert_eq!((&*file.name, &*file.contents), ("w.bin", [1, 2, 3].as_slice()));
        assert!(parameters.set("mode", "w.bin").is_err(), "a file's name is no choice");
    }
}
