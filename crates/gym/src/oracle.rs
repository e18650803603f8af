//! Values that only the path knows, for teachers and critics.

use path::LinkTally;
use runs::RunSpec;
use strict_input::Refusal;
use units::{Span, Time};

/// Name, unit and meaning of each oracle value, in order.
pub const ORACLE_FIELDS: &[(&str, &str, &str)] = &[
    (
        "capacity_mbps",
        "Mbit/s",
        "What the narrowest link of the data direction could carry in the step; 0 without a limit.",
    ),
    ("queue_packets", "packets", "Packets that wait in the queues of the data direction."),
    ("queue_bytes", "bytes", "Bytes that wait there."),
    ("base_rtt_ms", "ms", "RTT of the flow without queues, now."),
    ("flows", "", "Flows that are active now."),
];

/// Oracle values in the order of [`ORACLE_FIELDS`].
pub(crate) type OracleValues = [f64; ORACLE_FIELDS.len()];

/// State of the oracle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Oracle {
    /// Bits that each link could have carried up to the last query.
    capacity_bits: Vec<u128>,
    asked: Time,
    /// Base RTTs of each agent over time.
    base_rtts: Vec<Vec<(Time, Span)>>,
}

impl Oracle {
    /// Begins a run whose first `agents` flows are agents.
    pub(crate) fn begin(&mut self, spec: &RunSpec, agents: usize) -> Result<(), Refusal> {
        self.capacity_bits.clear();
        self.asked = Time::ZERO;
        self.base_rtts.clear();
        for flow in &spec.flows[..agents] {
            let subpaths = spec.subpaths(flow)?;
            let extra = spec.extra_delay(flow) * 2;
            let mut rtts = spec.path.base_rtts_within(subpaths);
            if rtts.is_empty() {
                rtts.push((Time::ZERO, spec.path.base_rtt_within(subpaths)));
            }
            for (_, rtt) in &mut rtts {
                *rtt += extra;
            }
            self.base_rtts.push(rtts);
        }
        Ok(())
    }

    /// Computes the values at `now` from the links of the data direction up to now and the number of active flows.
    pub(crate) fn ask<'a>(
        &mut self,
        now: Time,
        links: impl Iterator<Item = &'a LinkTally>,
        flows: usize,
        values: &mut OracleValues,
    ) {
        let seconds = now.since(self.asked).as_ns() as f64 / 1e9;
        let (mut narrowest, mut packets, mut bytes) = (None::<f64>, 0, 0);
        for (index, link) in links.enumerate() {
            if self.capacity_bits.len() <= index {
                self.capacity_bits.push(0);
            }
            let bits = link.capacity_bits - self.capacity_bits[index];
            self.capacity_bits[index] = link.capacity_bits;
            if link.capacity_bits > 0 && seconds > 0.0 {
                let mbps = bits as f64 / 1e6 / seconds;
                narrowest = Some(narrowest.map_or(mbps, |least| least.min(mbps)));
            }
            packets += link.queue_packets;
            bytes += link.queue_bytes;
        }
        if seconds > 0.0 {
            values[0] = narrowest.unwrap_or_default();
            self.asked = now;
        }
        values[1] = packets as f64;
        values[2] = bytes as f64;
        values[4] = flows as f64;
    }

    /// Returns the base RTT of agent `agent` at `now`, ms.
    pub(crate) fn base_rtt_ms(&self, agent: usize, now: Time) -> f64 {
        let steps = self.base_rtts[agent].iter().rev();
        steps.clone().find(|(at, _)| *at <= now).map_or(0.0, |(_, rtt)| rtt.as_ms_f64())
    }
}
