//! Who has the rows of a run, for whatever is looked at more closely than a pyramid shows.

use crate::error::Cause;
use crate::pyramid::Owner;
use record::Record;
use runs::Memory;
use std::ops::ControlFlow;

/// Is shown a record, and says whether it wants more.
pub type RecordVisitor<'a> = dyn FnMut(&Record) -> ControlFlow<()> + 'a;

/// Is shown a sample: time, owner, field and value.
pub type SampleVisitor<'a> = dyn FnMut(u64, &Owner, &str, f64) -> ControlFlow<()> + 'a;

/// The rows of a run.
pub trait Rows {
    /// Whether there are packet events.
    fn has_records(&self) -> bool;

    /// Whether there are samples.
    fn has_samples(&self) -> bool;

    /// Shows the packet events from `from_ns` to before `to_ns`, in the order of the log.
    ///
    /// # Errors
    /// Why they cannot be read.
    fn records(&self, from_ns: u64, to_ns: u64, visit: &mut RecordVisitor<'_>) -> Result<(), Cause>;

    /// Shows the samples from `from_ns` to before `to_ns`, in the order in which they are kept.
    ///
    /// # Errors
    /// Why they cannot be read.
    fn samples(&self, from_ns: u64, to_ns: u64, visit: &mut SampleVisitor<'_>) -> Result<(), Cause>;
}

/// A run of which only the pyramid is left.
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
