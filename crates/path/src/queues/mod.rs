//! Queue disciplines: they decide which packets wait for a link, in which order they leave, and which are dropped or
//! marked.
//!
//! A new discipline needs a file with its table (`QueueTable`) and its state (`Discipline`), and a line in the list of
//! kinds below.

mod control_law;
mod discipline;
mod fifo;
#[cfg(test)]
mod properties;
mod quirk;
mod settings;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use quirk::QueueQuirk;

use crate::{Packet, PacketEvent, Tap};
use discipline::{Discipline, QueueTable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rate, Rng, Time};

/// Generates [`QueueSpec`] and [`Queue`] from the list of kinds: the value of `kind`, the module, and the table of its
/// settings.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:literal => $module:ident::$kind:ident($table:ident),)+) => {
        $(mod $module;)+

        /// Settings of every kind.
        pub(crate) mod tables {
            $(pub use super::$module::$table;)+
        }
        use tables::*;

        /// A queue discipline with its settings. `packets` and `bytes` limit the backlog; a backlog equal to a limit is
        /// allowed, and an absent limit means no limit. With `ecn`, ECN-capable packets are marked instead of dropped,
        /// except when a size limit drops them.
        #[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum QueueSpec {
            $($(#[$doc])* #[serde(rename = $name)] $kind($table),)+
        }

        impl QueueSpec {
            /// Returns the value of `kind`.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$kind(_) => $name,)+ }
            }

            /// Returns the maximum number of waiting packets; `None` without such a limit.
            pub fn packets(&self) -> Option<u64> {
                match self { $(Self::$kind(table) => table.packets(),)+ }
            }

            fn check(&self) -> Result<(), Refusal> {
                match self { $(Self::$kind(table) => table.check(),)+ }
            }

            /// Returns true if packets are dropped and marked only at arrival, never at departure.
            pub(crate) fn decides_on_arrival(&self) -> bool {
                match self { $(Self::$kind(table) => table.decides_on_arrival(),)+ }
            }
        }

        /// Queue. Calls must come with times that do not decrease.
        #[derive(Clone, Debug)]
        pub(crate) enum Queue {
            $($kind(<$table as QueueTable>::Discipline),)+
        }

        impl Queue {
            fn empty(spec: &QueueSpec, rng: Rng) -> Result<Self, Refusal> {
                Ok(match spec { $(QueueSpec::$kind(table) => Self::$kind(table.build(rng)?),)+ })
            }

            /// Handles the arrival of `packet`. Reports it as enqueued or dropped, and every packet that makes room for
            /// it as dropped.
            #[inline]
            pub(crate) fn enqueue<T: Tap>(&mut self, now: Time, mut packet: Packet, tap: &mut T) {
                packet.queued = now;
                match self { $(Self::$kind(queue) => queue.enqueue(now, packet, tap),)+ }
            }

            /// Returns the next packet to send and reports it as dequeued; drops and marks on the way are reported too.
            /// Returns `None` only if nothing waits.
            #[inline]
            pub(crate) fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
                let packet = match self { $(Self::$kind(queue) => queue.dequeue(now, tap),)+ }?;
                tap.packet(now, PacketEvent::Dequeued, &packet);
                Some(packet)
            }

            /// Returns the number of waiting packets.
            #[inline]
            pub(crate) fn packets(&self) -> u64 {
                match self { $(Self::$kind(queue) => queue.packets(),)+ }
            }

            /// Returns the number of waiting bytes.
            #[inline]
            pub(crate) fn bytes(&self) -> u64 {
                match self { $(Self::$kind(queue) => queue.bytes(),)+ }
            }

            /// Changes the numeric setting `name` of [`QueueSpec`] during a run. A limit that falls below the backlog
            /// takes effect on arrivals, an update period after the next update.
            pub(crate) fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
                let (kind, result) = match self { $(Self::$kind(queue) => ($name, queue.set(name, value)),)+ };
                result.map_err(|refusal| refusal.at(place(kind)))
            }

            /// Passes the link's current rate to the disciplines that use it; zero if unknown.
            pub(crate) fn set_rate(&mut self, rate: Rate) {
                match self { $(Self::$kind(queue) => queue.set_rate(rate),)+ }
            }
        }
    };
}

kinds! {
    /// Keeps everything.
    "infinite" => infinite::Infinite(InfiniteSpec),
    /// Refuses arrivals that do not fit; one of `packets` and `bytes` is needed.
    "droptail" => droptail::Droptail(DroptailSpec),
    /// Accepts, then drops the oldest until the limits hold; one of `packets` and `bytes` is needed.
    "drophead" => drophead::Drophead(DropheadSpec),
    /// Droptail, and ACKs that a later one makes superfluous are dropped; one of `packets` and `bytes` is needed.
    "ack-filter" => ack_filter::AckFilter(AckFilterSpec),
    /// Controlled delay, RFC 8289.
    "codel" => codel::Codel(CodelSpec),
    /// Proportional integral controller enhanced, RFC 8033.
    "pie" => pie::Pie(PieSpec),
    /// Random early detection (Floyd and Jacobson 1993), with the gentle slope of 2000.
    "red" => red::Red(RedSpec),
    /// Fair queueing with CoDel per flow, RFC 8290.
    "fq-codel" => fq_codel::FqCodel(FqCodelSpec),
    /// Marks every ECN-capable packet beyond the threshold, drops nothing below the limits.
    "step" => step::Step(StepSpec),
    /// CoDel and BLUE side by side, the AQM of CAKE (`sch_cake`).
    "cobalt" => cobalt::Cobalt(CobaltSpec),
    /// Dual-queue coupled AQM for L4S, RFC 9332, appendix A.
    "dualpi2" => dualpi2::Dualpi2(Dualpi2Spec),
}

fn place(kind: &str) -> String {
    format!("queue `{kind}`")
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self::Infinite(InfiniteSpec {})
    }
}

impl QueueSpec {
    /// Checks the settings.
    ///
    /// # Errors
    /// One line naming the discipline, the key, its value and what is allowed.
    pub fn validate(&self) -> Result<(), Refusal> {
        self.check().map_err(|refusal| refusal.at(place(self.kind())))
    }
}

impl Queue {
    /// Returns the queue of `spec`, empty. Its random draws come from `rng`.
    pub(crate) fn build(spec: &QueueSpec, rng: Rng) -> Result<Self, Refusal> {
        spec.validate()?;
        Self::empty(spec, rng)
    }

    /// Returns the maximum number of waiting packets and bytes, if further arrivals are refused and no other rule
    /// affects packets.
    pub(crate) fn refuses_beyond(&self) -> Option<(u64, u64)> {
        match self {
            Self::Infinite(_) => Some((u64::MAX, u64::MAX)),
            Self::Droptail(queue) => Some(queue.most()),
            _ => None,
        }
    }

    /// Returns true if nothing waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.packets() == 0
    }
}
