//! A sender and a receiver joined by a fixed delay.

mod harness;
mod misbehaving;
mod pair;
mod services;
mod switches;
mod told;
