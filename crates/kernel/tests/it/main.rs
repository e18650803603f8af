//! Controllers in the real kernel.

#![allow(clippy::disallowed_methods, reason = "tests of the real kernel: clock, files and sockets")]
#![allow(clippy::print_stderr, reason = "skipped tests say why")]

mod behaviour;
mod registration;
mod support;
