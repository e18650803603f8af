//! Scripts: text timelines of events and expected answers that programs in any language can read (docs/how-to/vectors.md).
//!
//! A script drives a controller, a sender or a receiver directly. This crate uses no path, simulator, clock or file.

mod answers;
mod controller;
mod event;
mod expect;
mod ledger;
mod line;
mod receiver;
mod run;
mod script;
mod sender;
mod values;
mod writer;

pub use script::{Script, Subject};
pub use writer::Writer;
