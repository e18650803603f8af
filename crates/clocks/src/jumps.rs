//! Detection of clock steps from lasting changes of the minimum delays.
//!
//! A step moves both directions by the same amount with opposite signs and leaves the minimum round trip unchanged. A
//! route change moves the round trip.

use crate::levels::{Level, SUPPORT, Stretch};
use crate::series::{Dot, Jump, SIGN, Series};
use crate::sharp::plausible;

/// Smallest change of a minimum delay that counts, ns.
pub(crate) const SMALLEST_NS: f64 = 150e3;
/// Maximum stretches between the two sides of a step. A queue may hide the minimum delay there.
const HIDDEN: usize = 3;

/// Returns both lists as one, in order of time. Jumps that are closer than `near` (ns) become one.
pub(crate) fn merge(jumps: &[Jump], more: &[Jump], near: f64) -> Vec<Jump> {
    let mut all = jumps.to_vec();
    for new in more {
        match all.iter_mut().find(|old| new.from < old.until + near && old.from < new.until + near) {
            Some(old) => {
                old.from = old.from.min(new.from);
                old.until = old.until.max(new.until);
                old.window = (old.window.0.min(new.window.0), old.window.1.max(new.window.1));
                old.by += new.by;
                old.error = old.error.max(new.error);
                old.trip_error = old.trip_error.max(new.trip_error);
                old.certain |= new.certain;
            }
            None => all.push(*new),
        }
    }
    all.sort_by(|a, b| a.from.total_cmp(&b.from));
    all
}

/// Lasting change of the minimum delays without a clock step: time and growth, ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shift {
    pub(crate) at: f64,
    pub(crate) by: [f64; 2],
}

/// Neighbouring stretches with one minimum delay in one direction.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: usize,
    until: usize,
    /// Mean delay near the minimum in the direction of the run, ns; then the smallest such mean of the opposite
    /// direction.
    floor: f64,
    other: f64,
}

/// Returns the clock steps in order of time.
pub(crate) fn jumps(series: &Series, level: &Level) -> Vec<Jump> {
    let mut jumps: Vec<Jump> = Vec::new();
    for d in [1, 0] {
        let runs = runs(level, d);
        let mut explained = vec![false; runs.len()];
        for reach in 1..=HIDDEN {
            for left in 0..runs.len().saturating_sub(reach) {
                let right = left + reach;
                if explained[left + 1..=right].contains(&true)
                    || !is_opposite(&runs[left], &runs[right], level.cap)
                {
                    continue;
                }
                for index in left..right {
                    explained[index + 1] = true;
                    let (a, b) = (&runs[index], &runs[index + 1]);
                    let change = b.floor - a.floor;
                    let by = SIGN[d] * if reach == 1 { (change - (b.other - a.other)) / 2.0 } else { change };
                    jumps.push(locate_step(series, level, a, b, by));
                }
            }
        }
    }
    jumps.sort_by(|a, b| a.from.total_cmp(&b.from));
    // Both directions showed the step.
    jumps.dedup_by(|later, earlier| later.from < earlier.until + level.windows.width);
    if !jumps.is_empty() {
        let fine = series.windows(series.fine_count(), level.skew);
        jumps.retain(|jump| plausible(series, &fine, jump));
    }
    jumps
}

fn is_opposite(a: &Run, b: &Run, cap: f64) -> bool {
    let (change, other) = (b.floor - a.floor, b.other - a.other);
    let least = SMALLEST_NS.max(3.0 * cap);
    change.abs() > least && other.abs() > least && (change + other).abs() <= 2.0 * cap
}

fn runs(level: &Level, d: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for stretch in level.stretches.iter().filter(|stretch| stretch.near[d] >= SUPPORT) {
        let (Some(floor), Some(other)) = (middle(level, stretch, d), middle(level, stretch, 1 - d)) else {
            continue;
        };
        match runs.last_mut() {
            Some(run) if (run.floor - floor).abs() <= level.cap => {
                run.until = stretch.until;
                run.other = run.other.min(other);
            }
            _ => runs.push(Run { from: stretch.from, until: stretch.until, floor, other }),
        }
    }
    runs
}

/// Returns the mean of the delays near a stretch's minimum. The mean depends less than the minimum on the number of
/// packets.
fn middle(level: &Level, stretch: &Stretch, d: usize) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for dot in near(level, stretch, d) {
        sum += dot.y;
        count += 1.0;
    }
    (count > 0.0).then(|| sum / count)
}

/// Returns a correction of each jump, ns. `level` was fitted after the jumps were subtracted.
///
/// The corrections are least squares over the delays near the minima: one slope, one intercept per stretch, and the
/// jumps. They use the calmer direction. A jump between two stretches is corrected by the difference of their minimum
/// delays.
///
/// A correction that exceeds the jump's `error` is 0.
pub(crate) fn corrections(level: &Level, jumps: &[Jump]) -> Vec<f64> {
    let calm = |d: usize| level.stretches.iter().map(|stretch| stretch.near[d]).sum::<usize>();
    let d = usize::from(calm(1) >= calm(0));
    let size = jumps.len() + 1;
    let mut squares = vec![vec![0.0; size + 1]; size];
    for stretch in level.stretches.iter().filter(|stretch| stretch.near[d] >= SUPPORT) {
        let rows: Vec<Vec<f64>> = near(level, stretch, d)
            .map(|dot| {
                let after =
                    |jump: &Jump| if dot.t > f64::midpoint(jump.from, jump.until) { 1.0 } else { 0.0 };
                let mut row = vec![dot.t / 1e9];
                row.extend(jumps.iter().map(after));
                row.push(dot.y);
                row
            })
            .collect();
        let mean: Vec<f64> =
            (0..=size).map(|k| rows.iter().map(|row| row[k]).sum::<f64>() / rows.len() as f64).collect();
        for row in &rows {
            for (i, line) in squares.iter_mut().enumerate() {
                for (k, cell) in line.iter_mut().enumerate() {
                    *cell += (row[i] - mean[i]) * (row[k] - mean[k]);
                }
            }
        }
    }
    let within = solve(squares);
    let sized = |(jump, within): (&Jump, &Option<f64>)| {
        let by = SIGN[d] * within.or_else(|| between(level, jump, d)).unwrap_or(0.0);
        if by.abs() <= jump.error { by } else { 0.0 }
    };
    jumps.iter().zip(&within[1..]).map(sized).collect()
}

/// Returns the window minima near a stretch's minimum delay.
fn near<'a>(level: &'a Level, stretch: &Stretch, d: usize) -> impl Iterator<Item = &'a Dot> {
    let top = stretch.floor[d].unwrap_or(f64::NEG_INFINITY) + level.cap;
    level.windows.floors[d][stretch.from..stretch.until].iter().flatten().filter(move |dot| dot.y <= top)
}

/// Solves linear equations by Gaussian elimination. An undetermined variable is `None`.
fn solve(mut lines: Vec<Vec<f64>>) -> Vec<Option<f64>> {
    let size = lines.len();
    let mut leads: Vec<Option<usize>> = vec![None; size];
    let mut used = vec![false; size];
    for column in 0..size {
        let free = (0..size).filter(|line| !used[*line]);
        let Some(best) = free.max_by(|a, b| lines[*a][column].abs().total_cmp(&lines[*b][column].abs()))
        else {
            break;
        };
        // The jump has fewer than two windows on one side.
        if lines[best][column].abs() < 1.0 {
            continue;
        }
        used[best] = true;
        leads[column] = Some(best);
        let lead = lines[best].clone();
        for (index, line) in lines.iter_mut().enumerate() {
            if index != best {
                let factor = line[column] / lead[column];
                line.iter_mut().zip(&lead).for_each(|(cell, lead)| *cell -= factor * lead);
            }
        }
    }
    (0..size).map(|column| leads[column].map(|line| lines[line][size] / lines[line][column])).collect()
}

/// Returns the change of the minimum delay from the stretch before a jump to the stretch after the jump.
fn between(level: &Level, jump: &Jump, d: usize) -> Option<f64> {
    let width = level.windows.width;
    let mut supported = level.stretches.iter().filter(|stretch| stretch.near[d] >= SUPPORT);
    let left = supported.clone().rfind(|stretch| stretch.until as f64 * width <= jump.until + width)?;
    let right = supported.find(|stretch| stretch.from as f64 * width >= jump.from - width)?;
    // A stretch further away tells nothing about this jump.
    let far = |at: f64, edge: usize| (at / width - edge as f64).abs() > SUPPORT as f64;
    if far(jump.from, left.until) || far(jump.until, right.from) {
        return None;
    }
    Some(middle(level, right, d)? - middle(level, left, d)?)
}

/// Returns true if the minimum round trip changed at a subtracted jump, which then was no clock step.
///
/// A change above twice `trip_error` has another cause, since the jump cannot have hidden it.
pub(crate) fn path_changed(level: &Level, jump: &Jump) -> bool {
    if jump.certain {
        return false;
    }
    let width = level.windows.width;
    let (end, start) = ((jump.from / width).floor() as usize, (jump.until / width).ceil() as usize);
    let (Some(left), Some(right)) = (
        level.stretches.iter().rfind(|stretch| stretch.from < end),
        level.stretches.iter().find(|stretch| stretch.until > start),
    ) else {
        return false;
    };
    let sides = [(left.from, left.until.min(end)), (right.from.max(start), right.until)];
    let trip = |(from, until): (usize, usize)| {
        Some(level_of(level, from, until, 0)? + level_of(level, from, until, 1)?)
    };
    let changed = trip(sides[1]).zip(trip(sides[0])).map_or(0.0, |(after, before)| (after - before).abs());
    changed > level.cap && changed <= 2.0 * jump.trip_error
}

/// Returns the mean of the delays near the minimum of a range of windows, or `None` if they are fewer than
/// [`SUPPORT`].
fn level_of(level: &Level, from: usize, until: usize, d: usize) -> Option<f64> {
    let values = || level.windows.floors[d][from..until.max(from)].iter().flatten().map(|dot| dot.y);
    let floor = values().min_by(f64::total_cmp)?;
    let near: Vec<f64> = values().filter(|y| *y <= floor + level.cap).collect();
    (near.len() >= SUPPORT).then(|| near.iter().sum::<f64>() / near.len() as f64)
}

/// Returns the step with its time: after every packet too early for the new clock, before every packet too early for
/// the old clock.
fn locate_step(series: &Series, level: &Level, a: &Run, b: &Run, by: f64) -> Jump {
    let width = level.windows.width;
    let (from, until) = ((a.until as f64 - 1.0) * width, (b.from as f64 + 1.0) * width);
    let slack = (by.abs() / 3.0).min(2.0 * level.cap);
    let (mut last, mut first) = (from, until);
    for d in [0, 1] {
        let rises = SIGN[d] * by > 0.0;
        let of = |stretch: &&Stretch| stretch.floor[d];
        let side = |from: usize, until: usize| {
            let inside =
                level.stretches.iter().filter(|stretch| stretch.from >= from && stretch.until <= until);
            inside.filter_map(|stretch| of(&stretch)).fold(f64::INFINITY, f64::min)
        };
        let limit = if rises { side(b.from, b.until) } else { side(a.from, a.until) } - slack;
        let inside = series.dots[d].iter().filter(|dot| dot.t >= from && dot.t <= until);
        let mut early = inside.filter(|dot| dot.y - SIGN[d] * level.skew * dot.t < limit).map(|dot| dot.t);
        if rises {
            last = early.next_back().unwrap_or(last).max(last);
        } else {
            first = early.next().unwrap_or(first).min(first);
        }
    }
    let trip = series.trip() + a.floor.max(b.floor) + a.other.max(b.other);
    Jump::between(last, first, by, (4.0 * level.cap, 4.0 * level.cap), trip.max(0.0))
}

/// Returns the lasting changes of minimum delays between neighbouring stretches.
pub(crate) fn shifts(level: &Level) -> Vec<Shift> {
    let supported: Vec<&Stretch> = level.stretches.iter().filter(|stretch| stretch.is_supported()).collect();
    let least = SMALLEST_NS.max(3.0 * level.cap);
    let shift = |pair: &[&Stretch]| {
        let by = [0, 1].map(|d| Some(middle(level, pair[1], d)? - middle(level, pair[0], d)?));
        let by = [by[0]?, by[1]?];
        let at = f64::midpoint(pair[0].until as f64, pair[1].from as f64) * level.windows.width;
        (by[0].abs() > least || by[1].abs() > least).then_some(Shift { at, by })
    };
    supported.windows(2).filter_map(shift).collect()
}
