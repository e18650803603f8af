//! What can be asked of a path: its elements, their order and their changes during a run.

use crate::element::{Stage, Streams};
use crate::encapsulation::Encapsulation;
use crate::parameters::{Parameters, not_negative, refuse};
use crate::{
    AggregateSpec, CellularSpec, DelaySpec, DuplicateSpec, GilbertElliottSpec, JitterSpec, LinkSpec,
    LossSpec, NetemSpec, PoissonSpec, PolicerSpec, ReorderSpec, ShaperSpec, SlottedSpec, TraceSpec, WalkSpec,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use units::{Span, Time};

/// Latest time of a change, s: one year.
const LATEST_S: f64 = 31_536_000.0;

/// One element of a path. Packets pass the elements of a direction in the order listed.
#[derive(Deserialize, Serialize, Clone, Debug)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ElementSpec {
    /// Constant rate.
    Link(LinkSpec),
    /// Delivery opportunities from a trace.
    Trace(TraceSpec),
    /// Delivery opportunities of a Poisson process.
    Poisson(PoissonSpec),
    /// Delivery opportunities of a rate that wanders and stops.
    Cellular(CellularSpec),
    /// Token bucket with a queue.
    Shaper(ShaperSpec),
    /// Token bucket without a queue.
    Policer(PolicerSpec),
    /// Constant delay.
    Delay(DelaySpec),
    /// Random delay.
    Jitter(JitterSpec),
    /// Slotted delivery.
    Aggregate(AggregateSpec),
    /// Bursty deliveries.
    Slotted(SlottedSpec),
    /// Independent, periodic or listed loss.
    Loss(LossSpec),
    /// Bursty loss.
    GilbertElliott(GilbertElliottSpec),
    /// Holding packets back.
    Reorder(ReorderSpec),
    /// Copying packets.
    Duplicate(DuplicateSpec),
    /// Delay and shaper with one limit for both.
    Netem(NetemSpec),
}

/// A scheduled change of an element: new values of any of its numeric parameters, and of its queue's.
#[derive(Deserialize, Serialize, Clone, Debug)]
pub struct Change {
    /// When, s. Not a number if absent, which no path with it passes: so what is wrong with the other keys is said first.
    #[serde(default = "never")]
    pub at_s: f64,
    /// Parameters of the queue.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub queue: BTreeMap<String, f64>,
    /// Parameters of the element.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, f64>,
}

fn never() -> f64 {
    f64::NAN
}

impl Change {
    pub(crate) fn at(&self) -> Time {
        Time::from_secs_f64(self.at_s)
    }
}

/// Runs `$call` on whatever specification `$spec` is.
macro_rules! dispatch {
    ($spec:expr, $inner:ident => $call:expr) => {
        match $spec {
            ElementSpec::Link($inner) => $call,
            ElementSpec::Trace($inner) => $call,
            ElementSpec::Poisson($inner) => $call,
            ElementSpec::Cellular($inner) => $call,
            ElementSpec::Shaper($inner) => $call,
            ElementSpec::Policer($inner) => $call,
            ElementSpec::Delay($inner) => $call,
            ElementSpec::Jitter($inner) => $call,
            ElementSpec::Aggregate($inner) => $call,
            ElementSpec::Slotted($inner) => $call,
            ElementSpec::Loss($inner) => $call,
            ElementSpec::GilbertElliott($inner) => $call,
            ElementSpec::Reorder($inner) => $call,
            ElementSpec::Duplicate($inner) => $call,
            ElementSpec::Netem($inner) => $call,
        }
    };
}

impl ElementSpec {
    /// The value of `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Link(_) => "link",
            Self::Trace(_) => "trace",
            Self::Poisson(_) => "poisson",
            Self::Cellular(_) => "cellular",
            Self::Shaper(_) => "shaper",
            Self::Policer(_) => "policer",
            Self::Delay(_) => "delay",
            Self::Jitter(_) => "jitter",
            Self::Aggregate(_) => "aggregate",
            Self::Slotted(_) => "slotted",
            Self::Loss(_) => "loss",
            Self::GilbertElliott(_) => "gilbert-elliott",
            Self::Reorder(_) => "reorder",
            Self::Duplicate(_) => "duplicate",
            Self::Netem(_) => "netem",
        }
    }

    /// The name it was given.
    pub fn name(&self) -> Option<&str> {
        dispatch!(self, spec => spec.name.as_deref())
    }

    pub(crate) fn schedule(&self) -> &[Change] {
        dispatch!(self, spec => &spec.schedule)
    }

    pub(crate) fn walk(&self) -> Option<&WalkSpec> {
        dispatch!(self, spec => spec.walk.as_ref())
    }

    /// Sets the numeric parameter `name`, without checking its range.
    pub(crate) fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        dispatch!(self, spec => spec.set(name, value))
    }

    /// The same to the nearest value that the parameter takes: whole numbers are rounded.
    pub(crate) fn set_nearest(&mut self, name: &str, value: f64) -> Result<(), String> {
        self.set(name, value).or_else(|_| self.set(name, value.round()))
    }

    /// The element as it is at the start, before a step of its walks.
    pub(crate) fn at_start(&self) -> Cow<'_, Self> {
        let Some(walk) = self.walk() else { return Cow::Borrowed(self) };
        let mut element = self.clone();
        for (name, value) in walk.starts() {
            let result = element.set_nearest(name, value);
            debug_assert!(result.is_ok(), "checked before: {result:?}");
        }
        Cow::Owned(element)
    }

    pub(crate) fn check(&self, running: bool) -> Result<(), String> {
        dispatch!(self, spec => spec.check(running))
    }

    /// The element as it is after each of its changes, in the order of the schedule; none for a change of the queue
    /// only.
    pub(crate) fn states(&self) -> Result<Vec<Option<Self>>, String> {
        let mut state = None;
        let mut last_s = 0.0;
        let changes = self.schedule().iter().enumerate();
        let states = changes.map(|(index, change)| {
            let result = self.state_after(&mut state, change, last_s);
            last_s = change.at_s;
            result.map_err(|why| format!("schedule[{index}]: {why}"))
        });
        states.collect()
    }

    fn state_after(
        &self,
        state: &mut Option<Self>,
        change: &Change,
        last_s: f64,
    ) -> Result<Option<Self>, String> {
        if change.at_s.is_nan() {
            return Err("missing field `at_s`".to_owned());
        }
        not_negative("at_s", change.at_s, LATEST_S)?;
        if change.at_s < last_s {
            return Err(refuse(
                "at_s",
                change.at_s,
                &format!("must not be before {last_s}, the change before it"),
            ));
        }
        if change.parameters.is_empty() {
            if change.queue.is_empty() {
                return Err("nothing to change".to_owned());
            }
            return Ok(None);
        }
        let state = state.get_or_insert_with(|| self.without_schedule());
        for (name, &value) in &change.parameters {
            state.set(name, value)?;
        }
        state.check(true)?;
        Ok(Some(state.clone()))
    }

    fn without_schedule(&self) -> Self {
        let mut copy = self.clone();
        dispatch!(&mut copy, spec => spec.schedule.clear());
        copy
    }

    /// Checks the parameters and the schedule.
    ///
    /// # Errors
    /// One line naming the key, its value and what is allowed.
    pub fn validate(&self) -> Result<(), String> {
        self.check(false)?;
        let states = self.states()?;
        if let Some(walk) = self.walk() {
            walk.check(self, &states).map_err(|why| format!("walk: {why}"))?;
        }
        let queue_changes = self.schedule().iter().enumerate().filter(|(_, change)| !change.queue.is_empty());
        let mut stage = None;
        for (index, change) in queue_changes {
            if stage.is_none() {
                let streams = Streams { seed: 0, prefix: "" };
                stage = Some(Stage::build(self, String::new(), &streams)?);
            }
            for (name, &value) in &change.queue {
                let result = stage.as_mut().map_or(Ok(()), |stage| stage.set_queue(name, value));
                result.map_err(|why| format!("schedule[{index}]: {why}"))?;
            }
        }
        Ok(())
    }

    /// Delay that every packet has at least.
    pub(crate) fn fixed_delay(&self) -> Span {
        let ms = match &*self.at_start() {
            Self::Delay(spec) => spec.delay_ms,
            Self::Netem(spec) => spec.delay_ms,
            _ => 0.0,
        };
        Span::from_secs_f64(ms / 1e3)
    }

    /// [`Self::fixed_delay`] after the changes up to `at`. Of a checked specification.
    pub(crate) fn fixed_delay_at(&self, at: Time) -> Span {
        let states = self.states().unwrap_or_default();
        let states = self.schedule().iter().zip(&states).filter(|(change, _)| change.at() <= at);
        let state = states.filter_map(|(_, state)| state.as_ref()).next_back();
        state.unwrap_or(self).fixed_delay()
    }

    /// Whether [`Self::fixed_delay`] walks at random.
    pub(crate) fn delay_walks(&self) -> bool {
        matches!(self, Self::Delay(_) | Self::Netem(_))
            && self.walk().is_some_and(|walk| walk.starts().any(|(name, _)| name == "delay_ms"))
    }
}

/// Checks the elements of the direction called `direction`.
pub(crate) fn validate_direction(elements: &[ElementSpec], direction: &str) -> Result<(), String> {
    for (index, element) in elements.iter().enumerate() {
        element.validate().map_err(|why| format!("{direction}[{index}] ({}): {why}", element.kind()))?;
    }
    Ok(())
}

/// A path: what data passes one way and ACKs the other, and how datagrams become packets.
#[derive(Deserialize, Serialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct PathSpec {
    /// Elements from sender to receiver.
    pub data: Vec<ElementSpec>,
    /// Elements from receiver to sender.
    pub ack: Vec<ElementSpec>,
    /// Bytes added to every datagram, and to every fragment of one.
    #[serde(default)]
    pub overhead_bytes: u32,
    /// Largest packet, overhead included; none if absent.
    pub mtu_bytes: Option<u32>,
    /// Fragment datagrams that are too large instead of refusing them.
    #[serde(default)]
    pub fragment: bool,
}

impl PathSpec {
    /// Checks everything.
    ///
    /// # Errors
    /// One line naming the element, the key, its value and what is allowed.
    pub fn validate(&self) -> Result<(), String> {
        validate_direction(&self.data, "data")?;
        validate_direction(&self.ack, "ack")?;
        self.encapsulation().validate()
    }

    /// The fixed delays of both directions together, as they are at the start.
    pub fn base_rtt(&self) -> Span {
        self.data.iter().chain(&self.ack).fold(Span::ZERO, |sum, element| sum + element.fixed_delay())
    }

    /// When a schedule last changes an element before `end`; changes of queues do not count.
    pub fn last_change(&self, end: Time) -> Option<Time> {
        let changes = self.data.iter().chain(&self.ack).flat_map(ElementSpec::schedule);
        let changes = changes.filter(|change| !change.parameters.is_empty()).map(Change::at);
        changes.filter(|&at| at > Time::ZERO && at < end).max()
    }

    /// How datagrams become packets.
    pub fn encapsulation(&self) -> Encapsulation {
        Encapsulation {
            overhead_bytes: self.overhead_bytes,
            mtu_bytes: self.mtu_bytes,
            fragment: self.fragment,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(data: &str) -> String {
        let json = format!(r#"{{"data": [{data}], "ack": []}}"#);
        match serde_json::from_str::<PathSpec>(&json) {
            Ok(spec) => spec.validate().unwrap_err(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_path_reads_writes_and_sums_its_delays() {
        let json = r#"{
            "data": [{"kind": "link", "rate_mbps": 12, "queue": {"kind": "droptail", "packets": 9}},
                     {"kind": "loss", "probability": 0.01}, {"kind": "delay", "delay_ms": 28}],
            "ack": [{"kind": "netem", "delay_ms": 10.5}, {"kind": "delay", "delay_ms": 2,
                     "schedule": [{"at_s": 5, "delay_ms": 80}]}],
            "overhead_bytes": 36, "mtu_bytes": 1500, "fragment": true}"#;
        let spec: PathSpec = serde_json::from_str(json).unwrap();
        assert_eq!(spec.validate(), Ok(()));
        assert_eq!(spec.base_rtt(), Span::from_us(40_500));
        let expected = Encapsulation { overhead_bytes: 36, mtu_bytes: Some(1500), fragment: true };
        assert_eq!(spec.encapsulation(), expected);
        let written = serde_json::to_string(&spec).unwrap();
        let again: PathSpec = serde_json::from_str(&written).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), written);
    }

    #[test]
    fn schedules_say_when_anything_changes_last() {
        let json = r#"{
            "data": [{"kind": "link", "rate_mbps": 12, "queue": {"kind": "droptail", "packets": 9},
                      "schedule": [{"at_s": 7, "rate_mbps": 6}, {"at_s": 9, "queue": {"packets": 5}}]},
                     {"kind": "delay", "delay_ms": 20, "schedule": [{"at_s": 3, "delay_ms": 40}]}],
            "ack": [{"kind": "delay", "delay_ms": 20, "schedule": [{"at_s": 3, "delay_ms": 30},
                     {"at_s": 5, "delay_ms": 10}]}]}"#;
        let spec: PathSpec = serde_json::from_str(json).unwrap();
        let at = |s: u64| Time::ZERO + Span::from_secs(s);
        assert_eq!((spec.last_change(at(20)), spec.last_change(at(7))), (Some(at(7)), Some(at(5))));
        assert_eq!(spec.last_change(at(3)), None);
    }

    #[test]
    fn every_element_can_be_written_and_read_back() {
        let json = r#"[{"kind": "trace", "poisson": {"rate_mbps": 3, "head_s": 1}, "mode": "mahimahi", "once": true},
            {"kind": "trace", "even": {"lines": 9, "period_ms": 4.5}}, {"kind": "poisson", "rate_mbps": 1},
            {"kind": "shaper", "rate_mbps": 1, "burst_bytes": 9}, {"kind": "jitter", "distribution": "uniform",
            "mean_ms": 1, "deviation_ms": 1}, {"kind": "policer", "rate_mbps": 1, "burst_bytes": 9, "action": "mark"},
            {"kind": "aggregate", "slot_ms": 1}, {"kind": "slotted", "slot_ms": 1}, {"kind": "gilbert-elliott", "p": 0.1, "r": 0.2},
            {"kind": "reorder", "probability": 0.1, "gap": 3}, {"kind": "duplicate", "probability": 0.1},
            {"kind": "link", "rate_mbps": 3, "schedule": [{"at_s": 1, "rate_mbps": 2, "queue": {}}]}]"#;
        let elements: Vec<ElementSpec> = serde_json::from_str(json).unwrap();
        assert_eq!(validate_direction(&elements, "data"), Ok(()));
        let written = serde_json::to_string(&elements).unwrap();
        let again: Vec<ElementSpec> = serde_json::from_str(&written).unwrap();
        assert_eq!(validate_direction(&again, "data"), Ok(()));
        assert_eq!(serde_json::to_string(&again).unwrap(), written);
    }

    #[test]
    fn bad_parameters_are_named_in_one_line() {
        for (element, expected) in [
            (r#"{"kind": "link", "rate_mbps": 0}"#, "data[0] (link): rate_mbps = 0: must be above 0"),
            (r#"{"kind": "link", "rate_mbps": -3}"#, "rate_mbps = -3: must be above 0"),
            (r#"{"kind": "link", "rate_mbps": 1e9}"#, "rate_mbps = 1000000000: must be at most 1000000"),
            (r#"{"kind": "link", "rate_mbps": 1, "count_in_service": true}"#, "only with a `droptail` queue"),
            (
                r#"{"kind": "link", "rate_mbps": 1, "queue": {"kind": "droptail", "packets": 0}}"#,
                "data[0] (link): queue `droptail`: `packets` = 0",
            ),
            (r#"{"kind": "delay", "delay_ms": -1}"#, "data[0] (delay): delay_ms = -1: must not be negative"),
            (r#"{"kind": "delay", "delay_ms": 1, "tick_ms": 0}"#, "tick_ms = 0: must be above 0"),
            (r#"{"kind": "loss", "probability": 1.5}"#, "probability = 1.5: must be from 0 to 1"),
            (r#"{"kind": "loss"}"#, "probability, every, packets: exactly one is needed"),
            (r#"{"kind": "loss", "probability": 0.1, "every": 3}"#, "exactly one is needed"),
            (r#"{"kind": "loss", "every": 0}"#, "every = 0: must be at least 1"),
            (r#"{"kind": "loss", "packets": [0]}"#, "packets[0] = 0: must be above 0"),
            (r#"{"kind": "loss", "packets": [3, 3]}"#, "packets[1] = 3: must be above 3"),
            (r#"{"kind": "gilbert-elliott", "p": 0.1, "r": 2}"#, "r = 2: must be from 0 to 1"),
            (r#"{"kind": "reorder", "probability": 0.1}"#, "delay_ms, gap: at least one is needed"),
            (r#"{"kind": "reorder", "probability": 0.1, "gap": 0}"#, "gap = 0: must be at least 1"),
            (r#"{"kind": "duplicate", "probability": -0.1}"#, "probability = -0.1: must be from 0 to 1"),
            (r#"{"kind": "shaper", "rate_mbps": 1, "burst_bytes": 0}"#, "burst_bytes = 0: must be from 1"),
            (r#"{"kind": "policer", "rate_mbps": 0, "burst_bytes": 1}"#, "rate_mbps = 0: must be above 0"),
            (r#"{"kind": "aggregate", "slot_ms": 0}"#, "slot_ms = 0: must be above 0"),
            (r#"{"kind": "slotted", "slot_ms": 0}"#, "slot_ms = 0: must be at least 0.001"),
            (
                r#"{"kind": "aggregate", "slot_ms": 1, "max_packets": 0}"#,
                "max_packets = 0: must be at least 1",
            ),
            (
                r#"{"kind": "netem", "delay_ms": 1, "rate_mbps": 1}"#,
                "rate_mbps, burst_bytes: allowed is both",
            ),
            (r#"{"kind": "netem", "delay_ms": 1, "limit_packets": 0}"#, "limit_packets = 0"),
            (r#"{"kind": "poisson", "rate_mbps": 1, "opportunity_bytes": 0}"#, "opportunity_bytes = 0"),
            (r#"{"kind": "poisson", "rate_mbps": 1, "head_s": 1, "head_gap_ms": 0}"#, "head_gap_ms = 0"),
            (
                r#"{"kind": "jitter", "distribution": "exponential", "mean_ms": 1, "deviation_ms": 1}"#,
                "deviation_ms = 1: not allowed with an exponential",
            ),
            (r#"{"kind": "jitter", "distribution": "normal", "mean_ms": 1}"#, "deviation_ms: missing"),
            (
                r#"{"kind": "jitter", "distribution": "exponential", "mean_ms": 1, "redraw_min_ms": 8}"#,
                "redraw_min_ms, redraw_max_ms: allowed is both or none",
            ),
            (
                r#"{"kind": "jitter", "distribution": "exponential", "mean_ms": 1, "redraw_min_ms": 8,
                    "redraw_max_ms": 4}"#,
                "redraw_max_ms = 4: must be at least redraw_min_ms = 8",
            ),
            (r#"{"kind": "jitter", "distribution": "cauchy", "mean_ms": 1}"#, "unknown variant `cauchy`"),
            (r#"{"kind": "link", "rate_mbps": 1, "rate": 1}"#, "unknown field `rate`"),
            (r#"{"kind": "wire"}"#, "unknown variant `wire`"),
        ] {
            let error = refusal(element);
            assert!(error.contains(expected) && !error.contains('\n'), "{element}: {error}");
        }
    }

    #[test]
    fn bad_traces_are_named_in_one_line() {
        for (trace, expected) in [
            (r#""base_ms": 0"#, "times_ms, even, poisson: exactly one is needed"),
            (r#""times_ms": [1], "even": {"lines": 3, "period_ms": 3}"#, "exactly one is needed"),
            (r#""times_ms": []"#, "times_ms: empty"),
            (r#""times_ms": [0, 0]"#, "times_ms: last time = 0: must be above 0"),
            (r#""times_ms": [3, 2]"#, "times_ms[1] = 2: must not be before 3"),
            (r#""times_ms": [-1]"#, "times_ms[0] = -1: must not be negative"),
            (r#""times_ms": [0.5, 1], "mode": "mahimahi""#, "times_ms[0] = 0.5: must be whole ms"),
            (r#""times_ms": [1], "mode": "mahimahi", "opportunity_bytes": 1500"#, "must be 1504"),
            (r#""times_ms": [1], "opportunity_bytes": 0"#, "opportunity_bytes = 0"),
            (r#""times_ms": [1], "base_ms": -1"#, "base_ms = -1: must not be negative"),
            (r#""times_ms": [1], "count_in_service": true"#, "only with a `droptail` queue"),
            (r#""even": {"lines": 0, "period_ms": 3}"#, "even.lines = 0: must be from 1"),
            (
                r#""even": {"lines": 1, "period_ms": 3}, "mode": "mahimahi""#,
                "the last opportunity would be at 0",
            ),
            (r#""even": {"lines": 100000000, "period_ms": 86400000}"#, "too many for so long a period"),
            (r#""poisson": {"rate_mbps": 0}"#, "poisson.rate_mbps = 0: must be above 0"),
            (r#""poisson": {"rate_mbps": 900000, "period_s": 9000}"#, "too high for so long a trace"),
            (r#""poisson": {"rate_mbps": 1, "head_s": 61}"#, "poisson.head_s = 61: must be at most 60"),
            (r#""times_ms": [1], "schedule": [{"at_s": 1, "base_ms": 3}]"#, "only its queue can"),
        ] {
            let error = refusal(&format!(r#"{{"kind": "trace", {trace}}}"#));
            assert!(error.contains(expected) && !error.contains('\n'), "{trace}: {error}");
        }
    }

    #[test]
    fn bad_schedules_are_named_in_one_line() {
        for (schedule, expected) in [
            (
                r#"{"at_s": 1, "rate": 3}"#,
                "data[0] (link): schedule[0]: rate: no numeric parameter of this element",
            ),
            (r#"{"at_s": 1, "rate": 3}"#, "allowed are rate_mbps, framing_bytes, device_packets"),
            (r#"{"at_s": 1, "rate_mbps": -3}"#, "schedule[0]: rate_mbps = -3: must be above 0"),
            (
                r#"{"at_s": 1, "framing_bytes": 1.5}"#,
                "schedule[0]: framing_bytes = 1.5: must be a whole number",
            ),
            (r#"{"at_s": -1, "rate_mbps": 3}"#, "schedule[0]: at_s = -1: must not be negative"),
            (
                r#"{"at_s": 2, "rate_mbps": 3}, {"at_s": 1, "rate_mbps": 3}"#,
                "schedule[1]: at_s = 1: must not be before 2",
            ),
            (r#"{"at_s": 1}"#, "schedule[0]: nothing to change"),
            (r#"{"at_s": 1, "queue": {"packets": 0}}"#, "schedule[0]: queue `droptail`: `packets` = 0"),
            (r#"{"at_s": 1, "queue": {"target_ms": 4}}"#, "schedule[0]: queue `droptail`: `target_ms`"),
            (r#"{"at_s": 1, "rate_mbps": "fast"}"#, "invalid type: string"),
            (r#"{"rate_mbps": 3}"#, "missing field `at_s`"),
        ] {
            let error = refusal(&format!(
                r#"{{"kind": "link", "rate_mbps": 1, "queue": {{"kind": "droptail", "packets": 3}},
                    "schedule": [{schedule}]}}"#
            ));
            assert!(error.contains(expected) && !error.contains('\n'), "{schedule}: {error}");
        }
        let error = refusal(
            r#"{"kind": "delay", "delay_ms": 1, "schedule": [{"at_s": 1, "queue": {"packets": 1}}]}"#,
        );
        assert!(
            error.contains("data[0] (delay): schedule[0]: queue: `packets` cannot be changed"),
            "{error}"
        );
    }

    #[test]
    fn a_narrow_mtu_is_refused() {
        let spec: PathSpec =
            serde_json::from_str(r#"{"data": [], "ack": [], "overhead_bytes": 36, "mtu_bytes": 50}"#)
                .unwrap();
        assert!(spec.validate().unwrap_err().contains("mtu_bytes = 50: must be at least 64"));
        assert!(serde_json::from_str::<PathSpec>(r#"{"data": [], "ack": [], "mtu": 50}"#).is_err());
    }
}
