//! Detection of clock steps from simultaneous changes of the minimum delay in both directions.
//!
//! A remote clock step of `s` changes the forward minimum by `+s`, the backward minimum by `-s`. The detector
//! compares the minima before and after each window:
//!
//! - `(forward - backward) / 2` estimates the step.
//! - `(forward + backward) / 2` cannot come from a clock. Its spread is the noise of the run, since queues and hosts
//!   disturb both values alike.

use crate::series::{Dot, Jump, SIGN, Series, Windows};

/// Minimum windows compared on either side. The windows in the gap between the sides belong to neither.
const SIDE: usize = 2;
/// Minimum packets on either side, and maximum non-empty windows of a side.
const PACKETS: u32 = 5;
const WIDEST: usize = 12;
/// Smallest step, ns.
const SMALLEST_NS: f64 = 300e3;
/// Minimum step, as a multiple of the 80th percentile of the calmer direction's jumps.
const REMARKABLE: f64 = 4.0;
/// Maximum non-clock component, as a multiple of the 75th percentile of all non-clock components.
const ORDINARY: f64 = 3.0;
/// Maximum non-clock component, as a fraction of the step.
const PART: f64 = 0.25;
/// A direction without a queue usually jumps by less than this, ns.
const CALM_NS: f64 = 100e3;
/// Minimum step if both directions have queues, as a multiple of the 98th percentile of the non-clock components.
const RARE: f64 = 1.5;
/// A jump of more than this many 95th-percentile round trips is a clock step, not a queue or a path change.
const LONGEST: f64 = 1.5;
/// Maximum rate of jumps of the step's size elsewhere in the noisier direction, relative to the windows without a
/// jump.
const OFTEN: f64 = 0.03;
/// Minimum jump of a direction that dates the step, as a fraction of the step.
const SEEN: f64 = 0.75;
/// Minimum percentile, ns: the effect of host jitter alone.
const LEAST_NS: f64 = 10e3;

/// Returns the candidates for steps, largest first.
pub(crate) fn candidates(series: &Series, windows: &Windows) -> Vec<Jump> {
    let gap = gap(series, windows);
    let longest = LONGEST * trip(series, windows, 95) + SMALLEST_NS;
    let (forward, lengths) = window_jumps(windows, 0, gap);
    let (backward, others) = window_jumps(windows, 1, gap);
    let both = |sign: f64| -> Vec<Option<f64>> {
        forward.iter().zip(&backward).map(|(a, b)| Some(f64::midpoint((*a)?, sign * (*b)?))).collect()
    };
    let (steps, sums) = (both(-1.0), both(1.0));
    let noise = [percentile(&forward, 80), percentile(&backward, 80)];
    let calm = noise[0].min(noise[1]);
    // If both directions have queues, these jump together now and then.
    let together = if calm > CALM_NS { RARE * percentile(&sums, 98) } else { 0.0 };
    let least = SMALLEST_NS.max(REMARKABLE * calm).max(together);
    let ordinary = ORDINARY * percentile(&sums, 75);
    let reach = 2 * SIDE + gap;
    let mut candidates: Vec<(usize, f64)> = Vec::new();
    for (index, pair) in steps.iter().zip(&sums).enumerate() {
        let (&Some(by), &Some(sum)) = pair else { continue };
        let noisier = if noise[0] < noise[1] { (&*backward, -by) } else { (&*forward, by) };
        let remarkable = by.abs() > least && sum.abs() <= ordinary && !often(noisier, index, reach, ordinary);
        if (remarkable || by.abs() > longest) && sum.abs() <= PART * by.abs() {
            candidates.push((index + SIDE, by));
        }
    }
    candidates.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    // Two jumps that the same packets show are one step.
    let length = |(left, _): &(usize, f64)| lengths[left - SIDE].max(others[left - SIDE]) + gap;
    let mut separate: Vec<(usize, f64)> = Vec::new();
    for candidate in candidates {
        if separate.iter().all(|other| other.0.abs_diff(candidate.0) > length(other).max(length(&candidate)))
        {
            separate.push(candidate);
        }
    }
    let sized = |(left, by): &(usize, f64)| {
        let index = left - SIDE;
        // The direction without a queue gives the size of the step.
        let by = match (calm <= CALM_NS, noise[0] < noise[1]) {
            (true, true) => forward[index].unwrap_or(*by),
            (true, false) => -backward[index].unwrap_or(-*by),
            (false, _) => *by,
        };
        let jump = locate_step(series, windows, *left, gap, (by, REMARKABLE * calm, 2.0 * ordinary));
        Jump { certain: by.abs() > longest, ..jump }
    };
    separate.iter().map(sized).collect()
}

/// Returns true if both directions jumped like `jump` at one moment of its time. A difference of minima alone may
/// have other causes.
pub(crate) fn plausible(series: &Series, windows: &Windows, jump: &Jump) -> bool {
    let gap = gap(series, windows);
    let jumps = [0, 1].map(|d| window_jumps(windows, d, gap).0);
    let first = ((jump.from / windows.width) as usize).saturating_sub(2 * SIDE + gap);
    let last = (jump.until / windows.width) as usize + 1;
    let slack = jumps.each_ref().map(|jumps| {
        let usual = 2.0 * percentile(jumps, 90);
        usual.max(PART * jump.by.abs())
    });
    (first..last.min(jumps[0].len())).any(|index| {
        (0..2).all(|d| jumps[d][index].is_some_and(|by| (by - SIGN[d] * jump.by).abs() <= slack[d]))
    })
}

fn percentile(values: &[Option<f64>], q: usize) -> f64 {
    let mut sizes: Vec<f64> = values.iter().flatten().map(|value| value.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len() * q / 100).copied().unwrap_or(0.0).max(LEAST_NS)
}

/// Returns true if the noisier direction often jumps by this size elsewhere. Its jump here then proves nothing.
fn often((jumps, by): (&[Option<f64>], f64), index: usize, reach: usize, ordinary: f64) -> bool {
    let slack = 2.0 * ordinary.min(PART * by.abs());
    let elsewhere = jumps.iter().enumerate().filter(|(other, _)| other.abs_diff(index) > reach);
    let near = |value: f64| {
        elsewhere.clone().filter(|(_, jump)| jump.is_some_and(|jump| (jump - value).abs() <= slack)).count()
    };
    near(by) as f64 > OFTEN * near(0.0) as f64
}

/// Returns the jump of a direction's minimum across every window, and the total number of windows on both sides.
///
/// The usual jump around the window is subtracted, since queues grow all the time.
fn window_jumps(windows: &Windows, d: usize, gap: usize) -> (Vec<Option<f64>>, Vec<usize>) {
    let lefts = SIDE..(windows.count() + 1).saturating_sub(gap + SIDE);
    let (jumps, lengths): (Vec<Option<f64>>, Vec<usize>) = lefts
        .map(|left| match sides(windows, d, left, gap) {
            Some(([before, after], length)) => (Some(after - before), length),
            None => (None, 2 * SIDE),
        })
        .unzip();
    let usual = |index: usize| {
        let reach = 3 * (lengths[index] + gap);
        let around = &jumps[index.saturating_sub(reach)..(index + reach + 1).min(jumps.len())];
        let mut around: Vec<f64> = around.iter().flatten().copied().collect();
        around.sort_by(f64::total_cmp);
        around.get(around.len() / 2).copied()
    };
    let beyond = (0..jumps.len()).map(|index| Some(jumps[index]? - usual(index)?)).collect();
    (beyond, lengths)
}

fn minimum(floors: &[Option<Dot>]) -> Option<f64> {
    floors.iter().flatten().map(|dot| dot.y).min_by(f64::total_cmp)
}

/// Returns the minima of the windows before window `left` and of the windows from `left + gap`, and the total number
/// of windows.
///
/// A side has at least [`SIDE`] windows and [`PACKETS`] packets, since a busy machine disturbs the minimum of a few
/// packets. Empty windows do not count towards [`WIDEST`]: if an end's clock was set back, that end records no times
/// until the clock has caught up.
fn sides(windows: &Windows, d: usize, left: usize, gap: usize) -> Option<([f64; 2], usize)> {
    let packets = &windows.packets[d];
    let enough = |window: &mut dyn Iterator<Item = usize>| {
        let (mut seen, mut count) = (0, 0);
        for (length, index) in (1..).zip(window) {
            (seen, count) = (seen + usize::from(packets[index] > 0), count + packets[index]);
            if length >= SIDE && count >= PACKETS {
                return Some(length);
            }
            if seen == WIDEST {
                break;
            }
        }
        None
    };
    let (end, start) = (left, left + gap);
    let before = enough(&mut (0..end).rev())?;
    let after = enough(&mut (start..packets.len()))?;
    let floors = &windows.floors[d];
    let both = [minimum(&floors[end - before..end])?, minimum(&floors[start..start + after])?];
    Some((both, before + after))
}

/// Returns the number of windows in which a step can show. Forward packets in flight show it earlier, backward
/// packets later.
fn gap(series: &Series, windows: &Windows) -> usize {
    ((trip(series, windows, 75) / windows.width).ceil() as usize + 1).min(windows.count())
}

/// Returns a percentile of the round trips, ns.
fn trip(series: &Series, windows: &Windows, q: usize) -> f64 {
    let both = windows.floors[0].iter().zip(&windows.floors[1]);
    let mut trips: Vec<f64> = both.filter_map(|(a, b)| Some(series.trip() + (*a)?.y + (*b)?.y)).collect();
    trips.sort_by(f64::total_cmp);
    trips.get(trips.len() * q / 100).copied().unwrap_or(0.0).max(0.0)
}

/// Returns the step with its time: after the last packet too early for the new clock, before the first packet too
/// early for the old clock.
///
/// If the remote clock was set back, the packets in flight overlap.
fn locate_step(
    series: &Series,
    windows: &Windows,
    left: usize,
    gap: usize,
    (by, error, trip_error): (f64, f64, f64),
) -> Jump {
    let edge = |index: usize| index as f64 * windows.width;
    let (start, end) = (edge(left - SIDE), edge(left + gap + SIDE));
    let (mut from, mut until, mut trip) = (start, end, series.trip());
    for (d, sign) in SIGN.iter().enumerate() {
        let Some(([before, after], _)) = sides(windows, d, left, gap) else { continue };
        trip += before.max(after);
        // A queue may hide the step in this direction.
        if (after - before) * sign * by < SEEN * by * by {
            continue;
        }
        let limit = f64::midpoint(before, after);
        let inside = series.dots[d].iter().filter(|dot| dot.t >= start && dot.t <= end);
        let mut low = inside.filter(|dot| dot.y - sign * windows.skew * dot.t < limit).map(|dot| dot.t);
        if sign * by > 0.0 {
            from = low.next_back().unwrap_or(from).max(from);
        } else {
            until = low.next().unwrap_or(until).min(until);
        }
    }
    // One of the two sides of either direction contains |by|.
    Jump::between(from, until, by, (error, trip_error), (trip - by.abs()).max(0.0))
}
