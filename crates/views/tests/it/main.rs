//! Views of simulated runs: windows compared with all samples, packets with all records, and readings of runs with
//! known causes.
#![allow(clippy::unwrap_used, clippy::naive_bytecount, reason = "tests fail by panicking, and are not fast")]

mod packets;
mod reading;
mod runs_in_memory;
mod table;
mod windows;
