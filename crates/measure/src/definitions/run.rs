//! The numbers of a run.

use super::flow::FlowStats;
use super::link::LinkStats;
use super::network::NetworkStats;
use schemars::JsonSchema;
use serde::Serialize;

/// The statistics of a run as they are stored. `None` (null) is "not defined" or "the log does not tell".
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct RunStats {
    /// In order of flow numbers.
    pub flows: Vec<FlowStats>,
    /// In the driver's order; the first is the bottleneck in the data direction.
    pub links: Vec<LinkStats>,
    /// Over all flows.
    pub network: NetworkStats,
    /// How the numbers contradict each other, if they do: a defect, not a result.
    #[serde(skip)]
    pub contradiction: Option<String>,
}
