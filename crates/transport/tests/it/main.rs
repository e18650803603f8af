//! A sender and a receiver joined by a fixed delay.

mod controller_calls;
mod harness;
mod misbehaving;
mod pair;
mod services;
mod switches;
