//! TUN devices: where real packets leave a flow's end and enter the emulator.
//!
//! With offloads, every read and write begins with what is left to do for a packet (`superpacket.rs`): its checksum, and to take
//! apart what the kernel's TCP hands over at once. Without, a read is one IP packet of at most the MTU, as on a wire.
#![allow(unsafe_code, reason = "interface ioctls; each call passes a zeroed, fully sized structure")]

use crate::Error;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, socket};
use std::fs::{self, File};
use std::io::{self, IoSlice, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

mod ioctl {
    nix::ioctl_write_int_bad!(tun_set_offload, nix::request_code_write!(b'T', 208, 4));
    nix::ioctl_write_ptr_bad!(tun_set_interface, nix::request_code_write!(b'T', 202, 4), libc::ifreq);
    nix::ioctl_write_ptr_bad!(set_address, libc::SIOCSIFADDR, libc::ifreq);
    nix::ioctl_write_ptr_bad!(set_peer, libc::SIOCSIFDSTADDR, libc::ifreq);
    nix::ioctl_write_ptr_bad!(set_netmask, libc::SIOCSIFNETMASK, libc::ifreq);
    nix::ioctl_write_ptr_bad!(set_mtu, libc::SIOCSIFMTU, libc::ifreq);
    nix::ioctl_write_ptr_bad!(set_flags, libc::SIOCSIFFLAGS, libc::ifreq);
    nix::ioctl_write_ptr_bad!(add_route, libc::SIOCADDRT, libc::rtentry);
    nix::ioctl_write_ptr_bad!(set_ipv6_address, libc::SIOCSIFADDR, libc::in6_ifreq);
    nix::ioctl_write_ptr_bad!(add_ipv6_route, libc::SIOCADDRT, super::Ipv6Route);
}

/// Packets that may wait between the stack and us: beyond it the device drops in silence, which invalidates a run.
const QUEUE_PACKETS: u32 = 20_000;

/// What a device does for the kernel: checksums, and to take apart packets of TCP over IPv4 and IPv6 (Linux v6.12,
/// `include/uapi/linux/if_tun.h`, `TUN_F_CSUM`, `TUN_F_TSO4`, `TUN_F_TSO6`).
const OFFLOADS: libc::c_int = 0x1 | 0x2 | 0x4;
/// Likewise datagrams of UDP, since Linux 6.2 (`TUN_F_USO4`, `TUN_F_USO6`).
const DATAGRAM_OFFLOADS: libc::c_int = 0x20 | 0x40;

/// Length of the prefix that the IPv6 addresses of both ends share.
const IPV6_PREFIX_BITS: u32 = 126;
/// An MTU with which a device has no IPv6 (RFC 8200, section 5), bytes.
const MTU_WITHOUT_IPV6: i32 = 1000;
/// What keeps IPv6 from looking for routers, neighbours and groups through the path, where it would be measured: the device
/// has no link-local address and asks nobody whether its address is free, and it is no router, whose groups are announced.
const IPV6_SYSCTLS: [(&str, &str); 6] = [
    ("disable_ipv6", "0"),
    ("addr_gen_mode", "1"),
    ("accept_ra", "0"),
    ("router_solicitations", "0"),
    ("accept_dad", "0"),
    ("forwarding", "0"),
];

/// A route of IPv6 (Linux v6.12, `include/uapi/linux/ipv6_route.h`, `in6_rtmsg`).
#[derive(Debug)]
#[repr(C)]
struct Ipv6Route {
    destination: libc::in6_addr,
    source: libc::in6_addr,
    gateway: libc::in6_addr,
    kind: u32,
    destination_bits: u16,
    source_bits: u16,
    metric: u32,
    info: libc::c_ulong,
    flags: u32,
    device: libc::c_int,
}

/// What the device looks like to the programs behind it.
#[derive(Clone, Debug)]
pub(crate) struct TunConfig {
    pub(crate) name: String,
    pub(crate) address: Ipv4Addr,
    pub(crate) peer: Ipv4Addr,
    /// Its address of IPv6; `None` leaves the device without IPv6.
    pub(crate) ipv6: Option<Ipv6Addr>,
    pub(crate) mtu_bytes: u32,
    /// The kernel leaves checksums, and to take apart what TCP sends at once, to who reads.
    pub(crate) offloads: bool,
    /// Send everything that has no other way through the device.
    pub(crate) default_route: bool,
    /// Likewise everything of IPv6.
    pub(crate) default_ipv6_route: bool,
}

/// One end of an emulated path.
#[derive(Debug)]
pub(crate) struct Tun {
    device: File,
    name: String,
    has_ipv6: bool,
}

impl Tun {
    /// Creates the device in the namespace of the calling thread.
    ///
    /// # Errors
    /// One line with the fix if TUN devices are not permitted.
    pub(crate) fn create(config: &TunConfig) -> Result<Self, Error> {
        let device = File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .map_err(|error| {
                let fix = fix(&error);
                Error::not_permitted("/dev/net/tun", error, fix)
            })?;
        let mut request = named(&config.name);
        let header = if config.offloads { libc::IFF_VNET_HDR } else { 0 };
        let flags = libc::IFF_TUN | libc::IFF_NO_PI | header;
        request.ifr_ifru.ifru_flags = flags as i16;
        unsafe { ioctl::tun_set_interface(device.as_raw_fd(), &raw const request) }.map_err(|error| {
            Error::not_permitted(
                format!("cannot create the TUN device {}", config.name),
                error,
                "run as root",
            )
        })?;
        if config.offloads {
            // SAFETY: takes a number.
            let set = |offloads| unsafe { ioctl::tun_set_offload(device.as_raw_fd(), offloads) };
            set(OFFLOADS | DATAGRAM_OFFLOADS).or_else(|_| set(OFFLOADS)).map_err(|error| {
                Error::system(format!("offloads of the TUN device {}", config.name), io::Error::from(error))
            })?;
        }
        let has_ipv6 = configure(config).map_err(|error| {
            Error::not_permitted(
                format!("cannot set up the TUN device {}", config.name),
                error,
                "run as root",
            )
        })?;
        Ok(Self { device, name: config.name.clone(), has_ipv6 })
    }

    /// Returns the name of the device.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether IPv6 works here: not with an MTU below 1280 bytes (RFC 8200, section 5), nor on a kernel without IPv6.
    pub(crate) const fn has_ipv6(&self) -> bool {
        self.has_ipv6
    }

    /// Reads what the stack has sent next into `buffer`, with offloads behind its header; `None` if there is nothing.
    #[inline]
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.device).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet, with offloads behind its header, to the stack, which processes it at once.
    #[inline]
    pub(crate) fn send(&self, packet: &[u8]) -> io::Result<()> {
        (&self.device).write(packet).map(|_| ())
    }

    /// Hands over a packet that lies in several places.
    #[inline]
    pub(crate) fn send_parts(&self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        (&self.device).write_vectored(parts).map(|_| ())
    }

    /// Packets that the device lost between the stack and us, and us and the stack. For a thread in its namespace.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub(crate) fn dropped(&self) -> io::Result<u64> {
        let text = fs::read_to_string("/proc/thread-self/net/dev")?;
        let unreadable = || io::Error::other(format!("no counters of {} in /proc/net/dev", self.name));
        let prefix = format!("{}:", self.name);
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(&prefix));
        let numbers: Vec<u64> =
            line.ok_or_else(unreadable)?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        // Receive: bytes, packets, errors, drops, 4 more; then the same for transmit.
        match (numbers.get(3), numbers.get(11)) {
            (Some(received), Some(sent)) => Ok(received + sent),
            _ => Err(unreadable()),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

fn fix(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => "run as root, or `chmod 0666 /dev/net/tun`",
        _ => {
            "create it: `mkdir -p /dev/net && mknod /dev/net/tun c 10 200`, with the tun driver in the kernel"
        }
    }
}

fn named(name: &str) -> libc::ifreq {
    // SAFETY: all zero is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from as libc::c_char;
    }
    request
}

fn address(address: Ipv4Addr) -> libc::sockaddr {
    // SAFETY: all zero is a valid sockaddr; an IPv4 socket address has its size.
    let mut generic: libc::sockaddr = unsafe { std::mem::zeroed() };
    generic.sa_family = libc::AF_INET as libc::sa_family_t;
    for (to, from) in generic.sa_data[2..6].iter_mut().zip(address.octets()) {
        *to = from as libc::c_char;
    }
    generic
}

/// Sets the device up; whether with IPv6.
fn configure(config: &TunConfig) -> Result<bool, Errno> {
    let control = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let socket = control.as_raw_fd();
    let mut request = named(&config.name);
    // SAFETY: every call reads one ifreq, whose union member is the one the request number says.
    unsafe {
        // Where routers begin, the device has joined their group, and would announce that and that it leaves. With an MTU that
        // is too short for IPv6 the kernel forgets the group; without IFF_MULTICAST the device joins no other.
        request.ifr_ifru.ifru_flags = libc::IFF_NOARP as i16;
        ioctl::set_flags(socket, &raw const request)?;
        request.ifr_ifru.ifru_mtu = MTU_WITHOUT_IPV6;
        ioctl::set_mtu(socket, &raw const request)?;
        request.ifr_ifru.ifru_addr = address(config.address);
        ioctl::set_address(socket, &raw const request)?;
        request.ifr_ifru.ifru_addr = address(config.peer);
        ioctl::set_peer(socket, &raw const request)?;
        request.ifr_ifru.ifru_addr = address(Ipv4Addr::BROADCAST);
        ioctl::set_netmask(socket, &raw const request)?;
        request.ifr_ifru.ifru_mtu = config.mtu_bytes as i32;
        ioctl::set_mtu(socket, &raw const request)?;
    }
    set_queue_length(&config.name)?;
    let sysctls = if config.ipv6.is_some() { &IPV6_SYSCTLS[..] } else { &[("disable_ipv6", "1")] };
    for (name, value) in sysctls {
        crate::sysctl::set(&format!("net/ipv6/conf/{}/{name}", config.name), value)
            .map_err(|error| errno(&error))?;
    }
    bring_up(&config.name).map_err(|error| errno(&error))?;
    if config.default_route {
        // SAFETY: all zero is a valid rtentry; the name outlives the call.
        unsafe {
            let mut route: libc::rtentry = std::mem::zeroed();
            route.rt_dst = address(Ipv4Addr::UNSPECIFIED);
            route.rt_genmask = address(Ipv4Addr::UNSPECIFIED);
            route.rt_flags = libc::RTF_UP;
            route.rt_dev = request.ifr_name.as_mut_ptr();
            ioctl::add_route(socket, &raw const route)?;
        }
    }
    Ok(config.ipv6.is_some_and(|address| add_ipv6(config, address).is_ok()))
}

fn add_ipv6(config: &TunConfig, address: Ipv6Addr) -> Result<(), Errno> {
    let control = socket(AddressFamily::Inet6, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let device = nix::net::if_::if_nametoindex(config.name.as_str())? as libc::c_int;
    let any = libc::in6_addr { s6_addr: [0; 16] };
    let address = libc::in6_ifreq {
        ifr6_addr: libc::in6_addr { s6_addr: address.octets() },
        ifr6_prefixlen: IPV6_PREFIX_BITS,
        ifr6_ifindex: device,
    };
    let route = Ipv6Route {
        destination: any,
        source: any,
        gateway: any,
        kind: 0,
        destination_bits: 0,
        source_bits: 0,
        metric: 1,
        info: 0,
        flags: u32::from(libc::RTF_UP),
        device,
    };
    // SAFETY: each call reads one structure of the kind that its request number says.
    unsafe {
        ioctl::set_ipv6_address(control.as_raw_fd(), &raw const address)?;
        if config.default_ipv6_route {
            ioctl::add_ipv6_route(control.as_raw_fd(), &raw const route)?;
        }
    }
    Ok(())
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(0))
}

/// Sets the length of the device's queue. By netlink, because the ioctl for it wants root outside of user namespaces.
fn set_queue_length(name: &str) -> Result<(), Errno> {
    let index = nix::net::if_::if_nametoindex(name)?;
    let length = 16 + 16 + 8_u32;
    let mut message = Vec::with_capacity(length as usize);
    // Header: length, type, flags, sequence number, port.
    message.extend(length.to_ne_bytes());
    message.extend(libc::RTM_NEWLINK.to_ne_bytes());
    message.extend(((libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16).to_ne_bytes());
    message.extend([0; 8]);
    // The link: family and type (any), index, flags and which of them to change (none).
    message.extend([0; 4]);
    message.extend(index.to_ne_bytes());
    message.extend([0; 8]);
    // One attribute.
    message.extend(8_u16.to_ne_bytes());
    message.extend(libc::IFLA_TXQLEN.to_ne_bytes());
    message.extend(QUEUE_PACKETS.to_ne_bytes());
    let netlink = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?;
    nix::sys::socket::send(netlink.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 256];
    let received = nix::sys::socket::recv(netlink.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    // An error message whose code is 0 is the acknowledgement.
    let code =
        answer[..received].get(16..20).and_then(|code| code.try_into().ok()).map_or(0, i32::from_ne_bytes);
    if code == 0 { Ok(()) } else { Err(Errno::from_raw(-code)) }
}

/// Sets the interface `name` up, in the namespace of the calling thread.
pub(crate) fn bring_up(name: &str) -> io::Result<()> {
    let control = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let mut request = named(name);
    // Nobody is at the other end who could resolve addresses.
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING | libc::IFF_NOARP) as i16;
    // SAFETY: reads one ifreq with its flags.
    unsafe { ioctl::set_flags(control.as_raw_fd(), &raw const request)? };
    Ok(())
}
