//! Batches of datagrams to and from a UDP socket.

use crate::clock::{Clock, KernelTime, wall_clock_ahead_ns};
use crate::sys::{BATCH, Received, Unsent, receive_batch, send_batch, set_option};
use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use transport::{EcnCounts, EcnMode};
use units::Time;

/// Length of the receive buffer for datagrams that wait for a delayed thread. A full buffer would drop packets that the
/// emulated path did not drop. The kernel doubles the value for its bookkeeping: some 7,000 full packets.
const RECEIVE_BUFFER_BYTES: usize = 8 << 20;

/// Maximum length of a datagram that is read completely: that of a path with jumbo frames.
pub const MAX_DATAGRAM_BYTES: usize = 9216;

/// Sets the socket's buffer and ECN codepoint, and enables kernel receive timestamps. With `report_ecn`, the socket
/// reports the codepoints of received packets.
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

/// Sets the codepoint of the socket's later datagrams.
pub(crate) fn set_codepoint(socket: &UdpSocket, ecn: EcnMode) -> io::Result<()> {
    let codepoint = match ecn {
        EcnMode::Off => 0,
        EcnMode::Ect1 => 1,
        EcnMode::Ect0 => 2,
    };
    Ok(setsockopt(socket, sockopt::Ipv4Tos, &codepoint)?)
}

/// Prepares a socket for the path to another machine: packets that are too large for the path are not fragmented.
pub fn prepare_for_network(socket: &UdpSocket) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)
}

/// Returns the ECN counts of a packet with this type of service.
pub(crate) fn ecn_counts(tos: u8) -> EcnCounts {
    let codepoint = tos & 3;
    EcnCounts {
        ect1: u64::from(codepoint == 1),
        ect0: u64::from(codepoint == 2),
        ce: u64::from(codepoint == 3),
    }
}

/// Returns true for errors that act like a lost packet. Nobody listens at the peer, there is no route, the datagram is
/// too large, or a device of this machine has no room.
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

/// Received datagram.
#[derive(Debug)]
pub struct Datagram<'a> {
    /// First bytes of the datagram, as many as are kept.
    pub bytes: &'a mut [u8],
    /// Number of bytes that arrived.
    pub length: usize,
    /// Type of service of the IP header, if the socket reports it.
    pub tos: u8,
    /// Source address of the datagram.
    pub source: SocketAddrV4,
    /// Kernel receive timestamp, if the socket reports it.
    stamp: Option<KernelTime>,
}

impl Datagram<'_> {
    /// Returns the arrival time; `now` without a kernel timestamp.
    pub fn arrived(&self, clock: Clock, now: Time) -> Time {
        self.stamp.map_or(now, |stamp| clock.time_of_stamp(stamp, now))
    }
}

/// Received datagrams.
#[derive(Debug)]
pub struct Inbox {
    buffer: Vec<u8>,
    slot_bytes: usize,
    received: [Received; BATCH],
    /// Wall clock's lead over the monotonic clock at the last receive call, ns.
    ahead_ns: i64,
}

impl Inbox {
    /// Creates an inbox that keeps the first `slot_bytes` of each datagram.
    pub fn new(slot_bytes: usize) -> Self {
        let received = [Received::default(); BATCH];
        Self { buffer: vec![0; slot_bytes * BATCH], slot_bytes, received, ahead_ns: 0 }
    }

    /// Receives at most one batch of datagrams and returns their number.
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

    /// Returns the first `count` datagrams of the last receive call.
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

/// Datagrams that wait to be sent, one after the other.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Number of sent datagrams.
    sent: usize,
    /// True if several datagrams go through the kernel's stack at once.
    joins: bool,
}

impl Outbox {
    /// Returns an outbox. With `joins` several datagrams pass the kernel's stack at once, as a network card takes them.
    pub(crate) fn joining(joins: bool) -> Self {
        Self { joins, ..Self::default() }
    }

    /// Adds the datagram that `encode` appends. Returns its length.
    pub fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> usize {
        let begin = self.bytes.len();
        encode(&mut self.bytes);
        self.ends.push(self.bytes.len());
        self.bytes.len() - begin
    }

    /// Returns true if a batch is complete.
    pub fn is_full(&self) -> bool {
        self.ends.len() >= BATCH
    }

    /// Sends as many datagrams as the socket takes, to its peer or else to `to`. Returns true if all were sent.
    /// Otherwise the caller must wait until the socket is writable.
    pub fn flush(&mut self, socket: &UdpSocket, to: Option<SocketAddrV4>) -> io::Result<bool> {
        while self.sent < self.ends.len() {
            let begin = if self.sent == 0 { 0 } else { self.ends[self.sent - 1] };
            let (bytes, ends, joins) = (&self.bytes[..], &self.ends[self.sent..], self.joins);
            match send_batch(socket, Unsent { bytes, begin, ends, joins }, to) {
                Ok(0) => return Ok(false),
                Ok(count) => self.sent += count,
                Err(error) if error.raw_os_error() == Some(Errno::ECONNREFUSED as i32) => {
                    // The error belongs to an earlier datagram. This one is not sent yet.
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_lost(&error) => self.sent += 1,
                // The kernel or the device joins nothing.
                Err(_) if joins => self.joins = false,
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

    /// Returns a prepared pair of sockets. The second receives what the first sends.
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
        // The last datagram of a group may be shorter; a longer datagram begins a new group.
        let length = |number: u8| if number % 10 == 9 { 15 + usize::from(number % 4) * 3 } else { 20 };
        for joins in [false, true] {
            let ((near, far), mut outbox) = (pair(EcnMode::Off), Outbox::joining(joins));
            for number in 0..BATCH as u8 + 5 {
                outbox.push(|bytes| bytes.extend(std::iter::repeat_n(number, length(number))));
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
            let sent: Vec<_> =
                (0..BATCH as u8 + 5).map(|number| (length(number), 8, number, number)).collect();
            assert_eq!(arrived, sent);
            assert_eq!(outbox.joins, joins, "the kernel joins them");
        }
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
        // A firewall, a prohibiting route, or a device without room.
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
