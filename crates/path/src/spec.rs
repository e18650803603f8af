//! What can be asked of a path: its elements, their order and their changes during a run.

use crate::element::{Stage, Streams};
use crate::encapsulation::Encapsulation;
use crate::parameters::{Parameters, not_negative, refuse};
use crate::{
    AggregateSpec, DelaySpec, DuplicateSpec, GilbertElliottSpec, JitterSpec, LinkSpec, LossSpec, NetemSpec,
    PoissonSpec, PolicerSpec, ReorderSpec, ShaperSpec, TraceSpec,
};
use serde::{Deserialize, Serialize};
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
    /// When, s.
    pub at_s: f64,
    /// Parameters of the queue.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub queue: BTreeMap<String, f64>,
    /// Parameters of the element.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, f64>,
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
            ElementSpec::Shaper($inner) => $call,
            ElementSpec::Policer($inner) => $call,
            ElementSpec::Delay($inner) => $call,
            ElementSpec::Jitter($inner) => $call,
            ElementSpec::Aggregate($inner) => $call,
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
            Self::Shaper(_) => "shaper",
            Self::Policer(_) => "policer",
            Self::Delay(_) => "delay",
            Self::Jitter(_) => "jitter",
            Self::Aggregate(_) => "aggregate",
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

    fn check(&self, running: bool) -> Result<(), String> {
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
            dispatch!(state, spec => spec.set(name, value))?;
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
        self.states()?;
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
    fn fixed_delay(&self) -> Span {
        let ms = match self {
            Self::Delay(spec) => spec.delay_ms,
            Self::Netem(spec) => spec.delay_ms,
            _ => 0.0,
        };
        Span::from_secs_f64(ms / 1e3)
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

    /// How datagrams become packets.
    pub fn encapsulation(&self) -> Encapsulation {
        Encapsulation {
            overhead_bytes: self.overhead_bytes,
            mtu_bytes: self.mtu_bytes,
            fragment: self.fragment,
        }
    }
}
