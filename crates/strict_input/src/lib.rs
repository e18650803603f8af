//! Reading of user input (TOML converted to JSON): an error names the key, the value and the allowed values, in uniform
//! words for all crates.
//!
//! ```
//! #[derive(Debug, serde::Deserialize)]
//! struct Link {
//!     rate_mbps: f64,
//! }
//!
//! let refusal = strict_input::parse::<Link>(r#"{"rate_mbps": "fast"}"#).unwrap_err();
//! assert_eq!(refusal.to_string(), r#"rate_mbps = "fast": allowed is a number"#);
//! ```

mod name;
mod refusal;

pub use name::{NAME_RULE, is_name};
pub use refusal::Refusal;

use core::fmt::Write;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Key with the kind of element, queue, application, ...: the other keys depend on it.
const TAG: &str = "kind";
/// Maximum length of a quoted value, bytes; longer values are cut.
const LONGEST_QUOTE: usize = 60;

/// Reads `text`, which is JSON.
///
/// # Errors
/// One line; see [`read`].
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    let value: Value = serde_json::from_str(text).map_err(|error| Refusal::new(error.to_string()))?;
    read(&value, "")
}

/// Reads the value at `place` of a file; `place` is empty for the whole file.
///
/// # Errors
/// One line naming the key, the value and what is allowed.
pub fn read<T: DeserializeOwned>(value: &Value, place: &str) -> Result<T, Refusal> {
    check_tags(value, place)?;
    T::deserialize(value).map_err(|error| {
        let message = error.to_string();
        let (place, culprit) = find_fault::<T>(value, place, &message);
        describe(place, &culprit, message)
    })
}

/// Refuses a kind that is not a string, because serde would take a number for the position of a kind in its list.
fn check_tags(value: &Value, place: &str) -> Result<(), Refusal> {
    match value {
        Value::Object(table) => table.iter().try_for_each(|(key, entry)| {
            let place = join(place, key);
            if key == TAG && !entry.is_string() {
                return Err(Refusal::of_value(place, quote(entry), "allowed is a text"));
            }
            check_tags(entry, &place)
        }),
        Value::Array(list) if list.iter().any(|entry| entry.is_object() || entry.is_array()) => {
            let mut entries = list.iter().enumerate();
            entries.try_for_each(|(index, entry)| check_tags(entry, &format!("{place}[{index}]")))
        }
        _ => Ok(()),
    }
}

fn join(place: &str, key: &str) -> String {
    if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") }
}

/// Returns the place and the value in `whole` that cause the error `message`. serde tells the place only for plain
/// structures, not inside tables with a `kind`. So each level is reduced to one of its entries at a time: the entry
/// that gives the same error is at fault.
fn find_fault<T: DeserializeOwned>(whole: &Value, place: &str, message: &str) -> (String, Value) {
    let mut trial = whole.clone();
    let (mut place, mut pointer) = (place.to_owned(), String::new());
    let mut culprit = whole.clone();
    loop {
        let mut refusal = |node: Value| {
            *trial.pointer_mut(&pointer)? = node;
            T::deserialize(&trial).err().map(|error| error.to_string())
        };
        let Some((step, entry)) = entry_at_fault(&culprit, message, &mut refusal) else {
            return (place, culprit);
        };
        match step {
            Step::Key(key) => {
                place = join(&place, &key);
                let _ = write!(pointer, "/{}", key.replace('~', "~0").replace('/', "~1"));
            }
            Step::Index(index) => {
                let _ = write!(place, "[{index}]");
                pointer += "/0";
            }
        }
        culprit = entry;
    }
}

/// Returns the entry of `node` that causes `message`; `None` if the table itself does. `refusal` returns the error of
/// the whole input with another value in the place of `node`. The last value tried contains the entry.
fn entry_at_fault(
    node: &Value,
    message: &str,
    refusal: &mut dyn FnMut(Value) -> Option<String>,
) -> Option<(Step, Value)> {
    let is_same = |other: Option<String>| other.is_some_and(|other| other == message);
    match node {
        Value::Array(list) if !is_same(refusal(json!([]))) => {
            list.iter().enumerate().find_map(|(index, entry)| {
                is_same(refusal(json!([entry]))).then(|| (Step::Index(index), entry.clone()))
            })
        }
        Value::Object(table) => {
            let only = |keys: &[&str]| {
                let entries = table.iter().filter(|(key, _)| keys.contains(&key.as_str()));
                Value::Object(entries.map(|(key, entry)| (key.clone(), entry.clone())).collect())
            };
            let is_missing = message.starts_with("missing field");
            if is_same(refusal(only(if is_missing { &[TAG] } else { &[] }))) {
                return None;
            }
            let mut keys: Vec<&str> = table.keys().map(String::as_str).collect();
            keys.sort_by_key(|key| *key != TAG);
            let culprit = keys.iter().find(|key| is_same(refusal(only(&[TAG, key]))));
            culprit
                .filter(|key| !message.starts_with(&format!("unknown field `{key}`")))
                .map(|key| (Step::Key((*key).to_owned()), table[*key].clone()))
        }
        _ => None,
    }
}

enum Step {
    Key(String),
    Index(usize),
}

/// Rewrites serde's `message` in the words of the files, with the place.
fn describe(place: String, value: &Value, message: String) -> Refusal {
    let is_value = message.starts_with("invalid type") || message.starts_with("invalid value");
    match message.split_once(", expected ") {
        Some((_, expected)) if is_value && !place.is_empty() => {
            Refusal::of_value(place, quote(value), format!("allowed is {}", allowed(expected)))
        }
        _ => Refusal::of_key(place, message),
    }
}

fn quote(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().find(|(at, _)| *at >= LONGEST_QUOTE) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

/// Translates the type that serde expects into the words of the files.
fn allowed(expected: &str) -> &str {
    match expected {
        "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, at least 0",
        "i64" => "a whole number",
        "a boolean" => "true or false",
        "a string" | "string or map" | "variant identifier" => "a text",
        "a sequence" => "a list",
        "a map" => "a table",
        _ if expected.starts_with("struct ") || expected.starts_with("internally tagged ") => "a table",
        _ => expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only whether it can be read matters")]
    struct Link {
        rate: f64,
        queue: Option<Queue>,
        #[serde(default)]
        times: Vec<u64>,
        #[serde(default)]
        changes: Vec<Change>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
    #[allow(dead_code, reason = "only whether it can be read matters")]
    enum Queue {
        Infinite {},
        Droptail { packets: u32 },
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only whether it can be read matters")]
    struct Change {
        #[serde(default)]
        at_s: f64,
        #[serde(flatten)]
        parameters: BTreeMap<String, f64>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(tag = "kind", rename_all = "kebab-case")]
    #[allow(dead_code, reason = "only whether it can be read matters")]
    enum Element {
        Link(Link),
        Delay { ms: f64 },
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only whether it can be read matters")]
    struct Path {
        name: String,
        data: Vec<Element>,
        #[serde(default)]
        fragment: bool,
    }

    /// Returns the error of a path of a delay and the given element.
    fn refusal(element: &Value) -> String {
        let path = json!({"name": "x", "data": [{"kind": "delay", "ms": 1}, element], "fragment": true});
        read::<Path>(&path, "").unwrap_err().to_string()
    }

    #[test]
    fn a_value_of_the_wrong_type_is_named_wherever_it_stands() {
        for (element, expected) in [
            (json!({"kind": "link", "rate": "fast"}), r#"data[1].rate = "fast": allowed is a number"#),
            (
                json!({"kind": "link", "rate": 1, "queue": {"kind": "droptail", "packets": -3}}),
                "data[1].queue.packets = -3: allowed is a whole number, at least 0",
            ),
            (json!({"kind": "link", "rate": 1, "queue": 5}), "data[1].queue = 5: allowed is a table"),
            (
                json!({"kind": "link", "rate": 1, "times": [1, 2, 2.5]}),
                "data[1].times[2] = 2.5: allowed is a whole number, at least 0",
            ),
            (json!({"kind": "link", "rate": 1, "times": 7}), "data[1].times = 7: allowed is a list"),
            (
                json!({"kind": "link", "rate": 1, "changes": [{"at_s": 1, "rate": 2}, {"at_s": 2, "a/b~": true}]}),
                "data[1].changes[1].a/b~ = true: allowed is a number",
            ),
            (json!({"kind": "delay", "ms": [1]}), "data[1].ms = [1]: allowed is a number"),
            (json!({"kind": 3, "ms": 1}), "data[1].kind = 3: allowed is a text"),
            (json!("delay"), r#"data[1] = "delay": allowed is a table"#),
        ] {
            assert_eq!(refusal(&element), expected);
        }
        let path = json!({"name": "x", "data": [], "fragment": "yes"});
        assert_eq!(
            read::<Path>(&path, "").unwrap_err().to_string(),
            r#"fragment = "yes": allowed is true or false"#
        );
        assert_eq!(parse::<f64>("[").unwrap_err().to_string(), "EOF while parsing a list at line 1 column 1");
    }

    #[test]
    fn keys_that_are_missing_or_unknown_are_named_with_their_table() {
        assert_eq!(refusal(&json!({"kind": "link", "times": [1]})), "data[1]: missing field `rate`");
        assert_eq!(refusal(&json!({"ms": 1})), "data[1]: missing field `kind`");
        let queue =
            |queue: &Value| refusal(&json!({"kind": "link", "rate": 1, "times": [1], "queue": queue}));
        assert_eq!(queue(&json!({"kind": "droptail"})), "data[1].queue: missing field `packets`");
        let unknown = queue(&json!({"kind": "droptail", "packets": 3, "bites": 4}));
        assert_eq!(unknown, "data[1].queue: unknown field `bites`, expected `packets`");
        let kind = queue(&json!({"kind": "dropbear", "packets": 3}));
        assert_eq!(kind, "data[1].queue.kind: unknown variant `dropbear`, expected `infinite` or `droptail`");
    }

    #[test]
    fn long_values_are_cut() {
        let line = refusal(&json!({"kind": "delay", "ms": "é".repeat(100)}));
        assert!(line.len() < 120 && line.ends_with("...: allowed is a number"), "{line}");
    }
}
