//! The errors of plug-ins.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use strict_input::Refusal;
use thiserror::Error;

/// Why a plug-in is not loaded.
#[derive(Debug, Error)]
pub enum Error {
    /// Something is wrong with a file.
    #[error("{}: {source}", .file.display())]
    At {
        /// The file.
        file: PathBuf,
        /// The fault that was found there.
        source: Box<Error>,
    },
    /// The system refuses.
    #[error("{}", without_number(.0))]
    System(#[source] io::Error),
    /// A thread, a page or a handler of [`guard_process`](crate::guard_process) is refused.
    #[error("{0}")]
    Guard(#[source] io::Error),
    /// It is no regular file.
    #[error("allowed is a regular file")]
    NotRegular,
    /// It is too large.
    #[error("allowed are at most {} MiB", .most_bytes >> 20)]
    TooLarge {
        /// Size of the largest file that is allowed, bytes.
        most_bytes: u64,
    },
    /// It is not the code that was agreed to.
    #[error("has changed: its SHA-256 is {found}, that of the code to load is {expected}")]
    Changed {
        /// SHA-256 of the file, hexadecimal.
        found: String,
        /// SHA-256 of the code to load, hexadecimal.
        expected: String,
    },
    /// Its name has a null character.
    #[error("no file can have this name")]
    Name,
    /// The dynamic loader refuses it, in its own words.
    #[error("cannot be loaded: {0}")]
    Loader(String),
    /// It is another library.
    #[error("is no plug-in of dumbbell: it has no `dumbbell_plugin` (the macro DUMBBELL_PLUGIN makes it)")]
    NoEntrance,
    /// It declares nothing.
    #[error("`dumbbell_plugin` returned NULL")]
    NoDeclaration,
    /// Something that it declares is not allowed, or a controller is asked for that it does not declare.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// [`guard_process`](crate::guard_process) was called before.
    #[error("this process is guarded already")]
    GuardedAlready,
}

impl Error {
    /// The same error, of `file`.
    #[must_use]
    pub(crate) fn at(self, file: &Path) -> Self {
        Self::At { file: file.to_owned(), source: Box::new(self) }
    }
}

/// Returns what the system says, without its number.
fn without_number(cause: &io::Error) -> String {
    let text = cause.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The fault of a function of a plug-in, as the end of a sentence that begins with its name: `raised ValueError`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// The plug-in does not have the function.
    #[error("is missing")]
    Missing,
    /// It returned NULL where it makes a flow's state, and no reason.
    #[error("returned NULL")]
    Null,
    /// It makes no state, for the given reason.
    #[error("refused to start: {0}")]
    RefusedToStart(String),
    /// It gives up, for the given reason.
    #[error("gave up: {0}")]
    GaveUp(String),
    /// Something that only its language has, in the words of that language: an exception, a value of another type.
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
