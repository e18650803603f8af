//! `dumbbell-quic send`.

use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use quiche::Connection;

use crate::arguments::SendOptions;
use crate::configuration::{self, STREAM};
use crate::error::Error as Failure;
use crate::statistics;
use crate::wire::{READ_AT_ONCE, Wire};

/// How long the receiver may take to answer.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(15);

/// Bytes offered to the connection at once.
static CHUNK: [u8; 65_536] = [0; 65_536];

/// Connects and sends until the duration or the bytes are over.
pub(crate) fn run(options: &SendOptions) -> Result<(), Failure> {
    let start = Instant::now();
    let peer = options.peer;
    let mut wire = Wire::bind(any_address(peer))?;
    wire.connect(peer)?;
    let mut config = configuration::client(&options.congestion_control, options.max_datagram)?;
    let mut connection =
        quiche::connect(None, &configuration::connection_id()?, wire.local_address()?, peer, &mut config)
            .map_err(|error| Failure::failed(format!("cannot connect to {peer}"), error))?;

    let mut unsent = options.bytes;
    let mut report_at = options.statistics.map(|interval| start + interval);
    let mut stop_at = options.duration.map(|duration| start + duration);
    let handshake_end = start + options.duration.unwrap_or(HANDSHAKE_TIMEOUT).min(HANDSHAKE_TIMEOUT);
    let mut stopping = false;
    loop {
        wire.feed(&mut connection, READ_AT_ONCE)
            .or_else(|error| last_word(&mut wire, &mut connection, error, peer))?;
        let now = Instant::now();
        if connection.is_established() {
            fill(&mut connection, &mut unsent);
        } else if stopping {
            return Ok(());
        } else if now >= handshake_end {
            return Err(Failure::NoAnswer { peer, seconds: (handshake_end - start).as_secs_f64() });
        }
        if stopping || stop_at.is_some_and(|at| now >= at) {
            // `Done` means that the receiver closed first.
            let _ = connection.close(true, 0, b"over");
            stop_at = None;
        }
        wire.transmit(&mut connection).or_else(|error| last_word(&mut wire, &mut connection, error, peer))?;
        if let (Some(at), Some(interval)) = (report_at, options.statistics)
            && now >= at
        {
            statistics::print_path(now - start, &connection)
                .map_err(|error| Failure::failed("standard output", error))?;
            report_at = Some(at + interval);
        }
        if connection.is_draining() || connection.is_closed() {
            wire.part().map_err(|error| Failure::failed(format!("cannot reach {peer}"), error))?;
            break;
        }
        let until = [stop_at, report_at, (!connection.is_established()).then_some(handshake_end)];
        stopping |= wire
            .wait(Some(&connection), until.into_iter().flatten().min())
            .map_err(|error| Failure::failed("waiting", error))?;
    }
    outcome(&connection, peer, unsent)
}

/// Gives the connection all it takes now. A sender never waits for its application.
fn fill(connection: &mut Connection, unsent: &mut Option<u64>) {
    while *unsent != Some(0) {
        let length = unsent.map_or(CHUNK.len(), |bytes| bytes.min(CHUNK.len() as u64) as usize);
        let last = *unsent == Some(length as u64);
        // `Done` says that the congestion window is full; any other error shows in the connection's state.
        match connection.stream_send(STREAM, &CHUNK[..length], last) {
            Ok(taken) if taken > 0 => *unsent = unsent.map(|bytes| bytes - taken as u64),
            _ => break,
        }
    }
}

/// What the end of the connection means.
fn outcome(connection: &Connection, peer: SocketAddr, unsent: Option<u64>) -> Result<(), Failure> {
    if connection.is_timed_out() {
        return Err(Failure::ReceiverSilent(peer));
    }
    if let Some(error) = connection.peer_error() {
        // The receiver closes when it has everything.
        if error.is_app && error.error_code == 0 && unsent == Some(0) {
            return Ok(());
        }
        let reason = String::from_utf8_lossy(&error.reason).into_owned();
        return Err(Failure::Closed { peer, code: error.error_code, reason });
    }
    match connection.local_error() {
        Some(error) if !error.is_app => Err(Failure::SendingFailed { peer, code: error.error_code }),
        _ => Ok(()),
    }
}

/// An error of the socket ends the transfer, except when the receiver closed the connection before it went away: the kernel
/// reports the closed port before the datagram that said so.
fn last_word(
    wire: &mut Wire,
    connection: &mut Connection,
    error: Error,
    peer: SocketAddr,
) -> Result<(), Failure> {
    if error.kind() != ErrorKind::ConnectionRefused {
        return Err(Failure::failed(format!("cannot reach {peer}"), error));
    }
    let established = connection.is_established();
    // Each packet still on its way may bring one more such error.
    for _ in 0..100 {
        if wire.feed(connection, usize::MAX).is_ok() {
            break;
        }
    }
    if connection.is_draining() || connection.is_closed() {
        Ok(())
    } else if established {
        Err(Failure::Gone(peer))
    } else {
        Err(Failure::NothingListens(peer))
    }
}

fn any_address(peer: SocketAddr) -> SocketAddr {
    let ip = match peer.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    SocketAddr::new(ip, 0)
}
