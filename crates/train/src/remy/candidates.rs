//! Alternative actions for a rule.

use congestion::remy::Action;
use units::Rng;

/// Steps of the increment, packets.
const INCREMENTS: [i32; 4] = [1, 4, 16, 64];
/// Steps of the multiple.
const MULTIPLES: [f64; 4] = [0.01, 0.04, 0.16, 0.5];
/// Factors of the time between packets.
const FACTORS: [f64; 8] = [0.5, 0.75, 0.9, 0.97, 1.03, 1.1, 1.33, 2.0];
/// Number of candidates that differ in all values.
const RANDOM: usize = 8;

const LARGEST_INCREMENT: i32 = 256;
const SHORTEST_MS: f64 = 1.0 / 150.0;
const LONGEST_MS: f64 = 30.0;
/// Steps per unit: values are multiples of 1e-4, as in Remy.
const STEPS: f64 = 1e4;

/// Returns an action within the limits. No window is multiplied by more than 1.
fn clamp_action(increment: i32, multiple: f64, intersend_ms: f64) -> Action {
    let rounded = |value: f64| (value * STEPS).round() / STEPS;
    Action {
        window_increment: increment.clamp(0, LARGEST_INCREMENT),
        window_multiple: rounded(multiple.clamp(0.0, 1.0)),
        intersend_ms: rounded(intersend_ms.clamp(SHORTEST_MS, LONGEST_MS)),
    }
}

/// Returns distinct actions near `action`, without `action`.
pub(super) fn around(action: &Action, rng: &mut Rng) -> Vec<Action> {
    let Action { window_increment: increment, window_multiple: multiple, intersend_ms } = *action;
    let mut actions = Vec::new();
    for step in INCREMENTS {
        actions.extend([-step, step].map(|step| clamp_action(increment + step, multiple, intersend_ms)));
    }
    for step in MULTIPLES {
        actions.extend([-step, step].map(|step| clamp_action(increment, multiple + step, intersend_ms)));
    }
    actions.extend(FACTORS.map(|factor| clamp_action(increment, multiple, intersend_ms * factor)));
    for _ in 0..RANDOM {
        let step = INCREMENTS[rng.below(4) as usize] * (rng.below(3) as i32 - 1);
        let multiple_step = MULTIPLES[rng.below(4) as usize] * (rng.below(3) as f64 - 1.0);
        let factor = FACTORS[rng.below(8) as usize];
        actions.push(clamp_action(increment + step, multiple + multiple_step, intersend_ms * factor));
    }
    let mut distinct: Vec<Action> = Vec::with_capacity(actions.len());
    for candidate in actions {
        if candidate != *action && !distinct.contains(&candidate) {
            distinct.push(candidate);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_different_and_within_the_limits() {
        let mut rng = Rng::new(1, "test");
        for action in [clamp_action(0, 1.0, 30.0), clamp_action(256, 0.0, 0.0), clamp_action(60, 0.4, 1.0)] {
            let candidates = around(&action, &mut rng);
            assert!(candidates.len() > 8 && candidates.len() <= 32, "{}", candidates.len());
            for (number, candidate) in candidates.iter().enumerate() {
                assert!(*candidate != action && !candidates[..number].contains(candidate));
                assert!(
                    (0..=256).contains(&candidate.window_increment)
                        && (0.0..=1.0).contains(&candidate.window_multiple)
                );
                assert!((0.0066..=30.0).contains(&candidate.intersend_ms));
            }
        }
    }
}
