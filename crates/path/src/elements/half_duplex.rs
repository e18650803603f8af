//! Channel shared by both directions: one station sends at a time.
//!
//! Each direction has one such element; two elements with one `channel` are the stations of one channel. A station
//! takes the channel for a turn: the channel is silent for `access_us`, then carries up to `turn_packets` waiting
//! packets at `rate_mbps`. Packets of a turn leave together at its end. If both stations have packets at the end of a
//! turn, the turn changes to the other station. An idle channel is taken at once.
//!
//! A station reads the shared [`Channel`] and is never called by its partner. A station that waits checks again at the
//! end of the turn that occupies the channel. A station that must let its partner go first checks again 1 ns later,
//! after its partner has taken its turn. So both stations need one clock: a driver of real packets, with a thread for
//! each direction, cannot have this element.

use crate::buffer::Buffer;
use crate::change::{Change, WalkSpec};
use crate::element::{Capacity, Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{not_negative, rate, refuse};
use crate::{LinkTally, Packet, QueueSpec, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use strict_input::Refusal;
use units::{Rate, Span, Time};

/// Maximum overhead of a turn, us.
const MOST_ACCESS_US: f64 = 1e6;
/// Maximum number of packets in a turn.
const MOST_PACKETS: u32 = 100_000;

fn one() -> u32 {
    1
}

/// Settings of one station of a shared channel.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HalfDuplexSpec {
    /// Name in statistics.
    pub name: Option<String>,
    /// Name of the channel, equal for both stations; needed if there are several channels.
    pub channel: Option<String>,
    /// Rate of the station's turns, Mbit/s.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub rate_mbps: f64,
    /// Time of each turn besides its packets, us.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub access_us: f64,
    /// Maximum number of packets in a turn.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100_000))]
    pub turn_packets: u32,
    /// Queue in front of the link.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl Table for HalfDuplexSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        rate("rate_mbps", self.rate_mbps)?;
        not_negative("access_us", self.access_us, MOST_ACCESS_US)?;
        if !(1..=MOST_PACKETS).contains(&self.turn_packets) {
            return Err(refuse(
                "turn_packets",
                self.turn_packets,
                format!("must be from 1 to {MOST_PACKETS}"),
            ));
        }
        self.queue.validate()
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn capacity(&self) -> Option<Capacity> {
        Some(Capacity::in_bursts(self.rate_mbps))
    }

    settings!(rate_mbps, access_us, turn_packets);
}

impl ElementTable for HalfDuplexSpec {
    type Element = HalfDuplex;

    fn build(&self, name: String, streams: &Streams<'_>) -> Result<HalfDuplex, Refusal> {
        let buffer = Buffer::build(&self.queue, name, streams.queue())?;
        let mut station = HalfDuplex {
            name: self.channel.clone(),
            channel: Arc::default(),
            number: 0,
            rate: Rate::ZERO,
            access: Span::ZERO,
            turn_packets: 1,
            buffer,
            sending: VecDeque::new(),
            due: Time::NEVER,
        };
        station.adopt(self);
        Ok(station)
    }
}

/// State shared by both stations.
#[derive(Debug, Default)]
struct Channel {
    /// End of the latest turn.
    busy_until: Time,
    /// Station of the latest turn.
    latest: Option<usize>,
    /// True for each station that waits for a turn.
    waits: [bool; 2],
}

/// Station of a shared channel.
#[derive(Clone, Debug)]
pub(crate) struct HalfDuplex {
    /// Name of the channel.
    name: Option<String>,
    channel: Arc<Mutex<Channel>>,
    /// Number of the station, 0 or 1.
    number: usize,
    rate: Rate,
    access: Span,
    turn_packets: u32,
    buffer: Buffer,
    /// Packets of the current turn.
    sending: VecDeque<Packet>,
    /// End of the station's turn, or the time at which it checks the channel again.
    due: Time,
}

impl HalfDuplex {
    /// Connects this station and `other`, of the other direction, to one channel if both name it.
    pub(crate) fn join(&self, other: &mut Self) {
        if self.name == other.name {
            (other.channel, other.number) = (Arc::clone(&self.channel), 1 - self.number);
        }
    }

    fn adopt(&mut self, spec: &HalfDuplexSpec) {
        self.rate = Rate::from_mbps(spec.rate_mbps);
        self.buffer.set_rate(self.rate);
        self.access = Span::from_secs_f64(spec.access_us / 1e6);
        self.turn_packets = spec.turn_packets;
    }

    /// Takes the channel for the waiting packets, or plans the next check.
    fn ask<T: Tap>(&mut self, now: Time, tap: &mut T) {
        let channel = Arc::clone(&self.channel);
        let mut channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = self.number;
        channel.waits[mine] = !self.buffer.is_empty();
        self.due = if !channel.waits[mine] {
            Time::NEVER
        } else if channel.busy_until > now {
            channel.busy_until
        } else if channel.waits[1 - mine] && channel.latest == Some(mine) {
            // The partner takes its turn at this very moment.
            now + Span::from_ns(1)
        } else {
            let bytes = self.fill_turn(now, tap);
            (channel.latest, channel.waits[mine]) = (Some(mine), false);
            channel.busy_until = now + self.access + self.rate.time_for(bytes);
            channel.busy_until
        };
    }

    /// Moves the packets of a turn out of the queue; returns their bytes.
    fn fill_turn<T: Tap>(&mut self, now: Time, tap: &mut T) -> u64 {
        let mut bytes = 0;
        for _ in 0..self.turn_packets {
            let Some(packet) = self.buffer.dequeue(now, tap) else { break };
            bytes += u64::from(packet.size_bytes);
            self.sending.push_back(packet);
        }
        bytes
    }
}

impl Element for HalfDuplex {
    type Table = HalfDuplexSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) -> Option<Packet> {
        self.buffer.enqueue(now, packet, None, tap);
        if self.sending.is_empty() && self.due == Time::NEVER {
            self.ask(now, tap);
        }
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.due
    }

    #[inline]
    fn step<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let sent = self.sending.pop_front();
        if let Some(packet) = &sent {
            self.buffer.gauge.sent(packet.size_bytes);
        }
        if self.sending.is_empty() {
            self.ask(now, tap);
        }
        sent
    }

    /// Applies new settings. A turn that has begun keeps its old settings.
    fn change(&mut self, now: Time, table: &HalfDuplexSpec) {
        self.buffer.gauge.offer(now, self.rate);
        self.adopt(table);
    }

    fn packets(&self) -> u64 {
        self.buffer.packets() + self.sending.len() as u64
    }

    fn set_queue(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        self.buffer.set(name, value)
    }

    fn tally(&self) -> Option<&LinkTally> {
        Some(&self.buffer.gauge.tally)
    }

    fn watch_from(&mut self, at: Time) {
        self.buffer.gauge.watch_from(at);
    }

    fn settle(&mut self, now: Time) {
        self.buffer.gauge.integrate(now);
        self.buffer.gauge.offer(now, self.rate);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms, at_us};
    use crate::{Direction, NoTap, Packet, PathSpec};
    use units::Time;

    /// Returns the departures, us, of the data and ACK directions. Arrivals are (time in us, direction).
    fn run(path: &str, arrivals: &[(u64, usize)]) -> [Vec<u64>; 2] {
        let path: PathSpec = serde_json::from_str(path).unwrap();
        let mut directions = Direction::pair(&path, 1).unwrap();
        let (mut out, mut arrivals) = ([Vec::new(), Vec::new()], arrivals.iter().peekable());
        loop {
            let due = [0, 1].map(|number| directions[number].next_event());
            let next = arrivals.peek().map_or(Time::NEVER, |(us, _)| at_us(*us));
            let now = due[0].min(due[1]).min(next);
            if now == Time::NEVER {
                return out;
            }
            let number = usize::from(now != due[0]);
            if now == due[number] {
                directions[number].advance(now, &mut NoTap);
            } else if let Some((_, number)) = arrivals.next() {
                let size = [1500, 500][*number];
                directions[*number].arrive(now, Packet::new(0, 0, size, 0, now), &mut NoTap);
            }
            for number in [0, 1] {
                while directions[number].pop().is_some() {
                    out[number].push(now.as_ns() / 1000);
                }
            }
        }
    }

    /// 12 Mbit/s: 1000 us for 1500 bytes, 333 us for 500.
    fn channel(data: &str, ack: &str) -> String {
        let station = |keys: &str| format!(r#"[{{"kind": "half-duplex", "rate_mbps": 12 {keys}}}]"#);
        format!(r#"{{"data": {}, "ack": {}}}"#, station(data), station(ack))
    }

    #[test]
    fn stations_take_turns() {
        let arrivals = [(0, 0), (0, 0), (0, 0), (10, 1), (20, 1)];
        let [data, ack] = run(&channel("", ""), &arrivals);
        // Data to 1000, ACK to 1333, data to 2333, ACK to 2666, data to 3666; 1 ns for each turn left to the partner.
        assert_eq!(data, [1000, 2333, 3666]);
        assert_eq!(ack, [1333, 2666]);
    }

    #[test]
    fn each_turn_costs_its_access() {
        let [data, ack] =
            run(&channel(r#", "access_us": 100"#, r#", "access_us": 50"#), &[(0, 0), (0, 0), (10, 1)]);
        assert_eq!((data, ack), (vec![1100, 2583], vec![1483]));
    }

    #[test]
    fn packets_of_a_turn_leave_together() {
        let arrivals = [(0, 0), (5, 0), (6, 0), (7, 0), (8, 0), (10, 1), (20, 1), (30, 1)];
        let [data, ack] = run(&channel(r#", "turn_packets": 3"#, r#", "turn_packets": 8"#), &arrivals);
        // The first turn has one packet, the only one that waited. ACKs to 2000, three data packets to 5000, one to
        // 6000.
        assert_eq!(ack, [2000; 3]);
        assert_eq!(data, [1000, 5000, 5000, 5000, 6000]);
    }

    #[test]
    fn an_idle_channel_is_taken_at_once() {
        let [data, ack] = run(&channel("", ""), &[(0, 0), (5000, 1), (9000, 0)]);
        assert_eq!((data, ack), (vec![1000, 10_000], vec![5333]));
    }

    #[test]
    fn channels_of_other_names_are_other_channels() {
        let path = r#"{"data": [{"kind": "half-duplex", "channel": "a", "rate_mbps": 12},
                                {"kind": "half-duplex", "channel": "b", "rate_mbps": 12}],
                       "ack": [{"kind": "half-duplex", "channel": "b", "rate_mbps": 12},
                               {"kind": "half-duplex", "channel": "a", "rate_mbps": 12}]}"#;
        // Data occupy `a` to 1000 and `b` to 2000. The ACK occupies `b` to 333, and waits for `a` until 1000.
        assert_eq!(run(path, &[(0, 0), (0, 1)]), [vec![2000], vec![1333]]);
    }

    #[test]
    fn alone_it_is_a_link() {
        let times = |json: &str| {
            let mut bench = Bench::new(json);
            (0..300).for_each(|i| bench.send(at_us(200 * i), 42 + 3 * (i * 37 % 200) as u32));
            bench.run_until(at_ms(1000));
            assert!(bench.is_conserved());
            bench.times_us()
        };
        let station = times(r#"[{"kind": "half-duplex", "rate_mbps": 8}]"#);
        assert_eq!(station, times(r#"[{"kind": "link", "rate_mbps": 8}]"#));
    }

    #[test]
    fn a_change_holds_from_the_next_turn() {
        let json =
            r#"[{"kind": "half-duplex", "rate_mbps": 12, "schedule": [{"at_s": 0.0005, "rate_mbps": 6}]}]"#;
        let mut bench = Bench::new(json);
        (0..2).for_each(|_| bench.send(Time::ZERO, 1500));
        bench.run_until(at_ms(9));
        assert_eq!(bench.times_us(), [1000, 3000]);
    }

    #[test]
    fn a_station_without_its_partner_is_refused() {
        let station = |channel: &str| format!(r#"{{"kind": "half-duplex", "rate_mbps": 1{channel}}}"#);
        let refusal = |data: &[&str], ack: &[&str]| {
            let list = |names: &[&str]| names.iter().map(|name| station(name)).collect::<Vec<_>>().join(",");
            let json = format!(r#"{{"data": [{}], "ack": [{}]}}"#, list(data), list(ack));
            let path: PathSpec = serde_json::from_str(&json).unwrap();
            path.validate().map_err(|error| error.to_string())
        };
        let (plain, named) = ("", r#", "channel": "air""#);
        assert_eq!(refusal(&[plain, named], &[named, plain]), Ok(()));
        let refused = |place: &str, value: &str| {
            Err(format!(
                "{place} (half-duplex): channel{value}: must be that of one element of each direction"
            ))
        };
        assert_eq!(refusal(&[plain], &[]), refused("data[0]", ""));
        assert_eq!(refusal(&[], &[named]), refused("ack[0]", " = `air`"));
        assert_eq!(refusal(&[named, plain], &[plain]), refused("data[0]", " = `air`"));
        assert_eq!(refusal(&[plain, plain], &[plain]), refused("data[0]", ""));
    }
}
