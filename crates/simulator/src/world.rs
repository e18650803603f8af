//! Event loop: flows, the two directions of the path between them, and the clock.

use crate::Error;
use crate::budget::Budget;
use crate::content::{Contents, Handle};
use crate::prefetch::prefetch;
use crate::schedule::{Actor, BUSY, Schedule};
use crate::stream::Writes;
use congestion::Registry;
use measure::{FlowState, Read, Sample};
use path::{DelayLine, Direction, Ecn, Encapsulation, Packet, Reassembler};
use record::{Event, Record};
use runs::{
    Backend, CapacityMeter, Changes, Ends, Keeper, LogLevel, Observer, RunSpec, Watcher, flow_state,
    last_change, tell, verdicts,
};
use transport::{AckSize, ApplicationSpec, Data, EcnCounts, EcnMode, Receiver, Sender};
use units::{Span, Time};

/// Actors that are not flows: the two directions.
const DIRECTIONS: [Actor; BUSY] = [DATA as Actor, ACK as Actor];
const DATA: usize = 0;
const ACK: usize = 1;

/// Number of actors per flow: its sender, its receiver, its additional delay.
const ACTORS_PER_FLOW: usize = 3;

/// Number of flows whose state does not fit the cache of a CPU core.
const CROWD: usize = 64;

/// Number of events between two checks of the stop request.
const STOP_CHECK_EVENTS: u64 = 1 << 14;

/// One flow: both ends, and the flow's own delay in addition to the shared path.
#[derive(Debug)]
struct Flow {
    sender: Sender,
    receiver: Receiver,
    /// Direction of the flow's data.
    direction: usize,
    ack_size: AckSize,
    /// Maximum ranges of an ACK, if devices on the path can read it.
    readable_ranges: Option<usize>,
    /// Additional delay for data and ACKs.
    extra: DelayLine,
    /// Written but unread data of a reliable stream. `None` for other flows: unreliable ones, and those of an encoder,
    /// whose frames are read at arrival and sent again only while they are young. Their data count as read at arrival,
    /// and as written at departure.
    writes: Option<Writes>,
    /// State of the sender as last reported, in full logs.
    changes: Changes,
    /// True if the driver knows that a decision is due.
    is_held: bool,
}

impl Flow {
    fn build(index: usize, spec: &RunSpec, registry: &Registry) -> Result<Self, Error> {
        let (flow, Ends { config, sender, receiver }) = (&spec.flows[index], spec.ends(index, registry)?);
        let is_encoder = matches!(flow.application, ApplicationSpec::Encoder(_));
        Ok(Self {
            sender,
            receiver,
            direction: if flow.reverse { ACK } else { DATA },
            ack_size: AckSize::new(&config),
            readable_ranges: config.readable_ranges(),
            extra: DelayLine::new(spec.extra_delay(flow)),
            writes: (config.reliable && !is_encoder).then(Writes::default),
            changes: Changes::default(),
            is_held: false,
        })
    }
}

impl Flow {
    /// Returns the bytes that the application can read after `data` has arrived with `new_bytes` new bytes. The second
    /// value is the sum over these bytes of the time since they were written, byte ns.
    #[inline]
    fn read(&mut self, now: Time, data: &Data, new_bytes: u32) -> (u64, u128) {
        if let Some(writes) = &mut self.writes {
            return writes.read(now, self.receiver.in_order_bytes());
        }
        (u64::from(new_bytes), u128::from(new_bytes) * u128::from((now - data.sent_at).as_ns()))
    }
}

const fn codepoint(mode: EcnMode) -> Ecn {
    match mode {
        EcnMode::Off => Ecn::NOT_ECT,
        EcnMode::Ect0 => Ecn::ECT0,
        EcnMode::Ect1 => Ecn::ECT1,
    }
}

/// Complete state of one run.
#[derive(Debug)]
pub(crate) struct World {
    now: Time,
    end: Time,
    directions: [Direction; 2],
    encapsulation: Encapsulation,
    /// Future changes of the encapsulation with their times, the next one last.
    encapsulations: Vec<(Time, Encapsulation)>,
    /// Time of the next change.
    encapsulation_until: Time,
    reassembler: Reassembler,
    flows: Vec<Flow>,
    contents: Contents,
    schedule: Schedule,
    full_log: bool,
    sample_interval: Span,
    next_sample: Time,
    /// States of the senders at the end of the latest sample interval.
    states: Vec<Option<FlowState>>,
    capacities: [CapacityMeter; 2],
    events: u64,
    budget: Budget,
    /// Flow whose decision has just fallen due.
    due: Option<usize>,
    /// Number of flows whose decisions are due.
    waiting: usize,
    /// True if the delivery of arrived packets was interrupted.
    is_interrupted: bool,
    /// Flow with an additional delay whose delivery was interrupted.
    in_extra: Option<usize>,
}

/// Reason why a run has paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A decision of the agent of this flow (from 0) fell due; others may fall due in the same instant.
    Due(usize),
    /// Decisions are due, and nothing else happens in this instant.
    Waiting,
    /// The slice is over, but the run is not.
    Paused,
    /// The run is over.
    Finished,
}

/// Limits of one part of a run, for drivers with other work in between. The pauses do not change the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Time of the pause: the run pauses before the first event at this time or later.
    pub until: Time,
    /// Number of events after which the run pauses.
    pub events: u64,
}

impl Slice {
    /// Slice without limits: to the end of the run.
    pub const WHOLE: Self = Self { until: Time::NEVER, events: u64::MAX };
}

/// Contents of the packets inside the path, and the observer of their events.
struct InPath<'a, O: ?Sized> {
    contents: &'a mut Contents,
    observer: &'a mut O,
}

impl<O: Observer + ?Sized> Keeper for InPath<'_, O> {
    #[inline]
    fn is_data(&self, packet: &Packet) -> bool {
        matches!(Handle::of(packet.token), Handle::Data(_))
    }

    fn is_superseded(&self, older: &Packet, newer: &Packet) -> bool {
        let handles = (Handle::of(older.token), Handle::of(newer.token));
        let (Handle::Ack(old), Handle::Ack(new)) = handles else { return false };
        let is_whole = older.fragments == 1;
        is_whole && self.contents.is_superseded(older.flow, old, new)
    }

    fn share(&mut self, packet: &Packet) {
        self.contents.share(packet.token, 1);
    }

    #[inline]
    fn release(&mut self, packet: &Packet) {
        self.contents.release(packet.token);
    }

    #[inline]
    fn packet(&mut self, now: Time, event: Event, packet: &Packet) {
        self.observer.record(&Record {
            time_ns: now.as_ns(),
            flow: packet.flow + 1,
            event,
            seq: packet.number,
            size_bytes: packet.size_bytes,
            data_bytes: 0,
            one_way_delay_ns: 0,
        });
    }

    #[inline]
    fn opportunity(&mut self, now: Time, event: Event, bytes: u32) {
        self.observer.record(&Record {
            time_ns: now.as_ns(),
            flow: 0,
            event,
            seq: 0,
            size_bytes: bytes,
            data_bytes: 0,
            one_way_delay_ns: 0,
        });
    }

    fn wants_opportunities(&self) -> bool {
        true
    }
}

impl World {
    /// Builds a run.
    ///
    /// # Errors
    /// One line naming the fault in the specification.
    pub(crate) fn build(spec: &RunSpec, registry: &Registry) -> Result<Self, Error> {
        spec.validate(Backend::Simulation, registry)?;
        let flows = (0..spec.flows.len()).map(|index| Flow::build(index, spec, registry));
        let flows: Vec<Flow> = flows.collect::<Result<_, _>>()?;
        let mut schedule = Schedule::new(DIRECTIONS.len() + flows.len() * ACTORS_PER_FLOW);
        for (index, flow) in flows.iter().enumerate() {
            schedule.set(sender_actor(index), flow.sender.next_timer());
        }
        let mut directions = Direction::pair(&spec.path, spec.seed)?;
        if let Some(at) = last_change(spec) {
            for direction in &mut directions {
                direction.watch_from(at);
            }
        }
        for (index, flow) in spec.flows.iter().enumerate().filter(|(_, flow)| flow.is_confined()) {
            for (direction, subpath) in directions.iter_mut().zip(spec.subpaths(flow)?) {
                direction.confine(index as u32, subpath);
            }
        }
        let full_log = spec.log == LogLevel::Full;
        if !full_log {
            directions.iter_mut().for_each(Direction::work_ahead);
        }
        for direction in [DATA, ACK] {
            schedule.set(DIRECTIONS[direction], directions[direction].next_event());
        }
        let sample_interval = Span::from_secs_f64(spec.sample_interval_s);
        let mut encapsulations: Vec<_> = spec.path.later_encapsulations().collect();
        encapsulations.reverse();
        Ok(Self {
            now: Time::ZERO,
            end: Time::ZERO + spec.duration(),
            directions,
            encapsulation: spec.path.encapsulation(),
            encapsulation_until: encapsulations.last().map_or(Time::NEVER, |(at, _)| *at),
            encapsulations,
            reassembler: Reassembler::default(),
            states: Vec::with_capacity(flows.len()),
            capacities: [CapacityMeter::default(), CapacityMeter::default()],
            budget: Budget::new(spec.most_events_per_s, spec.most_packets, flows.len()),
            contents: Contents::new(flows.iter().map(|flow| flow.readable_ranges).collect()),
            flows,
            schedule,
            full_log,
            sample_interval,
            next_sample: Time::ZERO + sample_interval,
            events: 0,
            due: None,
            waiting: 0,
            is_interrupted: false,
            in_extra: None,
        })
    }

    /// Continues until a decision is due, or to the end of the slice or of the run. If called again while decisions are
    /// due, it handles the other events of this instant; flows with a due decision send nothing.
    ///
    /// # Errors
    /// The reason why the observer ended the run, or the limit of the specification that was exceeded.
    pub(crate) fn advance<O: Observer + ?Sized>(
        &mut self,
        slice: Slice,
        observer: &mut O,
    ) -> Result<Progress, Error> {
        let (stop, last_event) = (self.end.min(slice.until), self.events.saturating_add(slice.events));
        if self.due.is_none() && core::mem::take(&mut self.is_interrupted) {
            if let Some(index) = self.in_extra.take() {
                self.end_extra_delay(index, observer);
            }
            self.deliver_ready(observer);
        }
        loop {
            if self.due.is_some() {
                return Ok(self.report_due());
            }
            if self.budget.is_due()
                && !self.is_within_budget()
                && let Some(exceeded) = self.budget.exceeded()
            {
                return Err(exceeded);
            }
            let (time, actor) = self.schedule.first();
            if self.waiting > 0 && time > self.now {
                return Ok(Progress::Waiting);
            }
            if time >= stop || self.events >= last_event {
                if time >= self.end {
                    break;
                }
                return Ok(Progress::Paused);
            }
            while self.next_sample <= time {
                self.sample(observer);
            }
            // A timer that is overdue because the estimates behind it have changed fires now.
            self.now = self.now.max(time);
            self.events += 1;
            if self.events.is_multiple_of(STOP_CHECK_EVENTS)
                && let Some(reason) = observer.stop()
            {
                return Err(Error::Stopped(reason));
            }
            self.budget.spend(1);
            self.act(actor, observer);
            self.deliver_ready(observer);
        }
        while self.next_sample <= self.end {
            self.sample(observer);
        }
        self.finish(observer);
        Ok(Progress::Finished)
    }

    #[cold]
    fn report_due(&mut self) -> Progress {
        self.is_interrupted = true;
        self.due.take().map_or(Progress::Waiting, Progress::Due)
    }

    /// Decides for flow number `index`, which continues to send.
    pub(crate) fn decide<O: Observer + ?Sized>(&mut self, index: usize, action: &[f32], observer: &mut O) {
        let sender = &mut self.flows[index].sender;
        if sender.awaits_decision() {
            sender.decide(self.now, action);
            self.flows[index].is_held = false;
            self.waiting -= 1;
            // Packets that the flow sends may arrive at once.
            self.is_interrupted = true;
            self.poll_sender(index, observer);
            self.tell_state(index, "", observer);
        }
    }

    /// Returns true if flow number `index` has to wait for a decision: it then sends nothing.
    #[inline]
    fn is_held(&mut self, index: usize) -> bool {
        self.flows[index].sender.awaits_decision() && self.hold(index)
    }

    #[cold]
    fn hold(&mut self, index: usize) -> bool {
        let actor = sender_actor(index);
        if !core::mem::replace(&mut self.flows[index].is_held, true) {
            self.due = Some(index);
            self.waiting += 1;
        }
        self.schedule.set(actor, Time::NEVER);
        true
    }

    /// Returns true if the run is within its budget. Call it if the budget's check is due.
    #[cold]
    fn is_within_budget(&mut self) -> bool {
        if !self.budget.is_exceeded() {
            let inside: u64 = self.directions.iter().map(Direction::packets_inside).sum();
            let delayed: u64 = self.flows.iter().map(|flow| flow.extra.packets_inside()).sum();
            let held_packets: u64 = self.flows.iter().map(|flow| flow.sender.packets_held()).sum();
            self.budget.look(self.now, held_packets.max(inside + delayed));
        }
        !self.budget.is_exceeded()
    }

    fn finish<O: Observer + ?Sized>(&mut self, observer: &mut O) {
        self.now = self.end;
        for direction in [DATA, ACK] {
            self.advance_direction(direction, observer);
            self.directions[direction].settle(self.end);
        }
        for flow in &mut self.flows {
            flow.sender.integrate_to(self.end);
        }
    }

    /// Returns the current time.
    pub(crate) const fn now(&self) -> Time {
        self.now
    }

    /// Updates the counters of the links to now. Events due inside the path at this very time are not counted yet.
    pub(crate) fn settle<O: Observer + ?Sized>(&mut self, observer: &mut O) {
        if self.now > Time::ZERO {
            for direction in [DATA, ACK] {
                self.advance_to(direction, self.now - Span::from_ns(1), observer);
                self.directions[direction].settle(self.now);
            }
        }
    }

    /// Returns the sender of flow number `index`.
    pub(crate) fn sender(&mut self, index: usize) -> &mut Sender {
        &mut self.flows[index].sender
    }

    /// Returns the number of events so far.
    pub(crate) const fn events(&self) -> u64 {
        self.events
    }

    /// Returns both directions, data first.
    pub(crate) const fn directions(&self) -> &[Direction; 2] {
        &self.directions
    }

    /// Returns the senders, in flow order.
    pub(crate) fn senders(&self) -> impl Iterator<Item = &Sender> {
        self.flows.iter().map(|flow| &flow.sender)
    }

    /// Returns the number of contents still inside the path, for leak checks.
    #[cfg(test)]
    pub(crate) fn contents_in_use(&self) -> usize {
        self.contents.in_use()
    }

    /// Returns the number of packets inside the path, including additional delays.
    #[cfg(test)]
    pub(crate) fn packets_inside(&self) -> u64 {
        let shared: u64 = self.directions.iter().map(Direction::packets_inside).sum();
        shared + self.flows.iter().map(|flow| flow.extra.packets_inside()).sum::<u64>()
    }

    fn sample<O: Observer + ?Sized>(&mut self, observer: &mut O) {
        let at = self.next_sample;
        self.next_sample += self.sample_interval;
        // Inner events due before `at` have no events of their own in this loop; packets still leave at their own
        // times.
        for direction in [DATA, ACK] {
            self.advance_to(direction, at - Span::from_ns(1), observer);
            self.directions[direction].settle(at);
        }
        if observer.wants_values() {
            self.tell_values(at, observer);
        }
        self.states.clear();
        self.states.extend(self.flows.iter().map(|flow| Some(flow_state(&flow.sender))));
        let capacity_bits =
            [DATA, ACK].map(|direction| self.capacities[direction].take(self.directions[direction].links()));
        observer.sample(&Sample { at, flows: &self.states, capacity_bits });
    }

    fn tell_values<O: Observer + ?Sized>(&self, at: Time, observer: &mut O) {
        let active = self.flows.iter().enumerate().filter(|(_, flow)| flow.sender.is_active(at));
        for (index, flow) in active {
            let number = index as u32 + 1;
            tell::flow_fields(observer, at, number, |sink| {
                if self.full_log { flow.sender.all_fields(sink) } else { flow.sender.fields(sink) }
            });
        }
        for (direction, name) in self.directions.iter().zip(["data", "ack"]) {
            direction.links().for_each(|link| tell::link_fields(observer, at, name, link));
        }
    }

    #[inline]
    fn act<O: Observer + ?Sized>(&mut self, actor: Actor, observer: &mut O) {
        if actor < DIRECTIONS.len() as Actor {
            self.advance_direction(actor as usize, observer);
            return;
        }
        let index = (actor as usize - DIRECTIONS.len()) / ACTORS_PER_FLOW;
        if actor == sender_actor(index) {
            self.flows[index].sender.on_timer(self.now);
            self.tell_verdicts(index, observer);
            self.poll_sender(index, observer);
            self.tell_state(index, "", observer);
        } else if actor == receiver_actor(index) {
            self.poll_receiver(index, observer);
        } else {
            self.end_extra_delay(index, observer);
        }
    }

    #[inline]
    fn advance_direction<O: Observer + ?Sized>(&mut self, direction: usize, observer: &mut O) {
        self.advance_to(direction, self.now, observer);
    }

    fn advance_to<O: Observer + ?Sized>(&mut self, direction: usize, now: Time, observer: &mut O) {
        let mut tap =
            Watcher::new(InPath { contents: &mut self.contents, observer }, direction, self.full_log);
        self.directions[direction].advance(now, &mut tap);
        self.budget.spend(self.directions[direction].take_steps());
        self.plan(direction);
        self.prepare(direction);
    }

    /// Prefetches the memory that the next leaving packet will need: its content, last touched when it entered the
    /// path, and, with many flows, the state of its flow.
    #[inline]
    fn prepare(&self, direction: usize) {
        let Some(packet) = self.directions[direction].soon_to_leave() else { return };
        self.contents.prefetch(packet.token);
        if self.flows.len() < CROWD {
            return;
        }
        let flow = &self.flows[packet.flow as usize];
        match Handle::of(packet.token) {
            Handle::Data(_) => prefetch(&flow.receiver),
            Handle::Ack(_) => prefetch(&flow.sender),
        }
    }

    /// Plans the next call of a direction.
    #[inline]
    fn plan(&mut self, direction: usize) {
        let path = &self.directions[direction];
        let next = if self.full_log { path.next_event() } else { path.next_departure() };
        self.schedule.set(DIRECTIONS[direction], next);
    }

    /// Delivers packets that have left the two directions, until no more leave at this moment.
    #[inline]
    fn deliver_ready<O: Observer + ?Sized>(&mut self, observer: &mut O) {
        loop {
            // If nothing takes time, packets leave without end.
            if self.due.is_some() || (self.budget.is_due() && !self.is_within_budget()) {
                return;
            }
            let direction = if self.directions[DATA].is_ready() { DATA } else { ACK };
            let Some(packet) = self.directions[direction].pop() else { return };
            self.budget.spend(1);
            let index = packet.flow as usize;
            if self.flows[index].extra.is_zero() {
                self.arrive_at_end(&packet, observer);
            } else {
                self.flows[index].extra.push(self.now, packet);
                self.schedule.set(extra_actor(index), self.flows[index].extra.next());
            }
        }
    }

    fn end_extra_delay<O: Observer + ?Sized>(&mut self, index: usize, observer: &mut O) {
        while let Some(packet) = self.flows[index].extra.pop(self.now) {
            self.arrive_at_end(&packet, observer);
            if self.due.is_some() {
                self.in_extra = Some(index);
                break;
            }
        }
        self.schedule.set(extra_actor(index), self.flows[index].extra.next());
    }

    /// Handles a packet that has left the path: passes its contents to the flow's receiver or sender.
    #[inline]
    fn arrive_at_end<O: Observer + ?Sized>(&mut self, packet: &Packet, observer: &mut O) {
        let index = packet.flow as usize;
        let complete = packet.fragments == 1 || self.reassembler.accept(packet);
        let flow = &mut self.flows[index];
        let handle = Handle::of(packet.token);
        let mut read = Read::default();
        let (event, data_bytes) = match handle {
            Handle::Data(slot) if complete => {
                let ecn_counts = EcnCounts {
                    ect0: u64::from(packet.ecn == Ecn::ECT0),
                    ect1: u64::from(packet.ecn == Ecn::ECT1),
                    ce: u64::from(packet.ecn == Ecn::CE),
                };
                let data = self.contents.data(slot);
                let new_bytes = flow.receiver.on_data(self.now, data, ecn_counts);
                (read.bytes, read.waited_byte_ns) = flow.read(self.now, data, new_bytes);
                (Event::Deliver, new_bytes)
            }
            Handle::Data(_) => (Event::Deliver, 0),
            Handle::Ack(_) => (Event::AckDeliver, 0),
        };
        observer.record(&Record {
            time_ns: self.now.as_ns(),
            flow: packet.flow + 1,
            event,
            seq: packet.number,
            size_bytes: packet.size_bytes,
            data_bytes,
            one_way_delay_ns: (self.now - packet.entered).as_ns() as i64,
        });
        if read.bytes > 0 {
            observer.read(&Read { flow: packet.flow + 1, at: self.now, ..read });
        }
        if complete {
            match handle {
                Handle::Data(_) => {
                    while let Some(frame) = flow.receiver.take_frame() {
                        tell::decoded_frame(observer, packet.flow + 1, &frame);
                    }
                    self.poll_receiver(index, observer);
                }
                Handle::Ack(slot) => {
                    flow.sender.on_ack(self.now, self.contents.ack(slot));
                    self.tell_verdicts(index, observer);
                    self.tell_state(index, "in_flight", observer);
                    self.poll_sender(index, observer);
                    self.tell_state(index, "", observer);
                }
            }
        }
        self.contents.release(packet.token);
    }

    /// Reports the sender's latest verdicts on its packets.
    #[inline]
    fn tell_verdicts<O: Observer + ?Sized>(&self, index: usize, observer: &mut O) {
        for record in verdicts(&self.flows[index].sender, self.now, index as u32 + 1, self.full_log) {
            observer.record(&record);
        }
    }

    /// Reports the changed fields of the sender's state, and `always`, in full logs.
    #[inline]
    fn tell_state<O: Observer + ?Sized>(&mut self, index: usize, always: &'static str, observer: &mut O) {
        if self.full_log && observer.wants_values() && !self.flows[index].is_held {
            self.tell_changes(index, always, observer);
        }
    }

    #[inline(never)]
    fn tell_changes<O: Observer + ?Sized>(&mut self, index: usize, always: &'static str, observer: &mut O) {
        let Flow { sender, changes, .. } = &mut self.flows[index];
        tell::flow_fields(observer, self.now, index as u32 + 1, |sink| {
            changes.pass(always, sink, |sink| sender.all_fields(sink));
        });
    }

    #[inline]
    fn poll_sender<O: Observer + ?Sized>(&mut self, index: usize, observer: &mut O) {
        if self.is_held(index) {
            return;
        }
        loop {
            let flow = &mut self.flows[index];
            let now = self.now;
            let Some((token, data)) = self.contents.new_data(|data| flow.sender.poll_transmit(now, data))
            else {
                break;
            };
            self.budget.spend(1);
            let mut packet = Packet::new(index as u32, data.number, data.datagram_bytes, token, self.now);
            packet.ecn = codepoint(flow.sender.ecn_codepoint());
            let (direction, payload_bytes) = (flow.direction, data.application_bytes());
            self.launch(direction, packet, Event::Send, payload_bytes, observer);
            if self.is_held(index) {
                return;
            }
            if self.budget.is_due() && !self.is_within_budget() {
                break;
            }
        }
        let flow = &mut self.flows[index];
        if let Some(writes) = &mut flow.writes {
            writes.note(self.now, flow.sender.accepted_bytes());
        }
        self.schedule.set(sender_actor(index), flow.sender.next_timer());
    }

    #[inline]
    fn poll_receiver<O: Observer + ?Sized>(&mut self, index: usize, observer: &mut O) {
        loop {
            let flow = &mut self.flows[index];
            let now = self.now;
            let Some((token, frame)) = self.contents.new_ack(|frame| flow.receiver.poll_ack(now, frame))
            else {
                break;
            };
            let bytes = flow.ack_size.of(frame);
            let direction = 1 - flow.direction;
            let packet = Packet::new(index as u32, frame.number, bytes, token, self.now);
            self.launch(direction, packet, Event::AckSend, 0, observer);
        }
        self.schedule.set(receiver_actor(index), self.flows[index].receiver.next_timer());
    }

    /// Applies changes of the MTU since the latest datagram.
    #[cold]
    fn change_encapsulation(&mut self) {
        while let Some((_, encapsulation)) = self.encapsulations.pop_if(|(at, _)| *at <= self.now) {
            self.encapsulation = encapsulation;
        }
        self.encapsulation_until = self.encapsulations.last().map_or(Time::NEVER, |(at, _)| *at);
    }

    /// Puts a datagram on the path: encapsulated and, if necessary, in fragments.
    #[inline]
    fn launch<O: Observer + ?Sized>(
        &mut self,
        direction: usize,
        mut packet: Packet,
        event: Event,
        data_bytes: u32,
        observer: &mut O,
    ) {
        if self.encapsulation_until <= self.now {
            self.change_encapsulation();
        }
        if let Some(size_bytes) = self.encapsulation.whole(packet.size_bytes) {
            packet.size_bytes = size_bytes;
            self.enter(direction, packet, event, data_bytes, observer);
        } else {
            self.launch_fragments(direction, packet, event, data_bytes, observer);
        }
        self.plan(direction);
    }

    /// Puts a datagram that is too large for one packet on the path, in fragments.
    #[cold]
    fn launch_fragments<O: Observer + ?Sized>(
        &mut self,
        direction: usize,
        mut packet: Packet,
        event: Event,
        data_bytes: u32,
        observer: &mut O,
    ) {
        let Ok(sizes) = self.encapsulation.split(packet.size_bytes) else {
            // Data packets were checked against the MTU when the run was validated; an oversized ACK is lost.
            self.contents.release(packet.token);
            return;
        };
        packet.fragments = sizes.len() as u16;
        self.contents.share(packet.token, u32::from(packet.fragments) - 1);
        for (fragment, size_bytes) in sizes.enumerate() {
            packet.size_bytes = size_bytes;
            packet.fragment = fragment as u8;
            let data_bytes = if fragment == 0 { data_bytes } else { 0 };
            self.enter(direction, packet, event, data_bytes, observer);
        }
    }

    /// Handles a packet that enters the path.
    #[inline]
    fn enter<O: Observer + ?Sized>(
        &mut self,
        direction: usize,
        packet: Packet,
        event: Event,
        data_bytes: u32,
        observer: &mut O,
    ) {
        observer.record(&Record {
            time_ns: self.now.as_ns(),
            flow: packet.flow + 1,
            event,
            seq: packet.number,
            size_bytes: packet.size_bytes,
            data_bytes,
            one_way_delay_ns: 0,
        });
        let mut tap =
            Watcher::new(InPath { contents: &mut self.contents, observer }, direction, self.full_log);
        self.directions[direction].arrive(self.now, packet, &mut tap);
    }
}

const fn sender_actor(flow: usize) -> Actor {
    (DIRECTIONS.len() + flow * ACTORS_PER_FLOW) as Actor
}

const fn receiver_actor(flow: usize) -> Actor {
    sender_actor(flow) + 1
}

const fn extra_actor(flow: usize) -> Actor {
    sender_actor(flow) + 2
}
