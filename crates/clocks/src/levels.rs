//! Stretches of time in which the minimum delays of both directions stayed constant.
//!
//! Optimal partitioning: each window of each direction costs its height above the stretch's minimum, in units of
//! `cap`, at most 1. The limit is needed because a long queue tells no more than a short queue.
//!
//! A boundary costs [`BOUNDARY`]. At a boundary one window may be left out for [`SKIPPED`], since the change may
//! happen within this window.

use crate::series::{Dot, Windows};

/// Cost of a boundary between stretches, in windows.
pub(crate) const BOUNDARY: f64 = 8.0;
const SKIPPED: f64 = 1.0;
/// Windows near a minimum delay that make this minimum credible.
pub(crate) const SUPPORT: usize = 3;

/// Stretch of windows with one minimum delay per direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// First window, and the end (exclusive).
    pub(crate) from: usize,
    pub(crate) until: usize,
    /// Minimum delay without the skew, ns, relative to the direction's base; `None` if no packet arrived.
    pub(crate) floor: [Option<f64>; 2],
    /// Windows within `cap` above `floor`, per direction.
    pub(crate) near: [usize; 2],
}

impl Stretch {
    pub(crate) fn is_supported(&self) -> bool {
        self.near.iter().all(|near| *near >= SUPPORT)
    }
}

/// Returns the cheapest partition and its cost.
pub(crate) fn stretches(windows: &Windows, cap: f64) -> (Vec<Stretch>, f64) {
    let count = windows.count();
    let costs = [0, 1].map(|d| costs(&windows.floors[d], cap));
    // best[j]: cheapest partition of the windows before j, the start of its last stretch, and the end of the stretch
    // before.
    let mut best = vec![(0.0, 0_usize, 0_usize); count + 1];
    for until in 1..=count {
        let mut cheapest = (f64::INFINITY, 0, 0);
        for from in 0..until {
            let window_cost = costs[0][from * (count + 1) + until] + costs[1][from * (count + 1) + until];
            let plain = best[from].0;
            let skipping = if from > 0 { best[from - 1].0 + SKIPPED } else { f64::INFINITY };
            let (before, end) = if skipping < plain { (skipping, from - 1) } else { (plain, from) };
            let total = before + window_cost + if end > 0 { BOUNDARY } else { 0.0 };
            if total < cheapest.0 {
                cheapest = (total, from, end);
            }
        }
        best[until] = cheapest;
    }
    let mut stretches = Vec::new();
    let mut until = count;
    while until > 0 {
        let (_, from, end) = best[until];
        stretches.push(stretch(windows, from, until, cap));
        until = end;
    }
    stretches.reverse();
    (stretches, best[count].0)
}

fn stretch(windows: &Windows, from: usize, until: usize, cap: f64) -> Stretch {
    let within = |d: usize| windows.floors[d][from..until].iter().flatten().map(|dot: &Dot| dot.y);
    let floor = [0, 1].map(|d| within(d).min_by(f64::total_cmp));
    let near = [0, 1].map(|d| floor[d].map_or(0, |floor| within(d).filter(|y| *y <= floor + cap).count()));
    Stretch { from, until, floor, near }
}

/// Returns the cost of every stretch of one direction, at index `from * (count + 1) + until`.
fn costs(floors: &[Option<Dot>], cap: f64) -> Vec<f64> {
    let count = floors.len();
    let mut costs = vec![0.0; (count + 1) * (count + 1)];
    for from in 0..count {
        let (mut floor, mut cost) = (f64::INFINITY, 0.0);
        for until in from + 1..=count {
            if let Some(dot) = floors[until - 1] {
                if dot.y < floor {
                    floor = dot.y;
                    let above = |dot: &Dot| ((dot.y - floor) / cap).min(1.0);
                    cost = floors[from..until].iter().flatten().map(above).sum();
                } else {
                    cost += ((dot.y - floor) / cap).min(1.0);
                }
            }
            costs[from * (count + 1) + until] = cost;
        }
    }
    costs
}

/// Clock skew with the stretches in which it leaves the minimum delays constant.
#[derive(Debug)]
pub(crate) struct Level {
    /// Skew at which the search began.
    pub(crate) tried: f64,
    pub(crate) skew: f64,
    pub(crate) windows: Windows,
    pub(crate) stretches: Vec<Stretch>,
    /// Maximum distance of a window from the minimum delay to count as near, ns.
    pub(crate) cap: f64,
    /// Standard deviation of the minimum delays about the fitted line, ns.
    pub(crate) scatter: f64,
    /// Standard error of `skew`.
    pub(crate) error: f64,
    /// Difference between the skews of the two halves of the run, beyond their errors.
    pub(crate) bend: f64,
    /// Largest difference to a skew that explains the packets equally well.
    pub(crate) rival: f64,
    pub(crate) cost: f64,
    /// The shortest windows that the number of packets allows.
    pub(crate) fine: Windows,
}
