//! What a side reports after a run: its half of every flow, by its own clock.

use super::channel::Exchange;
use super::tunnel::TunnelReport;
use crate::ReportFault;
use crate::few::few;
use crate::program_flow::ProgramReport;
use crate::program_samples::ProgramSample;
use endpoint::{Guarded, ReceiverReport, SenderReport};
use serde::{Deserialize, Serialize};

/// Zstandard's level: most of the gain, little of the time.
const LEVEL: i32 = 3;
/// Maximum number of bytes that a byte of a compressed report may become, and of those that one may have in any case. Logs
/// become 3 to 10 times as long: their times have no pattern.
const MAX_RATIO: usize = 100;
const ALWAYS_BYTES: usize = 1 << 20;

/// What a side knows of a flow.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct FlowHalf {
    pub(super) sender: Option<SenderReport>,
    pub(super) receiver: Option<ReceiverReport>,
    pub(super) tunnel: Option<TunnelReport>,
    /// What its program wrote about itself.
    pub(super) samples: Vec<ProgramSample>,
    /// Why the run must not be used, as its program sees it.
    pub(super) objection: Option<String>,
    /// What to say of its program if nothing was delivered.
    pub(super) silence: Option<String>,
    /// Datagrams that its socket on the network had no room for.
    pub(super) dropped: u64,
}

/// What a side reports after a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct SideReport {
    /// When the run began, ns of the side's clock.
    pub(super) start_ns: u64,
    #[serde(deserialize_with = "few::<_, _, MAX_FEW>")]
    pub(super) flows: Vec<FlowHalf>,
    #[serde(deserialize_with = "few::<_, _, MAX_FEW>")]
    pub(super) programs: Vec<ProgramReport>,
    /// Questions asked of the other side, and those that were answered.
    pub(super) asked: u64,
    pub(super) exchanges: Vec<Exchange>,
    /// What came to the channel that was not the peer's.
    pub(super) guarded: Guarded,
    /// Packets that devices and sockets of ends behind tunnels lost.
    pub(super) lost_at_ends: u64,
    /// Whether the scheduler preferred the threads of the run.
    pub(super) real_time: bool,
}

impl SideReport {
    /// As compressed bytes, for a machine with the same version.
    ///
    /// # Errors
    /// One line: what cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ReportFault> {
        let plain = rmp_serde::to_vec(self).map_err(|error| ReportFault::Unwritable(error.into()))?;
        zstd::bulk::compress(&plain, LEVEL).map_err(|error| ReportFault::Unwritable(error.into()))
    }

    /// Returns the report of bytes that [`to_bytes`](Self::to_bytes) made, if it has `max_bytes` at most.
    ///
    /// # Errors
    /// One line: bytes of something else, or a report that is longer than allowed or than its compressed length explains.
    pub fn from_bytes(bytes: &[u8], max_bytes: usize) -> Result<Self, ReportFault> {
        let size = zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten();
        let size = size.ok_or(ReportFault::NotCompressed)?;
        let max_bytes = max_bytes.min(ALWAYS_BYTES.max(bytes.len().saturating_mul(MAX_RATIO)));
        let size = usize::try_from(size)
            .ok()
            .filter(|size| *size <= max_bytes)
            .ok_or(ReportFault::TooLarge { bytes: bytes.len(), size, most: max_bytes })?;
        let plain =
            zstd::bulk::decompress(bytes, size).map_err(|error| ReportFault::Unreadable(error.into()))?;
        rmp_serde::from_slice(&plain).map_err(|error| ReportFault::Unreadable(error.into()))
    }
}

/// Maximum number of flows between two machines.
pub(super) const MOST_FLOWS: usize = 255;

/// Maximum number of flows or programs that a side reports: two programs for each flow that a log can name.
const MAX_FEW: usize = 2 * MOST_FLOWS;

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: usize = usize::MAX;

    fn report(flows: usize) -> SideReport {
        SideReport {
            start_ns: 0,
            flows: (0..flows).map(|_| FlowHalf::default()).collect(),
            programs: Vec::new(),
            asked: 0,
            exchanges: Vec::new(),
            guarded: Guarded::default(),
            lost_at_ends: 0,
            real_time: true,
        }
    }

    #[test]
    fn a_few_bytes_that_become_many_are_refused() {
        // A report of 100 kB that became 3.1 GB: here 30 kB that say they become 300 MB.
        let bomb = zstd::bulk::compress(&vec![0; 300_000_000], LEVEL).unwrap();
        let error = SideReport::from_bytes(&bomb, ANY).unwrap_err().to_string();
        assert!(error.contains(&format!("{} bytes become 300000000: allowed are", bomb.len())), "{error}");
        let good = report(2).to_bytes().unwrap();
        assert_eq!(SideReport::from_bytes(&good, ANY).unwrap().flows.len(), 2);
        let error = SideReport::from_bytes(&good, 10).unwrap_err().to_string();
        assert!(error.ends_with("allowed are 10"), "{error}");
    }

    #[test]
    fn empty_words_of_a_program_do_not_fill_the_memory() {
        // One byte each in the report, 24 in memory: 645 kB became 1.3 GB.
        let mut long = report(1);
        let words = vec![String::new(); 100_000];
        long.programs = vec![ProgramReport {
            flow: 1,
            side: String::new(),
            command: Vec::new(),
            ended: None,
            output: words,
            qlogs: Vec::new(),
        }];
        let error = SideReport::from_bytes(&long.to_bytes().unwrap(), ANY).unwrap_err().to_string();
        assert!(error.contains("expected at most 4096 entries"), "{error}");
    }

    #[test]
    fn more_flows_than_there_can_be_are_refused_before_they_are_kept() {
        let error =
            SideReport::from_bytes(&report(100_000).to_bytes().unwrap(), ANY).unwrap_err().to_string();
        assert!(error.contains("expected at most 510 entries"), "{error}");
    }
}
