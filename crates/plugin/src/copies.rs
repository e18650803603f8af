//! Detection of a plug-in that calls `fork`. The copy of the process must not continue as if it were the original.
#![allow(unsafe_code, reason = "memory that a copy does not share, and ending a copy at once")]

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};
use std::io;

/// Exit status of a copy, and of a process that was copied.
const COPIED: i32 = 71;
/// Value in the original's private page; a copy reads zero.
const ORIGINAL: u8 = 1;

/// Value for processes without detection, which are always originals.
static ANYBODY: AtomicU8 = AtomicU8::new(ORIGINAL);
static NO_COPY: AtomicBool = AtomicBool::new(false);
/// Pointer into a page that is zero in a copy.
static IDENTITY: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const ANYBODY).cast_mut());
/// Pointer into a page shared with copies: true if a copy existed.
static SEEN: AtomicPtr<AtomicBool> = AtomicPtr::new((&raw const NO_COPY).cast_mut());

/// Starts the detection of copies of this process.
///
/// # Errors
/// Returns an error if the system has no memory.
pub(crate) fn look_out() -> io::Result<()> {
    let own = page(libc::MAP_PRIVATE)?;
    // SAFETY: the page was mapped just now and is never unmapped.
    if unsafe { libc::madvise(own, PAGE_BYTES, libc::MADV_WIPEONFORK) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let identity = own.cast::<AtomicU8>();
    // SAFETY: as above; a page is aligned for everything, and zeros are a value of both types.
    unsafe { (*identity).store(ORIGINAL, Ordering::Relaxed) };
    SEEN.store(page(libc::MAP_SHARED)?.cast(), Ordering::Relaxed);
    IDENTITY.store(identity, Ordering::Relaxed);
    Ok(())
}

const PAGE_BYTES: usize = 4096;

fn page(kind: libc::c_int) -> io::Result<*mut c_void> {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, kind | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address that the system chooses.
    let page = unsafe { libc::mmap(ptr::null_mut(), PAGE_BYTES, access, kind, -1, 0) };
    if page == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(page) }
}

/// Checks for copies after a callback of a plug-in. A copy reports itself with `say` and ends. If a copy existed, its
/// actions in the name of this process are unknown, so this process ends, too.
#[inline]
pub(crate) fn check(say: impl FnOnce()) {
    // SAFETY: both point to what lives as long as the process.
    let (identity, seen) = unsafe { (&*IDENTITY.load(Ordering::Relaxed), &*SEEN.load(Ordering::Relaxed)) };
    if identity.load(Ordering::Relaxed) != ORIGINAL || seen.load(Ordering::Relaxed) {
        end(identity, seen, say);
    }
}

#[cold]
fn end(identity: &AtomicU8, seen: &AtomicBool, say: impl FnOnce()) -> ! {
    if identity.load(Ordering::Relaxed) != ORIGINAL && !seen.load(Ordering::Relaxed) {
        say();
        seen.store(true, Ordering::Release);
    }
    // SAFETY: ends the process without running anything of it.
    unsafe { libc::_exit(COPIED) }
}
