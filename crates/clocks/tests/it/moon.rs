//! Skews compared with the linear program of Moon, Skelly and Towsley (INFOCOM 1999, section 5).
//!
//! `tests/support/by_hand/clocks.py` solves the program independently.

use clocks::{PacketDelays, Point, fit};
use serde::Deserialize;

/// Tolerance, ppm. The program uses two packets of a direction, the crate all packets near the minimum of either
/// direction.
const PPM: f64 = 0.15;

#[derive(Deserialize)]
struct Vector {
    forward: Vec<(i64, i64)>,
    backward: Vec<(i64, i64)>,
    /// Skew of each direction, ppm.
    skews_ppm: [f64; 2],
}

#[test]
fn skews_are_those_of_the_linear_program() {
    let vectors: Vec<Vector> = serde_json::from_str(include_str!("../moon.json")).unwrap();
    assert_eq!(vectors.len(), 4);
    let points = |series: &[(i64, i64)]| {
        series.iter().map(|(at_ns, apparent_ns)| Point { at_ns: *at_ns, apparent_ns: *apparent_ns }).collect()
    };
    for vector in vectors {
        let observed = PacketDelays { forward: points(&vector.forward), backward: points(&vector.backward) };
        let fit = fit(&observed, &[]).unwrap();
        let skew = fit.pieces[0].skew * 1e6;
        let [one, other] = vector.skews_ppm;
        assert!((skew - f64::midpoint(one, other)).abs() < PPM, "{skew} ppm, not {one} and {other}");
        assert!(fit.steps.is_empty() && fit.pieces.len() == 1);
    }
}
