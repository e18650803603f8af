//! Bursty loss: the Gilbert-Elliott model with netem's parameters (`gemodel`; reference `emulation` 2.1).
//!
//! For every packet the state changes first, good to bad with probability `p` and bad to good with `r`; then the
//! packet is lost with probability 1 - `k` in the good and 1 - `h` in the bad state. In the long run the bad state has
//! the share p / (p + r) of the packets, for bursts of 1 / r on average.

use crate::element::Element;
use crate::parameters::{Parameters, probability, settable};
use crate::spec::Change;
use crate::{Packet, PacketEvent, Tap};
use serde::{Deserialize, Serialize};
use units::{Rng, Time};

/// Parameters of the Gilbert-Elliott model.
#[derive(Deserialize, Serialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Probability of going from good to bad.
    pub p: f64,
    /// Probability of going from bad to good.
    pub r: f64,
    /// Probability of delivery in the bad state.
    #[serde(default)]
    pub h: f64,
    /// Probability of delivery in the good state.
    #[serde(default = "one")]
    pub k: f64,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
}

fn one() -> f64 {
    1.0
}

impl Parameters for GilbertElliottSpec {
    fn check(&self, _running: bool) -> Result<(), String> {
        let values = [("p", self.p), ("r", self.r), ("h", self.h), ("k", self.k)];
        values.into_iter().try_for_each(|(name, value)| probability(name, value))
    }

    settable!(p, r, h, k);
}

/// Bursty loss.
#[derive(Clone, Debug)]
pub(crate) struct GilbertElliott {
    /// Probabilities of leaving the good and the bad state.
    leave: [f64; 2],
    /// Probabilities of loss in the good and the bad state.
    lose: [f64; 2],
    is_bad: bool,
    rng: Rng,
}

impl GilbertElliott {
    pub(crate) fn new(spec: &GilbertElliottSpec, rng: Rng) -> Self {
        let mut model = Self { leave: [0.0; 2], lose: [0.0; 2], is_bad: false, rng };
        model.change(spec);
        model
    }

    pub(crate) fn change(&mut self, spec: &GilbertElliottSpec) {
        self.leave = [spec.p, spec.r];
        self.lose = [1.0 - spec.k, 1.0 - spec.h];
    }
}

impl Element for GilbertElliott {
    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        self.is_bad ^= self.rng.uniform() < self.leave[usize::from(self.is_bad)];
        if self.rng.uniform() < self.lose[usize::from(self.is_bad)] {
            tap.packet(now, PacketEvent::Dropped, &packet);
            return None;
        }
        Some(packet)
    }

    fn next_event(&self) -> Time {
        Time::NEVER
    }

    fn step<T: Tap>(&mut self, _now: Time, _tap: &mut T) -> Option<Packet> {
        None
    }

    fn packets(&self) -> u64 {
        0
    }
}
