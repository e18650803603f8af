use super::*;
use crate::File;
use crate::parts::{Answer, State};
use crate::testing::{Driver, MSS_BYTES};

/// Returns pseudo-random numbers between -1 and 1.
fn numbers(seed: u32) -> impl Iterator<Item = f32> {
    let mut state = seed;
    core::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    })
}

#[test]
fn a_checkpoint_of_the_published_layout_says_what_numpy_says() {
    let mut contents: Vec<u8> =
        numbers(1).take(LAYOUTS[0].bytes / 4).flat_map(|number| (0.2 * number).to_le_bytes()).collect();
    contents.resize(LAYOUTS[0].bytes, 0);
    let file = File { name: "ckpt-1.data-00000-of-00001".into(), contents: contents.into() };
    let mut network = Network::new(&Tensors::read("weights", &file, LAYOUTS).unwrap(), INPUTS, 1).unwrap();
    let inputs: Vec<f32> = numbers(7).take(4 * INPUTS).collect();
    // Expected values come from float64 arrays cut out of the same file by the offsets of the published index, and from
    // Acme's and Sonnet's formulas.
    let expected = [-0.006_276_42, -0.041_669_63, -0.064_956_15, -0.071_673_65];
    for (input, expected) in inputs.as_chunks::<INPUTS>().0.iter().zip(expected) {
        let found = f64::from(network.step(input)[0]);
        assert!((found - expected).abs() < 2e-6, "{found} {expected}");
    }
}

#[test]
fn no_tensor_of_the_layout_lies_in_another_or_outside() {
    let mut places: Vec<(usize, usize)> = LAYOUTS[0]
        .tensors
        .iter()
        .map(|(_, shape, first)| (*first, first + 4 * shape.iter().product::<usize>()))
        .collect();
    places.sort_unstable();
    assert!(places.array_windows().all(|[one, other]| one.1 <= other.0));
    assert!(places.last().unwrap().1 <= LAYOUTS[0].bytes);
}

/// Returns mean, minimum and maximum of three lengths, which are equal until a series forgets a value.
fn thrice(values: [f64; 3]) -> impl Iterator<Item = f64> {
    core::iter::repeat_n(values, 3).flatten()
}

fn assert_report(found: &[f32], head: [f64; 4], series: [[f64; 3]; 6], tail: [f64; 11]) {
    let expected: Vec<f64> =
        head.into_iter().chain(series.into_iter().flat_map(thrice)).chain(tail).collect();
    assert_eq!(expected.len(), INPUTS);
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((f64::from(*found) - expected).abs() < 1e-6 * expected.max(1.0), "{k}: {found} {expected}");
    }
}

#[test]
fn two_reports_are_those_computed_by_hand() {
    let mut reports = Reports::new(1000);
    let first = Answer {
        elapsed_s: 0.02,
        newest_rate: 1.25e6,
        sent_bytes: 30_000.0,
        delivered_bytes: 20_000.0,
        srtt_s: 0.04,
        rttvar_s: 0.005,
        min_rtt_s: 0.02,
        packets_out: 12.0,
        ..Answer::default()
    };
    assert_report(
        reports.next(&first, 10.0, 0.0),
        [0.4, 5.0, 0.1, 0.0],
        [[0.4; 3], [0.1; 3], [0.5; 3], [5.0; 3], [0.012; 3], [0.0; 3]],
        [1.0, 0.5, 0.0, 2.0 / 3.0, 8.0, 2.0, 0.08, 0.4, 8.0, 0.08, 0.0],
    );
    let second = Answer {
        elapsed_s: 0.01,
        newest_rate: 2.5e6,
        sent_bytes: 10_000.0,
        delivered_bytes: 5000.0,
        srtt_s: 0.02,
        rttvar_s: 0.001,
        packets_out: 8.0,
        retransmitted: 1.0,
        missing: 3.0,
        state: State::Recovery,
        ..first
    };
    assert_report(
        reports.next(&second, 16.0, 0.678),
        [0.2, 1.0, 0.2, 3.0],
        [
            [0.3, 0.2, 0.4],
            [0.15, 0.1, 0.2],
            [0.75, 0.5, 1.0],
            [3.0, 1.0, 5.0],
            [0.011, 0.01, 0.012],
            [0.015, 0.0, 0.03],
        ],
        [0.5, 1.0, 0.008, 1.0 / 3.0, 5.0 / 6.0, 1.25, 1.0 / 15.0, 0.275, 1.0, 0.08, 0.678],
    );
}

#[test]
fn what_is_no_number_is_told_as_zero() {
    let mut reports = Reports::new(1000);
    let seen = Answer { elapsed_s: 0.01, delivered_bytes: 1000.0, ..Answer::default() };
    let found = reports.next(&seen, 10.0, 0.0);
    assert_eq!(found[58..62], [0.0; 4], "no RTT, nothing sent");
    assert!(found.iter().all(|value| value.is_finite()));
}

fn policy() -> Sage {
    let start = Start { now: Time::ZERO, mss_bytes: MSS_BYTES, initial_window_bytes: 10_000, seed: 1 };
    Sage::new(&Parameters::defaults(ENTRY.parameters), &start)
}

#[test]
fn the_window_is_multiplied_unrounded_and_written_rounded_up() {
    let mut policy = policy();
    let mut after = |action: f32| {
        policy.phase = Phase::Asked(Time::ZERO);
        policy.act(Time::ZERO, &[action]);
        (policy.window, policy.written())
    };
    assert_eq!(after(-1.0), (5.0, 5.0));
    assert_eq!(after(-0.4996), (5.0 * libm::exp2(-0.5), 4.0), "three decimals; 3.54 counts as 4");
    assert_eq!(after(-2.0), (4.0, 4.0), "below the least both are");
    assert_eq!(after(9.0), (16.0, 16.0));
    let last = (0..6).map(|_| after(2.0)).last();
    assert_eq!(last, Some((20_000.0, 20_000.0)));
    assert!((policy.action - 2.0).abs() < 1e-9);
}

#[test]
fn a_report_is_due_after_a_step_and_a_delivery_and_answered_later() {
    let mut driver = Driver::new(&crate::schemes::cubic::ENTRY, &[]);
    let kernel = [0.0_f32; INPUTS];
    let tensors: [(&str, &[usize], &[f32]); 2] =
        [("0.kernel", &[INPUTS, 1], &kernel), ("0.bias", &[1], &[1.0])];
    let network = Tensors::read("weights", &crate::network::packed("dense", &tensors), &[]).unwrap();
    let network = Network::new(&network, INPUTS, 1).unwrap();
    driver.controller = Box::new(Learned { policy: policy(), network });
    let ms = Span::from_ms;
    driver.now = Time::ZERO + ms(4);
    driver.ack(1);
    assert_eq!(driver.control().wake_at, Time::ZERO + ms(10));
    let at = |driver: &mut Driver, time: u64| {
        driver.now = Time::ZERO + ms(time);
        driver.controller.on_wake(driver.now);
        (driver.control().window_bytes, driver.control().wake_at)
    };
    assert_eq!(at(&mut driver, 10), (10_000, Time::ZERO + ms(20)), "a report");
    assert_eq!(at(&mut driver, 20), (20_000, Time::ZERO + ms(20)), "its answer; the next report is due");
    assert_eq!(at(&mut driver, 20), (20_000, Time::NEVER), "but nothing was delivered");
    driver.now = Time::ZERO + ms(33);
    driver.ack(1);
    assert_eq!(driver.control().wake_at, Time::ZERO + ms(43));
    assert_eq!(at(&mut driver, 43), (40_000, Time::ZERO + ms(43)));
    driver.timeout(false);
    assert_eq!(driver.control().window_bytes, 40_000, "nothing else changes the window");
}
