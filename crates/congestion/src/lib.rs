//! The congestion controllers: one file per algorithm, the trait they share, their registry.
//!
//! Everything here is sans-IO: time arrives in the events, randomness comes from a seeded generator each controller
//! owns, nothing is allocated per ACK. See `reno.rs` for the smallest complete controller.

mod acting;
mod agent;
mod controller;
mod network;
mod parameters;
mod parts;
mod policy;
mod receiver;
mod registry;
pub mod remy;
mod steps;

mod astraea;
mod aurora;
mod bbr;
mod bbr3;
mod copa;
mod copa_gcc;
mod copa_gcc2017;
mod copa_gcc2018;
mod copa_mvfst;
mod cubic;
mod dctcp;
mod estimator;
mod farc;
mod fillp;
mod fillp2;
mod gcc;
mod gquic_cubic;
mod indigo;
mod koho;
mod ledbat;
mod ledbat_plus_plus;
mod libutp_ledbat;
mod muses;
mod nada;
mod neural;
mod orca;
mod pcc;
mod pcc_experimental;
mod prague;
mod proteus;
mod reno;
mod sage;
mod scream;
mod scream_v1;
mod sourdough;
mod sprout;
mod teams_bwe;
mod ten_tms;
mod unresponsive;
mod vegas;
mod verus;
mod vivace;

pub use acting::Acting;
pub use agent::Agent;
pub use controller::{
    Ack, AckedPacket, Control, Controller, Ecn, FieldSink, Frame, Loss, Message, RateSample, Sent, Start,
    Timeout, TimeoutKind,
};
pub use neural::{SIGHTS, Sight};
pub use parameters::{File, Files, Parameter, ParameterKind, Parameters, Value};
pub use policy::{Policy, windows_after};
pub use receiver::{Arrived, ReceiverHalf};
pub use registry::{Build, BuildClosure, BuildFallible, BuildReceiver, Entry, Registry, policy};
pub use steps::{STEP_FIELDS, StepField, StepValues, step_field};

#[cfg(test)]
mod testing;
