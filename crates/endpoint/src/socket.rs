//! Batches of datagrams on their way into and out of a UDP socket.

use crate::clock::{Clock, KernelTime, wall_clock_ahead_ns};
use crate::sys::{BATCH, Received, receive_batch, send_batch, set_option};
use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use transport::{EcnCounts, EcnMode};
use units::Time;

/// Room for datagrams that wait for a thread that the scheduler holds up: what the socket drops, the emulated path did
/// not. The kernel doubles it for its bookkeeping: some 7,000 full packets.
const RECEIVE_BUFFER_BYTES: usize = 8 << 20;

/// Longest datagram that is read whole: that of a path with jumbo frames.
pub const MAX_DATAGRAM_BYTES: usize = 9216;

/// Gives the socket its buffer and its ECN codepoint, and lets it report those of others if `report_ecn`. The kernel stamps
/// what arrives.
pub fn prepare(socket: &UdpSocket, ecn: EcnMode, report_ecn: bool) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    if setsockopt(socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES).is_err() {
        // Without the privilege the system's limit applies.
        setsockopt(socket, sockopt::RcvBuf, &RECEIVE_BUFFER_BYTES)?;
    }
    if ecn != EcnMode::Off {
        set_codepoint(socket, ecn)?;
    }
    if report_ecn {
        setsockopt(socket, sockopt::IpRecvTos, &true)?;
    }
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
}

/// Gives later datagrams of the socket this codepoint.
pub(crate) fn set_codepoint(socket: &UdpSocket, ecn: EcnMode) -> io::Result<()> {
    let codepoint = match ecn {
        EcnMode::Off => 0,
        EcnMode::Ect1 => 1,
        EcnMode::Ect0 => 2,
    };
    Ok(setsockopt(socket, sockopt::Ipv4Tos, &codepoint)?)
}

/// Prepares a socket for the way to another machine: what is too large for the path is not cut into pieces.
pub fn prepare_for_network(socket: &UdpSocket) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)
}

/// What a packet with this type of service counts as.
pub(crate) fn ecn_counts(tos: u8) -> EcnCounts {
    let codepoint = tos & 3;
    EcnCounts {
        ect1: u64::from(codepoint == 1),
        ect0: u64::from(codepoint == 2),
        ce: u64::from(codepoint == 3),
    }
}

/// Nobody listens at the other end (yet, or any more), there is no way to it just now, it takes nothing so large, or a
/// device of this machine has no room: as if the datagram were lost on the way.
fn is_lost(error: &io::Error) -> bool {
    let lost = [
        Errno::ECONNREFUSED,
        Errno::EHOSTUNREACH,
        Errno::ENETUNREACH,
        Errno::ENETDOWN,
        Errno::EMSGSIZE,
        Errno::EHOSTDOWN,
        Errno::ENONET,
        Errno::EPERM,
        Errno::EACCES,
        Errno::ENOBUFS,
        Errno::ENOPROTOOPT,
        Errno::EPROTO,
    ];
    error.raw_os_error().is_some_and(|number| lost.iter().any(|errno| *errno as i32 == number))
}

/// A datagram that has arrived.
#[derive(Debug)]
pub struct Datagram<'a> {
    /// Its beginning, as far as it is kept.
    pub bytes: &'a mut [u8],
    /// Bytes that arrived.
    pub length: usize,
    /// Type of service of its IP header, where the socket reports it.
    pub tos: u8,
    /// Who sent it.
    pub source: SocketAddrV4,
    /// When the kernel took it in, as far as the socket reports it.
    stamp: Option<KernelTime>,
}

impl Datagram<'_> {
    /// When it arrived; `now` where the kernel does not tell.
    pub fn arrived(&self, clock: Clock, now: Time) -> Time {
        self.stamp.map_or(now, |stamp| clock.time_of_stamp(stamp, now))
    }
}

/// Datagrams that have arrived.
#[derive(Debug)]
pub struct Inbox {
    buffer: Vec<u8>,
    slot_bytes: usize,
    received: [Received; BATCH],
    /// How far the wall clock was ahead of the monotonic one when they were taken.
    ahead_ns: i64,
}

impl Inbox {
    /// Keeps the first `slot_bytes` of each datagram.
    pub fn new(slot_bytes: usize) -> Self {
        let received = [Received::default(); BATCH];
        Self { buffer: vec![0; slot_bytes * BATCH], slot_bytes, received, ahead_ns: 0 }
    }

    /// Takes what has arrived, at most one batch; how many datagrams that are.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        let count = match receive_batch(socket, &mut self.buffer, self.slot_bytes, &mut self.received) {
            Err(error) if is_lost(&error) || error.kind() == io::ErrorKind::Interrupted => 0,
            result => result?,
        };
        if self.received[..count].iter().any(|received| received.realtime_ns.is_some()) {
            self.ahead_ns = wall_clock_ahead_ns();
        }
        Ok(count)
    }

    /// The first `count` datagrams received last.
    pub fn datagrams(&mut self, count: usize) -> impl Iterator<Item = Datagram<'_>> {
        let ahead_ns = self.ahead_ns;
        let slots = self.buffer.chunks_exact_mut(self.slot_bytes).zip(&self.received);
        slots.take(count).map(move |(slot, received)| {
            let kept = received.length.min(slot.len());
            let stamp = received.realtime_ns.map(|realtime_ns| KernelTime { realtime_ns, ahead_ns });
            let Received { length, tos, source, .. } = *received;
            Datagram { bytes: &mut slot[..kept], length, tos, source, stamp }
        })
    }
}

/// Datagrams waiting to be sent, one after the other.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Datagrams already sent.
    sent: usize,
}

impl Outbox {
    /// Adds the datagram that `encode` appends; returns its length.
    pub fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> usize {
        let begin = self.bytes.len();
        encode(&mut self.bytes);
        self.ends.push(self.bytes.len());
        self.bytes.len() - begin
    }

    /// Whether a batch is complete.
    pub fn is_full(&self) -> bool {
        self.ends.len() >= BATCH
    }

    /// Sends what the socket takes, to its peer or else `to`; returns whether that was all. If not, wait until it is
    /// writable.
    pub fn flush(&mut self, socket: &UdpSocket, to: Option<SocketAddrV4>) -> io::Result<bool> {
        while self.sent < self.ends.len() {
            let begin = if self.sent == 0 { 0 } else { self.ends[self.sent - 1] };
            match send_batch(socket, &self.bytes, begin, &self.ends[self.sent..], to) {
                Ok(0) => return Ok(false),
                Ok(count) => self.sent += count,
                Err(error) if error.raw_os_error() == Some(Errno::ECONNREFUSED as i32) => {
                    // The error belongs to an earlier datagram: this one is yet to be sent.
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_lost(&error) => self.sent += 1,
                Err(error) => return Err(error),
            }
        }
        self.bytes.clear();
        self.ends.clear();
        self.sent = 0;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    /// A prepared pair of sockets: whatever the first one sends reaches the second.
    fn pair(ecn: EcnMode) -> (UdpSocket, UdpSocket) {
        let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (near, far) = (bind(), bind());
        near.connect(far.local_addr().unwrap()).unwrap();
        prepare(&near, ecn, false).unwrap();
        prepare(&far, EcnMode::Off, true).unwrap();
        (near, far)
    }

    #[test]
    fn more_than_a_batch_arrives_in_order_and_long_datagrams_are_cut() {
        let ((near, far), mut outbox) = (pair(EcnMode::Off), Outbox::default());
        for number in 0..BATCH as u8 + 5 {
            outbox.push(|bytes| bytes.extend([number; 20]));
        }
        assert!(outbox.is_full() && outbox.flush(&near, None).unwrap() && !outbox.is_full());
        let (mut inbox, mut arrived) = (Inbox::new(8), Vec::new());
        for expected in [BATCH, 5, 0] {
            let count = inbox.receive(&far).unwrap();
            assert_eq!(count, expected);
            let seen = |datagram: Datagram<'_>| {
                (datagram.length, datagram.bytes.len(), datagram.bytes[0], datagram.bytes[7])
            };
            arrived.extend(inbox.datagrams(count).map(seen));
        }
        let sent: Vec<_> = (0..BATCH as u8 + 5).map(|number| (20, 8, number, number)).collect();
        assert_eq!(arrived, sent);
    }

    #[test]
    fn ecn_codepoints_are_sent_and_seen() {
        for (ecn, expected) in
            [(EcnMode::Off, (0, 0, 0)), (EcnMode::Ect0, (1, 0, 0)), (EcnMode::Ect1, (0, 1, 0))]
        {
            let ((near, far), mut inbox) = (pair(ecn), Inbox::new(8));
            near.send(b"x").unwrap();
            let count = inbox.receive(&far).unwrap();
            let counts: Vec<_> = inbox.datagrams(count).map(|datagram| ecn_counts(datagram.tos)).collect();
            assert_eq!(counts.len(), 1);
            assert_eq!((counts[0].ect0, counts[0].ect1, counts[0].ce), expected);
        }
        assert_eq!(ecn_counts(0xff).ce, 1);
    }

    #[test]
    fn what_the_network_refuses_is_lost_and_mistakes_of_ours_are_not() {
        let lost = |number: Errno| is_lost(&io::Error::from_raw_os_error(number as i32));
        // A firewall, a route that prohibits, a device without room.
        assert!([Errno::EPERM, Errno::EACCES, Errno::ENOBUFS, Errno::EHOSTDOWN].into_iter().all(lost));
        assert!(![Errno::EBADF, Errno::EINVAL, Errno::EAFNOSUPPORT].into_iter().any(lost));
    }

    #[test]
    fn a_peer_that_is_gone_loses_datagrams_but_breaks_nothing() {
        let ((near, far), mut outbox) = (pair(EcnMode::Off), Outbox::default());
        drop(far);
        for _ in 0..4 {
            outbox.push(|bytes| bytes.push(1));
            assert!(outbox.flush(&near, None).unwrap());
            assert_eq!(Inbox::new(8).receive(&near).unwrap(), 0);
        }
    }
}
