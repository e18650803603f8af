//! Meters: counters that are updated while records stream in.

mod bound;
mod completions;
mod convergence;
mod fairness;
mod flow;
mod flow_table;
mod interval;
mod jain;
mod run;
mod sampled_state;
mod sampling;
mod series;
mod tally;

pub use bound::{Error, MemoryBound};
pub(crate) use completions::{Completions, FiniteTransfers};
pub(crate) use convergence::CONVERGENCE_WINDOW;
pub(crate) use fairness::Jain;
pub use flow::FrameDelivery;
pub(crate) use flow::{AckDirection, Fate, FlowMeter, KnownAcks, KnownMedia};
pub use interval::{IntervalMeter, TransferRow, Transfers, View};
pub use jain::{ActiveRule, JainMeter, JainSeries};
pub use run::RunMeter;
pub use sampled_state::SampledStates;
pub(crate) use sampling::Sampling;
pub use series::{FlowSeries, Series, SeriesMeter};
pub use tally::round_to_us;
pub(crate) use tally::{Clock, PANTHEON_PERCENT, Tally, byte_loss, mbps, time_mean, us_to_ms};
