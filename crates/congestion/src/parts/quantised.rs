//! Rounding of slopes and inflations of the RTT in PCC's programs, which ignores noise below a step.

/// Returns `slope`, a fraction, in whole multiples of `quantum` percent, truncated toward zero.
pub(crate) fn quantised(slope: f64, quantum: f64) -> f64 {
    let percent = (100.0 * slope).trunc();
    if quantum <= 1.0 {
        return percent / 100.0;
    }
    // The C program converts to a fraction and back, which reduces 29, 57 and 58 by one.
    let again = (percent / 100.0 * 100.0).trunc();
    quantum * (again / quantum).trunc() / 100.0
}
