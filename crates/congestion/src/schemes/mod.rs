//! The controllers that follow rules, a file or a folder each: `build.rs` lists what lies here. `reno.rs` is the smallest
//! complete one.

include!(concat!(env!("OUT_DIR"), "/schemes.rs"));
