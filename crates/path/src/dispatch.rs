//! Dispatch of calls from any stage to its element.

use crate::element::{Element, ElementTable, Streams, no_queue};
use crate::elements::{element_kinds, tables};
use crate::fast_link::FastLink;
use crate::link_counters::LinkTally;
use crate::spec::ElementSpec;
use crate::{Packet, Tap};
use strict_input::Refusal;
use units::Time;

/// Generates [`Stage`] from the list of kinds.
macro_rules! define {
    ($($(#[$doc:meta])* $name:literal => $module:ident::$kind:ident($table:ident),)+) => {
        /// Element of any kind.
        #[derive(Clone, Debug)]
        pub(crate) enum Stage {
            $($kind(<tables::$table as ElementTable>::Element),)+
            /// Link that works ahead.
            FastLink(FastLink),
        }

        impl Stage {
            /// Builds the element of a checked `spec`.
            pub(crate) fn build(spec: &ElementSpec, name: String, streams: &Streams<'_>) -> Result<Self, Refusal> {
                Ok(match spec { $(ElementSpec::$kind(table) => Self::$kind(table.build(name, streams)?),)+ })
            }

            /// Applies the numeric settings of `spec`, which has this element's kind.
            pub(crate) fn change(&mut self, now: Time, spec: &ElementSpec) {
                match (self, spec) {
                    $((Self::$kind(element), ElementSpec::$kind(table)) => element.change(now, table),)+
                    (_, _) => debug_assert!(false, "a change of another kind of element"),
                }
            }

            #[inline]
            pub(crate) fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
                match self { $(Self::$kind(element) => element.arrive(now, packet, tap),)+ Self::FastLink(link) => { link.arrive(now, packet, tap); None } }
            }

            #[inline]
            pub(crate) fn next_event(&self) -> Time {
                match self { $(Self::$kind(element) => element.next_event(),)+ Self::FastLink(link) => link.next_event(), }
            }

            #[inline]
            pub(crate) fn step<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
                match self { $(Self::$kind(element) => element.step(now, tap),)+ Self::FastLink(link) => link.step(now), }
            }

            pub(crate) fn packets(&self) -> u64 {
                match self { $(Self::$kind(element) => element.packets(),)+ Self::FastLink(link) => link.packets(), }
            }

            pub(crate) fn set_queue(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
                match self { $(Self::$kind(element) => element.set_queue(name, value),)+ Self::FastLink(_) => Err(no_queue(name)), }
            }

            pub(crate) fn tally(&self) -> Option<&LinkTally> {
                match self { $(Self::$kind(element) => element.tally(),)+ Self::FastLink(link) => Some(link.tally()), }
            }

            /// Updates the counters to `now`, after everything up to `done` has happened.
            pub(crate) fn settle(&mut self, done: Time, now: Time) {
                match self { $(Self::$kind(element) => element.settle(now),)+ Self::FastLink(link) => link.settle(done, now) }
            }

            pub(crate) fn watch_from(&mut self, at: Time) {
                match self { $(Self::$kind(element) => element.watch_from(at),)+ Self::FastLink(link) => link.watch_from(at), }
            }
        }
    };
}

element_kinds!(define);

impl Stage {
    /// Returns the packet that leaves next, if it is known: for a link that works ahead, a delay and jitter.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Packet> {
        match self {
            Self::FastLink(link) => link.front(),
            Self::Delay(delay) => delay.front(),
            Self::Jitter(jitter) => jitter.front(),
            _ => None,
        }
    }

    /// Takes over the work of `next`, the element behind this one, if one of the two can do both. The departure times
    /// of `next` stay, but every packet has one event less.
    pub(crate) fn merge(&mut self, next: &Self) -> bool {
        match (&mut *self, next) {
            (Self::FastLink(link), Self::Delay(delay)) => {
                delay.constant().is_some_and(|delay| link.add_delay(delay))
            }
            (Self::FastLink(link), Self::Jitter(jitter)) => link.add_jitter(jitter),
            (Self::Delay(delay), Self::Jitter(jitter)) => {
                let Some(delay) = delay.constant() else { return false };
                let mut jitter = jitter.clone();
                jitter.add_before(delay);
                *self = Self::Jitter(jitter);
                true
            }
            _ => false,
        }
    }

    /// Connects this element and `other`, an element of the other direction, to one channel if both name it.
    pub(crate) fn share_channel(&self, other: &mut Self) {
        if let (Self::HalfDuplex(station), Self::HalfDuplex(partner)) = (self, other) {
            station.join(partner);
        }
    }

    /// Makes a link work ahead, if its queue tells when packets leave.
    pub(crate) fn work_ahead(&mut self) {
        if let Self::Link(link) = self
            && let Some(fast) = link.ahead()
        {
            *self = Self::FastLink(fast);
        }
    }
}
