//! Passes the queries of a path's end on to a name server that only this machine reaches.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Port of name servers (RFC 1035, section 4.2).
pub(crate) const DNS_PORT: u16 = 53;
/// Longest time without a look at the stop flag, ms.
const PATIENCE_MS: u16 = 100;
/// Longest wait for a query or an answer over TCP.
const TCP_PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of connections at a time.
const MAX_CONNECTIONS: usize = 64;
/// Maximum length of a message (RFC 1035, section 4.2.2).
const MAX_MESSAGE_BYTES: usize = 65_535;

/// A relay at work in a thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct DnsRelay {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl DnsRelay {
    /// Passes on what comes to `from`; `None` if a server has that address already: that one is the machine's own, and answers
    /// by itself.
    pub(crate) fn start(from: SocketAddr, to: SocketAddr) -> io::Result<Option<Self>> {
        let (datagrams, listener) = match (UdpSocket::bind(from), TcpListener::bind(from)) {
            (Ok(datagrams), Ok(listener)) => (datagrams, listener),
            (Err(error), _) | (_, Err(error)) if error.kind() == ErrorKind::AddrInUse => return Ok(None),
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        let any: IpAddr = if to.is_ipv4() { [0; 4].into() } else { [0_u16; 8].into() };
        let server = UdpSocket::bind((any, 0))?;
        server.connect(to)?;
        for socket in [&datagrams, &server] {
            socket.set_nonblocking(true)?;
        }
        listener.set_nonblocking(true)?;
        let stop = Arc::new(AtomicBool::new(false));
        let relay = Datagrams { from: datagrams, server, asked: HashMap::new(), next_id: 0 };
        let stopped = Arc::clone(&stop);
        let work = move || serve(relay, &listener, to, &stopped);
        let thread = thread::Builder::new().name("dns-relay".to_owned()).spawn(work)?;
        Ok(Some(Self { stop, thread: Some(thread) }))
    }
}

impl Drop for DnsRelay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _joined = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(mut relay: Datagrams, listener: &TcpListener, to: SocketAddr, stop: &AtomicBool) {
    let connections = Arc::new(AtomicUsize::new(0));
    while !stop.load(Ordering::Relaxed) {
        let mut ready = [relay.from.as_fd(), relay.server.as_fd(), listener.as_fd()]
            .map(|socket| PollFd::new(socket, PollFlags::POLLIN));
        // An error is told again by what is read below.
        let _ready = poll(&mut ready, PollTimeout::from(PATIENCE_MS));
        relay.pass_on();
        while let Ok((connection, _)) = listener.accept() {
            if connections.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
                continue;
            }
            connections.fetch_add(1, Ordering::Relaxed);
            let count = Arc::clone(&connections);
            let work = move || {
                // An end that goes away ends its connection, and nothing else.
                let _ended = converse(connection, to);
                count.fetch_sub(1, Ordering::Relaxed);
            };
            if thread::Builder::new().name("dns-relay".to_owned()).spawn(work).is_err() {
                connections.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

/// Queries in datagrams, by numbers of their own: those of several askers may be equal.
struct Datagrams {
    from: UdpSocket,
    server: UdpSocket,
    /// Who asked, and the number of the query there.
    asked: HashMap<u16, (SocketAddr, [u8; 2])>,
    next_id: u16,
}

impl Datagrams {
    fn pass_on(&mut self) {
        let mut message = vec![0; MAX_MESSAGE_BYTES];
        while let Ok((length, asker)) = self.from.recv_from(&mut message) {
            let Some(&id) = message[..length].first_chunk() else { continue };
            self.asked.insert(self.next_id, (asker, id));
            message[..2].copy_from_slice(&self.next_id.to_be_bytes());
            self.next_id = self.next_id.wrapping_add(1);
            // A query that is lost is repeated by who asked.
            let _sent = self.server.send(&message[..length]);
        }
        while let Ok(length) = self.server.recv(&mut message) {
            let Some(&id) = message[..length].first_chunk() else { continue };
            if let Some((asker, id)) = self.asked.remove(&u16::from_be_bytes(id)) {
                message[..2].copy_from_slice(&id);
                let _sent = self.from.send_to(&message[..length], asker);
            }
        }
    }
}

/// Passes on the queries of one connection, one after the other.
fn converse(mut asker: TcpStream, to: SocketAddr) -> io::Result<()> {
    asker.set_nonblocking(false)?;
    let mut server = TcpStream::connect_timeout(&to, TCP_PATIENCE)?;
    for end in [&asker, &server] {
        end.set_read_timeout(Some(TCP_PATIENCE))?;
        end.set_write_timeout(Some(TCP_PATIENCE))?;
    }
    loop {
        copy_message(&mut asker, &mut server)?;
        copy_message(&mut server, &mut asker)?;
    }
}

/// Copies a message with its length before it.
fn copy_message(from: &mut TcpStream, to: &mut TcpStream) -> io::Result<()> {
    let mut message = vec![0; 2];
    from.read_exact(&mut message)?;
    let length = u16::from_be_bytes([message[0], message[1]]);
    message.resize(2 + usize::from(length), 0);
    from.read_exact(&mut message[2..])?;
    to.write_all(&message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name server that answers every query with the query and `!`.
    fn echo() -> SocketAddr {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = udp.local_addr().unwrap();
        let tcp = TcpListener::bind(address).unwrap();
        thread::spawn(move || {
            let mut message = [0; 100];
            while let Ok((length, asker)) = udp.recv_from(&mut message) {
                message[length] = b'!';
                udp.send_to(&message[..=length], asker).unwrap();
            }
        });
        thread::spawn(move || {
            let mut asker = tcp.accept().unwrap().0;
            let mut message = [0; 4];
            asker.read_exact(&mut message).unwrap();
            asker.write_all(&[0, 3, message[2], message[3], b'!']).unwrap();
        });
        address
    }

    #[test]
    fn queries_and_answers_keep_their_numbers() {
        let to = echo();
        let free = UdpSocket::bind("127.0.0.2:0").unwrap().local_addr().unwrap();
        let _relay = DnsRelay::start(free, to).unwrap().unwrap();
        let ask = || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.connect(free).unwrap();
            socket
        };
        let (one, other) = (ask(), ask());
        one.send(b"\0\x07one").unwrap();
        other.send(b"\0\x07other").unwrap();
        let mut answer = [0; 100];
        let length = other.recv(&mut answer).unwrap();
        assert_eq!(&answer[..length], b"\0\x07other!");
        let length = one.recv(&mut answer).unwrap();
        assert_eq!(&answer[..length], b"\0\x07one!");
        let mut stream = TcpStream::connect(free).unwrap();
        stream.write_all(&[0, 2, 5, 6]).unwrap();
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [0, 3, 5, 6, b'!']);
    }

    #[test]
    fn an_address_that_has_a_server_needs_no_relay() {
        let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        assert!(DnsRelay::start(address, address).unwrap().is_none());
    }
}
