//! The definition of a metric.

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

/// Entity of a metric: a flow, a link, the network.
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

/// Better direction of a metric for one user of the network, all else equal.
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

/// Dependence of a metric on the clocks of both ends: packets leave by one clock and arrive by the other.
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
    /// Better direction.
    pub better: Better,
    /// The rules it follows.
    pub convention: Convention,
    /// Entity that has the metric or the key.
    pub level: Level,
    /// Formula, in words.
    pub formula: &'static str,
    /// Source of the definition.
    pub source: &'static str,
    /// Whether it is computed from values per sample interval, and so depends on its length.
    pub sampled: bool,
    /// Dependence on the clocks of both ends; `None` if the metric is of one clock.
    pub one_way: Option<OneWay>,
    /// True for a fraction of a whole: the confidence interval of its mean stays within 0 and 1.
    pub fraction: bool,
}

/// A key of the statistics that names or dates something and is no metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Label {
    /// Key in the JSON.
    pub name: &'static str,
    /// Entity that has the metric or the key.
    pub level: Level,
    /// Meaning of the key.
    pub meaning: &'static str,
}
