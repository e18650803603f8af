//! Statistics of a run.

use super::flow::FlowStats;
use super::link::LinkStats;
use super::network::NetworkStats;
use schemars::JsonSchema;
use serde::Serialize;

/// The statistics of a run as they are stored. `None` (null) means "not defined" or "the log does not tell".
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct RunStats {
    /// Statistics of flows, in order of flow numbers.
    pub flows: Vec<FlowStats>,
    /// Statistics of links, in the driver's order; the first is the bottleneck in the data direction.
    pub links: Vec<LinkStats>,
    /// Statistics over all flows.
    pub network: NetworkStats,
    /// Contradiction between the numbers, if any. A contradiction is a defect, not a result.
    #[serde(skip)]
    pub contradiction: Option<String>,
}
