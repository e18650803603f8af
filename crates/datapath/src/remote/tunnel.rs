//! A tunnel for the packets of a flow: what its end sends leaves in datagrams, what comes in datagrams reaches its end, and
//! both are logged.

use crate::inspect::{Arrived, Content, Inspector, Reading, Sighting, is_whole, set_ecn};
use crate::tun::Tun;
use endpoint::{
    BATCH, Datagram, Delays, EventLog, Guard, Guarded, Inbox, Kind, MAX_DATAGRAM_BYTES, Meter, Outbox, Pace,
    Punctuality, SILENCE, Scheduled, Session, Urgency, Waiter, monotonic_ns, set_type_of_service,
};
use endpoint::{ENVELOPE_BYTES, IP_UDP_BYTES, Opened, close_envelope, open_envelope, word};
use nix::sys::epoll::EpollFlags;
use path::Ecn;
use record::Event;
use serde::{Deserialize, Serialize};
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Span, Time};

/// How long a busy tunnel sleeps, as a network card collects packets.
const QUANTUM: Span = Span::from_us(50);
/// Longest time without a look at the stop flag.
const PATIENCE: Span = Span::from_ms(50);
/// Bytes of Pantheon's packet number (StanfordSNR/pantheon-tunnel@f866d3f, `src/packet/tunnelshell.cc`).
const UID_BYTES: usize = 8;
/// ECN codepoints of the two lowest bits of a type of service.
const ECN_BITS: u8 = 0b11;
const CE: u8 = 0b11;

/// What is around a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encapsulation {
    /// Number, time stamp and tag.
    Sealed,
    /// Number alone, nothing authentic: as Pantheon's tunnel does it.
    Pantheon,
}

impl Encapsulation {
    /// Bytes that it adds to a packet, headers of IP and UDP among them.
    pub(super) const fn overhead_bytes(self) -> u32 {
        let own = match self {
            Self::Sealed => ENVELOPE_BYTES,
            Self::Pantheon => UID_BYTES,
        };
        IP_UDP_BYTES + own as u32
    }
}

/// What a tunnel of one side leaves behind.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct TunnelReport {
    /// What left this side, and what arrived at it.
    pub(super) logs: [EventLog; 2],
    pub(super) guarded: Guarded,
    /// Packets that the device of the end refused.
    pub(super) refused: u64,
    /// How late it took datagrams.
    pub(super) punctuality: Punctuality,
}

/// A tunnel's side.
#[derive(Debug)]
pub(super) struct Tunnel {
    pub(super) socket: UdpSocket,
    pub(super) guard: Guard,
    pub(super) tun: Arc<Tun>,
    pub(super) encapsulation: Encapsulation,
    /// Number of the flow, from 0.
    pub(super) flow: u32,
    /// How what leaves here and what arrives is to be read.
    pub(super) outgoing: Reading,
    pub(super) incoming: Reading,
    /// Counts bytes, with those of others.
    pub(super) sent_bytes: Arc<AtomicU64>,
    /// Counts what the flow sends and receives.
    pub(super) meter: Arc<Meter>,
}

/// A tunnel at work.
struct Worker {
    tunnel: Tunnel,
    session_clock: endpoint::Clock,
    inspectors: [Inspector; 2],
    arrived: Arrived,
    report: TunnelReport,
    outbox: Outbox,
    packet: Vec<u8>,
    /// Packets that left and arrived.
    left: u64,
    came: u64,
    tos: u8,
    /// Length of the packet that waits until those before it, of another codepoint, have been sent.
    held: Option<usize>,
    last_sent: Time,
    delays: Delays,
}

impl Tunnel {
    /// Works until the session is over.
    ///
    /// # Errors
    /// What device or socket refused.
    pub(super) fn run(self, session: Session<'_>) -> io::Result<TunnelReport> {
        let _punctual = Scheduled::punctual(Urgency::Path);
        let worker = Worker {
            session_clock: session.clock,
            inspectors: [Inspector::new(self.outgoing), Inspector::new(self.incoming)],
            arrived: Arrived::default(),
            report: TunnelReport::default(),
            outbox: Outbox::default(),
            packet: vec![0; 1 << 16],
            left: 0,
            came: 0,
            tos: 0,
            held: None,
            last_sent: session.clock.now(),
            delays: Delays::default(),
            tunnel: self,
        };
        worker.run(session)
    }
}

/// What the descriptors are called.
const DEVICE: u64 = 0;
const SOCKET: u64 = 1;

impl Worker {
    fn run(mut self, session: Session<'_>) -> io::Result<TunnelReport> {
        let mut waiter = Waiter::new(session.clock)?;
        let tun = Arc::clone(&self.tunnel.tun);
        waiter.watch(&*tun, DEVICE, EpollFlags::EPOLLIN)?;
        waiter.watch(&self.tunnel.socket, SOCKET, EpollFlags::EPOLLIN)?;
        let mut inbox = Inbox::new(MAX_DATAGRAM_BYTES);
        let mut pace = Pace::new(session.clock.now());
        let mut is_blocked = false;
        // Of the device and of the socket.
        let mut readable = [false; 2];
        loop {
            let now = session.clock.now();
            if session.is_over(now) {
                break;
            }
            let more = (readable[0] && !is_blocked) || readable[1];
            let mut ready = |number: u64, events: EpollFlags| {
                readable[number as usize] |= !(events & !EpollFlags::EPOLLOUT).is_empty();
            };
            if pace.is_busy(now, self.left + self.came) {
                waiter.sleep(if more { now } else { now + QUANTUM }, &mut ready)?;
            } else {
                waiter.wait(if more { now } else { session.end.min(now + PATIENCE) }, &mut ready)?;
            }
            if readable[1] {
                let count = inbox.receive(&self.tunnel.socket)?;
                readable[1] = count == BATCH;
                let now = session.clock.now();
                for datagram in inbox.datagrams(count) {
                    self.arrive(datagram, now.min(session.end));
                }
            }
            if readable[0] && !is_blocked {
                readable[0] = self.depart(&tun, session)?;
            }
            self.tend(session.clock.now());
            let was_blocked = std::mem::replace(&mut is_blocked, !self.flush()?);
            if is_blocked != was_blocked {
                let writable = if is_blocked { EpollFlags::EPOLLOUT } else { EpollFlags::empty() };
                waiter.change(&self.tunnel.socket, SOCKET, EpollFlags::EPOLLIN | writable)?;
            }
        }
        self.report.guarded = self.tunnel.guard.guarded();
        self.report.punctuality = self.delays.report();
        Ok(self.report)
    }

    fn flush(&mut self) -> io::Result<bool> {
        self.outbox.flush(&self.tunnel.socket, Some(self.tunnel.guard.peer()))
    }

    /// Takes what the end has sent, at most a batch; whether there may be more.
    fn depart(&mut self, tun: &Tun, session: Session<'_>) -> io::Result<bool> {
        while !self.outbox.is_full() {
            let held = self.held.take();
            let length = if held.is_some() { held } else { tun.receive(&mut self.packet)? };
            let Some(length) = length else { return Ok(false) };
            let now = session.clock.now();
            if now >= session.end {
                return Ok(false);
            }
            let tos = self.packet.get(1).copied().unwrap_or(0) & ECN_BITS;
            if tos != self.tos {
                // The mark of the packet is that of its datagram (RFC 6040, normal mode); those before keep theirs.
                if !self.flush()? {
                    self.held = Some(length);
                    return Ok(true);
                }
                set_type_of_service(&self.tunnel.socket, tos)?;
                self.tos = tos;
            }
            self.leave(now, length);
        }
        Ok(true)
    }

    #[inline]
    fn leave(&mut self, now: Time, length: usize) {
        let Self { tunnel, outbox, packet, report, inspectors: [outgoing, _], .. } = self;
        let id = self.left;
        self.left += 1;
        let packet = &packet[..length];
        let sighting = outgoing.inspect(packet);
        let number = number(tunnel.outgoing, &sighting, id);
        let size_bytes = length as u32 + tunnel.encapsulation.overhead_bytes();
        let is_data = tunnel.outgoing != Reading::Acks;
        let event = if is_data { Event::Send } else { Event::AckSend };
        report.logs[0].event(now, event, tunnel.flow, number, size_bytes);
        if is_data {
            tunnel.meter.sent(size_bytes);
            report.logs[0].detail(now, payload_bytes(&sighting, length));
        }
        self.last_sent = now;
        let length = match tunnel.encapsulation {
            Encapsulation::Sealed => outbox.push(|bytes| {
                close_envelope(&tunnel.guard, Kind::Packet, id, monotonic_ns(), packet, bytes);
            }),
            Encapsulation::Pantheon => outbox.push(|bytes| {
                bytes.extend_from_slice(&id.to_le_bytes());
                bytes.extend_from_slice(packet);
            }),
        };
        tunnel.sent_bytes.fetch_add(length as u64, Ordering::Relaxed);
    }

    #[inline]
    fn arrive(&mut self, mut datagram: Datagram<'_>, now: Time) {
        let at = datagram.arrived(self.session_clock, now);
        self.delays.record(at, now);
        let (marked, source) = (datagram.tos & ECN_BITS == CE, datagram.source);
        let guard = &mut self.tunnel.guard;
        if self.tunnel.encapsulation == Encapsulation::Pantheon && source == guard.peer() {
            if guard.take_greeting(&mut datagram) {
                return;
            }
            match datagram.bytes.split_at_mut_checked(UID_BYTES) {
                Some((uid, packet)) if is_whole(packet) => {
                    self.hand_over(at, word(uid, 0), packet, marked);
                }
                // Its beginning may be the peer's, but the size that counts is the one that arrived.
                _ => guard.count_forged(),
            }
            return;
        }
        if let Some(Opened { kind: Kind::Packet, number, body, .. }) = open_envelope(guard, &mut datagram) {
            self.hand_over(at, number, body, marked);
        }
    }

    fn hand_over(&mut self, at: Time, id: u64, packet: &mut [u8], marked: bool) {
        let Self { tunnel, report, inspectors: [_, incoming], arrived, .. } = self;
        self.came += 1;
        let sighting = incoming.inspect(packet);
        let number = number(tunnel.incoming, &sighting, id);
        let size_bytes = packet.len() as u32 + tunnel.encapsulation.overhead_bytes();
        let log = &mut report.logs[1];
        let is_data = tunnel.incoming != Reading::Acks;
        if is_data {
            tunnel.meter.delivered(size_bytes);
        }
        if marked && packet.get(1).is_some_and(|tos| tos & ECN_BITS != 0) {
            set_ecn(packet, Ecn::CE);
            let event = if is_data { Event::Mark } else { Event::AckMark };
            log.event(at, event, tunnel.flow, number, size_bytes);
        }
        let event = if is_data { Event::Deliver } else { Event::AckDeliver };
        log.event(at, event, tunnel.flow, number, size_bytes);
        let content = match sighting.content {
            Content::Opaque { .. } if is_data => {
                Content::Opaque { payload_bytes: payload_bytes(&sighting, packet.len()) }
            }
            content => content,
        };
        log.detail_of_other(if is_data { arrived.take(content) } else { 0 });
        if tunnel.tun.send(packet).is_err() {
            report.refused += 1;
        }
    }

    fn tend(&mut self, now: Time) {
        let Tunnel { guard, socket, .. } = &mut self.tunnel;
        if now >= self.last_sent + SILENCE {
            self.last_sent = now;
            guard.greet(socket);
        }
        guard.tend(socket);
    }
}

/// The number of a packet in the log: the sender's own where our transport made it, else that of the tunnel.
fn number(reading: Reading, sighting: &Sighting, id: u64) -> u64 {
    if matches!(reading, Reading::Ours { .. }) { sighting.number } else { id }
}

/// Payload of one packet, be it a fragment of a datagram or a whole one.
fn payload_bytes(sighting: &Sighting, length: usize) -> u32 {
    match sighting.content {
        Content::Opaque { .. } if sighting.fragments > 1 => {
            let headers = IP_UDP_BYTES - if sighting.fragment == 0 { 0 } else { 8 };
            (length as u32).saturating_sub(headers)
        }
        content => content.payload_bytes(),
    }
}
