//! How far apart the clocks of two machines are, found from what both saw of the packets between them.
//!
//! Packets in, theta(t) = remote clock - local clock out, with an interval for what cannot be known: pure arithmetic
//! without a clock, a file, a socket or a random number. [`fit`] takes all packets at once, [`fit_minima`] what
//! [`Minima`] kept of them as they passed. `docs/evidence/clocks.md` has what it reaches.
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
mod fit;
mod jumps;
mod levels;
mod line;
mod minima;
mod quiet;
mod search;
mod series;
mod sharp;
mod skew;

pub use error::Error;
pub use fit::{Fit, Judged, Observed, PathChange, Piece, Point, Reference, SKEW_LIMIT, Step};
pub use minima::Minima;
pub use search::{fit, fit_minima};
