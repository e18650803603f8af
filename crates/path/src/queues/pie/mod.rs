//! PIE: proportional integral controller enhanced, as in RFC 8033 or as in Mahimahi.

mod mahimahi;
mod rfc8033;
mod spec;

pub use spec::PieSpec;

use super::discipline::{Discipline, QueueTable};
use super::fifo::Limits;
use super::quirk::QueueQuirk;
use crate::{Packet, Tap};
use mahimahi::Mahimahi;
use rfc8033::Rfc8033;
use strict_input::Refusal;
use units::{Rate, Rng, Time};

impl QueueTable for PieSpec {
    type Discipline = Pie;

    fn check(&self) -> Result<(), Refusal> {
        Limits::new(self.packets, self.bytes)?;
        self.settings().map(drop)
    }

    fn build(&self, rng: Rng) -> Result<Pie, Refusal> {
        let (limits, settings) = (Limits::new(self.packets, self.bytes)?, self.settings()?);
        Ok(match self.quirk {
            QueueQuirk::None => Pie::Rfc8033(Rfc8033::new(limits, settings, rng)),
            QueueQuirk::Mahimahi => Pie::Mahimahi(Mahimahi::new(limits, &settings, rng)),
        })
    }

    fn decides_on_arrival(&self) -> bool {
        true
    }
}

/// Either variant of PIE.
#[derive(Clone, Debug)]
pub(crate) enum Pie {
    Rfc8033(Rfc8033),
    Mahimahi(Mahimahi),
}

impl Discipline for Pie {
    #[inline]
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        match self {
            Self::Rfc8033(queue) => queue.enqueue(now, packet, tap),
            Self::Mahimahi(queue) => queue.enqueue(now, packet, tap),
        }
    }

    #[inline]
    fn dequeue<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        match self {
            Self::Rfc8033(queue) => queue.dequeue(now, tap),
            Self::Mahimahi(queue) => queue.dequeue(now, tap),
        }
    }

    #[inline]
    fn packets(&self) -> u64 {
        match self {
            Self::Rfc8033(queue) => queue.packets(),
            Self::Mahimahi(queue) => queue.packets(),
        }
    }

    #[inline]
    fn bytes(&self) -> u64 {
        match self {
            Self::Rfc8033(queue) => queue.bytes(),
            Self::Mahimahi(queue) => queue.bytes(),
        }
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        match self {
            Self::Rfc8033(queue) => queue.set(name, value),
            Self::Mahimahi(queue) => queue.set(name, value),
        }
    }

    fn set_rate(&mut self, rate: Rate) {
        match self {
            Self::Rfc8033(queue) => queue.set_rate(rate),
            Self::Mahimahi(queue) => queue.set_rate(rate),
        }
    }
}
