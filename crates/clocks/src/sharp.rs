//! Steps seen where they happen: both directions jump at the same moment by the same amount with opposite signs.
//!
//! Across every moment, forward and backward floors of a few packets on either side are compared. Half the difference of
//! the two jumps is what a step would be, half their sum is what no step can make. Both have the same noise, be it from
//! queues or from hosts, so the sums say how large a difference is remarkable in this run.

use crate::series::{Dot, Jump, SIGN, Series, Windows};

/// Windows compared on either side; the one in the middle is in neither.
const SIDE: usize = 2;
/// Packets on either side, at least; and windows with packets that they are looked for in.
const PACKETS: u32 = 5;
const WIDEST: usize = 12;
/// Smallest step looked for, ns.
const SMALLEST_NS: f64 = 300e3;
/// And it is more than so many of the 80th percentiles of the calmer direction's jumps.
const REMARKABLE: f64 = 4.0;
/// The sum at a step is ordinary up to so many of the sums' 75th percentiles.
const ORDINARY: f64 = 3.0;
/// And no more than this part of the step.
const PART: f64 = 0.25;
/// A direction without a queue jumps by less than this mostly, ns.
const CALM_NS: f64 = 100e3;
/// If neither is, a step is larger than so many of the sums' 98th percentiles.
const RARE: f64 = 1.5;
/// No queue or path does what is longer than so many of the 95th percentiles of the round trip.
const LONGEST: f64 = 1.5;
/// The other direction may jump like a step without one this often, per time that it does not jump.
const OFTEN: f64 = 0.03;
/// A direction says when if its floor jumped by at least this part of the step.
const SEEN: f64 = 0.75;
/// What host jitter alone makes of a percentile, ns.
const LEAST_NS: f64 = 10e3;

/// Candidates, largest first.
pub(crate) fn candidates(series: &Series, windows: &Windows) -> Vec<Jump> {
    let gap = gap(series, windows);
    let longest = LONGEST * trip(series, windows, 95) + SMALLEST_NS;
    let (forward, lengths) = across(windows, 0, gap);
    let (backward, others) = across(windows, 1, gap);
    let both = |sign: f64| -> Vec<Option<f64>> {
        forward.iter().zip(&backward).map(|(a, b)| Some(f64::midpoint((*a)?, sign * (*b)?))).collect()
    };
    let (steps, sums) = (both(-1.0), both(1.0));
    let noise = [percentile(&forward, 80), percentile(&backward, 80)];
    let calm = noise[0].min(noise[1]);
    // where both directions have queues these jump together now and then
    let together = if calm > CALM_NS { RARE * percentile(&sums, 98) } else { 0.0 };
    let least = SMALLEST_NS.max(REMARKABLE * calm).max(together);
    let ordinary = ORDINARY * percentile(&sums, 75);
    let reach = 2 * SIDE + gap;
    let mut found: Vec<(usize, f64)> = Vec::new();
    for (index, pair) in steps.iter().zip(&sums).enumerate() {
        let (&Some(by), &Some(sum)) = pair else { continue };
        let noisier = if noise[0] < noise[1] { (&*backward, -by) } else { (&*forward, by) };
        let seen = by.abs() > least && sum.abs() <= ordinary && !often(noisier, index, reach, ordinary);
        if (seen || by.abs() > longest) && sum.abs() <= PART * by.abs() {
            found.push((index + SIDE, by));
        }
    }
    found.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    // two that were seen by the same packets are one
    let length = |(left, _): &(usize, f64)| lengths[left - SIDE].max(others[left - SIDE]) + gap;
    let mut kept: Vec<(usize, f64)> = Vec::new();
    for each in found {
        if kept.iter().all(|other| other.0.abs_diff(each.0) > length(other).max(length(&each))) {
            kept.push(each);
        }
    }
    let sized = |(left, by): &(usize, f64)| {
        let index = left - SIDE;
        // the direction without a queue says how large it was
        let by = match (calm <= CALM_NS, noise[0] < noise[1]) {
            (true, true) => forward[index].unwrap_or(*by),
            (true, false) => -backward[index].unwrap_or(-*by),
            (false, _) => *by,
        };
        let jump = placed(series, windows, *left, gap, (by, REMARKABLE * calm, 2.0 * ordinary));
        Jump { certain: by.abs() > longest, ..jump }
    };
    kept.iter().map(sized).collect()
}

/// Whether both directions jumped about so anywhere in the jump's time: what floors differ by may have other reasons.
pub(crate) fn plausible(series: &Series, windows: &Windows, jump: &Jump) -> bool {
    let gap = gap(series, windows);
    let jumps = [0, 1].map(|d| across(windows, d, gap).0);
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

/// Whether the direction with more noise often jumps by so much on its own: then it proves nothing that it did here.
fn often((jumps, by): (&[Option<f64>], f64), index: usize, reach: usize, ordinary: f64) -> bool {
    let slack = 2.0 * ordinary.min(PART * by.abs());
    let elsewhere = jumps.iter().enumerate().filter(|(other, _)| other.abs_diff(index) > reach);
    let near = |value: f64| {
        elsewhere.clone().filter(|(_, jump)| jump.is_some_and(|jump| (jump - value).abs() <= slack)).count()
    };
    near(by) as f64 > OFTEN * near(0.0) as f64
}

/// By how much a direction's floor jumps across every window, beyond what is usual around it: queues grow all the time. And
/// how many windows both sides are.
fn across(windows: &Windows, d: usize, gap: usize) -> (Vec<Option<f64>>, Vec<usize>) {
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

fn least(floors: &[Option<Dot>]) -> Option<f64> {
    floors.iter().flatten().map(|dot| dot.y).min_by(f64::total_cmp)
}

/// Floors of the windows before window `left`, and of those from `gap` after it on: at least [`SIDE`] of them, and enough for
/// [`PACKETS`], since the floor of a few packets is what a busy machine makes of it. Windows without any do not count: an end
/// whose clock was set back has no times of its own until that has caught up. Beside them, how many windows both sides are.
fn sides(windows: &Windows, d: usize, left: usize, gap: usize) -> Option<([f64; 2], usize)> {
    let packets = &windows.packets[d];
    let enough = |window: &mut dyn Iterator<Item = usize>| {
        let (mut seen, mut found) = (0, 0);
        for (length, index) in (1..).zip(window) {
            (seen, found) = (seen + usize::from(packets[index] > 0), found + packets[index]);
            if length >= SIDE && found >= PACKETS {
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
    let both = [least(&floors[end - before..end])?, least(&floors[start..start + after])?];
    Some((both, before + after))
}

/// Windows in which a step can show: forward packets that were under way have it earlier, backward ones later.
fn gap(series: &Series, windows: &Windows) -> usize {
    ((trip(series, windows, 75) / windows.width).ceil() as usize + 1).min(windows.count())
}

/// A percentile of the round trips, ns.
fn trip(series: &Series, windows: &Windows, q: usize) -> f64 {
    let both = windows.floors[0].iter().zip(&windows.floors[1]);
    let mut trips: Vec<f64> = both.filter_map(|(a, b)| Some(series.trip() + (*a)?.y + (*b)?.y)).collect();
    trips.sort_by(f64::total_cmp);
    trips.get(trips.len() * q / 100).copied().unwrap_or(0.0).max(0.0)
}

/// After the last packet that is too early for the new clock, before the first one that is too early for the old one; when
/// the remote clock was set back those that were under way overlap.
fn placed(
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
        // a queue may hide it in this direction
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
    // |by| is in one of the two sides of either direction
    Jump::between(from, until, by, (error, trip_error), (trip - by.abs()).max(0.0))
}
