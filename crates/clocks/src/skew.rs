//! Clock skew: candidates, and the one that leaves the minimum delays constant.

use crate::SKEW_LIMIT;
use crate::jumps::jumps;
use crate::levels::{BOUNDARY, Level, SUPPORT, Stretch, stretches};
use crate::line::Line;
use crate::quiet::Quiet;
use crate::series::{Dot, SIGN, Series, Windows};

/// Maximum windows. The partition takes time proportional to their square.
const WINDOWS: usize = 192;
/// Packets in a window, for the direction with fewer packets.
const PER_WINDOW: u64 = 6;
/// Maximum extra cost of a skew that may also be the true skew.
const RIVALS: f64 = 1.5 * BOUNDARY;
/// Cost difference without meaning: one minimum for both sides of a step is cheaper than two.
pub(crate) const SLACK: f64 = BOUNDARY / 2.0;
/// Minimum time between two packets at one minimum delay, as a fraction of the run. A shorter time does not determine
/// the skew of the run.
const REACH: f64 = 0.5;
/// Rounds of comparing stretches before the cost of a skew counts.
const ROUNDS: usize = 3;
/// Limits of the distance that counts as near a minimum delay, ns.
const CAP_NS: (f64, f64) = (25e3, 300e3);

pub(crate) fn level(series: &Series) -> Level {
    level_within(series, 0.0)
}

/// Returns the level like [`level`], with `cap` as the distance that counts as near a minimum delay, ns; 0: estimate
/// it.
pub(crate) fn level_within(series: &Series, cap: f64) -> Level {
    let count = (series.fewest / PER_WINDOW).clamp(4, WINDOWS as u64) as usize;
    let mut candidates = slopes(&series.windows(count, 0.0));
    let rough = candidates.first().copied().unwrap_or(0.0);
    // Under a wrong skew the windows seem to differ more.
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
        let mut level = refine_level(series, count, candidate, cap, quiet.as_ref());
        // Clocks differ by some 10 ppm, queues grow at any rate.
        level.cost += level.skew.abs() * 1e4;
        if quiet.as_ref().is_some_and(|quiet| !quiet.agrees(level.skew, &jumps(series, &level))) {
            level.cost += 2.0 * count as f64;
        }
        tried.push(level);
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

/// Returns the most frequent slopes of either direction, over several distances.
fn slopes(windows: &Windows) -> Vec<f64> {
    let count = windows.count();
    let mut modes = Vec::new();
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
            modes.extend(densest(&slopes));
        }
    }
    modes
}

/// Returns the middle of the shortest range that contains a fifth of the sorted `values`.
fn densest(values: &[f64]) -> Option<f64> {
    let size = (values.len() / 5).max(2).min(values.len());
    let ranges = values.windows(size.max(1));
    let shortest = ranges.min_by(|a, b| (a[size - 1] - a[0]).total_cmp(&(b[size - 1] - b[0])))?;
    Some(shortest[size / 2])
}

/// Returns the distance that counts as near a minimum delay, ns, from the differences between windows in the calmer
/// direction.
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

/// Returns the level reached from the skew `tried`.
///
/// In turn, the skew determines the stretches, and the delays near the minima of the stretches refine the skew.
fn refine_level(series: &Series, count: usize, tried: f64, cap: f64, quiet: Option<&Quiet>) -> Level {
    let mut skew = tried;
    let mut round = 0;
    loop {
        let windows = series.windows(count, skew);
        let (stretches, cost) = stretches(&windows, cap);
        let fit = common(&windows, &stretches, cap);
        let line = &fit.line;
        round += 1;
        let line_skew = line.slope().map_or(skew, |slope| (skew + slope).clamp(-SKEW_LIMIT, SKEW_LIMIT));
        // Minima that were reached again only soon after say little about the whole run.
        let short = quiet.filter(|_| fit.reach < series.span * REACH && round >= ROUNDS);
        let better = short.map_or(line_skew, |quiet| quiet.slope);
        let near = (better - skew).abs() * series.span < cap / 50.0;
        if near || (short.is_none() && round >= ROUNDS) || round > ROUNDS {
            let (scatter, error) = (line.scatter(), short.map_or(line.error(), |quiet| quiet.error));
            let fine = Windows::default();
            let bend = if short.is_some() { 0.0 } else { fit.bend() };
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

/// Estimates of the skew from the minimum delays.
#[derive(Debug, Default)]
struct Common {
    /// Line with one slope for all stretches of both directions and one intercept per minimum. Equal minima share an
    /// intercept.
    line: Line,
    /// Lines of the two halves of the run.
    halves: [Line; 2],
    /// Longest time between two windows at one minimum, ns.
    reach: f64,
}

fn common(windows: &Windows, stretches: &[Stretch], cap: f64) -> Common {
    let mut common = Common::default();
    let half = windows.width * windows.count() as f64 / 2.0;
    for (d, sign) in SIGN.iter().enumerate() {
        let mut sorted: Vec<&Stretch> =
            stretches.iter().filter(|stretch| stretch.near[d] >= SUPPORT).collect();
        sorted.sort_by(|a, b| a.floor[d].unwrap_or(0.0).total_cmp(&b.floor[d].unwrap_or(0.0)));
        let same =
            |a: &&Stretch, b: &&Stretch| b.floor[d].unwrap_or(0.0) - a.floor[d].unwrap_or(0.0) < cap / 2.0;
        for group in sorted.chunk_by(same) {
            let mut dots: Vec<Dot> = group
                .iter()
                .flat_map(|stretch| {
                    let top = stretch.floor[d].unwrap_or(0.0) + cap;
                    windows.floors[d][stretch.from..stretch.until]
                        .iter()
                        .flatten()
                        .filter(move |dot| dot.y <= top)
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
    /// Returns the difference between the skews of the two halves, beyond their errors.
    fn bend(&self) -> f64 {
        let [one, other] = &self.halves;
        let (Some(first), Some(second)) = (one.slope(), other.slope()) else { return 0.0 };
        ((first - second).abs() - 3.0 * (one.error() + other.error())).max(0.0)
    }
}
