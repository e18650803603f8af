//! Behavior of LEDBAT++ against its draft (draft-irtf-iccrg-ledbat-plus-plus-06).

use crate::harness::{Outcome, bdp_packets, dumbbell, flow, run, spec};
use serde_json::{Value, json};

fn ledbat_plus_plus() -> Value {
    flow("ledbat-plus-plus")
}

fn run_alone(slowdowns: &str) -> Outcome {
    let mut flow = ledbat_plus_plus();
    flow["parameters"] = json!({"slowdowns": slowdowns});
    let mut spec = spec(dumbbell(20.0, 40.0, 400), vec![flow], 120.0);
    spec["warmup_s"] = json!(20.0);
    run(&spec)
}

/// A lone flow keeps 60 ms of queue, and its slowdowns cost at most a tenth.
#[test]
fn it_holds_sixty_milliseconds_and_slowdowns_cost_at_most_a_tenth() {
    let (with, without) = (run_alone("true"), run_alone("false"));
    let delay_ms = without.mean_queue(20.0, 120.0) / bdp_packets(20.0, 1.0);
    assert!((55.0..=65.0).contains(&delay_ms), "{delay_ms:.1} ms");
    let cost = 1.0 - with.flow(1, "goodput_mbps") / without.flow(1, "goodput_mbps");
    assert!((0.005..=0.10).contains(&cost), "{cost:.3} of the goodput");
}

/// Slowdowns are nine times their own duration apart.
#[test]
fn slowdowns_take_a_tenth_of_the_time() {
    let outcome = run_alone("true");
    let phases = outcome.series(1, "phase", 20.0, 120.0);
    let slow = phases.iter().filter(|(_, phase)| *phase >= 2.0).count() as f64 / phases.len() as f64;
    assert!((0.07..=0.12).contains(&slow), "{slow:.3} of the time");
}

/// It yields to CUBIC in a buffer deeper than its target.
#[test]
fn it_yields_to_cubic() {
    let mut background = ledbat_plus_plus();
    background["start_s"] = json!(10.0);
    let mut spec = spec(dumbbell(20.0, 40.0, 400), vec![flow("cubic"), background], 120.0);
    spec["warmup_s"] = json!(30.0);
    let outcome = run(&spec);
    let (cubic, background) = (outcome.flow(1, "goodput_mbps"), outcome.flow(2, "goodput_mbps"));
    assert!(background < 0.1 * cubic, "{background:.2} beside {cubic:.2} Mbit/s");
}

/// Returns the late-comer's goodput divided by the first flow's after 90 s; both flows use `controller`, and the
/// late-comer starts after 30 s.
fn advantage_of_the_late_comer(controller: &str) -> f64 {
    let mut late = flow(controller);
    late["start_s"] = json!(30.0);
    let mut spec = spec(dumbbell(20.0, 40.0, 1000), vec![flow(controller), late], 240.0);
    spec["warmup_s"] = json!(90.0);
    let outcome = run(&spec);
    outcome.flow(2, "goodput_mbps") / outcome.flow(1, "goodput_mbps")
}

/// LEDBAT's late-comer takes the incumbent's queue for the base delay and starves the incumbent; LEDBAT++'s does not.
#[test]
fn a_late_comer_has_no_advantage() {
    let plain = advantage_of_the_late_comer("ledbat");
    assert!(plain > 4.0, "LEDBAT's late-comer got {plain:.2} times as much");
    let plus_plus = advantage_of_the_late_comer("ledbat-plus-plus");
    assert!((0.67..=1.5).contains(&plus_plus), "{plus_plus:.2}");
}
