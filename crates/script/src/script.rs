//! Script: header and lines.

use crate::answers;
use crate::expect::Condition;
use crate::line::{self, Header, Line, refusal};
use crate::values;
use congestion::{Controller, Entry, Parameters, Start};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use strict_input::Refusal;
use transport::Config;
use units::Time;

/// Maximum events of one script.
pub(crate) const MAX_EVENTS: usize = 1_000_000;
/// Allowed packet sizes of a script, bytes.
const MSS_BYTES: core::ops::RangeInclusive<u64> = 1..=65_000;
/// Maximum initial window, packets.
const MAX_WINDOW: u64 = 100_000;

/// Kind of code that a script drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A controller alone.
    Controller,
    /// The built-in transport's sender, with a controller.
    Sender,
    /// The built-in transport's receiver.
    Receiver,
}

/// Parsed script.
#[derive(Clone, Debug)]
pub struct Script {
    /// Kind of code that the script drives.
    pub subject: Subject,
    /// Title of the script; empty if it has none.
    pub title: String,
    /// Name of the script's controller.
    pub controller: String,
    /// Parameters of this controller that differ from the defaults, as text.
    pub parameters: BTreeMap<String, String>,
    /// Transports for which the script holds: `tcp`, `quic`.
    pub transports: Vec<String>,
    /// Parameters and first answers that the script needs to be meaningful for another controller.
    pub(crate) needs: Vec<String>,
    pub(crate) mss_bytes: u32,
    pub(crate) window: u32,
    pub(crate) seed: u64,
    pub(crate) transport: Json,
    /// Maximum distance of a packet from its time.
    pub(crate) tolerance: units::Span,
    pub(crate) lines: Vec<Line>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Returns an error with the line number, the problem, and the expected form.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let (mut header, mut lines) = line::parse(text)?;
        let mut take = |key: &str| header.remove(key);
        let subject = match take("drives") {
            None => Subject::Controller,
            Some((number, word)) => match word.as_str() {
                "controller" => Subject::Controller,
                "sender" => Subject::Sender,
                "receiver" => Subject::Receiver,
                _ => {
                    return Err(refusal(
                        number,
                        format!("drives = {word}: expected controller, sender or receiver"),
                    ));
                }
            },
        };
        let title = take("title").map(|(_, title)| title).unwrap_or_default();
        let source = take("source").map(|(_, source)| source).unwrap_or_default();
        let (controller, parameters) = match take("controller") {
            Some((number, words)) => controller_and_parameters(number, &words)?,
            None if subject == Subject::Receiver => (String::new(), BTreeMap::new()),
            None => return Err(refusal(1, "the header needs `controller NAME`")),
        };
        let transports = transports(take("transports"))?;
        let needs = needs(take("needs"), &parameters)?;
        let mss_bytes = whole(take("mss"), "mss", 1000, MSS_BYTES)? as u32;
        let window = whole(take("window"), "window", 10, 1..=MAX_WINDOW)? as u32;
        let seed = whole(take("seed"), "seed", 1, 0..=u64::MAX)?;
        let transport = match take("transport") {
            Some((number, _)) if subject == Subject::Controller => {
                return Err(refusal(number, "`transport` is for scripts that drive a sender or a receiver"));
            }
            entry => transport_table(entry)?,
        };
        let tolerance = match take("tolerance") {
            None => units::Span::from_us(1),
            Some((number, text)) => values::parse_span(&text).ok_or_else(|| {
                refusal(number, format!("tolerance = {text}: expected a number of seconds"))
            })?,
        };
        refuse_unknown(&header)?;
        for line in &mut lines {
            if let Line::Expect { source: line_source, number, .. } = line
                && line_source.is_empty()
            {
                if source.is_empty() {
                    return Err(refusal(
                        *number,
                        "expected `# SOURCE` after the conditions, or `source` in the header",
                    ));
                }
                line_source.clone_from(&source);
            }
        }
        Ok(Self {
            subject,
            title,
            controller,
            parameters,
            transports,
            needs,
            mss_bytes,
            window,
            seed,
            transport,
            tolerance,
            lines,
        })
    }

    /// Returns the start values of the controller.
    pub(crate) fn start(&self) -> Start {
        Start {
            now: Time::ZERO,
            mss_bytes: self.mss_bytes,
            initial_window_bytes: u64::from(self.window) * u64::from(self.mss_bytes),
            seed: self.seed,
        }
    }

    /// Returns the configuration of the sender's or receiver's transport.
    pub(crate) fn config(&self) -> Result<Config, Refusal> {
        let mut table = self.transport.clone();
        table["payload_bytes"] = self.mss_bytes.into();
        table["initial_window"] = self.window.into();
        Config::from_json(&table)
    }

    /// Sets the script's parameters on another controller, as far as it has and accepts them.
    ///
    /// Returns the reason why the script does not apply, if it needs one of the other parameters.
    pub fn lend(&self, entry: &Entry, parameters: &mut Parameters) -> Option<String> {
        let mut why_not = None;
        for (name, value) in &self.parameters {
            let is_known = entry.parameters.iter().any(|parameter| parameter.name == name);
            let reason = match parameters.set(name, value) {
                Ok(()) => continue,
                Err(why) if is_known => format!("its parameter {why}"),
                Err(_) => format!("the controller has no parameter `{name}`"),
            };
            if self.needs.contains(name) {
                why_not = why_not.or(Some(reason));
            }
        }
        why_not
    }

    /// Returns the reason why the script does not apply to another controller, from the answers before the first
    /// event.
    pub(crate) fn unmet(&self, controller: &dyn Controller) -> Result<Option<String>, Refusal> {
        let (_, fields) = answers::answers(controller, self.mss_bytes);
        for text in self.needs.iter().filter(|text| text.contains('=')) {
            let condition = Condition::parse(text)?;
            let Some(value) = fields.find(&condition.key) else { continue };
            let (holds, value) = condition.check(value)?;
            if !holds {
                return Ok(Some(format!(
                    "the controller begins with {}={value}, the script with {text}",
                    condition.key
                )));
            }
        }
        Ok(None)
    }

    /// Returns the report of a script that does not apply to a controller.
    pub fn not_applicable(&self, why: &str) -> Json {
        json!({ "title": self.title, "checks": [], "not_applicable": why })
    }
}

/// Transports with different rules.
const TRANSPORTS: [&str; 2] = ["tcp", "quic"];

/// Returns the transports for which a script holds; by default both.
fn transports(entry: Option<(usize, String)>) -> Result<Vec<String>, Refusal> {
    let Some((number, words)) = entry else { return Ok(TRANSPORTS.map(str::to_owned).to_vec()) };
    let names: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    if names.is_empty() || names.iter().any(|name| !TRANSPORTS.contains(&name.as_str())) {
        return Err(refusal(number, format!("transports = {words}: expected tcp, quic or both")));
    }
    Ok(names)
}

/// Returns the needs of a script: names of parameters that the header sets, and conditions on the first answers.
fn needs(
    entry: Option<(usize, String)>,
    parameters: &BTreeMap<String, String>,
) -> Result<Vec<String>, Refusal> {
    let Some((number, words)) = entry else { return Ok(vec![]) };
    for word in words.split_whitespace() {
        if word.contains('=') {
            Condition::parse(word).map_err(|why| refusal(number, why))?;
        } else if !parameters.contains_key(word) {
            return Err(refusal(number, format!("needs {word}: `controller` does not set such a parameter")));
        }
    }
    Ok(words.split_whitespace().map(str::to_owned).collect())
}

/// Returns a controller's name and its parameters.
fn controller_and_parameters(
    number: usize,
    words: &str,
) -> Result<(String, BTreeMap<String, String>), Refusal> {
    let mut words = words.split_whitespace();
    let name = words.next().unwrap_or_default().to_owned();
    let mut parameters = BTreeMap::new();
    for word in words {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| refusal(number, format!("`{word}`: expected `NAME=VALUE`")))?;
        if parameters.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(refusal(number, format!("`{key}` stands twice")));
        }
    }
    Ok((name, parameters))
}

fn whole(
    entry: Option<(usize, String)>,
    key: &str,
    default: u64,
    allowed: core::ops::RangeInclusive<u64>,
) -> Result<u64, Refusal> {
    let Some((number, text)) = entry else { return Ok(default) };
    text.parse().ok().filter(|value| allowed.contains(value)).ok_or_else(|| {
        let (first, last) = (allowed.start(), allowed.end());
        refusal(number, format!("{key} = {text}: expected a whole number from {first} to {last}"))
    })
}

/// Returns the transport's table: numbers, `yes`, `no` and names.
fn transport_table(entry: Option<(usize, String)>) -> Result<Json, Refusal> {
    let mut table = Map::new();
    let Some((number, words)) = entry else { return Ok(Json::Object(table)) };
    for word in words.split_whitespace() {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| refusal(number, format!("`{word}`: expected `NAME=VALUE`")))?;
        let value = match value {
            "yes" => true.into(),
            "no" => false.into(),
            text => text
                .parse::<u64>()
                .map(Json::from)
                .or_else(|_| text.parse::<f64>().map(Json::from))
                .unwrap_or_else(|_| text.into()),
        };
        if table.insert(key.to_owned(), value).is_some() {
            return Err(refusal(number, format!("`{key}` stands twice")));
        }
    }
    Ok(Json::Object(table))
}

fn refuse_unknown(header: &Header) -> Result<(), Refusal> {
    match header.iter().next() {
        None => Ok(()),
        Some((key, (number, _))) => Err(refusal(
            *number,
            format!(
                "unknown key `{key}`: expected title, source, drives, controller, needs, transports, mss, window, seed, transport or tolerance"
            ),
        )),
    }
}
