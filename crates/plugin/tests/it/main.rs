//! Libraries, compiled and loaded: what is declared, what is refused, and that C and Rust do what a built-in does.

mod libraries;
