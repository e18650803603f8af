//! Tests of every registered controller under random sequences of events. A controller never panics, always allows
//! progress, reports sensible numbers, and repeats itself exactly. Receiver-side halves run with their controllers.

mod far_end;
mod files;
mod harness;
mod steps;

use congestion::{Entry, ParameterKind, Parameters, Registry};
use harness::{Flow, Harness, Trace};
use proptest::prelude::*;
use steps::{Step, step};
use units::Span;

fn run(entry: &Entry, parameters: &Parameters, flow: Flow, steps: &[Step]) -> Trace {
    let mut harness = Harness::new(entry, parameters, flow);
    for step in steps {
        harness.take(step);
    }
    harness.trace
}

/// Returns `entry`'s parameters; each one of `draws` selects the default, minimum, maximum or middle value.
fn drawn_parameters(entry: &Entry, draws: &[u8]) -> Parameters {
    let mut parameters = files::parameters(entry);
    for (parameter, draw) in entry.parameters.iter().zip(draws.iter().cycle()) {
        let text = match (parameter.kind, draw % 4) {
            (_, 0) | (ParameterKind::File, _) => continue,
            (ParameterKind::Number { min, .. }, 1) => min.to_string(),
            (ParameterKind::Number { max, .. }, 2) => max.to_string(),
            (ParameterKind::Number { min, max }, _) => (min + (max - min) / 2.0).to_string(),
            (ParameterKind::Integer { min, .. }, 1) => min.to_string(),
            (ParameterKind::Integer { max, .. }, 2) => max.to_string(),
            (ParameterKind::Integer { min, max }, _) => (min + (max - min) / 2).to_string(),
            (ParameterKind::Flag, draw) => (draw == 1).to_string(),
            (ParameterKind::Choice(choices), _) => choices[usize::from(*draw) % choices.len()].to_owned(),
        };
        parameters.set(parameter.name, &text).expect("a value within the declared range");
    }
    parameters
}

/// Returns the controllers that run these `steps`. Sprout computes a forecast for each of the many ticks of a long
/// pause and takes nine tenths of all the time here. So it gets every eighth sequence.
fn takers(steps: &[Step]) -> Vec<Entry> {
    let all = steps.len().is_multiple_of(8);
    Registry::builtin().iter().filter(|entry| all || entry.name != "sprout").cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_controller_survives_any_sequence_and_repeats_it_exactly(
        steps in prop::collection::vec(step(), 1..150),
        mss_bytes in prop_oneof![Just(1448_u32), 64_u32..9000],
        clock_offset in prop_oneof![Just(0_u64), 0_u64..1_000_000_000_000_000].prop_map(Span::from_ns),
        live in any::<bool>(),
    ) {
        let flow = Flow { mss_bytes, clock_offset, live };
        for entry in takers(&steps) {
            let parameters = files::parameters(&entry);
            let first = run(&entry, &parameters, flow, &steps);
            let second = run(&entry, &parameters, flow, &steps);
            prop_assert!(first == second, "{} does not repeat itself", entry.name);
        }
    }

    #[test]
    fn every_controller_survives_the_corners_of_its_parameters(
        steps in prop::collection::vec(step(), 1..150),
        draws in prop::collection::vec(any::<u8>(), 16),
        live in any::<bool>(),
    ) {
        let flow = Flow { mss_bytes: 1448, clock_offset: Span::ZERO, live };
        for entry in takers(&steps) {
            run(&entry, &drawn_parameters(&entry, &draws), flow, &steps);
        }
    }
}
