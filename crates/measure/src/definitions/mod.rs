//! Every number of the statistics, once: its key, unit, convention, formula and source, what a log has to tell for it,
//! and the function that computes it.

mod acks;
mod flow;
mod known;
mod link;
mod media;
mod needs;
mod network;
mod row;

pub use acks::AckLinkStats;
pub use flow::FlowStats;
pub use link::LinkStats;
pub use media::MediaStats;
pub use network::{Completion, NetworkStats};

pub(crate) use known::{Common, KnownFlow, KnownRun, bottleneck};
pub(crate) use needs::{LogTells, Need};
pub(crate) use row::Row;

use schemars::JsonSchema;
use serde::Serialize;

/// The rules a metric follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Convention {
    /// As Pantheon's analysis computes it: whole log, sizes with overhead, packets under way at the end are lost.
    Pantheon,
    /// Payload only, from the end of the warm-up, without packets under way at the end.
    Corrected,
    /// Counted over the whole run, or a time mean of a counted quantity.
    Counter,
    /// By ccperf's names and formulas (ccperf.net/metrics): payload, from the start of a flow to its end.
    Ccperf,
}

/// What a metric belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// An entry of `flows`.
    Flow,
    /// An entry of `links`.
    Link,
    /// `network`.
    Network,
}

/// Which way a metric is better for one user of the network, all else equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    More,
    /// Less is better.
    Less,
    /// Neither: it depends on what else is so.
    Neutral,
}

/// How a metric depends on the clocks of both ends: what left by one clock arrives by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OneWay {
    /// A one-way delay of the data direction: as far off as the clocks are apart.
    Data,
    /// A one-way delay of the return direction: as far off, the other way round.
    Return,
    /// A difference of one-way delays: what the clocks are apart is in both.
    Difference,
}

/// Definition of one metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Definition {
    /// Key in the JSON; `a.b` is key `b` of the object `a`.
    pub name: &'static str,
    /// Unit; empty for plain numbers.
    pub unit: &'static str,
    /// Which way it is better.
    pub better: Better,
    /// The rules it follows.
    pub convention: Convention,
    /// What it belongs to.
    pub level: Level,
    /// How it is computed.
    pub formula: &'static str,
    /// Where the definition comes from.
    pub source: &'static str,
    /// Whether it is computed from values per sample interval, and so depends on its length.
    pub sampled: bool,
    /// How it depends on the clocks of both ends; `None` if it is of one clock.
    pub one_way: Option<OneWay>,
    /// True for a fraction of a whole: the confidence interval of its mean stays within 0 and 1.
    pub fraction: bool,
}

/// A key of the statistics that names or dates something and is no metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Label {
    /// Key in the JSON.
    pub name: &'static str,
    /// What it belongs to.
    pub level: Level,
    /// What it says.
    pub meaning: &'static str,
}

const PANTHEON: &str = "Pantheon, src/analysis/tunnel_graph.py";
const OWN: &str = "dumbbell: what Pantheon's metrics lack";
const RFC5166: &str = "RFC 5166";
const RFC7679: &str = "RFC 7679 (delay); percentile by nearest rank as Pantheon's";
const RFC7680: &str = "RFC 7680 (loss); RFC 5166";
const RFC7928: &str = "RFC 7928";
const RFC9743: &str = "for RFC 9743";
const CCPERF: &str = "ccperf, as exact time integral";

/// Returns every row but groups: of flows, links, network, each in the order of the JSON.
fn rows() -> Vec<Row> {
    fn gather(level: Level, rows: &[Row], into: &mut Vec<Row>) {
        for &row in rows {
            match row {
                Row::Group(rows) => gather(level, rows, into),
                row => into.push(row.at(level)),
            }
        }
    }
    let mut all = Vec::new();
    gather(Level::Flow, FlowStats::ROWS, &mut all);
    gather(Level::Link, LinkStats::ROWS, &mut all);
    gather(Level::Network, NetworkStats::ROWS, &mut all);
    all
}

/// Every metric: flows, links, network, each in the order of the JSON.
pub fn metrics() -> impl Iterator<Item = Definition> {
    rows().into_iter().filter_map(|row| match row {
        Row::Metric(definition) => Some(definition),
        Row::Label(_) | Row::Group(_) => None,
    })
}

/// Every key that is no metric, in the same order.
pub fn labels() -> impl Iterator<Item = Label> {
    rows().into_iter().filter_map(|row| match row {
        Row::Label(label) => Some(label),
        Row::Metric(_) | Row::Group(_) => None,
    })
}
