//! Long work without the interpreter lock, with access to the interpreter for signals and for observers of a run.

use crate::errors::Cause;
use crate::errors::error;
use crate::outside::RunResources;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use runs::{Moment, SampleColumns, StopWhen};
use std::cell::RefCell;
use std::ops::ControlFlow;

/// Returns the result of `work`, or the exception that ended it.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    resources: &RunResources,
    work: impl FnOnce(&Interpreter<'_>) -> Result<T, Cause> + Send,
) -> PyResult<T> {
    let (report, raised) = py.detach(|| {
        let interpreter = Interpreter { resources, raised: RefCell::default() };
        let report = work(&interpreter);
        (report, interpreter.raised.into_inner())
    });
    match raised {
        Some(raised) => Err(raised),
        None => resources.outcome(report).map_err(error),
    }
}

/// Access to the interpreter for work without its lock.
pub(crate) struct Interpreter<'a> {
    resources: &'a RunResources,
    /// Exception of a signal handler or a callback, which ends the work.
    raised: RefCell<Option<PyErr>>,
}

impl Interpreter<'_> {
    /// Returns an observer that ends a run at a signal or at a fault of a plug-in.
    ///
    /// Asking the interpreter delivers Ctrl-C. Only the main thread can handle it.
    pub(crate) fn stop_when_interrupted(&self) -> StopWhen<impl Fn() -> bool> {
        StopWhen(|| {
            let mut raised = self.raised.borrow_mut();
            if raised.is_none() {
                *raised = Python::attach(|py| py.check_signals().err());
            }
            raised.is_some() || self.resources.watch.failure().is_some()
        })
    }

    /// Calls `callback`. An exception ends the work.
    #[cfg(any(feature = "real", feature = "training"))]
    pub(crate) fn tell(&self, callback: &Py<PyAny>, with: impl for<'py> pyo3::call::PyCallArgs<'py>) {
        if let Err(raised) = Python::attach(|py| callback.call1(py, with)) {
            self.raised.borrow_mut().get_or_insert(raised);
        }
    }

    /// Calls `watch` with a moment of a run. Breaks with the exception's text.
    pub(crate) fn call(&self, watch: &Py<PyAny>, moment: &Moment) -> ControlFlow<String> {
        let result = Python::attach(|py| {
            let (flows, links) = (PyDict::new(py), PyDict::new(py));
            let Moment { at, flows: of_flows, links: of_links } = moment;
            put(of_flows, |row| of_flows.owner[row], &flows)?;
            put(of_links, |row| of_links.owner.get(row), &links)?;
            watch.call1(py, (at.as_secs_f64(), flows, links))
        });
        match result {
            Ok(_) => ControlFlow::Continue(()),
            Err(raised) => {
                let reason = raised.to_string();
                self.raised.borrow_mut().get_or_insert(raised);
                ControlFlow::Break(reason)
            }
        }
    }
}

/// Puts the values of samples into a table per owner, by field. The last value of a field remains.
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
