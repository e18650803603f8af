//! Simulator for a web page. A run advances in slices, and its data so far can be read between two slices.
//!
//! The page's worker calls `exports` (compiled for the browser only): functions on numbers and on bytes in the module's
//! memory. The module has no imports: no clock, no file, and no random numbers except those of the run's seed.
//!
//! All other code is also compiled for this machine. A run can thus be made on both, and compared by its [`Digest`].

mod digest;
mod error;
#[cfg(target_arch = "wasm32")]
mod exports;
mod kept;
mod run;

pub use digest::Digest;
pub use error::Error;
pub use run::{Run, State};
