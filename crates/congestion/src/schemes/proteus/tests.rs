//! Tests of Proteus' decisions from made-up utilities, and of its handling of ACKs.

use super::*;
use crate::testing::Driver;

fn scheme(settings: &[(&str, &str)]) -> Proteus {
    let mut parameters = Parameters::defaults(ENTRY.parameters);
    for (name, value) in settings {
        parameters.set(name, value).unwrap();
    }
    let start = Start { now: Time::ZERO, mss_bytes: 1456, initial_window_bytes: 14_560, seed: 1 };
    Proteus::new(&parameters, &start)
}

/// Returns a scheme in PROBING at 20 Mbit/s.
fn probing(settings: &[(&str, &str)]) -> Proteus {
    let mut scheme = scheme(settings);
    (scheme.mode, scheme.rate) = (Mode::Probing, 20.0);
    scheme
}

/// Returns pairs of probes around 20 Mbit/s. With `true` the higher rate is better, by a utility of one.
fn pairs(up: &[bool]) -> Vec<Outcome> {
    let pair = |&up: &bool| {
        [
            Outcome { rate: 21.0, utility: 10.0 + f64::from(u8::from(up)) },
            Outcome { rate: 19.0, utility: 11.0 - f64::from(u8::from(up)) },
        ]
    };
    up.iter().flat_map(pair).collect()
}

const SCAVENGER: &[(&str, &str)] = &[("role", "scavenger")];

#[test]
fn a_primary_goes_up_on_a_majority_and_down_only_together() {
    let scheme = probing(&[]);
    assert_eq!(scheme.probes(), 6);
    assert_eq!(scheme.vote(&pairs(&[true, false, true])), Some(true));
    assert_eq!(scheme.vote(&pairs(&[true, false, false])), None);
    assert_eq!(scheme.vote(&pairs(&[false; 3])), Some(false));
    assert_eq!(scheme.vote(&pairs(&[true; 2])), None); // too few
}

#[test]
fn a_scavenger_needs_both_pairs_either_way() {
    let scheme = probing(SCAVENGER);
    assert_eq!(scheme.probes(), 4);
    assert_eq!(scheme.vote(&pairs(&[true, true])), Some(true));
    assert_eq!(scheme.vote(&pairs(&[true, false])), None);
    assert_eq!(scheme.vote(&pairs(&[false, false])), Some(false));
}

#[test]
fn a_decision_takes_the_better_probe_and_a_step() {
    let mut scheme = probing(&[]);
    scheme.decide(&pairs(&[true, false, true]));
    // The mean gain of the agreeing pairs, 2/3 over 2 Mbit/s, is 0.37 Mbit/s, less than the minimum step.
    assert_eq!((scheme.rate, scheme.mode), (21.5, Mode::DecisionMade));
    assert_eq!(scheme.latest.rate, 21.0);
}

#[test]
fn steps_grow_with_the_rounds_within_a_growing_bound() {
    let mut scheme = probing(&[]);
    scheme.decide(&pairs(&[true; 3]));
    let mut steps = vec![];
    for _ in 0..3 {
        let (before, latest) = (scheme.rate, scheme.latest);
        // Each new rate is better by one unit per Mbit/s.
        let utility = latest.utility + (before - latest.rate);
        scheme.decide(&[Outcome { rate: before, utility }]);
        steps.push(scheme.rate - before);
    }
    // Rounds 2, 3 and 4 have the factors 1, 2^1.2 and 2^1.2; 1.0995 is one Mi^2 per Mbit^2.
    let factor = libm::pow(2.0, 1.2);
    assert!((steps[0] - THETA.min(0.05 * 21.55)).abs() < 0.01, "{steps:?}");
    assert!((steps[1] - (THETA * factor).min(0.1 * 22.6)).abs() < 0.06, "{steps:?}");
    assert!((steps[2] - THETA * factor).abs() < 0.01, "{steps:?}");
}

#[test]
fn a_step_that_does_not_pay_is_taken_back() {
    let mut scheme = probing(&[]);
    scheme.decide(&pairs(&[true; 3]));
    let rate = scheme.rate;
    let utility = scheme.latest.utility - 0.1;
    scheme.decide(&[Outcome { rate, utility }]);
    assert_eq!((scheme.rate, scheme.mode), (rate - 0.5, Mode::Probing));
}

#[test]
fn the_floor_hit_by_repeated_probing_restarts() {
    let mut scheme = probing(&[]);
    scheme.rate = 0.5;
    let low = |rate: f64| Outcome { rate, utility: -rate };
    let round: Vec<Outcome> = (0..3).flat_map(|_| [low(0.525), low(0.475)]).collect();
    scheme.decide(&round);
    assert_eq!((scheme.rate, scheme.mode), (0.5, Mode::Probing));
    // This undecided round is the second one, so the scheme restarts from the minimum rate.
    let mut mixed = round.clone();
    mixed[0].utility = 1.0;
    scheme.decide(&mixed);
    assert_eq!((scheme.rate, scheme.mode), (0.5, Mode::Starting));
}

#[test]
fn a_hybrid_yields_above_its_switching_rate() {
    let mut scheme = probing(&[("role", "hybrid"), ("switching_rate", "15")]);
    assert_eq!(scheme.probes(), 6);
    (scheme.mode, scheme.goes_up) = (Mode::DecisionMade, true);
    scheme.step_back(1.0); // 19, probes up to 19.95
    assert_eq!(scheme.probes(), 4);
    scheme.rate = 14.0;
    scheme.step_back(1.0);
    assert_eq!(scheme.probes(), 6);
}

/// Returns the utility of an interval of 50 packets at 12 Mbit/s whose RTTs alternate by `swing_us` after calm ones.
fn utility_after_calm(settings: &[(&str, &str)], swing_us: u64) -> f64 {
    let mut scheme = scheme(settings);
    (scheme.mode, scheme.rate, scheme.srtt) = (Mode::Probing, 12.0, Span::from_ms(30));
    let mut utility = f64::NAN;
    for round in 0..10 {
        let terms = IntervalTerms {
            rate: 12.0,
            is_useful: true,
            is_starting: false,
            rtt: Span::from_ms(30),
            end: Time::ZERO,
        };
        let mut monitor = MonitorTimed::default();
        monitor.open(Time::ZERO, terms);
        for number in 0..50 {
            monitor.on_sent(Time::ZERO + Span::from_ms(number), number, 1500);
        }
        let swing_us = if round == 9 { swing_us } else { 100 };
        for number in 0..50 {
            let rtt = Span::from_us(30_000 - swing_us / 2 + swing_us * (number / 25));
            monitor.on_acked(1500, RttSample { number, rtt, is_reliable: true });
        }
        utility = scheme.utility(monitor.useful_intervals().next().unwrap());
    }
    utility
}

#[test]
fn only_a_scavenger_pays_for_deviation() {
    let free = libm::pow(12.0, 0.9);
    let gradient_only = utility_after_calm(&[], 6000);
    let scavenger = utility_after_calm(SCAVENGER, 6000);
    // A deviation of 3000 us costs 0.0015 * 3000 * 12 = 54.
    assert!((gradient_only - scavenger - 54.0).abs() < 0.5, "{gradient_only} {scavenger}");
    assert!(gradient_only < free);
    let hybrid = |rate| utility_after_calm(&[("role", "hybrid"), ("switching_rate", rate)], 6000);
    assert_eq!((hybrid("15"), hybrid("11")), (gradient_only, scavenger));
}

#[test]
fn the_first_rtt_scales_the_first_rate() {
    let rate_after = |rtt_ms| {
        let mut driver = Driver::new(&ENTRY, &[]);
        (driver.next_number, driver.rtt) = (0, Span::from_ms(rtt_ms));
        driver.send();
        driver.ack(1);
        driver.send();
        driver.field("sending_rate")
    };
    assert_eq!([200, 100].map(rate_after), [1.12; 2]);
    assert!((rate_after(20) - 5.6).abs() < 1e-9);
}

#[test]
fn a_jump_in_the_spacing_of_acks_makes_rtts_unreliable_until_they_are_low_again() {
    let mut scheme = scheme(&[]);
    let pending = |interval_us, rtt_ms, srtt_ms| PendingAck {
        packets: vec![],
        rtt: Span::from_ms(rtt_ms),
        srtt: Span::from_ms(srtt_ms),
        interval: Span::from_us(interval_us),
    };
    let mut judge = |interval_us, rtt_ms, srtt_ms, next_us, next_rtt_ms| {
        scheme.is_reliable(
            &pending(interval_us, rtt_ms, srtt_ms),
            Span::from_us(next_us),
            Span::from_ms(next_rtt_ms),
        )
    };
    assert!(!judge(0, 30, 30, 1000, 30)); // no spacing yet
    assert!(judge(1000, 30, 30, 1000, 30));
    assert!(judge(1000, 30, 30, 20_000, 30)); // 20 times is within bounds
    assert!(!judge(10, 60, 30, 20_000, 60)); // 2000 times is not
    assert!(!judge(1000, 60, 35, 1000, 60)); // and RTTs are still high
    assert!(!judge(1000, 30, 35, 1000, 31)); // low again: over with this one
    assert!(judge(1000, 31, 35, 1000, 31));
}

#[test]
fn an_interval_lasts_until_four_samples_are_in_and_is_doubled_once_if_too_few_are_reliable() {
    let mut scheme = scheme(&[]);
    scheme.note_rtt(Span::from_ms(20));
    scheme.open(Time::ZERO);
    for number in 0..10 {
        scheme.monitor.on_sent(Time::ZERO + Span::from_ms(number), number, 1500);
    }
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    assert!(!scheme.begins_interval(at(100)));
    for number in 0..8 {
        let is_reliable = number % 2 == 0;
        scheme.monitor.on_acked(1500, RttSample { number, rtt: Span::from_ms(20), is_reliable });
    }
    assert!(!scheme.begins_interval(at(19)));
    assert!(!scheme.begins_interval(at(20))); // half of them reliable: 40 ms now
    assert!(!scheme.begins_interval(at(39)));
    assert!(scheme.begins_interval(at(40)));
}
