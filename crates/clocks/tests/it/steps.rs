//! Tests of the detection of clock steps.

use std::ops::Range;

use clocks::fit;
use units::Rng;

use crate::families::{FRESH, LOADS, Load, MS, PATHS, Path, between, remark, world};
use crate::world::{Verdict, World, quantile};

const SIZES_MS: [f64; 6] = [1.0, 3.0, 10.0, 50.0, 300.0, 1000.0];

#[derive(Debug, Default)]
struct StepTally {
    runs: usize,
    covered: usize,
    steps: usize,
    /// Invented steps in runs with steps. The other table has the runs without steps.
    invented: usize,
    /// Errors of the step sizes, ns.
    sizes: Vec<f64>,
    /// Lengths of the intervals that contain the steps, ns.
    windows: Vec<f64>,
}

/// Adds one or two steps, more than 1.5 s apart.
fn add_steps(world: &mut World, rng: &mut Rng) {
    for _ in 0..=rng.below(2) {
        let size = SIZES_MS[rng.below(6) as usize] * MS;
        let at = 1.0 + world.seconds * between(rng, 0.05, 0.95);
        if world.steps.iter().all(|(other, _)| (other - at).abs() > 1.5) {
            world.steps.push((at, if rng.chance(0.5) { size } else { -size }));
        }
    }
}

fn stepping(paths: &[Path], load: Load, seeds: Range<u64>, remarks: &mut Vec<String>) -> StepTally {
    let mut tally = StepTally::default();
    for seed in seeds {
        let name = format!("steps {load:?} seed {seed}");
        let mut rng = Rng::new(seed, &name);
        let path = paths[rng.below(paths.len() as u64) as usize];
        let mut world = world(&mut rng, path, load);
        add_steps(&mut world, &mut rng);
        let packets = world.simulate(&mut rng);
        let fit = fit(&packets.observed, &[]).expect("packets in both directions");
        let verdict = Verdict::of(&packets, &fit);
        let mut left = fit.steps.clone();
        for (at, by) in &world.steps {
            let at_ns = packets.start_ns + (at * 1e9) as i64;
            let hit = left.iter().position(|step| {
                (step.at_ns - at_ns).abs() <= step.uncertain_ns / 2 + 1_000_000
                    && (step.by_ns as f64 - by).abs() < 200e3
            });
            if let Some(index) = hit {
                let step = left.remove(index);
                tally.sizes.push((step.by_ns as f64 - by).abs());
                tally.windows.push(step.uncertain_ns as f64);
            }
        }
        if fit.steps.len() != world.steps.len() || !left.is_empty() || verdict.outside > 0 {
            remarks.push(remark(&format!("{name} {path:?}"), &world, &packets, &fit, &verdict));
        }
        tally.runs += 1;
        tally.steps += world.steps.len();
        tally.invented += left.len();
        tally.covered += usize::from(verdict.outside == 0);
    }
    tally.sizes.sort_by(f64::total_cmp);
    tally.windows.sort_by(f64::total_cmp);
    tally
}

impl StepTally {
    fn line(&self, name: &str) -> String {
        let Self { runs, steps, invented, covered, sizes, windows } = self;
        format!(
            "| {name} | {runs} | {covered} | {steps} | {} | {invented} | {:.1} | {:.1} | {:.0} |\n",
            sizes.len(),
            quantile(sizes, 0.5) / 1e3,
            quantile(sizes, 0.99) / 1e3,
            quantile(windows, 0.5) / 1e6,
        )
    }
}

#[test]
fn steps_are_found() {
    let mut remarks = Vec::new();
    let constant = &PATHS[..3];
    for (load, least) in
        [(Load::Idle, 0.97), (Load::Sawtooth, 0.8), (Load::Standing, 0.75), (Load::Growing, 0.85)]
    {
        let tally = stepping(constant, load, 0..20, &mut remarks);
        let rate = tally.sizes.len() as f64 / tally.steps as f64;
        assert!(
            rate >= least && tally.invented <= 2,
            "{}{}",
            tally.line(&format!("{load:?}")),
            remarks.join("\n")
        );
    }
}

#[test]
#[ignore = "the table of docs/evidence/clocks.md"]
fn table_of_the_page() {
    let mut remarks = Vec::new();
    println!(
        "| queues | runs | covered | steps | found | wrong | size off by, us | p99, us | window, ms |\n|---|---|---|---|---|---|---|---|---|"
    );
    for (paths, name) in [(&PATHS[..3], ""), (&PATHS[3..], ", path changes")] {
        for load in LOADS {
            let tally = stepping(paths, load, FRESH..FRESH + 200, &mut remarks);
            print!("{}", tally.line(&format!("{load:?}{name}")));
        }
    }
    println!("{}", remarks.join("\n"));
}
