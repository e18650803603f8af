//! What every queue discipline does, and what its table of settings can say.

use crate::{Packet, Tap};
use strict_input::Refusal;
use units::{Rate, Rng, Time};

/// One discipline at work. Calls come with times that do not decrease.
pub(crate) trait Discipline {
    /// `packet` arrives. Reports it as enqueued or dropped, and every packet that has to go for it as dropped.
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T);
    /// The next packet to send; drops and marks on the way are reported. None only if nothing waits.
    fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet>;
    /// Packets waiting.
    fn packets(&self) -> u64;
    /// Bytes waiting.
    fn bytes(&self) -> u64;
    /// Changes the numeric setting `name` during a run. A limit that falls below the backlog takes effect on arrivals,
    /// an update period after the next update.
    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal>;
    /// The link's present rate, for the disciplines that use it; zero if unknown.
    fn set_rate(&mut self, _rate: Rate) {}
}

/// The `queue` table of one discipline.
pub(crate) trait QueueTable {
    /// What it asks for.
    type Discipline: Discipline;
    /// Checks all settings.
    fn check(&self) -> Result<(), Refusal>;
    /// The discipline, empty. Its random draws come from `rng`.
    fn build(&self, rng: Rng) -> Result<Self::Discipline, Refusal>;
    /// Whether packets are dropped and marked as they arrive only, never as they leave.
    fn decides_on_arrival(&self) -> bool {
        false
    }
    /// Most packets that wait; none without such a limit.
    fn packets(&self) -> Option<u64> {
        None
    }
}
