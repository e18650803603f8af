//! Two variants of libutp connections: the number of the first packet decides whether a connection has a fast
//! retransmit (bittorrent/libutp@b3465b9, `utp_internal.cpp`).

use crate::harness::{Outcome, dumbbell, flow, run, spec};
use serde_json::{Value, json};

/// Returns the transport of the scheme `libutp-ledbat`.
fn transport(first_number: Option<u16>) -> Value {
    json!({"profile": "tcp", "payload_bytes": 1382, "header_bytes": 48, "ack_bytes": 48, "ack_every": 1,
           "ack_delay_ms": 0.0, "ack_ranges": 1, "sack_packets": 30, "loss_detection": "utp", "undo": false,
           "time_threshold": 0.0, "initial_window": 1, "max_window_bytes": 1_048_576, "recovery": "immediate",
           "tail_loss_probe": false, "timeout_initial_ms": 3000, "timeout_min_ms": 1000, "timeout_floor": "total",
           "timeout_check_ms": 500, "first_number": first_number})
}

/// Runs one flow over `path` for `seconds`.
fn over(path: &Value, first_number: Option<u16>, seed: u64, seconds: f64) -> Outcome {
    let mut flow = flow("libutp-ledbat");
    flow["transport"] = transport(first_number);
    let mut spec = spec(path.clone(), vec![flow], seconds);
    spec["seed"] = json!(seed);
    run(&spec)
}

/// Returns 12 Mbit/s, 40 ms, 60 packets; `loss` comes first.
fn short_queue(loss: &Value) -> Value {
    let mut path = dumbbell(12.0, 40.0, 60);
    path["data"].as_array_mut().expect("elements").insert(0, loss.clone());
    path
}

/// Returns a path that loses one packet, the 101st.
fn one_loss() -> Value {
    short_queue(&json!({"kind": "loss", "packets": [100]}))
}

/// A connection draws its variant: without the mark in reach, the lost packet waits for a timeout.
#[test]
fn half_of_the_connections_have_no_fast_retransmit() {
    let waited =
        (1..=60).filter(|seed| over(&one_loss(), None, *seed, 5.0).flow(1, "timeouts") == 1.0).count();
    // Half within three standard deviations.
    assert!((19..=41).contains(&waited), "{waited} of 60");
}

#[test]
fn it_comes_back_when_the_number_has_wrapped() {
    let timeouts = |first: u16| over(&one_loss(), Some(first), 1, 5.0).flow(1, "timeouts");
    assert_eq!((timeouts(32_767), timeouts(32_768)), (0.0, 1.0));
    // The 101st packet has a number of at most 65,535, or at least 1 again.
    assert_eq!((timeouts(65_400), timeouts(65_450)), (1.0, 0.0));
}

/// libutp's own code in virtual time over this queue: 8.6 or 10.8 Mbit/s without loss, 0.9 or 3.7 with 1 %; emulated,
/// 11.5 and 5.4 with its own number (docs/schemes/libutp-ledbat.md).
#[test]
fn the_two_faces_differ_as_those_of_libutp_do() {
    let mbps = |loss: f64, first: u16| {
        let path = short_queue(&json!({"kind": "loss", "probability": loss}));
        let rates = (1..=3).map(|seed| over(&path, Some(first), seed, 20.0).flow(1, "goodput_mbps"));
        rates.sum::<f64>() / 3.0
    };
    let faces = |loss: f64| (mbps(loss, 9158), mbps(loss, 40_000));
    let (with, without) = faces(0.0);
    assert!((10.8..12.0).contains(&with) && (7.5..9.5).contains(&without), "{with:.2}, {without:.2}");
    let (with, without) = faces(0.01);
    assert!((3.7..6.5).contains(&with) && (0.7..1.3).contains(&without), "{with:.2}, {without:.2}");
}
