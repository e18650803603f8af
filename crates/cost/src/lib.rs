//! What controllers cost. A flow runs once in a small closed loop; what its controller was told is then told to fresh instances
//! again and again. The cheapest repetition counts, in time of the processor, so that other work on the machine does not, less
//! the same with a controller that does nothing. Each call is also timed by itself: most of those of a learned controller do little, and some decide.
//!
//! It reads the wall clock, which the crates that it measures do not, and no file.

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

/// Measures the controller that `entry` builds for `flow`, whose files are read: nanoseconds for each ACK and packet, with
/// how many there were in the run that was recorded; of a receiver-side half the same; and calls that decide.
///
/// # Errors
/// One line: a value that is not allowed, a run without ACKs, or a controller that does not do the same when it is told the
/// same.
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

/// Calls that cost at least half as much as a dear one, of the controller and its half: how many they are in a second, and
/// how long they take. Of a learned controller those are the calls in which it decides. Dear is the call that one a second is
/// dearer than: the first ones find cold caches.
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

/// Figures of the receiver-side half; null without one.
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

/// What `busy` costs more than `idle`, per event.
fn nanoseconds(busy: Duration, idle: Duration, events: usize) -> f64 {
    busy.saturating_sub(idle).as_nanos() as f64 / events.max(1) as f64
}
