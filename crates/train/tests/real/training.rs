//! Training network with published tables: figures of their authors and of an independent simulator.

use crate::table;
use std::sync::Arc;
use train::StopSignal;
use train::remy::{Network, Outcome, Trial};

/// Returns the mean over runs of `packets` packets of the link each.
fn mean_outcome(table: &str, network: Network, packets: f64, runs: u64) -> Outcome {
    let table = Arc::new(crate::table(table));
    let all: Vec<Outcome> = (1..=runs)
        .map(|seed| {
            network.judge(&table, &Trial::patient(seed, packets), StopSignal::never()).expect("a network")
        })
        .collect();
    let mean = |value: fn(&Outcome) -> f64| all.iter().map(value).sum::<f64>() / runs as f64;
    Outcome {
        utility: mean(|one| one.utility),
        throughput: mean(|one| one.throughput),
        delay_ms: mean(|one| one.delay_ms),
    }
}

fn network(link_mbps: f64, senders: usize, on_off_ms: f64) -> Network {
    Network { link_mbps, rtt_ms: 150.0, senders, on_ms: on_off_ms, off_ms: on_off_ms }
}

/// Returns the relative distance of a value from `expected`.
fn distance(value: f64, expected: f64) -> f64 {
    (value / expected - 1.0).abs()
}

/// tcpexmachina/remy@a7e7a42, tests/verify-2014, from figure 2 of the paper, simulated with ns-2; its tolerance is 5
/// %.
///
/// For two senders that are on half of the time, the mean fair share is three quarters of the link.
pub(crate) fn two_senders_get_what_was_published_of_the_100x_table() {
    for (link_mbps, throughput_mbps, rtt_ms) in [
        (2.21, 1.8, 346.0),
        (9.93, 6.0, 165.0),
        (29.41, 18.0, 174.0),
        (185.04, 91.1, 157.0),
        (300.25, 133.1, 152.0),
        (401.4, 146.0, 151.0),
        (801.5, 156.0, 150.0),
    ] {
        // Each run lasts at least 100 s.
        let packets = 1e4 * f64::max(link_mbps, 20.0);
        let outcome = mean_outcome("RemyCC-2014-100x.dna", network(link_mbps, 2, 1000.0), packets, 3);
        let raw_mbps = 0.75 * link_mbps * outcome.throughput;
        assert!(
            distance(raw_mbps, throughput_mbps) < 0.05,
            "{link_mbps} Mbit/s: {raw_mbps} of {throughput_mbps}"
        );
        assert!(
            distance(outcome.delay_ms, rtt_ms) < 0.05,
            "{link_mbps} Mbit/s: {} ms, not {rtt_ms}",
            outcome.delay_ms
        );
    }
}

/// tcpexmachina/remy@58fc19d, tests/maintain-2013-results.
pub(crate) fn eight_senders_get_what_was_published_of_the_tables_of_2013() {
    for (delta, throughput, ratio) in [("10", 0.65, 1.0), ("1", 0.81, 1.02), ("0.1", 0.9, 1.11)] {
        let outcome =
            mean_outcome(&format!("RemyCC-2013-delta{delta}.dna"), network(15.0, 8, 10_000.0), 1e6, 3);
        assert!(distance(outcome.throughput, throughput) < 0.05, "{delta}: {}", outcome.throughput);
        assert!(distance(outcome.delay_ms / 150.0, ratio) < 0.05, "{delta}: {} ms", outcome.delay_ms);
    }
}

/// An independent simulator of this description, written earlier, gives throughput and RTT as fractions of share and
/// base RTT.
pub(crate) fn outside_of_their_range_tables_do_as_an_independent_simulator_says() {
    for (name, expected) in [
        ("learnability/tao-2x.dna", [(31.6, 0.92, 1.1), (100.0, 0.48, 1.0), (316.0, 0.16, 1.0)]),
        ("learnability/tao-10x.dna", [(10.0, 1.01, 1.55), (31.6, 0.9, 1.18), (100.0, 0.69, 1.02)]),
        ("RemyCC-2014-100x.dna", [(3.16, 1.01, 1.67), (31.6, 0.83, 1.14), (316.0, 0.61, 1.01)]),
        ("learnability/tao-1000x.dna", [(3.16, 0.87, 1.22), (31.6, 0.9, 1.63), (316.0, 0.76, 1.15)]),
    ] {
        for (link_mbps, throughput, ratio) in expected {
            let outcome = mean_outcome(name, network(link_mbps, 2, 1000.0), 1e6, 2);
            assert!(
                distance(outcome.throughput, throughput) < 0.06,
                "{name} {link_mbps}: {}",
                outcome.throughput
            );
            assert!(
                distance(outcome.delay_ms / 150.0, ratio) < 0.06,
                "{name} {link_mbps}: {} ms",
                outcome.delay_ms
            );
        }
    }
    assert!(table("learnability/tao-2x.dna").rules().len() > 1);
}
