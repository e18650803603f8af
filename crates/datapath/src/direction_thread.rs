//! One direction of the emulated path under the real clock: real packets in, the path's decisions, real packets out.
//!
//! Departures are computed on the path's own clock, so a late wake-up delays the packets that were due but never lowers a
//! rate; how late each one was is recorded.

use crate::Error;
use crate::buffers::Buffers;
use crate::inspect::{Arrived, Inspector, Reading, set_ecn};
use crate::joint_write::{JointWrite, MOST_JOINED};
use crate::lateness::Lateness;
use crate::pure_acks::supersedes;
use crate::superpacket::{HEADER_BYTES, MOST_BYTES, Superpacket};
use crate::tun::Tun;
use endpoint::{Clock, EventLog, Meter, Pace, Scheduled, Session, Urgency, Waiter};
use nix::sys::epoll::EpollFlags;
use path::{DelayLine, Direction, LinkTally, Packet, Reassembler};
use record::Event;
use runs::{Keeper, Watcher};
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use units::{Span, Time};

/// Packets read from one device before another gets its turn.
const BATCH: usize = 64;
/// How long a busy direction sleeps. With half of it the two directions take so much of two processors that the ends of
/// flows starve; with more, packets are later for nothing (`bench/emulation.py`).
const QUANTUM: Span = Span::from_us(30);
/// Packets of one write leave the path within this time. A punctual thread that sleeps for [`QUANTUM`] finds as many: what
/// is joined does not depend on lateness.
const JOINED_WITHIN: Span = QUANTUM;
/// Longest time without a look at the stop flag.
const PATIENCE: Span = Span::from_ms(50);
/// Time between two updates of the links that others see.
const SHOW_INTERVAL: Span = Span::from_ms(100);

/// What a direction of the path looks like from outside while it works.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    /// Of each port.
    pub(crate) meters: Vec<Meter>,
    pub(crate) dropped_packets: AtomicU64,
    /// Packets waiting in the queues of links when last looked at.
    pub(crate) queued_packets: AtomicU64,
    /// Set when more packets are inside than there is memory for: the direction has ended.
    pub(crate) is_full: AtomicBool,
    /// The links as they were not long ago.
    links: Mutex<Vec<LinkTally>>,
}

impl Gauges {
    /// Of a direction with so many ports.
    pub(crate) fn of(ports: usize) -> Self {
        Self { meters: (0..ports).map(|_| Meter::default()).collect(), ..Self::default() }
    }

    /// Shows whatever `links` puts into the empty list, unless somebody is looking at this moment.
    pub(crate) fn show(&self, links: impl FnOnce(&mut Vec<LinkTally>)) {
        if let Ok(mut shown) = self.links.try_lock() {
            shown.clear();
            links(&mut shown);
        }
    }

    /// The links when they were shown last.
    pub(crate) fn shown_links(&self) -> Vec<LinkTally> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Refuses to go on where a direction has ended.
    ///
    /// # Errors
    /// One has; its thread tells why.
    pub(crate) fn require_room(directions: &[Arc<Self>; 2]) -> Result<(), Error> {
        if directions.iter().any(|direction| direction.is_full.load(Ordering::Relaxed)) {
            return Err(Error::Full);
        }
        Ok(())
    }
}

/// One flow's devices, as seen from one direction.
#[derive(Debug)]
pub(crate) struct Port {
    /// Where the flow's packets of this direction come from.
    pub(crate) from: Arc<Tun>,
    /// Where they go.
    pub(crate) to: Arc<Tun>,
    /// How they are to be read.
    pub(crate) reading: Reading,
    /// Most ranges of the ACKs, if they are of our transport and devices on the way can read them.
    pub(crate) readable_ranges: Option<usize>,
    /// Delay of this flow alone.
    pub(crate) extra: Span,
}

/// What does not change while a direction works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectionConfig {
    /// 0 for data, 1 for ACKs: names the opportunities.
    pub(crate) number: usize,
    pub(crate) clock: Clock,
    pub(crate) overhead_bytes: u32,
    /// Largest IP packet.
    pub(crate) mtu_bytes: u32,
    /// Most packets inside at a time.
    pub(crate) most_packets: usize,
    /// Log entering and leaving queues as well.
    pub(crate) full_log: bool,
    /// Keep events and samples at all.
    pub(crate) log: bool,
    pub(crate) sample_interval: Span,
}

/// What a direction leaves behind.
#[derive(Debug)]
pub(crate) struct DirectionReport {
    pub(crate) direction: Direction,
    pub(crate) log: EventLog,
    /// How late departures were.
    pub(crate) lateness: Lateness,
    /// Counters of the links at each sampling time.
    pub(crate) samples: Vec<(Time, Vec<LinkTally>)>,
    /// Packets that the receiving device refused, and why the first one was.
    pub(crate) refused: u64,
    pub(crate) refusal: Option<String>,
    /// Whether the scheduler preferred the direction to ordinary programs.
    pub(crate) real_time: bool,
}

struct Inlet {
    from: Arc<Tun>,
    to: Arc<Tun>,
    inspector: Inspector,
    arrived: Arrived,
    extra: DelayLine,
    /// Data, or the return direction of a flow.
    is_data: bool,
    readable_ranges: Option<usize>,
}

/// One direction at work.
pub(crate) struct DirectionThread {
    config: DirectionConfig,
    direction: Direction,
    waiter: Waiter,
    inlets: Vec<Inlet>,
    /// Numbers of the inlets with a delay of their own.
    delayed: Vec<usize>,
    /// Memory for a read of a device.
    read: Box<[u8]>,
    buffers: Buffers,
    reassembler: Reassembler,
    log: EventLog,
    lateness: Lateness,
    next_sample: Time,
    samples: Vec<(Time, Vec<LinkTally>)>,
    next_shown: Time,
    refused: u64,
    refusal: Option<String>,
    gauges: Arc<Gauges>,
    /// Arrivals and departures.
    handled: u64,
    /// True if the thread takes packets a few at a time.
    is_busy: bool,
    /// Packets that have left the path, with their times, and are yet to be written.
    leaving: Vec<(Time, Packet)>,
}

/// What packets inside the path are, and where what happens to them is noted.
struct InPath<'a> {
    buffers: &'a mut Buffers,
    log: &'a mut EventLog,
    inlets: &'a [Inlet],
    gauges: &'a Gauges,
    /// Whether events are kept at all.
    keeps_log: bool,
}

impl Keeper for InPath<'_> {
    fn is_data(&self, packet: &Packet) -> bool {
        self.inlets[packet.flow as usize].is_data
    }

    fn is_superseded(&self, older: &Packet, newer: &Packet) -> bool {
        let ranges = self.inlets[older.flow as usize].readable_ranges;
        supersedes(self.buffers.peek(newer.token), self.buffers.peek(older.token), ranges)
    }

    fn share(&mut self, packet: &Packet) {
        self.buffers.share(packet.token);
    }

    fn release(&mut self, packet: &Packet) {
        self.gauges.dropped_packets.fetch_add(1, Ordering::Relaxed);
        self.buffers.release(packet.token);
    }

    fn packet(&mut self, now: Time, event: Event, packet: &Packet) {
        if self.keeps_log {
            self.log.event(now, event, packet.flow, packet.number, packet.size_bytes);
        }
    }

    fn opportunity(&mut self, now: Time, event: Event, bytes: u32) {
        if self.keeps_log {
            self.log.event(now, event, 0, 0, bytes);
        }
    }

    fn wants_opportunities(&self) -> bool {
        self.keeps_log
    }
}

impl DirectionThread {
    /// A direction with the given ports, flow by flow.
    pub(crate) fn new(
        config: DirectionConfig,
        direction: Direction,
        ports: Vec<Port>,
        gauges: Arc<Gauges>,
    ) -> io::Result<Self> {
        let waiter = Waiter::new(config.clock)?;
        let inlets: Vec<Inlet> = ports
            .into_iter()
            .map(|port| Inlet {
                from: port.from,
                to: port.to,
                inspector: Inspector::new(port.reading),
                arrived: Arrived::default(),
                extra: DelayLine::new(port.extra),
                is_data: port.reading != Reading::Acks,
                readable_ranges: port.readable_ranges,
            })
            .collect();
        let delayed = (0..inlets.len()).filter(|number| !inlets[*number].extra.is_zero()).collect();
        for (number, inlet) in inlets.iter().enumerate() {
            waiter.watch(&*inlet.from, number as u64, EpollFlags::EPOLLIN)?;
        }
        Ok(Self {
            read: vec![0; MOST_BYTES].into_boxed_slice(),
            buffers: Buffers::new(config.mtu_bytes, config.most_packets),
            next_sample: Time::ZERO + config.sample_interval,
            config,
            direction,
            waiter,
            inlets,
            delayed,
            reassembler: Reassembler::default(),
            log: EventLog::default(),
            lateness: Lateness::default(),
            samples: Vec::new(),
            next_shown: Time::ZERO,
            refused: 0,
            refusal: None,
            gauges,
            handled: 0,
            is_busy: false,
            leaving: Vec::new(),
        })
    }

    /// Works until the session is over.
    ///
    /// # Errors
    /// A device that cannot be read; more packets inside than there is memory for.
    pub(crate) fn run(mut self, session: Session<'_>) -> io::Result<DirectionReport> {
        let end = session.end;
        let mut readable = vec![false; self.inlets.len()];
        let punctual = Scheduled::punctual(Urgency::Path);
        let direction = ["data", "ack"][self.config.number];
        let (thread, real_time) = (nix::unistd::gettid().as_raw(), punctual.is_granted());
        tracing::info!(direction, flows = self.inlets.len(), thread, real_time, "direction begins");
        let mut pace = Pace::new(self.config.clock.now());
        loop {
            let now = self.config.clock.now();
            self.release(now.min(end));
            self.write();
            if session.is_over(now) {
                break;
            }
            self.sample(now);
            self.show(now);
            let until = self.next_due().min(self.next_sample).min(now + PATIENCE).min(end);
            let backlog = readable.contains(&true);
            let ready = |number: u64, _| readable[number as usize] = true;
            self.is_busy = pace.is_busy(now, self.handled);
            if self.is_busy {
                self.waiter.sleep(if backlog { now } else { now + QUANTUM }, ready)?;
            } else {
                self.waiter.wait(until, ready)?;
            }
            for (number, readable) in readable.iter_mut().enumerate().filter(|(_, readable)| **readable) {
                *readable = self.read(number, end)?;
            }
        }
        let finished = self.config.clock.now().min(end);
        self.sample(finished);
        self.direction.settle(finished);
        let (name, handled) = (direction, self.handled);
        let Self { direction, log, lateness, samples, refused, refusal, .. } = self;
        tracing::info!(direction = name, handled, refused, "direction is over");
        if let Some(why) = &refusal {
            tracing::warn!(direction = name, refused, %why, "the receiving device refused packets");
        }
        let real_time = punctual.is_granted();
        Ok(DirectionReport { direction, log, lateness, samples, refused, refusal, real_time })
    }

    /// Reads what flow `number` has sent; whether there may be more.
    fn read(&mut self, number: usize, end: Time) -> io::Result<bool> {
        let mut read = std::mem::take(&mut self.read);
        let more = self.read_into(&mut read, number, end);
        self.read = read;
        more
    }

    fn read_into(&mut self, read: &mut [u8], number: usize, end: Time) -> io::Result<bool> {
        let mut packets = 0;
        while packets < BATCH {
            let Some(length) = self.inlets[number].from.receive(read)? else { return Ok(false) };
            let now = self.config.clock.now();
            if now >= end {
                return Ok(false);
            }
            let Some(superpacket) = Superpacket::parse(&read[..length]) else {
                return Err(unreadable(length));
            };
            for index in 0..superpacket.count() {
                let Some((token, memory)) = self.buffers.take() else { return Err(self.full()) };
                let Some(length) = superpacket.write(index, memory) else { return Err(unreadable(length)) };
                self.arrive(now, number, token, length);
            }
            packets += superpacket.count();
        }
        Ok(true)
    }

    #[cold]
    fn full(&self) -> io::Error {
        self.gauges.is_full.store(true, Ordering::Relaxed);
        let DirectionConfig { most_packets, mtu_bytes, .. } = self.config;
        let seconds = (self.config.clock.now() - Time::ZERO).as_secs_f64();
        io::Error::other(format!(
            "{most_packets} packets are on the path at {seconds:.3} s, for each of which {mtu_bytes} bytes are kept: a run \
             with a larger `most_packets` may have more, and a link with a shorter queue has fewer"
        ))
    }

    #[inline]
    fn arrive(&mut self, now: Time, number: usize, token: u32, length: usize) {
        self.release(now);
        self.handled += 1;
        let inlet = &mut self.inlets[number];
        let sighting = inlet.inspector.inspect(self.buffers.fill(token, length));
        self.buffers.tell(token, sighting.content);
        let size_bytes = (length - HEADER_BYTES) as u32 + self.config.overhead_bytes;
        let mut packet = Packet::new(number as u32, sighting.number, size_bytes, token, now);
        (packet.fragment, packet.fragments) = (sighting.fragment, u16::from(sighting.fragments));
        packet.ecn = sighting.ecn;
        self.gauges.meters[number].sent(size_bytes);
        if self.config.log {
            let event = if inlet.is_data { Event::Send } else { Event::AckSend };
            self.log.event(now, event, packet.flow, packet.number, size_bytes);
            if inlet.is_data {
                let first = sighting.fragment == 0;
                self.log.detail(now, if first { sighting.content.payload_bytes() } else { 0 });
            }
        }
        let (direction, mut tap) = self.watched();
        direction.arrive(now, packet, &mut tap);
        self.hand_over(now);
        if !self.is_busy {
            self.write();
        }
    }

    /// The path, and who is told what happens inside.
    #[inline]
    fn watched(&mut self) -> (&mut Direction, Watcher<InPath<'_>>) {
        let Self { direction, buffers, log, inlets, config, gauges, .. } = self;
        let in_path = InPath { buffers, log, inlets, gauges, keeps_log: config.log };
        (direction, Watcher::new(in_path, config.number, config.full_log))
    }

    /// When something has to leave.
    fn next_due(&self) -> Time {
        let extra = self.delayed.iter().map(|number| self.inlets[*number].extra.next());
        extra.fold(self.next_of_path(), Time::min)
    }

    fn next_of_path(&self) -> Time {
        if self.config.full_log { self.direction.next_event() } else { self.direction.next_departure() }
    }

    /// Sends on whatever is due at or before `now`, each at its own time as far as the path is concerned.
    #[inline]
    fn release(&mut self, now: Time) {
        loop {
            let due = self.next_of_path();
            if due > now {
                break;
            }
            let (direction, mut tap) = self.watched();
            direction.advance(due, &mut tap);
            self.hand_over(due);
        }
        for position in 0..self.delayed.len() {
            let number = self.delayed[position];
            while self.inlets[number].extra.next() <= now {
                let due = self.inlets[number].extra.next();
                if let Some(packet) = self.inlets[number].extra.pop(due) {
                    self.depart(due, packet);
                }
            }
        }
    }

    /// Packets that have left the shared path at `due` go out, or into the delay of their flow.
    #[inline]
    fn hand_over(&mut self, due: Time) {
        while let Some(packet) = self.direction.pop() {
            self.lateness.record_passage(due - packet.entered);
            let extra = &mut self.inlets[packet.flow as usize].extra;
            if extra.is_zero() {
                self.depart(due, packet);
            } else {
                extra.push(due, packet);
            }
        }
    }

    #[inline]
    fn depart(&mut self, due: Time, packet: Packet) {
        self.handled += 1;
        self.leaving.push((due, packet));
    }

    /// Writes the packets that have left the path. A busy thread writes several of a flow at once where it can, because a write
    /// takes the kernel through its whole stack: 10 % less processor time per packet of the kernel's TCP at 1 Gbit/s, 29 % at
    /// 3 Gbit/s.
    fn write(&mut self) {
        let mut leaving = std::mem::take(&mut self.leaving);
        if self.inlets.len() > 1 {
            leaving.sort_by_key(|(_, packet)| packet.flow);
        }
        let mut rest = &leaving[..];
        while let Some((first, _)) = rest.split_first() {
            let count = self.write_first(first, rest);
            rest = &rest[count..];
        }
        leaving.clear();
        self.leaving = leaving;
    }

    /// Writes the first packet, and those behind it that belong to the same write. Returns the number of packets.
    fn write_first(&mut self, (due, first): &(Time, Packet), packets: &[(Time, Packet)]) -> usize {
        set_ecn(self.buffers.packet(first.token), first.ecn);
        let may_join = self.is_busy && packets.len() > 1;
        let mut write = may_join.then(|| JointWrite::begin(self.buffers.framed(first.token))).flatten();
        let mut count = 1;
        if let Some(write) = &mut write {
            for (later, packet) in &packets[1..] {
                let is_copy = packet.token == first.token;
                if is_copy || packet.flow != first.flow || *later - *due >= JOINED_WITHIN {
                    break;
                }
                set_ecn(self.buffers.packet(packet.token), packet.ecn);
                if !write.add(self.buffers.framed(packet.token)) {
                    break;
                }
                count += 1;
            }
        }
        let now = self.config.clock.now();
        let to = &self.inlets[first.flow as usize].to;
        let sent = match &mut write {
            Some(write) if count > 1 => {
                let mut parts = [IoSlice::new(&[]); 1 + MOST_JOINED];
                for (part, (_, packet)) in parts[1..].iter_mut().zip(&packets[..count]) {
                    *part = IoSlice::new(write.data(self.buffers.framed(packet.token)));
                }
                parts[0] = IoSlice::new(write.headers());
                to.send_parts(&parts[..=count])
            }
            _ => to.send(self.buffers.framed(first.token)),
        };
        if let Err(error) = sent {
            self.refused += count as u64;
            self.refusal.get_or_insert_with(|| error.to_string());
        }
        packets[..count].iter().for_each(|(due, packet)| self.departed(*due, now, packet));
        count
    }

    /// Records that a packet which was due at `due` left at `now`.
    #[inline]
    fn departed(&mut self, due: Time, now: Time, packet: &Packet) {
        let inlet = &mut self.inlets[packet.flow as usize];
        self.lateness.record(now - due);
        let meter = &self.gauges.meters[packet.flow as usize];
        meter.delivered(packet.size_bytes);
        meter.delayed(now - packet.entered);
        if self.config.log {
            let event = if inlet.is_data { Event::Deliver } else { Event::AckDeliver };
            // Every fragment has a token of its own; what counts is that their datagram is complete.
            let complete = packet.fragments == 1 || self.reassembler.accept(&Packet { token: 0, ..*packet });
            let counts = inlet.is_data && complete;
            let data_bytes = if counts { inlet.arrived.take(self.buffers.content(packet.token)) } else { 0 };
            self.log.event(now, event, packet.flow, packet.number, packet.size_bytes);
            self.log.detail(packet.entered, data_bytes);
        }
        self.buffers.release(packet.token);
    }

    /// Shows the links to who watches, if that is due.
    #[inline]
    fn show(&mut self, now: Time) {
        if now >= self.next_shown {
            self.next_shown = now + SHOW_INTERVAL;
            self.direction.settle(now);
            self.gauges.show(|links| links.extend(self.direction.links().cloned()));
        }
    }

    fn sample(&mut self, now: Time) {
        while self.next_sample <= now {
            let at = self.next_sample;
            self.next_sample += self.config.sample_interval;
            self.direction.settle(at);
            let links: Vec<LinkTally> = self.direction.links().cloned().collect();
            let queued = links.iter().map(|link| link.queue_packets).sum::<u64>();
            self.gauges.queued_packets.store(queued, Ordering::Relaxed);
            if self.config.log {
                self.samples.push((at, links));
            }
        }
    }
}

#[cold]
fn unreadable(length: usize) -> io::Error {
    io::Error::other(format!("a device handed over {length} bytes that are no packet"))
}
