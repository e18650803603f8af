//! Packets as both ends saw them, and the fitted clock offset.

use schemars::JsonSchema;
use serde::Serialize;

/// Maximum difference of clock rates, ns per ns: the kernel slews a clock by at most this rate.
pub const SKEW_LIMIT: f64 = 500e-6;

/// Times of a packet by the clocks of both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Local clock when the packet was at the local end, ns.
    pub at_ns: i64,
    /// Apparent delay: arrival minus departure, each by the clock of its machine, ns.
    pub apparent_ns: i64,
}

/// Packets of both directions, in any order.
#[derive(Clone, Debug, Default)]
pub struct PacketDelays {
    /// Packets from the local to the remote machine. The apparent delay is the delay plus the clock offset.
    pub forward: Vec<Point>,
    /// Packets from the remote to the local machine. The apparent delay is the delay minus the clock offset.
    pub backward: Vec<Point>,
}

/// Clock offset from another source (NTP through both machines, PTP).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Local clock, ns.
    pub at_ns: i64,
    /// Clock offset at that time, ns.
    pub offset_ns: i64,
    /// Maximum error of `offset_ns`, ns.
    pub error_ns: i64,
    /// Source of the reference, for reports.
    pub source: String,
}

/// Clock offset over a time without a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Piece {
    /// Local clock at the start, ns. The first piece also covers all times before.
    pub from_ns: i64,
    /// Local clock at the end, ns, exclusive. The last piece also covers all times after.
    pub until_ns: i64,
    /// Clock offset at `from_ns`, ns.
    pub offset_ns: i64,
    /// Growth of the clock offset, ns per ns of the local clock.
    pub skew: f64,
}

/// Clock step: a clock was set forward or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Local clock in the middle of the interval that contains the step, ns.
    pub at_ns: i64,
    /// Growth of the clock offset at the step, ns.
    pub by_ns: i64,
    /// Length of the interval that contains the step, ns.
    pub uncertain_ns: i64,
}

/// Lasting change of a direction's minimum delay: another route, or a queue that no longer empties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PathChange {
    /// Local clock, ns.
    pub at_ns: i64,
    /// Growth of the forward delay, ns.
    pub forward_by_ns: i64,
    /// Growth of the backward delay, ns.
    pub backward_by_ns: i64,
}

/// Verdict on a [`Reference`].
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[schemars(rename = "Judged")]
pub struct ReferenceVerdict {
    /// Source of the reference.
    pub source: String,
    /// Reason for the refusal; `None` if the reference was used.
    pub refused: Option<String>,
}

/// Offset of two clocks over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// Pieces in order of time, without gaps; at least one.
    pub pieces: Vec<Piece>,
    /// Lower bound of the true minus the fitted clock offset, ns.
    pub low_ns: i64,
    /// Upper bound of the true minus the fitted clock offset, ns.
    pub high_ns: i64,
    /// Maximum error of differences between delays of one direction over time, ns.
    pub residual_ns: i64,
    /// Steps of both clocks.
    pub steps: Vec<Step>,
    /// Changes of the path that are not clock steps.
    pub changes: Vec<PathChange>,
    /// Verdict on each reference, in the order given.
    pub references: Vec<ReferenceVerdict>,
    /// Method of the fit, with sources.
    pub method: String,
}

impl Fit {
    /// Returns the clock offset (remote minus local clock) at a time of the local clock, ns.
    pub fn theta_ns(&self, local_ns: i64) -> i64 {
        theta(self.piece(local_ns), local_ns)
    }

    /// Returns the delay of a packet that left the local end at `point.at_ns`, ns.
    ///
    /// The apparent delay is longer than the delay by the clock offset at the arrival.
    pub fn forward_ns(&self, point: Point) -> i64 {
        self.delay(point, 1)
    }

    /// Returns the delay of a packet that arrived at the local end at `point.at_ns`, ns.
    ///
    /// The apparent delay is shorter than the delay by the clock offset at the departure.
    pub fn backward_ns(&self, point: Point) -> i64 {
        self.delay(point, -1)
    }

    /// Returns the smallest delay, ns, over the pieces in which the packet can have been at the remote end.
    ///
    /// Delays below the minimum that the interval allows are ignored.
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

    /// Returns the local clock, ns, when the remote clock showed `remote_ns`.
    ///
    /// If the remote clock was set back, it showed some times twice: returns the first one. If the remote clock was
    /// set forward, the skipped times map to the step.
    pub fn to_local(&self, remote_ns: i64) -> i64 {
        let last = self.pieces.len() - 1;
        for (index, piece) in self.pieces.iter().enumerate() {
            let gone = remote_ns.saturating_sub(piece.from_ns).saturating_sub(piece.offset_ns);
            // `gone` = local + skew * local. The difference is small, thus nanoseconds survive the division.
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
