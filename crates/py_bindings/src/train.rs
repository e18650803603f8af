//! Training: files in and out as bytes, without the interpreter lock.
#![allow(clippy::disallowed_methods, reason = "a training ends when its time is over")]

use crate::interpreter::{Interpreter, interruptible};
use crate::outside::Loaded;
use ::train::{Job, News, Watch};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use runs::Observer;
use std::time::Instant;

/// Trains what `name` stands for, with the trainer's own settings as JSON, on at most `jobs` threads, until `seconds` are over;
/// returns the file that was learned. `start` is such a file, to go on from. `told` is called with a line about where it
/// stands and, now and then, the file as it is; what it raises ends the training, and so does Ctrl-C.
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
    let loaded = Loaded::builtin();
    let result = interruptible(py, &loaded, |python| {
        let watch = Watcher { python, told: &told, began: Instant::now() };
        Ok(::train::train(name, &Job { settings, seed, jobs, seconds, start, watch: &watch })?)
    })?;
    Ok(PyBytes::new(py, &result))
}

/// Python is told.
struct Watcher<'a> {
    python: &'a Interpreter<'a>,
    told: &'a Py<PyAny>,
    began: Instant,
}

impl Watch for Watcher<'_> {
    fn tell(&self, news: &News<'_>) -> Result<(), ::train::Error> {
        self.python.tell(self.told, (news.text, news.result));
        self.look()
    }

    fn look(&self) -> Result<(), ::train::Error> {
        self.python.stop_when_interrupted().stop().map_or(Ok(()), |why| Err(::train::Error::Stopped(why)))
    }

    fn elapsed_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}

/// The names of all trainers of the core.
#[pyfunction]
pub(crate) fn trainers() -> Vec<&'static str> {
    ::train::TRAINERS.iter().map(|trainer| trainer.name).collect()
}
