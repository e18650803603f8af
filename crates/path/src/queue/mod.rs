//! Queue disciplines: what waits for a link, in which order it leaves, and what is dropped or marked.
//!
//! Adding one: a file with its state, a variant of [`QueueSpec`] and of [`Queue`].

mod cobalt;
mod codel;
mod control_law;
mod drophead;
mod droptail;
mod dualpi2;
mod fifo;
mod fq_codel;
mod pie;
mod pie_mahimahi;
#[cfg(test)]
mod properties;
mod red;
mod spec;
mod step;
#[cfg(test)]
mod testing;

pub use cobalt::CobaltSpec;
pub use dualpi2::Dualpi2Spec;
pub use spec::{QueueQuirk, QueueSpec};

use crate::{Packet, PacketEvent, Tap};
use cobalt::Cobalt;
use codel::Codel;
use drophead::Drophead;
use droptail::Droptail;
use dualpi2::Dualpi2;
use fifo::Limits;
use fq_codel::FqCodel;
use pie::Pie;
use pie_mahimahi::MahimahiPie;
use red::Red;
use step::Step;
use units::{Rate, Rng, Time};

/// A queue. Calls must come with times that do not decrease.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    /// Droptail, and infinite: the same without limits.
    Droptail(Droptail),
    Drophead(Drophead),
    Codel(Codel),
    Pie(Pie),
    MahimahiPie(MahimahiPie),
    Red(Red),
    FqCodel(FqCodel),
    Step(Step),
    Cobalt(Cobalt),
    Dualpi2(Dualpi2),
}

/// Runs `$call` on whatever discipline `$queue` is.
macro_rules! dispatch {
    ($queue:expr, $discipline:ident => $call:expr) => {
        match $queue {
            Queue::Droptail($discipline) => $call,
            Queue::Drophead($discipline) => $call,
            Queue::Codel($discipline) => $call,
            Queue::Pie($discipline) => $call,
            Queue::MahimahiPie($discipline) => $call,
            Queue::Red($discipline) => $call,
            Queue::FqCodel($discipline) => $call,
            Queue::Step($discipline) => $call,
            Queue::Cobalt($discipline) => $call,
            Queue::Dualpi2($discipline) => $call,
        }
    };
}

impl Queue {
    /// The queue that `spec` asks for, empty. Its random draws come from `rng`.
    pub(crate) fn build(spec: &QueueSpec, rng: Rng) -> Result<Self, String> {
        spec.validate()?;
        let (packets, bytes) = spec.limits();
        let limits = Limits::new(packets, bytes);
        Ok(match spec {
            QueueSpec::Infinite {} => Self::Droptail(Droptail::infinite()),
            QueueSpec::Droptail { .. } => Self::Droptail(Droptail::new(limits)),
            QueueSpec::Drophead { .. } => Self::Drophead(Drophead::new(limits)),
            QueueSpec::Codel { .. } => {
                Self::Codel(Codel::new(limits, spec.codel_settings()?, spec.is_mahimahi()))
            }
            QueueSpec::Pie { .. } if spec.is_mahimahi() => {
                Self::MahimahiPie(MahimahiPie::new(limits, &spec.pie_settings()?, rng))
            }
            QueueSpec::Pie { .. } => Self::Pie(Pie::new(limits, spec.pie_settings()?, rng)),
            QueueSpec::Red { .. } => Self::Red(Red::new(limits, spec.red_settings()?, rng)),
            QueueSpec::FqCodel { flows, quantum_bytes, .. } => {
                Self::FqCodel(FqCodel::new(*flows, *quantum_bytes, limits, spec.codel_settings()?, rng))
            }
            QueueSpec::Step { .. } => Self::Step(Step::new(limits, spec.step_threshold()?)),
            QueueSpec::Cobalt(spec) => Self::Cobalt(Cobalt::new(limits, spec.settings()?, rng)),
            QueueSpec::Dualpi2(spec) => Self::Dualpi2(Dualpi2::new(limits, spec.settings()?)),
        })
    }

    /// `packet` arrives. Reports it as enqueued or dropped, and every packet that has to go for it as dropped.
    #[inline]
    pub(crate) fn enqueue<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) {
        packet.queued = now;
        dispatch!(self, queue => queue.enqueue(now, packet, tap));
    }

    /// The next packet to send, reported as dequeued; drops and marks on the way are reported too. None only if
    /// nothing is queued.
    #[inline]
    pub(crate) fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let packet = match self {
            Self::Droptail(queue) => queue.dequeue(),
            Self::Drophead(queue) => queue.dequeue(),
            Self::Codel(queue) => queue.dequeue(now, tap),
            Self::Pie(queue) => queue.dequeue(now),
            Self::MahimahiPie(queue) => queue.dequeue(now),
            Self::Red(queue) => queue.dequeue(now),
            Self::FqCodel(queue) => queue.dequeue(now, tap),
            Self::Step(queue) => queue.dequeue(now, tap),
            Self::Cobalt(queue) => queue.dequeue(now, tap),
            Self::Dualpi2(queue) => queue.dequeue(now, tap),
        }?;
        tap.packet(now, PacketEvent::Dequeued, &packet);
        Some(packet)
    }

    /// Packets waiting.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        match self {
            Self::Droptail(queue) => queue.fifo.packets(),
            Self::Drophead(queue) => queue.fifo.packets(),
            Self::Codel(queue) => queue.fifo.packets(),
            Self::Pie(queue) => queue.fifo.packets(),
            Self::MahimahiPie(queue) => queue.fifo.packets(),
            Self::Red(queue) => queue.fifo.packets(),
            Self::FqCodel(queue) => queue.packets(),
            Self::Step(queue) => queue.fifo.packets(),
            Self::Cobalt(queue) => queue.fifo.packets(),
            Self::Dualpi2(queue) => queue.packets(),
        }
    }

    /// Bytes waiting.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Droptail(queue) => queue.fifo.bytes(),
            Self::Drophead(queue) => queue.fifo.bytes(),
            Self::Codel(queue) => queue.fifo.bytes(),
            Self::Pie(queue) => queue.fifo.bytes(),
            Self::MahimahiPie(queue) => queue.fifo.bytes(),
            Self::Red(queue) => queue.fifo.bytes(),
            Self::FqCodel(queue) => queue.bytes(),
            Self::Step(queue) => queue.fifo.bytes(),
            Self::Cobalt(queue) => queue.fifo.bytes(),
            Self::Dualpi2(queue) => queue.bytes(),
        }
    }

    /// Whether nothing waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.packets() == 0
    }

    /// Changes the numeric parameter `name`, called as in [`QueueSpec`], during a run. A limit that falls below the
    /// backlog takes effect on arrivals, an update period after the next update.
    pub(crate) fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        let kind = self.kind();
        dispatch!(self, queue => queue.set(name, value)).map_err(|why| format!("queue `{kind}`: {why}"))
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Droptail(queue) => queue.kind(),
            Self::Drophead(_) => "drophead",
            Self::Codel(_) => "codel",
            Self::Pie(_) | Self::MahimahiPie(_) => "pie",
            Self::Red(_) => "red",
            Self::FqCodel(_) => "fq-codel",
            Self::Step(_) => "step",
            Self::Cobalt(_) => "cobalt",
            Self::Dualpi2(_) => "dualpi2",
        }
    }

    /// Tells the link's present rate to the disciplines that use it: RED ages its average with it, PIE (the RFC's)
    /// takes it for the departure rate until it has measured one, COBALT knows from it how long a packet takes. Zero if
    /// unknown.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        match self {
            Self::Pie(queue) => queue.set_rate(rate),
            Self::Red(queue) => queue.set_rate(rate),
            Self::Cobalt(queue) => queue.set_rate(rate),
            Self::Droptail(_)
            | Self::Drophead(_)
            | Self::Codel(_)
            | Self::MahimahiPie(_)
            | Self::FqCodel(_)
            | Self::Step(_)
            | Self::Dualpi2(_) => {}
        }
    }
}
