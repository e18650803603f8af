//! Training of controllers: files in and out as bytes, without the interpreter lock.
#![allow(clippy::disallowed_methods, reason = "a training ends when its time is over")]

use crate::interpreter::{Interpreter, interruptible};
use crate::outside::RunResources;
use ::train::{Job, News, Watch};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use runs::Observer;
use std::time::Instant;

/// Trains with the trainer `name` on at most `jobs` threads for at most `seconds`. Returns the learned file.
///
/// `settings` are the trainer's own, as JSON. `start` is a learned file to continue from.
///
/// `told` is called with a line of progress and, now and then, the current file. An exception of `told` or Ctrl-C
/// ends the training.
#[pyfunction]
#[pyo3(signature = (name, settings, seed, jobs, seconds, start, told))]
#[expect(clippy::too_many_arguments, reason = "one object less for Python to make")]
pub(crate) fn train_controller<'py>(
    py: Python<'py>,
    name: &str,
    settings: &str,
    seed: u64,
    jobs: usize,
    seconds: f64,
    start: Option<&[u8]>,
    told: Py<PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let resources = RunResources::builtin();
    let result = interruptible(py, &resources, |python| {
        let watch = Watcher { python, callback: &told, began: Instant::now() };
        Ok(::train::train(name, &Job { settings, seed, jobs, seconds, start, watch: &watch })?)
    })?;
    Ok(PyBytes::new(py, &result))
}

/// Observer that reports progress to Python.
struct Watcher<'a> {
    python: &'a Interpreter<'a>,
    callback: &'a Py<PyAny>,
    began: Instant,
}

impl Watch for Watcher<'_> {
    fn tell(&self, news: &News<'_>) -> Result<(), ::train::Error> {
        self.python.tell(self.callback, (news.text, news.result));
        self.look()
    }

    fn look(&self) -> Result<(), ::train::Error> {
        self.python.stop_when_interrupted().stop().map_or(Ok(()), |why| Err(::train::Error::Stopped(why)))
    }

    fn elapsed_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}

/// Returns the names of all trainers of the core.
#[pyfunction]
pub(crate) fn trainers() -> Vec<&'static str> {
    ::train::TRAINERS.iter().map(|trainer| trainer.name).collect()
}
