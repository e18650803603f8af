//! Reading of a run: sentences on the events of a run with times, causes and numbers. If a log does not tell something,
//! the sentence says so or is left out. Nothing is guessed.

mod episodes;
mod facts;
mod fates;
mod limits;
mod links;
mod means;
mod meter;
mod modes;
mod packets;
mod sentence;
mod sentences;
mod states;
mod words;

pub use facts::{Facts, FlowCounts, FlowFact};
pub use meter::ReadingMeter;
pub use modes::enumerated;
pub use sentence::{Reading, Sentence};
