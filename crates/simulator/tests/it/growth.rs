//! Growth of every controller without loss at a constant RTT: not faster than its source says.
//!
//! The path has only a delay. A round is one RTT; measured are the packets sent in a round.

use crate::harness::ends;
use congestion::Registry;
use std::collections::VecDeque;
use transport::{AckFrame, Data, EcnCounts};
use units::{Span, Time};

const RTT: Span = Span::from_ms(100);
const ROUNDS: usize = 80;
/// Number of packets in a round after which a flow is stopped.
const ENOUGH_PACKETS: u64 = 10_000;
/// Number of packets in a round at which the loss is made, and the latest round for the loss.
const LOSE_AT_PACKETS: u64 = 200;
const LOSE_AT_ROUND: usize = 30;
/// Number of rounds until the loss is known and recovery is over.
const SETTLED: usize = 2;

/// Bound on growth: in a round a flow sends at most `factor` times its largest earlier round, and `packets` more.
#[derive(Clone, Copy, Debug)]
struct Growth {
    factor: f64,
    packets: f64,
}

/// Tolerance in packets: rounds begin and end between packets, and windows are whole numbers of packets.
const ROUNDING_PACKETS: f64 = 2.0;

/// Growth without a bound.
const ANY: Growth = times(f64::INFINITY);

const fn times(factor: f64) -> Growth {
    Growth { factor, packets: 0.0 }
}

const fn plus(packets: f64) -> Growth {
    Growth { factor: 1.0, packets }
}

/// Growth of a controller according to its source.
struct Promise {
    controller: &'static str,
    /// Bound from the first packet on.
    start: Growth,
    /// Bound after a loss.
    later: Growth,
    because: &'static str,
}

const fn promise(controller: &'static str, start: Growth, later: Growth, because: &'static str) -> Promise {
    Promise { controller, start, later, because }
}

const PROMISES: &[Promise] = &[
    promise("astraea", ANY, ANY, "what its network says, every 20 ms"),
    promise("aurora", ANY, ANY, "what its network says, twice a round"),
    promise(
        "bbr",
        times(2.89),
        times(2.89),
        "2 / ln 2 is its highest pacing gain, and rates are at most those delivered",
    ),
    promise("bbr3", times(2.78), times(2.78), "4 ln 2 is its highest pacing gain (draft-ietf-ccwg-bbr)"),
    promise("copa", times(2.0), times(2.0), "slow start doubles; losses do not end it"),
    promise("copa-gcc2017", times(2.0), times(2.0), "slow start doubles; losses do not end it"),
    promise(
        "copa-gcc2018",
        times(2.0),
        times(2.0),
        "slow start doubles, and velocity adds a window per round at most",
    ),
    promise(
        "copa_mvfst",
        times(2.0),
        times(2.0),
        "slow start doubles once a smoothed RTT; losses do not end it",
    ),
    promise("cubic", times(2.0), times(1.5), "RFC 9438 4.2: the target is at most 1.5 windows"),
    promise("dctcp", times(2.0), plus(1.0), "RFC 8257: grows as RFC 5681"),
    promise("farc", ANY, ANY, "what its network estimates"),
    promise(
        "fillp",
        times(2.89),
        times(2.89),
        "at most 2 / ln 2 times the received rate, which is that of a round before",
    ),
    promise("fillp2", times(3.0), times(3.0), "STARTUP sends at 3 times the received rate"),
    promise(
        "gcc",
        ANY,
        times(1.008),
        "probes at several times the rate at first; then 8 % per second at most",
    ),
    promise(
        "gquic_cubic",
        times(1.0 + 1460.0 / 1350.0),
        times(1.5),
        "1460 bytes for each ACK of 1350; half of what is acknowledged",
    ),
    promise(
        "hybla",
        times(16.0),
        plus(16.0),
        "2^(100 / 25) per packet in slow start, then (100 / 25)^2 packets per round",
    ),
    promise("indigo", ANY, ANY, "may double every 10 ms"),
    promise("koho", times(1.25), times(1.25), "a quarter of a packet per ACK"),
    promise("ledbat", plus(1.0), plus(1.0), "RFC 6817 2.4.2: one packet per RTT at a gain of 1"),
    promise(
        "ledbat-plus-plus",
        times(1.5),
        plus(0.5),
        "gain 1 / ceil(2 * 60 ms / 100 ms), in slow start per packet",
    ),
    promise("libutp-ledbat", plus(3000.0 / 1424.0), plus(3000.0 / 1424.0), "3000 bytes per RTT"),
    promise("muses", ANY, ANY, "may double every 10 ms"),
    promise(
        "nada",
        times(1.5),
        times(1.5),
        "RFC 8698: at most half above the received rate, which is that of a round before",
    ),
    promise("neural", ANY, ANY, "what its network says"),
    promise("orca", ANY, ANY, "four times as much every 20 ms, if its network says so"),
    promise(
        "pcc",
        times(2.0),
        times(2.0),
        "doubles from one monitor interval to the next, which last a round trip or longer",
    ),
    promise("pcc-experimental", times(2.0), times(2.0), "as PCC"),
    promise("prague", times(2.0), times(1.5), "grows as CUBIC or slower"),
    promise("proteus", times(2.0), times(2.0), "as PCC"),
    promise("remy", ANY, ANY, "what its table says of its signals"),
    promise("reno", times(2.0), plus(1.0), "RFC 5681 3.1"),
    promise("sage", ANY, ANY, "four times as much every 10 ms, if its network says so"),
    promise(
        "scream",
        times(2.0),
        Growth { factor: 1.07, packets: 1.86 },
        "a packet and 5 % per reference window acknowledged; 1.5 / 1.1 of them leave per RTT, which is smoothed from 50 ms on",
    ),
    promise(
        "scream-v1",
        times(2.0),
        times(2.0),
        "fast start grows by what is acknowledged, and resumes (RFC 8298)",
    ),
    promise("sourdough", times(1.0), times(1.0), "a fixed window"),
    promise("sprout", ANY, ANY, "sends what a forecast says, whatever was sent before"),
    promise("teams-bwe", ANY, ANY, "what its network estimates"),
    promise("ten-tms", ANY, ANY, "what its network estimates"),
    promise("unresponsive", times(1.0), times(1.0), "the rate of its line"),
    promise("vegas", times(2.0), plus(1.0), "Linux: doubles every round, then one packet"),
    promise("verus", times(2.0), ANY, "slow start doubles; then windows are looked up in the delay profile"),
    promise("vivace", times(2.0), times(2.0), "as PCC"),
];

/// Packets sent in each round.
#[derive(Debug, Default)]
struct Rounds {
    sent: Vec<u64>,
    lost_in: Option<usize>,
}

/// Runs a flow until it has sent enough; with `with_loss` one packet is lost.
fn rounds(controller: &str, with_loss: bool) -> Rounds {
    let stop = Time::ZERO + RTT * ROUNDS as u64;
    let (mut sender, mut receiver) = ends(controller, stop, |controller| controller, |half| half);
    let (mut data, mut acks) = (VecDeque::<(Time, Data)>::new(), VecDeque::<(Time, AckFrame)>::new());
    let (mut now, mut packet, mut frame) = (Time::ZERO, Data::default(), AckFrame::default());
    let mut rounds = Rounds { sent: vec![0; ROUNDS], lost_in: None };
    loop {
        let data_at = data.front().map_or(Time::NEVER, |(at, _)| *at);
        let ack_at = acks.front().map_or(Time::NEVER, |(at, _)| *at);
        now = now.max(data_at.min(ack_at).min(sender.next_timer()).min(receiver.next_timer()));
        let round = (now.as_ns() / RTT.as_ns()) as usize;
        if round >= ROUNDS {
            return rounds;
        }
        if data_at <= now {
            let (_, packet) = data.pop_front().expect("a packet is due");
            receiver.on_data(now, &packet, EcnCounts::default());
        } else if ack_at <= now {
            let (_, frame) = acks.pop_front().expect("an ACK is due");
            sender.on_ack(now, &frame);
        } else {
            sender.on_timer(now);
        }
        while receiver.poll_ack(now, &mut frame) {
            acks.push_back((now + RTT / 2, std::mem::take(&mut frame)));
        }
        while sender.poll_transmit(now, &mut packet) {
            rounds.sent[round] += 1;
            if rounds.sent[round] > ENOUGH_PACKETS {
                // The round is not complete.
                rounds.sent.truncate(round);
                return rounds;
            }
            let is_time = rounds.sent[round] >= LOSE_AT_PACKETS || round >= LOSE_AT_ROUND;
            if with_loss && is_time && rounds.lost_in.is_none() {
                rounds.lost_in = Some(round);
            } else {
                data.push_back((now + RTT / 2, packet));
            }
        }
    }
}

/// Returns the first round after `from` that sends more than `growth` allows.
fn first_violation(sent: &[u64], from: usize, growth: Growth) -> Option<usize> {
    (from + 1..sent.len()).find(|&round| {
        let before = sent[from..round].iter().copied().max().unwrap_or(0) as f64;
        sent[round] as f64 > growth.factor * before + growth.packets + ROUNDING_PACKETS
    })
}

#[test]
fn every_controller_has_its_place_in_the_table() {
    let promised: Vec<&str> = PROMISES.iter().map(|promise| promise.controller).collect();
    let registry = Registry::builtin();
    let registered: Vec<&str> = registry.iter().map(|entry| entry.name).collect();
    assert_eq!(promised, registered);
}

#[test]
fn no_controller_grows_faster_than_its_source_says() {
    let mut faster = vec![];
    for Promise { controller, start, later, because } in PROMISES {
        let mut check = |growth: Growth, with_loss: bool| {
            let Rounds { sent, lost_in } = rounds(controller, with_loss);
            assert_eq!(lost_in.is_some(), with_loss, "{controller}: {sent:?}");
            if let Some(round) = first_violation(&sent, lost_in.map_or(0, |round| round + SETTLED), growth) {
                faster
                    .push(format!("{controller}, {because}: round {round} of {sent:?}, loss in {lost_in:?}"));
            }
        };
        check(*start, false);
        check(*later, true);
    }
    assert!(faster.is_empty(), "{}", faster.join("\n"));
}
