//! Receiver of the built-in transport over UDP.

use crate::codec::{DATA_HEAD_BYTES, IP_UDP_BYTES, ack_datagram_bytes, decode_data, encode_ack};
use crate::guard::Wire;
use crate::journal::Journal;
use crate::pace::Pace;
use crate::punctuality::{Delays, Punctuality};
use crate::seal::Kind;
use crate::session::Session;
use crate::socket::{Inbox, Outbox, ecn_counts, prepare};
use crate::sys::BATCH;
use crate::timer::Waiter;
use crate::{QUANTUM, STOP_CHECK};
use nix::sys::epoll::EpollFlags;
use std::io;
use std::net::UdpSocket;
use transport::{AckFrame, Config, EcnMode, Receiver};
use units::Time;

/// Runs `receiver` on a socket until the session is over. A socket without a peer connects to the sender of the first
/// data packet. Returns the lateness of handling packets.
///
/// # Errors
/// Returns the error of a system call.
pub(crate) fn run_receiver(
    socket: &UdpSocket,
    wire: &mut Wire,
    receiver: &mut Receiver,
    config: &Config,
    session: Session<'_>,
    journal: &mut Journal,
) -> io::Result<Punctuality> {
    let Session { clock, end, board, .. } = session;
    prepare(socket, EcnMode::Off, config.ecn != EcnMode::Off)?;
    let mut waiter = Waiter::new(clock)?;
    waiter.watch(socket, 0, EpollFlags::EPOLLIN)?;
    let mut connected = wire.peer().is_some() || socket.peer_addr().is_ok();
    let (mut inbox, mut outbox) =
        (Inbox::new(wire.slot_bytes(DATA_HEAD_BYTES)), Outbox::joining(wire.is_plain()));
    let mut frame = AckFrame::default();
    let (mut readable, mut blocked) = (false, false);
    let (mut pace, mut handled) = (Pace::new(clock.now()), 0);
    let mut delays = Delays::default();
    // Time of the receiver's last event.
    let mut latest = Time::ZERO;
    while !session.is_stopped() {
        if readable && !connected {
            connected = connect_to_first(socket)?;
        }
        // While ACKs cannot leave, data waits in the socket.
        let count = if readable && connected && !blocked { inbox.receive(socket)? } else { 0 };
        let now = clock.now();
        if now >= end {
            break;
        }
        let mut acknowledge = |at: Time,
                               wire: &mut Wire,
                               receiver: &mut Receiver,
                               outbox: &mut Outbox,
                               journal: &mut Journal| {
            if receiver.poll_ack(at, &mut frame) {
                let size = ack_datagram_bytes(config, &frame);
                let encode = |bytes: &mut Vec<u8>| encode_ack(&frame, size, bytes);
                let payload_bytes = wire.push(outbox, now, Kind::Ack, frame.number, encode);
                journal.ack_left(now, &frame, payload_bytes);
            }
        };
        for mut datagram in inbox.datagrams(count) {
            if wire.take_greeting(&mut datagram) {
                continue;
            }
            let Some(data) = decode_data(wire.body(datagram.bytes)) else {
                wire.refuse();
                continue;
            };
            if wire.accepts(Kind::Data, data.number, &datagram) {
                let ecn = ecn_counts(datagram.tos);
                let arrived = datagram.arrived(clock, now);
                delays.record(arrived, now);
                // The receiver uses the kernel's receive timestamp. A late host is not a property of the path.
                latest = latest.max(arrived);
                if let Some(board) = board {
                    board.meter.delivered(datagram.length as u32 + IP_UDP_BYTES);
                }
                let new_bytes = receiver.on_data(latest, &data, ecn);
                journal.data_arrived(arrived, &data, datagram.length, ecn, new_bytes);
                acknowledge(latest, wire, receiver, &mut outbox, journal);
            }
        }
        if !blocked {
            acknowledge(now, wire, receiver, &mut outbox, journal);
            latest = now;
            wire.tend(now, socket);
        }
        let was_blocked = std::mem::replace(&mut blocked, !outbox.flush(socket, wire.peer())?);
        if blocked != was_blocked {
            let events = if blocked { EpollFlags::EPOLLOUT } else { EpollFlags::EPOLLIN };
            waiter.change(socket, 0, events)?;
        }
        let wake = if blocked { Time::NEVER } else { receiver.next_timer() };
        readable = false;
        let note = |_, events: EpollFlags| readable |= !(events & !EpollFlags::EPOLLOUT).is_empty();
        handled += count as u64;
        if pace.is_busy(now, handled + receiver.stats().acks) && !blocked {
            waiter.sleep(if count == BATCH { now } else { now + QUANTUM }, note)?;
        } else {
            waiter.wait(wake.min(end).min(now + STOP_CHECK), note)?;
        }
    }
    Ok(delays.report())
}

/// Connects to the source of the socket's first datagram if it is a data packet; otherwise discards the datagram.
/// Returns true if the socket is now connected.
fn connect_to_first(socket: &UdpSocket) -> io::Result<bool> {
    let mut head = [0; DATA_HEAD_BYTES];
    let (length, peer) = match socket.peek_from(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
        result => result?,
    };
    if decode_data(&head[..length]).is_some() {
        socket.connect(peer)?;
        return Ok(true);
    }
    let _garbage = socket.recv_from(&mut head)?;
    Ok(false)
}
