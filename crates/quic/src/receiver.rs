//! `dumbbell-quic receive`.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;

use quiche::{Connection, Header, RecvInfo, Type};

use crate::configuration::{self, STREAM};
use crate::error::Error as Failure;
use crate::statistics;
use crate::wire::{READ_AT_ONCE, Wire};

/// Takes one connection, discards its data, prints how many bytes arrived and ends when the sender closes.
pub(crate) fn run(listen: SocketAddr) -> Result<(), Failure> {
    let mut wire = Wire::bind(listen)?;
    let Some(mut connection) = accept(&mut wire)? else {
        return report(0);
    };
    let mut received = 0;
    let mut stopping = false;
    loop {
        match wire.feed(&mut connection, READ_AT_ONCE).and_then(|()| {
            let (bytes, complete) = discard(&mut connection);
            received += bytes;
            // Everything is here (the sender asked for a number of bytes), or the user wants an end.
            if stopping || complete {
                let _ = connection.close(true, 0, b"over");
            }
            wire.transmit(&mut connection)
        }) {
            // The sender is gone without a word, or its last word was lost.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => break,
            result => result.map_err(socket_error)?,
        }
        if connection.is_draining() || connection.is_closed() {
            wire.part().map_err(socket_error)?;
            break;
        }
        stopping |= wire.wait(Some(&connection), None).map_err(socket_error)?;
    }
    report(received)?;
    if stopping {
        return Ok(());
    }
    if connection.is_timed_out() {
        return Err(Failure::SenderSilent);
    }
    match [connection.local_error(), connection.peer_error()]
        .into_iter()
        .flatten()
        .find(|error| !error.is_app)
    {
        Some(error) => Err(Failure::ReceivingFailed(error.error_code)),
        None => Ok(()),
    }
}

/// Waits for the first packet of a connection. None: asked to stop before.
fn accept(wire: &mut Wire) -> Result<Option<Connection>, Failure> {
    let mut config = configuration::server()?;
    loop {
        while let Some((datagram, from)) = wire.receive().map_err(socket_error)? {
            let first = Header::from_slice(datagram, quiche::MAX_CONN_ID_LEN).is_ok_and(|header| {
                header.ty == Type::Initial && quiche::version_is_supported(header.version)
            });
            if !first {
                continue;
            }
            // The kernel chooses the local address when the socket is tied to the peer.
            let mut datagram = datagram.to_vec();
            wire.connect(from)?;
            let to = wire.local_address()?;
            let mut connection =
                quiche::accept(&configuration::connection_id()?, None, to, from, &mut config)
                    .map_err(|error| Failure::failed(format!("cannot accept {from}"), error))?;
            let _ = connection.recv(&mut datagram, RecvInfo { from, to });
            return Ok(Some(connection));
        }
        if wire.wait(None, None).map_err(socket_error)? {
            return Ok(None);
        }
    }
}

/// Reads and forgets what has arrived: bytes, and whether they were the last.
fn discard(connection: &mut Connection) -> (u64, bool) {
    let mut bytes = 0;
    // The error `Done` says that there is no more for now.
    while let Ok((length, last)) = connection.stream_discard(STREAM, usize::MAX) {
        bytes += length as u64;
        if last {
            return (bytes, true);
        }
    }
    (bytes, false)
}

fn report(received: u64) -> Result<(), Failure> {
    statistics::print_line(&format!("{{\"received_bytes\": {received}}}"))
        .map_err(|error| Failure::failed("standard output", error))
}

fn socket_error(error: Error) -> Failure {
    Failure::failed("socket", error)
}
