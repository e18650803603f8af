//! Errors of plug-ins.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use strict_input::Refusal;
use thiserror::Error;

/// Reason why a plug-in is not loaded.
#[derive(Debug, Error)]
pub enum Error {
    /// Error in a file.
    #[error("{}: {source}", .file.display())]
    At {
        /// Path of the file.
        file: PathBuf,
        /// Problem of the file.
        source: Box<Error>,
    },
    /// Error of the operating system.
    #[error("{}", without_number(.0))]
    System(#[source] io::Error),
    /// The system refuses a thread, a page or a handler of [`guard_process`](crate::guard_process).
    #[error("{0}")]
    Guard(#[source] io::Error),
    /// The file is not regular.
    #[error("allowed is a regular file")]
    NotRegular,
    /// The file is too large.
    #[error("allowed are at most {} MiB", .most_bytes >> 20)]
    TooLarge {
        /// Maximum size of a file, bytes.
        most_bytes: u64,
    },
    /// The file is not the confirmed code.
    #[error("has changed: its SHA-256 is {found}, that of the code to load is {expected}")]
    Changed {
        /// SHA-256 of the file, hexadecimal.
        found: String,
        /// SHA-256 of the code to load, hexadecimal.
        expected: String,
    },
    /// The file's name has a null character.
    #[error("no file can have this name")]
    Name,
    /// Message of the dynamic loader.
    #[error("cannot be loaded: {0}")]
    Loader(String),
    /// The library is no plug-in.
    #[error("is no plug-in of dumbbell: it has no `dumbbell_plugin` (the macro DUMBBELL_PLUGIN makes it)")]
    NoEntrance,
    /// The library has no declaration.
    #[error("`dumbbell_plugin` returned NULL")]
    NoDeclaration,
    /// A declaration is not allowed, or a requested controller is not declared.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// [`guard_process`](crate::guard_process) was called before.
    #[error("this process is guarded already")]
    GuardedAlready,
}

impl Error {
    /// Returns this error with the name of `file`.
    #[must_use]
    pub(crate) fn at(self, file: &Path) -> Self {
        Self::At { file: file.to_owned(), source: Box::new(self) }
    }
}

/// Returns the system's message without its error number.
fn without_number(cause: &io::Error) -> String {
    let text = cause.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Fault of a plug-in's function, as the end of a sentence that begins with its name: `raised ValueError`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// The plug-in does not have the function.
    #[error("is missing")]
    Missing,
    /// The function returned NULL instead of a flow's state, without a reason.
    #[error("returned NULL")]
    Null,
    /// The function refused to create a state, for the given reason.
    #[error("refused to start: {0}")]
    RefusedToStart(String),
    /// The controller gave up, for the given reason.
    #[error("gave up: {0}")]
    GaveUp(String),
    /// Fault of the plug-in's language in its own words, such as an exception or a value of a wrong type.
    #[error("{0}")]
    Foreign(Cow<'static, str>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn each_error_is_one_line() {
        for (error, line) in [
            (Error::NotRegular, "allowed is a regular file"),
            (Error::TooLarge { most_bytes: 3 << 20 }, "allowed are at most 3 MiB"),
            (
                Error::Changed { found: "1f".to_owned(), expected: "2e".to_owned() },
                "has changed: its SHA-256 is 1f, that of the code to load is 2e",
            ),
            (Error::Name, "no file can have this name"),
            (Error::Loader("no such symbol".to_owned()), "cannot be loaded: no such symbol"),
            (
                Error::NoEntrance,
                "is no plug-in of dumbbell: it has no `dumbbell_plugin` (the macro DUMBBELL_PLUGIN makes it)",
            ),
            (Error::NoDeclaration, "`dumbbell_plugin` returned NULL"),
            (Refusal::of_key("controller 1", "is NULL").into(), "controller 1: is NULL"),
            (Error::Guard(io::Error::other("no thread")), "no thread"),
            (Error::GuardedAlready, "this process is guarded already"),
        ] {
            assert_eq!(error.to_string(), line);
            assert_eq!(error.at(Path::new("/x.so")).to_string(), format!("/x.so: {line}"));
        }
        for (fault, line) in [
            (Fault::Missing, "is missing"),
            (Fault::Null, "returned NULL"),
            (Fault::RefusedToStart("too late".to_owned()), "refused to start: too late"),
            (Fault::GaveUp("too hard".to_owned()), "gave up: too hard"),
            (Fault::Foreign("raised Oops".into()), "raised Oops"),
        ] {
            assert_eq!(fault.to_string(), line);
        }
    }

    #[test]
    fn the_systems_error_is_the_last_cause_and_its_number_is_not_shown() {
        let error = Error::System(io::Error::from_raw_os_error(libc::EACCES)).at(Path::new("/x.so"));
        assert_eq!(error.to_string(), "/x.so: Permission denied");
        let cause = error
            .source()
            .and_then(|cause| cause.source())
            .and_then(|cause| cause.downcast_ref::<io::Error>());
        assert_eq!(cause.and_then(io::Error::raw_os_error), Some(libc::EACCES));
    }
}
