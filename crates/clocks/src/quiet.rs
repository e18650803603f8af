//! Times at which both directions had their minimum delays. Then (forward - backward) / 2 is the clock offset plus a
//! constant.
//!
//! The round trip identifies these times, since it does not depend on the clocks. If the round trip was equally short
//! at the start and at the end, the offset is known at both, whatever queues did in between.

use crate::SKEW_LIMIT;
use crate::levels::SUPPORT;
use crate::line::Line;
use crate::series::{Dot, Jump, Series, Windows};

/// Duration at the start and at the end that counts as idle, ns: probes run before and after the flows.
const IDLE_NS: f64 = 0.95e9;
/// Windows in an idle time.
const IDLE_WINDOWS: usize = 15;
/// Maximum windows of the run.
///
/// The minimum of many packets is lower than the minimum of few. Thus windows also have a minimum of packets and of
/// length, such that the idle times contain some windows.
const WINDOWS: u64 = 1024;
const PACKETS: u64 = 6;
const SHORTEST_NS: f64 = 0.25e9;
/// Maximum excess of a quiet round trip over the minimum, ns.
const LOOSEST_NS: f64 = 3e6;
/// Change of an oscillator's rate within a run that is allowed besides standard errors.
const WANDER: f64 = 0.5e-6;
/// Standard errors within which a skew agrees.
const ERRORS: f64 = 4.0;

/// Clock offset plus a constant per group, at quiet times.
#[derive(Debug)]
pub(crate) struct Quiet {
    groups: Vec<Vec<Dot>>,
    pub(crate) slope: f64,
    /// Standard error of the slope.
    pub(crate) error: f64,
}

impl Quiet {
    /// Returns the quiet times, or `None` without a slope.
    ///
    /// The first group is near the minimum round trip of the run: within `cap`, ns, or within a wider limit if `cap`
    /// leaves too few windows. An idle time at an end with a longer round trip had another path and is a group of its
    /// own.
    pub(crate) fn new(series: &Series, rough: f64, cap: f64) -> Option<Self> {
        let count = (series.fewest / PACKETS).min((series.span / SHORTEST_NS) as u64).clamp(4, WINDOWS);
        let all = trips(&series.windows(count as usize, rough));
        let floor = shortest(&all);
        let ends = [(0.0, IDLE_NS), (series.span - IDLE_NS, series.span + 1.0)];
        let idle = ends.map(|(from, until)| trips(&series.part(from, until).windows(IDLE_WINDOWS, rough)));
        // Probes are few, thus their round trips are further above the minimum than those of a flow. The limit is
        // their spread in the idle times.
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

    /// Returns true if the quiet times agree with this skew and these steps.
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

/// Returns for each window: the time, the round trip, and the clock offset if the path were symmetric.
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

/// Returns the median round trip.
fn usual(trips: &[(f64, f64, f64)]) -> f64 {
    let mut sorted: Vec<f64> = trips.iter().map(|trip| trip.1).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// Returns the time from the first to the last dot, ns.
fn reach(dots: &[Dot]) -> f64 {
    dots.first().zip(dots.last()).map_or(0.0, |(first, last)| last.t - first.t)
}

fn near(trips: &[(f64, f64, f64)], cap: f64) -> Vec<Dot> {
    let floor = shortest(trips);
    trips.iter().filter(|trip| trip.1 <= floor + cap).map(|trip| Dot { t: trip.0, y: trip.2 }).collect()
}
