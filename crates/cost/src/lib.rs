//! Cost of controllers.
//!
//! A flow runs once in a small closed loop. The recorded calls of its controller are then replayed with new instances
//! many times. The cheapest repetition counts, in CPU time, so that other work on the machine has no effect. The cost
//! of a replay with an idle controller is subtracted.
//!
//! Each call is also timed separately: most calls of a learned controller are cheap, and some make decisions.
//!
//! This crate reads the wall clock, unlike the crates that it measures, and no file.

mod beside;
mod closed_loop;
mod error;
mod meter;
mod recorded;
mod tape;

pub use beside::beside;
pub use error::Error;
pub use tape::{Recording, Shared, Tape, open};

use congestion::{Entry, ReceiverHalf};
use meter::Meter;
use recorded::{DURATION_S, Recorded, Scheme};
use runs::FlowSpec;
use serde_json::{Value, json};
use std::time::Duration;
use tape::{HalfTape, Idle, IdleHalf, PerCall};

const REPETITIONS: u32 = 20;

/// Measures the controller that `entry` builds for `flow`, whose files are read. Returns nanoseconds per ACK and per
/// packet with the numbers of the recorded run, also for the receiver half, and the calls that decide.
///
/// # Errors
/// Returns an error for a value that is not allowed, a run without ACKs, or a controller that behaves differently with
/// equal inputs.
pub fn measure(flow: &FlowSpec, entry: Entry) -> Result<Value, Error> {
    let Recorded { scheme, tape, half_tape, throughput_mbps } = Recorded::of(flow, entry)?;
    let tape = open(&tape);
    let mut meter = Meter::new();
    let busy = fastest(|| tape.replay(scheme.controller().as_mut(), &mut meter).time);
    let idle = fastest(|| tape.replay(&mut Idle, &mut meter).time);
    Ok(json!({
        "scheme": flow.scheme,
        "controller": flow.controller,
        "duration_s": DURATION_S,
        "throughput_mbps": throughput_mbps,
        "packets": tape.packets_sent(),
        "acks": tape.acks(),
        "ns_per_ack": nanoseconds(busy, idle, tape.acks()),
        "ns_per_packet": nanoseconds(busy, idle, tape.packets_sent()),
        "replay_ns_per_ack": nanoseconds(idle, Duration::ZERO, tape.acks()),
        "half": measure_half(&scheme, &open(&half_tape)),
        "decisions": decisions(&scheme, &tape, &open(&half_tape)),
    }))
}

/// Returns the number per second and the duration of expensive calls, of the controller and its receiver half. A
/// learned controller decides in these calls. A call is expensive if it costs at least half of the reference cost,
/// which one call per second exceeds. The very first calls are slower because of cold caches.
fn decisions(scheme: &Scheme, tape: &Tape, half_tape: &HalfTape) -> Value {
    let mut least = vec![];
    for _ in 0..REPETITIONS {
        let mut times = vec![];
        tape.replay_timed(scheme.controller().as_mut(), &mut times);
        if let Some(mut half) = scheme.half() {
            half_tape.replay_timed(half.as_mut(), &mut times);
        }
        least.resize(times.len(), u64::MAX);
        for (least, time) in least.iter_mut().zip(&times) {
            *least = (*least).min(*time);
        }
    }
    least.sort_unstable();
    let Some(dear) = least.iter().rev().nth(DURATION_S as usize).copied() else { return Value::Null };
    let from = least.partition_point(|time| *time < dear / 2);
    json!({
        "per_s": (least.len() - from) as f64 / DURATION_S,
        "median_ns": least[from.midpoint(least.len())],
        "dear_ns": dear,
    })
}

/// Measures the receiver half; `None` without one.
fn measure_half(scheme: &Scheme, tape: &HalfTape) -> Option<Value> {
    scheme.half()?;
    let counts = tape.counts();
    let replays = |fresh: &dyn Fn() -> Option<Box<dyn ReceiverHalf>>| {
        let mut least = PerCall { packets: Duration::MAX, feedback: Duration::MAX };
        for mut half in (0..REPETITIONS).filter_map(|_| fresh()) {
            let spent = tape.replay(half.as_mut());
            least.packets = least.packets.min(spent.packets);
            least.feedback = least.feedback.min(spent.feedback);
        }
        least
    };
    let (busy, idle) = (replays(&|| scheme.half()), replays(&|| Some(Box::new(IdleHalf))));
    Some(json!({
        "packets": counts.packets,
        "feedbacks": counts.feedback,
        "ns_per_packet": nanoseconds(busy.packets, idle.packets, counts.packets),
        "ns_per_feedback": nanoseconds(busy.feedback, idle.feedback, counts.feedback),
    }))
}

fn fastest(replay: impl FnMut() -> Duration) -> Duration {
    std::iter::repeat_with(replay).take(REPETITIONS as usize).min().unwrap_or_default()
}

/// Returns the difference between `busy` and `idle` per event, ns.
fn nanoseconds(busy: Duration, idle: Duration, events: usize) -> f64 {
    busy.saturating_sub(idle).as_nanos() as f64 / events.max(1) as f64
}
