//! Meter that collects a run's records and samples for the reading.

use super::facts::Facts;
use super::links::Links;
use super::packets::{FlowPackets, Network};
use super::states::FlowStates;
use record::{Event, Record};
use std::collections::BTreeMap;

/// Maximum number of flows that are read.
const MOST_FLOWS: usize = 1_000;

/// Collects a run: its records, in order of time, and its samples, in the order of each series. Records and samples may
/// come in any order to each other.
#[derive(Clone, Debug, Default)]
pub struct ReadingMeter {
    pub(super) facts: Facts,
    pub(super) flows: BTreeMap<u32, FlowPackets>,
    pub(super) states: BTreeMap<u32, FlowStates>,
    pub(super) links: Links,
    pub(super) network: Network,
    pub(super) end_ns: u64,
}

impl ReadingMeter {
    /// Returns a meter for a run with these facts.
    pub fn new(facts: Facts) -> Self {
        Self { facts, ..Self::default() }
    }

    /// Adds the next record.
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

    /// Adds a value of flow number `flow`.
    pub fn flow_value(&mut self, time_ns: u64, flow: u32, field: &str, unit: &str, value: f64) {
        self.end_ns = self.end_ns.max(time_ns);
        let is_full = self.states.len() >= MOST_FLOWS;
        if is_full && !self.states.contains_key(&flow) {
            return;
        }
        self.states.entry(flow).or_default().value(time_ns, field, unit, value);
    }

    /// Adds a value of a link.
    pub fn link_value(&mut self, time_ns: u64, link: &str, field: &str, value: f64) {
        self.end_ns = self.end_ns.max(time_ns);
        self.links.value(time_ns, link, field, value);
    }
}
