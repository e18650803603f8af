//! Packets of both directions as numbers relative to the first packet.

use crate::Error;
use crate::Minima;

/// Maximum windows of [`Series::fine_count`].
const FINE_WINDOWS: u64 = 1024;
/// Packets in such a window, for the direction with fewer packets.
const PER_FINE: u64 = 3;

/// Time and apparent delay of a packet, relative to the first packet, ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    pub(crate) t: f64,
    pub(crate) y: f64,
}

/// Both directions on common axes. Index 0 is forward (`y` contains theta), index 1 backward (`y` contains -theta).
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// Local clock at `Dot::t` = 0, ns.
    pub(crate) origin_ns: i64,
    /// Apparent delay at `Dot::y` = 0, ns, per direction.
    pub(crate) base_ns: [i64; 2],
    pub(crate) dots: [Vec<Dot>; 2],
    /// Time from the first packet to the last, ns; at least 1.
    pub(crate) span: f64,
    /// Number of packets in the direction with fewer packets.
    pub(crate) fewest: u64,
}

/// Sign of the clock offset in a direction's apparent delay.
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

    /// Returns the round trip of two packets with `y` = 0, ns.
    pub(crate) fn trip(&self) -> f64 {
        self.base_ns[0] as f64 + self.base_ns[1] as f64
    }

    /// Returns the number of the shortest windows that the packets allow. They serve to examine round trips and
    /// jumps.
    pub(crate) fn fine_count(&self) -> usize {
        (self.fewest / PER_FINE).clamp(4, FINE_WINDOWS) as usize
    }

    /// Returns the packets of a time interval, ns. Their times keep the origin of the series.
    pub(crate) fn part(&self, from: f64, until: f64) -> Part<'_> {
        let part = [0, 1].map(|d| {
            let dots = &self.dots[d];
            &dots[dots.partition_point(|dot| dot.t < from)..dots.partition_point(|dot| dot.t < until)]
        });
        Part { dots: part, from, width: until - from }
    }

    /// Returns the minimum of each of `count` windows, for both directions, after subtraction of this clock `skew`.
    pub(crate) fn windows(&self, count: usize, skew: f64) -> Windows {
        Part { dots: [&self.dots[0], &self.dots[1]], from: 0.0, width: self.span }.windows(count, skew)
    }
}

/// Packets of a time interval: [`Series::part`].
#[derive(Debug)]
pub(crate) struct Part<'a> {
    dots: [&'a [Dot]; 2],
    from: f64,
    width: f64,
}

impl Part<'_> {
    /// Returns the minimum of each window, like [`Series::windows`].
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

/// Minimum of each window: [`Series::windows`].
#[derive(Debug, Default)]
pub(crate) struct Windows {
    pub(crate) floors: [Vec<Option<Dot>>; 2],
    /// Number of packets in each window.
    pub(crate) packets: [Vec<u32>; 2],
    /// Width of a window, ns.
    pub(crate) width: f64,
    pub(crate) skew: f64,
}

impl Windows {
    pub(crate) fn count(&self) -> usize {
        self.floors[0].len()
    }
}

impl Series {
    /// Returns the series without these steps. Packets during a step are left out, since they may have met either
    /// clock.
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

/// Clock step: the clock offset grew by `by`. Times are local, relative to the series' origin, ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jump {
    /// Interval in which packets at the local end may have met either clock.
    pub(crate) from: f64,
    pub(crate) until: f64,
    /// Earliest and latest time of the step.
    pub(crate) window: (f64, f64),
    pub(crate) by: f64,
    /// Maximum error of `by`.
    pub(crate) error: f64,
    /// Maximum change of the round trip at the step, as known so far.
    pub(crate) trip_error: f64,
    /// True if the step is longer than any delay of the path: only a clock can cause it.
    pub(crate) certain: bool,
}

impl Jump {
    /// Returns a step after `last` and before `first`.
    ///
    /// At `last` a packet was too early for the new clock, at `first` one was too early for the old clock. If theta
    /// fell, the backward packet was too early for the new clock, the forward packet for the old clock. Both packets
    /// then were at the remote end up to a round trip (`trip`) away.
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
