//! Storage of a run in memory, for users who need packets and samples without files.

use crate::columns::{FlowSamples, LinkSamples, PacketColumns};
use crate::{LogLevel, Observer, RunSpec};
use record::Record;
use units::Time;

/// Observer that stores the contents of a run's files: about 40 bytes per packet event and 24 per sample.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Packet events; empty if the run's `log` is `none`.
    pub packets: PacketColumns,
    /// Samples of flows.
    pub flows: FlowSamples,
    /// Samples of links.
    pub links: LinkSamples,
    wants_packets: bool,
}

impl Memory {
    /// Returns storage for a run of `spec`.
    pub fn new(spec: &RunSpec) -> Self {
        Self { wants_packets: spec.log != LogLevel::None, ..Self::default() }
    }
}

impl Observer for Memory {
    #[inline]
    fn record(&mut self, record: &Record) {
        if self.wants_packets {
            self.packets.push(record);
        }
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn flow_value(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        self.flows.flow(at, flow, field, unit, value);
    }

    fn link_value(&mut self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
        self.links.link(at, link, field, unit, value);
    }
}
