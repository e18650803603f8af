//! Cost of a controller compared with another one. Both are measured in turn, so that disturbances of the machine slow
//! both.

use crate::error::Error;
use crate::meter::{Meter, Spent};
use crate::recorded::Recorded;
use crate::tape::{Idle, open};
use congestion::Entry;
use runs::FlowSpec;
use serde_json::{Value, json};
use std::time::Duration;

/// Number of blocks of repetitions. Each block gives a cost; their spread gives the error of the mean.
const BLOCKS: usize = 8;
/// Maximum repetitions of a block; the cheapest one counts.
const REPETITIONS: usize = 8;
/// CPU time after which a block gets no further repetition.
const BLOCK_TIME: Duration = Duration::from_secs(2);

/// Scheme with its cost in each block.
struct Side {
    name: String,
    recorded: Recorded,
    ns: Vec<f64>,
    instructions: Vec<f64>,
}

impl Side {
    fn of(flow: &FlowSpec, entry: Entry) -> Result<Self, Error> {
        let recorded = Recorded::of(flow, entry)?;
        Ok(Self { name: flow.scheme.clone(), recorded, ns: Vec::new(), instructions: Vec::new() })
    }

    /// Returns the cost of all calls of a new controller, and the cost of replaying alone.
    fn repetition(&self, meter: &mut Meter) -> [Spent; 2] {
        let tape = open(&self.recorded.tape);
        [tape.replay(self.recorded.scheme.controller().as_mut(), meter), tape.replay(&mut Idle, meter)]
    }

    /// Adds the cost of a block's cheapest repetition.
    fn take(&mut self, [busy, idle]: [Spent; 2]) {
        let acks = open(&self.recorded.tape).acks() as f64;
        self.ns.push(busy.time.saturating_sub(idle.time).as_nanos() as f64 / acks);
        let counted = busy.instructions.zip(idle.instructions);
        self.instructions.extend(counted.map(|(busy, idle)| busy.saturating_sub(idle) as f64 / acks));
    }

    fn figures(self) -> Value {
        let acks = open(&self.recorded.tape).acks();
        // A counter that shares its hardware register may fail during the measurement.
        let counted = self.instructions.len() == BLOCKS;
        json!({
            "scheme": self.name,
            "acks": acks,
            "ns": self.ns,
            "instructions": if counted { self.instructions } else { Vec::new() },
        })
    }
}

/// Measures two controllers in turn. Returns the cost of each for an ACK in every block: nanoseconds, and instructions
/// if the machine counts them.
///
/// # Errors
/// Returns an error as [`crate::measure`] does.
pub fn beside(candidate: (&FlowSpec, Entry), baseline: (&FlowSpec, Entry)) -> Result<Value, Error> {
    let mut sides = [Side::of(candidate.0, candidate.1)?, Side::of(baseline.0, baseline.1)?];
    let mut meter = Meter::new();
    for block in 0..BLOCKS {
        // The first of two finds other cache contents, so the order alternates.
        let order = if block % 2 == 0 { [0, 1] } else { [1, 0] };
        let mut least: [Option<[Spent; 2]>; 2] = [None; 2];
        let mut took = Duration::ZERO;
        for _ in 0..REPETITIONS {
            for which in order {
                let spent = sides[which].repetition(&mut meter);
                took += spent[0].time + spent[1].time;
                let before = least[which].unwrap_or(spent);
                least[which] = Some([before[0].min(spent[0]), before[1].min(spent[1])]);
            }
            if took > BLOCK_TIME {
                break;
            }
        }
        for (side, least) in sides.iter_mut().zip(least) {
            if let Some(least) = least {
                side.take(least);
            }
        }
    }
    let [candidate, baseline] = sides.map(Side::figures);
    Ok(json!({"candidate": candidate, "baseline": baseline}))
}
