//! Random machines, paths and queues.

use clocks::Fit;
use units::Rng;

use crate::world::{Queue, SimulatedPackets, Verdict, Way, World};

/// First seed of the runs on the page. These runs were not used to choose limits.
pub(crate) const FRESH: u64 = 1_000_000;
pub(crate) const MS: f64 = 1e6;

/// Base delays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Path {
    /// Equal delays in both directions.
    Symmetric,
    /// Any share of the round trip.
    Asymmetric,
    /// One direction has the whole round trip.
    OneWay,
    /// One direction changes once, by -100 % to 30 ms.
    Changing,
    /// Both directions change at the same moment.
    BothChange,
    /// One direction changes, and changes back.
    ForthAndBack,
}

/// Queues while flows run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Load {
    Idle,
    /// A forward queue that fills and empties. All queues have up to 100 ms.
    Sawtooth,
    /// A queue that never empties.
    Standing,
    /// A queue that grows all the time.
    Growing,
    /// Any of these queues in both directions.
    BothWays,
}

pub(crate) const PATHS: [Path; 6] =
    [Path::Symmetric, Path::Asymmetric, Path::OneWay, Path::Changing, Path::BothChange, Path::ForthAndBack];
pub(crate) const LOADS: [Load; 5] =
    [Load::Idle, Load::Sawtooth, Load::Standing, Load::Growing, Load::BothWays];

pub(crate) fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.uniform()
}

/// Returns two machines, a path and queues of this kind.
///
/// Runs last 10 s or 60 s. Offsets are 37 ms or 1 s, skews up to 100 ppm, round trips 1 to 150 ms. Half of the runs
/// have only probes, a third have loaded machines, half have 5 % loss.
pub(crate) fn world(rng: &mut Rng, path: Path, load: Load) -> World {
    let seconds = if rng.chance(0.5) { 60.0 } else { 10.0 };
    let trip = between(rng, 1.0, 150.0) * MS;
    let share = match path {
        Path::Symmetric => 0.5,
        Path::OneWay => f64::from(u8::from(rng.chance(0.5))),
        _ => rng.uniform(),
    };
    let mut changes = [Vec::new(), Vec::new()];
    let when = 1.0 + seconds * between(rng, 0.1, 0.9);
    let base = [trip * share, trip * (1.0 - share)];
    let mut change = |rng: &mut Rng, d: usize| {
        // A delay cannot be negative.
        let by = if rng.chance(0.5) { between(rng, 0.2, 30.0) * MS } else { -base[d] * rng.uniform() };
        changes[d].push((when, by));
        if path == Path::ForthAndBack {
            changes[d].push((when + (seconds + 1.0 - when) * between(rng, 0.2, 0.8), -by));
        }
    };
    match path {
        Path::Changing | Path::ForthAndBack => {
            let d = rng.below(2) as usize;
            change(rng, d);
        }
        Path::BothChange => {
            change(rng, 0);
            change(rng, 1);
        }
        _ => {}
    }
    let queue = |rng: &mut Rng, load: Load| {
        let most = between(rng, 2.0, 100.0) * MS;
        match load {
            Load::Idle => Queue::None,
            Load::Sawtooth => Queue::Sawtooth(most, between(rng, 0.1, 8.0)),
            Load::Standing => Queue::Standing(most * between(rng, 0.2, 1.0), most, between(rng, 0.1, 8.0)),
            Load::Growing | Load::BothWays => Queue::Growing(most),
        }
    };
    let both = [Load::Sawtooth, Load::Standing, Load::Growing];
    let (first, second) = match load {
        Load::BothWays => (both[rng.below(3) as usize], both[rng.below(3) as usize]),
        other => (other, Load::Idle),
    };
    let queues = [queue(rng, first), queue(rng, second)];
    let [forward, backward] = changes;
    let packets = if rng.chance(0.5) { 0.0 } else { between(rng, 20.0, 500.0) };
    let way = |d: usize, changes, packets| Way { base: base[d], changes, queue: queues[d], packets };
    World {
        seconds,
        offset: if rng.chance(0.5) { 37.0 * MS } else { 1000.0 * MS },
        skew: between(rng, -100e-6, 100e-6),
        wander: 0.05e-6,
        steps: Vec::new(),
        of_local: false,
        ways: [way(0, forward, packets), way(1, backward, packets / 2.0)],
        jitter: 20e3,
        spikes: if rng.chance(0.3) { 0.1 } else { 0.002 },
        loss: if rng.chance(0.5) { 0.0 } else { 0.05 },
    }
}

/// Returns a description of a failed run for debugging.
pub(crate) fn remark(
    name: &str,
    world: &World,
    packets: &SimulatedPackets,
    fit: &Fit,
    verdict: &Verdict,
) -> String {
    let at = |ns: i64| (ns - packets.start_ns) as f64 / 1e9;
    let steps: Vec<String> = fit
        .steps
        .iter()
        .map(|step| format!("{:.3}+-{:.3}s {}", at(step.at_ns), step.uncertain_ns as f64 / 2e9, step.by_ns))
        .collect();
    format!(
        "{name}: {} outside by {:.0} ns, p50 {:.0} p99 {:.0} residual {} interval {} skew {:.2} of {:.2} ppm, steps {steps:?} of {:?}, {} s spikes {} {:?} {:?}",
        verdict.outside,
        verdict.by,
        verdict.quantile(0.5),
        verdict.quantile(0.99),
        fit.residual_ns,
        fit.high_ns - fit.low_ns,
        fit.pieces[0].skew * 1e6,
        world.skew * 1e6,
        world.steps,
        world.seconds,
        world.spikes,
        world.ways[0],
        world.ways[1]
    )
}
