//! Stretches of time in which the floors of both directions stood still.
//!
//! Optimal partitioning: a stretch costs, per window and direction, how far the window's floor is above that of the
//! stretch, in units of `cap` and at most 1 (a queue says nothing, however long it is); a boundary costs [`BOUNDARY`]. At a
//! boundary one window may be left out at [`SKIPPED`]: the one in which the change happened belongs to neither side.

use crate::series::{Dot, Windows};

/// What a boundary between stretches costs, in windows.
pub(crate) const BOUNDARY: f64 = 8.0;
const SKIPPED: f64 = 1.0;
/// Windows near its floor that make a floor believable.
pub(crate) const SUPPORT: usize = 3;

/// A stretch of windows with one floor per direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// First window, and the one after the last.
    pub(crate) from: usize,
    pub(crate) until: usize,
    /// Without the skew, ns, relative to the direction's base. None where no packet came.
    pub(crate) floor: [Option<f64>; 2],
    /// Windows within `cap` of it.
    pub(crate) near: [usize; 2],
}

impl Stretch {
    pub(crate) fn supported(&self) -> bool {
        self.near.iter().all(|near| *near >= SUPPORT)
    }
}

/// The best partition, and what it costs.
pub(crate) fn stretches(windows: &Windows, cap: f64) -> (Vec<Stretch>, f64) {
    let count = windows.count();
    let costs = [0, 1].map(|d| costs(&windows.floors[d], cap));
    // best[j]: the cheapest partition of the windows before j, and the start of its last stretch.
    let mut best = vec![(0.0, 0_usize, 0_usize); count + 1];
    for until in 1..=count {
        let mut found = (f64::INFINITY, 0, 0);
        for from in 0..until {
            let own = costs[0][from * (count + 1) + until] + costs[1][from * (count + 1) + until];
            let plain = best[from].0;
            let skipping = if from > 0 { best[from - 1].0 + SKIPPED } else { f64::INFINITY };
            let (before, end) = if skipping < plain { (skipping, from - 1) } else { (plain, from) };
            let total = before + own + if end > 0 { BOUNDARY } else { 0.0 };
            if total < found.0 {
                found = (total, from, end);
            }
        }
        best[until] = found;
    }
    let mut found = Vec::new();
    let mut until = count;
    while until > 0 {
        let (_, from, end) = best[until];
        found.push(stretch(windows, from, until, cap));
        until = end;
    }
    found.reverse();
    (found, best[count].0)
}

fn stretch(windows: &Windows, from: usize, until: usize, cap: f64) -> Stretch {
    let within = |d: usize| windows.floors[d][from..until].iter().flatten().map(|dot: &Dot| dot.y);
    let floor = [0, 1].map(|d| within(d).min_by(f64::total_cmp));
    let near = [0, 1].map(|d| floor[d].map_or(0, |floor| within(d).filter(|y| *y <= floor + cap).count()));
    Stretch { from, until, floor, near }
}

/// Cost of every stretch of one direction: `[from * (count + 1) + until]`.
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

/// A skew with the stretches that it leaves level.
#[derive(Debug)]
pub(crate) struct Level {
    /// Where the search for it began.
    pub(crate) tried: f64,
    pub(crate) skew: f64,
    pub(crate) windows: Windows,
    pub(crate) stretches: Vec<Stretch>,
    /// How near to a floor a window has to be to count as on it, ns.
    pub(crate) cap: f64,
    /// By how much the floors wander about the line, standard deviation, ns.
    pub(crate) scatter: f64,
    /// Standard error of `skew`.
    pub(crate) error: f64,
    /// By how much the skew is another one in one half of the run than in the other.
    pub(crate) bend: f64,
    /// Differences to skews that explain the packets as well, largest.
    pub(crate) rival: f64,
    pub(crate) cost: f64,
    /// Windows as short as packets allow.
    pub(crate) fine: Windows,
}
