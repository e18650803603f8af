//! Metrics, streaming over packet records: the only place where a number of a report is computed.
//!
//! Two conventions stand side by side and are never mixed. The **Pantheon** convention repeats Pantheon's analysis to
//! the last bit (StanfordSNR/pantheon@23e738c, `src/analysis/tunnel_graph.py`): whole log, sizes with overhead, packets
//! in flight at the end are losses. The **corrected** convention counts payload, leaves out the warm-up and what was
//! still under way at the end. [`metrics`] defines every number.
//!
//! A [`RunMeter`] reads [`Record`](record::Record)s in time order and keeps counters and [`DelayHistogram`]s, so its
//! memory depends on the number of flows and the range of delays, not on the length of the run (in a sender's view also
//! on the packets declared lost). [`SeriesMeter`] makes the time series of plots, [`IntervalMeter`] the rows of
//! transfer benchmarks; [`statistics`] compares runs, [`reading`] says in sentences what happened in one.

mod ack_direction;
mod bound;
mod completions;
mod consistency;
mod convergence;
mod critical_values;
mod declared_lost;
mod definitions;
mod fairness;
mod finish;
mod flow_meter;
mod flow_samples;
mod flow_table;
mod histogram;
mod inputs;
mod interval;
mod jain;
mod known;
mod ledger;
mod media;
mod meter;
mod moments;
mod normalised;
mod pages;
pub mod reading;
mod response;
mod sampled_state;
mod sampling;
mod series;
pub mod statistics;
mod tally;

pub use bound::{Error, MemoryBound};
pub use critical_values::CriticalValues;
pub use definitions::{
    AckLinkStats, Better, Completion, Convention, Definition, FlowStats, Label, Level, LinkStats, MediaStats,
    NetworkStats, OneWay, labels, metrics,
};
pub use finish::RunStats;
pub use histogram::{DelayHistogram, DelaySummary};
pub use inputs::{
    Delay, FlowFacts, FlowInfo, FlowState, LinkCounters, MediaCounters, MeterConfig, Read, Sample,
    SenderCounters, StatedTotals, Tells,
};
pub use interval::{IntervalMeter, TransferRow, Transfers, View};
pub use jain::{ActiveRule, JainMeter, JainSeries};
pub use media::FrameDelivery;
pub use meter::RunMeter;
pub use normalised::{Denominators, FlowOfRun, MOST_MBPS, Normalised, normalised};
pub use sampled_state::SampledStates;
pub use series::{FlowSeries, Series, SeriesMeter};
pub use tally::round_to_us;
