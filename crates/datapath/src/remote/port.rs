//! A UDP socket on the network, and who is at its other end.

use crate::Error;
use endpoint::{
    Datagram, Guard, Inbox, Key, Kind, MAX_DATAGRAM_BYTES, Outbox, monotonic_ns, prepare, prepare_for_network,
};
use endpoint::{Opened, close_envelope, open_envelope};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;
use transport::EcnMode;

/// Opens a socket on the network, on one of the ports `from` to `to` if they are given.
///
/// # Errors
/// One line: what the system refused, or that all ports are in use.
pub(super) fn open(ports: Option<(u16, u16)>) -> Result<UdpSocket, Error> {
    let bind = |port| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port));
    let socket = match ports {
        None => bind(0).map_err(|error| Error::system("UDP socket", error))?,
        Some((from, to)) => (from..=to).find_map(|port| bind(port).ok()).ok_or(Error::NoPort { from, to })?,
    };
    prepare(&socket, EcnMode::Off, true)
        .and_then(|()| prepare_for_network(&socket))
        .map_err(|error| Error::system("UDP socket", error))?;
    Ok(socket)
}

/// A socket whose other end is known, and what is sent and received there one by one.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) socket: UdpSocket,
    pub(super) guard: Guard,
    /// How many were sent, of all kinds but greetings: their numbers.
    sent: u64,
    outbox: Outbox,
    inbox: Inbox,
}

impl Port {
    pub(super) fn new(socket: UdpSocket, peer: SocketAddrV4, outgoing: &Key, incoming: &Key) -> Self {
        let guard = Guard::new(peer, outgoing, incoming);
        Self { socket, guard, sent: 0, outbox: Outbox::default(), inbox: Inbox::new(MAX_DATAGRAM_BYTES) }
    }

    /// Sends `body` in an envelope; its number and stamp. What the network refuses is lost.
    pub(super) fn send(&mut self, kind: Kind, body: &[u8]) -> io::Result<(u64, u64)> {
        let put = self.put(kind, body);
        self.flush()?;
        Ok(put)
    }

    /// Puts `body` in an envelope for [`flush`](Self::flush); its number and stamp.
    pub(super) fn put(&mut self, kind: Kind, body: &[u8]) -> (u64, u64) {
        let number = self.sent;
        self.sent += 1;
        let Self { guard, outbox, .. } = self;
        let stamp_ns = monotonic_ns();
        outbox.push(|bytes| close_envelope(guard, kind, number, stamp_ns, body, bytes));
        (number, stamp_ns)
    }

    /// Sends what was put; whether that was all: if not, wait.
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        let Self { socket, guard, outbox, .. } = self;
        outbox.flush(socket, Some(guard.peer()))
    }

    /// The number that the next datagram gets.
    pub(super) const fn next_number(&self) -> u64 {
        self.sent
    }

    /// Gives what the peer has sent to `take`, with the datagram's length. Greetings are answered.
    pub(super) fn receive(&mut self, mut take: impl FnMut(&Datagram<'_>, usize, &Taken)) -> io::Result<()> {
        let Self { socket, guard, inbox, .. } = self;
        let count = inbox.receive(socket)?;
        for mut datagram in inbox.datagrams(count) {
            let length = datagram.bytes.len();
            let taken = open_envelope(guard, &mut datagram).map(|Opened { kind, stamp_ns, number, body }| {
                Taken { kind, number, stamp_ns, body: body.to_vec() }
            });
            if let Some(taken) = taken {
                take(&datagram, length, &taken);
            }
        }
        guard.tend(socket);
        Ok(())
    }

    /// Waits until something has arrived or `most` has passed.
    pub(super) fn wait(&self, most: Duration) -> io::Result<()> {
        wait(&[&self.socket], most)
    }

    /// Waits until the socket takes something or `most` has passed.
    pub(super) fn wait_to_send(&self, most: Duration) -> io::Result<()> {
        wait_for(&[&self.socket], PollFlags::POLLOUT, most)
    }
}

/// What an envelope held.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    pub(super) kind: Kind,
    pub(super) number: u64,
    pub(super) stamp_ns: u64,
    pub(super) body: Vec<u8>,
}

/// Waits until something has arrived at one of the sockets or `most` has passed.
pub(super) fn wait(sockets: &[&UdpSocket], most: Duration) -> io::Result<()> {
    wait_for(sockets, PollFlags::POLLIN, most)
}

fn wait_for(sockets: &[&UdpSocket], flags: PollFlags, most: Duration) -> io::Result<()> {
    let mut watched: Vec<PollFd<'_>> =
        sockets.iter().map(|socket| PollFd::new(socket.as_fd(), flags)).collect();
    let timeout = PollTimeout::try_from(most.as_millis().max(1)).unwrap_or(PollTimeout::MAX);
    match poll(&mut watched, timeout) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
