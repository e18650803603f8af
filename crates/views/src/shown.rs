//! Series as they are shown: points, steps and bars.

use crate::bins::Bins;
use crate::gather::{Gathered, Task};
use crate::sums::Sums;
use crate::window::Window;
use std::collections::BTreeMap;

/// A series with up to so many samples for each part of the window is shown as it is.
const SAMPLES_PER_COLUMN: usize = 2;

/// The rows of one series in the answer.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) time_ns: Vec<f64>,
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
    /// Whether a row stands for several samples.
    pub(crate) is_thinned: bool,
}

impl Shown {
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

/// The bins of a window, thinned to its parts where they are too many. Values are divided by `per`. With `holds` the value of the
/// window's beginning comes first: `before`, or what the bin before the window ended with.
pub(crate) fn series_of_bins(
    window: &Window,
    bins: &Bins,
    before: Option<f64>,
    holds: bool,
    per: f64,
) -> Shown {
    let mut shown = Shown::default();
    let range = bins.within(window.from_ns, window.to_ns);
    let before = before.or_else(|| Some(bins.list[range.start.checked_sub(1)?].close));
    let inside = &bins.list[range];
    if let Some(value) =
        before.filter(|_| holds && inside.first().is_none_or(|bin| bin.first_ns > window.from_ns))
    {
        shown.push(window.from_ns, value / per, value / per);
    }
    let thins = inside.len() > window.columns as usize * SAMPLES_PER_COLUMN;
    let mut latest = None;
    for bin in inside {
        let (low, high) = (bin.low / per, bin.high / per);
        shown.is_thinned |= bin.count > 1;
        let time_ns = bin.first_ns.max(window.from_ns);
        let column = window.column(time_ns);
        if thins && latest == Some(column) {
            shown.is_thinned = true;
            shown.widen_last(low, high);
        } else {
            shown.push(time_ns, low, high);
        }
        latest = Some(column);
    }
    shown
}

/// A rate as bars, from rows that were read or from what the pyramid has of it.
pub(crate) fn bars(window: &Window, task: &Task<'_>, sums: &Sums, rows: &Gathered) -> Shown {
    let mut shown = Shown::default();
    let (Some(bar_ns), Some(first), Some(last)) = (task.bar_ns, sums.bins.first(), sums.bins.last()) else {
        return shown;
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
    // before the first packet and after the last one there is no rate, not even 0
    let begin = first.0.saturating_mul(sums.width_ns).max(from_ns) / bar_ns;
    let end = (last.0 + 1).saturating_mul(sums.width_ns).min(to_ns).div_ceil(bar_ns);
    for bar in begin..end {
        let bytes = bars.get(&bar).copied().unwrap_or(0);
        let mbps = bytes as f64 * 8.0 * 1e3 / bar_ns as f64;
        shown.push(bar * bar_ns, mbps, mbps);
    }
    shown
}
