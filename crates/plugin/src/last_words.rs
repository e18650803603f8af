//! Crash report of a process that a plug-in ends by a crash, by `exit`, or by never returning.
#![allow(unsafe_code, reason = "signal handlers, and writing from them")]
#![allow(clippy::disallowed_methods, reason = "a watchdog waits, a file is opened for the last words")]

use crate::Error;
use crate::callback::Callback;
use crate::copies;
use crate::saying::{LAST_WORDS, say};
use crate::watch::{self, Place};
use core::ffi::c_int;
use core::sync::atomic::Ordering;
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::IntoRawFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Interval of the watchdog's checks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Exit status of a process whose plug-in does not return.
const HUNG: i32 = 70;

/// Fatal signals with their descriptions.
const FATAL: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "crashed (SIGSEGV: it used memory that is not its own)"),
    (libc::SIGBUS, "crashed (SIGBUS: it used memory that does not exist)"),
    (libc::SIGILL, "crashed (SIGILL: it executed an instruction that does not exist)"),
    (libc::SIGFPE, "crashed (SIGFPE: it divided a whole number by zero)"),
    (libc::SIGABRT, "crashed (SIGABRT: it gave up with abort or a failed assertion)"),
];

/// Starts the supervision of plug-ins in a process that executes runs.
///
/// A plug-in that ends this process, or that takes longer than 5 s for a callback (60 s to create a flow's state, which
/// may load much data), leaves a line in `file` with its name and action. A plug-in that takes too long ends the
/// process. A crash also writes its backtrace to stderr.
///
/// A copy of the process by `fork` ends when the plug-in returns in it, and the process ends, too.
///
/// # Errors
/// Returns an error if the file cannot be written or this function was called before.
pub fn guard_process(file: &Path) -> Result<(), Error> {
    let refuse = |error| Error::Guard(error).at(file);
    let descriptor = File::create(file).map_err(refuse)?.into_raw_fd();
    if LAST_WORDS.compare_exchange(-1, descriptor, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        return Err(Error::GuardedAlready.at(file));
    }
    copies::look_out().map_err(refuse)?;
    // The first call loads a library, which must not happen in a handler.
    print_backtrace(Stream::Nowhere);
    for (signal, _) in FATAL {
        // SAFETY: a zeroed sigaction is a valid one, and the handler is a function of the type that sa_flags say.
        unsafe {
            let mut action: libc::sigaction = core::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(c_int) as usize;
            action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, core::ptr::null_mut());
        }
    }
    // SAFETY: the function lives as long as the process: the library that has it is never unloaded.
    unsafe {
        libc::atexit(on_exit);
    }
    std::thread::Builder::new().name("plug-in watchdog".to_owned()).spawn(watchdog).map(drop).map_err(refuse)
}

/// Reports a fatal signal and raises it again with the default action.
extern "C" fn on_signal(signal: c_int) {
    let what = FATAL.iter().find(|(number, _)| *number == signal).map_or("crashed", |(_, what)| *what);
    watch::for_each_busy(|label, callback| {
        say(LAST_WORDS.load(Ordering::SeqCst), label, callback, what);
        say(libc::STDERR_FILENO, label, callback, what);
    });
    print_backtrace(Stream::Stderr);
    // SAFETY: raises a signal in this thread; it ends the process, as it would have without this handler.
    unsafe {
        libc::raise(signal);
    }
}

extern "C" fn on_exit() {
    watch::for_each_busy(|label, callback| {
        say(LAST_WORDS.load(Ordering::SeqCst), label, callback, "called exit");
    });
}

/// Destination of a backtrace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Nowhere,
    /// Standard error, which is the log of a run.
    Stderr,
}

/// Writes the thread's functions, the innermost first: file, function and offset, as far as libraries name them.
#[cfg(target_env = "gnu")]
fn print_backtrace(stream: Stream) {
    let mut frames = [core::ptr::null_mut(); 64];
    // SAFETY: the array has so many places; what follows writes to a descriptor and takes no memory.
    unsafe {
        let count = libc::backtrace(frames.as_mut_ptr(), frames.len() as c_int);
        if stream == Stream::Stderr {
            libc::backtrace_symbols_fd(frames.as_ptr(), count, libc::STDERR_FILENO);
        }
    }
}

/// Does nothing: other C libraries have no backtraces.
#[cfg(not(target_env = "gnu"))]
const fn print_backtrace(_stream: Stream) {}

/// Ends the process if a callback does not return.
fn watchdog() {
    // Call count and number of checks with this count, by address of the controller's place.
    let mut seen: HashMap<*const Place, (u64, u64)> = HashMap::new();
    loop {
        std::thread::sleep(LOOK_EVERY);
        let places = watch::all_places();
        seen.retain(|address, _| places.iter().any(|place| Arc::as_ptr(place) == *address));
        for place in &places {
            let (count, Some(callback)) = place.state() else {
                seen.remove(&Arc::as_ptr(place));
                continue;
            };
            let (at, looks) = seen.entry(Arc::as_ptr(place)).or_insert((count, 0));
            (*at, *looks) = if *at == count { (count, *looks + 1) } else { (count, 0) };
            let (most, what) = patience(callback);
            if *looks >= most {
                say(LAST_WORDS.load(Ordering::SeqCst), place.label(), callback, what);
                // SAFETY: ends the process without running anything: a thread of it will never come back.
                unsafe { libc::_exit(HUNG) }
            }
        }
    }
}

/// Returns the maximum number of checks during a callback, and the message beyond it.
const fn patience(callback: Callback) -> (u64, &'static str) {
    match callback {
        Callback::Create => (600, "did not return within 60 s"),
        _ => (50, "did not return within 5 s"),
    }
}
