//! Traits of every queue discipline and of its table of settings.

use crate::{Packet, Tap};
use strict_input::Refusal;
use units::{Rate, Rng, Time};

/// Running discipline. Calls come with times that do not decrease.
pub(crate) trait Discipline {
    /// Handles the arrival of `packet`. Reports it as enqueued or dropped, and every packet that makes room for it as
    /// dropped.
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T);
    /// Returns the next packet to send, and reports drops and marks on the way. Returns `None` only if nothing waits.
    fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet>;
    /// Returns the number of waiting packets.
    fn packets(&self) -> u64;
    /// Returns the number of waiting bytes.
    fn bytes(&self) -> u64;
    /// Changes the numeric setting `name` during a run. A limit that falls below the backlog takes effect on arrivals,
    /// an update period after the next update.
    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal>;
    /// Sets the link's current rate, for the disciplines that use it; zero if unknown.
    fn set_rate(&mut self, _rate: Rate) {}
}

/// Table `queue` of one discipline.
pub(crate) trait QueueTable {
    /// Discipline of this table.
    type Discipline: Discipline;
    /// Checks all settings.
    fn check(&self) -> Result<(), Refusal>;
    /// Returns the discipline, empty. Its random draws come from `rng`.
    fn build(&self, rng: Rng) -> Result<Self::Discipline, Refusal>;
    /// Returns true if packets are dropped and marked only at arrival, never at departure.
    fn decides_on_arrival(&self) -> bool {
        false
    }
    /// Returns the maximum number of waiting packets; `None` without such a limit.
    fn packets(&self) -> Option<u64> {
        None
    }
}
