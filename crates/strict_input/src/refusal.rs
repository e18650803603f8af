//! Error for a value in user input: its reason and its place.

use core::error::Error;
use core::fmt::{self, Display, Formatter};
use std::borrow::Cow;

/// Error for a value that is not allowed in user input (an experiment, a parameter, a trace).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(Box<Parts>);

// Boxed, because results of checks pass through many functions, and nearly all are `Ok`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    /// Places of the key, from the innermost table to the outermost.
    places: Vec<Cow<'static, str>>,
    /// Name of the key; empty if the whole place is refused.
    key: String,
    value: Option<String>,
    reason: Cow<'static, str>,
}

impl Refusal {
    /// Returns the error `key = value: reason`. The reason states the allowed values.
    pub fn of_value(
        key: impl Into<String>,
        value: impl Display,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::from_parts(key.into(), Some(value.to_string()), reason.into())
    }

    /// Returns the error `key: reason`, without a value: the value is missing, or several keys contradict each other.
    pub fn of_key(key: impl Into<String>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::from_parts(key.into(), None, reason.into())
    }

    /// Returns an error with only a reason, which names its subject.
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::from_parts(String::new(), None, reason.into())
    }

    fn from_parts(key: String, value: Option<String>, reason: Cow<'static, str>) -> Self {
        Self(Box::new(Parts { places: Vec::new(), key, value, reason }))
    }

    /// Adds `place`, the location of the faulty value.
    #[must_use]
    pub fn at(mut self, place: impl Into<Cow<'static, str>>) -> Self {
        self.0.places.push(place.into());
        self
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Parts { places, key, value, reason } = &*self.0;
        places.iter().rev().try_for_each(|place| write!(f, "{place}: "))?;
        match value {
            Some(value) => write!(f, "{key} = {value}: ")?,
            None if !key.is_empty() => write!(f, "{key}: ")?,
            None => (),
        }
        f.write_str(reason)
    }
}

impl Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_where_which_key_which_value_and_why() {
        let value = Refusal::of_value("rate_mbps", 0.0, "must be above 0");
        for (refusal, line) in [
            (value.clone(), "rate_mbps = 0: must be above 0"),
            (
                value.at("schedule[1]").at("data[0] (link)"),
                "data[0] (link): schedule[1]: rate_mbps = 0: must be above 0",
            ),
            (Refusal::of_key("times_ms", "empty").at("ack[3]".to_owned()), "ack[3]: times_ms: empty"),
            (Refusal::new("nothing to change"), "nothing to change"),
        ] {
            assert_eq!(refusal.to_string(), line);
        }
    }
}
