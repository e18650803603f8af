//! Learned controllers, one file or folder each; `build.rs` lists them.

include!(concat!(env!("OUT_DIR"), "/learned.rs"));
