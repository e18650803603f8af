//! The UDP socket, the signals and the real clock under a QUIC connection.

use crate::error::Error as Failure;
use std::collections::VecDeque;
use std::io::{Error, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use quiche::{Connection, RecvInfo};

/// Datagrams read before packets are sent again, so that ACKs in bulk do not delay paced packets.
pub(crate) const READ_AT_ONCE: usize = 32;

/// How long before its time a paced packet is made. quiche counts from the moment a packet is made if that is late: made
/// just before, packets keep to the pacing rate although this process wakes up some microseconds late. It adds as much to
/// the RTT that quiche measures, so it is short.
const AHEAD: Duration = Duration::from_micros(200);

/// Socket buffers asked of the kernel, bytes: a burst must neither be lost nor wait in the host.
const SOCKET_BUFFER: usize = 4 << 20;

/// Pauses after each time that the last word is said, milliseconds: together less than the half second that programs have
/// after SIGTERM.
const REPEATS_MS: [u64; 6] = [5, 10, 20, 40, 80, 160];

/// A datagram and the time it leaves.
struct Departure {
    at: Instant,
    datagram: Vec<u8>,
}

/// A socket with packets that wait for their time.
pub(crate) struct Wire {
    socket: UdpSocket,
    signals: SignalFd,
    departures: VecDeque<Departure>,
    /// The datagram that tells the peer that this side closes the connection; none before it is made.
    last_word: Option<Vec<u8>>,
    /// The socket's send buffer is full.
    blocked: bool,
    buffer: Vec<u8>,
}

impl Wire {
    /// Binds to a local address. SIGTERM and SIGINT no longer end the process; [`Wire::wait`] reports them.
    pub(crate) fn bind(address: SocketAddr) -> Result<Self, Failure> {
        let socket = UdpSocket::bind(address)
            .map_err(|error| Failure::failed(format!("cannot bind to {address}"), error))?;
        socket.set_nonblocking(true).map_err(|error| Failure::failed("socket", error))?;
        enlarge_buffers(&socket);
        // By default the kernel may round waiting times up by 50 microseconds; best effort.
        let _ = nix::sys::prctl::set_timerslack(1);
        Ok(Self {
            socket,
            signals: block_signals().map_err(|error| Failure::failed("signals", error))?,
            departures: VecDeque::new(),
            last_word: None,
            blocked: false,
            buffer: vec![0; 65_536],
        })
    }

    /// From now on only this peer's datagrams are received.
    pub(crate) fn connect(&self, peer: SocketAddr) -> Result<(), Failure> {
        self.socket.connect(peer).map_err(|error| Failure::failed(format!("cannot reach {peer}"), error))
    }

    /// The socket's own address.
    pub(crate) fn local_address(&self) -> Result<SocketAddr, Failure> {
        self.socket.local_addr().map_err(|error| Failure::failed("socket", error))
    }

    /// The next datagram and its source, if one has arrived.
    pub(crate) fn receive(&mut self) -> Result<Option<(&mut [u8], SocketAddr)>, Error> {
        match self.socket.recv_from(&mut self.buffer) {
            Ok((length, from)) => Ok(Some((&mut self.buffer[..length], from))),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands what has arrived, at most so many datagrams, to the connection, and its timeout if that has passed.
    pub(crate) fn feed(&mut self, connection: &mut Connection, datagrams: usize) -> Result<(), Error> {
        let to = self.socket.local_addr()?;
        for _ in 0..datagrams {
            let Some((datagram, from)) = self.receive()? else { break };
            // A datagram that cannot be read is dropped; an error that ends the connection shows in its state.
            let _ = connection.recv(datagram, RecvInfo { from, to });
        }
        if connection.timeout_instant().is_some_and(|at| at <= Instant::now()) {
            connection.on_timeout();
        }
        Ok(())
    }

    /// Sends what the connection has and its pacing permits.
    pub(crate) fn transmit(&mut self, connection: &mut Connection) -> Result<(), Error> {
        self.blocked = false;
        loop {
            self.send_due()?;
            if self.blocked {
                return Ok(());
            }
            let now = Instant::now();
            // Read before the packet is made: afterwards, in `SendInfo::at` too, it is the time of the packet after it.
            let at = connection.get_next_release_time().and_then(|release| release.time(now)).unwrap_or(now);
            if at > now + AHEAD {
                return Ok(());
            }
            match connection.send(&mut self.buffer) {
                Ok((length, _)) => {
                    let datagram = self.buffer[..length].to_vec();
                    if connection.is_draining() {
                        self.last_word = Some(datagram.clone());
                    }
                    self.departures.push_back(Departure { at, datagram });
                }
                // `Done`: nothing to send. Any other error shows in the connection's state.
                Err(_) => return Ok(()),
            }
        }
    }

    /// Sends what is still to leave. Nobody acknowledges that this side closes, so it is said again until the peer's port is
    /// closed (RFC 9000, section 10.2.1).
    pub(crate) fn part(&mut self) -> Result<(), Error> {
        let Some(last_word) = self.last_word.take() else { return Ok(()) };
        match self.repeat(&last_word) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(()),
            other => other,
        }
    }

    fn repeat(&mut self, last_word: &[u8]) -> Result<(), Error> {
        for pause in REPEATS_MS {
            self.send_due()?;
            std::thread::sleep(Duration::from_millis(pause));
            while self.receive()?.is_some() {}
            self.departures.push_back(Departure { at: Instant::now(), datagram: last_word.to_vec() });
        }
        self.send_due()
    }

    /// Waits for a datagram, a packet's time, the connection's timeout or `until`. True: asked to stop.
    pub(crate) fn wait(
        &self,
        connection: Option<&Connection>,
        until: Option<Instant>,
    ) -> Result<bool, Error> {
        let mut next = until;
        let mut no_later = |at: Option<Instant>| next = [next, at].into_iter().flatten().min();
        if let Some(connection) = connection {
            no_later(connection.timeout_instant());
            let now = Instant::now();
            let release = connection.get_next_release_time().and_then(|release| release.time(now));
            no_later(release.and_then(|at| at.checked_sub(AHEAD)).filter(|at| *at > now));
        }
        if !self.blocked {
            no_later(self.departures.front().map(|first| first.at));
        }
        let timeout = next.map(|at| TimeSpec::from_duration(at.saturating_duration_since(Instant::now())));

        let mut events = PollFlags::POLLIN;
        events.set(PollFlags::POLLOUT, self.blocked);
        let mut waiting =
            [PollFd::new(self.socket.as_fd(), events), PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut waiting, timeout, None) {
            Ok(_) => Ok(waiting[1].any().unwrap_or(false)),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn send_due(&mut self) -> Result<(), Error> {
        while let Some(first) = self.departures.front() {
            if first.at > Instant::now() {
                break;
            }
            match self.socket.send(&first.datagram) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.blocked = true;
                    break;
                }
                // The host's own queue was full: a lost packet like any other.
                Err(error) if error.raw_os_error() == Some(Errno::ENOBUFS as i32) => {}
                Err(error) => return Err(error),
                Ok(_) => {}
            }
            self.departures.pop_front();
        }
        Ok(())
    }
}

/// Best effort: only with a privilege beyond the system's limit.
fn enlarge_buffers(socket: &UdpSocket) {
    if setsockopt(socket, sockopt::RcvBufForce, &SOCKET_BUFFER).is_err() {
        let _ = setsockopt(socket, sockopt::RcvBuf, &SOCKET_BUFFER);
    }
    if setsockopt(socket, sockopt::SndBufForce, &SOCKET_BUFFER).is_err() {
        let _ = setsockopt(socket, sockopt::SndBuf, &SOCKET_BUFFER);
    }
}

fn block_signals() -> nix::Result<SignalFd> {
    let signals = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT]);
    signals.thread_block()?;
    SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}
