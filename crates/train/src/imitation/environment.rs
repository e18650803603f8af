//! The paths that are trained on, and one episode on one of them.

use super::lstm::{Episode, Model};
use super::pupil::{Notes, Pupil, Shared};
use super::scheme::Scheme;
use super::settings::{Drawn, Settings};
use crate::Error;
use crate::Wanted;
use congestion::{BuildClosure, Entry, Registry, policy};
use path::{DelaySpec, DroptailSpec, ElementSpec, JitterSpec, LinkSpec, LossSpec, PathSpec, QueueSpec};
use record::{Event, Record};
use runs::{FlowSpec, LogLevel, Observer, RunSpec};
use std::sync::{Arc, PoisonError};
use strict_input::Refusal;
use transport::ApplicationSpec;
use units::Rng;

/// A step is over with the first ACK after 10 ms, by a clock of whole ms.
const STEP_MS: f64 = 11.5;
/// Round trips before the first steps and behind the last.
const RTTS: f64 = 3.0;
/// Of an exponential distribution with mean 1 a tenth is above this.
const NINE_TENTHS: f64 = 2.303;
/// How long a delay by jitter holds, ms: about as long as a step.
const REDRAW_MS: [f64; 2] = [8.0, 24.0];
/// No expert wants less in the queue.
const LEAST_QUEUED: f64 = 2.0;
/// Bytes of Pantheon's tunnel.
const OVERHEAD_BYTES: u32 = 36;

/// A path, and what the expert knows of it.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    path: PathSpec,
    jitter_ms: f64,
}

/// What became of an episode.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) episode: Episode,
    pub(super) agreed: usize,
    /// ln of the share of the link, less ln of the 95th percentile of the one-way delay over its smallest.
    pub(super) utility: f64,
}

/// All paths of iteration number `iteration`.
pub(super) fn all(settings: &Settings, rng: &mut Rng) -> Vec<Environment> {
    let grid = settings.rates_mbps.iter().flat_map(|rate| {
        settings.delays_ms.iter().map(|delay| link(*rate, *delay, QueueSpec::default(), 0.0))
    });
    let mut paths: Vec<PathSpec> = grid.chain(settings.paths.iter().cloned()).collect();
    paths.extend((0..settings.drawn.count).map(|_| settings.drawn.draw(rng)));
    paths
        .into_iter()
        .map(|path| {
            let has_jitter = rng.chance(settings.jitter_share);
            let jitter_ms = rng.uniform() * settings.jitter_ms;
            Environment { path, jitter_ms: if has_jitter { jitter_ms } else { 0.0 } }
        })
        .collect()
}

fn link(rate_mbps: f64, delay_ms: f64, queue: QueueSpec, loss: f64) -> PathSpec {
    let delay = ElementSpec::Delay(DelaySpec::new(delay_ms));
    let mut data = vec![ElementSpec::Link(LinkSpec::new(rate_mbps, queue)), delay.clone()];
    if loss > 0.0 {
        data.insert(1, ElementSpec::Loss(LossSpec::random(loss)));
    }
    PathSpec {
        data,
        ack: vec![delay],
        overhead_bytes: OVERHEAD_BYTES,
        mtu_bytes: None,
        fragment: false,
        schedule: Vec::new(),
    }
}

impl Drawn {
    fn draw(&self, rng: &mut Rng) -> PathSpec {
        let mut between = |[low, high]: [f64; 2]| low * libm::pow(high / low, rng.uniform());
        let (rate, rtt, buffer) = (between(self.rate_mbps), between(self.rtt_ms), between(self.buffer_bdp));
        let packets = (rate * rtt * buffer / 12.0).ceil().max(4.0);
        let loss = if rng.chance(0.5) { self.loss * rng.uniform() } else { 0.0 };
        let queue = QueueSpec::Droptail(DroptailSpec { packets: Some(packets as u64), bytes: None });
        link(rate, rtt / 2.0, queue, loss)
    }
}

impl Environment {
    /// The expert's window in packets, and ms between two packets.
    fn target(&self, settings: &Settings, spec: &RunSpec) -> Result<(f64, f64, f64), Error> {
        let description = spec.path.describe()?;
        let bottleneck = description.bottleneck.and_then(|index| description.links[index].rate_mbps);
        let rate_mbps = bottleneck.ok_or_else(|| Refusal::of_key("paths", "one has no link with a rate"))?;
        let config = spec.flows[0].config()?;
        let bytes = config.payload_bytes + config.header_bytes + spec.path.overhead_bytes;
        let packets_per_ms = rate_mbps * 125.0 / f64::from(bytes);
        let queue = self.queue_packets().map_or(0.0, |packets| packets as f64 * settings.queue_share);
        let queue = (queue + settings.queue_ms * packets_per_ms).max(LEAST_QUEUED);
        let rtt_ms = description.base_rtt_ms + NINE_TENTHS * self.jitter_ms;
        Ok((packets_per_ms * rtt_ms + queue, 1.0 / packets_per_ms, description.base_rtt_ms))
    }

    /// The smallest queue of the data direction that is finite.
    fn queue_packets(&self) -> Option<u64> {
        self.path.data.iter().filter_map(|element| element.queue()?.packets()).min()
    }

    fn spec(&self, settings: &Settings, controller: &str, seed: u64) -> RunSpec {
        let mut path = self.path.clone();
        if self.jitter_ms > 0.0 {
            let [least, most] = REDRAW_MS;
            path.data.push(ElementSpec::Jitter(JitterSpec {
                redraw_min_ms: Some(least),
                redraw_max_ms: Some(most),
                ..JitterSpec::exponential(self.jitter_ms)
            }));
        }
        let flow = FlowSpec::new(controller, settings.transport.clone(), ApplicationSpec::Greedy);
        RunSpec { log: LogLevel::None, ..RunSpec::new(seed, 1.0, path, vec![flow]) }
    }

    /// An episode, as long as it is `wanted`: `learned` acts, or the expert.
    pub(super) fn episode(
        &self,
        scheme: &Scheme,
        settings: &Settings,
        learned: Option<&Arc<Model>>,
        seed: u64,
        wanted: Wanted<'_>,
    ) -> Result<Outcome, Error> {
        let mut spec = self.spec(settings, scheme.in_training, seed);
        let (target, spacing_ms, base_ms) = self.target(settings, &spec)?;
        let steps_ms = settings.steps as f64 * (STEP_MS + spacing_ms);
        spec.duration_s = (steps_ms + RTTS * base_ms) / 1e3;
        spec.sample_interval_s = spec.duration_s;
        let notes = Shared::default();
        let registry = registry(scheme, settings, target, learned, &notes)?;
        let mut observers = (Arrivals::default(), wanted);
        simulator::Simulation::new(&spec, &registry)?.run(&mut observers)?;
        let (mut arrivals, _) = observers;
        drop(registry);
        let Notes { episode, agreed } =
            core::mem::take(&mut *notes.lock().unwrap_or_else(PoisonError::into_inner));
        let link_packets = spec.duration_s * 1e3 / spacing_ms;
        Ok(Outcome { episode, agreed, utility: arrivals.utility(link_packets) })
    }
}

fn registry(
    scheme: &Scheme,
    settings: &Settings,
    target: f64,
    learned: Option<&Arc<Model>>,
    notes: &Shared,
) -> Result<Registry, Error> {
    let (scheme, steps, learned, notes) = (*scheme, settings.steps, learned.cloned(), Arc::clone(notes));
    let mut registry = Registry::default();
    let build: Arc<BuildClosure> = Arc::new(move |_, start| {
        let policy =
            policy(scheme.name, start).unwrap_or_else(|| unreachable!("schemes here are learned ones"));
        Box::new(Pupil::new(scheme, policy, target, learned.clone(), steps, Arc::clone(&notes)))
    });
    registry.add(Entry::with_closure(scheme.in_training, "a learned scheme in training", &[], build))?;
    Ok(registry)
}

/// One-way delays of what arrived, ns.
#[derive(Default)]
struct Arrivals(Vec<i64>);

impl Observer for Arrivals {
    fn record(&mut self, record: &Record) {
        if record.event == Event::Deliver {
            self.0.push(record.one_way_delay_ns);
        }
    }
}

impl Arrivals {
    fn utility(&mut self, link_packets: f64) -> f64 {
        self.0.sort_unstable();
        let Some(least) = self.0.first() else {
            return f64::NEG_INFINITY;
        };
        let late = self.0[(self.0.len() * 19 / 20).min(self.0.len() - 1)];
        libm::log(self.0.len() as f64 / link_packets) - libm::log(late as f64 / (*least).max(1) as f64)
    }
}
