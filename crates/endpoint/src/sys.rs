//! System calls that need raw pointers: many datagrams at once, what `nix` does not have.
#![allow(unsafe_code, reason = "each call is given pointers to structures of the right size that outlive it")]

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsRawFd;

/// Most datagrams of one call.
pub(crate) const BATCH: usize = 32;

/// Room for one control message with the IP header's type of service, aligned as the kernel wants it.
type Control = [u64; 3];

/// One received datagram.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Received {
    /// Bytes that are in the buffer.
    pub(crate) length: usize,
    /// Type of service of its IP header; zero unless the socket reports it.
    pub(crate) tos: u8,
}

/// Receives what is there, up to [`BATCH`] datagrams, each into its `slot_bytes` of `buffer`; longer ones are cut.
/// Fills `received` and returns how many there were, zero if there are none.
pub(crate) fn receive_batch(
    socket: &UdpSocket,
    buffer: &mut [u8],
    slot_bytes: usize,
    received: &mut [Received; BATCH],
) -> io::Result<usize> {
    // SAFETY: all-zero bytes are valid values of these plain C structures.
    let (mut headers, mut slices): ([libc::mmsghdr; BATCH], [libc::iovec; BATCH]) = unsafe { zeroed() };
    let mut controls: [Control; BATCH] = [[0; 3]; BATCH];
    let mut slots = 0;
    for (index, slot) in buffer.chunks_exact_mut(slot_bytes).take(BATCH).enumerate() {
        slices[index] = libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: slot_bytes };
        let header = &mut headers[index].msg_hdr;
        header.msg_iov = &raw mut slices[index];
        header.msg_iovlen = 1;
        header.msg_control = controls[index].as_mut_ptr().cast();
        header.msg_controllen = size_of::<Control>();
        slots += 1;
    }
    // SAFETY: the first `slots` headers point to buffers of the stated lengths, which live until the call returns.
    let count = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            slots,
            libc::MSG_DONTWAIT,
            std::ptr::null_mut(),
        )
    };
    if count < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::WouldBlock { Ok(0) } else { Err(error) };
    }
    for (header, received) in headers[..count as usize].iter().zip(received) {
        received.length = header.msg_len as usize;
        received.tos = type_of_service(&header.msg_hdr);
    }
    Ok(count as usize)
}

fn type_of_service(header: &libc::msghdr) -> u8 {
    // SAFETY: the kernel has filled the control buffer and set its length; the data of an IP_TOS message is one byte.
    unsafe {
        let message = libc::CMSG_FIRSTHDR(header);
        if !message.is_null()
            && (*message).cmsg_level == libc::IPPROTO_IP
            && (*message).cmsg_type == libc::IP_TOS
        {
            return *libc::CMSG_DATA(message);
        }
    }
    0
}

/// Sends datagrams that lie one after the other in `bytes`, number `i` ending at `ends[i]`, up to [`BATCH`] of them;
/// `begin` is where the first one begins. Returns how many the socket took, zero if it is full.
pub(crate) fn send_batch(
    socket: &UdpSocket,
    bytes: &[u8],
    begin: usize,
    ends: &[usize],
) -> io::Result<usize> {
    // SAFETY: all-zero bytes are valid values of these plain C structures.
    let (mut headers, mut slices): ([libc::mmsghdr; BATCH], [libc::iovec; BATCH]) = unsafe { zeroed() };
    let (mut begin, mut datagrams) = (begin, 0);
    for (index, end) in ends.iter().take(BATCH).enumerate() {
        let datagram = &bytes[begin..*end];
        slices[index] =
            libc::iovec { iov_base: datagram.as_ptr().cast_mut().cast(), iov_len: datagram.len() };
        headers[index].msg_hdr.msg_iov = &raw mut slices[index];
        headers[index].msg_hdr.msg_iovlen = 1;
        begin = *end;
        datagrams += 1;
    }
    // SAFETY: the first `datagrams` headers point to parts of `bytes`, which the call only reads.
    let count =
        unsafe { libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), datagrams, libc::MSG_DONTWAIT) };
    if count >= 0 {
        return Ok(count as usize);
    }
    let error = io::Error::last_os_error();
    // A full queue of the device is as good a reason to wait as a full socket.
    let full = error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS);
    if full { Ok(0) } else { Err(error) }
}

/// Fills `buffer` with what `TCP_INFO` says; returns how much that is.
pub(crate) fn tcp_info(socket: &impl AsRawFd, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = buffer.len() as libc::socklen_t;
    // SAFETY: buffer and length are valid for the call, and the kernel writes no more than `length` bytes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            buffer.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result == 0 { Ok(length as usize) } else { Err(io::Error::last_os_error()) }
}

/// Lets the kernel wake a reader of `stream` only when `bytes` are there (or it could take no more).
pub(crate) fn set_receive_threshold(stream: &TcpStream, bytes: usize) -> io::Result<()> {
    let value = bytes as libc::c_int;
    // SAFETY: the option is one int.
    let done = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
