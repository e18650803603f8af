//! What can go wrong with a view.

use thiserror::Error;

/// What ends a read of rows, from whoever has them.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no view.
#[derive(Debug, Error)]
pub enum Error {
    /// The bytes are no index of a run, or it is damaged.
    #[error("the index of the run is damaged: {problem}")]
    Damaged {
        /// The fault that was found there.
        problem: &'static str,
    },
    /// The bytes are something else.
    #[error("this is no index of a run: it begins otherwise")]
    Foreign,
    /// The index was made by another version.
    #[error("the index of the run has version {found}: version {wanted} is needed here")]
    Version {
        /// Its version.
        found: u64,
        /// The version that is read.
        wanted: u64,
    },
    /// Something was asked for that there cannot be.
    #[error("{key} = {value}: allowed is {allowed}")]
    Asked {
        /// What was asked.
        key: &'static str,
        /// As it was given.
        value: String,
        /// What may be given.
        allowed: &'static str,
    },
    /// There is no packet of that number.
    #[error("flow {flow} sent no packet {seq}")]
    NoPacket {
        /// Number of the flow.
        flow: u32,
        /// Number of the packet.
        seq: u64,
    },
    /// Packets were asked for, and the run has no log of them.
    #[error("this run has no packet log: run it again with --log packets")]
    NoPackets,
    /// The rows cannot be read.
    #[error(transparent)]
    Rows(#[from] Cause),
}
