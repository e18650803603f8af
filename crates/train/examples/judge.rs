//! Evaluates rule tables: `judge TABLE LINK_MBPS[,...] [RTT_MS SENDERS ON_OFF_MS PACKETS SEEDS]`.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a program for a terminal"
)]

use congestion::remy::Table;
use std::sync::Arc;
use train::StopSignal;
use train::remy::{Network, Trial};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let table = Arc::new(Table::read(&std::fs::read(&words[0]).unwrap()).unwrap());
    let number = |index: usize, default: f64| words.get(index).map_or(default, |word| word.parse().unwrap());
    for link in words[1].split(',') {
        let on_ms = number(4, 1000.0);
        let network = Network {
            link_mbps: link.parse().unwrap(),
            rtt_ms: number(2, 150.0),
            senders: number(3, 2.0) as usize,
            on_ms,
            off_ms: on_ms,
        };
        let packets = number(5, 200_000.0);
        let seeds = number(6, 1.0) as u64;
        let started = std::time::Instant::now();
        let outcomes: Vec<_> = (1..=seeds)
            .map(|seed| network.judge(&table, &Trial::patient(seed, packets), StopSignal::never()).unwrap())
            .collect();
        let mean =
            |value: fn(&train::remy::Outcome) -> f64| outcomes.iter().map(value).sum::<f64>() / seeds as f64;
        let seconds = started.elapsed().as_secs_f64();
        println!(
            "{link} Mbit/s: throughput {:.3}, raw {:.2}, delay {:.1} ms, utility {:.3}; {:.2} M link packets/s",
            mean(|outcome| outcome.throughput),
            0.75 * network.link_mbps * mean(|outcome| outcome.throughput),
            mean(|outcome| outcome.delay_ms),
            mean(|outcome| outcome.utility),
            packets * seeds as f64 / seconds / 1e6,
        );
    }
}
