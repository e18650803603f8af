//! When both directions were at their floors: (forward - backward) / 2 is theta but for a constant then.
//!
//! The round trip says when, and has nothing of either clock in it. Whatever queues did meanwhile, a run whose round trip was
//! as short in the end as in the beginning is known in both places.

use crate::SKEW_LIMIT;
use crate::levels::SUPPORT;
use crate::line::Line;
use crate::series::{Dot, Jump, Series, Windows};

/// The first and the last so many ns are taken as quiet in themselves: probes run before the flows and after them.
const IDLE_NS: f64 = 0.95e9;
/// Windows in that time.
const IDLE_WINDOWS: usize = 15;
/// Windows of the whole run are at most this many and, since the floor of many packets is lower than that of few, so long
/// and of so many packets that the idle times have some as well.
const WINDOWS: u64 = 1024;
const PACKETS: u64 = 6;
const SHORTEST_NS: f64 = 0.25e9;
/// A round trip that is longer by more than this is never quiet, ns.
const LOOSEST_NS: f64 = 3e6;
/// By how much an oscillator's rate may have changed within a run, besides what errors explain.
const WANDER: f64 = 0.5e-6;
/// Standard errors within which a skew agrees.
const ERRORS: f64 = 4.0;

/// theta but for a constant for each group.
#[derive(Debug)]
pub(crate) struct Quiet {
    groups: Vec<Vec<Dot>>,
    pub(crate) slope: f64,
    /// Standard error of the slope.
    pub(crate) error: f64,
}

impl Quiet {
    /// What is near the shortest round trip of all (within `cap`, ns, if that is enough), and near the shortest of the idle
    /// times at the ends if the path was another one there.
    pub(crate) fn new(series: &Series, rough: f64, cap: f64) -> Option<Self> {
        let count = (series.fewest / PACKETS).min((series.span / SHORTEST_NS) as u64).clamp(4, WINDOWS);
        let all = trips(&series.windows(count as usize, rough));
        let floor = shortest(&all);
        let ends = [(0.0, IDLE_NS), (series.span - IDLE_NS, series.span + 1.0)];
        let idle = ends.map(|(from, until)| trips(&series.part(from, until).windows(IDLE_WINDOWS, rough)));
        // few packets are further from the floor than those of a flow: by what they differ among themselves when idle
        let calm = idle.iter().map(|each| usual(each) - shortest(each)).fold(LOOSEST_NS, f64::min);
        let strict = near(&all, cap);
        let far = |group: &[Dot]| group.len() >= 2 * SUPPORT && reach(group) > series.span / 2.0;
        let mut groups = vec![if far(&strict) { strict } else { near(&all, cap.max(calm)) }];
        groups.extend(idle.iter().filter(|each| shortest(each) > floor + cap).map(|each| near(each, cap)));
        groups.retain(|group| group.len() >= 2 * SUPPORT);
        let line = line(&groups, |_| 0.0);
        let slope = line.slope()?.clamp(-SKEW_LIMIT, SKEW_LIMIT);
        Some(Self { groups, slope, error: line.error() })
    }

    /// Whether theta, as it shows here, grows by this skew and these steps.
    pub(crate) fn agrees(&self, skew: f64, jumps: &[Jump]) -> bool {
        let still = |dot: &&Dot| !jumps.iter().any(|jump| jump.from < dot.t && dot.t < jump.until);
        let groups: Vec<Vec<Dot>> =
            self.groups.iter().map(|group| group.iter().filter(still).copied().collect()).collect();
        let stepped = |t: f64| jumps.iter().filter(|jump| jump.until <= t).map(|jump| jump.by).sum::<f64>();
        let line = line(&groups, |t| stepped(t) + skew * t);
        line.slope().is_none_or(|slope| slope.abs() <= ERRORS * line.error() + WANDER)
    }
}

fn line(groups: &[Vec<Dot>], without: impl Fn(f64) -> f64) -> Line {
    let mut line = Line::default();
    for group in groups {
        let rest: Vec<Dot> = group.iter().map(|dot| Dot { t: dot.t, y: dot.y - without(dot.t) }).collect();
        line.group(rest.iter());
    }
    line
}

/// When, the round trip, and theta as it would be on a symmetric path.
fn trips(windows: &Windows) -> Vec<(f64, f64, f64)> {
    let both = windows.floors[0].iter().zip(&windows.floors[1]);
    both.filter_map(|(forward, backward)| {
        let (forward, backward) = ((*forward)?, (*backward)?);
        let t = f64::midpoint(forward.t, backward.t);
        Some((t, forward.y + backward.y, f64::midpoint(forward.y, -backward.y) + windows.skew * t))
    })
    .collect()
}

fn shortest(trips: &[(f64, f64, f64)]) -> f64 {
    trips.iter().map(|trip| trip.1).fold(f64::INFINITY, f64::min)
}

/// The median round trip.
fn usual(trips: &[(f64, f64, f64)]) -> f64 {
    let mut sorted: Vec<f64> = trips.iter().map(|trip| trip.1).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// From the first to the last, ns.
fn reach(dots: &[Dot]) -> f64 {
    dots.first().zip(dots.last()).map_or(0.0, |(first, last)| last.t - first.t)
}

fn near(trips: &[(f64, f64, f64)], cap: f64) -> Vec<Dot> {
    let floor = shortest(trips);
    trips.iter().filter(|trip| trip.1 <= floor + cap).map(|trip| Dot { t: trip.0, y: trip.2 }).collect()
}
