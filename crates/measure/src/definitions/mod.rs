//! What every key of the statistics means: name, unit, convention, formula, source.

mod flow;
mod link;
mod network;

use serde::Serialize;

/// The rules a metric follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
}

/// A key of the statistics that names or dates something and is no metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Label {
    /// Key in the JSON.
    pub name: &'static str,
    /// What it belongs to.
    pub level: Level,
    /// What it says.
    pub meaning: &'static str,
}

use Level::{Flow, Link, Network};

const PANTHEON: &str = "Pantheon, src/analysis/tunnel_graph.py";
const OWN: &str = "dumbbell: what Pantheon's metrics lack";
const RFC5166: &str = "RFC 5166";
const RFC7679: &str = "RFC 7679 (delay); percentile by nearest rank as Pantheon's";
const RFC7680: &str = "RFC 7680 (loss); RFC 5166";
const RFC7928: &str = "RFC 7928";
const RFC9743: &str = "for RFC 9743";
const CCPERF: &str = "ccperf, as exact time integral";

impl Level {
    /// A metric of this level that does not depend on sample intervals.
    const fn metric(
        self,
        name: &'static str,
        unit: &'static str,
        better: Better,
        convention: Convention,
        formula: &'static str,
        source: &'static str,
    ) -> Definition {
        Definition {
            name,
            unit,
            better,
            convention,
            level: self,
            formula,
            source,
            sampled: false,
            one_way: None,
        }
    }
}

impl Definition {
    /// The same, computed from values per sample interval.
    const fn sampled(self) -> Self {
        Self { sampled: true, ..self }
    }

    /// The same, of the clocks of both ends.
    const fn across(self, one_way: OneWay) -> Self {
        Self { one_way: Some(one_way), ..self }
    }
}

/// Every metric: flows, links, network, each in the order of the JSON.
pub fn metrics() -> impl Iterator<Item = &'static Definition> {
    flow::METRICS.iter().chain(link::METRICS).chain(network::METRICS)
}

/// Keys that are no metrics.
pub const LABELS: &[Label] = &[
    Label { name: "flow", level: Flow, meaning: "number of the flow" },
    Label { name: "scheme", level: Flow, meaning: "name of the scheme; empty where unknown" },
    Label { name: "start_s", level: Flow, meaning: "planned start, or time of the first record, s" },
    Label { name: "stop_s", level: Flow, meaning: "planned stop, or end of the run, s" },
    Label { name: "link", level: Link, meaning: "name of the link" },
    Label { name: "direction", level: Link, meaning: "data or ack" },
    Label {
        name: "invalid_reason",
        level: Network,
        meaning: "why valid is false, one line; null for valid runs",
    },
    Label {
        name: "sample_interval_s",
        level: Network,
        meaning: "length of the sample intervals that sampled metrics are computed from, s; null without samples",
    },
    Label {
        name: "jain_window_s",
        level: Network,
        meaning: "length of the windows of jain_seen_p50 and its like, s",
    },
    Label {
        name: "convergence_delta",
        level: Network,
        meaning: "distance from the fair share, as a fraction of it, that convergence_time_s allows",
    },
    Label {
        name: "convergence_window_s",
        level: Network,
        meaning: "length of time whose shares convergence_time_s looks at, s",
    },
    Label { name: "completions.bytes", level: Network, meaning: "size of the transfers" },
];
