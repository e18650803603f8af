//! Current callbacks of plug-ins, and the first fault of a run's plug-ins.
//!
//! A plug-in that crashes or never returns also ends its process. With [`guard_process`] such a process leaves a line
//! that names the plug-in and its callback.

use crate::callback::Callback;
use crate::float::restore_rounding;
use crate::{copies, saying};
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering, compiler_fence};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Plug-ins of one run.
#[derive(Debug, Default)]
pub struct Watch {
    failure: OnceLock<String>,
}

impl Watch {
    /// Returns the first fault, in one line that names the plug-in.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Records a fault, unless one was recorded before.
    pub(crate) fn fail(&self, message: String) {
        tracing::error!("{message}");
        // Later faults are consequences of the first one.
        let _first = self.failure.set(message);
    }
}

/// Current callback of one controller. The calling thread writes it, other threads read it.
#[derive(Debug)]
pub(crate) struct Place {
    /// Name of scheme and plug-in.
    label: String,
    /// Number of entries and exits; odd during a callback.
    count: AtomicU64,
    callback: AtomicU8,
}

/// Places of all plug-in controllers in this process.
static PLACES: Mutex<Vec<Arc<Place>>> = Mutex::new(Vec::new());

/// Returns the places, even if a thread that locked them panicked.
fn places() -> std::sync::MutexGuard<'static, Vec<Arc<Place>>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    /// Creates a place for the controller called `label`. [`unregister`](Self::unregister) removes it.
    pub(crate) fn register(label: String) -> Arc<Self> {
        let place = Arc::new(Self { label, count: AtomicU64::new(0), callback: AtomicU8::new(0) });
        places().push(Arc::clone(&place));
        place
    }

    /// Removes the place.
    pub(crate) fn unregister(place: &Arc<Self>) {
        places().retain(|other| !Arc::ptr_eq(other, place));
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Records the start of a callback.
    #[inline]
    pub(crate) fn enter(&self, callback: Callback) {
        self.next(callback);
        self.count.store(self.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        // A signal handler of this thread must see both values before any action of the plug-in.
        compiler_fence(Ordering::SeqCst);
    }

    /// Records the start of another callback right after the last one.
    #[inline]
    pub(crate) fn next(&self, callback: Callback) {
        self.check_copied();
        self.callback.store(callback as u8, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// Records the end of a callback, in this process or in a copy.
    #[inline]
    pub(crate) fn leave(&self) {
        restore_rounding();
        self.check_copied();
        compiler_fence(Ordering::SeqCst);
        self.count.store(self.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Ends this process if it is a copy or was copied.
    #[inline]
    fn check_copied(&self) {
        copies::check(|| saying::say_copied(&self.label, self.callback()));
    }

    /// Returns the last callback.
    fn callback(&self) -> Option<Callback> {
        Callback::ALL.get(usize::from(self.callback.load(Ordering::Relaxed))).copied()
    }

    /// Returns the number of entries and exits, and the current callback, if any.
    pub(crate) fn state(&self) -> (u64, Option<Callback>) {
        let count = self.count.load(Ordering::Relaxed);
        (count, self.callback().filter(|_| !count.is_multiple_of(2)))
    }
}

/// Calls `with` for every controller with a running callback, unless another thread is changing the list. Signal
/// handlers may call this function, since it allocates no memory.
pub(crate) fn for_each_busy(mut with: impl FnMut(&str, Callback)) {
    let Ok(places) = PLACES.try_lock() else { return };
    for place in places.iter() {
        if let (_, Some(callback)) = place.state() {
            with(&place.label, callback);
        }
    }
}

/// Returns all places, for the watchdog.
pub(crate) fn all_places() -> Vec<Arc<Place>> {
    places().clone()
}
