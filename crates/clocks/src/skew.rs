//! By how much one clock is faster: candidates, and the one that leaves the floors level.

use crate::SKEW_LIMIT;
use crate::jumps::jumps;
use crate::levels::{BOUNDARY, Level, SUPPORT, Stretch, stretches};
use crate::line::Line;
use crate::quiet::Quiet;
use crate::series::{Dot, SIGN, Series, Windows};

/// Windows at most; the partition takes their square.
const WINDOWS: usize = 192;
/// Packets that a window of the direction with fewer packets should have.
const PER_WINDOW: u64 = 6;
/// A skew that costs no more than this more may be the true one as well.
const RIVALS: f64 = 1.5 * BOUNDARY;
/// Costs differ by this for nothing: one floor for both sides of a step is lower than two.
pub(crate) const SLACK: f64 = BOUNDARY / 2.0;
/// Part of the run after which a floor has to be reached again for its slope to be that of the run.
const REACH: f64 = 0.5;
/// Stretches are compared with one another this often before a skew is judged.
const ROUNDS: usize = 3;
/// Limits of what counts as near a floor, ns.
const CAP_NS: (f64, f64) = (25e3, 300e3);

pub(crate) fn level(series: &Series) -> Level {
    level_within(series, 0.0)
}

/// [`level`] with another idea of what is near a floor, ns; 0 to find one.
pub(crate) fn level_within(series: &Series, cap: f64) -> Level {
    let count = (series.fewest / PER_WINDOW).clamp(4, WINDOWS as u64) as usize;
    let mut candidates = slopes(&series.windows(count, 0.0));
    let rough = candidates.first().copied().unwrap_or(0.0);
    // of a wrong skew more seems to differ
    let differ =
        || candidates.iter().map(|skew| near(&series.windows(count, *skew))).fold(CAP_NS.1, f64::min);
    let cap = if cap > 0.0 { cap } else { differ() };
    let fine = series.fine_count();
    let quiet = Quiet::new(series, rough, cap);
    candidates.extend(quiet.as_ref().map(|quiet| quiet.slope));
    candidates.push(0.0);
    let mut tried: Vec<Level> = Vec::new();
    for candidate in candidates {
        if tried.iter().any(|other| (other.tried - candidate).abs() * series.span < cap / 8.0) {
            continue;
        }
        let mut found = judged(series, count, candidate, cap, quiet.as_ref());
        // clocks differ by some 10 ppm, queues grow at any rate
        found.cost += found.skew.abs() * 1e4;
        if quiet.as_ref().is_some_and(|quiet| !quiet.agrees(found.skew, &jumps(series, &found))) {
            found.cost += 2.0 * count as f64;
        }
        tried.push(found);
    }
    tried.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    let (cost, skew) = (tried[0].cost, tried[0].skew);
    let rivals = tried.iter().filter(|other| other.cost < cost + RIVALS);
    let rival = rivals.map(|other| (other.skew - skew).abs()).fold(0.0, f64::max);
    let mut best = tried.swap_remove(0);
    best.rival = rival;
    best.fine = series.windows(fine, skew);
    best
}

/// The most frequent slopes of either direction, over several distances.
fn slopes(windows: &Windows) -> Vec<f64> {
    let count = windows.count();
    let mut found = Vec::new();
    for part in [3, 8] {
        for (d, sign) in SIGN.iter().enumerate() {
            let lag = (count / part).max(1);
            let pairs = windows.floors[d].iter().zip(&windows.floors[d][lag..]);
            let mut slopes: Vec<f64> = pairs
                .filter_map(|(a, b)| {
                    let (a, b) = ((*a)?, (*b)?);
                    Some(sign * (b.y - a.y) / (b.t - a.t).max(1.0))
                })
                .filter(|slope| slope.abs() <= SKEW_LIMIT)
                .collect();
            slopes.sort_by(f64::total_cmp);
            found.extend(densest(&slopes));
        }
    }
    found
}

/// Middle of the shortest range that holds a fifth of the sorted `values`.
fn densest(values: &[f64]) -> Option<f64> {
    let held = (values.len() / 5).max(2).min(values.len());
    let ranges = values.windows(held.max(1));
    let shortest = ranges.min_by(|a, b| (a[held - 1] - a[0]).total_cmp(&(b[held - 1] - b[0])))?;
    Some(shortest[held / 2])
}

/// How near a floor counts as on it: by what differs from window to window in the calmer direction.
fn near(windows: &Windows) -> f64 {
    let calm = |d: usize| {
        let floors: Vec<f64> = windows.floors[d].iter().flatten().map(|dot| dot.y).collect();
        let mut steps: Vec<f64> = floors.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 3).copied()
    };
    let calmest = [0, 1].into_iter().filter_map(calm).fold(f64::INFINITY, f64::min);
    (6.0 * calmest).clamp(CAP_NS.0, CAP_NS.1)
}

/// The level that is reached from `tried`: stretches by the skew, the skew by what is near the stretches' floors.
fn judged(series: &Series, count: usize, tried: f64, cap: f64, quiet: Option<&Quiet>) -> Level {
    let mut skew = tried;
    let mut round = 0;
    loop {
        let windows = series.windows(count, skew);
        let (stretches, cost) = stretches(&windows, cap);
        let found = common(&windows, &stretches, cap);
        let line = &found.line;
        round += 1;
        let own = line.slope().map_or(skew, |slope| (skew + slope).clamp(-SKEW_LIMIT, SKEW_LIMIT));
        // floors that were reached again only soon after say little about all of the run
        let short = quiet.filter(|_| found.reach < series.span * REACH && round >= ROUNDS);
        let better = short.map_or(own, |quiet| quiet.slope);
        let near = (better - skew).abs() * series.span < cap / 50.0;
        if near || (short.is_none() && round >= ROUNDS) || round > ROUNDS {
            let (scatter, error) = (line.scatter(), short.map_or(line.error(), |quiet| quiet.error));
            let fine = Windows::default();
            let bend = if short.is_some() { 0.0 } else { found.bend() };
            return Level {
                tried,
                skew,
                windows,
                stretches,
                cap,
                scatter,
                error,
                bend,
                rival: 0.0,
                cost,
                fine,
            };
        }
        skew = better;
    }
}

/// What floors say about the skew.
#[derive(Debug, Default)]
struct Common {
    /// One slope for all stretches and both directions, an intercept for each floor; floors that agree are one.
    line: Line,
    /// The same for each half of the run.
    halves: [Line; 2],
    /// The longest time after which a floor was reached again, ns.
    reach: f64,
}

fn common(windows: &Windows, stretches: &[Stretch], cap: f64) -> Common {
    let mut common = Common::default();
    let half = windows.width * windows.count() as f64 / 2.0;
    for (d, sign) in SIGN.iter().enumerate() {
        let mut sorted: Vec<&Stretch> = stretches.iter().filter(|each| each.near[d] >= SUPPORT).collect();
        sorted.sort_by(|a, b| a.floor[d].unwrap_or(0.0).total_cmp(&b.floor[d].unwrap_or(0.0)));
        let same =
            |a: &&Stretch, b: &&Stretch| b.floor[d].unwrap_or(0.0) - a.floor[d].unwrap_or(0.0) < cap / 2.0;
        for group in sorted.chunk_by(same) {
            let mut dots: Vec<Dot> = group
                .iter()
                .flat_map(|each| {
                    let top = each.floor[d].unwrap_or(0.0) + cap;
                    windows.floors[d][each.from..each.until].iter().flatten().filter(move |dot| dot.y <= top)
                })
                .map(|dot| Dot { t: dot.t, y: sign * dot.y })
                .collect();
            dots.sort_by(|a, b| a.t.total_cmp(&b.t));
            if let (true, Some(first), Some(last)) = (dots.len() >= 2 * SUPPORT, dots.first(), dots.last()) {
                common.reach = common.reach.max(last.t - first.t);
            }
            let (first, second) = dots.split_at(dots.partition_point(|dot| dot.t < half));
            common.halves[0].group(first.iter());
            common.halves[1].group(second.iter());
            common.line.group(dots.iter());
        }
    }
    common
}

impl Common {
    /// By how much the rate changed from one half to the other, beyond what errors explain.
    fn bend(&self) -> f64 {
        let [one, other] = &self.halves;
        let (Some(first), Some(second)) = (one.slope(), other.slope()) else { return 0.0 };
        ((first - second).abs() - 3.0 * (one.error() + other.error())).max(0.0)
    }
}
