//! Definition of a metric.

use schemars::JsonSchema;
use serde::Serialize;

/// Convention of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Convention {
    /// As in Pantheon's analysis: whole log, sizes with overhead, packets in flight at the end are lost.
    Pantheon,
    /// Payload only, from the end of the warm-up, without packets in flight at the end.
    Corrected,
    /// Count over the whole run, or time mean of a counted quantity.
    Counter,
    /// ccperf's names and formulas (ccperf.net/metrics): payload, from the start of a flow to its end.
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
    /// Neither direction is better in general.
    Neutral,
}

/// Dependence of a metric on the clocks of both ends: packets leave by one clock and arrive by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OneWay {
    /// A one-way delay of the data direction: its error is the clock offset.
    Data,
    /// A one-way delay of the return direction: its error is the clock offset with the opposite sign.
    Return,
    /// A difference of one-way delays: the clock offset cancels out.
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
    /// Convention of the metric.
    pub convention: Convention,
    /// Entity that has the metric or the key.
    pub level: Level,
    /// Formula, in words.
    pub formula: &'static str,
    /// Source of the definition.
    pub source: &'static str,
    /// True if the metric is computed from values per sample interval, and so depends on the interval's length.
    pub sampled: bool,
    /// Dependence on the clocks of both ends; `None` if the metric depends on one clock.
    pub one_way: Option<OneWay>,
    /// True for a fraction of a whole: the confidence interval of its mean stays within 0 and 1.
    pub fraction: bool,
}

/// A key of the statistics for a name or a date, not a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Label {
    /// Key in the JSON.
    pub name: &'static str,
    /// Entity that has the metric or the key.
    pub level: Level,
    /// Meaning of the key.
    pub meaning: &'static str,
}
