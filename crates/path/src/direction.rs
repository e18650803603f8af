//! One direction of a path: elements in order, with a common clock.

use crate::Error;
use crate::dispatch::Stage;
use crate::element::Streams;
use crate::link_counters::LinkTally;
use crate::spec::{ElementSpec, PathSpec, names};
use crate::subpath::Subpath;
use crate::until::to_the_end;
use crate::validate::validate_direction;
use crate::walk::Walker;
use crate::{Packet, Tap};
use std::collections::VecDeque;
use units::Time;

/// Elements that packets pass in one direction.
///
/// Everything due at or before an instant happens before arrivals at that instant. If several elements are due at one
/// time, the later element on the path comes first. Changes come before all elements.
#[derive(Clone, Debug)]
pub struct Direction {
    stages: Vec<Stage>,
    /// Next event of each stage.
    due: Vec<Time>,
    /// Earliest time of `due` and of the next change.
    next: Time,
    /// Stage of the earliest event; the number of stages stands for the next change.
    next_stage: usize,
    /// Time up to which everything has happened.
    clock: Time,
    /// Packets that have left.
    ready: VecDeque<Packet>,
    /// Scheduled changes, the next one last.
    changes: Vec<PlannedChange>,
    /// Elements with settings that walk.
    walkers: Vec<Walker>,
    /// Time of the next scheduled change or step of a walk.
    next_change: Time,
    /// Subpath of each flow; flows without an entry pass everything.
    subpaths: Vec<Subpath>,
    /// True if a driver needs to know only the departures (see [`Direction::next_departure`]).
    quiet: bool,
    /// Steps of elements since the last [`Direction::take_steps`].
    steps: u64,
}

/// Returns true if the elements are at most one link, which decides on arrival, and a delay that keeps the order. Then
/// the first packet in the delay is the next to leave, and the link cannot change this. A second link would drop
/// packets between arrivals and departures.
fn is_quiet(elements: &[ElementSpec]) -> bool {
    match elements {
        [ElementSpec::Delay(_)] => true,
        [ElementSpec::Link(link), ElementSpec::Delay(_)] => link.queue.decides_on_arrival(),
        _ => false,
    }
}

/// Scheduled change of one stage.
#[derive(Clone, Debug)]
struct PlannedChange {
    at: Time,
    stage: usize,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    /// New settings of the element.
    Settings(Box<ElementSpec>),
    /// New value of a setting of the element's queue.
    Queue(String, f64),
}

impl Direction {
    /// Builds `elements` for the direction called `name` (`data` or `ack`). Element number i draws from the random
    /// stream `name/i/kind` of `seed`.
    ///
    /// # Errors
    /// One line naming the element, the key, its value and what is allowed.
    pub fn build(elements: &[ElementSpec], name: &str, seed: u64) -> Result<Self, Error> {
        validate_direction(elements, name, &mut to_the_end)?;
        let mut stages = Vec::with_capacity(elements.len());
        let mut changes = Vec::new();
        let mut walkers = Vec::new();
        for (index, (element, link)) in elements.iter().zip(names(elements)).enumerate() {
            let prefix = format!("{name}/{index}/{}", element.kind());
            let streams = Streams { seed, prefix: &prefix };
            let place = |error: Error| error.at(format!("{name}[{index}] ({})", element.kind()));
            stages.push(
                Stage::build(&element.at_start(), link, &streams).map_err(|refusal| place(refusal.into()))?,
            );
            plan(element, index, &mut changes).map_err(place)?;
            walkers.extend(Walker::build(element, index, seed, &prefix));
        }
        // Sorting is stable, so changes at one time stay in the order of elements and schedules.
        changes.sort_by_key(|planned| planned.at);
        changes.reverse();
        let due: Vec<Time> = stages.iter().map(Stage::next_event).collect();
        let quiet = changes.is_empty() && walkers.is_empty() && is_quiet(elements);
        let ready = VecDeque::with_capacity(64);
        let mut direction = Self {
            stages,
            due,
            next: Time::NEVER,
            next_stage: 0,
            clock: Time::ZERO,
            ready,
            changes,
            walkers,
            next_change: Time::NEVER,
            subpaths: Vec::new(),
            quiet,
            steps: 0,
        };
        direction.plan_change();
        direction.plan();
        Ok(direction)
    }

    /// Builds both directions of `path`, data first, with the channels that they share.
    ///
    /// # Errors
    /// One line naming the element, the key, its value and what is allowed.
    pub fn pair(path: &PathSpec, seed: u64) -> Result<[Self; 2], Error> {
        let (data, mut ack) = (Self::build(&path.data, "data", seed)?, Self::build(&path.ack, "ack", seed)?);
        for partner in &mut ack.stages {
            data.stages.iter().for_each(|stage| stage.share_channel(partner));
        }
        Ok([data, ack])
    }

    /// Limits the packets of flow number `flow` to `subpath`. Must be called before any packet enters.
    pub fn confine(&mut self, flow: u32, subpath: Subpath) {
        let whole = Subpath { from: 0, to: self.stages.len() };
        let flow = flow as usize;
        self.subpaths.resize(self.subpaths.len().max(flow + 1), whole);
        self.subpaths[flow] = subpath;
        self.quiet = false;
    }

    /// Lets links compute the departure of a packet at its arrival, wherever that is possible. Events in between are
    /// then not reported ([`crate::PacketEvent::Dequeued`]); [`Direction::settle`] counts them. Must be called before
    /// any packet enters, after [`Direction::confine`].
    pub fn work_ahead(&mut self) {
        let mut stage = 0;
        while stage < self.stages.len() {
            if !self.changes_at(stage) {
                self.stages[stage].work_ahead();
                self.merge_behind(stage);
            }
            stage += 1;
        }
        self.plan();
    }

    /// Makes element number `stage` do the work of the elements behind it, as far as it can.
    fn merge_behind(&mut self, stage: usize) {
        let next = stage + 1;
        while next < self.stages.len() && !self.changes_at(next) && !self.is_border(next) {
            let (front, behind) = self.stages.split_at_mut(next);
            if !front[stage].merge(&behind[0]) {
                return;
            }
            self.remove(next);
        }
    }

    /// Removes an element whose work the previous element has taken over. No change concerns the removed element, and
    /// no flow enters there.
    fn remove(&mut self, removed: usize) {
        self.stages.remove(removed);
        self.due.remove(removed);
        let later = |stage: &mut usize| *stage -= usize::from(*stage > removed);
        self.changes.iter_mut().for_each(|planned| later(&mut planned.stage));
        self.walkers.iter_mut().for_each(|walker| later(&mut walker.stage));
        for subpath in &mut self.subpaths {
            later(&mut subpath.from);
            later(&mut subpath.to);
        }
    }

    /// Returns true if a schedule or a walk changes element number `stage`.
    fn changes_at(&self, stage: usize) -> bool {
        self.changes.iter().any(|planned| planned.stage == stage)
            || self.walkers.iter().any(|walker| walker.stage == stage)
    }

    /// Returns true if a flow enters the path at element number `stage`, or leaves the path before it.
    fn is_border(&self, stage: usize) -> bool {
        self.subpaths.iter().any(|subpath| subpath.from == stage || subpath.to == stage)
    }

    /// Handles the arrival of a packet at `now`. The packet may leave at once: see [`Direction::pop`].
    #[inline]
    pub fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        if self.next <= now {
            self.advance(now, tap);
        }
        debug_assert!(now >= self.clock, "time must not go backwards");
        self.clock = now;
        let first = self.subpaths.get(packet.flow as usize).map_or(0, |subpath| subpath.from);
        if let Some(Stage::FastLink(link)) = self.stages.get_mut(first) {
            link.arrive(now, packet, tap);
            self.due[first] = link.next_event();
        } else {
            self.pass(first, now, packet, tap);
        }
        self.plan();
        if self.next <= now {
            self.advance(now, tap);
        }
    }

    /// Returns the time at which [`Direction::advance`] has work to do; [`Time::NEVER`] if nothing is planned.
    #[inline]
    pub const fn next_event(&self) -> Time {
        self.next
    }

    /// Returns the earliest time at which a packet may leave, or be dropped or marked, without a further arrival. A
    /// driver that does not need every queue event has to call [`Direction::advance`] at these times only. That call
    /// also handles earlier inner events (a link starts on its next packet), with the times at which they were due.
    #[inline]
    pub fn next_departure(&self) -> Time {
        match self.due.last() {
            Some(&last) if self.quiet && last.is_finite() => last,
            _ => self.next,
        }
    }

    /// Handles everything due at or before `now`, in the order of time, scheduled changes included.
    #[inline]
    pub fn advance<T: Tap>(&mut self, now: Time, tap: &mut T) {
        while self.next <= now {
            let (time, stage) = (self.next, self.next_stage);
            self.steps += 1;
            if stage == self.stages.len() {
                self.change(time);
            } else {
                debug_assert!(time >= self.clock, "an element planned an event in the past");
                self.clock = time;
                let packet = if let Stage::FastLink(link) = &mut self.stages[stage] {
                    // A direct call avoids the dispatch over all kinds of elements.
                    let packet = link.step(time);
                    self.due[stage] = link.next_event();
                    packet
                } else {
                    let packet = self.stages[stage].step(time, tap);
                    self.due[stage] = self.stages[stage].next_event();
                    packet
                };
                match packet {
                    Some(packet) if stage + 1 == self.stages.len() => self.ready.push_back(packet),
                    Some(packet) => self.pass(stage + 1, time, packet, tap),
                    None => {}
                }
            }
            self.plan();
        }
        self.clock = self.clock.max(now);
    }

    /// Returns the number of steps that elements have made since the previous call.
    #[inline]
    pub const fn take_steps(&mut self) -> u64 {
        core::mem::replace(&mut self.steps, 0)
    }

    /// Returns true if a packet has left that was not popped.
    #[inline]
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Removes and returns the next packet that has left, in order. Packets leave at the times for which
    /// [`Direction::arrive`] and [`Direction::advance`] were called.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        self.ready.pop_front()
    }

    /// Returns a packet that will soon leave, if an element knows one. This is only a hint: later elements may drop or
    /// hold the packet.
    #[inline]
    pub fn soon_to_leave(&self) -> Option<&Packet> {
        self.stages.iter().rev().find_map(Stage::front)
    }

    /// Returns the number of packets that entered or were made inside and were neither dropped nor popped.
    pub fn packets_inside(&self) -> u64 {
        self.stages.iter().map(Stage::packets).sum::<u64>() + self.ready.len() as u64
    }

    /// Updates counters to `now`. Call it after [`Direction::advance`], at the end of a run or to sample: it counts
    /// everything up to the time of that call.
    pub fn settle(&mut self, now: Time) {
        let clock = self.clock;
        self.stages.iter_mut().for_each(|stage| stage.settle(clock, now));
    }

    /// Measures the longest waiting time of packets that leave a queue at `at` or later separately
    /// ([`LinkTally::watched_queueing_delay_ns`]).
    pub fn watch_from(&mut self, at: Time) {
        self.stages.iter_mut().for_each(|stage| stage.watch_from(at));
    }

    /// Returns the counters of the link-like elements, in order: links, traces, Poisson links, shapers, policers,
    /// netem.
    pub fn links(&self) -> impl Iterator<Item = &LinkTally> {
        self.stages.iter().filter_map(Stage::tally)
    }

    /// Finds the earliest event and its stage.
    #[inline]
    fn plan(&mut self) {
        let mut earliest = (self.next_change, self.due.len());
        for (stage, &due) in self.due.iter().enumerate().rev() {
            if due < earliest.0 {
                earliest = (due, stage);
            }
        }
        (self.next, self.next_stage) = earliest;
    }

    /// Passes `packet` to stage number `first`, and on through all stages that let it pass at once.
    #[inline]
    fn pass<T: Tap>(&mut self, first: usize, now: Time, mut packet: Packet, tap: &mut T) {
        let end = self.subpaths.get(packet.flow as usize).map_or(self.stages.len(), |subpath| subpath.to);
        for stage in first..end {
            let output = self.stages[stage].arrive(now, packet, tap);
            self.due[stage] = self.stages[stage].next_event();
            match output {
                Some(output) => packet = output,
                None => return,
            }
        }
        self.ready.push_back(packet);
    }

    /// Makes the next change: a scheduled change, or else a step of a walk.
    fn change(&mut self, now: Time) {
        let planned = self.changes.pop_if(|planned| planned.at <= now);
        let stage = match planned {
            Some(planned) => Some(self.change_as_planned(now, planned)),
            None => self.step_walk(now),
        };
        if let Some(stage) = stage {
            self.due[stage] = self.stages[stage].next_event();
        }
        self.plan_change();
    }

    fn change_as_planned(&mut self, now: Time, PlannedChange { stage, change, .. }: PlannedChange) -> usize {
        let element = &mut self.stages[stage];
        match change {
            Change::Settings(spec) => {
                let walker = self.walkers.iter_mut().find(|walker| walker.stage == stage);
                element.change(now, walker.map_or(&spec, |walker| walker.adopt(&spec)));
            }
            Change::Queue(name, value) => {
                let result = element.set_queue(&name, value);
                debug_assert!(result.is_ok(), "checked when the direction was built: {result:?}");
            }
        }
        stage
    }

    fn step_walk(&mut self, now: Time) -> Option<usize> {
        let walker = self.walkers.iter_mut().find(|walker| walker.next <= now)?;
        self.stages[walker.stage].change(now, walker.step());
        Some(walker.stage)
    }

    fn plan_change(&mut self) {
        let scheduled = self.changes.last().map_or(Time::NEVER, |planned| planned.at);
        self.next_change = self.walkers.iter().fold(scheduled, |next, walker| next.min(walker.next));
    }
}

fn plan(element: &ElementSpec, stage: usize, changes: &mut Vec<PlannedChange>) -> Result<(), Error> {
    for (change, state) in element.schedule().iter().zip(element.states(&mut to_the_end)?) {
        let at = change.at();
        if let Some(state) = state {
            changes.push(PlannedChange { at, stage, change: Change::Settings(Box::new(state)) });
        }
        for (name, &value) in &change.queue {
            changes.push(PlannedChange { at, stage, change: Change::Queue(name.clone(), value) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoTap;
    use crate::testing::{Bench, at_ms, elements};

    #[test]
    fn packets_pass_the_elements_in_the_order_listed() {
        let mut bench = Bench::new(
            r#"[{"kind": "link", "rate_mbps": 12, "queue": {"kind": "droptail", "packets": 1}},
                {"kind": "delay", "delay_ms": 5}, {"kind": "link", "rate_mbps": 6}]"#,
        );
        (0..3).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(100));
        // 1 + 5 + 2 ms; the second finds the slower link busy until 8 ms; the third was dropped.
        assert_eq!((bench.times_us(), bench.log.dropped), (vec![8000, 10_000], vec![2]));
    }

    #[test]
    fn an_empty_direction_passes_packets_at_once() {
        let mut bench = Bench::new("[]");
        bench.send(at_ms(3), 100);
        assert_eq!((bench.times_us(), bench.direction.next_event()), (vec![3000], Time::NEVER));
    }

    #[test]
    fn a_departure_makes_room_for_an_arrival_at_the_same_time() {
        let mut bench = Bench::new(
            r#"[{"kind": "delay", "delay_ms": 1},
                {"kind": "link", "rate_mbps": 12, "queue": {"kind": "droptail", "packets": 1}}]"#,
        );
        // Three packets reach the link at 1, 1 and 2 ms, when the first has just left.
        for ms in [0, 0, 1] {
            bench.send(at_ms(ms), 1500);
        }
        bench.run_until(at_ms(100));
        assert_eq!((bench.times_us(), bench.log.dropped), (vec![2000, 3000, 4000], vec![]));
    }

    #[test]
    fn advancing_late_gives_the_same_packets_as_advancing_in_time() {
        let json = r#"[{"kind": "link", "rate_mbps": 12, "schedule": [{"at_s": 0.0035, "rate_mbps": 3}]},
                       {"kind": "delay", "delay_ms": 1}, {"kind": "link", "rate_mbps": 6}]"#;
        let mut prompt = Bench::new(json);
        (0..9).for_each(|_| prompt.send(Time::ZERO, 1500));
        let stats = prompt.stats(at_ms(100));
        let mut late = Direction::build(&elements(json), "data", 1).unwrap();
        (0..9).for_each(|number| {
            let packet = Packet::new(0, number, 1500, number as u32, Time::ZERO);
            late.arrive(Time::ZERO, packet, &mut NoTap);
        });
        late.advance(at_ms(100), &mut NoTap);
        late.settle(at_ms(100));
        let packets: Vec<Packet> = core::iter::from_fn(|| late.pop()).collect();
        assert_eq!(packets, prompt.out.iter().map(|(_, packet)| *packet).collect::<Vec<_>>());
        assert_eq!(late.links().next().unwrap(), &stats);
    }

    #[test]
    fn an_element_more_does_not_change_the_draws_of_the_others() {
        let dropped = |more: &str| {
            let mut bench = Bench::new(&format!(r#"[{{"kind": "loss", "probability": 0.5}}{more}]"#));
            (0..100).for_each(|_| bench.send(Time::ZERO, 100));
            bench.log.dropped
        };
        assert_eq!(
            dropped(""),
            dropped(r#", {"kind": "jitter", "distribution": "exponential", "mean_ms": 3}"#)
        );
    }

    /// Path of three links of 12, 6 and 12 Mbit/s: flows that enter at the second link compete there with packets from
    /// the first link.
    #[test]
    fn flows_pass_their_sections_only_and_share_what_they_meet_in() {
        let mut bench = Bench::new(
            r#"[{"kind": "link", "rate_mbps": 12}, {"kind": "link", "rate_mbps": 6}, {"kind": "link", "rate_mbps": 12}]"#,
        );
        bench.direction.confine(1, Subpath { from: 1, to: 2 });
        bench.direction.confine(3, Subpath { from: 3, to: 3 });
        for (ms, flow) in [(0, 0), (1, 1), (1, 2), (2, 3)] {
            bench.send_of(flow, at_ms(ms), 1500);
        }
        bench.run_until(at_ms(100));
        // Flow 0: 1 + 2 + 1 ms. Flow 1 enters the second link at 1 ms behind flow 0 and leaves at 5 ms. Flow 2 leaves
        // the first link at 2 ms, the second at 7, the third at 8. Flow 3 passes nothing.
        let left: Vec<(u64, u32)> =
            bench.out.iter().map(|(time, packet)| (time.as_ns() / 1_000_000, packet.flow)).collect();
        assert_eq!(left, [(2, 3), (4, 0), (5, 1), (8, 2)]);
        assert!(bench.is_conserved());
    }

    #[test]
    fn links_are_named_by_the_user_or_by_kind_and_number() {
        let json = r#"[{"kind": "link", "rate_mbps": 1}, {"kind": "delay", "delay_ms": 1},
            {"kind": "link", "rate_mbps": 1}, {"kind": "shaper", "rate_mbps": 1, "burst_bytes": 1, "name": "isp"},
            {"kind": "netem", "delay_ms": 1}]"#;
        let direction = Direction::build(&elements(json), "ack", 1).unwrap();
        let names: Vec<&str> = direction.links().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["link", "link-2", "isp", "netem"]);
    }

    #[test]
    fn bad_elements_are_refused_when_a_direction_is_built() {
        let elements = elements(r#"[{"kind": "delay", "delay_ms": 1}, {"kind": "link", "rate_mbps": 0}]"#);
        let error = Direction::build(&elements, "ack", 1).unwrap_err().to_string();
        assert_eq!(error, "ack[1] (link): rate_mbps = 0: must be above 0");
    }
}
