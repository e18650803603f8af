//! Real packets: the path emulator and the ends of flows, under the real clock.
//!
//! The same [`path`] objects and [`transport`] state machines as in the simulator, driven by epoll and timers. [`run`]
//! executes one run specification in network namespaces of its own and returns its statistics.
#![allow(clippy::disallowed_methods, reason = "this crate is about real clocks, sockets and processes")]

mod buffers;
mod clock;
mod emulation;
mod endpoint;
mod events;
mod flow;
mod inspect;
mod lane;
mod lateness;
mod namespace;
mod pace;
mod program;
mod program_flow;
mod program_samples;
mod rights;
mod run;
mod shell;
mod sys;
mod timer;
mod tun;
mod turn;

pub use lateness::LatenessReport;
pub use program::clean_up;
pub use program_flow::ProgramReport;
pub use rights::{Check, check_emulation, enter_user_namespace};
pub use run::{EmulationReport, RunReport, run};
pub use shell::{ShellSpec, run_shell};
