//! The lock of this machine for runs with real packets, for what runs without a path of ours.
#![allow(clippy::disallowed_methods, reason = "whoever waits for the lock gives up after a while")]

use crate::errors::error;
use datapath::{EmulationLock, Holder};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// The right to run with real packets on this machine; given back with the object.
#[pyclass(frozen, name = "EmulationLock")]
pub(crate) struct HeldEmulationLock {
    _lock: EmulationLock,
}

/// Waits for the lock: for `within_s` seconds at most, or until `stopped` says so, which is asked often.
/// `waits` is called with the process that has it and since when (seconds since 1970), or with nothing where that is not known.
#[pyfunction]
pub(crate) fn take_emulation_lock(
    py: Python<'_>,
    within_s: f64,
    stopped: Py<PyAny>,
    waits: Py<PyAny>,
) -> PyResult<HeldEmulationLock> {
    let until = Instant::now() + Duration::from_secs_f64(within_s.clamp(0.0, 86_400.0));
    let ends = || {
        Instant::now() > until || Python::attach(|py| stopped.call0(py)?.extract::<bool>(py)).unwrap_or(true)
    };
    let tells = |holder: Option<Holder>| {
        Python::attach(|py| {
            // Whoever cannot be told waits all the same.
            let _told = match holder {
                Some(Holder { process, since_s }) => waits.call1(py, (process, since_s)),
                None => waits.call0(py),
            };
        });
    };
    py.detach(|| EmulationLock::wait(&ends, &tells))
        .map(|lock| HeldEmulationLock { _lock: lock })
        .map_err(error)
}
