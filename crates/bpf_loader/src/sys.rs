//! The one system call for which libbpf-rs has no safe function.

#![allow(unsafe_code, reason = "a file descriptor comes back from C as a number")]

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// A descriptor of the BPF link number `id`; it keeps what the link attaches in place.
pub(crate) fn open_link(id: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes a number, returns a new descriptor or a negative error number, touches no memory of ours.
    let fd = unsafe { libbpf_sys::bpf_link_get_fd_by_id(id) };
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(-fd));
    }
    // SAFETY: the descriptor is new and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
