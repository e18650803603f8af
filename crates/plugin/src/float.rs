//! How the processor rounds: a library, or what loads it, may have changed that for the whole thread.
#![allow(unsafe_code, reason = "sets the control register of floating point, as every program finds it")]

/// Sets rounding to nearest, subnormal numbers as they are, no exceptions: as a program finds them when it starts.
/// `-ffast-math` in the linking of a library is enough to change the second.
#[inline]
pub fn restore_rounding() {
    #[cfg(target_arch = "x86_64")]
    {
        let usual: u32 = 0x1f80;
        // SAFETY: reads four bytes that are there; the value is the one of the calling convention.
        unsafe {
            core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const usual, options(nostack, readonly));
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: zero is the value of the calling convention.
    unsafe {
        core::arch::asm!("msr fpcr, xzr", options(nostack, nomem));
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn subnormal_numbers_count_again() {
        let flushing: u32 = 0x1f80 | 0x8000 | 0x0040;
        let half = |x: f64| core::hint::black_box(x) / 2.0;
        // SAFETY: reads four bytes that are there; flushing to zero is put back below.
        unsafe {
            core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const flushing, options(nostack, readonly));
        }
        let flushed = half(f64::MIN_POSITIVE);
        restore_rounding();
        assert_eq!(flushed, 0.0);
        assert!(half(f64::MIN_POSITIVE) > 0.0);
    }
}
