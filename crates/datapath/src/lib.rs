//! Real packets: the path emulator and the ends of flows, under the real clock.
//!
//! The same [`path`] objects and [`transport`] state machines as in the simulator, driven by epoll and timers.
#![allow(clippy::disallowed_methods, reason = "this crate is about real clocks, sockets and processes")]

mod clock;
mod timer;

pub use clock::Clock;
