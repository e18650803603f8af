//! Packets as both ends saw them, and how far apart two clocks are.

use schemars::JsonSchema;
use serde::Serialize;

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
    /// Source of the reference, for reports.
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
    /// Growth of theta at the jump, ns.
    pub by_ns: i64,
    /// Length of the interval that contains the jump, ns.
    pub uncertain_ns: i64,
}

/// A direction's shortest delay changed and stayed so: another route, or a queue that no longer empties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PathChange {
    /// Local clock, ns.
    pub at_ns: i64,
    /// Growth of the forward delay, ns.
    pub forward_by_ns: i64,
    /// Growth of the backward delay, ns.
    pub backward_by_ns: i64,
}

/// A [`Reference`] and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Judged {
    /// Source of the reference.
    pub source: String,
    /// Reason for the refusal; `None` if the reference was used.
    pub refused: Option<String>,
}

/// Offset of two clocks over time.
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
    /// Verdict on each reference, in the order given.
    pub references: Vec<Judged>,
    /// Method of the fit, with sources.
    pub method: String,
}

impl Fit {
    /// theta (remote clock - local clock) at a time of the local clock, ns.
    pub fn theta_ns(&self, local_ns: i64) -> i64 {
        theta(self.piece(local_ns), local_ns)
    }

    /// Returns the delay of a packet that left here at `point.at_ns`, ns. Its apparent delay is longer by theta at the arrival.
    pub fn forward_ns(&self, point: Point) -> i64 {
        self.delay(point, 1)
    }

    /// Returns the delay of a packet that arrived here at `point.at_ns`, ns. Its apparent delay is shorter by theta at the departure.
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
