//! Real packets through an emulated path, under the real clock.
//!
//! The same [`path`] objects as in the simulator, driven by epoll and timers, between ends of flows ([`endpoint`] and
//! programs). [`run`] executes one run specification in network namespaces of its own and returns its statistics.
#![allow(clippy::disallowed_methods, reason = "this crate is about real clocks, sockets and processes")]

mod buffers;
mod direction_thread;
mod dns_relay;
mod emulation;
mod emulation_lock;
mod enclosure;
mod error;
mod few;
mod flow;
mod inspect;
mod internet;
mod joint_write;
mod lateness;
mod lateness_error;
mod live;
mod names;
mod namespace;
mod observer_events;
mod open_files;
mod owner;
mod preflight;
mod program;
mod program_flow;
mod program_qlogs;
mod program_samples;
mod pure_acks;
pub mod remote;
mod run;
mod scheduling;
mod scratch;
mod shell;
mod superpacket;
mod sysctl;
mod tun;

pub use emulation_lock::{EmulationLock, Holder};
pub use error::{Cause, Error, ReportFault};
pub use lateness::LatenessReport;
pub use lateness_error::LatenessError;
pub use live::LiveFile;
pub use owner::clean_up;
pub use preflight::{Check, check_emulation, enter_user_namespace};
pub use program_flow::ProgramReport;
pub use run::{Emulated, EmulationReport, run};
pub use scheduling::EndReport;
pub use shell::{ShellSpec, run_shell};
