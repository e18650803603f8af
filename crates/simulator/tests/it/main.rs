//! Behavior of controllers, queues and the whole simulator in runs under virtual time.

mod allocations;
mod aqm;
mod bbr3;
mod ccperf_metrics;
mod delay_based;
mod determinism;
mod ecn;
#[path = "../../../congestion/tests/it/files.rs"]
mod files;
mod fillp;
mod gcc;
mod gquic;
mod growth;
mod harness;
mod koho_family;
mod ledbat_plus_plus;
mod libutp;
mod media_window;
mod misbehaving;
mod ns3_compat;
mod parking_lot;
mod pcc_family;
mod pcc_timed;
mod random_runs;
mod rate_based;
mod scenarios;
mod sprout;
mod verus;
mod window_based;
