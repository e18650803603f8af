//! Simulation of two machines, a path between them, and the packets that both record.

use clocks::{Fit, PacketDelays, Point, SKEW_LIMIT};
use units::Rng;

const SECOND: f64 = 1e9;
/// Interval between two draws of an oscillator's rate, s.
const WANDER_STEP: f64 = 0.05;

/// Queue of a direction while flows run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Queue {
    None,
    /// A queue that fills and empties: peak (ns), period (s).
    Sawtooth(f64, f64),
    /// A queue that never empties: minimum and maximum (ns), period (s).
    Standing(f64, f64, f64),
    /// A queue that grows from the first packet to the last: final delay (ns).
    Growing(f64),
}

/// One direction of the path.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) base: f64,
    /// Changes of the delay: time (s), growth (ns).
    pub(crate) changes: Vec<(f64, f64)>,
    pub(crate) queue: Queue,
    /// Packets of flows per second, without probes.
    pub(crate) packets: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) seconds: f64,
    pub(crate) offset: f64,
    pub(crate) skew: f64,
    /// Random walk of the rate, per square root of a second.
    pub(crate) wander: f64,
    /// Steps: time (s), growth of theta (ns).
    ///
    /// If a clock is set back, flows have no times of this clock until it has caught up. Probes neither, if the clock
    /// is the local one.
    pub(crate) steps: Vec<(f64, f64)>,
    /// True if the steps are of the local clock, false if of the remote clock.
    pub(crate) of_local: bool,
    pub(crate) ways: [Way; 2],
    /// Mean delay that hosts add, ns.
    pub(crate) jitter: f64,
    /// Share of packets that a loaded machine delays by up to 5 ms.
    pub(crate) spikes: f64,
    pub(crate) loss: f64,
}

/// Packets of a simulated run with their true delays.
pub(crate) struct SimulatedPackets {
    pub(crate) observed: PacketDelays,
    /// Local clock at the first probe, ns.
    pub(crate) start_ns: i64,
    /// True delay of each packet, and theta when the packet was at the local end, ns, per direction.
    pub(crate) truth: [Vec<(f64, f64)>; 2],
}

impl Queue {
    /// Returns the delay at a time (s) of a run that began 1 s after the first probe and lasts `seconds`.
    fn at(self, t: f64, seconds: f64) -> f64 {
        let inside = |t: f64| match self {
            Self::None => 0.0,
            Self::Sawtooth(peak, period) => {
                let phase = (t / period).fract();
                peak * (1.2 * phase - 0.2).max(0.0)
            }
            Self::Standing(least, most, period) => {
                let full = least + (most - least) * (t / period).fract();
                full.min(t * 0.3 * SECOND)
            }
            Self::Growing(most) => most * t / seconds,
        };
        let t = t - 1.0;
        if t <= 0.0 {
            0.0
        } else if t <= seconds {
            inside(t)
        } else {
            (inside(seconds) - (t - seconds) * SECOND).max(0.0)
        }
    }
}

impl World {
    pub(crate) fn simulate(&self, rng: &mut Rng) -> SimulatedPackets {
        let total = self.seconds + 2.0;
        let clock = Clock::new(self, rng);
        let start = (rng.uniform() * 1e15) as i64;
        let mut packets = SimulatedPackets {
            observed: PacketDelays::default(),
            start_ns: start,
            truth: [Vec::new(), Vec::new()],
        };
        for (d, way) in self.ways.iter().enumerate() {
            let mut t = 0.0;
            let mut flow = 1.0;
            let mut probe = 0.0;
            while t < total {
                let busy = probe >= 1.0 && probe < self.seconds + 1.0;
                let of_flow = flow <= probe && way.packets > 0.0 && flow < self.seconds + 1.0;
                if of_flow {
                    t = flow;
                    flow += rng.exponential(1.0 / way.packets);
                } else {
                    t = probe;
                    probe += if busy { 0.05 } else { 0.02 };
                }
                if rng.uniform() < self.loss {
                    continue;
                }
                let changed: f64 = way.changes.iter().filter(|each| t >= each.0).map(|each| each.1).sum();
                let spike = if rng.uniform() < self.spikes { rng.uniform() * 5e6 } else { 0.0 };
                let host = rng.exponential(self.jitter) + spike;
                let delay = way.base + changed + way.queue.at(t, self.seconds) + host;
                // Forward packets are at the local end at their departure, backward packets at their arrival.
                let (local, remote) = if d == 0 { (t, t + delay / SECOND) } else { (t + delay / SECOND, t) };
                let at_set = if self.of_local { local } else { remote };
                if (of_flow || self.of_local) && self.stands(at_set) {
                    continue;
                }
                let sign = if d == 0 { 1.0 } else { -1.0 };
                let apart = clock.drifted(remote) + self.stepped(at_set);
                let apparent = (delay + sign * apart).round() as i64;
                let set = if self.of_local { self.stepped(local) } else { 0.0 };
                let at_ns = start + (local * SECOND - set).round() as i64;
                let point = Point { at_ns, apparent_ns: apparent };
                let points =
                    if d == 0 { &mut packets.observed.forward } else { &mut packets.observed.backward };
                points.push(point);
                packets.truth[d].push((delay, clock.drifted(local) + self.stepped(local)));
            }
        }
        packets
    }

    fn stepped(&self, t: f64) -> f64 {
        self.steps.iter().filter(|each| t >= each.0).map(|each| each.1).sum()
    }

    /// Returns true if the stepped clock repeats times that it has shown before.
    fn stands(&self, t: f64) -> bool {
        let sign = if self.of_local { 1.0 } else { -1.0 };
        self.steps.iter().any(|(at, by)| (*at..at + sign * by / SECOND).contains(&t))
    }
}

struct Clock<'a> {
    world: &'a World,
    wandered: Vec<f64>,
}

impl<'a> Clock<'a> {
    fn new(world: &'a World, rng: &mut Rng) -> Self {
        let (mut rate, mut phase) = (0.0, 0.0);
        let mut wandered = Vec::new();
        for _ in 0..((world.seconds + 20.0) / WANDER_STEP) as usize {
            wandered.push(phase);
            let normal = rng.normal(0.0, 1.0);
            rate += normal * world.wander * WANDER_STEP.sqrt();
            phase += rate * WANDER_STEP * SECOND;
        }
        Self { world, wandered }
    }

    /// Returns theta without the steps, ns.
    fn drifted(&self, t: f64) -> f64 {
        assert!(self.world.skew.abs() < SKEW_LIMIT);
        let index = (t / WANDER_STEP) as usize;
        let part = t / WANDER_STEP - index as f64;
        let wander = self.wandered[index] * (1.0 - part) + self.wandered[index + 1] * part;
        self.world.offset + self.world.skew * t * SECOND + wander
    }
}

/// Errors of a fit.
pub(crate) struct Verdict {
    /// Errors of the queueing delay, ns, sorted.
    pub(crate) errors: Vec<f64>,
    /// Packets with a true one-way delay outside the interval.
    pub(crate) outside: usize,
    /// Largest distance from the interval, ns.
    pub(crate) by: f64,
}

impl Verdict {
    pub(crate) fn of(packets: &SimulatedPackets, fit: &Fit) -> Self {
        let mut verdict = Self { errors: Vec::new(), outside: 0, by: 0.0 };
        for (d, points) in [&packets.observed.forward, &packets.observed.backward].into_iter().enumerate() {
            let mut errors: Vec<f64> = Vec::new();
            let (mut least_true, mut least_fitted) = (f64::INFINITY, f64::INFINITY);
            for (point, truth) in points.iter().zip(&packets.truth[d]) {
                let near = |step: &clocks::Step| {
                    (point.at_ns - step.at_ns).abs() <= step.uncertain_ns / 2 + 1_000_000 + truth.0 as i64
                };
                if fit.steps.iter().any(near) {
                    continue;
                }
                let fitted = if d == 0 { fit.forward_ns(*point) } else { fit.backward_ns(*point) } as f64;
                let sign = if d == 0 { 1.0 } else { -1.0 };
                // Fitted delay + sign * (fitted theta - true theta).
                let more = sign * (fitted - truth.0);
                let off = (more - fit.high_ns as f64 - 1.0).max(fit.low_ns as f64 - 1.0 - more);
                if off > 0.0 {
                    verdict.outside += 1;
                    verdict.by = verdict.by.max(off);
                }
                least_true = least_true.min(truth.0);
                least_fitted = least_fitted.min(fitted);
                errors.push(fitted - truth.0);
            }
            let shift = least_fitted - least_true;
            verdict.errors.extend(errors.iter().map(|error| (error - shift).abs()));
        }
        verdict.errors.sort_by(f64::total_cmp);
        verdict
    }

    pub(crate) fn quantile(&self, q: f64) -> f64 {
        quantile(&self.errors, q)
    }
}

pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    if sorted.is_empty() { 0.0 } else { sorted[((sorted.len() - 1) as f64 * q).round() as usize] }
}
