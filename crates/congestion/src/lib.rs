//! Congestion controllers: one file per algorithm, their common trait, and their registry.
//!
//! Everything here is sans-IO: time comes with the events, and randomness from a seeded generator of each controller.
//! Nothing is allocated per ACK. See `schemes/reno.rs` for the smallest complete controller.

mod acting;
mod agent;
mod contents;
mod control;
mod controller;
mod events;
mod learned;
mod network;
mod parameters;
mod parts;
mod policy;
mod receiver;
mod registry;
mod schemes;
mod steps;

pub use acting::Acting;
pub use agent::Agent;
pub use contents::Contents;
pub use control::{Control, FieldSink, Message, Start};
pub use controller::Controller;
pub use events::{Ack, AckedPacket, Ecn, Frame, Loss, RateSample, Sent, Timeout, TimeoutKind};
pub use learned::neural::{SIGHTS, Sight};
pub use parameters::{File, Files, Parameter, ParameterKind, Parameters, Value};
pub use policy::{Policy, windows_after};
pub use receiver::{Arrived, ReceiverHalf};
pub use registry::{
    Build, BuildClosure, BuildFallible, BuildFunction, BuildPolicy, BuildReceiver, Entry, Registry, policy,
};
pub use steps::{STEP_FIELDS, StepField, StepValues, step_field};

/// `RemyCCs`: tables of rules, and the controller that follows one.
pub mod remy {
    pub use crate::learned::remy::{
        Action, DOMAIN, Lookups, MAX_INTERSEND_MS, MAX_WINDOW, Memory, Remy, Rule, SIGNALS, Shell, Signals,
        Table, Written,
    };
}

#[cfg(test)]
mod persistent_congestion;
#[cfg(test)]
mod testing;
