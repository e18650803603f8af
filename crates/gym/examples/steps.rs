//! Speed of environment steps without Python, for profilers, in CPU time.
//! Usage: `steps TASK.json [COUNT [ROUNDS [AMPLITUDE]]]`.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a program for a terminal"
)]

use gym::{Autoreset, Task, TaskSpec, Vector};
use std::sync::Arc;
use units::Rng;

/// Returns the CPU time of this process, ns.
fn cpu_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: f64| words.get(index).map_or(default, |word| word.parse().unwrap());
    let task: TaskSpec = serde_json::from_slice(&std::fs::read(&words[0]).unwrap()).unwrap();
    let (count, rounds, amplitude) = (number(1, 16.0) as usize, number(2, 1000.0) as usize, number(3, 1.0));
    let task = Arc::new(Task::new(task, Vec::new()).unwrap());
    let mut vector = Vector::new(task, count, 1, Autoreset::NextStep, false).unwrap();
    let seeds: Vec<Option<u64>> = (1..=count as u64).map(Some).collect();
    vector.reset(&seeds, None).unwrap();
    let mut rng = Rng::new(1, "steps");
    let (mut sum, mut sent) = (0.0, 0.0);
    let place = congestion::step_field("packets_sent").unwrap();
    let started = cpu_ns();
    for _ in 0..rounds {
        for action in &mut vector.arrays.actions {
            *action = (amplitude * (2.0 * rng.uniform() - 1.0)) as f32;
        }
        vector.step().unwrap();
        for (row, reward) in vector.arrays.rewards.iter().enumerate() {
            sum += reward;
            sent += vector.arrays.values[row * congestion::STEP_FIELDS.len() + place];
        }
    }
    let taken = cpu_ns() - started;
    let steps = (count * rounds) as f64;
    println!(
        "{:.2} us per step, {:.1} packets per step, {:.0} ns per packet, sum of rewards {sum}",
        taken / 1e3 / steps,
        sent / steps,
        taken / sent,
    );
}
