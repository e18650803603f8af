//! Time, rates and seeded randomness: the units shared by all crates.
//!
//! Time is integer nanoseconds since the start of a run, rates are bit/s, sizes are plain integers named `*_bytes`.

mod rate;
mod rng;
mod time;

pub use rate::Rate;
pub use rng::Rng;
pub use time::{Span, Time};
