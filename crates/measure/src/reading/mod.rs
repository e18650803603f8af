//! A run in sentences: what happened in it, when and why, with the numbers behind each sentence. What a log does not tell is not
//! guessed: the sentence says so, or is left out.

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

pub use facts::{Counted, Facts, FlowFact};
pub use meter::ReadingMeter;
pub use modes::enumerated;
pub use sentence::{Reading, Sentence};
