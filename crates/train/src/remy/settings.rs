//! Settings of a Remy training: networks, and amount of training.

use super::network::Network;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::Rng;

/// Maximum epochs. The length of trials grows with the epochs, by a factor of sixty up to here. Published tables took
/// less than 20.
pub(super) const MAX_EPOCHS: u64 = 1000;

/// Settings of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Slowest and fastest link, Mbit/s.
    pub link_mbps: [f64; 2],
    /// Shortest and longest RTT, ms.
    pub rtt_ms: [f64; 2],
    /// Minimum and maximum number of senders.
    pub senders: [usize; 2],
    /// Mean on-time of a sender, ms.
    pub on_ms: f64,
    /// Mean off-time of a sender, ms.
    pub off_ms: f64,
    /// Cost of a doubled delay, in doublings of the throughput.
    pub delta: f64,
    /// Number of networks in which a table is evaluated.
    pub networks: usize,
    /// Length of a trial, in packets of its link.
    pub packets: f64,
    /// Minimum length of a trial, s, since senders must turn on and off a few times.
    pub seconds: f64,
    /// Maximum number of rules after divisions.
    pub rules: usize,
    /// Number of epochs; 0: until the time is over, or the maximum number.
    pub epochs: u64,
}

impl Settings {
    /// Reads and checks settings.
    ///
    /// # Errors
    /// Returns an error with the key, the value and the allowed values.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        let settings: Self = strict_input::parse(text)?;
        let range = |name: &str, [low, high]: [f64; 2], least: f64, most: f64| {
            if low >= least && low <= high && high <= most {
                return Ok(());
            }
            Err(Refusal::new(format!(
                "{name} = {low} to {high}: allowed is a range within {least} to {most}"
            )))
        };
        let within = |name: &str, value: f64, least: f64, most: f64| range(name, [value; 2], least, most);
        range("link_mbps", settings.link_mbps, 0.01, 100_000.0)?;
        range("rtt_ms", settings.rtt_ms, 0.1, 10_000.0)?;
        range("senders", settings.senders.map(|senders| senders as f64), 1.0, 1000.0)?;
        within("on_ms", settings.on_ms, 1.0, 1e6)?;
        within("off_ms", settings.off_ms, 1.0, 1e6)?;
        within("delta", settings.delta, 0.0, 1000.0)?;
        within("networks", settings.networks as f64, 1.0, 1000.0)?;
        within("packets", settings.packets, 1000.0, 1e8)?;
        within("seconds", settings.seconds, 0.0, 10_000.0)?;
        within("rules", settings.rules as f64, 1.0, 5000.0)?;
        within("epochs", settings.epochs as f64, 0.0, MAX_EPOCHS as f64)?;
        Ok(settings)
    }

    /// Returns networks with their weights.
    ///
    /// The links cover the whole range. Both ends are included and have double weight. The other links lie at random
    /// positions in their part of the range.
    pub(super) fn draw(&self, rng: &mut Rng) -> Vec<(Network, f64)> {
        let last = self.networks.saturating_sub(1).max(1) as f64;
        (0..self.networks)
            .map(|number| {
                let is_end = number == 0 || number + 1 == self.networks;
                let wobble = if is_end { 0.0 } else { rng.uniform() - 0.5 };
                let [fewest, most] = self.senders;
                let network = Network {
                    link_mbps: between(self.link_mbps, (number as f64 + wobble) / last),
                    rtt_ms: between(self.rtt_ms, rng.uniform()),
                    senders: fewest + rng.below((most - fewest + 1) as u64) as usize,
                    on_ms: self.on_ms,
                    off_ms: self.off_ms,
                };
                (network, if is_end { 2.0 } else { 1.0 })
            })
            .collect()
    }
}

/// Returns the value at the fraction `part` between low and high, by ratios.
fn between([low, high]: [f64; 2], part: f64) -> f64 {
    low * libm::pow(high / low, part)
}
