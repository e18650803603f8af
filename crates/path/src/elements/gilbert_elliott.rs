//! Bursty loss: the Gilbert-Elliott model with the parameters of netem's `gemodel` (tc-netem(8)).
//!
//! For every packet the state changes first: good to bad with probability `p` and bad to good with `r`. Then the packet
//! is lost with probability 1 - `k` in the good state and 1 - `h` in the bad state. In the long run the bad state has
//! the share p / (p + r) of the packets, in bursts of 1 / r packets on average.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::probability;
use crate::{Packet, PacketEvent, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rng, Time};

/// Settings of the Gilbert-Elliott model.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Probability of going from good to bad.
    #[schemars(range(min = 0, max = 1))]
    pub p: f64,
    /// Probability of going from bad to good.
    #[schemars(range(min = 0, max = 1))]
    pub r: f64,
    /// Probability of delivery in the bad state.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub h: f64,
    /// Probability of delivery in the good state.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 1))]
    pub k: f64,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

fn one() -> f64 {
    1.0
}

impl Table for GilbertElliottSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        let values = [("p", self.p), ("r", self.r), ("h", self.h), ("k", self.k)];
        values.into_iter().try_for_each(|(name, value)| probability(name, value))
    }

    settings!(p, r, h, k);
}

impl ElementTable for GilbertElliottSpec {
    type Element = GilbertElliott;

    fn build(&self, _name: String, streams: &Streams<'_>) -> Result<GilbertElliott, Refusal> {
        let mut model =
            GilbertElliott { leave: [0.0; 2], lose: [0.0; 2], is_bad: false, rng: streams.element() };
        model.change(Time::ZERO, self);
        Ok(model)
    }
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

impl Element for GilbertElliott {
    type Table = GilbertElliottSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        self.is_bad ^= self.rng.uniform() < self.leave[usize::from(self.is_bad)];
        if self.rng.uniform() < self.lose[usize::from(self.is_bad)] {
            tap.packet(now, PacketEvent::Dropped, &packet);
            return None;
        }
        Some(packet)
    }

    fn change(&mut self, _now: Time, table: &GilbertElliottSpec) {
        self.leave = [table.p, table.r];
        self.lose = [1.0 - table.k, 1.0 - table.h];
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_us};

    const PACKETS: u64 = 1_000_000;

    fn dropped(json: &str) -> Vec<u64> {
        let mut bench = Bench::new(&format!("[{json}]"));
        (0..PACKETS).for_each(|i| bench.send(at_us(i), 100));
        assert!(bench.is_conserved());
        bench.log.dropped
    }

    #[test]
    fn long_run_loss_and_burst_length_are_those_of_the_model() {
        let lost = dropped(r#"{"kind": "gilbert-elliott", "p": 0.01, "r": 0.25}"#);
        // Share p / (p + r) = 0.01 / 0.26. The states' memory (1 - p - r = 0.74) widens the binomial deviation by
        // sqrt(1.74 / 0.26) = 2.59: sqrt(0.03846 x 0.96154 / 10^6) x 2.59 = 0.0005; three of them.
        let share = lost.len() as f64 / PACKETS as f64;
        assert!((share - 0.01 / 0.26).abs() < 0.0015, "{share}");
        let bursts = 1 + lost.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        // Geometric with mean 1 / r = 4, deviation sqrt(12) = 3.46, about 9600 bursts: 0.035; three of them.
        let mean = lost.len() as f64 / bursts as f64;
        assert!((mean - 4.0).abs() < 0.106, "{mean}");
    }

    #[test]
    fn partial_loss_in_both_states_adds_up() {
        let lost = dropped(r#"{"kind": "gilbert-elliott", "p": 0.1, "r": 0.3, "h": 0.6, "k": 0.99}"#);
        // 0.25 x 0.4 + 0.75 x 0.01 = 0.1075; deviation at most 0.0003 x sqrt(1.6 / 0.4) = 0.0006.
        let share = lost.len() as f64 / PACKETS as f64;
        assert!((share - 0.1075).abs() < 0.0019, "{share}");
    }
}
