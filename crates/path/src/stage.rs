//! Any element: which one it is, is decided here for every call.

use crate::element::{Element, ElementTable, Streams};
use crate::kinds::element_kinds;
use crate::spec::ElementSpec;
use crate::tally::LinkTally;
use crate::{Packet, Tap};
use units::Time;

/// Makes [`Stage`] from the list of kinds.
macro_rules! define {
    ($($(#[$doc:meta])* $name:literal => $kind:ident($table:ty),)+) => {
        /// Any element.
        #[derive(Clone, Debug)]
        pub(crate) enum Stage {
            $($kind(<$table as ElementTable>::Element),)+
        }

        impl Stage {
            /// The element that a checked `spec` asks for.
            pub(crate) fn build(spec: &ElementSpec, name: String, streams: &Streams<'_>) -> Result<Self, String> {
                Ok(match spec { $(ElementSpec::$kind(table) => Self::$kind(table.build(name, streams)?),)+ })
            }

            /// Takes over the numeric settings of `spec`, which is of this element's kind.
            pub(crate) fn change(&mut self, now: Time, spec: &ElementSpec) {
                match (self, spec) {
                    $((Self::$kind(element), ElementSpec::$kind(table)) => element.change(now, table),)+
                    (_, _) => debug_assert!(false, "a change of another kind of element"),
                }
            }

            #[inline]
            pub(crate) fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
                match self { $(Self::$kind(element) => element.arrive(now, packet, tap),)+ }
            }

            #[inline]
            pub(crate) fn next_event(&self) -> Time {
                match self { $(Self::$kind(element) => element.next_event(),)+ }
            }

            #[inline]
            pub(crate) fn step<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
                match self { $(Self::$kind(element) => element.step(now, tap),)+ }
            }

            pub(crate) fn packets(&self) -> u64 {
                match self { $(Self::$kind(element) => element.packets(),)+ }
            }

            pub(crate) fn set_queue(&mut self, name: &str, value: f64) -> Result<(), String> {
                match self { $(Self::$kind(element) => element.set_queue(name, value),)+ }
            }

            pub(crate) fn tally(&self) -> Option<&LinkTally> {
                match self { $(Self::$kind(element) => element.tally(),)+ }
            }

            pub(crate) fn settle(&mut self, now: Time) {
                match self { $(Self::$kind(element) => element.settle(now),)+ }
            }

            pub(crate) fn watch_from(&mut self, at: Time) {
                match self { $(Self::$kind(element) => element.watch_from(at),)+ }
            }
        }
    };
}

element_kinds!(define);
