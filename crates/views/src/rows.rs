//! Source of a run's rows, for closer views than a pyramid allows.

use crate::error::Cause;
use crate::pyramid::Owner;
use record::Record;
use runs::Memory;
use std::ops::ControlFlow;

/// Callback for a record. Returns whether to continue.
pub type RecordVisitor<'a> = dyn FnMut(&Record) -> ControlFlow<()> + 'a;

/// Callback for a sample: time, ns, owner, field and value.
pub type SampleVisitor<'a> = dyn FnMut(u64, &Owner, &str, f64) -> ControlFlow<()> + 'a;

/// Rows of a run.
pub trait Rows {
    /// Returns true if the run has packet events.
    fn has_records(&self) -> bool;

    /// Returns true if the run has samples.
    fn has_samples(&self) -> bool;

    /// Visits the packet events from `from_ns` to before `to_ns`, in the order of the log.
    ///
    /// # Errors
    /// Returns the error of the source.
    fn records(&self, from_ns: u64, to_ns: u64, visit: &mut RecordVisitor<'_>) -> Result<(), Cause>;

    /// Visits the samples from `from_ns` to before `to_ns`, in stored order.
    ///
    /// # Errors
    /// Returns the error of the source.
    fn samples(&self, from_ns: u64, to_ns: u64, visit: &mut SampleVisitor<'_>) -> Result<(), Cause>;
}

/// Rows of a run that has only a pyramid.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRows;

impl Rows for NoRows {
    fn has_records(&self) -> bool {
        false
    }

    fn has_samples(&self) -> bool {
        false
    }

    fn records(&self, _: u64, _: u64, _: &mut RecordVisitor<'_>) -> Result<(), Cause> {
        Ok(())
    }

    fn samples(&self, _: u64, _: u64, _: &mut SampleVisitor<'_>) -> Result<(), Cause> {
        Ok(())
    }
}

/// Rows in memory, in order of time.
impl Rows for Memory {
    fn has_records(&self) -> bool {
        !self.packets.time_ns.is_empty()
    }

    fn has_samples(&self) -> bool {
        !self.flows.time_ns.is_empty() || !self.links.time_ns.is_empty()
    }

    fn records(&self, from_ns: u64, to_ns: u64, visit: &mut RecordVisitor<'_>) -> Result<(), Cause> {
        let packets = &self.packets;
        let place = |time_ns: u64| packets.time_ns.partition_point(|&at| at < time_ns);
        for row in place(from_ns)..place(to_ns) {
            let Some(event) = record::Event::of_code(packets.event[row]) else { continue };
            let record = Record {
                time_ns: packets.time_ns[row],
                flow: packets.flow[row],
                event,
                seq: packets.seq[row],
                size_bytes: packets.size_bytes[row],
                data_bytes: packets.data_bytes[row],
                one_way_delay_ns: packets.one_way_delay_ns[row],
            };
            if visit(&record).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn samples(&self, from_ns: u64, to_ns: u64, visit: &mut SampleVisitor<'_>) -> Result<(), Cause> {
        let flows = &self.flows;
        for (row, &time_ns) in flows.time_ns.iter().enumerate() {
            if (from_ns..to_ns).contains(&time_ns) {
                let owner = Owner::Flow(flows.owner[row]);
                if visit(time_ns, &owner, flows.field.get(row), flows.value[row]).is_break() {
                    return Ok(());
                }
            }
        }
        let links = &self.links;
        for (row, &time_ns) in links.time_ns.iter().enumerate() {
            if (from_ns..to_ns).contains(&time_ns) {
                let owner = Owner::Link(links.owner.get(row).to_owned());
                if visit(time_ns, &owner, links.field.get(row), links.value[row]).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
