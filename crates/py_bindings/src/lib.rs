//! `dumbbell._core`: the Rust core for Python.
//!
//! Takes and returns JSON, paths and flat arrays. Long work runs without the interpreter lock. This crate computes
//! nothing itself.
//!
//! Without the features `real` and `training` it simulates and reports, which a fresh clone builds first.
#![allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive as owned values")]

mod arrow;
mod batch;
mod catalog;
mod columns;
mod contract;
mod controller;
#[cfg(feature = "real")]
mod emulation;
#[cfg(feature = "real")]
mod emulation_lock;
#[cfg(feature = "training")]
mod environments;
mod errors;
mod events;
mod exchange;
mod interpreter;
mod log_sink;
mod logs;
mod outside;
mod parameter;
#[cfg(feature = "real")]
mod remote;
mod run;
mod scripts;
mod source;
mod table;
#[cfg(feature = "training")]
mod train;
mod views;

use errors::{DamagedLog, Error};
use pyo3::prelude::*;

/// Returns the version of the core.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the commit that the core was built from, if the build set `DUMBBELL_COMMIT`.
///
/// A build from a checkout does not set it, since each new commit would cause a rebuild.
#[pyfunction]
fn commit() -> Option<&'static str> {
    option_env!("DUMBBELL_COMMIT").filter(|commit| !commit.is_empty())
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::batch::{Numbers, number_names, read_numbers, simulate_batch, write_numbers};
    #[pymodule_export]
    use crate::catalog::{
        check_application, check_parameters, controllers, is_name, name_rule, needed_files, transport,
    };
    #[pymodule_export]
    use crate::contract::{run_schema, statistics_schema};
    #[cfg(feature = "real")]
    #[pymodule_export]
    use crate::emulation::{check_emulation, clean_up, emulate, emulate_shell, enter_user_namespace};
    #[cfg(feature = "real")]
    #[pymodule_export]
    use crate::emulation_lock::{HeldEmulationLock, take_emulation_lock};
    #[cfg(feature = "training")]
    #[pymodule_export]
    use crate::environments::{ArrayView, Environments, environment_fields};
    #[pymodule_export]
    use crate::events::{Ack, Control, Ecn, Frame, Loss, Packet, RateSample, SentPacket, Start, Timeout};
    #[pymodule_export]
    use crate::exchange::{
        export_pantheon, export_qlog, import_capture, import_mahimahi, import_merged_log, import_qlog,
        import_raw_logs, read_compressed, read_head, write_samples,
    };
    #[pymodule_export]
    use crate::log_sink::log_to;
    #[pymodule_export]
    use crate::logs::{
        confidence_interval, critical_values, delay_points, delay_steps, difference, harm, holm, jain_index,
        jain_series, labels, mean_and_ends, measure_log, metrics, normalised, samples, series, transfers,
    };
    #[pymodule_export]
    use crate::outside::{describe_plugin, guard_process};
    #[cfg(feature = "real")]
    #[pymodule_export]
    use crate::remote::{RemoteEndpoint, clock_ns, clock_offset, distort_clock, join_sides, round_trips};
    #[pymodule_export]
    use crate::run::{
        check_path, check_run, controller_cost, controllers_beside, describe_path, opportunities,
        parse_trace, simulate, simulate_in_memory,
    };
    #[pymodule_export]
    use crate::scripts::{describe_script, record_script, run_script};
    #[pymodule_export]
    use crate::source::{read_packets, read_samples};
    #[pymodule_export]
    use crate::table::{Table, View};
    #[cfg(feature = "training")]
    #[pymodule_export]
    use crate::train::{train_controller, trainers};
    #[pymodule_export]
    use crate::views::RunView;
    #[pymodule_export]
    use crate::{DamagedLog, Error, commit, version};
}
