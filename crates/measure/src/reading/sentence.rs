//! Sentences about a run.

use serde::Serialize;
use std::collections::BTreeMap;

/// One sentence about a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sentence {
    /// The sentence.
    pub text: String,
    /// Time that the sentence is about.
    pub from_ns: u64,
    /// Up to when.
    pub to_ns: u64,
    /// Of which flow, if it is of one.
    pub flow: Option<u32>,
    /// `slow_start`, `queue`, `loss`, `spurious`, `mark`, `limit`, `mode`, `delay`, `stall`, `idle`, `retransmission`,
    /// `timeout`, `share`.
    pub kind: &'static str,
    /// The numbers behind it, by names with their units.
    pub evidence: BTreeMap<&'static str, f64>,
}

/// A run in sentences, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reading {
    /// At most thirty.
    pub sentences: Vec<Sentence>,
}
