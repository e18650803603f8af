//! Metrics on hand-made records.

mod ccperf;
mod definitions;
mod metrics;
mod speed;
