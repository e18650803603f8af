//! System calls with raw pointers that `nix` lacks, for batches of datagrams.
#![allow(unsafe_code, reason = "each call is given pointers to structures of the right size that outlive it")]

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;

/// Maximum number of datagrams per call.
pub const BATCH: usize = 32;

/// Buffer of control messages with the IP header's type of service and a timestamp, in the kernel's alignment.
type Control = [u64; 8];

/// Received datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Number of bytes that arrived. The buffer holds at most its own length of them.
    pub(crate) length: usize,
    /// Type of service of the IP header; zero unless the socket reports it.
    pub(crate) tos: u8,
    /// Source address of the datagram.
    pub(crate) source: SocketAddrV4,
    /// Kernel receive timestamp, ns of the wall clock, if the socket reports it.
    pub(crate) realtime_ns: Option<u64>,
}

impl Default for Received {
    fn default() -> Self {
        let source = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);
        Self { length: 0, tos: 0, source, realtime_ns: None }
    }
}

/// Receives up to [`BATCH`] waiting datagrams, each into its `slot_bytes` of `buffer`; longer ones are truncated. Fills
/// `received` and returns the number of datagrams, which may be zero.
pub(crate) fn receive_batch(
    socket: &UdpSocket,
    buffer: &mut [u8],
    slot_bytes: usize,
    received: &mut [Received; BATCH],
) -> io::Result<usize> {
    // SAFETY: all-zero bytes are valid values of these plain C structures.
    let (mut headers, mut slices): ([libc::mmsghdr; BATCH], [libc::iovec; BATCH]) = unsafe { zeroed() };
    let mut controls: [Control; BATCH] = [[0; 8]; BATCH];
    // SAFETY: as above.
    let mut sources: [libc::sockaddr_in; BATCH] = unsafe { zeroed() };
    let mut slots = 0;
    for (index, slot) in buffer.chunks_exact_mut(slot_bytes).take(BATCH).enumerate() {
        slices[index] = libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: slot_bytes };
        let header = &mut headers[index].msg_hdr;
        header.msg_iov = &raw mut slices[index];
        header.msg_iovlen = 1;
        header.msg_control = controls[index].as_mut_ptr().cast();
        header.msg_controllen = size_of::<Control>();
        header.msg_name = (&raw mut sources[index]).cast();
        header.msg_namelen = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        slots += 1;
    }
    // SAFETY: the first `slots` headers point to buffers of the stated lengths, which live until the call returns.
    let count = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            slots,
            libc::MSG_DONTWAIT | libc::MSG_TRUNC,
            std::ptr::null_mut(),
        )
    };
    if count < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::WouldBlock { Ok(0) } else { Err(error) };
    }
    for ((header, source), received) in headers[..count as usize].iter().zip(&sources).zip(received) {
        let address = Ipv4Addr::from_bits(u32::from_be(source.sin_addr.s_addr));
        *received = Received {
            length: header.msg_len as usize,
            source: SocketAddrV4::new(address, u16::from_be(source.sin_port)),
            ..Received::default()
        };
        read_control(&header.msg_hdr, received);
    }
    Ok(count as usize)
}

/// Reads the kernel's control messages of a datagram.
fn read_control(header: &libc::msghdr, received: &mut Received) {
    // SAFETY: the kernel has filled the control buffer and set its length; the data of an IP_TOS message is one byte, that
    // of SCM_TIMESTAMPNS a timespec.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        while !message.is_null() {
            let data = libc::CMSG_DATA(message);
            match ((*message).cmsg_level, (*message).cmsg_type) {
                (libc::IPPROTO_IP, libc::IP_TOS) => received.tos = *data,
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    received.realtime_ns = Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
                }
                _ => {}
            }
            message = libc::CMSG_NXTHDR(header, message);
        }
    }
}

/// Datagrams in the order of their sending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsent<'a> {
    /// All datagrams, without gaps.
    pub(crate) bytes: &'a [u8],
    /// Begin of the first datagram in `bytes`.
    pub(crate) begin: usize,
    /// End of each datagram in `bytes`.
    pub(crate) ends: &'a [usize],
    /// True if several datagrams of one length go through the kernel's stack at once, up to the device (`UDP_SEGMENT`, udp(7)):
    /// 11 to 22 % less processor time per packet of our own ends at 1 Gbit/s.
    pub(crate) joins: bool,
}

/// Maximum number and length of datagrams that go through the stack at once (Linux v6.12, `UDP_MAX_SEGMENTS`).
const MOST_JOINED: usize = 64;
const MOST_JOINED_BYTES: usize = 65_000;

impl Unsent<'_> {
    /// Returns the number of datagrams that can be sent at once, if the first one begins at `begin` and ends at `ends[0]`: all
    /// but the last have one length.
    fn joined(&self, begin: usize, ends: &[usize]) -> usize {
        let length = ends[0] - begin;
        let (mut last, mut count) = (begin, 0);
        for end in ends.iter().take(if self.joins { MOST_JOINED } else { 1 }) {
            if end - last > length || end - begin > MOST_JOINED_BYTES && count > 0 {
                break;
            }
            count += 1;
            if end - last < length {
                break;
            }
            last = *end;
        }
        count
    }
}

/// Room for a control message with one number of 16 bits, aligned as the kernel wants it.
type SegmentControl = [u64; 3];

/// Sends datagrams, up to [`BATCH`] of them; `to` is for sockets without a peer. Returns the number that the socket took,
/// zero if it is full.
pub(crate) fn send_batch(
    socket: &UdpSocket,
    unsent: Unsent<'_>,
    to: Option<SocketAddrV4>,
) -> io::Result<usize> {
    let mut name = to.map(c_address);
    // SAFETY: all-zero bytes are valid values of these plain C structures.
    let (mut headers, mut slices): ([libc::mmsghdr; BATCH], [libc::iovec; BATCH]) = unsafe { zeroed() };
    let mut controls: [SegmentControl; BATCH] = [[0; 3]; BATCH];
    let mut counts = [0; BATCH];
    let (mut begin, mut ends) = (unsent.begin, &unsent.ends[..unsent.ends.len().min(BATCH)]);
    let mut messages = 0;
    while !ends.is_empty() {
        let count = unsent.joined(begin, ends);
        let datagrams = &unsent.bytes[begin..ends[count - 1]];
        slices[messages] =
            libc::iovec { iov_base: datagrams.as_ptr().cast_mut().cast(), iov_len: datagrams.len() };
        let header = &mut headers[messages].msg_hdr;
        header.msg_iov = &raw mut slices[messages];
        header.msg_iovlen = 1;
        if let Some(name) = &mut name {
            header.msg_name = (&raw mut *name).cast();
            header.msg_namelen = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        }
        if count > 1 {
            header.msg_control = controls[messages].as_mut_ptr().cast();
            header.msg_controllen = size_of::<SegmentControl>();
            // SAFETY: the control buffer has room for this one message, whose data is two bytes.
            unsafe {
                let message = libc::CMSG_FIRSTHDR(&raw const *header);
                (*message).cmsg_level = libc::IPPROTO_UDP;
                (*message).cmsg_type = libc::UDP_SEGMENT;
                (*message).cmsg_len = libc::CMSG_LEN(2) as usize;
                libc::CMSG_DATA(message).cast::<u16>().write_unaligned((ends[0] - begin) as u16);
            }
        }
        counts[messages] = count;
        begin = ends[count - 1];
        ends = &ends[count..];
        messages += 1;
    }
    // SAFETY: the first `messages` headers point to parts of `bytes`, which the call only reads, and to control messages.
    let sent = unsafe {
        libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), messages as libc::c_uint, libc::MSG_DONTWAIT)
    };
    if sent >= 0 {
        return Ok(counts[..sent as usize].iter().sum());
    }
    let error = io::Error::last_os_error();
    // A full device queue is a reason to wait, like a full socket.
    let full = error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS);
    if full { Ok(0) } else { Err(error) }
}

fn c_address(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: address.ip().to_bits().to_be() },
        sin_zero: [0; 8],
    }
}

/// Sets an integer option of a socket.
pub(crate) fn set_option(socket: &UdpSocket, level: i32, name: i32, value: i32) -> io::Result<()> {
    // SAFETY: the option is one int.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the number of datagrams that the full socket buffer dropped; 0 if the kernel does not report it (before
/// Linux 4.12).
pub fn dropped_at(socket: &UdpSocket) -> u64 {
    /// Index of the drops in the output of `SO_MEMINFO` (`linux/sock_diag.h`).
    const DROPS: usize = 8;
    let mut told = [0_u32; DROPS + 1];
    let mut length = size_of_val(&told) as libc::socklen_t;
    // SAFETY: buffer and length are valid for the call, and the kernel writes no more than `length` bytes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            told.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result == 0 { u64::from(told[DROPS]) } else { 0 }
}

/// Router's report on a datagram that it did not forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Address of the router.
    pub router: Ipv4Addr,
    /// Returned part of the datagram's UDP payload.
    pub payload: Vec<u8>,
}

/// Makes the socket keep routers' reports on its datagrams for [`take_refusal`], or not.
///
/// # Errors
/// Returns the error of the system call.
pub fn keep_refusals(socket: &UdpSocket, keep: bool) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IP, libc::IP_RECVERR, i32::from(keep))
}

/// Sets the hop limit (TTL) of the next datagrams.
///
/// # Errors
/// Returns the error of the system call.
pub fn set_hops(socket: &UdpSocket, hops: u8) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IP, libc::IP_TTL, i32::from(hops))
}

/// Sets the type of service of the next datagrams.
///
/// # Errors
/// Returns the error of the system call.
pub fn set_type_of_service(socket: &UdpSocket, tos: u8) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IP, libc::IP_TOS, i32::from(tos))
}

/// Returns the next report of a router, if any (ip(7), `IP_RECVERR`).
pub fn take_refusal(socket: &UdpSocket) -> Option<Refusal> {
    let mut payload = vec![0; 2048];
    let mut control = [0_u64; 64];
    let mut slice = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() };
    // SAFETY: all-zero bytes are a valid header; it points to buffers of the stated lengths that outlive the call; a message
    // of IP_RECVERR is an error structure with the address of the router behind it.
    unsafe {
        let mut header: libc::msghdr = zeroed();
        header.msg_iov = &raw mut slice;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control);
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        let length = libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags);
        payload.truncate(usize::try_from(length).ok()?);
        let mut message = libc::CMSG_FIRSTHDR(&raw const header);
        while !message.is_null() {
            if (*message).cmsg_level == libc::IPPROTO_IP && (*message).cmsg_type == libc::IP_RECVERR {
                let data = libc::CMSG_DATA(message);
                // The data of a message is aligned like its header, but the compiler cannot know this.
                let (error, router): (libc::sock_extended_err, libc::sockaddr_in) = (
                    std::ptr::read_unaligned(data.cast()),
                    std::ptr::read_unaligned(data.add(size_of::<libc::sock_extended_err>()).cast()),
                );
                if error.ee_origin == libc::SO_EE_ORIGIN_ICMP {
                    let router = Ipv4Addr::from_bits(u32::from_be(router.sin_addr.s_addr));
                    return Some(Refusal { router, payload });
                }
            }
            message = libc::CMSG_NXTHDR(&raw const header, message);
        }
    }
    // A local error of the system, for example about a packet that is too long.
    Some(Refusal { router: Ipv4Addr::UNSPECIFIED, payload })
}

/// Fills `buffer` with the output of `TCP_INFO`. Returns its length.
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

/// Makes the kernel wake a reader of `stream` only when `bytes` are available, or no more can arrive.
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
