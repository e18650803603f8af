//! Metrics, streamed over packet records: every number of a report is computed here.
//!
//! Two conventions exist side by side and are never mixed. The **Pantheon** convention repeats Pantheon's analysis to
//! the last bit (StanfordSNR/pantheon@23e738c, `src/analysis/tunnel_graph.py`): whole log, sizes with overhead, packets
//! in flight at the end are losses. The **corrected** convention counts payload, without the warm-up and without
//! packets in flight at the end. [`metrics`] defines every number.
//!
//! A [`RunMeter`] reads [`Record`](record::Record)s in time order and keeps counters and [`DelayHistogram`]s. Its
//! memory depends on the number of flows and the range of delays, not on the length of the run (in a sender's view also
//! on the packets declared lost). [`SeriesMeter`] makes the time series of plots, [`IntervalMeter`] the rows of
//! transfer benchmarks. [`statistics`] compares runs. [`reading`] describes a run in sentences.

mod definitions;
mod finish;
mod inputs;
mod meters;
pub mod reading;
pub mod statistics;

pub use definitions::{
    AckLinkStats, Better, Completion, Convention, Definition, FlowStats, Label, Level, LinkStats, MediaStats,
    NetworkStats, OneWay, RunStats, labels, metrics,
};
pub use inputs::{
    Delay, FlowFacts, FlowInfo, FlowState, LinkCounters, MediaCounters, MeterConfig, Read, Sample,
    SenderCounters, StatedTotals, Tells,
};
pub use meters::{
    ActiveRule, Error, FlowSeries, FrameDelivery, IntervalMeter, JainMeter, JainSeries, MemoryBound,
    RunMeter, SampledStates, Series, SeriesMeter, TransferRow, Transfers, View, round_to_us,
};
pub use statistics::{
    CriticalValues, DelayHistogram, DelaySummary, Denominators, FlowOfRun, MOST_MBPS, NormalisedScheme,
    normalised,
};
