//! Tests of three questions: the interval holds, differences of delays are exact, no step is invented.

use std::ops::Range;

use clocks::{Fit, fit};
use units::Rng;

use crate::families::{FRESH, LOADS, PATHS, remark, world};
use crate::world::{Verdict, World, quantile};

/// Required error of differences over time at the 99th percentile of packets, ns.
const EXACT_NS: f64 = 200e3;

/// Tally of the runs of one kind.
#[derive(Default)]
struct Row {
    name: String,
    runs: usize,
    covered: usize,
    /// Runs for which the fit has a step, though none had one.
    invented: usize,
    /// Runs with an error above `EXACT_NS`, and runs with an error above the fit's residual.
    inexact: usize,
    unsaid: usize,
    medians: Vec<f64>,
    tails: Vec<f64>,
    residuals: Vec<f64>,
    intervals: Vec<f64>,
}

impl Row {
    fn add(&mut self, verdict: &Verdict, fit: &Fit) {
        self.runs += 1;
        self.covered += usize::from(verdict.outside == 0);
        self.invented += usize::from(!fit.steps.is_empty());
        self.inexact += usize::from(verdict.quantile(0.99) > EXACT_NS);
        self.unsaid += usize::from(verdict.quantile(0.99) > fit.residual_ns as f64);
        self.medians.push(verdict.quantile(0.5));
        self.tails.push(verdict.quantile(0.99));
        self.residuals.push(fit.residual_ns as f64);
        self.intervals.push((fit.high_ns - fit.low_ns) as f64);
    }

    fn join(&mut self, other: &Self) {
        self.runs += other.runs;
        self.covered += other.covered;
        self.invented += other.invented;
        self.inexact += other.inexact;
        self.unsaid += other.unsaid;
        self.medians.extend(&other.medians);
        self.tails.extend(&other.tails);
        self.residuals.extend(&other.residuals);
        self.intervals.extend(&other.intervals);
    }

    fn line(&mut self) -> String {
        for values in [&mut self.medians, &mut self.tails, &mut self.residuals, &mut self.intervals] {
            values.sort_by(f64::total_cmp);
        }
        format!(
            "| {} | {} | {} | {} | {:.1} | {:.1} | {} | {} | {:.1} |\n",
            self.name,
            self.runs,
            self.covered,
            self.invented,
            quantile(&self.medians, 0.5) / 1e3,
            quantile(&self.tails, 0.5) / 1e3,
            self.inexact,
            self.unsaid,
            quantile(&self.residuals, 0.5) / 1e3,
        )
    }
}

/// Returns a row per kind of run with these seeds, after `change`, and a last row for all runs.
fn table(seeds: Range<u64>, change: fn(&mut World), remarks: &mut Vec<String>) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut all = Row { name: "all".to_owned(), ..Row::default() };
    for path in PATHS {
        for load in LOADS {
            let mut row = Row { name: format!("{path:?}, {load:?}"), ..Row::default() };
            for seed in seeds.clone() {
                let mut rng = Rng::new(seed, &row.name);
                let mut world = world(&mut rng, path, load);
                change(&mut world);
                let packets = world.simulate(&mut rng);
                let fit = fit(&packets.observed, &[]).expect("packets in both directions");
                let verdict = Verdict::of(&packets, &fit);
                if verdict.outside > 0 || verdict.quantile(0.99) > EXACT_NS || !fit.steps.is_empty() {
                    remarks.push(remark(
                        &format!("{} seed {seed}", row.name),
                        &world,
                        &packets,
                        &fit,
                        &verdict,
                    ));
                }
                row.add(&verdict, &fit);
            }
            all.join(&row);
            rows.push(row);
        }
    }
    rows.push(all);
    rows
}

/// Changes the duration of a run. Changes of the path keep their relative times.
fn lasting(world: &mut World, seconds: f64) {
    for change in world.ways.iter_mut().flat_map(|way| &mut way.changes) {
        change.0 = 1.0 + (change.0 - 1.0) * seconds / world.seconds;
    }
    world.seconds = seconds;
}

type Change = fn(&mut World);

const HARDER: [(&str, Change); 7] = [
    ("2 s", |world| lasting(world, 2.0)),
    ("300 s", |world| lasting(world, 300.0)),
    ("host jitter of 0.2 ms", |world| world.jitter = 0.2e6),
    ("host jitter of 1 ms", |world| world.jitter = 1e6),
    ("half of the packets up to 5 ms late", |world| world.spikes = 0.5),
    ("40 % loss", |world| world.loss = 0.4),
    ("wander of 0.2 ppm", |world| world.wander = 0.2e-6),
];

const HEAD: &str = "| path, queues | runs | covered | with a step | error, us | error p99, us | p99 above 200 us | p99 above residual | residual, us |\n|---|---|---|---|---|---|---|---|---|\n";

fn shown(rows: &mut [Row]) -> String {
    HEAD.to_owned() + &rows.iter_mut().map(Row::line).collect::<String>()
}

#[test]
fn intervals_hold_and_differences_are_exact() {
    let mut remarks = Vec::new();
    let mut rows = table(0..6, |_| {}, &mut remarks);
    let text = shown(&mut rows) + &remarks.join("\n");
    let all = rows.last().expect("the last row is of all");
    assert!(all.covered * 100 >= all.runs * 99, "{text}");
    assert!(all.inexact * 100 <= all.runs * 4 && all.invented * 100 <= all.runs * 2, "{text}");
    // The tests take medians and tails over runs, the page over all packets.
    assert!(quantile(&all.medians, 0.5) < 50e3 && quantile(&all.tails, 0.95) < EXACT_NS, "{text}");
}

#[test]
#[ignore = "the table of docs/evidence/clocks.md"]
fn table_of_the_page() {
    let mut remarks = Vec::new();
    let mut rows = table(FRESH..FRESH + 70, |_| {}, &mut remarks);
    for (name, change) in HARDER {
        let mut all =
            table(FRESH..FRESH + 20, change, &mut Vec::new()).pop().expect("the last row is of all");
        all.name = format!("all, {name}");
        rows.push(all);
    }
    println!("{}\n{}", shown(&mut rows), remarks.join("\n"));
}
