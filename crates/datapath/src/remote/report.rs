//! What a side reports after a run: its half of every flow, by its own clock.

use super::channel::Exchange;
use super::tunnel::TunnelReport;
use crate::program_flow::ProgramReport;
use crate::program_samples::ProgramSample;
use endpoint::{Guarded, ReceiverReport, SenderReport};
use serde::{Deserialize, Serialize};

/// Zstandard's level: most of the gain, little of the time.
const LEVEL: i32 = 3;
/// Longest report that is read, bytes: what a machine of ours can hold.
const MOST_BYTES: usize = 8 << 30;

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
    pub(super) flows: Vec<FlowHalf>,
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
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let text = |error: &dyn std::error::Error| format!("report of a side: {error}");
        let plain = rmp_serde::to_vec(self).map_err(|error| text(&error))?;
        zstd::bulk::compress(&plain, LEVEL).map_err(|error| text(&error))
    }

    /// Of bytes that [`to_bytes`](Self::to_bytes) made.
    ///
    /// # Errors
    /// One line: bytes of something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let refused = |error: &dyn std::fmt::Display| format!("report of a side: not readable: {error}");
        let size = zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten();
        let size = size.ok_or_else(|| refused(&"no compressed report"))?;
        let size = usize::try_from(size).ok().filter(|size| *size <= MOST_BYTES);
        let size = size.ok_or_else(|| refused(&"it is too large"))?;
        let plain = zstd::bulk::decompress(bytes, size).map_err(|error| refused(&error))?;
        rmp_serde::from_slice(&plain).map_err(|error| refused(&error))
    }
}
