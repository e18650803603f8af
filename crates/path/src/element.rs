//! What every element of a path does, and what its table of settings says.

use crate::change::{Change, WalkSpec};
use crate::link_counters::LinkTally;
use crate::queues::QueueSpec;
use crate::{Packet, Tap};
use strict_input::Refusal;
use units::{Rng, Time};

/// One element at work. Calls come with times that do not decrease; `step` comes at the time of `next_event` and before
/// an arrival at the same time.
pub(crate) trait Element {
    /// The table that asks for it.
    type Table;
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
    /// Takes over the numeric settings of `table`.
    fn change(&mut self, now: Time, table: &Self::Table);
    /// Changes a setting of the queue, if it has one.
    fn set_queue(&mut self, name: &str, _value: f64) -> Result<(), Refusal> {
        Err(no_queue(name))
    }
    /// The counters, if it is a link.
    fn tally(&self) -> Option<&LinkTally> {
        None
    }
    /// Brings the counters up to `now`.
    fn settle(&mut self, _now: Time) {}
    /// From when on the longest waiting time is kept a second time, if it is a link with a queue.
    fn watch_from(&mut self, _at: Time) {}
}

/// The error for a change of the queue of an element without one.
pub(crate) fn no_queue(name: &str) -> Refusal {
    Refusal::of_key("queue", format!("{name} cannot be changed, the element has no queue"))
}

/// The table of settings of an element.
pub(crate) trait Table {
    /// Checks all settings; `running` if they are those after a scheduled change.
    fn check(&self, running: bool) -> Result<(), Refusal>;
    /// Sets the numeric setting `name`, without checking its range.
    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal>;
    /// The name it was given.
    fn name(&self) -> Option<&str>;
    /// Its changes during the run.
    fn schedule(&self) -> &[Change];
    /// Forgets them.
    fn clear_schedule(&mut self);
    /// The walks of its settings.
    fn walk(&self) -> Option<&WalkSpec>;
    /// Its queue, if it has one.
    fn queue(&self) -> Option<&QueueSpec> {
        None
    }
    /// Delay that every packet has at least, ms.
    fn delay_ms(&self) -> f64 {
        0.0
    }
    /// Probability of losing a packet, of an element that is there to lose packets, all with the same probability.
    fn loss(&self) -> Option<f64> {
        None
    }
    /// What it can carry, if it is a link.
    fn capacity(&self) -> Option<Capacity> {
        None
    }
}

/// The part of `Table` that all elements have in common; the listed fields are the settings that can change during a run.
macro_rules! settings {
    () => {
        $crate::element::settings!(@common);

        fn set(&mut self, name: &str, _value: f64) -> Result<(), strict_input::Refusal> {
            Err(strict_input::Refusal::of_key(
                name,
                "nothing of this element can be changed during the run; only its queue can",
            ))
        }
    };
    (@common) => {
        fn name(&self) -> Option<&str> {
            self.name.as_deref()
        }

        fn schedule(&self) -> &[$crate::change::Change] {
            &self.schedule
        }

        fn clear_schedule(&mut self) {
            self.schedule.clear();
        }

        fn walk(&self) -> Option<&$crate::change::WalkSpec> {
            self.walk.as_ref()
        }
    };
    ($($field:ident),+) => {
        $crate::element::settings!(@common);

        fn set(&mut self, name: &str, value: f64) -> Result<(), strict_input::Refusal> {
            match name {
                $(stringify!($field) => $crate::element_settings::assign(name, &mut self.$field, value),)+
                _ => Err($crate::element_settings::unknown(name, &[$(stringify!($field)),+])),
            }
        }
    };
}
pub(crate) use settings;

/// What a link can carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Capacity {
    /// On average, Mbit/s; infinite without a limit.
    pub(crate) mbps: f64,
    /// Whether it can at every moment, until a schedule or a walk changes it.
    pub(crate) steady: bool,
    /// Whether it offers its capacity in opportunities, which a tap can be told of.
    pub(crate) opportunities: bool,
}

impl Capacity {
    /// `mbps` at every moment.
    pub(crate) const fn steady(mbps: f64) -> Self {
        Self { mbps, steady: true, opportunities: false }
    }

    /// `mbps` on average, bursts at any rate.
    pub(crate) const fn in_bursts(mbps: f64) -> Self {
        Self { mbps, steady: false, opportunities: false }
    }

    /// `mbps` on average, in opportunities.
    pub(crate) const fn in_opportunities(mbps: f64) -> Self {
        Self { mbps, steady: false, opportunities: true }
    }
}

/// A table of settings and the element that it asks for.
pub(crate) trait ElementTable: Table {
    /// The element.
    type Element: Element<Table = Self>;
    /// The element that this table, which has been checked, asks for, with its name in statistics.
    fn build(&self, name: String, streams: &Streams<'_>) -> Result<Self::Element, Refusal>;
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
