//! Sans-IO path elements and their composition: the same objects run under the simulator's virtual clock and under
//! the emulator's real one.
//!
//! A [`PathSpec`] lists the elements of both directions. [`Direction`] runs those of one; it takes packets, tells when
//! it wants to be called next, and gives packets back. Everything that happens inside goes to a [`Tap`].
//!
//! Adding an element: a file with its table (`ElementTable`) and its state (`Element`), and a line in the list of
//! `kinds.rs`.

mod aggregate;
mod bucket;
mod buffer;
mod cellular;
mod change;
mod delay;
mod delay_line;
mod describe;
mod direction;
mod duplicate;
mod element;
mod encapsulation;
mod express;
mod gilbert_elliott;
mod granted;
mod jitter;
mod kinds;
mod link;
mod loss;
mod netem;
mod offered;
mod packet;
mod poisson;
mod policer;
#[cfg(test)]
mod properties;
mod queue;
mod reorder;
mod section;
mod served;
mod server;
mod settings;
mod shaper;
mod shared;
mod slotted;
mod spec;
mod stage;
mod store;
mod tally;
mod tap;
#[cfg(test)]
mod testing;
mod trace;
mod validate;
mod walk;

pub use aggregate::AggregateSpec;
pub use cellular::CellularSpec;
pub use change::{Change, KeyWalk, WalkSpec};
pub use delay::DelaySpec;
pub use delay_line::DelayLine;
pub use describe::{DelayDescription, Description, LinkDescription, Steps};
pub use direction::Direction;
pub use duplicate::DuplicateSpec;
pub use encapsulation::{Encapsulation, FragmentSizes, Reassembler};
pub use gilbert_elliott::GilbertElliottSpec;
pub use granted::GrantedSpec;
pub use jitter::{Distribution, JitterSpec};
pub use link::LinkSpec;
pub use loss::LossSpec;
pub use netem::NetemSpec;
pub use offered::opportunities;
pub use packet::{Ecn, Packet};
pub use poisson::PoissonSpec;
pub use policer::{PolicerAction, PolicerSpec};
pub use queue::{
    CobaltSpec, CodelSpec, DropheadSpec, DroptailSpec, Dualpi2Spec, FqCodelSpec, InfiniteSpec, PieSpec,
    QueueQuirk, QueueSpec, RedSpec, StepSpec,
};
pub use reorder::ReorderSpec;
pub use section::Section;
pub use shaper::ShaperSpec;
pub use shared::SharedSpec;
pub use slotted::SlottedSpec;
pub use spec::{ElementSpec, PathSpec};
pub use tally::LinkTally;
pub use tap::{NoTap, PacketEvent, Tap};
pub use trace::{EvenSpec, PoissonTraceSpec, TraceMode, TraceSpec, parse_trace};
