//! Batches of datagrams on their way into and out of a UDP socket.

use crate::sys::{BATCH, Received, receive_batch, send_batch};
use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::net::UdpSocket;
use transport::{EcnCounts, EcnMode};

/// Room for datagrams that wait for a thread that the scheduler holds up: what the socket drops, the emulated path did
/// not. The kernel doubles it for its bookkeeping: some 7,000 full packets.
const RECEIVE_BUFFER_BYTES: usize = 8 << 20;

/// Gives the socket its buffer and its ECN codepoint, and lets it report those of others if `report_ecn`.
pub(crate) fn prepare(socket: &UdpSocket, ecn: EcnMode, report_ecn: bool) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    if setsockopt(socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES).is_err() {
        // Without the privilege the system's limit applies.
        setsockopt(socket, sockopt::RcvBuf, &RECEIVE_BUFFER_BYTES)?;
    }
    let codepoint = match ecn {
        EcnMode::Off => 0,
        EcnMode::Ect1 => 1,
        EcnMode::Ect0 => 2,
    };
    if codepoint != 0 {
        setsockopt(socket, sockopt::Ipv4Tos, &codepoint)?;
    }
    if report_ecn {
        setsockopt(socket, sockopt::IpRecvTos, &true)?;
    }
    Ok(())
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

/// Nobody listens at the other end (yet, or any more): as if the datagram were lost on the way.
fn is_refused(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ECONNREFUSED as i32)
}

/// Datagrams that have arrived.
#[derive(Debug)]
pub(crate) struct Inbox {
    buffer: Vec<u8>,
    slot_bytes: usize,
    received: [Received; BATCH],
}

impl Inbox {
    /// Keeps the first `slot_bytes` of each datagram.
    pub(crate) fn new(slot_bytes: usize) -> Self {
        Self { buffer: vec![0; slot_bytes * BATCH], slot_bytes, received: [Received::default(); BATCH] }
    }

    /// Takes what has arrived, at most one batch, and gives each datagram's bytes and type of service to `take`.
    pub(crate) fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        match receive_batch(socket, &mut self.buffer, self.slot_bytes, &mut self.received) {
            Err(error) if is_refused(&error) || error.kind() == io::ErrorKind::Interrupted => Ok(0),
            result => result,
        }
    }

    /// Bytes and type of service of the first `count` datagrams received last.
    pub(crate) fn datagrams(&self, count: usize) -> impl Iterator<Item = (&[u8], u8)> {
        let slots = self.buffer.chunks_exact(self.slot_bytes).zip(&self.received);
        slots.take(count).map(|(slot, received)| (&slot[..received.length.min(slot.len())], received.tos))
    }
}

/// Datagrams waiting to be sent, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Datagrams already sent.
    sent: usize,
}

impl Outbox {
    /// Adds the datagram that `encode` appends; returns its length.
    pub(crate) fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> usize {
        let begin = self.bytes.len();
        encode(&mut self.bytes);
        self.ends.push(self.bytes.len());
        self.bytes.len() - begin
    }

    /// Whether a batch is complete.
    pub(crate) fn is_full(&self) -> bool {
        self.ends.len() >= BATCH
    }

    /// Sends what the socket takes; returns whether that was all. If not, wait until it is writable.
    pub(crate) fn flush(&mut self, socket: &UdpSocket) -> io::Result<bool> {
        while self.sent < self.ends.len() {
            let begin = if self.sent == 0 { 0 } else { self.ends[self.sent - 1] };
            match send_batch(socket, &self.bytes, begin, &self.ends[self.sent..]) {
                Ok(0) => return Ok(false),
                Ok(count) => self.sent += count,
                // The error belongs to an earlier datagram: this one is yet to be sent.
                Err(error) if is_refused(&error) || error.kind() == io::ErrorKind::Interrupted => {}
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
        assert!(outbox.is_full() && outbox.flush(&near).unwrap() && !outbox.is_full());
        let (mut inbox, mut arrived) = (Inbox::new(8), Vec::new());
        for expected in [BATCH, 5, 0] {
            let count = inbox.receive(&far).unwrap();
            assert_eq!(count, expected);
            arrived.extend(inbox.datagrams(count).map(|(bytes, _)| (bytes.len(), bytes[0], bytes[7])));
        }
        let sent: Vec<_> = (0..BATCH as u8 + 5).map(|number| (8, number, number)).collect();
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
            let counts: Vec<_> = inbox.datagrams(count).map(|(_, tos)| ecn_counts(tos)).collect();
            assert_eq!(counts.len(), 1);
            assert_eq!((counts[0].ect0, counts[0].ect1, counts[0].ce), expected);
        }
        assert_eq!(ecn_counts(0xff).ce, 1);
    }

    #[test]
    fn a_peer_that_is_gone_loses_datagrams_but_breaks_nothing() {
        let ((near, far), mut outbox) = (pair(EcnMode::Off), Outbox::default());
        drop(far);
        for _ in 0..4 {
            outbox.push(|bytes| bytes.push(1));
            assert!(outbox.flush(&near).unwrap());
            assert_eq!(Inbox::new(8).receive(&near).unwrap(), 0);
        }
    }
}
