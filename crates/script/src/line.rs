//! Syntax of scripts: header, events, expectations. This module does not know the meaning of events.

use crate::values::{Numbers, parse_numbers, parse_span, parse_whole};
use std::collections::BTreeMap;
use strict_input::Refusal;
use units::{Rate, Span, Time};

/// First line of every script.
pub(crate) const FIRST_LINE: &str = "dumbbell script 1";
/// Maximum lines of a script.
const MAX_LINES: usize = 200_000;
/// Maximum payload of a packet, bytes.
pub(crate) const MAX_PACKET_BYTES: u32 = 65_000;

/// Line after the header.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// Event.
    Event(Words),
    /// Conditions that must hold after the previous event, with their source.
    Expect {
        /// Line number in the file, from 1.
        number: usize,
        /// Conditions as written.
        conditions: Vec<String>,
        /// Source of the conditions.
        source: String,
    },
    /// Reason why an earlier line is known to fail.
    KnownFailure {
        /// Line number in the file, from 1.
        number: usize,
        /// Number of the failing line.
        line: usize,
        /// Reason of the failure.
        reason: String,
    },
}

impl Line {
    /// Returns the line number in the file, from 1.
    pub(crate) const fn number(&self) -> usize {
        match self {
            Self::Event(words) => words.number,
            Self::Expect { number, .. } | Self::KnownFailure { number, .. } => *number,
        }
    }
}

/// Event as written: time, name, packets and fields.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    pub(crate) number: usize,
    pub(crate) at: Time,
    pub(crate) name: String,
    pub(crate) packets: Numbers,
    fields: BTreeMap<String, String>,
    source: String,
}

/// Header lines by key, with the line number.
pub(crate) type Header = BTreeMap<String, (usize, String)>;

/// Reads the lines of a script.
pub(crate) fn parse(text: &str) -> Result<(Header, Vec<Line>), Refusal> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    match lines.next() {
        Some((_, first)) if first.trim_end() == FIRST_LINE => {}
        _ => return Err(refusal(1, format!("expected `{FIRST_LINE}`"))),
    }
    let (mut header, mut events) = (Header::new(), Vec::<Line>::new());
    let mut latest = Time::ZERO;
    for (number, line) in lines {
        if number > MAX_LINES {
            return Err(refusal(number, format!("a script has at most {MAX_LINES} lines")));
        }
        let (content, comment) = line.split_once('#').unwrap_or((line, ""));
        let (content, comment) = (content.trim(), comment.trim());
        if content.is_empty() {
            continue;
        }
        if let Some(content) = content.strip_prefix('@') {
            let words = Words::parse(number, content, comment)?;
            if words.at < latest {
                return Err(refusal(number, "its time is before that of the event above"));
            }
            latest = words.at;
            events.push(Line::Event(words));
        } else if let Some(conditions) = content.strip_prefix("expect ") {
            let conditions = conditions.split_whitespace().map(str::to_owned).collect();
            events.push(Line::Expect { number, conditions, source: comment.to_owned() });
        } else if let (Some(reason), Some(before)) = (content.strip_prefix("known "), events.last()) {
            events.push(Line::KnownFailure {
                number,
                line: before.number(),
                reason: reason.trim().to_owned(),
            });
        } else if events.is_empty() {
            let (key, value) = content.split_once(char::is_whitespace).unwrap_or((content, ""));
            let value = value.trim().to_owned();
            if value.is_empty() || header.insert(key.to_owned(), (number, value)).is_some() {
                return Err(refusal(number, format!("`{key}` needs one value, and stands once")));
            }
        } else {
            return Err(refusal(number, "expected an event (`@TIME NAME ...`), `expect` or `known`"));
        }
    }
    Ok((header, events))
}

/// Returns an error for line `number`.
pub(crate) fn refusal(number: usize, why: impl core::fmt::Display) -> Refusal {
    Refusal::new(format!("line {number}: {why}"))
}

impl Words {
    /// Reads an event without its `@`.
    fn parse(number: usize, content: &str, source: &str) -> Result<Self, Refusal> {
        let mut words = content.split_whitespace();
        let at = words.next().and_then(parse_span);
        let at = at.ok_or_else(|| refusal(number, "expected a time in s after `@`, for example `@0.1`"))?;
        let name =
            words.next().ok_or_else(|| refusal(number, "expected an event after the time"))?.to_owned();
        let (mut packets, mut fields) = (Numbers::new(), BTreeMap::new());
        for word in words {
            match word.split_once('=') {
                Some((key, value)) => {
                    if fields.insert(key.to_owned(), value.to_owned()).is_some() {
                        return Err(refusal(number, format!("`{key}` stands twice")));
                    }
                }
                None if packets.is_empty() && fields.is_empty() => {
                    packets = parse_numbers(word).ok_or_else(|| {
                        refusal(number, format!("`{word}`: expected packets, for example `4` or `0..9,12`"))
                    })?;
                }
                None => return Err(refusal(number, format!("`{word}`: expected `NAME=VALUE`"))),
            }
        }
        let source = source.to_owned();
        Ok(Self { number, at: Time::ZERO + at, name, packets, fields, source })
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Returns another event of this line and time, without packets and fields.
    pub(crate) fn bare(&self, name: &str) -> Self {
        Self {
            number: self.number,
            at: self.at,
            name: name.to_owned(),
            packets: Numbers::new(),
            fields: BTreeMap::new(),
            source: self.source.clone(),
        }
    }

    /// Returns an error for this line.
    pub(crate) fn refusal(&self, why: impl core::fmt::Display) -> Refusal {
        refusal(self.number, why)
    }

    /// Returns true if the line has this field and it is not taken yet.
    pub(crate) fn names(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }

    /// Takes the value of a field as written.
    pub(crate) fn take(&mut self, key: &str) -> Option<String> {
        self.fields.remove(key)
    }

    fn take_value<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.fields.remove(key) else { return Ok(None) };
        let value = read(&text);
        value
            .map(Some)
            .ok_or_else(|| self.refusal(Refusal::of_value(key, text, format!("expected {expected}"))))
    }

    /// Takes a whole number.
    pub(crate) fn whole(&mut self, key: &str) -> Result<Option<u64>, Refusal> {
        self.take_value(key, "a whole number up to 1000000000000000", parse_whole)
    }

    /// Takes a whole number, or `unlimited`.
    pub(crate) fn whole_or_unlimited(&mut self, key: &str) -> Result<Option<u64>, Refusal> {
        self.take_value(key, "a whole number up to 1000000000000000, or `unlimited`", |text| match text {
            "unlimited" => Some(u64::MAX),
            _ => parse_whole(text),
        })
    }

    /// Takes the number of a frame.
    pub(crate) fn frame(&mut self, key: &str) -> Result<Option<u32>, Refusal> {
        self.take_value(key, "a whole number below 4294967296", |text| text.parse().ok())
    }

    /// Takes the size of a packet.
    pub(crate) fn size(&mut self, key: &str) -> Result<Option<u32>, Refusal> {
        let allowed = |bytes: &u32| *bytes <= MAX_PACKET_BYTES;
        self.take_value(key, "a whole number up to 65000", |text| text.parse().ok().filter(allowed))
    }

    /// Takes a duration in s.
    pub(crate) fn span(&mut self, key: &str) -> Result<Option<Span>, Refusal> {
        self.take_value(key, "a number of seconds with at most 9 decimals", parse_span)
    }

    /// Takes a duration in s, or `none`. Returns `derived` if the field is absent.
    pub(crate) fn span_or_none(&mut self, key: &str, derived: Option<Span>) -> Result<Option<Span>, Refusal> {
        let list = self.take_value(key, "a number of seconds, or `none`", |text| match text {
            "none" => Some(vec![]),
            _ => parse_span(text).map(|span| vec![span]),
        })?;
        Ok(list.map_or(derived, |mut list| list.pop()))
    }

    /// Takes a rate in bit/s, or `none`. Returns `derived` if the field is absent.
    pub(crate) fn rate_or_none(&mut self, key: &str, derived: Option<Rate>) -> Result<Option<Rate>, Refusal> {
        let list = self.take_value(key, "a whole number of bit/s, or `none`", |text| match text {
            "none" => Some(vec![]),
            _ => parse_whole(text).map(|bps| vec![Rate::from_bps(bps)]),
        })?;
        Ok(list.map_or(derived, |mut list| list.pop()))
    }

    /// Takes `yes` or `no`.
    pub(crate) fn flag(&mut self, key: &str) -> Result<Option<bool>, Refusal> {
        self.take_value(key, "`yes` or `no`", |text| match text {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        })
    }

    /// Takes packet numbers, or `none`.
    pub(crate) fn numbers(&mut self, key: &str) -> Result<Option<Numbers>, Refusal> {
        self.take_value(key, "packets, for example `4` or `0..9,12`, or `none`", |text| match text {
            "none" => Some(Numbers::new()),
            _ => parse_numbers(text),
        })
    }

    /// Takes one value for each of `count` packets.
    pub(crate) fn list<T>(
        &mut self,
        key: &str,
        count: usize,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<Vec<T>>, Refusal> {
        self.take_value(key, &format!("{count} values with commas between"), |text| {
            let values: Option<Vec<T>> = text.split(',').map(&read).collect();
            values.filter(|values| values.len() == count)
        })
    }

    /// Refuses fields that were not taken.
    pub(crate) fn end(&self, allowed: &[&str]) -> Result<(), Refusal> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(key) => Err(self.refusal(format!(
                "unknown field `{key}` of `{}`: expected {}",
                self.name,
                if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") }
            ))),
        }
    }
}
