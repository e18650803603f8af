//! How PCC's programs round slopes and inflations of the RTT, so that noise below a step counts as nothing.

/// `slope`, a share, in whole multiples of `quantum` percent, truncated toward zero.
pub(crate) fn quantised(slope: f64, quantum: f64) -> f64 {
    let percent = (100.0 * slope).trunc();
    if quantum <= 1.0 {
        return percent / 100.0;
    }
    // The C program goes through a share and back, which makes 29, 57 and 58 one less.
    let again = (percent / 100.0 * 100.0).trunc();
    quantum * (again / quantum).trunc() / 100.0
}
