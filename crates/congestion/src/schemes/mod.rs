//! Controllers that follow rules, one file or folder each; `build.rs` lists them. `reno.rs` is the smallest complete
//! one.

include!(concat!(env!("OUT_DIR"), "/schemes.rs"));
