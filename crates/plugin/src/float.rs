//! CPU rounding mode. A library or its loader may have changed it for the whole thread.
#![allow(unsafe_code, reason = "sets the control register of floating point, as every program finds it")]

/// Restores the state at the start of a program: rounding to nearest, no flushing of subnormal numbers, no exceptions.
/// Linking a library with `-ffast-math` is enough to change the second.
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
