//! PIE: proportional integral controller enhanced, as RFC 8033 has it or as Mahimahi has it.

mod mahimahi;
mod rfc8033;

use super::discipline::{Discipline, QueueTable};
use super::fifo::Limits;
use super::quirk::QueueQuirk;
use super::settings::{milliseconds, milliseconds_or_zero};
use crate::{Packet, Tap};
use mahimahi::Mahimahi;
use rfc8033::Rfc8033;
use serde::{Deserialize, Serialize};
use units::{Rate, Rng, Span, Time};

/// Proportional integral controller enhanced, RFC 8033.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PieSpec {
    /// Limit, packets.
    pub packets: Option<u64>,
    /// Limit, bytes.
    pub bytes: Option<u64>,
    /// Delay to hold, ms.
    #[serde(default = "fifteen")]
    pub target_ms: f64,
    /// Time between updates of the probability, ms: 15 if absent, 30 with quirk `mahimahi`.
    pub t_update_ms: Option<f64>,
    /// Burst let in unharmed after calm, ms.
    #[serde(default = "hundred_fifty")]
    pub max_burst_ms: f64,
    /// Mark instead of drop while the probability is at most 10 %.
    #[serde(default)]
    pub ecn: bool,
    /// Differences to the RFC.
    #[serde(default)]
    pub quirk: QueueQuirk,
}

fn fifteen() -> f64 {
    15.0
}
fn hundred_fifty() -> f64 {
    150.0
}

impl PieSpec {
    fn settings(&self) -> Result<Settings, String> {
        let usual = if self.quirk.is_mahimahi() { mahimahi::T_UPDATE_MS } else { fifteen() };
        let t_update_ms = self.t_update_ms.unwrap_or(usual);
        let settings = Settings {
            target: milliseconds("target_ms", self.target_ms)?,
            t_update: milliseconds("t_update_ms", t_update_ms)?,
            max_burst: milliseconds_or_zero("max_burst_ms", self.max_burst_ms)?,
            ecn: self.ecn,
        };
        let times = [
            ("target_ms", self.target_ms),
            ("t_update_ms", t_update_ms),
            ("max_burst_ms", self.max_burst_ms),
        ];
        self.quirk.check(self.ecn, &times)?;
        Ok(settings)
    }
}

/// [`PieSpec`] as the disciplines work with it; names as in RFC 8033 where they differ from the keys.
#[derive(Clone, Copy, Debug)]
struct Settings {
    /// `QDELAY_REF`.
    target: Span,
    t_update: Span,
    max_burst: Span,
    ecn: bool,
}

impl QueueTable for PieSpec {
    type Discipline = Pie;

    fn check(&self) -> Result<(), String> {
        Limits::new(self.packets, self.bytes)?;
        self.settings().map(drop)
    }

    fn build(&self, rng: Rng) -> Result<Pie, String> {
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

/// Either PIE.
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

    fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_rfc_and_of_mahimahi() {
        let times = |json: &str| {
            let settings = serde_json::from_str::<PieSpec>(json).unwrap().settings().unwrap();
            [settings.target, settings.t_update, settings.max_burst].map(Span::as_ms_f64)
        };
        assert_eq!(times("{}"), [15.0, 15.0, 150.0]);
        assert_eq!(times(r#"{"quirk": "mahimahi"}"#), [15.0, 30.0, 150.0]);
    }
}
