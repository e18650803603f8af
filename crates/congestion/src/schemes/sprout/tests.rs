//! Tests of forecasts against an independent implementation (`docs/evidence/derivations.md`, Sprout), and of two ends
//! over a link without a transport in between.

use super::ENTRY;
use super::forecast::{Counts, Tables};
use super::model::{Motion, Posterior};
use super::peer::{End, Peer, ms};
use super::wire::{Forecast, Header};
use crate::{Ack, Arrived, Controller, Loss, Parameters, ReceiverHalf, Sent, Start};
use std::collections::VecDeque;
use units::{Span, Time};

const MOTION: Motion = Motion { sigma: 200.0, outage_escape: 1.0 };
const QUANTILE: f64 = 0.05;

fn forecast(posterior: &Posterior) -> Counts {
    Tables::get(MOTION).forecast(posterior, QUANTILE)
}

/// Returns the posterior after `history`.
fn after(history: impl IntoIterator<Item = Option<u32>>) -> Posterior {
    let mut posterior = Tables::get(MOTION).posterior();
    history.into_iter().for_each(|arrivals| posterior.tick(arrivals));
    posterior
}

fn constant(arrivals: u32) -> impl Iterator<Item = Option<u32>> {
    std::iter::repeat_n(Some(arrivals), 50)
}

/// Expected values come from a second implementation, like `vectors.csv` below.
#[test]
fn forecasts_equal_the_computed_ones() {
    let silence = |ticks| constant(10).chain(std::iter::repeat_n(Some(0), ticks));
    let skipped = |ticks| constant(10).chain(std::iter::repeat_n(None, ticks));
    let cases = vec![
        (after([]), [1, 1, 3, 4, 5, 6, 8, 9], 501.95),
        (after(constant(1)), [0, 0, 0, 1, 1, 2, 3, 4], 68.0),
        (after(constant(5)), [2, 4, 8, 11, 14, 18, 21, 24], 258.3),
        (after(constant(10)), [5, 12, 20, 27, 35, 43, 51, 59], 505.8),
        (after(constant(20)), [12, 28, 44, 61, 77, 94, 111, 128], 953.4),
        (after(constant(60)), [13, 30, 47, 64, 82, 100, 117, 135], 996.4),
        (after(silence(1)), [4, 9, 15, 21, 27, 33, 38, 44], 413.2),
        (after(silence(3)), [1, 2, 4, 6, 8, 10, 12, 14], 209.7),
        (after(silence(4)), [0, 0, 0, 0, 0, 0, 1, 2], 105.7),
        (after(skipped(8)), [4, 11, 17, 24, 31, 37, 44, 51], 505.5),
    ];
    for (posterior, counts, mean) in cases {
        assert_eq!(forecast(&posterior), counts);
        assert!((posterior.mean() - mean).abs() < 0.06, "{} instead of {mean}", posterior.mean());
    }
}

/// Tests every step of `vectors.csv`, which a second implementation of the forecaster of keithw/sprout@c838669
/// computed. It contains counts of packets by tick, mean of the posterior in packets/s, and its probability of an
/// outage.
#[test]
fn every_step_of_the_vectors_is_repeated() {
    let text = include_str!("vectors.csv");
    let mut scenario = String::new();
    let mut posterior = after([]);
    let mut step = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let numbers: Vec<f64> = cells[1..].iter().map(|cell| cell.parse().unwrap()).collect();
        if cells[0] != scenario {
            scenario = cells[0].to_owned();
            posterior = if scenario.starts_with("ten_x50") { after(constant(10)) } else { after([]) };
            step = if scenario.starts_with("ten_x50") { 50 } else { 0 };
        }
        let observed = (numbers[1] >= 0.0).then_some(numbers[1] as u32);
        while step < numbers[0] as u32 {
            posterior.tick(observed);
            step += 1;
        }
        let expected: Vec<u8> = numbers[2..10].iter().map(|count| *count as u8).collect();
        assert_eq!(forecast(&posterior).as_slice(), expected, "{line}");
        assert!((posterior.mean() - numbers[10]).abs() < 1e-4, "{}: {line}", posterior.mean());
        assert!(
            (posterior.outage() - numbers[11]).abs() <= 1e-4 * numbers[11],
            "{}: {line}",
            posterior.outage()
        );
    }
    assert!(step > 0, "there are no vectors");
}

#[test]
fn a_thousand_arrivals_in_a_tick_are_survived() {
    let posterior = after([Some(0), Some(0), Some(1000), Some(1000)]);
    assert!(posterior.mean() > 500.0, "{}", posterior.mean());
}

fn start() -> Start {
    Start { now: Time::ZERO, mss_bytes: 1400, initial_window_bytes: 14_000, seed: 1 }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn parameters(settings: &[(&str, &str)]) -> Parameters {
    let mut parameters = Parameters::defaults(ENTRY.parameters);
    for (name, value) in settings {
        parameters.set(name, value).unwrap();
    }
    parameters
}

fn controller(settings: &[(&str, &str)]) -> Box<dyn Controller> {
    ENTRY.build(&parameters(settings), &start()).unwrap()
}

fn receiver(settings: &[(&str, &str)]) -> Box<dyn ReceiverHalf> {
    (ENTRY.receiver.unwrap())(&parameters(settings), &start()).unwrap()
}

/// Delivers an ACK with nothing but feedback; `in_flight_bytes` are in flight.
fn feed(controller: &mut dyn Controller, now: u64, in_flight_bytes: u64, header: &Header) {
    let mut feedback = vec![];
    header.write(&mut feedback);
    controller.on_ack(&Ack {
        now: at(now),
        packets: &[],
        acked_bytes: 0,
        growth_bytes: 0,
        lost_bytes: 0,
        rtt: None,
        srtt: Span::ZERO,
        rttvar: Span::ZERO,
        min_rtt: Span::ZERO,
        ack_delay: Span::ZERO,
        in_flight_before_bytes: in_flight_bytes,
        in_flight_bytes,
        peak_in_flight_bytes: in_flight_bytes,
        window_limited: false,
        pacing_limited: false,
        app_limited: false,
        delivered_bytes: 0,
        rate: None,
        round_start: false,
        in_recovery: false,
        next_number: 0,
        queued_bytes: u64::MAX,
        queue_delay: Span::ZERO,
        feedback: &feedback,
        complete_bytes: 0,
        sent_bytes: 0,
    });
}

/// Sends one packet and returns its header.
fn send(controller: &mut dyn Controller, now: u64, bytes: u32, in_flight_bytes: u64) -> Header {
    let sent = Sent {
        now: at(now),
        number: 0,
        bytes,
        in_flight_bytes,
        retransmission: false,
        filler: bytes < 1400,
        frame: 0,
        frame_end: false,
        idle_timeouts: 0,
    };
    controller.on_sent(&sent);
    Header::from_message(controller.message(&sent), bytes)
}

fn promise(received_or_lost: u64, counts: Counts) -> Header {
    let forecast = Forecast { received_or_lost: received_or_lost.into(), counts };
    Header { forecast: Some(forecast), ends_flight: true, ..Header::default() }
}

#[test]
fn a_connection_begins_with_heartbeats() {
    let mut sender = controller(&[]);
    sender.on_wake(at(0));
    assert_eq!((sender.control().filler_bytes, sender.control().wake_at), (None, at(50)));
    sender.on_wake(at(50));
    assert_eq!(sender.control().filler_bytes, Some(0));
    let header = send(&mut *sender, 50, 0, 0);
    assert!(header.ends_flight && header.forecast.is_none());
    assert_eq!((sender.control().filler_bytes, sender.control().wake_at), (None, at(100)));
}

/// 12 packets of 1400 bytes are promised for the five ticks after the first, and 1000 bytes are queued: 11 full packets
/// and a short one.
#[test]
fn the_window_is_what_is_promised_less_what_waits() {
    let mut sender = controller(&[]);
    let counts = [1, 2, 4, 6, 9, 13, 14, 15];
    send(&mut *sender, 0, 948, 948); // 948 + 2 + 50 bytes of the sequence
    feed(&mut *sender, 10, 948, &promise(0, counts));
    assert_eq!(sender.control().window_bytes, 948 + 12 * 1400 - 1000);
    for sent in 1..=11 {
        assert_eq!(sender.control().filler_bytes, None);
        assert!(!send(&mut *sender, 10, 1400, 948 + sent * 1400).ends_flight);
    }
    assert_eq!(sender.control().filler_bytes, Some(400));
    assert!(send(&mut *sender, 10, 400, 948 + 11 * 1400 + 400).ends_flight);
    // The first packet of the flight had a forecast. Two ticks later 1 + 2 packets are subtracted from the queue, and
    // the window reaches from the third tick to the last.
    let queue = 1000 + 11 * 1402 + 24 + 402 - 3 * 1400;
    feed(&mut *sender, 50, 0, &Header::default());
    assert_eq!(sender.control().window_bytes, (15 - 4) * 1400 - queue);
}

#[test]
fn forecasts_expire() {
    let mut sender = controller(&[]);
    feed(&mut *sender, 0, 0, &promise(0, [0, 10, 20, 30, 40, 50, 60, 70]));
    for (now, packets) in [(0, 50), (20, 50), (40, 50), (60, 40), (120, 10), (139, 10)] {
        sender.on_wake(at(now));
        assert_eq!(sender.control().window_bytes, packets * 1400, "after {now} ms");
    }
    sender.on_wake(at(140));
    assert_eq!((sender.control().window_bytes, sender.control().filler_bytes), (1, Some(0)));
}

#[test]
fn a_flight_cut_short_by_the_application_is_ended_by_a_heartbeat() {
    let mut sender = controller(&[]);
    feed(&mut *sender, 0, 0, &promise(0, [1, 2, 4, 6, 9, 13, 14, 15]));
    assert!(!send(&mut *sender, 0, 1400, 1400).ends_flight);
    assert_eq!((sender.control().filler_bytes, sender.control().wake_at), (None, at(10)));
    sender.on_wake(at(10));
    assert_eq!(sender.control().filler_bytes, Some(0));
    assert!(send(&mut *sender, 10, 0, 1400).ends_flight);
    assert_eq!(sender.control().filler_bytes, None);
}

fn arrive(receiver: &mut dyn ReceiverHalf, now: u64, header: &Header) {
    receiver.on_packet(&Arrived {
        now: at(now),
        bytes: header.data_bytes,
        message: header.to_message(),
        ..Arrived::default()
    });
}

/// Returns all packets that the receiver sends until `end`: time, header, padding.
fn answers(receiver: &mut dyn ReceiverHalf, from: u64, end: u64) -> Vec<(u64, Header, u32)> {
    let mut answers = vec![];
    while receiver.next_timer() < at(end) {
        let now = receiver.next_timer().max(at(from));
        let mut feedback = vec![];
        receiver.write_feedback(now, &mut feedback);
        answers.push((ms(now), Header::read(&feedback).unwrap(), receiver.padding_bytes()));
    }
    answers
}

#[test]
fn the_papers_receiver_fills_the_return_path() {
    let mut receiver = receiver(&[("feedback_only", "off")]);
    assert_eq!(receiver.next_timer(), Time::NEVER);
    arrive(&mut *receiver, 7, &promise(0, [1, 2, 4, 6, 9, 13, 14, 15]));
    let sent = answers(&mut *receiver, 7, 8);
    assert_eq!(sent.len(), 12);
    assert!(sent.iter().all(|(now, header, padding)| (*now, header.data_bytes, *padding) == (7, 1400, 1400)));
    // The receiver's forecast travels with the first packet of the flight, and the last one announces silence.
    assert!(sent[0].1.forecast.is_some() && sent[1..].iter().all(|(_, header, _)| header.forecast.is_none()));
    assert_eq!(sent.iter().filter(|(_, header, _)| header.ends_flight).count(), 1);
    // 12 packets left and 13 were promised, so the next ones leave after some ticks: the window is checked every 10 ms.
    let later = answers(&mut *receiver, 8, 40);
    assert!(later.iter().all(|(now, ..)| now % 10 == 7), "{later:?}");
}

/// Tests keithw/sprout@366e35c, `src/examples/sproutbt2.cc`: the listening end sets `bytes_to_send` to 0 and sends a
/// packet every 20 ms. The packet has a forecast if a tick has ended since the last one. The sending end forecasts,
/// too.
#[test]
fn the_programs_receiver_sends_no_data_and_reports_every_20_ms() {
    let mut receiver = receiver(&[]);
    arrive(&mut *receiver, 7, &promise(0, [1, 2, 4, 6, 9, 13, 14, 15]));
    let sent = answers(&mut *receiver, 7, 108);
    let times: Vec<u64> = sent.iter().map(|(now, ..)| *now).collect();
    assert_eq!(times, [27, 47, 67, 87, 107]);
    assert!(sent.iter().all(|(_, header, padding)| header.ends_flight && *padding == 0));
    // The first tick ends 20 ms after the first arrival, not before: exactly at its end there is no new forecast.
    let told: Vec<bool> = sent.iter().map(|(_, header, _)| header.forecast.is_some()).collect();
    assert_eq!(told, [true, true, true, true, true]);
    let mut sender = controller(&[]);
    feed(&mut *sender, 10, 0, &sent[0].1);
    assert!(send(&mut *sender, 10, 0, 0).forecast.is_some());
}

#[test]
fn foreign_feedback_changes_nothing() {
    let mut sender = controller(&[]);
    let before = sender.control();
    sender.on_loss(&Loss {
        now: at(0),
        packets: &[],
        lost_bytes: 0,
        in_flight_before_bytes: 0,
        in_flight_bytes: 0,
        new_episode: false,
        by_ack: true,
        srtt: Span::ZERO,
        next_number: 0,
    });
    assert_eq!(sender.control(), before);
    assert_eq!(Header::read(b"not Sprout's feedback at all"), None);
}

/// One direction of a link: a queue without limit, a rate, then a delay. Times are ns.
#[derive(Debug, Default)]
struct Line {
    free_at: u64,
    under_way: VecDeque<(u64, Header)>,
}

impl Line {
    fn push(&mut self, now: u64, header: Header, rate_mbps: u64, delay: u64) {
        let bits = header.body_bytes() * 8;
        self.free_at = self.free_at.max(now) + bits * 1000 / rate_mbps;
        self.under_way.push_back((self.free_at + delay, header));
    }

    fn next(&self) -> u64 {
        self.under_way.front().map_or(u64::MAX, |(at, _)| *at)
    }
}

/// Returns Mbit/s of the data direction over the last 70 % of `seconds`. Line `i` leads away from end `i`.
fn closed_loop(rate_mbps: u64, one_way_ms: u64, seconds: u64, feedback_only: &str) -> f64 {
    let parameters = parameters(&[("feedback_only", feedback_only)]);
    let mut peers = [End::Sender, End::Receiver].map(|end| Peer::new(&parameters, &start(), 0, end));
    let mut lines = [Line::default(), Line::default()];
    let (end, mut listens, mut bytes) = (seconds * 1_000_000_000, true, 0);
    loop {
        let wakes = [0, 1].map(|index: usize| peers[index].next_send().as_ns());
        let first_awake = usize::from(!listens && wakes[1] < wakes[0]);
        let line = usize::from(lines[1].next() < lines[0].next());
        let now = wakes[first_awake].min(lines[line].next());
        if now >= end {
            return bytes as f64 * 8.0 / (0.7 * seconds as f64) / 1e6;
        }
        let clock = now / 1_000_000;
        let arrives = lines[line].next() == now;
        let index = if arrives { 1 - line } else { first_awake };
        if arrives {
            let (_, header) = lines[line].under_way.pop_front().unwrap();
            if listens {
                listens = false;
                peers[1] = Peer::new(&parameters, &start(), clock, End::Receiver);
            }
            peers[index].on_packet(clock, &header);
            if line == 0 && now > end * 3 / 10 {
                bytes += header.body_bytes();
            }
        }
        peers[index].look(Time::from_ns(now));
        while let Some(data_bytes) = peers[index].next_packet() {
            let header = peers[index].send(clock, data_bytes);
            lines[index].push(now, header, rate_mbps, one_way_ms * 1_000_000);
        }
    }
}

fn meets(cells: &[(u64, u64, f64)], feedback_only: &str) {
    for (rate_mbps, one_way_ms, mbps) in cells {
        let found = closed_loop(*rate_mbps, *one_way_ms, 30, feedback_only);
        println!("{rate_mbps:4} Mbit/s, {one_way_ms} ms: {found:.2}, expected {mbps}");
        assert!(
            (found / mbps - 1.0).abs() < 0.15,
            "{rate_mbps} Mbit/s, {one_way_ms} ms: {found:.2} for {mbps}"
        );
    }
}

/// Tests against the program's own classes under a virtual clock (`docs/evidence/derivations.md`, Sprout). The cells
/// are those in which the program's five runs, with different phases of the clocks, agree within 5 %.
#[test]
fn the_receiver_that_only_reports_has_the_programs_throughput() {
    meets(
        &[
            (1, 5, 0.94),
            (1, 20, 0.37),
            (1, 60, 0.18),
            (3, 15, 3.00),
            (3, 20, 1.56),
            (3, 100, 0.34),
            (5, 30, 2.42),
            (5, 40, 1.95),
            (8, 30, 4.56),
            (8, 40, 3.28),
            (8, 60, 2.20),
            (8, 100, 0.80),
            (12, 20, 12.0),
            (12, 40, 5.08),
            (20, 15, 19.42),
            (20, 30, 11.35),
            (1000, 20, 16.84),
        ],
        "on",
    );
}

/// Tests the same with both ends sending, as in the paper. In these cells both directions of the program have equal
/// shares. In others one direction stays in a low state, chosen by chance.
#[test]
fn two_ends_that_send_have_the_programs_throughput() {
    meets(
        &[
            (1, 5, 0.67),
            (1, 12, 0.47),
            (12, 12, 11.93),
            (20, 20, 15.70),
            (20, 30, 11.20),
            (1000, 5, 32.73),
            (1000, 12, 21.89),
            (1000, 20, 16.24),
        ],
        "off",
    );
}
