//! Network for the evaluation of rules.
//!
//! It follows tcpexmachina/remy@2094e8d, `src/network.cc`, `src/utility.hh`: senders alternate between on and off and
//! share a link with an infinite queue. Behind the link, packets are delayed by the whole RTT. ACKs have no delay.
//!
//! A sender that turns on starts anew. A packet has 10,000 bits.

use super::usage::{Tracker, Usage};
use crate::Error;
use crate::StopSignal;
use congestion::remy::{Remy, Shell, Table};
use congestion::{BuildClosure, Entry, Registry};
use path::{DelaySpec, ElementSpec, LinkSpec, PathSpec, QueueSpec};
use record::{Event, Record};
use runs::{FlowSpec, LogLevel, Observer, RunSpec};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::sync::{Arc, Mutex};
use transport::{Application, ApplicationSpec};
use units::Time;

/// Payload and headers of a packet, bytes.
const PAYLOAD_BYTES: u32 = 1210;
const HEADER_BYTES: u32 = 40;
/// Megabits of 1000 packets.
const MBPS_PER_PACKET_PER_MS: f64 = 10.0;
/// Unit of delays in the utility, ms.
const DELAY_UNIT_MS: f64 = 100.0;
/// Utility of a sender that was on and delivered nothing, and of a table that fills the memory.
const WORST: f64 = -1000.0;
/// Maximum packets in memory.
const MAX_PACKETS: f64 = 2e7;
const CONTROLLER: &str = "remy-in-training";

/// Network with senders that alternate between on and off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Rate of the link, Mbit/s.
    pub link_mbps: f64,
    /// RTT without a queue, ms.
    pub rtt_ms: f64,
    /// Number of senders.
    pub senders: usize,
    /// Mean on-time of a sender, ms.
    pub on_ms: f64,
    /// Mean off-time of a sender, ms.
    pub off_ms: f64,
}

/// Length and limits of a trial of rules in a network.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// Cost of a doubled delay, in doublings of the throughput.
    pub delta: f64,
    /// Seed of the senders' on-times.
    pub seed: u64,
    /// Length of the trial in packets of the link ...
    pub packets: f64,
    /// ... but at least this, s.
    pub seconds: f64,
    /// Maximum packets in flight, as a multiple of the packets that the link sends. Rules above it get the worst
    /// utility.
    pub most_queued: f64,
    /// Recorder of rule lookups.
    pub usage: Option<&'a Arc<Mutex<Usage>>>,
}

impl Trial<'_> {
    /// Returns a trial without limits, for delta 1.
    pub fn patient(seed: u64, packets: f64) -> Self {
        Self { delta: 1.0, seed, packets, seconds: 0.0, most_queued: f64::INFINITY, usage: None }
    }
}

/// Results of rules in a network: means over its senders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Utility: log2 of the throughput in packets/ms of an equal share, minus delta times log2 of the delay in 100
    /// ms.
    pub utility: f64,
    /// Throughput as a fraction of an equal share of the link.
    pub throughput: f64,
    /// Mean RTT of packets, ms.
    pub delay_ms: f64,
}

impl Network {
    /// Returns the packets that the link can send per ms.
    fn packets_per_ms(&self) -> f64 {
        self.link_mbps / MBPS_PER_PACKET_PER_MS
    }

    fn application(&self) -> ApplicationSpec {
        let (on_ms, off_ms) = (self.on_ms, self.off_ms);
        ApplicationSpec::OnOff {
            on_ms,
            off_ms,
            off_mbps: 0.0,
            exponential: true,
            off_first: true,
            anew: true,
        }
    }

    fn spec(&self, trial: &Trial<'_>) -> RunSpec {
        let duration_s = f64::max(trial.packets / self.packets_per_ms() / 1e3, trial.seconds);
        let most_packets = (trial.most_queued * duration_s * self.packets_per_ms() * 1e3).min(MAX_PACKETS);
        let transport = Map::from_iter([
            ("profile".to_owned(), "datagram".into()),
            ("payload_bytes".to_owned(), PAYLOAD_BYTES.into()),
            ("header_bytes".to_owned(), HEADER_BYTES.into()),
            ("quirk_pace_by_latest".to_owned(), true.into()),
        ]);
        let flow = FlowSpec::new(CONTROLLER, transport, self.application());
        let link = ElementSpec::Link(LinkSpec::new(self.link_mbps, QueueSpec::default()));
        let delay = ElementSpec::Delay(DelaySpec::new(self.rtt_ms));
        let path = PathSpec {
            data: vec![link, delay],
            ack: Vec::new(),
            overhead_bytes: 0,
            mtu_bytes: None,
            fragment: false,
            schedule: Vec::new(),
        };
        RunSpec {
            sample_interval_s: duration_s,
            log: LogLevel::None,
            most_packets: most_packets as u64,
            ..RunSpec::new(trial.seed, duration_s, path, vec![flow; self.senders])
        }
    }

    /// Returns the results of `table` in this network. Ends early at `stop_signal`.
    ///
    /// # Errors
    /// Returns an error if the network is invalid or the stop signal is set.
    pub fn judge(
        &self,
        table: &Arc<Table>,
        trial: &Trial<'_>,
        stop_signal: StopSignal<'_>,
    ) -> Result<Outcome, Error> {
        let spec = self.spec(trial);
        let simulation = simulator::Simulation::new(&spec, &registry(table, trial.usage)?)?;
        let mut observers = (Counts(vec![Count::default(); self.senders]), stop_signal);
        if simulation.run(&mut observers).is_err() {
            let outcome = Outcome { utility: WORST, throughput: 0.0, delay_ms: f64::INFINITY };
            return stop_signal.stop().map_or(Ok(outcome), |why| Err(Error::Stopped(why)));
        }
        let (counts, _) = observers;
        let shares_ms = shares_ms(&spec, &self.application(), stop_signal)?;
        let outcomes: Vec<Outcome> = counts
            .0
            .iter()
            .zip(shares_ms)
            .map(|(count, share_ms)| self.outcome(trial.delta, count, share_ms))
            .collect();
        let mean =
            |value: fn(&Outcome) -> f64| outcomes.iter().map(value).sum::<f64>() / outcomes.len() as f64;
        Ok(Outcome {
            utility: mean(|outcome| outcome.utility),
            throughput: mean(|outcome| outcome.throughput),
            delay_ms: mean(|outcome| outcome.delay_ms),
        })
    }

    /// Returns the results of a sender with a share of `share_ms` of the link's time.
    fn outcome(&self, delta: f64, count: &Count, share_ms: f64) -> Outcome {
        if share_ms == 0.0 {
            return Outcome { utility: 0.0, throughput: 0.0, delay_ms: 0.0 };
        }
        if count.packets == 0 {
            return Outcome { utility: WORST, throughput: 0.0, delay_ms: f64::INFINITY };
        }
        let rate = count.packets as f64 / share_ms;
        let delay_ms = count.delay_ns as f64 / 1e6 / count.packets as f64;
        Outcome {
            utility: libm::log2(rate) - delta * libm::log2(delay_ms / DELAY_UNIT_MS),
            throughput: rate / self.packets_per_ms(),
            delay_ms,
        }
    }
}

/// Returns a registry with a controller that follows `table`.
fn registry(table: &Arc<Table>, usage: Option<&Arc<Mutex<Usage>>>) -> Result<Registry, Error> {
    let (table, usage) = (Arc::clone(table), usage.cloned());
    let mut registry = Registry::default();
    let build: Arc<BuildClosure> = Arc::new(move |_, start| {
        let table = Arc::clone(&table);
        match &usage {
            None => Box::new(Remy::new(table, Shell::Training, (), start)),
            Some(usage) => Box::new(Remy::new(table, Shell::Training, Tracker::new(usage), start)),
        }
    });
    registry.add(Entry::with_closure(CONTROLLER, "RemyCC in training", &[], build))?;
    Ok(registry)
}

/// Returns the share of each sender, ms: its on-time divided by the number of senders that are on.
fn shares_ms(
    spec: &RunSpec,
    application: &ApplicationSpec,
    stop_signal: StopSignal<'_>,
) -> Result<Vec<f64>, Error> {
    let end = Time::ZERO + spec.duration();
    let mut senders: Vec<(Application, bool)> = (0..spec.flows.len())
        .map(|index| {
            (Application::new(application.clone(), Time::ZERO, PAYLOAD_BYTES, spec.flow_seed(index)), false)
        })
        .collect();
    let mut shares = vec![0.0; senders.len()];
    let mut now = Time::ZERO;
    while now < end {
        if let Some(why) = stop_signal.stop() {
            return Err(Error::Stopped(why));
        }
        for (application, is_on) in &mut senders {
            *is_on = application.available(now, 0) > 0;
        }
        let next =
            senders.iter().map(|(application, _)| application.next_change()).min().unwrap_or(end).min(end);
        let on = senders.iter().filter(|(_, is_on)| *is_on).count();
        for (share, _) in shares.iter_mut().zip(&senders).filter(|(_, (_, is_on))| *is_on) {
            *share += (next - now).as_ms_f64() / on as f64;
        }
        now = next;
    }
    Ok(shares)
}

/// Delivered packets of a sender, and the sum of their delays.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    packets: u64,
    delay_ns: u64,
}

struct Counts(Vec<Count>);

impl Observer for Counts {
    #[inline]
    fn record(&mut self, record: &Record) {
        if record.event == Event::Deliver {
            let count = &mut self.0[record.flow as usize - 1];
            count.packets += 1;
            count.delay_ns += record.one_way_delay_ns as u64;
        }
    }
}
