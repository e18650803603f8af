//! Emulation lock of this machine, for real-packet runs without an emulated path.
#![allow(clippy::disallowed_methods, reason = "whoever waits for the lock gives up after a while")]

use crate::errors::error;
use datapath::{EmulationLock, Holder};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// Emulation lock, released with the object.
#[pyclass(frozen, name = "EmulationLock")]
pub(crate) struct HeldEmulationLock {
    _lock: EmulationLock,
}

/// Waits for the lock, at most `within_s` seconds or until `stopped` returns true. `stopped` is called often.
///
/// `waits` is called with the process that has the lock and the start of its run (seconds since 1970), or without
/// arguments if unknown.
#[pyfunction]
pub(crate) fn take_emulation_lock(
    py: Python<'_>,
    within_s: f64,
    stopped: Py<PyAny>,
    waits: Py<PyAny>,
) -> PyResult<HeldEmulationLock> {
    let until = Instant::now() + Duration::from_secs_f64(within_s.clamp(0.0, 86_400.0));
    let gives_up = || {
        Instant::now() > until || Python::attach(|py| stopped.call0(py)?.extract::<bool>(py)).unwrap_or(true)
    };
    let notify = |holder: Option<Holder>| {
        Python::attach(|py| {
            // An error of `waits` does not end the waiting.
            let _told = match holder {
                Some(Holder { process, since_s }) => waits.call1(py, (process, since_s)),
                None => waits.call0(py),
            };
        });
    };
    py.detach(|| EmulationLock::wait(&gives_up, &notify))
        .map(|lock| HeldEmulationLock { _lock: lock })
        .map_err(error)
}
