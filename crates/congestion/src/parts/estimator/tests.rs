use super::*;
use crate::network::vectors;
use crate::testing::MSS_BYTES;

/// Checks the network of `weights` against other computations. Each line has the estimate and the inputs.
pub(crate) fn assert_vectors<E: Estimates>(weights: &[u8], lines: &str) {
    let files = [("w".to_owned(), weights.into())].into();
    let mut parameters = Parameters::defaults(PARAMETERS).with_files(files);
    parameters.set("weights", "w").unwrap();
    let mut network = network::<E>(&parameters).unwrap();
    for (expected, input) in vectors(lines) {
        let found = E::bps(network.step(&input));
        assert!((found - expected).abs() < 1e-5 * expected, "{found} {expected}");
    }
}

fn arrive(received: &mut Received, ms: u64, number: u64, delay_ms: u64) {
    let now = Time::ZERO + Span::from_ms(ms);
    let sent_at = Time::ZERO + Span::from_ms(ms - delay_ms);
    received.add(&Arrived {
        now,
        number,
        sent_at,
        bytes: MSS_BYTES,
        datagram_bytes: MSS_BYTES + 40,
        ..Arrived::default()
    });
}

/// Returns feature `k` of the newest short (column 0) or long (column 5) interval.
fn of(observation: &[f32], k: usize, column: usize) -> f32 {
    observation[10 * k + column]
}

#[test]
fn features_are_those_of_the_challenge() {
    let mut received = Received::new(0.25);
    arrive(&mut received, 1000, 0, 50);
    received.observation();
    // Two packets arrive after 20 and 40 ms; two packets before the second one are missing.
    arrive(&mut received, 1020, 1, 60);
    arrive(&mut received, 1060, 4, 80);
    let seen = received.observation().to_vec();
    let expected = [
        2080.0 * 8.0 / 0.06,
        2.0,
        2080.0,
        20.0,
        20.0,
        200.0,
        220.0 / 210.0,
        10.0,
        30.0,
        10.0,
        0.5,
        2.0,
        0.75,
        0.25,
        0.0,
    ];
    for (k, expected) in expected.into_iter().enumerate() {
        assert!((of(&seen, k, 0) - expected).abs() < 1e-3 * expected.abs().max(1.0), "{k}");
    }
    // Features of the interval before, and of both as one interval of 600 ms.
    assert_eq!([of(&seen, 1, 1), of(&seen, 1, 2), of(&seen, 1, 5), of(&seen, 1, 6)], [1.0, 0.0, 3.0, 0.0]);
    assert!((of(&seen, 0, 5) - 3120.0 * 8.0 / 0.6).abs() < 0.1);
    assert!((of(&seen, 10, 5) - 0.4).abs() < 1e-6);
    // An interval without packets has the minimum delay. After ten of them the long interval has moved on.
    for _ in 0..9 {
        received.observation();
    }
    let seen = received.observation();
    assert_eq!([of(seen, 5, 0), of(seen, 0, 0), of(seen, 1, 5), of(seen, 1, 6)], [200.0, 0.0, 0.0, 3.0]);
    assert!((received.payload_share() - 1000.0 / 1040.0).abs() < 1e-6);
}

#[test]
fn the_sender_does_as_it_is_told_within_its_bounds() {
    let mut feedback = Vec::new();
    Report { bps: 2e6, payload_share: 0.5 }.write(&mut feedback);
    assert_eq!(Report::read(&feedback), Some(Report { bps: 2e6, payload_share: 0.5 }));
    assert_eq!((Report::read(&[]), Report::read(&[0xff; 8])), (None, None));
}
