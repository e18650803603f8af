//! Rows of displayed series: points, steps and bars.

use crate::bins::Bins;
use crate::gather::{RowValues, Task};
use crate::sums::Sums;
use crate::window::Window;
use std::collections::BTreeMap;

/// Maximum samples per column of the window that are shown without thinning.
const SAMPLES_PER_COLUMN: usize = 2;

/// Rows of one series in the result.
#[derive(Debug, Default)]
pub(crate) struct SeriesRows {
    pub(crate) time_ns: Vec<f64>,
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
    /// True if a row stands for several samples.
    pub(crate) is_thinned: bool,
}

impl SeriesRows {
    fn push(&mut self, time_ns: u64, low: f64, high: f64) {
        self.time_ns.push(time_ns as f64);
        self.low.push(low);
        self.high.push(high);
    }

    fn widen_last(&mut self, low: f64, high: f64) {
        if let (Some(least), Some(most)) = (self.low.last_mut(), self.high.last_mut()) {
            *least = least.min(low);
            *most = most.max(high);
        }
    }
}

/// Returns the bins of a window, thinned to its columns if there are too many. Values are divided by `per`.
///
/// With `holds`, the value at the window's beginning comes first: `before`, or the last value of the bin before the
/// window.
pub(crate) fn series_of_bins(
    window: &Window,
    bins: &Bins,
    before: Option<f64>,
    holds: bool,
    per: f64,
) -> SeriesRows {
    let mut result = SeriesRows::default();
    let range = bins.within(window.from_ns, window.to_ns);
    let before = before.or_else(|| Some(bins.list[range.start.checked_sub(1)?].close));
    let inside = &bins.list[range];
    if let Some(value) =
        before.filter(|_| holds && inside.first().is_none_or(|bin| bin.first_ns > window.from_ns))
    {
        result.push(window.from_ns, value / per, value / per);
    }
    let thins = inside.len() > window.columns as usize * SAMPLES_PER_COLUMN;
    let mut latest = None;
    for bin in inside {
        let (low, high) = (bin.low / per, bin.high / per);
        result.is_thinned |= bin.count > 1;
        let time_ns = bin.first_ns.max(window.from_ns);
        let column = window.column(time_ns);
        if thins && latest == Some(column) {
            result.is_thinned = true;
            result.widen_last(low, high);
        } else {
            result.push(time_ns, low, high);
        }
        latest = Some(column);
    }
    result
}

/// Returns a rate as bars, from rows or from the pyramid.
pub(crate) fn bars(window: &Window, task: &Task<'_>, sums: &Sums, rows: &RowValues) -> SeriesRows {
    let mut result = SeriesRows::default();
    let (Some(bar_ns), Some(first), Some(last)) = (task.bar_ns, sums.bins.first(), sums.bins.last()) else {
        return result;
    };
    let mut bars: BTreeMap<u64, u64> = BTreeMap::new();
    let from_ns = window.from_ns / bar_ns * bar_ns;
    let to_ns = window.to_ns.next_multiple_of(bar_ns);
    if task.from_rows {
        bars.extend(&rows.bars);
    } else {
        for &(bin, sum) in sums.within(from_ns, to_ns) {
            *bars.entry(bin.saturating_mul(sums.width_ns) / bar_ns).or_default() += sum;
        }
    }
    // There is no rate, not even 0, before the first packet and after the last.
    let begin = first.0.saturating_mul(sums.width_ns).max(from_ns) / bar_ns;
    let end = (last.0 + 1).saturating_mul(sums.width_ns).min(to_ns).div_ceil(bar_ns);
    for bar in begin..end {
        let bytes = bars.get(&bar).copied().unwrap_or(0);
        let mbps = bytes as f64 * 8.0 * 1e3 / bar_ns as f64;
        result.push(bar * bar_ns, mbps, mbps);
    }
    result
}
