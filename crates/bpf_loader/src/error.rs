//! The errors of this program: each is one line for the user.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Reason for the failure of a command.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// An option that no command has.
    #[error("{0}: no such option; see --help")]
    NoOption(String),
    /// A command that does not exist.
    #[error("{0}: no such command; allowed: list, check, hold, load, unload")]
    NoCommand(String),
    /// An option of another command.
    #[error("{command}: {option} does not belong here; see --help")]
    Misplaced {
        /// The command.
        command: String,
        /// The option.
        option: &'static str,
    },
    /// A command without the names that it needs.
    #[error("{0}: give the names of controllers; see 'dumbbell-kernel list'")]
    NoNames(String),
    /// Names that a command does not take.
    #[error("{command}: takes no names here, got {names}")]
    Names {
        /// The command.
        command: String,
        /// The names, with a space between them.
        names: String,
    },
    /// `--wait` at the end of the line.
    #[error("--wait: give a number of seconds")]
    NoSeconds,
    /// `--wait` with something else.
    #[error("--wait: {0} is not a number of seconds of at least 0")]
    Seconds(String),
    /// A controller that does not exist.
    #[error("{name}: no such controller; allowed: {known}")]
    NoController {
        /// Its name.
        name: String,
        /// The controllers that exist, with commas between them.
        known: String,
    },
    /// There are no compiled controllers.
    #[error(
        "built without clang, so without controllers: install clang (Debian: apt install clang) and build again"
    )]
    WithoutClang,
    /// The machine lacks something.
    #[error("{name}: {found}; {fix}")]
    Missing {
        /// The requirement.
        name: &'static str,
        /// State of the machine that prevents the command.
        found: String,
        /// Remedy.
        fix: &'static str,
    },
    /// The operating system refuses.
    #[error("{what}: {source}")]
    System {
        /// A file, or a stream.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Another process has the lock of a controller.
    #[error("{name}: {} is still locked after {seconds} s", .path.display())]
    Locked {
        /// The controller.
        name: String,
        /// The lock file.
        path: PathBuf,
        /// Length of the wait, s.
        seconds: f64,
    },
    /// The verifier refuses a program.
    #[error("{name}: the kernel refuses the program: {source}{said}")]
    Program {
        /// The controller.
        name: &'static str,
        /// The library's reason.
        source: libbpf_rs::Error,
        /// The first complaint, as the end of a line; empty if there is none.
        said: String,
    },
    /// A file of `kernel/` has another name than its controller.
    #[error("{0}: its file defines no struct_ops of this name")]
    NoStructOps(&'static str),
    /// The kernel refuses a controller.
    #[error("{name}: the kernel refuses to register it: {source}")]
    Registration {
        /// The controller.
        name: &'static str,
        /// The library's reason.
        source: libbpf_rs::Error,
    },
    /// The name is in use.
    #[error("{0}: registered already, by a run or another program; try again later")]
    Taken(&'static str),
    /// The name is in use, and no controller of this program.
    #[error("{0}: registered by something else ('bpftool struct_ops show' lists it); unregister that first")]
    Foreign(&'static str),
    /// A controller cannot be pinned.
    #[error("{}: {source}", .path.display())]
    Pin {
        /// Place of the pin.
        path: PathBuf,
        /// The library's reason.
        source: libbpf_rs::Error,
    },
    /// There is nothing to unload.
    #[error("{name}: not loaded ({} does not exist)", .path.display())]
    NotLoaded {
        /// The controller.
        name: String,
        /// Place of the pin.
        path: PathBuf,
    },
    /// The BPF file system is missing.
    #[error("{place}: no BPF file system is mounted here; as root of the machine: {command}")]
    NotMounted {
        /// Mount point.
        place: &'static str,
        /// Command that mounts the file system.
        command: String,
    },
}

impl Error {
    /// Returns what makes an error of the system one of a file or stream.
    pub(crate) fn of(what: impl ToString) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what: what.to_string(), source }
    }
}
