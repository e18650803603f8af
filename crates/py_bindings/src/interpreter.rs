//! Long work without the interpreter lock, and the interpreter at hand meanwhile: for signals, and for who watches a run.

use crate::errors::Cause;
use crate::errors::error;
use crate::outside::Loaded;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use runs::{Moment, SampleColumns, StopWhen};
use std::cell::RefCell;
use std::ops::ControlFlow;

/// What `work` reports.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    loaded: &Loaded,
    work: impl FnOnce(&Interpreter<'_>) -> Result<T, Cause> + Send,
) -> PyResult<T> {
    let (report, raised) = py.detach(|| {
        let interpreter = Interpreter { loaded, raised: RefCell::default() };
        let report = work(&interpreter);
        (report, interpreter.raised.into_inner())
    });
    match raised {
        Some(raised) => Err(raised),
        None => loaded.outcome(report).map_err(error),
    }
}

/// The interpreter, for work that goes on without its lock.
pub(crate) struct Interpreter<'a> {
    loaded: &'a Loaded,
    /// What a signal handler or a function raised: it ends the work.
    raised: RefCell<Option<PyErr>>,
}

impl Interpreter<'_> {
    /// Ends a run when a signal came in or a plug-in did something wrong. Ctrl-C is delivered when the interpreter is asked
    /// for it, which only the main thread can act on.
    pub(crate) fn stop_when_interrupted(&self) -> StopWhen<impl Fn() -> bool> {
        StopWhen(|| {
            let mut raised = self.raised.borrow_mut();
            if raised.is_none() {
                *raised = Python::attach(|py| py.check_signals().err());
            }
            raised.is_some() || self.loaded.watch.failure().is_some()
        })
    }

    /// Calls `told`. What it raises ends the work.
    #[cfg(any(feature = "real", feature = "training"))]
    pub(crate) fn tell(&self, told: &Py<PyAny>, with: impl for<'py> pyo3::call::PyCallArgs<'py>) {
        if let Err(raised) = Python::attach(|py| told.call1(py, with)) {
            self.raised.borrow_mut().get_or_insert(raised);
        }
    }

    /// Calls `watch` with a moment of a run; breaks with what it raised.
    pub(crate) fn call(&self, watch: &Py<PyAny>, moment: &Moment) -> ControlFlow<String> {
        let called = Python::attach(|py| {
            let (flows, links) = (PyDict::new(py), PyDict::new(py));
            let Moment { at, flows: of_flows, links: of_links } = moment;
            put(of_flows, |row| of_flows.owner[row], &flows)?;
            put(of_links, |row| of_links.owner.get(row), &links)?;
            watch.call1(py, (at.as_secs_f64(), flows, links))
        });
        match called {
            Ok(_) => ControlFlow::Continue(()),
            Err(raised) => {
                let reason = raised.to_string();
                self.raised.borrow_mut().get_or_insert(raised);
                ControlFlow::Break(reason)
            }
        }
    }
}

/// Puts the values of samples into a table of each owner, by field; the last one counts.
fn put<'py, K, O: IntoPyObject<'py>>(
    samples: &SampleColumns<K>,
    owner: impl Fn(usize) -> O,
    into: &Bound<'py, PyDict>,
) -> PyResult<()> {
    for (row, value) in samples.value.iter().enumerate() {
        let fields = into.call_method1("setdefault", (owner(row), PyDict::new(into.py())))?;
        fields.set_item(samples.field.get(row), value)?;
    }
    Ok(())
}
