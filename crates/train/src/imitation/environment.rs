//! Training paths, and an episode on one of them.

use super::lstm::{Episode, Model};
use super::pupil::{Notes, Pupil, SharedNotes};
use super::scheme::Scheme;
use super::settings::{RandomPaths, Settings};
use crate::Error;
use crate::StopSignal;
use congestion::{BuildClosure, Entry, Registry, policy};
use path::{DelaySpec, DroptailSpec, ElementSpec, JitterSpec, LinkSpec, LossSpec, PathSpec, QueueSpec};
use record::{Event, Record};
use runs::{FlowSpec, LogLevel, Observer, RunSpec};
use std::sync::{Arc, PoisonError};
use strict_input::Refusal;
use transport::ApplicationSpec;
use units::Rng;

/// Step duration, ms: a step ends with the first ACK after 10 ms by a clock of whole ms.
const STEP_MS: f64 = 11.5;
/// Round trips before the first step and after the last.
const RTTS: f64 = 3.0;
/// 90th percentile of an exponential distribution with mean 1.
const NINE_TENTHS: f64 = 2.303;
/// Range of the duration of a jitter delay, ms: about as long as a step.
const REDRAW_MS: [f64; 2] = [8.0, 24.0];
/// Minimum queue that an expert aims for, packets.
const LEAST_QUEUED: f64 = 2.0;
/// Overhead of Pantheon's tunnel, bytes.
const OVERHEAD_BYTES: u32 = 36;

/// Path with the jitter that the expert knows.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    path: PathSpec,
    jitter_ms: f64,
}

/// Result of an episode.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) episode: Episode,
    pub(super) agreed: usize,
    /// Utility: ln of the share of the link, minus ln of the 95th percentile of the one-way delay over its minimum.
    pub(super) utility: f64,
}

/// Returns all paths of an iteration.
pub(super) fn all_environments(settings: &Settings, rng: &mut Rng) -> Vec<Environment> {
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

impl RandomPaths {
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
    /// Returns the expert's window in packets, ms between two packets, and the base RTT in ms.
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

    /// Returns the smallest finite queue of the data direction, packets.
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

    /// Runs an episode until its end or `stop_signal`. `model` acts, or the expert without a model.
    pub(super) fn episode(
        &self,
        scheme: &Scheme,
        settings: &Settings,
        model: Option<&Arc<Model>>,
        seed: u64,
        stop_signal: StopSignal<'_>,
    ) -> Result<Outcome, Error> {
        let mut spec = self.spec(settings, scheme.in_training, seed);
        let (target, spacing_ms, base_ms) = self.target(settings, &spec)?;
        let steps_ms = settings.steps as f64 * (STEP_MS + spacing_ms);
        spec.duration_s = (steps_ms + RTTS * base_ms) / 1e3;
        spec.sample_interval_s = spec.duration_s;
        let notes = SharedNotes::default();
        let registry = registry(scheme, settings, target, model, &notes)?;
        let mut observers = (Arrivals::default(), stop_signal);
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
    model: Option<&Arc<Model>>,
    notes: &SharedNotes,
) -> Result<Registry, Error> {
    let (scheme, steps, model, notes) = (*scheme, settings.steps, model.cloned(), Arc::clone(notes));
    let mut registry = Registry::default();
    let build: Arc<BuildClosure> = Arc::new(move |_, start| {
        let policy =
            policy(scheme.name, start).unwrap_or_else(|| unreachable!("schemes here are learned ones"));
        Box::new(Pupil::new(scheme, policy, target, model.clone(), steps, Arc::clone(&notes)))
    });
    registry.add(Entry::with_closure(scheme.in_training, "a learned scheme in training", &[], build))?;
    Ok(registry)
}

/// One-way delays of delivered packets, ns.
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
