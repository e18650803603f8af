//! What every element of a path does, and the dispatch over them.

use crate::aggregate::Aggregate;
use crate::cellular::Cellular;
use crate::delay::Delay;
use crate::duplicate::Duplicate;
use crate::gilbert_elliott::GilbertElliott;
use crate::jitter::Jitter;
use crate::link::Link;
use crate::loss::Loss;
use crate::netem::Netem;
use crate::poisson::Poisson;
use crate::policer::Policer;
use crate::reorder::Reorder;
use crate::shaper::Shaper;
use crate::slotted::Slotted;
use crate::trace::Trace;
use crate::{ElementSpec, LinkStats, Packet, Tap};
use units::{Rng, Time};

/// One element. Calls come with times that do not decrease; `step` comes at the time of `next_event` and before an
/// arrival at the same time.
pub(crate) trait Element {
    /// A packet arrives. Returns it if it passes at once.
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet>;
    /// When the next step is due. An element that keeps no packets has none to plan.
    fn next_event(&self) -> Time {
        Time::NEVER
    }
    /// Does what is due, up to the departure of one packet.
    fn step<T: Tap>(&mut self, _now: Time, _tap: &mut T) -> Option<Packet> {
        None
    }
    /// Packets inside.
    fn packets(&self) -> u64 {
        0
    }
    /// Changes a parameter of the queue, if it has one.
    fn set_queue(&mut self, name: &str, _value: f64) -> Result<(), String> {
        Err(format!("queue: `{name}` cannot be changed, the element has no queue"))
    }
    /// The counters, if it is a link.
    fn stats(&self) -> Option<&LinkStats> {
        None
    }
    /// Brings the counters up to `now`.
    fn finish(&mut self, _now: Time) {}
    /// From when the longest waiting time is to be kept a second time, if it is a link with a queue.
    fn watch_from(&mut self, _at: Time) {}
}

/// Which random streams an element draws from.
pub(crate) struct Streams<'a> {
    pub(crate) seed: u64,
    /// `direction/index/kind`.
    pub(crate) prefix: &'a str,
}

impl Streams<'_> {
    pub(crate) fn element(&self) -> Rng {
        Rng::new(self.seed, self.prefix)
    }

    pub(crate) fn queue(&self) -> Rng {
        Rng::new(self.seed, &format!("{}/queue", self.prefix))
    }
}

/// Any element.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    Link(Link),
    Trace(Trace),
    Poisson(Poisson),
    Cellular(Cellular),
    Shaper(Shaper),
    Policer(Policer),
    Delay(Delay),
    Jitter(Jitter),
    Aggregate(Aggregate),
    Slotted(Slotted),
    Loss(Loss),
    GilbertElliott(GilbertElliott),
    Reorder(Reorder),
    Duplicate(Duplicate),
    Netem(Netem),
}

/// Runs `$call` on whatever element `$stage` is.
macro_rules! dispatch {
    ($stage:expr, $element:ident => $call:expr) => {
        match $stage {
            Stage::Link($element) => $call,
            Stage::Trace($element) => $call,
            Stage::Poisson($element) => $call,
            Stage::Cellular($element) => $call,
            Stage::Shaper($element) => $call,
            Stage::Policer($element) => $call,
            Stage::Delay($element) => $call,
            Stage::Jitter($element) => $call,
            Stage::Aggregate($element) => $call,
            Stage::Slotted($element) => $call,
            Stage::Loss($element) => $call,
            Stage::GilbertElliott($element) => $call,
            Stage::Reorder($element) => $call,
            Stage::Duplicate($element) => $call,
            Stage::Netem($element) => $call,
        }
    };
}

impl Stage {
    /// The element that a checked `spec` asks for.
    pub(crate) fn build(spec: &ElementSpec, name: String, streams: &Streams<'_>) -> Result<Self, String> {
        Ok(match spec {
            ElementSpec::Link(spec) => Self::Link(Link::build(spec, name, streams)?),
            ElementSpec::Trace(spec) => Self::Trace(Trace::build(spec, name, streams)?),
            ElementSpec::Poisson(spec) => Self::Poisson(Poisson::build(spec, name, streams)?),
            ElementSpec::Cellular(spec) => Self::Cellular(Cellular::build(spec, name, streams)?),
            ElementSpec::Shaper(spec) => Self::Shaper(Shaper::build(spec, name, streams)?),
            ElementSpec::Policer(spec) => Self::Policer(Policer::new(spec, name)),
            ElementSpec::Delay(spec) => Self::Delay(Delay::new(spec)),
            ElementSpec::Jitter(spec) => Self::Jitter(Jitter::new(spec, streams.element())),
            ElementSpec::Aggregate(spec) => Self::Aggregate(Aggregate::new(spec)),
            ElementSpec::Slotted(spec) => Self::Slotted(Slotted::new(spec, streams.element())),
            ElementSpec::Loss(spec) => Self::Loss(Loss::new(spec, streams.element())),
            ElementSpec::GilbertElliott(spec) => {
                Self::GilbertElliott(GilbertElliott::new(spec, streams.element()))
            }
            ElementSpec::Reorder(spec) => Self::Reorder(Reorder::new(spec, streams.element())),
            ElementSpec::Duplicate(spec) => Self::Duplicate(Duplicate::new(spec, streams.element())),
            ElementSpec::Netem(spec) => Self::Netem(Netem::new(spec, name)),
        })
    }

    /// Takes over the numeric parameters of `spec`, which is of this element's kind.
    pub(crate) fn change(&mut self, now: Time, spec: &ElementSpec) {
        match (self, spec) {
            (Self::Link(element), ElementSpec::Link(spec)) => element.change(now, spec),
            (Self::Poisson(element), ElementSpec::Poisson(spec)) => element.apply(now, spec),
            (Self::Cellular(element), ElementSpec::Cellular(spec)) => element.apply(now, spec),
            (Self::Shaper(element), ElementSpec::Shaper(spec)) => element.change(now, spec),
            (Self::Policer(element), ElementSpec::Policer(spec)) => element.change(now, spec),
            (Self::Delay(element), ElementSpec::Delay(spec)) => element.change(spec),
            (Self::Jitter(element), ElementSpec::Jitter(spec)) => element.change(now, spec),
            (Self::Aggregate(element), ElementSpec::Aggregate(spec)) => element.change(spec),
            (Self::Slotted(element), ElementSpec::Slotted(spec)) => element.change(spec),
            (Self::Loss(element), ElementSpec::Loss(spec)) => element.change(spec),
            (Self::GilbertElliott(element), ElementSpec::GilbertElliott(spec)) => element.change(spec),
            (Self::Reorder(element), ElementSpec::Reorder(spec)) => element.change(spec),
            (Self::Duplicate(element), ElementSpec::Duplicate(spec)) => element.change(spec),
            (Self::Netem(element), ElementSpec::Netem(spec)) => element.change(now, spec),
            (_, _) => debug_assert!(false, "a change of another kind of element"),
        }
    }

    #[inline]
    pub(crate) fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        dispatch!(self, element => element.arrive(now, packet, tap))
    }

    #[inline]
    pub(crate) fn next_event(&self) -> Time {
        dispatch!(self, element => element.next_event())
    }

    #[inline]
    pub(crate) fn step<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        dispatch!(self, element => element.step(now, tap))
    }

    pub(crate) fn packets(&self) -> u64 {
        dispatch!(self, element => element.packets())
    }

    pub(crate) fn set_queue(&mut self, name: &str, value: f64) -> Result<(), String> {
        dispatch!(self, element => element.set_queue(name, value))
    }

    pub(crate) fn stats(&self) -> Option<&LinkStats> {
        dispatch!(self, element => element.stats())
    }

    pub(crate) fn finish(&mut self, now: Time) {
        dispatch!(self, element => element.finish(now));
    }

    pub(crate) fn watch_from(&mut self, at: Time) {
        dispatch!(self, element => element.watch_from(at));
    }
}
