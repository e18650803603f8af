//! Prefetching of memory. With a thousand flows, or a hundred simulations that take turns, the memory of an event is
//! rarely in a fast cache.
#![allow(unsafe_code, reason = "a prefetch takes a pointer")]

/// Bytes that a CPU fetches at once.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Prefetches all of `value` on CPUs with such an instruction. Does not wait.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of::<T>()).step_by(LINE_BYTES) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = core::ptr::from_ref(value).cast::<i8>().wrapping_add(offset);
        // SAFETY: a prefetch is a hint: at any address, it reads nothing that the program sees.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
