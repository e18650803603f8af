//! External controllers: libraries with the C interface of `include/dumbbell.h`, and the guard of every external
//! controller.
//!
//! [`Library`] turns a library into entries of a [`congestion::Registry`]. [`Guarded`] makes a
//! [`congestion::Controller`] of any implementation of [`Foreign`]: it checks every answer, and a [`Watch`] keeps the
//! first fault. [`export!`] makes such a library from entries written in Rust. This crate contains all `unsafe` code
//! for plug-ins.

mod callback;
mod code;
mod copies;
mod error;
mod export;
mod float;
mod guard;
mod interface;
mod keep;
mod last_words;
mod library;
mod native;
mod saying;
mod watch;

pub use callback::Callback;
pub use code::{Code, read_regular};
pub use error::{Error, Fault};
pub use export::Exported;
pub use float::restore_rounding;
pub use guard::{Answer, Event, Foreign, Guarded};
pub use interface::Plugin;
pub use keep::keep;
pub use last_words::guard_process;
pub use library::{Description, Library, check_field};
pub use watch::Watch;
