//! Runs independently of their driver: run spec, names of packet events, observers ([`Observer`]), and the counters
//! of metrics.

mod changes;
mod columns;
mod counters;
mod error;
mod events;
mod live;
mod memory;
mod observer;
mod outside;
mod real;
mod spec;
pub mod tell;
mod totals;
mod watcher;

pub use changes::Changes;
pub use columns::{FlowSamples, LinkSamples, PacketColumns, SampleColumns, Texts};
pub use counters::{
    CapacityMeter, flow_state, last_change, link_counters, media_counters, meter_config, sender_counters,
};
pub use error::Error;
pub use events::verdicts;
pub use live::{Live, Moment};
pub use memory::Memory;
pub use observer::{Observer, StopWhen};
pub use outside::{PluginSpec, PythonSpec};
pub use real::{FlowEnd, KernelSpec, ProgramSpec, Readiness};
pub use spec::{Backend, DEFAULT_MOST_PACKETS, Ends, FlowSpec, LogLevel, RunSpec};
pub use totals::Totals;
pub use watcher::{Keeper, Watcher};
