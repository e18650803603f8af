//! Windows of time.

use crate::error::Error;

/// Maximum columns of a window.
const MAX_COLUMNS: u32 = 1 << 14;
/// Latest allowed time, ns.
const LATEST_NS: u64 = 1 << 62;

/// Part of a run in equal columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    pub(crate) columns: u32,
}

impl Window {
    /// Returns a window.
    ///
    /// # Errors
    /// Returns an error if the window is empty or has too many columns.
    pub(crate) fn new(from_ns: f64, to_ns: f64, columns: u32) -> Result<Self, Error> {
        let (from_ns, to_ns) = times(from_ns, to_ns)?;
        if columns == 0 || columns > MAX_COLUMNS {
            let value = columns.to_string();
            return Err(Error::InvalidArgument {
                key: "columns",
                value,
                allowed: "a number from 1 to 16384",
            });
        }
        Ok(Self { from_ns, to_ns, columns })
    }

    /// Returns the column of a time.
    pub(crate) fn column(&self, time_ns: u64) -> u64 {
        let since = u128::from(time_ns.saturating_sub(self.from_ns));
        (since * u128::from(self.columns) / u128::from(self.span_ns())) as u64
    }

    pub(crate) const fn span_ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }
}

/// Returns both ends of a window, ns.
///
/// # Errors
/// Returns an error if the numbers are no times, or not in order.
pub(crate) fn times(from_ns: f64, to_ns: f64) -> Result<(u64, u64), Error> {
    let latest = LATEST_NS as f64;
    if !(0.0..latest).contains(&from_ns) {
        return Err(Error::InvalidArgument {
            key: "t0_ns",
            value: from_ns.to_string(),
            allowed: "a time from 0",
        });
    }
    let (from, to) = (from_ns.floor() as u64, to_ns.clamp(0.0, latest).ceil() as u64);
    if to_ns.is_nan() || to <= from {
        return Err(Error::InvalidArgument {
            key: "t1_ns",
            value: to_ns.to_string(),
            allowed: "a time after t0_ns",
        });
    }
    Ok((from, to))
}
