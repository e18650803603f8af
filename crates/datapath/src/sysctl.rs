//! Settings of the kernel for one network namespace.

use std::io;

/// Writes a sysctl of the calling thread's namespace. One that is not there (of a kernel without IPv6) needs nothing.
pub(crate) fn set(name: &str, value: &str) -> io::Result<()> {
    match std::fs::write(format!("/proc/sys/{name}"), value) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
