//! qlog, the log format of QUIC implementations: export of a run's flow, import of real stacks' traces.
//!
//! The export writes two versions ([`Draft`]): version 0.3, which the viewer qvis opens, and the newest drafts.
//!
//! The import reads every form that stacks write: JSON, JSON text sequences (RFC 7464), and lines of JSON. Versions
//! are draft-00 to the newest, events are objects or arrays.
//!
//! A trace is a sender's view: sent packets, their acknowledgments, and the sender's state. It does not contain the
//! places in the path where packets were queued, marked or dropped.

mod event;
mod export;
mod import;
mod metrics;
mod problem;
mod text;

pub use export::{QlogExport, TraceInfo};
pub use import::{ImportedTrace, import_file};

/// Version of qlog to write.
///
/// qvis reads a file only if `qlog_version` is draft-00, draft-01, draft-02 or 0.3. For text sequences `qlog_format`
/// must be `JSON-SEQ` (its `QlogSchema02.ts` and `textsequencejsontoqlog.ts`).
///
/// The newest drafts lack both keys and have other names of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Draft {
    /// Version 0.3: draft-ietf-quic-qlog-main-schema-01 to -07 and their QUIC events.
    #[default]
    V03,
    /// draft-ietf-quic-qlog-main-schema-14 with draft-ietf-quic-qlog-quic-events-13.
    Quic13,
}

impl Draft {
    /// Versions with their user-visible names.
    pub const NAMES: [(Self, &'static str); 2] = [(Self::V03, "0.3"), (Self::Quic13, "quic-13")];

    /// Returns the version called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(_, known)| *known == name).map(|(draft, _)| draft)
    }
}
