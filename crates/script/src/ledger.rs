//! Conversion of script lines to events of a controller.
//!
//! A field that a line does not name follows from earlier lines, by the rules of docs/how-to/vectors.md. The built-in
//! transport's own estimators compute its estimates.

use crate::event::{ACK_FIELDS, AckEvent, Event};
use crate::line::Words;
use crate::values::{Numbers, all_numbers, join_ranges, parse_hex, parse_span, parse_whole};
use congestion::{Ack, AckedPacket, Ecn, Frame, Loss, RateSample, Sent, Timeout, TimeoutKind};
use std::collections::BTreeMap;
use strict_input::Refusal;
use transport::Config;
use transport::estimators::{Newest, RateSampler, Rounds, RttEstimator, Snapshot};
use units::{Span, Time};

/// State of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    InFlight,
    Acked,
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    bytes: u32,
    sent_at: Time,
    snapshot: Snapshot,
    retransmission: bool,
    app_limited: bool,
    fate: Fate,
}

/// State of a connection that a script describes.
#[derive(Debug)]
pub(crate) struct Ledger {
    mss_bytes: u32,
    packets: BTreeMap<u64, Packet>,
    in_flight_bytes: u64,
    next_number: u64,
    largest_acked: Option<u64>,
    /// Bytes declared lost since the latest ACK.
    lost_bytes: u64,
    rtt: RttEstimator,
    sampler: RateSampler,
    rounds: Rounds,
    /// First packet sent after the start of the latest episode, and true if this episode continues.
    episode_from: u64,
    in_episode: bool,
    /// True if no ACK has arrived since the latest timeout.
    timed_out: bool,
}

impl Ledger {
    pub(crate) fn new(mss_bytes: u32) -> Self {
        Self {
            mss_bytes,
            packets: BTreeMap::new(),
            in_flight_bytes: 0,
            next_number: 0,
            largest_acked: None,
            lost_bytes: 0,
            rtt: RttEstimator::new(&Config::quic()),
            sampler: RateSampler::default(),
            rounds: Rounds::default(),
            episode_from: 0,
            in_episode: false,
            timed_out: false,
        }
    }

    /// Reads the line `words`. Calls `tell` with each event; `tell` returns the window after the event, bytes.
    pub(crate) fn read(
        &mut self,
        mut words: Words,
        tell: &mut dyn FnMut(Event) -> u64,
    ) -> Result<(), Refusal> {
        let numbers = std::mem::take(&mut words.packets);
        let is_about_packets = matches!(words.name.as_str(), "sent" | "ack" | "lost");
        let needs_packets = is_about_packets && !(words.name == "ack" && words.names("feedback"));
        if numbers.is_empty() && needs_packets {
            return Err(words.refusal(format!("`{}` needs packets, for example `0..9`", words.name)));
        }
        let every = if is_about_packets && words.name != "lost" { words.span("every")? } else { None };
        match words.name.as_str() {
            "sent" => {
                for number in all_numbers(&numbers) {
                    let mut packet = words.clone();
                    words.at += every.unwrap_or_default();
                    self.send(&mut packet, number, tell)?;
                }
            }
            "ack" => {
                let released = Self::released_numbers(&mut words)?;
                let acks: Vec<Numbers> = match every {
                    None => vec![numbers],
                    Some(_) => all_numbers(&numbers).map(|number| vec![(number, number)]).collect(),
                };
                let mut left = 0;
                for (index, acked) in acks.iter().enumerate() {
                    self.ack(&mut words.clone(), acked, tell)?;
                    let so_far = released.len() * (index + 1) / acks.len();
                    for number in &released[left..so_far] {
                        self.send(&mut words.bare("sent"), *number, tell)?;
                    }
                    left = so_far;
                    words.at += every.unwrap_or_default();
                }
            }
            "lost" => {
                let event = self.lost_event(&mut words, &numbers)?;
                tell(event);
            }
            _ => {
                let event = self.other(&mut words)?;
                if !numbers.is_empty() {
                    return Err(words.refusal(format!("`{}` is about no packets", words.name)));
                }
                if let Some(event) = event {
                    tell(event);
                }
            }
        }
        Ok(())
    }

    /// Returns the packets that the ACKs of a line release, in ascending order.
    fn released_numbers(words: &mut Words) -> Result<Vec<u64>, Refusal> {
        Ok(all_numbers(&words.numbers("releases")?.unwrap_or_default()).collect())
    }

    /// Adds a sent packet. Notes if the window prevented the next one.
    fn send(
        &mut self,
        words: &mut Words,
        number: u64,
        tell: &mut dyn FnMut(Event) -> u64,
    ) -> Result<(), Refusal> {
        let event = self.sent_event(words, number)?;
        let window_bytes = tell(event);
        if self.in_flight_bytes + u64::from(self.mss_bytes) > window_bytes {
            self.rounds.note_window_limited();
        }
        Ok(())
    }

    fn sent_event(&mut self, words: &mut Words, number: u64) -> Result<Event, Refusal> {
        if number < self.next_number {
            return Err(words.refusal(format!(
                "packet {number} was sent: numbers only grow, the next one is {}",
                self.next_number
            )));
        }
        let bytes = words.size("bytes")?.unwrap_or(self.mss_bytes);
        let was_idle = self.in_flight_bytes == 0;
        let in_flight_bytes = words.whole("in_flight")?.unwrap_or(self.in_flight_bytes + u64::from(bytes));
        let event = Sent {
            now: words.at,
            number,
            bytes,
            in_flight_bytes,
            retransmission: words.flag("retransmission")?.unwrap_or(false),
            filler: words.flag("filler")?.unwrap_or(false),
            frame: words.frame("frame")?.unwrap_or(0),
            frame_end: words.flag("frame_end")?.unwrap_or(false),
            idle_timeouts: words.frame("idle_timeouts")?.unwrap_or(0),
        };
        words.end(&[
            "every",
            "bytes",
            "in_flight",
            "retransmission",
            "filler",
            "frame",
            "frame_end",
            "idle_timeouts",
        ])?;
        let snapshot = self.sampler.on_sent(words.at, in_flight_bytes, was_idle);
        self.in_flight_bytes = in_flight_bytes;
        self.rounds.note_in_flight(in_flight_bytes);
        self.next_number = number + 1;
        let packet = Packet {
            bytes,
            sent_at: words.at,
            snapshot,
            retransmission: event.retransmission,
            app_limited: self.sampler.is_app_limited(),
            fate: Fate::InFlight,
        };
        self.packets.insert(number, packet);
        Ok(Event::Sent(event))
    }

    /// Returns packet `number`, which must have been sent.
    fn packet(&mut self, words: &Words, number: u64) -> Result<&mut Packet, Refusal> {
        self.packets.get_mut(&number).ok_or_else(|| words.refusal(format!("packet {number} was never sent")))
    }

    /// Adds an ACK, and the end of an episode that the ACK causes.
    fn ack(
        &mut self,
        words: &mut Words,
        numbers: &Numbers,
        tell: &mut dyn FnMut(Event) -> u64,
    ) -> Result<(), Refusal> {
        let now = words.at;
        let in_flight_before_bytes = words.whole("in_flight_before")?.unwrap_or(self.in_flight_bytes);
        let (mut packets, mut acked_bytes, mut newest) = (Vec::new(), 0, None);
        let owd = words.span("owd")?;
        for number in all_numbers(numbers) {
            let packet = self.packet(words, number)?;
            let was_lost = packet.fate == Fate::Lost;
            if packet.fate == Fate::Acked {
                return Err(words.refusal(format!("packet {number} was acknowledged before")));
            }
            packet.fate = Fate::Acked;
            let packet = *packet;
            acked_bytes += u64::from(packet.bytes);
            if !was_lost {
                self.in_flight_bytes = self.in_flight_bytes.saturating_sub(packet.bytes.into());
            }
            newest = newest.max(Some(number));
            packets.push(AckedPacket {
                number,
                sent_at: packet.sent_at,
                received_at: packet.sent_at + owd.unwrap_or((now - packet.sent_at) / 2),
                lost_at_send_bytes: packet.snapshot.lost_bytes,
                in_flight_at_send_bytes: packet.snapshot.in_flight_bytes,
                bytes: packet.bytes,
                retransmission: packet.retransmission,
                was_lost,
                ce: false,
            });
        }
        packets.sort_unstable_by_key(|packet| packet.number);
        name_packets(words, &mut packets)?;
        let ack_delay = words.span("ack_delay")?.unwrap_or_default();
        let is_largest = newest.is_some() && newest > self.largest_acked;
        self.largest_acked = self.largest_acked.max(newest);
        let newest = newest.and_then(|number| self.packets.get(&number).map(|packet| (number, *packet)));
        let sample = newest.filter(|_| is_largest);
        let rtt = sample.map(|(_, packet)| self.rtt.on_ack(now, packet.sent_at, ack_delay));
        let rtt = words.span_or_none("rtt", rtt)?;
        self.sampler.on_delivered(now, acked_bytes);
        let (mut rate, mut round_start) = (None, false);
        if let Some((_, Packet { sent_at, app_limited, snapshot, .. })) = newest {
            rate = self.sampler.sample(now, &Newest { sent_at, app_limited, snapshot }, self.rtt.min());
            let delivered_bytes = self.sampler.delivered_bytes();
            round_start = self.rounds.is_over(snapshot.delivered_bytes, delivered_bytes);
        }
        let in_recovery = words.flag("recovery")?;
        let ends_episode = newest.is_some_and(|(number, _)| number >= self.episode_from);
        if in_recovery.is_none() && self.in_episode && ends_episode {
            self.in_episode = false;
            tell(Event::Recovered(now));
        }
        self.in_episode = in_recovery.unwrap_or(self.in_episode);
        self.in_flight_bytes = words.whole("in_flight")?.unwrap_or(self.in_flight_bytes);
        let acked_bytes = words.whole("acked")?.unwrap_or(acked_bytes);
        let event = Ack {
            now,
            packets: &[],
            acked_bytes,
            growth_bytes: words.whole("growth")?.unwrap_or(acked_bytes),
            lost_bytes: words.whole("lost")?.unwrap_or(self.lost_bytes),
            rtt,
            srtt: words.span("srtt")?.unwrap_or(self.rtt.smoothed()),
            rttvar: words.span("rttvar")?.unwrap_or(self.rtt.variation()),
            min_rtt: words.span("min_rtt")?.unwrap_or(self.rtt.min()),
            ack_delay,
            in_flight_before_bytes,
            in_flight_bytes: self.in_flight_bytes,
            peak_in_flight_bytes: words.whole("peak_in_flight")?.unwrap_or(self.rounds.peak_in_flight()),
            window_limited: words.flag("window_limited")?.unwrap_or(self.rounds.was_window_limited()),
            pacing_limited: words.flag("pacing_limited")?.unwrap_or(false),
            app_limited: words.flag("app_limited")?.unwrap_or(self.sampler.is_app_limited()),
            delivered_bytes: words.whole("delivered")?.unwrap_or(self.sampler.delivered_bytes()),
            rate: named_rate(words, rate)?,
            round_start: words.flag("round_start")?.unwrap_or(round_start),
            in_recovery: self.in_episode,
            next_number: words.whole("next")?.unwrap_or(self.next_number),
            queued_bytes: words.whole_or_unlimited("queued")?.unwrap_or(u64::MAX),
            queue_delay: words.span("queue_delay")?.unwrap_or_default(),
            feedback: &[],
            complete_bytes: words.whole("complete")?.unwrap_or(0),
            sent_bytes: words.whole("sent")?.unwrap_or(0),
        };
        let feedback = words.list("feedback", 1, parse_hex)?.and_then(|mut list| list.pop());
        words.end(ACK_FIELDS)?;
        (self.lost_bytes, self.timed_out) = (0, false);
        tell(Event::Ack(Box::new(AckEvent { event, packets, feedback: feedback.unwrap_or_default() })));
        if event.round_start {
            self.rounds.begin(self.in_flight_bytes);
        }
        Ok(())
    }

    fn lost_event(&mut self, words: &mut Words, numbers: &Numbers) -> Result<Event, Refusal> {
        let before = self.in_flight_bytes;
        let (mut packets, mut lost_bytes) = (Vec::new(), 0);
        for number in all_numbers(numbers) {
            let packet = self.packet(words, number)?;
            if packet.fate != Fate::InFlight {
                return Err(words.refusal(format!("packet {number} is not in flight")));
            }
            packet.fate = Fate::Lost;
            let Packet { bytes, sent_at, snapshot, retransmission, .. } = *packet;
            lost_bytes += u64::from(bytes);
            packets.push(AckedPacket {
                number,
                sent_at,
                received_at: Time::ZERO,
                lost_at_send_bytes: snapshot.lost_bytes,
                in_flight_at_send_bytes: snapshot.in_flight_bytes,
                bytes,
                retransmission,
                was_lost: true,
                ce: false,
            });
        }
        packets.sort_unstable_by_key(|packet| packet.number);
        name_packets(words, &mut packets)?;
        let is_new = packets.last().is_some_and(|packet| packet.number >= self.episode_from);
        let new_episode = words.flag("new_episode")?.unwrap_or(is_new);
        let lost_bytes = words.whole("lost")?.unwrap_or(lost_bytes);
        self.in_flight_bytes = words.whole("in_flight")?.unwrap_or(before.saturating_sub(lost_bytes));
        let event = Loss {
            now: words.at,
            packets: &[],
            lost_bytes,
            in_flight_before_bytes: words.whole("in_flight_before")?.unwrap_or(before),
            in_flight_bytes: self.in_flight_bytes,
            new_episode,
            by_ack: words.flag("by_ack")?.unwrap_or(true),
            srtt: words.span("srtt")?.unwrap_or(self.rtt.smoothed()),
            next_number: words.whole("next")?.unwrap_or(self.next_number),
        };
        words.end(&[
            "lost",
            "in_flight_before",
            "in_flight",
            "new_episode",
            "by_ack",
            "srtt",
            "next",
            "lost_at_send",
            "in_flight_at_send",
        ])?;
        self.lost_bytes += lost_bytes;
        self.sampler.on_lost(lost_bytes);
        if new_episode {
            self.begin_episode();
        }
        Ok(Event::Loss(event, packets))
    }

    fn begin_episode(&mut self) {
        (self.episode_from, self.in_episode) = (self.next_number, true);
    }

    /// Adds an event without packets. `idle` causes no call of the controller.
    fn other(&mut self, words: &mut Words) -> Result<Option<Event>, Refusal> {
        let now = words.at;
        match words.name.as_str() {
            "established" => {
                let rtt = words.span("rtt")?.ok_or_else(|| words.refusal("`established` needs `rtt`"))?;
                words.end(&["rtt"])?;
                self.rtt.on_ack(Time::ZERO + rtt, Time::ZERO, Span::ZERO);
                Ok(Some(Event::Established(now, rtt)))
            }
            "timeout" => self.timeout(words).map(Some),
            "ecn" => self.ecn(words).map(Some),
            "recovered" => {
                words.end(&[])?;
                self.in_episode = false;
                Ok(Some(Event::Recovered(now)))
            }
            "spurious" => {
                words.end(&[])?;
                self.in_episode = false;
                Ok(Some(Event::Spurious(now)))
            }
            "wake" => {
                words.end(&[])?;
                Ok(Some(Event::Wake(now)))
            }
            "idle" => {
                words.end(&[])?;
                self.sampler.mark_app_limited(self.in_flight_bytes);
                Ok(None)
            }
            "frame" => {
                let bytes = words.whole("bytes")?.unwrap_or(self.mss_bytes.into());
                let frame = Frame {
                    now,
                    number: words.frame("number")?.ok_or_else(|| words.refusal("`frame` needs `number`"))?,
                    bytes,
                    key: words.flag("key")?.unwrap_or(false),
                    queued_bytes: words.whole("queued")?.unwrap_or(bytes),
                    queue_delay: words.span("queue_delay")?.unwrap_or_default(),
                };
                words.end(&["number", "bytes", "key", "queued", "queue_delay"])?;
                Ok(Some(Event::Frame(frame)))
            }
            name => Err(words.refusal(format!(
                "unknown event `{name}`: expected established, sent, ack, lost, timeout, ecn, recovered, spurious, wake, idle or \
                 frame"
            ))),
        }
    }

    fn timeout(&mut self, words: &mut Words) -> Result<Event, Refusal> {
        let kind = match words.take("kind").as_deref() {
            None | Some("rto") => TimeoutKind::Rto,
            Some("persistent") => TimeoutKind::PersistentCongestion,
            Some(other) => {
                let why = Refusal::of_value("kind", other, "expected `rto` or `persistent`");
                return Err(words.refusal(why));
            }
        };
        let event = Timeout {
            now: words.at,
            kind,
            repeated: words.flag("repeated")?.unwrap_or(self.timed_out),
            in_flight_before_bytes: words.whole("in_flight_before")?.unwrap_or(self.in_flight_bytes),
            next_number: words.whole("next")?.unwrap_or(self.next_number),
        };
        words.end(&["kind", "repeated", "in_flight_before", "next"])?;
        if kind == TimeoutKind::Rto {
            for packet in self.packets.values_mut().filter(|packet| packet.fate == Fate::InFlight) {
                packet.fate = Fate::Lost;
            }
            self.sampler.on_lost(self.in_flight_bytes);
            self.in_flight_bytes = 0;
            self.episode_from = self.next_number;
        }
        self.in_episode = false;
        self.timed_out = true;
        Ok(Event::Timeout(event))
    }

    fn ecn(&mut self, words: &mut Words) -> Result<Event, Refusal> {
        let ce_packets = words.whole("ce")?.ok_or_else(|| words.refusal("`ecn` needs `ce`"))?;
        let earlier = self.packets.values().map(|packet| packet.sent_at).filter(|&at| at < words.at).max();
        let newest = words.span("newest")?.map(|since_start| Time::ZERO + since_start);
        let event = Ecn {
            now: words.at,
            ce_packets,
            packets: words.whole("packets")?.unwrap_or(ce_packets),
            newest_sent_at: newest.or(earlier).unwrap_or(words.at),
            new_episode: words.flag("new_episode")?.unwrap_or(!self.in_episode),
            in_flight_bytes: words.whole("in_flight")?.unwrap_or(self.in_flight_bytes),
            srtt: words.span("srtt")?.unwrap_or(self.rtt.smoothed()),
        };
        words.end(&["ce", "packets", "newest", "new_episode", "in_flight", "srtt"])?;
        if event.new_episode {
            self.begin_episode();
        }
        Ok(Event::Ecn(event))
    }
}

/// Reads the fields with one value per packet.
fn name_packets(words: &mut Words, packets: &mut [AckedPacket]) -> Result<(), Refusal> {
    let count = packets.len();
    if let Some(times) = words.list("received", count, parse_span)? {
        packets.iter_mut().zip(times).for_each(|(packet, at)| packet.received_at = Time::ZERO + at);
    }
    if let Some(lost) = words.list("lost_at_send", count, parse_whole)? {
        packets.iter_mut().zip(lost).for_each(|(packet, bytes)| packet.lost_at_send_bytes = bytes);
    }
    if let Some(in_flight) = words.list("in_flight_at_send", count, parse_whole)? {
        packets.iter_mut().zip(in_flight).for_each(|(packet, bytes)| packet.in_flight_at_send_bytes = bytes);
    }
    let mut flag = |key: &str, set: fn(&mut AckedPacket, bool)| -> Result<(), Refusal> {
        let Some(listed) = words.numbers(key)? else { return Ok(()) };
        for packet in packets.iter_mut() {
            set(packet, listed.iter().any(|(first, last)| (*first..=*last).contains(&packet.number)));
        }
        let numbers = join_ranges(packets.iter().map(|packet| packet.number));
        let is_other = |number: u64| !numbers.iter().any(|(first, last)| (*first..=*last).contains(&number));
        match all_numbers(&listed).find(|number| is_other(*number)) {
            Some(number) => {
                Err(words.refusal(format!("{key}: packet {number} is not among the packets of this event")))
            }
            None => Ok(()),
        }
    };
    flag("was_lost", |packet, is| packet.was_lost = is)?;
    flag("ce", |packet, is| packet.ce = is)
}

/// Returns the delivery-rate sample: derived, replaced, or with named parts.
fn named_rate(words: &mut Words, derived: Option<RateSample>) -> Result<Option<RateSample>, Refusal> {
    let rate = words.rate_or_none("rate", derived.map(|sample| sample.rate))?;
    let mut sample = rate.map(|rate| RateSample { rate, ..derived.unwrap_or_default() });
    let mut unused = RateSample::default();
    let part = sample.as_mut().unwrap_or(&mut unused);
    part.delivered_bytes = words.whole("rate_delivered")?.unwrap_or(part.delivered_bytes);
    part.interval = words.span("rate_interval")?.unwrap_or(part.interval);
    part.prior_delivered_bytes = words.whole("rate_prior")?.unwrap_or(part.prior_delivered_bytes);
    part.lost_bytes = words.whole("rate_lost")?.unwrap_or(part.lost_bytes);
    part.in_flight_at_send_bytes = words.whole("rate_in_flight")?.unwrap_or(part.in_flight_at_send_bytes);
    part.app_limited = words.flag("rate_app_limited")?.unwrap_or(part.app_limited);
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use crate::Script;
    use congestion::{Entry, Parameters, Registry};
    use serde_json::Value as Json;

    /// Returns every event of a script for Reno, with all fields.
    fn steps(lines: &str) -> Vec<Json> {
        let script = Script::parse(&format!("dumbbell script 1\ncontroller reno\n{lines}")).unwrap();
        let registry = Registry::builtin();
        let entry: &Entry = registry.find("reno").unwrap();
        let parameters = Parameters::defaults(entry.parameters);
        let report = script.run(Some((entry, &parameters)), false, true).unwrap();
        report["steps"].as_array().unwrap().clone()
    }

    fn error_text(lines: &str) -> String {
        let script = Script::parse(&format!("dumbbell script 1\ncontroller reno\n{lines}"));
        let registry = Registry::builtin();
        let entry = registry.find("reno").unwrap();
        let parameters = Parameters::defaults(entry.parameters);
        script
            .and_then(|script| script.run(Some((entry, &parameters)), false, false))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn what_an_ack_does_not_say_follows_from_the_lines_before() {
        let steps = steps("@0 sent 0..9\n@0.1 ack 0..1\n@0.1 sent 10..13\n@0.14 ack 2 ack_delay=0.02\n");
        let first = &steps[10]["fields"];
        assert_eq!((first["acked"].as_u64(), first["in_flight"].as_u64()), (Some(2000), Some(8000)));
        assert_eq!(
            (first["round_start"].as_bool(), first["window_limited"].as_bool()),
            (Some(true), Some(true))
        );
        // 2000 bytes were delivered in 0.1 s, starting at 0.
        assert_eq!((first["rate"].as_u64(), first["rate_prior"].as_u64()), (Some(160_000), Some(0)));
        let second = &steps[15]["fields"];
        // RFC 9002 5.3: 140 ms minus 20 ms of delay, 7/8 * 100 + 1/8 * 120 and 3/4 * 50 + 1/4 * 20.
        assert_eq!((second["rtt"].as_f64(), second["srtt"].as_f64()), (Some(0.14), Some(0.1025)));
        assert_eq!((second["rttvar"].as_f64(), second["min_rtt"].as_f64()), (Some(0.0425), Some(0.1)));
        assert_eq!((second["round_start"].as_bool(), second["next"].as_u64()), (Some(false), Some(14)));
        assert_eq!(second["delivered"].as_u64(), Some(3000));
    }

    #[test]
    fn an_episode_ends_with_a_packet_that_left_after_its_beginning() {
        let names = |steps: &[Json]| -> Vec<String> {
            steps.iter().map(|step| step["event"].as_str().unwrap().to_owned()).collect()
        };
        let steps = steps("@0 sent 0..3\n@0.1 lost 0\n@0.1 ack 1\n@0.1 sent 4\n@0.1 lost 2\n@0.2 ack 4\n");
        assert_eq!(names(&steps[4..]), ["lost", "ack", "sent", "lost", "recovered", "ack"]);
        let flags: Vec<Option<bool>> = vec![
            steps[4]["fields"]["new_episode"].as_bool(),
            steps[5]["fields"]["recovery"].as_bool(),
            steps[7]["fields"]["new_episode"].as_bool(),
            steps[9]["fields"]["recovery"].as_bool(),
        ];
        assert_eq!(flags, [Some(true), Some(true), Some(false), Some(false)]);
        assert_eq!(steps[9]["fields"]["lost"].as_u64(), Some(1000), "declared lost since the ACK before");
    }

    #[test]
    fn a_packet_that_was_lost_and_arrives_is_delivered_and_not_in_flight_twice() {
        let steps = steps("@0 sent 0..3\n@1 timeout\n@1 sent 4\n@1.1 timeout\n@1.2 ack 0\n");
        assert_eq!(steps[4]["fields"]["in_flight_before"].as_u64(), Some(4000));
        assert_eq!(steps[6]["fields"]["repeated"].as_bool(), Some(true));
        let ack = &steps[7]["fields"];
        assert_eq!((ack["in_flight"].as_u64(), ack["delivered"].as_u64()), (Some(0), Some(1000)));
        assert_eq!(ack["was_lost"], serde_json::json!([[0, 0]]));
    }

    #[test]
    fn what_a_line_names_replaces_the_rule() {
        let steps =
            steps("@0 sent 0 in_flight=9000\n@0.1 ack 0 in_flight=8000 rtt=none rate=none ce=0 owd=0.03\n");
        let ack = &steps[1]["fields"];
        assert_eq!((ack["in_flight_before"].as_u64(), ack["in_flight"].as_u64()), (Some(9000), Some(8000)));
        assert!(ack["rtt"].is_null() && ack["rate"].is_null() && ack.get("rate_delivered").is_none());
        assert_eq!(
            (ack["ce"].clone(), ack["received"].clone()),
            (serde_json::json!([[0, 0]]), serde_json::json!([0.03]))
        );
    }

    #[test]
    fn acks_of_one_time_find_the_flight_full_where_packets_left_in_between() {
        let steps = steps("@0 sent 0..9\n@0.1 ack 0..3 every=0 releases=10..16\n@0.2 ack 4..9 releases=17\n");
        let events: Vec<(String, u64)> = steps[10..]
            .iter()
            .map(|step| {
                let key = if step["event"] == "ack" { "in_flight_before" } else { "in_flight" };
                (step["event"].as_str().unwrap().to_owned(), step["fields"][key].as_u64().unwrap() / 1000)
            })
            .collect();
        let expected = [
            ("ack", 10),
            ("sent", 10),
            ("ack", 10),
            ("sent", 10),
            ("sent", 11),
            ("ack", 11),
            ("sent", 11),
            ("sent", 12),
            ("ack", 12),
            ("sent", 12),
            ("sent", 13),
            ("ack", 13),
            ("sent", 8),
        ];
        assert_eq!(events, expected.map(|(name, packets)| (name.to_owned(), packets)));
        assert_eq!(steps[11]["time_s"].as_f64(), Some(0.1), "they have the time of the ACK");
        let error = error_text("@0 sent 0..9\n@0.1 ack 0 releases=9\n");
        assert_eq!(error, "line 4: packet 9 was sent: numbers only grow, the next one is 10");
    }

    #[test]
    fn persistent_congestion_ends_the_episode_and_nobody_is_told_that_it_ended() {
        let steps =
            steps("@0 sent 0..3\n@1 lost 0..2\n@1 timeout kind=persistent\n@1 ack 3\n@1 sent 4\n@2 ack 4\n");
        let names: Vec<&str> = steps[4..].iter().map(|step| step["event"].as_str().unwrap()).collect();
        assert_eq!(names, ["lost", "timeout", "ack", "sent", "ack"]);
        assert_eq!(steps[6]["fields"]["recovery"].as_bool(), Some(false));
    }

    #[test]
    fn events_that_cannot_be_are_refused_with_their_line() {
        for (lines, why) in [
            ("@0 sent 1\n@0 sent 0\n", "line 4: packet 0 was sent: numbers only grow, the next one is 2"),
            ("@0 sent 0\n@1 ack 0\n@2 ack 0\n", "line 5: packet 0 was acknowledged before"),
            ("@0 sent 0\n@1 ack 0\n@2 lost 0\n", "line 5: packet 0 is not in flight"),
            ("@0 sent\n", "line 3: `sent` needs packets, for example `0..9`"),
            ("@0 timeout 1\n", "line 3: `timeout` is about no packets"),
            ("@0 timeout kind=x\n", "line 3: kind = x: expected `rto` or `persistent`"),
            ("@0 ecn\n", "line 3: `ecn` needs `ce`"),
            ("@0 sent 0\n@1 ack 0 ce=1\n", "line 4: ce: packet 1 is not among the packets of this event"),
            (
                "@0 sent 0..1\n@1 ack 0..1 received=0.5\n",
                "line 4: received = 0.5: expected 2 values with commas between",
            ),
            ("@0 sent 0 bytes=65001\n", "line 3: bytes = 65001: expected a whole number up to 65000"),
        ] {
            assert_eq!(error_text(lines), why);
        }
    }
}
