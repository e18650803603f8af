//! qlog, the log format of QUIC implementations: a flow of a run out, traces of real stacks in.
//!
//! Two generations are written ([`Draft`]): version 0.3, which is what the viewer qvis opens, and the newest drafts. What
//! is read is every form that stacks write: JSON, JSON text sequences (RFC 7464) and lines of JSON, versions draft-00 to
//! the newest, events as objects or as arrays.
//!
//! A trace is a sender's view: what it sent, what it learned of that, and its state. Where in the path a packet was
//! queued, marked or dropped is not in it.

mod event;
mod export;
mod import;
mod metrics;
mod problem;
mod text;

pub use export::{QlogExport, TraceInfo};
pub use import::{ImportedTrace, import_file};

/// Which generation of qlog is written.
///
/// qvis reads a file only if `qlog_version` is one of draft-00, draft-01, draft-02 or 0.3 and, for text sequences,
/// `qlog_format` is `JSON-SEQ` (its `QlogSchema02.ts` and `textsequencejsontoqlog.ts`). The newest drafts have neither key,
/// and other names of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Draft {
    /// Version 0.3: draft-ietf-quic-qlog-main-schema-01 to -07 and their QUIC events.
    #[default]
    V03,
    /// draft-ietf-quic-qlog-main-schema-14 with draft-ietf-quic-qlog-quic-events-13.
    Quic13,
}

impl Draft {
    /// Every generation by the name users give it.
    pub const NAMES: [(Self, &'static str); 2] = [(Self::V03, "0.3"), (Self::Quic13, "quic-13")];

    /// The generation called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(_, known)| *known == name).map(|(draft, _)| draft)
    }
}
