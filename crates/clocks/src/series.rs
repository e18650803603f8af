//! What was kept of both directions, as numbers relative to the first packet.

use crate::Error;
use crate::Minima;

/// See [`Series::fine_count`].
const FINE_WINDOWS: u64 = 1024;
/// Packets that such a window of the direction with fewer packets should have.
const PER_FINE: u64 = 3;

/// A packet: when, and its apparent delay, both relative to the first one of its direction, ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    pub(crate) t: f64,
    pub(crate) y: f64,
}

/// Both directions on common axes. Index 0 is forward (`y` contains theta), 1 backward (`y` contains -theta).
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// Local time that is 0 in `Dot::t`.
    pub(crate) origin_ns: i64,
    /// Apparent delay that is 0 in `Dot::y`, per direction.
    pub(crate) base_ns: [i64; 2],
    pub(crate) dots: [Vec<Dot>; 2],
    /// From the first packet to the last, ns; at least 1.
    pub(crate) span: f64,
    /// Packets of the direction that has fewer.
    pub(crate) fewest: u64,
}

/// By how much theta is counted in a direction's apparent delay.
pub(crate) const SIGN: [f64; 2] = [1.0, -1.0];

impl Series {
    pub(crate) fn new(minima: [&Minima; 2]) -> Result<Self, Error> {
        for (name, each) in ["forward", "backward"].iter().zip(minima) {
            if each.beyond() {
                return Err(Error::Far(name));
            }
            if each.packets() == 0 {
                return Err(Error::Unseen(name));
            }
        }
        let first = |minima: &Minima| minima.points().next().unwrap_or_default();
        let base_ns = minima.map(|each| first(each).apparent_ns);
        let origin_ns = first(minima[0]).at_ns.min(first(minima[1]).at_ns);
        let dots = [0, 1].map(|d| {
            let relative = |point: crate::Point| Dot {
                t: (point.at_ns - origin_ns) as f64,
                y: (point.apparent_ns - base_ns[d]) as f64,
            };
            minima[d].points().map(relative).collect::<Vec<_>>()
        });
        let last = dots.iter().filter_map(|each| each.last()).map(|dot| dot.t).fold(1.0, f64::max);
        let fewest = minima[0].packets().min(minima[1].packets());
        Ok(Self { origin_ns, base_ns, dots, span: last, fewest })
    }

    /// Round trip of two packets whose `y` is 0, ns.
    pub(crate) fn trip(&self) -> f64 {
        self.base_ns[0] as f64 + self.base_ns[1] as f64
    }

    /// Windows as short as packets allow, to look at round trips and jumps.
    pub(crate) fn fine_count(&self) -> usize {
        (self.fewest / PER_FINE).clamp(4, FINE_WINDOWS) as usize
    }

    /// Packets of a part of the time, which is then cut into windows; times stay those of the whole.
    pub(crate) fn part(&self, from: f64, until: f64) -> Part<'_> {
        let part = [0, 1].map(|d| {
            let dots = &self.dots[d];
            &dots[dots.partition_point(|dot| dot.t < from)..dots.partition_point(|dot| dot.t < until)]
        });
        Part { dots: part, from, width: until - from }
    }

    /// The floor of each of `count` windows of both directions once a clock of this `skew` is taken out.
    pub(crate) fn windows(&self, count: usize, skew: f64) -> Windows {
        Part { dots: [&self.dots[0], &self.dots[1]], from: 0.0, width: self.span }.windows(count, skew)
    }
}

/// See [`Series::part`].
#[derive(Debug)]
pub(crate) struct Part<'a> {
    dots: [&'a [Dot]; 2],
    from: f64,
    width: f64,
}

impl Part<'_> {
    /// See [`Series::windows`].
    pub(crate) fn windows(&self, count: usize, skew: f64) -> Windows {
        let width = self.width / count as f64;
        let mut packets = [vec![0; count], vec![0; count]];
        let floors = [0, 1].map(|d| {
            let mut floors: Vec<Option<Dot>> = vec![None; count];
            for dot in self.dots[d] {
                let y = dot.y - SIGN[d] * skew * dot.t;
                let index = (((dot.t - self.from) / width) as usize).min(count - 1);
                packets[d][index] += 1;
                let slot = &mut floors[index];
                if slot.is_none_or(|kept| y < kept.y) {
                    *slot = Some(Dot { t: dot.t, y });
                }
            }
            floors
        });
        Windows { floors, packets, width, skew }
    }
}

/// See [`Series::windows`].
#[derive(Debug, Default)]
pub(crate) struct Windows {
    pub(crate) floors: [Vec<Option<Dot>>; 2],
    /// How many packets a floor is of.
    pub(crate) packets: [Vec<u32>; 2],
    /// ns.
    pub(crate) width: f64,
    pub(crate) skew: f64,
}

impl Windows {
    pub(crate) fn count(&self) -> usize {
        self.floors[0].len()
    }
}

impl Series {
    /// The same without these steps; what came while one happened may be on either side.
    pub(crate) fn without(&self, jumps: &[Jump]) -> Self {
        let mut rest = self.clone();
        for (d, dots) in rest.dots.iter_mut().enumerate() {
            dots.retain(|dot| !jumps.iter().any(|jump| jump.from < dot.t && dot.t < jump.until));
            for dot in dots {
                let before = jumps.iter().filter(|jump| jump.until <= dot.t);
                dot.y -= SIGN[d] * before.map(|jump| jump.by).sum::<f64>();
            }
        }
        rest
    }
}

/// theta grew by `by`. Times are of the local clock after the series' origin, ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jump {
    /// Packets that were at the local end between these may have met either clock.
    pub(crate) from: f64,
    pub(crate) until: f64,
    /// When it happened at the earliest and at the latest.
    pub(crate) window: (f64, f64),
    pub(crate) by: f64,
    /// `by` may be off by this.
    pub(crate) error: f64,
    /// The round trip may have changed by this, as far as was seen so far.
    pub(crate) trip_error: f64,
    /// Longer than any delay of the path: nothing but a clock can have done it.
    pub(crate) certain: bool,
}

impl Jump {
    /// After `last`, when a packet was too early for the new clock, and before `first`, when one was too early for the old
    /// one. Where theta fell it is the backward packet that was too early for the new clock and the forward one for the
    /// old: both were at the remote end up to a round trip (`trip`) away.
    pub(crate) fn between(
        last: f64,
        first: f64,
        by: f64,
        (error, trip_error): (f64, f64),
        trip: f64,
    ) -> Self {
        let window = if by > 0.0 { (last, first) } else { (last - trip, first + trip) };
        let window = (window.0.min(window.1), window.0.max(window.1));
        if last < first {
            Self { from: last, until: first, window, by, error, trip_error, certain: false }
        } else {
            Self { from: first - 1.0, until: last + 1.0, window, by, error, trip_error, certain: false }
        }
    }
}
