//! Writer of the core's events ([`tracing`]) as lines of text to a descriptor of Python: the log of a run, or a pipe.
//!
//! One Python thread makes a run. Its events, and those of the Rust threads that it starts, belong to the log that
//! this thread has opened.
//!
//! A process with several runs at once (the threads of a Dask worker) only simulates. Simulations start no threads,
//! thus each has its own log.
//!
//! No event is raised per packet. Without an open log, an event costs one comparison.
#![allow(clippy::disallowed_methods, reason = "a line begins with the time")]

use crate::errors::error;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

/// File that receives the lines, and the filter of the lines.
struct Sink {
    file: Option<File>,
    /// Process that opened the file. In a forked process the descriptor may be another file's.
    process: u32,
    /// Logger and most detailed level, the longest names first. The first matching name counts.
    levels: Vec<(String, LevelFilter)>,
    /// Text at the beginning of each line.
    before: String,
}

/// Open sinks, the newest last.
static OPEN: Mutex<Vec<Arc<Sink>>> = Mutex::new(Vec::new());

thread_local! {
    /// Sink that this thread has opened.
    static OWN: RefCell<Option<Arc<Sink>>> = const { RefCell::new(None) };
}

impl Sink {
    fn takes(&self, metadata: &Metadata<'_>) -> bool {
        if self.process != std::process::id() {
            return false;
        }
        let logger = logger(metadata);
        let entry = self.levels.iter().find(|(name, _)| {
            name.is_empty()
                || logger
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        entry.is_some_and(|(_, level)| metadata.level() <= level)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.file.take());
        }
    }
}

/// Returns the name of an event's logger: its module in Python's notation.
fn logger(metadata: &Metadata<'_>) -> String {
    metadata.target().replace("::", ".")
}

/// Returns the sink of this thread: its own, or for a Rust thread the newest.
fn sink() -> Option<Arc<Sink>> {
    OWN.with_borrow(Clone::clone)
        .or_else(|| OPEN.lock().unwrap_or_else(PoisonError::into_inner).last().map(Arc::clone))
}

/// Subscriber that passes events on to the sinks and ignores spans.
struct Lines;

impl Subscriber for Lines {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && sink().is_some_and(|sink| sink.takes(metadata))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let levels = open.iter().flat_map(|sink| sink.levels.iter().map(|(_, level)| *level));
        Some(levels.max().unwrap_or(LevelFilter::OFF))
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let Some(sink) = sink() else { return };
        let Some(mut file) = sink.file.as_ref() else { return };
        // One write per line keeps the lines of other threads and of Python intact. Other writes of the run report a
        // full disk.
        let _written = file.write_all(format!("{}{}", sink.before, line(event)).as_bytes());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Returns an event as a line in the format of `dumbbell.base.logs`: `12:03:04.123 info  datapath.run: text
/// key=value`.
fn line(event: &Event<'_>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let s = now.as_secs() % 86_400;
    let level = match *event.metadata().level() {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        _ => "debug",
    };
    let mut text = Text::default();
    event.record(&mut text);
    format!(
        "{:02}:{:02}:{:02}.{:03} {level:<5} {}: {}{}\n",
        s / 3600,
        s / 60 % 60,
        s % 60,
        now.subsec_millis(),
        logger(event.metadata()),
        text.message,
        text.values
    )
}

/// Text and values of an event.
#[derive(Default)]
struct Text {
    message: String,
    values: String,
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = escape(&format!("{value:?}"));
        if field.name() == "message" {
            self.message = text;
        } else if text.is_empty() || text.contains([' ', '"']) {
            let _infallible = write!(self.values, " {}=\"{}\"", field.name(), text.replace('"', "\\\""));
        } else {
            let _infallible = write!(self.values, " {}={text}", field.name());
        }
    }
}

/// Returns the text without control characters; further lines are indented.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.trim_end().chars() {
        match char {
            '\n' => out.push_str("\n  "),
            char if char.is_control() => out.extend(char.escape_default()),
            char => out.push(char),
        }
    }
    out
}

/// Writes events of this thread, and of threads that Rust starts, to `descriptor` from now on; `None` ends it.
///
/// `levels` are names of loggers, with the most detailed level of each; the empty name stands for all. `before`
/// begins each line.
#[pyfunction]
#[pyo3(signature = (descriptor, levels=Vec::new(), before=String::new()))]
#[allow(unsafe_code, reason = "borrows a descriptor that Python holds open during the call")]
pub(crate) fn log_to(
    descriptor: Option<RawFd>,
    levels: Vec<(String, String)>,
    before: String,
) -> PyResult<()> {
    static INSTALLED: Once = Once::new();
    let fresh = descriptor
        .map(|descriptor| {
            // SAFETY: Python holds the descriptor open, and it is duplicated before this function returns.
            let owned = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned();
            let file = File::from(owned.map_err(|cause| error(format!("log: {cause}")))?);
            let mut levels: Vec<_> =
                levels.into_iter().map(|(name, level)| (name, level_filter(&level))).collect();
            levels.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
            Ok::<_, PyErr>(Arc::new(Sink { file: Some(file), process: std::process::id(), levels, before }))
        })
        .transpose()?;
    let last = OWN.replace(fresh.clone());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|sink| last.as_ref().is_none_or(|last| !Arc::ptr_eq(sink, last)));
    open.extend(fresh);
    drop(open);
    INSTALLED.call_once(|| {
        // Another subscriber of this process remains installed.
        let _installed = tracing::subscriber::set_global_default(Lines);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let thread = std::thread::current();
            tracing::error!(thread = thread.name().unwrap_or("?"), "{info}");
            hook(info);
        }));
    });
    tracing::callsite::rebuild_interest_cache();
    Ok(())
}

fn level_filter(level: &str) -> LevelFilter {
    match level {
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    }
}
