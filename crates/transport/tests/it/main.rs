//! A sender and a receiver joined by a fixed delay.

mod controller_calls;
mod false_alarms;
mod harness;
mod limits;
mod misbehaving;
mod pair;
mod services;
mod switches;
