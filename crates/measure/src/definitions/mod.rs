//! Definitions of all statistics: key, unit, convention, formula, source, needs, and the function that computes the
//! value.

mod acks;
mod completion;
mod definition;
mod flow;
mod known;
mod link;
mod list;
mod media;
mod needs;
mod network;
mod row;
mod run;
mod sources;

pub use acks::AckLinkStats;
pub use completion::Completion;
pub use definition::{Better, Convention, Definition, Label, Level, OneWay};
pub use flow::FlowStats;
pub use link::LinkStats;
pub use list::{labels, metrics};
pub use media::MediaStats;
pub use network::NetworkStats;
pub use run::RunStats;

pub(crate) use known::{Common, KnownFlow, KnownRun, bottleneck};
pub(crate) use needs::LogTells;
