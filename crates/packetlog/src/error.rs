//! Errors of reading and writing files, one line each.

use parquet::errors::ParquetError;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fmt, io};
use thiserror::Error;

/// Maximum length of a malformed line in a message, bytes.
const QUOTED_BYTES: usize = 80;

/// Reason why a log could not be read or written.
#[derive(Debug, Error)]
pub enum Error {
    /// Error of the operating system: no such file, no permission, disk full, ...
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Verb of the failed operation: "cannot DOING path".
        doing: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is damaged, truncated or of the wrong kind, or a row cannot be stored in it.
    #[error("{}: {problem}", .path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// A line of a text log breaks the log's grammar.
    #[error("{log}:{line}: {problem}, found '{text}'")]
    Line {
        /// Name of the log.
        log: String,
        /// Line number, from 1.
        line: u64,
        /// Beginning of the line, with unprintable bytes escaped.
        text: String,
        /// Expected content.
        problem: Cow<'static, str>,
    },
    /// A text log is unusable as a whole.
    #[error("{}: {problem}", place(.log, *.line))]
    Log {
        /// Name of the log.
        log: String,
        /// Number of the line with the problem, from 1; `None` without such a line.
        line: Option<u64>,
        /// Description of the problem.
        problem: Cow<'static, str>,
    },
    /// The work was interrupted ([`Interrupts`](crate::Interrupts)).
    #[error("interrupted")]
    Interrupted,
    /// The samples have too many time series.
    #[error("has {series} time series or more: so many that {points} points do not show them")]
    Series {
        /// Number of series, at least.
        series: usize,
        /// Maximum number of kept points.
        points: usize,
    },
}

impl Error {
    pub(crate) fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), doing, source }
    }

    /// Returns the error of a file that is damaged or of the wrong kind.
    pub fn file(path: &Path, problem: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), problem: problem.into() }
    }

    pub(crate) fn log(log: &str, problem: impl Into<Cow<'static, str>>) -> Self {
        Self::Log { log: log.to_owned(), line: None, problem: problem.into() }
    }

    pub(crate) fn line(log: &str, line: u64, text: &[u8], problem: impl Into<Cow<'static, str>>) -> Self {
        let shown = &text[..text.len().min(QUOTED_BYTES)];
        let dots = if text.len() > QUOTED_BYTES { "..." } else { "" };
        let text = format!("{}{dots}", shown.escape_ascii());
        Self::Line { log: log.to_owned(), line, text, problem: problem.into() }
    }

    /// Converts an error of the Parquet library. System errors within it keep their reason.
    pub(crate) fn parquet(path: &Path, doing: &'static str, error: ParquetError) -> Self {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(source) => Self::io(path, doing, *source),
                Err(other) => Self::file(path, format!("cannot {doing}: {other}")),
            },
            other => Self::file(path, format!("cannot {doing}: {other}")),
        }
    }
}

/// Returns the position in a log: its name, and the line if known.
fn place(log: &str, line: Option<u64>) -> impl fmt::Display {
    line.map_or_else(|| log.to_owned(), |line| format!("{log}:{line}"))
}
