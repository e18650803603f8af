//! Fits theta: a skew, and steps that are looked for round by round.

use crate::error::Error;
use crate::fit::{Fit, Observed, Reference};
use crate::levels::Level;
use crate::minima::Minima;
use crate::series::{Jump, Series};
use crate::{bounds, jumps, sharp, skew};

/// Sizes of steps are corrected this often at most.
const POLISHED: usize = 3;
/// Steps tried in a round.
const CANDIDATES: usize = 4;
/// Steps are looked for this often, each time with those found before taken out.
const ROUNDS: usize = 3;

/// Fits theta to all packets of both directions.
///
/// # Errors
///
/// One line where a direction has no packet, or a time is further than 36 years from zero.
pub fn fit(observed: &Observed, references: &[Reference]) -> Result<Fit, Error> {
    let [mut forward, mut backward] = [Minima::default(), Minima::default()];
    forward.extend(observed.forward.iter().copied());
    backward.extend(observed.backward.iter().copied());
    fit_minima(&forward, &backward, references)
}

/// [`fit`] for packets that were not kept.
///
/// # Errors
///
/// Errors of [`fit`].
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

/// What is known so far: steps, packets without them, and a skew for those.
struct State {
    series: Series,
    level: Level,
    jumps: Vec<Jump>,
}

impl State {
    /// Takes more steps out for good if what remains is no less simple and the round trip stayed.
    fn try_out(&mut self, original: &Series, more: &[Jump]) {
        let mut jumps = jumps::merged(&self.jumps, more, 2.0 * self.level.fine.width);
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
