//! Sentences about a run.

use serde::Serialize;
use std::collections::BTreeMap;

/// One sentence about a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sentence {
    /// The sentence.
    pub text: String,
    /// Beginning of the time that the sentence describes.
    pub from_ns: u64,
    /// End of that time.
    pub to_ns: u64,
    /// Flow that the sentence describes; `None`: all flows.
    pub flow: Option<u32>,
    /// Kind of the sentence: `slow_start`, `queue`, `loss`, `spurious`, `mark`, `limit`, `mode`, `delay`, `stall`,
    /// `idle`, `retransmission`, `timeout`, `share`.
    pub kind: &'static str,
    /// Numbers of the sentence, by names with units.
    pub evidence: BTreeMap<&'static str, f64>,
}

/// Reading of a run: its sentences in order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reading {
    /// Sentences, at most thirty.
    pub sentences: Vec<Sentence>,
}
