//! Errors of views.

use thiserror::Error;

/// Error of a source of rows.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Reason why there is no view.
#[derive(Debug, Error)]
pub enum Error {
    /// The bytes are a damaged index of a run.
    #[error("the index of the run is damaged: {problem}")]
    Damaged {
        /// Fault of the bytes.
        problem: &'static str,
    },
    /// The bytes have another format.
    #[error("this is no index of a run: it begins otherwise")]
    Foreign,
    /// Another version of dumbbell made the index.
    #[error("the index of the run has version {found}: version {wanted} is needed here")]
    Version {
        /// Version of the index.
        found: u64,
        /// Version that the reader supports.
        wanted: u64,
    },
    /// An argument is outside its range.
    #[error("{key} = {value}: allowed is {allowed}")]
    InvalidArgument {
        /// Name of the argument.
        key: &'static str,
        /// Value of the argument.
        value: String,
        /// Description of the allowed values.
        allowed: &'static str,
    },
    /// The flow sent no packet of this number.
    #[error("flow {flow} sent no packet {seq}")]
    NoPacket {
        /// Number of the flow.
        flow: u32,
        /// Number of the packet.
        seq: u64,
    },
    /// The run has no packet log.
    #[error("this run has no packet log: run it again with --log packets")]
    NoPackets,
    /// The source of the rows failed.
    #[error(transparent)]
    Rows(#[from] Cause),
}
