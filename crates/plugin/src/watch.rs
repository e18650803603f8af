//! What plug-ins are doing at this moment, and the first thing that one of a run's did wrong.
//!
//! A plug-in that crashes or never returns takes its process along. [`guard_process`] makes such a process leave a line
//! behind that names the plug-in and what it was doing.

use crate::callback::Callback;
use crate::float::restore_rounding;
use crate::{copies, saying};
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering, compiler_fence};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The plug-ins of one run.
#[derive(Debug, Default)]
pub struct Watch {
    failure: OnceLock<String>,
}

impl Watch {
    /// The first thing that went wrong, in one line that names the plug-in.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Notes what went wrong, unless something has before.
    pub(crate) fn fail(&self, message: String) {
        tracing::error!("{message}");
        // Whatever follows a failure follows from it.
        let _first = self.failure.set(message);
    }
}

/// Whether one controller is being asked something, and what. Written by the thread that asks, read by the others.
#[derive(Debug)]
pub(crate) struct Place {
    /// Names scheme and plug-in.
    label: String,
    /// Odd while the controller is being asked.
    count: AtomicU64,
    callback: AtomicU8,
}

/// All controllers of plug-ins in this process.
static PLACES: Mutex<Vec<Arc<Place>>> = Mutex::new(Vec::new());

/// The places, whatever became of a thread that held them.
fn places() -> std::sync::MutexGuard<'static, Vec<Arc<Place>>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    /// A place for the controller that `label` names; [`leave`](Self::leave) it to be forgotten.
    pub(crate) fn register(label: String) -> Arc<Self> {
        let place = Arc::new(Self { label, count: AtomicU64::new(0), callback: AtomicU8::new(0) });
        places().push(Arc::clone(&place));
        place
    }

    /// Forgets the place.
    pub(crate) fn unregister(place: &Arc<Self>) {
        places().retain(|other| !Arc::ptr_eq(other, place));
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// The controller is asked something from now on.
    #[inline]
    pub(crate) fn enter(&self, callback: Callback) {
        self.next(callback);
        self.count.store(self.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        // A signal handler of this thread has to find both before whatever the plug-in does.
        compiler_fence(Ordering::SeqCst);
    }

    /// It is asked something else, without a pause.
    #[inline]
    pub(crate) fn next(&self, callback: Callback) {
        self.check_copied();
        self.callback.store(callback as u8, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// It has answered, in this process or in a copy of it that it has made.
    #[inline]
    pub(crate) fn leave(&self) {
        restore_rounding();
        self.check_copied();
        compiler_fence(Ordering::SeqCst);
        self.count.store(self.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Ends this process if it is a copy, or if there was one.
    #[inline]
    fn check_copied(&self) {
        copies::check(|| saying::say_copied(&self.label, self.callback()));
    }

    /// What it was asked last.
    fn callback(&self) -> Option<Callback> {
        Callback::ALL.get(usize::from(self.callback.load(Ordering::Relaxed))).copied()
    }

    /// How often it was entered and left, and what it is being asked, if it is.
    pub(crate) fn state(&self) -> (u64, Option<Callback>) {
        let count = self.count.load(Ordering::Relaxed);
        (count, self.callback().filter(|_| !count.is_multiple_of(2)))
    }
}

/// Calls `with` for every controller that is being asked something, if nobody is changing the list at this moment. Takes
/// no memory: signal handlers call it.
pub(crate) fn for_each_busy(mut with: impl FnMut(&str, Callback)) {
    let Ok(places) = PLACES.try_lock() else { return };
    for place in places.iter() {
        if let (_, Some(callback)) = place.state() {
            with(&place.label, callback);
        }
    }
}

/// All places, for the watchdog.
pub(crate) fn all_places() -> Vec<Arc<Place>> {
    places().clone()
}
