//! Last message of a process that a plug-in ends, written in any state of the process.
#![allow(unsafe_code, reason = "writes to a descriptor from a signal handler")]

use crate::callback::Callback;
use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

/// Descriptor of the last message.
pub(crate) static LAST_WORDS: AtomicI32 = AtomicI32::new(-1);

/// Reports that this process is a copy.
pub(crate) fn say_copied(label: &str, callback: Option<Callback>) {
    let callback = callback.unwrap_or(Callback::Create);
    say(
        LAST_WORDS.load(Ordering::SeqCst),
        label,
        callback,
        "called fork and returned in the copy of the process",
    );
}

/// Writes without memory allocation or locks, since the process may be in any state.
pub(crate) fn say(descriptor: c_int, label: &str, callback: Callback, what: &str) {
    for part in [label, ": ", callback.name(), " ", what, "\n"] {
        // SAFETY: the bytes are readable; what is written to a descriptor that is not open is lost.
        unsafe {
            libc::write(descriptor, part.as_ptr().cast(), part.len());
        }
    }
}
