//! What a controller costs beside another one: both are measured in turn, so that what slows the machine slows both.

use crate::error::Error;
use crate::meter::{Meter, Spent};
use crate::recorded::Recorded;
use crate::tape::{Idle, open};
use congestion::Entry;
use runs::FlowSpec;
use serde_json::{Value, json};
use std::time::Duration;

/// Blocks of repetitions: each gives a cost of its own, which tell how sure their mean is.
const BLOCKS: usize = 8;
/// Most repetitions of a block: the cheapest counts.
const REPETITIONS: usize = 8;
/// Time of the processor after which a block gets no further repetition.
const BLOCK_TIME: Duration = Duration::from_secs(2);

/// A scheme, and what it has cost in each block.
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

    /// Returns what all calls of a fresh controller take, and what replaying them takes.
    fn repetition(&self, meter: &mut Meter) -> [Spent; 2] {
        let tape = open(&self.recorded.tape);
        [tape.replay(self.recorded.scheme.controller().as_mut(), meter), tape.replay(&mut Idle, meter)]
    }

    /// Takes over what the cheapest repetition of a block took.
    fn take(&mut self, [busy, idle]: [Spent; 2]) {
        let acks = open(&self.recorded.tape).acks() as f64;
        self.ns.push(busy.time.saturating_sub(idle.time).as_nanos() as f64 / acks);
        let counted = busy.instructions.zip(idle.instructions);
        self.instructions.extend(counted.map(|(busy, idle)| busy.saturating_sub(idle) as f64 / acks));
    }

    fn figures(self) -> Value {
        let acks = open(&self.recorded.tape).acks();
        // A counter that has to share its register with others may fail in the middle.
        let counted = self.instructions.len() == BLOCKS;
        json!({
            "scheme": self.name,
            "acks": acks,
            "ns": self.ns,
            "instructions": if counted { self.instructions } else { Vec::new() },
        })
    }
}

/// Measures two controllers in turn: what each costs for an ACK in every block, ns, and instructions where the machine counts
/// them, else none.
///
/// # Errors
/// One line: as of [`crate::measure`].
pub fn beside(candidate: (&FlowSpec, Entry), baseline: (&FlowSpec, Entry)) -> Result<Value, Error> {
    let mut sides = [Side::of(candidate.0, candidate.1)?, Side::of(baseline.0, baseline.1)?];
    let mut meter = Meter::new();
    for block in 0..BLOCKS {
        // Who goes first finds other caches: they take turns in that as well.
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
