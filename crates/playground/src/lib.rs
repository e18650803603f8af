//! The simulator for a web page: a run goes on slice by slice, and what it has shown so far can be looked at between two
//! slices. The page's worker talks to `exports` (compiled for the browser alone): a few functions over numbers and bytes in
//! the module's memory. It has no imports: no clock, no file, no random numbers but those of the run's seed.
//!
//! Everything else is compiled for this machine too, so that the same run can be made here and there and compared by its
//! [`Digest`].

mod digest;
mod error;
#[cfg(target_arch = "wasm32")]
mod exports;
mod kept;
mod run;

pub use digest::Digest;
pub use error::Error;
pub use run::{Run, State};
