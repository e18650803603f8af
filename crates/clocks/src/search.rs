//! Search for the clock offset: a skew, and clock steps in several rounds.

use crate::error::Error;
use crate::fit::{Fit, PacketDelays, Reference};
use crate::levels::Level;
use crate::minima::Minima;
use crate::series::{Jump, Series};
use crate::{bounds, jumps, sharp, skew};

/// Maximum corrections of the step sizes.
const POLISHED: usize = 3;
/// Steps tried in a round.
const CANDIDATES: usize = 4;
/// Maximum rounds of the search for steps. Each round subtracts the steps of the rounds before.
const ROUNDS: usize = 3;

/// Fits the clock offset to all packets of both directions.
///
/// # Errors
///
/// Returns an error if a direction has no packet, or a time is further than 36 years from zero.
pub fn fit(observed: &PacketDelays, references: &[Reference]) -> Result<Fit, Error> {
    let [mut forward, mut backward] = [Minima::default(), Minima::default()];
    forward.extend(observed.forward.iter().copied());
    backward.extend(observed.backward.iter().copied());
    fit_minima(&forward, &backward, references)
}

/// Fits the clock offset to stored minima, like [`fit`].
///
/// # Errors
///
/// Returns the errors of [`fit`].
pub fn fit_minima(forward: &Minima, backward: &Minima, references: &[Reference]) -> Result<Fit, Error> {
    let original = Series::new([forward, backward])?;
    let level = skew::level(&original);
    let mut now = State { series: original.clone(), level, jumps: Vec::new() };
    for _ in 0..ROUNDS {
        let before = now.jumps.len();
        for jump in sharp::candidates(&now.series, &now.level.fine).into_iter().take(CANDIDATES) {
            now.try_out(&original, &[jump]);
        }
        let slow = jumps::jumps(&now.series, &now.level);
        if !slow.is_empty() {
            now.try_out(&original, &slow);
        }
        if now.jumps.len() == before {
            break;
        }
    }
    Ok(bounds::fit(&now.series, &now.level, &now.jumps, references))
}

/// State of the search: steps, packets without these steps, and the skew of these packets.
struct State {
    series: Series,
    level: Level,
    jumps: Vec<Jump>,
}

impl State {
    /// Accepts more steps if the rest is at least as simple and the minimum round trip did not change.
    fn try_out(&mut self, original: &Series, more: &[Jump]) {
        let mut jumps = jumps::merge(&self.jumps, more, 2.0 * self.level.fine.width);
        let mut series = original.without(&jumps);
        let mut level = skew::level(&series);
        for _ in 0..POLISHED {
            let mut sized = jumps.clone();
            let corrections = jumps::corrections(&level, &jumps);
            sized.iter_mut().zip(&corrections).for_each(|(jump, by)| jump.by += by);
            let rest = original.without(&sized);
            let simpler = skew::level_within(&rest, level.cap);
            if simpler.cost >= level.cost {
                break;
            }
            (jumps, series, level) = (sized, rest, simpler);
        }
        let tiny = |jump: &Jump| jump.by.abs() < jumps::SMALLEST_NS;
        if jumps.iter().any(tiny) {
            return;
        }
        let within = |cap: f64| skew::level_within(&self.series, cap).cost;
        let before = if self.level.cap == level.cap { self.level.cost } else { within(level.cap) };
        let certain = more.iter().all(|jump| jump.certain);
        let simpler = level.cost < before + skew::SLACK || certain;
        if simpler && !jumps.iter().any(|jump| jumps::path_changed(&level, jump)) {
            *self = Self { series, level, jumps };
        }
    }
}
