//! Finds out that a plug-in has called `fork`: the copy of the process must not go on as if it were the process.
#![allow(unsafe_code, reason = "memory that a copy does not share, and ending a copy at once")]

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};
use std::io;

/// Exit status of a copy, and of a process that was copied.
const COPIED: i32 = 71;
/// What a page of the process itself says; that of a copy is zero.
const ORIGINAL: u8 = 1;

/// Where nobody looks for copies, everybody is an original.
static ANYBODY: AtomicU8 = AtomicU8::new(ORIGINAL);
static NO_COPY: AtomicBool = AtomicBool::new(false);
/// On a page that is zero in a copy.
static IDENTITY: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const ANYBODY).cast_mut());
/// On a page that copies share: whether there was one.
static SEEN: AtomicPtr<AtomicBool> = AtomicPtr::new((&raw const NO_COPY).cast_mut());

/// From now on copies of this process are found out.
///
/// # Errors
/// The system has no memory for it.
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

/// Called when a plug-in has answered. If this is a copy, it is ended after it has said so with `say`; if there was one,
/// nobody knows what it has done in the name of this process, and this process is ended too.
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
