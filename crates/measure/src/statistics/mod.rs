//! Statistics over runs and over flows.

mod averages;
mod critical_values;
mod fairness;
mod histogram;
mod intervals;
mod moments;
mod normalised;
mod pages;
mod replication;

pub use averages::{mean, median, nearest_rank, sample_standard_deviation};
pub use critical_values::CriticalValues;
pub(crate) use fairness::{entropy_of, jain_index_of};
pub use fairness::{harm, jain_index};
pub use histogram::{DelayHistogram, DelaySummary};
pub use intervals::{
    Difference, FEWEST_FOR_INTERVAL, POWER, confidence_interval, difference, fraction_interval, holm,
    paired_difference, quantile,
};
pub(crate) use moments::Moments;
pub use normalised::{Denominators, FlowOfRun, MOST_MBPS, NormalisedScheme, normalised};
pub use replication::{Outcome, ReplicationError, replication_error};
