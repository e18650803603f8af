//! Sender of the built-in transport over UDP.

use crate::board::{Board, Poster};
use crate::codec::{IP_UDP_BYTES, decode_ack, encode_data};
use crate::guard::Wire;
use crate::journal::Journal;
use crate::pace::Pace;
use crate::punctuality::{Delays, Punctuality};
use crate::samples::Samples;
use crate::seal::Kind;
use crate::session::Session;
use crate::socket::{Inbox, Outbox, prepare, set_codepoint};
use crate::sys::BATCH;
use crate::timer::Waiter;
use crate::{QUANTUM, STOP_CHECK, TIMER_SLACK};
use nix::sys::epoll::EpollFlags;
use std::io;
use std::net::UdpSocket;
use transport::{AckFrame, Data, Sender};
use units::{Span, Time};

/// Maximum length of an ACK datagram, bytes: a thousand arrivals and feedback.
const ACK_SLOT_BYTES: usize = 16 << 10;

/// Minimum wait for a timer. A wake-up costs as much as sending several packets. At high rates paced packets leave in
/// small groups, within the usual lateness of a wake-up, and the timer slack keeps the rate.
const SHORTEST_WAIT: Span = Span::from_us(100);

/// Maximum time for a batch of ACKs without an interruption of the thread.
const PAUSE: Span = Span::from_ms(1);

/// Runs `sender` on a socket until the session is over. Returns the lateness of handling ACKs and timers.
///
/// # Errors
/// Returns the error of a system call.
pub(crate) fn run_sender(
    socket: &UdpSocket,
    wire: &mut Wire,
    sender: &mut Sender,
    session: Session<'_>,
    samples: &mut Samples,
    journal: &mut Journal,
) -> io::Result<Punctuality> {
    let Session { clock, end, board, .. } = session;
    let mut poster = Poster::to(board);
    let mut codepoint = sender.ecn_codepoint();
    prepare(socket, codepoint, false)?;
    sender.set_timer_slack(TIMER_SLACK);
    let mut waiter = Waiter::new(clock)?;
    waiter.watch(socket, 0, EpollFlags::EPOLLIN)?;
    let (mut inbox, mut outbox) = (Inbox::new(ACK_SLOT_BYTES), Outbox::joining(wire.is_plain()));
    let mut frame = AckFrame::default();
    let (mut readable, mut blocked) = (false, false);
    let (mut pace, mut handled) = (Pace::new(clock.now()), 0);
    let mut delays = Delays::default();
    // Time of the sender's last event. ACKs count from their kernel receive timestamps, in time order. Packets that
    // they release leave after all of them.
    let mut latest = Time::ZERO;
    while !session.is_stopped() {
        let count = if readable { inbox.receive(socket)? } else { 0 };
        let mut now = clock.now();
        if now >= end {
            break;
        }
        // Samples come before all actions of this round, which are no earlier than the sample's time.
        samples.take_due(now, |sink| journal.sample(sender, sink));
        poster.put_due(now, |sink| sender.fields(sink));
        for mut datagram in inbox.datagrams(count) {
            if wire.take_greeting(&mut datagram) {
                continue;
            }
            if decode_ack(wire.body(datagram.bytes), &mut frame).is_none() {
                wire.refuse();
            } else if wire.accepts(Kind::Ack, frame.number, &datagram) {
                let arrived = datagram.arrived(clock, now);
                delays.record(arrived, now);
                journal.ack_arrived(arrived, &frame, datagram.length);
                latest = latest.max(arrived);
                sender.on_ack(latest, &frame);
                let at = journal.time(session, now);
                journal.verdicts(at, sender);
                journal.state(at, "in_flight", sender);
            }
        }
        let since = std::mem::replace(&mut now, clock.now().min(end));
        if now - since > PAUSE {
            // The thread was interrupted. It handles the ACKs of the meantime before it acts at a later time.
            readable = true;
            continue;
        }
        latest = now;
        let due = sender.next_timer();
        if due <= now && due > Time::ZERO && !blocked {
            delays.record(due, now);
        }
        sender.on_timer(now);
        let at = journal.time(session, now);
        journal.verdicts(at, sender);
        if sender.ecn_codepoint() != codepoint {
            codepoint = sender.ecn_codepoint();
            set_codepoint(socket, codepoint)?;
        }
        // A full batch means that there may be more to send at once.
        let more = fill(&mut outbox, wire, sender, now, journal, board);
        journal.state(at, "", sender);
        wire.tend(now, socket);
        let was_blocked = std::mem::replace(&mut blocked, !outbox.flush(socket, wire.peer())?);
        if blocked != was_blocked {
            let writable = if blocked { EpollFlags::EPOLLOUT } else { EpollFlags::empty() };
            waiter.change(socket, 0, EpollFlags::EPOLLIN | writable)?;
        }
        let wake = match (blocked, more) {
            (true, _) => Time::NEVER,
            (false, true) => now,
            (false, false) => sender.next_timer().max(now + SHORTEST_WAIT),
        };
        readable = false;
        let note = |_, events: EpollFlags| readable |= !(events & !EpollFlags::EPOLLOUT).is_empty();
        handled += count as u64;
        if pace.is_busy(now, handled + sender.packets_sent()) && !blocked {
            // With more work the sleep ends at once and only checks the socket.
            waiter.sleep(if more || count == BATCH { now } else { now + QUANTUM }, note)?;
        } else {
            waiter.wait(wake.min(samples.next()).min(end).min(now + STOP_CHECK), note)?;
        }
    }
    let ended = clock.now().min(end);
    samples.take_due(ended, |sink| journal.sample(sender, sink));
    sender.integrate_to(ended);
    Ok(delays.report())
}

/// Takes the packets that may leave now from the sender, at most a full batch. Returns true if the batch is full.
fn fill(
    outbox: &mut Outbox,
    wire: &mut Wire,
    sender: &mut Sender,
    now: Time,
    journal: &mut Journal,
    board: Option<&Board>,
) -> bool {
    let mut data = Data::default();
    while !outbox.is_full() {
        if !sender.poll_transmit(now, &mut data) {
            return false;
        }
        let payload_bytes =
            wire.push(outbox, now, Kind::Data, data.number, |bytes| encode_data(&data, bytes));
        journal.data_left(&data, payload_bytes);
        if let Some(board) = board {
            board.meter.sent(payload_bytes as u32 + IP_UDP_BYTES);
        }
    }
    true
}
