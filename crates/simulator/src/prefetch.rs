//! Memory that is asked for before it is needed: with a thousand flows, or a hundred simulations that take turns, what an event
//! touches is rarely in a fast cache.
#![allow(unsafe_code, reason = "a prefetch takes a pointer")]

/// Bytes that a processor fetches at once.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Asks for all of `value`, where processors can be asked. Nothing waits for it.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of::<T>()).step_by(LINE_BYTES) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = core::ptr::from_ref(value).cast::<i8>().wrapping_add(offset);
        // SAFETY: to prefetch is a hint: whatever the address, it reads nothing that the program sees.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
