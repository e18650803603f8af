//! Tests of a fit's results: inverse, delays, references, errors.

use clocks::{Fit, PacketDelays, Point, Reference, fit};
use proptest::prelude::*;
use units::Rng;

use crate::world::{Queue, Way, World};

const SECOND: i64 = 1_000_000_000;

/// Returns 10 s over a path of 8 ms forward and 12 ms back. The remote clock is 37 ms ahead, 40 ppm faster, and steps
/// at 6 s.
fn world(step: f64) -> World {
    let way = |base| Way { base, changes: Vec::new(), queue: Queue::None, packets: 100.0 };
    World {
        seconds: 10.0,
        offset: 37e6,
        skew: 40e-6,
        wander: 0.0,
        steps: vec![(6.0, step)],
        of_local: false,
        ways: [way(8e6), way(12e6)],
        jitter: 20e3,
        spikes: 0.0,
        loss: 0.0,
    }
}

/// Returns the fit and the start, ns. The references have the true clock offset plus the given error.
fn fitted(step: f64, references: &[(f64, i64, i64)]) -> (Fit, i64) {
    let packets = world(step).simulate(&mut Rng::new(1, "answers"));
    let start = packets.start_ns;
    let reference = |(index, &(at, off, error)): (usize, &(f64, i64, i64))| Reference {
        at_ns: start + (at * 1e9) as i64,
        offset_ns: (37e6 + 40e3 * at + if at >= 6.0 { step } else { 0.0 }) as i64 + off,
        error_ns: error,
        source: format!("ntp {index}"),
    };
    let references: Vec<Reference> = references.iter().enumerate().map(reference).collect();
    (fit(&packets.observed, &references).expect("packets in both directions"), start)
}

#[test]
fn the_interval_is_the_round_trip_and_holds_the_truth() {
    let (fit, start) = fitted(0.0, &[]);
    assert!((19_990_000..20_150_000).contains(&(fit.high_ns - fit.low_ns)), "{} {}", fit.low_ns, fit.high_ns);
    let off = 37_200_000 - fit.theta_ns(start + 5 * SECOND);
    assert!(fit.low_ns <= off && off <= fit.high_ns);
    // Half of the difference between the directions.
    assert!((off - 2_000_000).abs() < 50_000, "{off}");
    assert!(fit.residual_ns < 30_000, "{}", fit.residual_ns);
    assert!((fit.pieces[0].skew - 40e-6).abs() < 1e-6);
}

#[test]
fn references_narrow_the_interval_and_are_refused_where_packets_disprove_them() {
    let (fit, start) =
        fitted(0.0, &[(2.0, 100_000, 500_000), (8.0, 30_000_000, 1_000_000), (3.0, -10_000, 5_000_000)]);
    assert!(fit.references[0].refused.is_none() && fit.references[2].refused.is_none());
    let reason = fit.references[1].refused.as_ref().unwrap();
    assert!(reason.contains("contradicts") && fit.references[1].source == "ntp 1", "{reason}");
    assert!(fit.high_ns - fit.low_ns < 1_200_000, "{} {}", fit.low_ns, fit.high_ns);
    let off = 37_200_000 - fit.theta_ns(start + 5 * SECOND);
    assert!(fit.low_ns <= off && off <= fit.high_ns, "{off} {} {}", fit.low_ns, fit.high_ns);
}

#[test]
fn references_that_say_nothing_are_refused() {
    let (fit, _) = fitted(0.0, &[(2.0, 0, -1), (100.0, 0, 1000), (2.0, i64::MAX / 2, 5)]);
    let reasons: Vec<&str> =
        fit.references.iter().map(|each| each.refused.as_deref().unwrap_or("used")).collect();
    assert!(
        reasons[0].contains("negative")
            && reasons[1].contains("before or after")
            && reasons[2].contains("36 years")
    );
}

#[test]
fn steps_part_the_fit_and_both_clocks_can_be_read_across_them() {
    for step in [300e6, 5e6, -5e6, -300e6] {
        let (fit, start) = fitted(step, &[]);
        assert_eq!(fit.steps.len(), 1, "{:?}", fit.steps);
        let step_found = fit.steps[0];
        assert!((step_found.by_ns as f64 - step).abs() < 50e3, "{step_found:?}");
        assert!(
            (step_found.at_ns - start - 6 * SECOND).abs() <= step_found.uncertain_ns / 2,
            "{step_found:?}"
        );
        assert!(step_found.uncertain_ns < SECOND / 5, "{step_found:?}");
        assert_eq!(fit.pieces[0].until_ns, fit.pieces[1].from_ns);
        for at in [0, 1, 4, 5, 7, 9, 11] {
            let local = start + at * SECOND;
            let back = fit.to_local(local + fit.theta_ns(local));
            assert!((back - local).abs() <= 1, "{at} s: {}", back - local);
        }
        // The forward delay is 8 ms, the backward delay 12 ms; theta contains 2 ms of that.
        let near = |delay: i64, expected: i64| (delay - expected).abs() < 200_000;
        for at in [2, 9] {
            let theta = 37e6 + 40e3 * at as f64 + if at > 6 { step } else { 0.0 };
            let there = Point { at_ns: start + at * SECOND, apparent_ns: 8_000_000 + theta as i64 };
            let here = Point { at_ns: start + at * SECOND, apparent_ns: 12_000_000 - theta as i64 };
            assert!(near(fit.forward_ns(there), 10_000_000) && near(fit.backward_ns(here), 10_000_000));
        }
    }
}

#[test]
fn a_step_is_found_however_long_a_clock_stands_or_what_it_leaves_out() {
    for seed in 0..80 {
        let mut rng = Rng::new(seed, "standing");
        let step = [20e6, 60e6, 200e6, 600e6, 2000e6][seed as usize % 5];
        let mut world = world(if seed % 2 == 0 { step } else { -step });
        world.steps[0].0 += rng.uniform();
        world.of_local = seed % 4 < 2;
        world.ways[0].queue = Queue::Sawtooth(3e6, 0.1);
        world.ways.iter_mut().for_each(|way| way.packets = 1000.0);
        let fit = fit(&world.simulate(&mut rng).observed, &[]).unwrap();
        let clue = format!("seed {seed}, local {}: {:?}: {:?}", world.of_local, world.steps, fit.steps);
        assert_eq!(fit.steps.len(), 1, "{clue}");
        assert!((fit.steps[0].by_ns as f64 - world.steps[0].1).abs() < 100e3, "{clue}");
        assert!(fit.residual_ns < 100_000, "{clue}: {}", fit.residual_ns);
    }
}

#[test]
fn a_direction_without_packets_and_times_of_no_clock_are_refused() {
    let one = vec![Point { at_ns: 5, apparent_ns: 7 }];
    let error_text = |forward: Vec<Point>, backward: Vec<Point>| {
        fit(&PacketDelays { forward, backward }, &[]).unwrap_err().to_string()
    };
    assert!(error_text(one.clone(), Vec::new()).contains("no backward packet"));
    assert!(error_text(Vec::new(), one.clone()).contains("no forward packet"));
    assert!(error_text(one.clone(), vec![Point { at_ns: i64::MAX, apparent_ns: 0 }]).contains("36 years"));
    assert!(error_text(one.clone(), vec![Point { at_ns: 0, apparent_ns: i64::MIN }]).contains("backward"));
    let fit = fit(&PacketDelays { forward: one.clone(), backward: one }, &[]).unwrap();
    assert!(fit.low_ns <= fit.high_ns && fit.pieces.len() == 1);
}

fn points() -> impl Strategy<Value = Vec<Point>> {
    let scale = prop_oneof![Just(0), Just(10), Just(20), Just(30), Just(40), Just(60), Just(63)];
    let point = (any::<i64>(), any::<i64>());
    (scale.clone(), scale, prop::collection::vec(point, 0..200)).prop_map(|(at, apparent, points)| {
        let shrunk = |value: i64, bits: u32| if bits == 0 { 0 } else { value >> (63 - bits.min(63)) };
        points
            .into_iter()
            .map(|(t, y)| Point { at_ns: shrunk(t, at), apparent_ns: shrunk(y, apparent) })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn whatever_comes_an_interval_is_never_empty_and_nothing_panics(
        forward in points(),
        backward in points(),
        references in prop::collection::vec((any::<i64>(), any::<i64>(), any::<i64>()), 0..4),
        asked in any::<[i64; 4]>(),
    ) {
        let references: Vec<Reference> = references
            .into_iter()
            .map(|(at_ns, offset_ns, error_ns)| Reference { at_ns, offset_ns, error_ns, source: String::new() })
            .collect();
        if let Ok(fit) = fit(&PacketDelays { forward, backward }, &references) {
            prop_assert!(fit.low_ns <= fit.high_ns);
            prop_assert!(fit.residual_ns >= 0 && !fit.pieces.is_empty());
            prop_assert!(fit.pieces.is_sorted_by_key(|piece| piece.from_ns));
            prop_assert_eq!(fit.references.len(), references.len());
            for at in asked {
                let _ = (fit.theta_ns(at), fit.to_local(at));
                let _ = fit.forward_ns(Point { at_ns: at, apparent_ns: asked[0] });
                let _ = fit.backward_ns(Point { at_ns: at, apparent_ns: asked[1] });
            }
        }
    }
}
