//! The number of files that this process may have open: each flow needs some.

use crate::Error;
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Files of a flow at most: namespaces, devices, sockets, what its ends wait with, or two programs and their output.
const FILES_OF_A_FLOW: u64 = 14;
/// Files of everything else.
const OTHER_FILES: u64 = 200;

/// Raises the limit for a run of so many flows, where that is needed. Root may raise the hard limit, too.
///
/// # Errors
/// One line with the fix if it is not permitted.
pub(crate) fn allow_files(flows: usize) -> Result<(), Error> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)
        .map_err(|error| Error::system("cannot read the limit of open files", error))?;
    let needed = flows as u64 * FILES_OF_A_FLOW + OTHER_FILES;
    if needed <= soft {
        return Ok(());
    }
    setrlimit(Resource::RLIMIT_NOFILE, needed, needed.max(hard))
        .map_err(|error| refused(flows, needed, hard, error))
}

fn refused(flows: usize, needed: u64, hard: u64, error: Errno) -> Error {
    Error::not_permitted(
        format!("flows: {flows}: the run may need {needed} open files, and this process may have {hard}"),
        error,
        "raise the hard limit (`ulimit -Hn`, or `nofile` in /etc/security/limits.conf), or run as root",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_too_many_open_files_is_refused_with_both_numbers() {
        assert_eq!(
            refused(300, 4400, 4096, Errno::EPERM).to_string(),
            "flows: 300: the run may need 4400 open files, and this process may have 4096: EPERM: Operation not permitted: \
             raise the hard limit (`ulimit -Hn`, or `nofile` in /etc/security/limits.conf), or run as root"
        );
    }
}
