//! The controllers that were learned, a file or a folder each: `build.rs` lists what lies here.

include!(concat!(env!("OUT_DIR"), "/learned.rs"));
