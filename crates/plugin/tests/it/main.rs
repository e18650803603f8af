//! Tests of compiled and loaded libraries: declarations, refusals, and equal behavior of C, Rust and built-in
//! controllers.

mod libraries;
