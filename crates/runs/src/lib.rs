//! What a run is and how it is recorded, whichever driver carries it out: its specification, what its packet
//! events are called, where they and its samples go, and the counters behind its metrics.

mod changes;
mod counters;
mod events;
mod real;
mod recorder;
mod spec;

pub use changes::Changes;
pub use counters::{
    CapacityMeter, flow_state, last_change, link_counters, media_counters, meter_config, sender_counters,
};
pub use events::{OPPORTUNITIES, logged_event, verdicts};
pub use real::{KernelSpec, ProgramSpec, Readiness, Side};
pub use recorder::Recorder;
pub use spec::{Backend, Ends, FlowSpec, LogLevel, RunSpec};
