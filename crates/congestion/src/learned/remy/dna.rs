//! Remy's own files: protocol buffers (tcpexmachina/remy@3a7e2eb, `protobufs/dna.proto`).
//!
//! A file holds a tree whose leaves are the rules; the settings of the optimizer are skipped. Fields of a message are
//! pairs of a key and a value (<https://protobuf.dev/programming-guides/encoding>). The code for the needed part of the
//! format is shorter than a dependency.

use super::memory::SIGNALS;
use super::rules::{Action, DOMAIN, Rule};
use thiserror::Error;

/// Maximum depth of a tree; published ones have up to nine levels.
const MAX_DEPTH: usize = 64;

/// Reason for the refusal of a file.
#[derive(Debug, Error)]
pub(super) enum Fault {
    #[error("it is empty")]
    Empty,
    #[error("it ends in the middle")]
    CutOff,
    #[error("is no table of rules")]
    NoTable,
    #[error("its tree is deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("signal {0} of later versions of Remy: allowed are 0 to {last}", last = SIGNALS - 1)]
    UnknownSignal(u64),
}

/// Returns the rules of a file.
///
/// # Errors
/// One line that describes the fault.
pub(super) fn read(contents: &[u8]) -> Result<Vec<Rule>, Fault> {
    if contents.is_empty() {
        return Err(Fault::Empty);
    }
    let mut rules = Vec::new();
    read_tree(contents, 0, &mut rules)?;
    Ok(rules)
}

/// Value of a field.
enum Value<'a> {
    Number(u64),
    Double(f64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    fn double(&self) -> Result<f64, Fault> {
        match self {
            Self::Double(value) => Ok(*value),
            _ => Err(Fault::NoTable),
        }
    }

    fn bytes(&self) -> Result<&'a [u8], Fault> {
        match self {
            Self::Bytes(value) => Ok(value),
            _ => Err(Fault::NoTable),
        }
    }
}

/// Fields of a message.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Fault::CutOff)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64, Fault> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Fault::NoTable)
    }

    fn read(&mut self) -> Result<(u64, Value<'a>), Fault> {
        let key = self.number()?;
        let value = match key & 7 {
            0 => Value::Number(self.number()?),
            1 => Value::Double(f64::from_le_bytes(self.take(8)?.try_into().map_err(|_| Fault::NoTable)?)),
            2 => {
                let length = self.number()?;
                Value::Bytes(self.take(usize::try_from(length).unwrap_or(usize::MAX))?)
            }
            5 => Value::Number(u64::from(self.take(4)?[0])),
            _ => return Err(Fault::NoTable),
        };
        Ok((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.read())
    }
}

/// Reads a `WhiskerTree`.
fn read_tree(message: &[u8], depth: usize, rules: &mut Vec<Rule>) -> Result<(), Fault> {
    if depth > MAX_DEPTH {
        return Err(Fault::TooDeep);
    }
    let (mut range, mut children, mut leaf) = (None, 0, None);
    for field in Fields(message) {
        match field? {
            (1, value) => range = Some(read_range(value.bytes()?)?),
            (2, value) => {
                read_tree(value.bytes()?, depth + 1, rules)?;
                children += 1;
            }
            (3, value) => leaf = Some(read_action(value.bytes()?)?),
            _ => {}
        }
    }
    match (range, leaf, children) {
        (Some((lower, upper)), Some(action), 0) => {
            rules.push(Rule { lower, upper, action });
            Ok(())
        }
        (Some(_), None, 1..) => Ok(()),
        _ => Err(Fault::NoTable),
    }
}

/// Reads a `MemoryRange`. Missing values are the ends of the space.
fn read_range(message: &[u8]) -> Result<([f64; SIGNALS], [f64; SIGNALS]), Fault> {
    let (mut lower, mut upper) = ([0.0; SIGNALS], [DOMAIN; SIGNALS]);
    for field in Fields(message) {
        match field? {
            (11, value) => read_memory(value.bytes()?, &mut lower)?,
            (12, value) => read_memory(value.bytes()?, &mut upper)?,
            (13, Value::Number(axis)) => check_axis(axis)?,
            (13, Value::Bytes(packed)) => {
                let mut axes = Fields(packed);
                while !axes.0.is_empty() {
                    check_axis(axes.number()?)?;
                }
            }
            _ => {}
        }
    }
    Ok((lower, upper))
}

fn check_axis(axis: u64) -> Result<(), Fault> {
    if axis < SIGNALS as u64 {
        return Ok(());
    }
    Err(Fault::UnknownSignal(axis))
}

/// Reads a `Memory`: the signals are fields 21 to 24.
fn read_memory(message: &[u8], into: &mut [f64; SIGNALS]) -> Result<(), Fault> {
    for field in Fields(message) {
        let (number, value) = field?;
        if let Some(signal) = number.checked_sub(21).and_then(|signal| into.get_mut(signal as usize)) {
            *signal = value.double()?;
        }
    }
    Ok(())
}

/// Reads a `Whisker`. The increment is a zigzag number.
fn read_action(message: &[u8]) -> Result<Action, Fault> {
    let (mut increment, mut multiple, mut intersend) = (None, None, None);
    for field in Fields(message) {
        match field? {
            (31, Value::Number(value)) => {
                increment = i32::try_from((value >> 1) as i64 ^ -((value & 1) as i64)).ok();
            }
            (32, value) => multiple = Some(value.double()?),
            (33, value) => intersend = Some(value.double()?),
            _ => {}
        }
    }
    match (increment, multiple, intersend) {
        (Some(window_increment), Some(window_multiple), Some(intersend_ms)) => {
            Ok(Action { window_increment, window_multiple, intersend_ms })
        }
        _ => Err(Fault::NoTable),
    }
}
