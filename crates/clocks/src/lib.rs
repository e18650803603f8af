//! How far apart the clocks of two machines are, found from what both saw of the packets between them.
//!
//! Packets in, theta(t) = remote clock - local clock out, with an interval for what cannot be known: pure arithmetic
//! without a clock, a file, a socket or a random number. [`fit`] takes all packets at once, [`fit_minima`] what
//! [`Minima`] kept of them as they passed. `docs/clocks.md` has what it reaches.
//!
//! # What is known
//!
//! A forward packet's apparent delay is its delay plus theta, a backward one's its delay less theta, and no delay is negative.
//! So theta is below every forward apparent delay and above every backward one with its sign turned: [`Fit::low_ns`] and
//! [`Fit::high_ns`] are that far apart, which is the shortest round trip. A longer part of it in one direction cannot be
//! told from a clock that is off by that; only a [`Reference`] can.
//!
//! # How
//!
//! 1. [`Minima`]: the smallest apparent delay of each of at most 16384 stretches of time. What is above says nothing.
//! 2. The skew is that which leaves floors level (`skew`). Moon, Skelly and Towsley (INFOCOM 1999) take the line below one
//!    direction's delays that is nearest to them; Zhang, Liu and Xia (INFOCOM 2002) the convex hull, and hulls between
//!    resets. A queue that grows all the time deceives either, and so does a route that changes. Here both directions have
//!    one skew, floors may change at boundaries that cost something (optimal partitioning, `levels`), and what is far above
//!    a floor counts the same however far it is. Several skews are tried, the one that costs least is taken, and refined by
//!    least squares over what is near floors: all of that is used, not two points of a hull.
//! 3. The floor of the round trip has nothing of either clock in it. Where it is as short in the end as in the beginning,
//!    both directions were at their floors in both places, and theta grew by half the difference (`quiet`). Skews that
//!    disagree with that are refused. It needs probes on the idle path before the flows and after them.
//! 4. A step of a clock moves both directions by the same amount with opposite signs and leaves the round trip; a change of
//!    the path does not. Steps are looked for where both directions jump at once (`sharp`) and between stretches (`jumps`),
//!    taken out, and kept out if floors are as level without them and the round trip is the same on both sides.
//! 5. The interval from all packets, allowing for what the skew, the oscillator and the sizes of steps may be off by, narrowed
//!    by references that agree with it (`bounds`).

#![forbid(unsafe_code)]

mod bounds;
mod error;
mod jumps;
mod levels;
mod line;
mod minima;
mod quiet;
mod series;
mod sharp;
mod skew;

use schemars::JsonSchema;
use serde::Serialize;

use levels::Level;
use series::{Jump, Series};

pub use error::Error;
pub use minima::Minima;

/// Clocks differ in rate by at most this (ns per ns): what the kernel lets a clock be slewed by.
pub const SKEW_LIMIT: f64 = 500e-6;

/// A packet as both ends saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Local clock, when it was at the local end, ns.
    pub at_ns: i64,
    /// Arrival less departure, each by the clock of the machine where it was, ns.
    pub apparent_ns: i64,
}

/// Packets of both directions, in any order.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Local to remote: the apparent delay is the delay plus theta.
    pub forward: Vec<Point>,
    /// Remote to local: the apparent delay is the delay less theta.
    pub backward: Vec<Point>,
}

/// theta as known from elsewhere (NTP through both machines, PTP).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Local clock, ns.
    pub at_ns: i64,
    /// theta at that time, ns.
    pub offset_ns: i64,
    /// It is off by at most this, ns.
    pub error_ns: i64,
    /// Where it is from, for reports.
    pub source: String,
}

/// theta over a time without a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Piece {
    /// Local clock, ns. The first piece also holds before it.
    pub from_ns: i64,
    /// Local clock, ns; not in the piece. The last piece also holds after it.
    pub until_ns: i64,
    /// theta at `from_ns`, ns.
    pub offset_ns: i64,
    /// Growth of theta, ns per ns of the local clock.
    pub skew: f64,
}

/// A clock was set, forward or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Local clock, ns: middle of the time in which it happened.
    pub at_ns: i64,
    /// By how much theta grew, ns.
    pub by_ns: i64,
    /// How long the time is in which it happened, ns.
    pub uncertain_ns: i64,
}

/// A direction's shortest delay changed and stayed so: another route, or a queue that no longer empties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PathChange {
    /// Local clock, ns.
    pub at_ns: i64,
    /// By how much forward delay grew, ns.
    pub forward_by_ns: i64,
    /// By how much backward delay grew, ns.
    pub backward_by_ns: i64,
}

/// A [`Reference`] and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Judged {
    /// Where it is from.
    pub source: String,
    /// Why it was refused; none where it was used.
    pub refused: Option<String>,
}

/// How far apart two clocks are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// In order of time, without gaps; at least one.
    pub pieces: Vec<Piece>,
    /// True theta less fitted theta is at least this, ns.
    pub low_ns: i64,
    /// True theta less fitted theta is at most this, ns.
    pub high_ns: i64,
    /// Differences of delays of one direction over time are exact to this, ns.
    pub residual_ns: i64,
    /// Steps of either clock.
    pub steps: Vec<Step>,
    /// Changes of the path, which are no steps.
    pub changes: Vec<PathChange>,
    /// What became of each reference, in the order given.
    pub references: Vec<Judged>,
    /// How this was found, with sources.
    pub method: String,
}

impl Fit {
    /// theta (remote clock - local clock) at a time of the local clock, ns.
    pub fn theta_ns(&self, local_ns: i64) -> i64 {
        theta(self.piece(local_ns), local_ns)
    }

    /// How long a packet took that left here at `point.at_ns`, ns; its apparent delay is longer by theta when it arrived there.
    pub fn forward_ns(&self, point: Point) -> i64 {
        self.delay(point, 1)
    }

    /// How long a packet took that came here at `point.at_ns`, ns; its apparent delay is shorter by theta when it left there.
    pub fn backward_ns(&self, point: Point) -> i64 {
        self.delay(point, -1)
    }

    /// Of the pieces that the packet can have been at the remote end in, the one with the smallest delay that is not shorter
    /// than what the interval allows.
    fn delay(&self, Point { at_ns, apparent_ns }: Point, sign: i64) -> i64 {
        let by = |piece: &Piece| {
            let scaled = apparent_ns.saturating_sub(sign.saturating_mul(theta(piece, at_ns)));
            scaled.saturating_sub((piece.skew / (1.0 + piece.skew) * scaled as f64).round() as i64)
        };
        let last = self.pieces.len() - 1;
        let shortest = if sign > 0 { self.low_ns } else { self.high_ns.saturating_neg() };
        let fits = |(index, piece): (usize, &Piece)| {
            let delay = by(piece);
            let there = at_ns.saturating_add(sign.saturating_mul(delay));
            let inside = (index == 0 || there >= piece.from_ns) && (index == last || there < piece.until_ns);
            (inside && delay >= shortest).then_some(delay)
        };
        let fitting = self.pieces.iter().enumerate().filter_map(fits).min();
        fitting.unwrap_or_else(|| by(self.piece(at_ns)))
    }

    fn piece(&self, local_ns: i64) -> &Piece {
        let after = self.pieces.partition_point(|piece| piece.from_ns <= local_ns);
        &self.pieces[after.max(1) - 1]
    }

    /// The local clock's time when the remote clock showed `remote_ns`. Where the remote clock was set back it showed a
    /// time twice: the first is meant; what it skipped when it was set forward is the time of the step.
    pub fn to_local(&self, remote_ns: i64) -> i64 {
        let last = self.pieces.len() - 1;
        for (index, piece) in self.pieces.iter().enumerate() {
            let gone = remote_ns.saturating_sub(piece.from_ns).saturating_sub(piece.offset_ns);
            // gone = local + skew * local: the difference is small, so that nanoseconds survive the division
            let late = piece.skew / (1.0 + piece.skew) * gone as f64;
            let local = piece.from_ns.saturating_add(gone).saturating_sub(late.round() as i64);
            if index == last || local < piece.until_ns {
                return if index == 0 { local } else { local.max(piece.from_ns) };
            }
        }
        unreachable!("a fit has at least one piece")
    }
}

fn theta(piece: &Piece, local_ns: i64) -> i64 {
    let gone = local_ns.saturating_sub(piece.from_ns) as f64;
    piece.offset_ns.saturating_add((piece.skew * gone).round() as i64)
}

/// Fits theta to all packets of both directions.
///
/// # Errors
///
/// One line where a direction has no packet, or a time is further than 36 years from zero.
pub fn fit(observed: &Observed, references: &[Reference]) -> Result<Fit, Error> {
    let [mut forward, mut backward] = [Minima::default(), Minima::default()];
    forward.extend(observed.forward.iter().copied());
    backward.extend(observed.backward.iter().copied());
    fit_minima(&forward, &backward, references)
}

/// [`fit`] for packets that were not kept.
///
/// # Errors
///
/// Those of [`fit`].
pub fn fit_minima(forward: &Minima, backward: &Minima, references: &[Reference]) -> Result<Fit, Error> {
    let original = Series::new([forward, backward])?;
    let level = skew::level(&original);
    let mut now = State { series: original.clone(), level, jumps: Vec::new() };
    for _ in 0..ROUNDS {
        let before = now.jumps.len();
        for jump in sharp::candidates(&now.series, &now.level.fine).into_iter().take(CANDIDATES) {
            now.try_out(&original, &[jump]);
        }
        let slow = jumps::jumps(&now.series, &now.level);
        if !slow.is_empty() {
            now.try_out(&original, &slow);
        }
        if now.jumps.len() == before {
            break;
        }
    }
    Ok(bounds::fit(&now.series, &now.level, &now.jumps, references))
}

/// What is known so far: steps, packets without them, and a skew for those.
struct State {
    series: Series,
    level: Level,
    jumps: Vec<Jump>,
}

impl State {
    /// Takes more steps out for good if what remains is no less simple and the round trip stayed.
    fn try_out(&mut self, original: &Series, more: &[Jump]) {
        let mut jumps = jumps::merged(&self.jumps, more, 2.0 * self.level.fine.width);
        let mut series = original.without(&jumps);
        let mut level = skew::level(&series);
        for _ in 0..POLISHED {
            let mut sized = jumps.clone();
            let corrections = jumps::corrections(&level, &jumps);
            sized.iter_mut().zip(&corrections).for_each(|(jump, by)| jump.by += by);
            let rest = original.without(&sized);
            let simpler = skew::level_within(&rest, level.cap);
            if simpler.cost >= level.cost {
                break;
            }
            (jumps, series, level) = (sized, rest, simpler);
        }
        let tiny = |jump: &Jump| jump.by.abs() < jumps::SMALLEST_NS;
        if jumps.iter().any(tiny) {
            return;
        }
        let within = |cap: f64| skew::level_within(&self.series, cap).cost;
        let before = if self.level.cap == level.cap { self.level.cost } else { within(level.cap) };
        let certain = more.iter().all(|jump| jump.certain);
        let simpler = level.cost < before + skew::SLACK || certain;
        if simpler && !jumps.iter().any(|jump| jumps::path_changed(&level, jump)) {
            *self = Self { series, level, jumps };
        }
    }
}

/// Sizes of steps are corrected this often at most.
const POLISHED: usize = 3;
/// Steps tried in a round.
const CANDIDATES: usize = 4;
/// Steps are looked for this often, each time with those found before taken out.
const ROUNDS: usize = 3;
