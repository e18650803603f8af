//! A run in sentences: what happened in it, when and why, with the numbers behind each sentence. What a log does not tell is not
//! guessed: the sentence says so, or is left out.

mod episodes;
mod fates;
mod limits;
mod links;
mod means;
mod modes;
mod packets;
mod sentences;
mod states;
mod words;

pub use modes::enumerated;

use links::Links;
use packets::{FlowPackets, Network};
use record::{Event, Record};
use serde::{Deserialize, Serialize};
use states::FlowStates;
use std::collections::BTreeMap;

/// Most flows that are read.
const MOST_FLOWS: usize = 1_000;

/// What is known of a run besides what its logs tell. Everything may be absent; other keys are not looked at.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Planned length.
    pub duration_ns: Option<f64>,
    /// Its flows.
    pub flows: Vec<FlowFact>,
}

/// What is known of one flow.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct FlowFact {
    /// Its number.
    pub flow: u32,
    /// What people call it.
    pub scheme: Option<String>,
    /// The kind of its application (`greedy`, `constant`, ...).
    pub application: Option<String>,
    /// The timer of its transport (`rto`, `pto`, ...).
    pub timer: Option<String>,
    /// Its metrics, of which `retransmissions` and `timeouts` are looked at.
    pub metrics: Counted,
}

/// Metrics of a flow.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Counted {
    /// Packets that carried data sent before.
    pub retransmissions: Option<f64>,
    /// Expired retransmission timers, or cases of persistent congestion.
    pub timeouts: Option<f64>,
}

/// One sentence about a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sentence {
    /// The sentence.
    pub text: String,
    /// Which time it is about.
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

/// Reads a run: its records, in order of time, and its samples, in the order of each series; it does not matter which come first.
#[derive(Clone, Debug, Default)]
pub struct ReadingMeter {
    pub(crate) facts: Facts,
    flows: BTreeMap<u32, FlowPackets>,
    states: BTreeMap<u32, FlowStates>,
    links: Links,
    network: Network,
    end_ns: u64,
}

impl ReadingMeter {
    /// A meter for a run of which this is known.
    pub fn new(facts: Facts) -> Self {
        Self { facts, ..Self::default() }
    }

    /// Takes in the next record.
    pub fn record(&mut self, record: &Record) {
        self.end_ns = self.end_ns.max(record.time_ns);
        if matches!(record.event, Event::Opportunity | Event::AckOpportunity) {
            return;
        }
        self.network.record(record);
        let is_full = self.flows.len() >= MOST_FLOWS;
        if let Some(flow) = self.flows.get_mut(&record.flow) {
            flow.record(record);
        } else if !is_full {
            self.flows.entry(record.flow).or_default().record(record);
        }
    }

    /// Takes in a value of flow number `flow`.
    pub fn flow_value(&mut self, time_ns: u64, flow: u32, field: &str, unit: &str, value: f64) {
        self.end_ns = self.end_ns.max(time_ns);
        let is_full = self.states.len() >= MOST_FLOWS;
        if is_full && !self.states.contains_key(&flow) {
            return;
        }
        self.states.entry(flow).or_default().value(time_ns, field, unit, value);
    }

    /// Takes in a value of a link.
    pub fn link_value(&mut self, time_ns: u64, link: &str, field: &str, value: f64) {
        self.end_ns = self.end_ns.max(time_ns);
        self.links.value(time_ns, link, field, value);
    }

    /// What happened.
    pub fn finish(mut self) -> Reading {
        let planned_ns = self.facts.duration_ns.filter(|ns| (0.0..1e18).contains(ns)).unwrap_or(0.0);
        self.end_ns = self.end_ns.max(planned_ns as u64);
        for state in self.states.values_mut() {
            state.finish(self.end_ns);
        }
        Reading { sentences: sentences::of(&self) }
    }
}
