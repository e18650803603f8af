//! Fits against simulated machines whose clocks are known.

mod answers;
mod coverage;
mod families;
mod moon;
mod steps;
mod world;
