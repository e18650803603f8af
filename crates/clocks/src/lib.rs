//! Estimation of the clock offset of two machines from the packets between them.
//!
//! The input is packets, the output the clock offset theta(t) = remote clock - local clock, with an interval for its
//! unknown part. The crate is pure arithmetic without clocks, files, sockets and random numbers.
//!
//! [`fit`] takes all packets at once, [`fit_minima`] the minima that [`Minima`] kept. `docs/evidence/clocks.md` describes the
//! accuracy.
//!
//! # Bounds
//!
//! A forward packet's apparent delay is its delay plus theta, a backward packet's its delay minus theta. No delay is
//! negative. Thus theta is below every forward apparent delay and above every negated backward one. [`Fit::low_ns`]
//! and [`Fit::high_ns`] are these bounds; their distance is the shortest round trip.
//!
//! A longer delay in one direction looks like a clock offset. Only a [`Reference`] can separate them.
//!
//! # Method
//!
//! 1. [`Minima`] keeps the smallest apparent delay of at most 16384 stretches of time. Larger delays contain no
//!    information on the clocks.
//! 2. `skew` finds the skew that leaves the minimum delays constant. Moon, Skelly and Towsley (INFOCOM 1999) fit the
//!    nearest line below the delays of one direction. Zhang, Liu and Xia (INFOCOM 2002) use the convex hull, and hulls
//!    between resets. A queue that grows all the time, or a route change, deceives both methods. Here both directions
//!    share one skew, and minima may change at boundaries that have a cost (optimal partitioning, `levels`). The cost of
//!    a delay far above the minimum is limited. The cheapest of several skews is refined by least squares over all
//!    delays near the minima, not over two points of a hull.
//! 3. The minimum round trip does not depend on the clocks. If it is equal at the start and at the end, both
//!    directions were at their minima there. Then theta grew by half the difference of the directions (`quiet`). Skews
//!    that disagree are refused. This needs probes on the idle path before and after the flows.
//! 4. A clock step moves both directions by the same amount with opposite signs and leaves the round trip unchanged;
//!    a path change does not. `sharp` looks for simultaneous jumps of both directions, `jumps` for jumps between
//!    stretches. A step is accepted if the minima without the step are at least as constant and the round trip is equal
//!    on both sides.
//! 5. `bounds` computes the interval from all packets. It allows for errors of the skew, the oscillator and the step
//!    sizes, and narrows the interval by the references that agree.

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
pub use fit::{Fit, PacketDelays, PathChange, Piece, Point, Reference, ReferenceVerdict, SKEW_LIMIT, Step};
pub use minima::Minima;
pub use search::{fit, fit_minima};
