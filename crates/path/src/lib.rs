//! Sans-IO path elements and their composition. The same objects run under the simulator's virtual clock and under the
//! emulator's real clock.
//!
//! A [`PathSpec`] lists the elements of both directions. [`Direction`] runs the elements of one direction: it takes
//! packets, tells when it must be called next, and returns packets. Events inside are reported to a [`Tap`].
//!
//! A new element needs a file with its table (`ElementTable`) and its state (`Element`), and a line in the list of
//! `elements/mod.rs`.

mod bucket;
mod buffer;
mod change;
mod delay_line;
mod describe;
mod direction;
mod dispatch;
mod element;
mod element_settings;
mod elements;
mod encapsulation;
mod error;
mod fast_link;
mod link_counters;
mod offered;
mod opportunity_link;
mod packet;
#[cfg(test)]
mod properties;
mod queues;
mod server;
mod spec;
mod store;
mod subpath;
mod tap;
#[cfg(test)]
mod testing;
mod until;
mod validate;
mod walk;

pub use change::{Change, KeyWalk, WalkSpec};
pub use delay_line::DelayLine;
pub use describe::{DelayDescription, Description, LinkDescription, Steps};
pub use direction::Direction;
pub use elements::jitter::Distribution;
pub use elements::policer::PolicerAction;
pub use elements::remark::{RemarkFrom, RemarkTo};
pub use elements::tables::*;
pub use elements::trace::{EvenSpec, PoissonTraceSpec, TraceMode, parse_trace};
pub use encapsulation::{Encapsulation, FragmentSizes, MtuChange, Reassembler};
pub use error::{Error, OpportunitiesFault, TraceFault};
pub use link_counters::LinkTally;
pub use offered::opportunities;
pub use packet::{Ecn, Packet};
pub use queues::tables::*;
pub use queues::{QueueQuirk, QueueSpec};
pub use spec::{ElementSpec, PathSpec};
pub use subpath::Subpath;
pub use tap::{NoTap, PacketEvent, Tap};
pub use until::{Interruption, Until};
