//! Every registered controller under random sequences of events: it never panics, always allows progress, reports
//! sensible numbers, and repeats itself exactly.

use congestion::{
    Ack, AckedPacket, Control, Controller, Ecn, Entry, FieldSink, Loss, ParameterKind, Parameters, REGISTRY,
    RateSample, Sent, Start, Timeout, TimeoutKind,
};
use proptest::prelude::*;
use std::collections::VecDeque;
use units::{Rate, Span, Time};

/// Fields that may be infinite: thresholds nothing has set yet.
const MAY_BE_INFINITE: &[&str] = &["ssthresh"];

/// Fields without a value (NaN) outside of a congestion-avoidance epoch. Measured times, in ms, may have none until the
/// next ACK.
const MAY_BE_ABSENT: &[&str] = &["k", "w_est"];

/// Most packets a controller may send at once here, whatever its window.
const MAX_FLIGHT: usize = 500;

/// One thing that happens to a controller.
#[derive(Clone, Debug)]
enum Step {
    /// Time passes, ns.
    Pass(u64),
    /// At most this many packets leave, as far as the window allows; one always may if nothing is in flight.
    Send(u8),
    /// After leaving out some outstanding packets, this many are acknowledged by one ACK. `way` / 255 of the RTT was
    /// the way to the receiver.
    Ack { skip: u8, count: u8, way: u8, delay_us: u16, limited: bool },
    /// The oldest packets are lost.
    Lose(u8),
    /// The timer expires.
    Timeout { persistent: bool },
    /// Packets come back marked.
    Mark(u8),
    /// The last loss episode was a false alarm.
    FalseAlarm,
    /// Time passes until the controller's own timer, if it has one.
    Wake,
}

/// Spans from 1 ns to 10 days, small ones as likely as large ones.
fn span_ns() -> impl Strategy<Value = u64> {
    (0_u32..50, 1_u64..1000)
        .prop_map(|(exponent, mantissa)| ((mantissa << exponent) / 1000).clamp(1, 864_000_000_000_000))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => span_ns().prop_map(Step::Pass),
        3 => (1_000_u64..400_000_000).prop_map(Step::Pass),
        4 => any::<u8>().prop_map(Step::Send),
        8 => (0_u8..4, 1_u8..64, any::<u8>(), any::<u16>(), any::<bool>()).prop_map(
            |(skip, count, way, delay_us, limited)| Step::Ack { skip: skip.saturating_sub(1), count, way, delay_us, limited }
        ),
        1 => (1_u8..20).prop_map(Step::Lose),
        1 => any::<bool>().prop_map(|persistent| Step::Timeout { persistent }),
        1 => (1_u8..20).prop_map(Step::Mark),
        1 => Just(Step::FalseAlarm),
        2 => Just(Step::Wake),
    ]
}

/// Name, unit and bits of a field's value.
type Field = (&'static str, &'static str, u64);

/// What a step left behind: allowances and fields, bit for bit.
type Trace = Vec<(Control, Vec<Field>)>;

/// A transport that is consistent with itself, and no more.
#[derive(Debug)]
struct Harness {
    name: &'static str,
    controller: Box<dyn Controller>,
    mss_bytes: u32,
    clock_offset: Span,
    now: Time,
    outstanding: VecDeque<AckedPacket>,
    next_number: u64,
    delivered_bytes: u64,
    lost_bytes: u64,
    srtt: Span,
    min_rtt: Span,
    round_end: u64,
    recovery_end: Option<u64>,
    episode_floor: u64,
    timed_out: bool,
    /// Whether the latest step acknowledged something.
    just_acked: bool,
    trace: Trace,
}

impl Harness {
    fn new(entry: &Entry, parameters: &Parameters, mss_bytes: u32, clock_offset: Span) -> Self {
        let now = Time::from_ns(1);
        let start = Start { now, mss_bytes, initial_window_bytes: 10 * u64::from(mss_bytes), seed: 7 };
        Self {
            name: entry.name,
            controller: (entry.build)(parameters, &start),
            mss_bytes,
            clock_offset,
            now,
            outstanding: VecDeque::new(),
            next_number: 0,
            delivered_bytes: 0,
            lost_bytes: 0,
            srtt: Span::ZERO,
            min_rtt: Span::MAX,
            round_end: 0,
            recovery_end: None,
            episode_floor: 0,
            timed_out: false,
            just_acked: false,
            trace: vec![],
        }
    }

    fn in_flight_bytes(&self) -> u64 {
        self.outstanding.iter().map(|packet| u64::from(packet.bytes)).sum()
    }

    fn take(&mut self, step: &Step) {
        self.just_acked = false;
        match *step {
            Step::Pass(ns) => self.now += Span::from_ns(ns),
            Step::Send(count) => (0..count).for_each(|_| self.send()),
            Step::Ack { skip, count, way, delay_us, limited } => {
                self.acknowledge(
                    usize::from(skip),
                    usize::from(count),
                    way,
                    Span::from_us(u64::from(delay_us)),
                    limited,
                );
            }
            Step::Lose(count) => self.lose(usize::from(count)),
            Step::Timeout { persistent } => self.time_out(persistent),
            Step::Mark(count) => self.mark(u64::from(count)),
            Step::FalseAlarm => {
                if self.recovery_end.take().is_some() {
                    self.controller.on_spurious_loss(self.now);
                }
            }
            Step::Wake => self.wake(),
        }
        self.check(step);
    }

    fn send(&mut self) {
        let in_flight_bytes = self.in_flight_bytes() + u64::from(self.mss_bytes);
        let fits =
            in_flight_bytes <= self.controller.control().window_bytes && self.outstanding.len() < MAX_FLIGHT;
        if !fits && !self.outstanding.is_empty() {
            return;
        }
        let packet = AckedPacket {
            number: self.next_number,
            bytes: self.mss_bytes,
            sent_at: self.now,
            lost_at_send_bytes: self.lost_bytes,
            in_flight_at_send_bytes: in_flight_bytes,
            ..AckedPacket::default()
        };
        self.outstanding.push_back(packet);
        self.next_number += 1;
        self.controller.on_sent(&Sent {
            now: self.now,
            number: packet.number,
            bytes: packet.bytes,
            in_flight_bytes,
            retransmission: false,
            filler: false,
        });
    }

    fn acknowledge(&mut self, skip: usize, count: usize, way: u8, held: Span, limited: bool) {
        let skip = skip.min(self.outstanding.len().saturating_sub(1));
        let end = (skip + count).min(self.outstanding.len());
        if end == 0 {
            return;
        }
        let in_flight_before_bytes = self.in_flight_bytes();
        let mut packets: Vec<AckedPacket> = self.outstanding.drain(skip..end).collect();
        for packet in &mut packets {
            let rtt = self.now - packet.sent_at;
            packet.received_at = packet.sent_at + rtt.mul_f64(f64::from(way) / 255.0) + self.clock_offset;
        }
        let newest = packets[packets.len() - 1];
        let rtt = self.now - newest.sent_at;
        self.srtt = if self.srtt.is_zero() { rtt } else { (self.srtt * 7 + rtt) / 8 };
        self.min_rtt = self.min_rtt.min(rtt);
        let acked_bytes = packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        self.delivered_bytes += acked_bytes;
        if self.recovery_end.is_some_and(|end| newest.number >= end) {
            self.recovery_end = None;
        }
        let round_start = newest.number >= self.round_end;
        if round_start {
            self.round_end = self.next_number;
        }
        self.timed_out = false;
        self.just_acked = true;
        let rate = (!rtt.is_zero()).then(|| RateSample {
            delivered_bytes: acked_bytes,
            interval: rtt,
            rate: Rate::from_bytes_per(acked_bytes, rtt),
            prior_delivered_bytes: self.delivered_bytes - acked_bytes,
            lost_bytes: self.lost_bytes - newest.lost_at_send_bytes,
            in_flight_at_send_bytes: newest.in_flight_at_send_bytes,
            app_limited: !limited,
        });
        self.controller.on_ack(&Ack {
            now: self.now,
            packets: &packets,
            acked_bytes,
            lost_bytes: 0,
            rtt: Some(rtt),
            srtt: self.srtt,
            rttvar: self.srtt / 2,
            min_rtt: self.min_rtt,
            ack_delay: held.min(rtt),
            in_flight_before_bytes,
            in_flight_bytes: in_flight_before_bytes - acked_bytes,
            peak_in_flight_bytes: in_flight_before_bytes,
            window_limited: limited,
            app_limited: !limited,
            delivered_bytes: self.delivered_bytes,
            rate,
            round_start,
            in_recovery: self.recovery_end.is_some(),
            next_number: self.next_number,
            queued_bytes: u64::MAX,
            queue_delay: Span::ZERO,
            feedback: &[],
        });
    }

    /// Whether trouble with packet `newest` begins an episode.
    fn begins_episode(&mut self, newest: u64) -> bool {
        let begins = newest >= self.episode_floor;
        if begins {
            self.episode_floor = self.next_number;
            self.recovery_end = Some(self.next_number);
        }
        begins
    }

    fn lose(&mut self, count: usize) {
        // At least one packet stays: something must have been acknowledged above the lost ones.
        let count = count.min(self.outstanding.len().saturating_sub(1));
        if count == 0 {
            return;
        }
        let in_flight_before_bytes = self.in_flight_bytes();
        let packets: Vec<AckedPacket> = self.outstanding.drain(..count).collect();
        let lost_bytes = packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        self.lost_bytes += lost_bytes;
        let new_episode = self.begins_episode(packets[count - 1].number);
        self.controller.on_loss(&Loss {
            now: self.now,
            packets: &packets,
            lost_bytes,
            in_flight_before_bytes,
            in_flight_bytes: in_flight_before_bytes - lost_bytes,
            new_episode,
            srtt: self.srtt,
            next_number: self.next_number,
        });
    }

    fn time_out(&mut self, persistent: bool) {
        let in_flight_before_bytes = self.in_flight_bytes();
        self.lost_bytes += in_flight_before_bytes;
        self.outstanding.clear();
        self.recovery_end = None;
        self.episode_floor = self.next_number;
        let kind = if persistent { TimeoutKind::PersistentCongestion } else { TimeoutKind::Rto };
        let repeated = std::mem::replace(&mut self.timed_out, true);
        self.controller.on_timeout(&Timeout {
            now: self.now,
            kind,
            repeated,
            in_flight_before_bytes,
            next_number: self.next_number,
        });
    }

    fn mark(&mut self, packets: u64) {
        let Some(newest) = self.outstanding.front().map(|packet| packet.number) else { return };
        let new_episode = self.begins_episode(newest);
        self.controller.on_ecn(&Ecn {
            now: self.now,
            ce_packets: packets,
            packets: packets + 1,
            new_episode,
            in_flight_bytes: self.in_flight_bytes(),
            srtt: self.srtt,
        });
    }

    /// A timer that came due must not ask for the same moment again.
    fn wake(&mut self) {
        let wake_at = self.controller.control().wake_at;
        let soon = self.now + Span::from_secs(86_400);
        if wake_at > soon {
            return;
        }
        self.now = self.now.max(wake_at);
        for _ in 0..3 {
            if self.controller.control().wake_at > self.now {
                return;
            }
            self.controller.on_wake(self.now);
        }
        let wake_at = self.controller.control().wake_at;
        assert!(wake_at > self.now, "{} wakes at {wake_at:?} again and again, now {:?}", self.name, self.now);
    }

    fn fields(&self) -> Vec<Field> {
        #[derive(Default)]
        struct Collect(Vec<Field>);
        impl FieldSink for Collect {
            fn put(&mut self, name: &'static str, unit: &'static str, value: f64) {
                self.0.push((name, unit, value.to_bits()));
            }
        }
        let mut collect = Collect::default();
        self.controller.fields(&mut collect);
        collect.0
    }

    fn check(&mut self, step: &Step) {
        let name = self.name;
        let fields = self.fields();
        for &(field, unit, bits) in &fields {
            let value = f64::from_bits(bits);
            let is_infinite = value == f64::INFINITY && MAY_BE_INFINITE.contains(&field);
            let is_absent =
                value.is_nan() && ((unit == "ms" && !self.just_acked) || MAY_BE_ABSENT.contains(&field));
            assert!(value.is_finite() || is_infinite || is_absent, "{name}.{field} = {value} after {step:?}");
        }
        let control = self.controller.control();
        assert_eq!(control, self.controller.control(), "{name}: control() changed something");
        assert_eq!(fields, self.fields(), "{name}: control() changed a field");
        let holds_a_packet = control.window_bytes >= u64::from(self.mss_bytes);
        let reopens = control.wake_at.is_finite() || !self.outstanding.is_empty();
        assert!(holds_a_packet || reopens, "{name} is stuck with {control:?} after {step:?}");
        assert!(control.window_bytes > 0, "{name}: empty window after {step:?}");
        assert!(
            control.window_bytes < u64::MAX || control.pacing.is_some(),
            "{name}: nothing limits sending after {step:?}"
        );
        assert!(control.pacing.is_none_or(|rate| rate > Rate::ZERO), "{name}: pacing at zero after {step:?}");
        self.trace.push((control, fields));
    }
}

fn run(entry: &Entry, parameters: &Parameters, mss_bytes: u32, clock_offset: Span, steps: &[Step]) -> Trace {
    let mut harness = Harness::new(entry, parameters, mss_bytes, clock_offset);
    for step in steps {
        harness.take(step);
    }
    harness.trace
}

/// `entry`'s parameters, each at its default, smallest, largest or middle value as `draws` says.
fn drawn_parameters(entry: &Entry, draws: &[u8]) -> Parameters {
    let mut parameters = Parameters::defaults(entry.parameters);
    for (parameter, draw) in entry.parameters.iter().zip(draws.iter().cycle()) {
        let text = match (parameter.kind, draw % 4) {
            (_, 0) => continue,
            (ParameterKind::Number { min, .. }, 1) => min.to_string(),
            (ParameterKind::Number { max, .. }, 2) => max.to_string(),
            (ParameterKind::Number { min, max }, _) => (min + (max - min) / 2.0).to_string(),
            (ParameterKind::Integer { min, .. }, 1) => min.to_string(),
            (ParameterKind::Integer { max, .. }, 2) => max.to_string(),
            (ParameterKind::Integer { min, max }, _) => (min + (max - min) / 2).to_string(),
            (ParameterKind::Flag, draw) => (draw == 1).to_string(),
            (ParameterKind::Choice(choices), _) => choices[usize::from(*draw) % choices.len()].to_owned(),
        };
        parameters.set(parameter.name, &text).expect("a value within the declared range");
    }
    parameters
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_controller_survives_any_sequence_and_repeats_it_exactly(
        steps in prop::collection::vec(step(), 1..150),
        mss_bytes in prop_oneof![Just(1448_u32), 64_u32..9000],
        clock_offset in prop_oneof![Just(0_u64), 0_u64..1_000_000_000_000_000].prop_map(Span::from_ns),
    ) {
        for entry in REGISTRY {
            let parameters = Parameters::defaults(entry.parameters);
            let first = run(entry, &parameters, mss_bytes, clock_offset, &steps);
            let second = run(entry, &parameters, mss_bytes, clock_offset, &steps);
            prop_assert!(first == second, "{} does not repeat itself", entry.name);
        }
    }

    #[test]
    fn every_controller_survives_the_corners_of_its_parameters(
        steps in prop::collection::vec(step(), 1..150),
        draws in prop::collection::vec(any::<u8>(), 16),
    ) {
        for entry in REGISTRY {
            run(entry, &drawn_parameters(entry, &draws), 1448, Span::ZERO, &steps);
        }
    }
}
