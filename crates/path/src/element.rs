//! Traits of every element of a path and of its table of settings.

use crate::change::{Change, WalkSpec};
use crate::link_counters::LinkTally;
use crate::queues::QueueSpec;
use crate::{Packet, Tap};
use strict_input::Refusal;
use units::{Rng, Time};

/// Running element. Calls come with times that do not decrease; `step` comes at the time of `next_event` and before an
/// arrival at that time.
pub(crate) trait Element {
    /// Table of settings of the element.
    type Table;
    /// Handles the arrival of a packet. Returns the packet if it passes at once.
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet>;
    /// Returns the time of the next step. An element that keeps no packets has none to plan.
    fn next_event(&self) -> Time {
        Time::NEVER
    }
    /// Handles due events, up to the departure of one packet.
    fn step<T: Tap>(&mut self, _now: Time, _tap: &mut T) -> Option<Packet> {
        None
    }
    /// Returns the number of packets inside.
    fn packets(&self) -> u64 {
        0
    }
    /// Applies the numeric settings of `table`.
    fn change(&mut self, now: Time, table: &Self::Table);
    /// Changes a setting of the queue. Elements without a queue return an error.
    fn set_queue(&mut self, name: &str, _value: f64) -> Result<(), Refusal> {
        Err(no_queue(name))
    }
    /// Returns the counters of a link; `None` for other elements.
    fn tally(&self) -> Option<&LinkTally> {
        None
    }
    /// Updates the counters to `now`.
    fn settle(&mut self, _now: Time) {}
    /// Starts a second measurement of the longest waiting time at `at`, if the element is a link with a queue.
    fn watch_from(&mut self, _at: Time) {}
}

/// Returns the error for a change of the queue of an element without a queue.
pub(crate) fn no_queue(name: &str) -> Refusal {
    Refusal::of_key("queue", format!("{name} cannot be changed, the element has no queue"))
}

/// Table of settings of an element.
pub(crate) trait Table {
    /// Checks all settings; `running` if they hold after a scheduled change.
    fn check(&self, running: bool) -> Result<(), Refusal>;
    /// Sets the numeric setting `name`, without checking its range.
    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal>;
    /// Returns the name that the user gave.
    fn name(&self) -> Option<&str>;
    /// Returns the changes during the run.
    fn schedule(&self) -> &[Change];
    /// Removes all scheduled changes.
    fn clear_schedule(&mut self);
    /// Returns the walks of the settings.
    fn walk(&self) -> Option<&WalkSpec>;
    /// Returns the queue, if the element has one.
    fn queue(&self) -> Option<&QueueSpec> {
        None
    }
    /// Returns the minimum delay of every packet, ms.
    fn delay_ms(&self) -> f64 {
        0.0
    }
    /// Returns the loss probability of an element that loses all packets with one probability.
    fn loss(&self) -> Option<f64> {
        None
    }
    /// Returns the capacity of a link; `None` for other elements.
    fn capacity(&self) -> Option<Capacity> {
        None
    }
}

/// Generates the common part of `Table`; the listed fields are the settings that can change during a run.
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

/// Capacity of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Capacity {
    /// Average rate, Mbit/s; infinite without a limit.
    pub(crate) mbps: f64,
    /// True if the rate holds at every moment, until a schedule or a walk changes it.
    pub(crate) steady: bool,
    /// True if the link offers its capacity in opportunities, which can be reported to a tap.
    pub(crate) opportunities: bool,
}

impl Capacity {
    /// Returns a capacity of `mbps` at every moment.
    pub(crate) const fn steady(mbps: f64) -> Self {
        Self { mbps, steady: true, opportunities: false }
    }

    /// Returns a capacity of `mbps` on average, with bursts at any rate.
    pub(crate) const fn in_bursts(mbps: f64) -> Self {
        Self { mbps, steady: false, opportunities: false }
    }

    /// Returns a capacity of `mbps` on average, in opportunities.
    pub(crate) const fn in_opportunities(mbps: f64) -> Self {
        Self { mbps, steady: false, opportunities: true }
    }
}

/// Table of settings that can build its element.
pub(crate) trait ElementTable: Table {
    /// Element of this table.
    type Element: Element<Table = Self>;
    /// Builds the element of this table, which has been checked; `name` is its name in statistics.
    fn build(&self, name: String, streams: &Streams<'_>) -> Result<Self::Element, Refusal>;
}

/// Random streams of an element.
pub(crate) struct Streams<'a> {
    pub(crate) seed: u64,
    /// Prefix of the stream names: `direction/index/kind`.
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
