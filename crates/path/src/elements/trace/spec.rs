//! Settings of a trace link.

use super::timeline::{Offsets, Timeline};
use crate::QueueSpec;
use crate::buffer::Buffer;
use crate::change::{Change, WalkSpec};
use crate::element::{Capacity, Table, settings};
use crate::element_settings::{
    HIGHEST_MBPS, above_zero, milliseconds, milliseconds_above_zero, not_negative, packet_bytes, rate, refuse,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rate, Rng};

const MS: f64 = 1e6;
/// Bytes that Mahimahi's opportunities serve, and bytes that its TUN header adds to every packet.
const MAHIMAHI_BYTES: u32 = 1504;
const MAHIMAHI_HEADER_BYTES: u32 = 4;
/// Bytes of a full packet.
const PACKET_BYTES: u32 = 1500;
/// Longest trace: one day.
const LONGEST_MS: f64 = 86_400_000.0;
/// Maximum number of opportunities of a generated trace.
const MOST_LINES: u64 = 100_000_000;
/// Maximum number of opportunities of a drawn trace, which is kept in memory.
const MOST_DRAWN: u64 = 20_000_000;

/// Settings of a trace link. Exactly one of `times_ms`, `even` and `poisson` gives the times of the opportunities. They
/// repeat with the last time as the period.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Times of the opportunities, ms since the start, not decreasing. The last one is the period.
    pub times_ms: Option<Vec<f64>>,
    /// File that `times_ms` were read from, for readers of the specification. It is not opened here.
    pub file: Option<String>,
    /// SHA-256 of `file`, hexadecimal; a file with another one is refused.
    pub sha256: Option<String>,
    /// Opportunities spread evenly, instead of `times_ms`.
    pub even: Option<EvenSpec>,
    /// Opportunities at exponential gaps, drawn once, instead of `times_ms`.
    pub poisson: Option<PoissonTraceSpec>,
    /// Counting of packets and rounding of times: `precise`, or `mahimahi` as in mm-link.
    #[serde(default)]
    pub mode: TraceMode,
    /// Nothing passes after the last opportunity; false: the trace repeats.
    #[serde(default)]
    pub once: bool,
    /// Start of the trace on the run's clock, ms.
    #[serde(default)]
    #[schemars(range(min = 0, max = 3_600_000))]
    pub base_ms: f64,
    /// Bytes that an opportunity serves: 1500 if absent. Fixed in mode `mahimahi`.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub opportunity_bytes: Option<u32>,
    /// Quirk: a packet that is served in part counts for the queue's limits (droptail only).
    #[serde(default)]
    pub count_in_service: bool,
    /// Queue in front of the link.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Changes during the run: of the queue only.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

/// Counting and rounding of a trace link.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceMode {
    /// Packet sizes unchanged, times in ns.
    #[default]
    Precise,
    /// As in Mahimahi: 1504-byte opportunities, 4 bytes more per packet, whole ms.
    Mahimahi,
}

/// Evenly spread opportunities: `lines` in `period_ms`.
///
/// Mode `mahimahi`: number i = 0, 1, ... is at floor(i `period_ms` / `lines`) ms, as in Pantheon's traces. These start
/// at 0, and their last time, up to one step short of `period_ms`, is the period of repetition
/// (StanfordSNR/observatory@84f9454, `traces/`).
/// Mode `precise`: number i = 1, 2, ..., in ns, so the period is exact.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvenSpec {
    /// Number of opportunities.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub lines: u64,
    /// Time over which the opportunities are spread, ms.
    #[schemars(range(min = 0.000_001, max = 86_400_000))]
    pub period_ms: f64,
}

/// Exponential gaps, after an optional head of opportunities with fixed gaps (as at the beginning of Pantheon's
/// calibrated traces).
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonTraceSpec {
    /// Mean rate after the head, Mbit/s of opportunity bytes.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub rate_mbps: f64,
    /// Minimum length, s: the first opportunity at or after this time is the last of the trace.
    #[serde(default = "minute")]
    #[schemars(range(min = 0.001, max = 86_400))]
    pub period_s: f64,
    /// Seed of the draw; the run's if absent.
    pub seed: Option<u64>,
    /// Length of the head, s.
    #[serde(default)]
    #[schemars(range(min = 0, max = 86_400))]
    pub head_s: f64,
    /// Time between opportunities in the head, ms.
    #[serde(default = "tenth")]
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub head_gap_ms: f64,
}

fn minute() -> f64 {
    60.0
}
fn tenth() -> f64 {
    100.0
}

impl EvenSpec {
    fn check(&self, mode: TraceMode) -> Result<(), Refusal> {
        if !(1..=MOST_LINES).contains(&self.lines) {
            return Err(refuse("even.lines", self.lines, "must be from 1 to 100000000"));
        }
        above_zero("even.period_ms", self.period_ms, LONGEST_MS)?;
        if mode == TraceMode::Mahimahi && self.period_ms.fract() != 0.0 {
            return Err(refuse("even.period_ms", self.period_ms, "must be whole ms in mode `mahimahi`"));
        }
        if self.lines as f64 * self.period_ms * MS > (1u64 << 62) as f64 {
            return Err(refuse("even.lines", self.lines, "too many for so long a period"));
        }
        if self.offsets(mode).get(self.lines - 1) == 0 {
            return Err(refuse(
                "even.period_ms",
                self.period_ms,
                "too short: the last opportunity would be at 0",
            ));
        }
        Ok(())
    }

    fn offsets(&self, mode: TraceMode) -> Offsets {
        let count = self.lines;
        match mode {
            TraceMode::Mahimahi => {
                Offsets::Even { count, period: self.period_ms as u64, tick_ns: MS as u64, first: 0 }
            }
            TraceMode::Precise => {
                Offsets::Even { count, period: (self.period_ms * MS).round() as u64, tick_ns: 1, first: 1 }
            }
        }
    }
}

impl PoissonTraceSpec {
    fn check(&self, net_bytes: u32) -> Result<(), Refusal> {
        rate("poisson.rate_mbps", self.rate_mbps)?;
        above_zero("poisson.period_s", self.period_s, LONGEST_MS / 1e3)?;
        if self.period_s < 1e-3 {
            return Err(refuse("poisson.period_s", self.period_s, "must be at least 0.001"));
        }
        not_negative("poisson.head_s", self.head_s, self.period_s)?;
        milliseconds_above_zero("poisson.head_gap_ms", self.head_gap_ms)?;
        let lines = self.rate_mbps * 1e6 * self.period_s / (8.0 * f64::from(net_bytes));
        if lines > MOST_DRAWN as f64 || self.head_s / self.head_gap_ms * 1e3 > MOST_DRAWN as f64 {
            return Err(refuse("poisson.rate_mbps", self.rate_mbps, "too high for so long a trace"));
        }
        Ok(())
    }

    fn offsets(&self, net_bytes: u32, tick_ns: f64, rng: &mut Rng) -> Offsets {
        let mut own = self.seed.map(|seed| Rng::new(seed, "trace"));
        let rng = own.as_mut().unwrap_or(rng);
        let mean_ns = Rate::from_mbps(self.rate_mbps).time_for(u64::from(net_bytes)).as_ns() as f64;
        let (head_ns, gap_ns, period_ns) = (self.head_s * 1e9, self.head_gap_ms * MS, self.period_s * 1e9);
        let heads = (head_ns / gap_ns).floor();
        let mut times: Vec<f64> = (1..=heads as u64).map(|i| i as f64 * gap_ns).collect();
        let mut time = head_ns;
        while times.last().is_none_or(|last| *last < period_ns) {
            time += rng.exponential(mean_ns);
            times.push(time);
        }
        Offsets::List(times.iter().map(|time| ((time / tick_ns).floor() * tick_ns) as u64).collect())
    }
}

impl TraceSpec {
    /// Returns the bytes of an opportunity, and of the header that every packet costs.
    pub(super) fn opportunity(&self) -> (u32, u32) {
        match self.mode {
            TraceMode::Mahimahi => (MAHIMAHI_BYTES, MAHIMAHI_HEADER_BYTES),
            TraceMode::Precise => (self.opportunity_bytes.unwrap_or(PACKET_BYTES), 0),
        }
    }

    /// Returns the opportunities; random ones without their own seed are drawn from `rng`.
    pub(super) fn timeline(&self, rng: &mut Rng) -> Result<Timeline, Refusal> {
        let (bytes, header) = self.opportunity();
        let offsets = match (&self.times_ms, &self.even, &self.poisson) {
            (Some(times), None, None) => {
                Offsets::List(times.iter().map(|ms| (ms * MS).round() as u64).collect())
            }
            (None, Some(even), None) => even.offsets(self.mode),
            (None, None, Some(poisson)) => {
                let tick_ns = if self.mode == TraceMode::Mahimahi { MS } else { 1.0 };
                poisson.offsets(bytes - header, tick_ns, rng)
            }
            _ => return Err(Refusal::of_key("times_ms, even, poisson", "exactly one is needed")),
        };
        Ok(Timeline::new(offsets, (self.base_ms * MS).round() as u64, self.once))
    }

    fn check_times(&self, times: &[f64]) -> Result<(), Refusal> {
        let mut last = 0.0;
        for (index, &time) in times.iter().enumerate() {
            let name = format!("times_ms[{index}]");
            not_negative(&name, time, LONGEST_MS)?;
            if time < last {
                return Err(refuse(&name, time, format!("must not be before {last}, the time before it")));
            }
            if self.mode == TraceMode::Mahimahi && time.fract() != 0.0 {
                return Err(refuse(&name, time, "must be whole ms in mode `mahimahi`"));
            }
            last = time;
        }
        if times.is_empty() {
            return Err(Refusal::of_key("times_ms", "empty; at least one time is needed"));
        }
        milliseconds_above_zero("times_ms: last time", last.min(1.0))
    }
}

impl Table for TraceSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        let net_bytes = self.opportunity_bytes.unwrap_or(PACKET_BYTES).max(1);
        match (&self.times_ms, &self.even, &self.poisson) {
            (Some(times), None, None) => self.check_times(times)?,
            (None, Some(even), None) => even.check(self.mode)?,
            (None, None, Some(poisson)) => poisson.check(net_bytes)?,
            _ => return Err(Refusal::of_key("times_ms, even, poisson", "exactly one is needed")),
        }
        if let Some(bytes) = self.opportunity_bytes {
            packet_bytes("opportunity_bytes", bytes)?;
            if self.mode == TraceMode::Mahimahi && bytes != MAHIMAHI_BYTES {
                return Err(refuse("opportunity_bytes", bytes, "must be 1504 in mode `mahimahi`"));
            }
        }
        milliseconds("base_ms", self.base_ms)?;
        if self.mode == TraceMode::Mahimahi && self.base_ms.fract() != 0.0 {
            return Err(refuse("base_ms", self.base_ms, "must be whole ms in mode `mahimahi`"));
        }
        if let Some(mbps) = self.capacity().map(|capacity| capacity.mbps).filter(|mbps| *mbps > HIGHEST_MBPS)
        {
            return Err(Refusal::of_key(
                "times_ms, even, opportunity_bytes",
                format!("{mbps:.0} Mbit/s on average: must be at most {HIGHEST_MBPS}"),
            ));
        }
        Buffer::check_in_service(self.count_in_service, &self.queue)?;
        self.queue.validate()
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn capacity(&self) -> Option<Capacity> {
        let (bytes, header) = self.opportunity();
        let (times, even, poisson) = (&self.times_ms, &self.even, &self.poisson);
        let per_ms = match (times, even, poisson) {
            (Some(times), ..) => times.len() as f64 / times.last()?,
            (_, Some(even), _) => even.lines as f64 / even.period_ms,
            (.., Some(poisson)) => return Some(Capacity::in_opportunities(poisson.rate_mbps)),
            (None, None, None) => return None,
        };
        Some(Capacity::in_opportunities(per_ms * f64::from(bytes - header) * 8.0 / 1e3))
    }

    settings!();
}
