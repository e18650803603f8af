//! What can go wrong with a file, in one line each.

use parquet::errors::ParquetError;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fmt, io};
use thiserror::Error;

/// Longest part of a malformed line that a message repeats, bytes.
const QUOTED_BYTES: usize = 80;

/// Why a log could not be read or written.
#[derive(Debug, Error)]
pub enum Error {
    /// The operating system refused: no such file, no permission, disk full, ...
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done, as in "cannot WRITE path".
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is damaged, cut off, or not of the kind that was asked for; or rows were offered that it cannot hold.
    #[error("{}: {problem}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault that was found there.
        problem: String,
    },
    /// A line of a text log breaks the log's grammar.
    #[error("{log}:{line}: {problem}, found '{text}'")]
    Line {
        /// The log's name.
        log: String,
        /// Line number, from 1.
        line: u64,
        /// The line's beginning, with unprintable bytes escaped.
        text: String,
        /// What was expected.
        problem: Cow<'static, str>,
    },
    /// A text log cannot be used as a whole.
    #[error("{}: {problem}", place(.log, *.line))]
    Log {
        /// The log's name.
        log: String,
        /// The line that shows it, from 1, if one does.
        line: Option<u64>,
        /// The fault that was found there.
        problem: Cow<'static, str>,
    },
    /// Somebody wanted the work to end ([`Interrupts`](crate::Interrupts)).
    #[error("interrupted")]
    Interrupted,
    /// There are too many time series of samples.
    #[error("has {series} time series or more: so many that {points} points do not show them")]
    Series {
        /// How many there are at least.
        series: usize,
        /// The most points that are kept.
        points: usize,
    },
}

impl Error {
    pub(crate) fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), doing, source }
    }

    /// Returns the error of a file that is damaged or of another kind.
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

    /// An error of the Parquet library; system errors inside it keep their reason.
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

/// The place in a log: its name, and the line if one shows it.
fn place(log: &str, line: Option<u64>) -> impl fmt::Display {
    line.map_or_else(|| log.to_owned(), |line| format!("{log}:{line}"))
}
