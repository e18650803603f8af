//! Each switch of the profile `ns3-compat` alone, on scripted transfers: 100 ms RTT, losses by packet number.

use crate::harness::Pair;
use congestion::{Ack, Control, Controller, FieldSink};
use std::sync::{Arc, Mutex};
use transport::{
    AckFrame, AckSize, ApplicationSpec, Config, Data, LossDetection, Range, Reduction, TimerRestart,
};
use units::Span;

const SEGMENT: u64 = 1448;

/// One ACK per packet, no connection set-up, no tail loss probe: packet numbers and times are easy to follow.
fn tcp() -> Config {
    Config { ack_every: 1, handshake: false, tail_loss_probe: false, ..Config::tcp() }
}

fn greedy(config: &Config) -> Pair {
    Pair::new(config, ApplicationSpec::Greedy)
}

/// Segments sent again, in order.
fn resent_segments(pair: &Pair) -> Vec<u64> {
    let again = pair.sent.iter().filter(|(_, data)| data.retransmission);
    again.map(|(_, data)| data.offset / SEGMENT).collect()
}

/// Returns a pair that loses packet 2 and a second packet, and the number of the second packet. `also` picks that
/// packet from the packets of a run in which only packet 2 is lost.
fn pair_with_losses(config: &Config, also: impl Fn(&[Data]) -> u64) -> (Pair, u64) {
    let mut pair = greedy(config);
    pair.drop = vec![2];
    pair.run_to(199);
    let sent: Vec<Data> = pair.sent.iter().map(|(_, data)| *data).collect();
    let second = also(&sent);
    let mut pair = greedy(config);
    pair.drop = vec![2, second];
    pair.run_to(1500);
    (pair, second)
}

#[test]
fn by_sequence_a_lost_retransmission_waits_for_the_timeout() {
    for (loss_detection, timeouts) in [(LossDetection::Packet, 0), (LossDetection::Sequence, 1)] {
        let config = Config { loss_detection, ..tcp() };
        let retransmission =
            |sent: &[Data]| sent.iter().find(|data| data.retransmission).expect("one").number;
        let (pair, _) = pair_with_losses(&config, retransmission);
        assert_eq!(pair.sender.stats().timeouts, timeouts, "{loss_detection:?}");
        assert_eq!(resent_segments(&pair)[..2], [2, 2]);
    }
}

#[test]
fn by_sequence_a_segment_whose_retransmission_is_in_flight_begins_another_episode() {
    // A packet with new data is lost during the first episode and sent again in it. The episode ends before the
    // retransmission arrives.
    let newest = |sent: &[Data]| sent.last().expect("packets").number;
    let (pair, number) =
        pair_with_losses(&Config { loss_detection: LossDetection::Sequence, ..tcp() }, newest);
    let stats = pair.sender.stats();
    assert_eq!((stats.episodes, stats.timeouts), (2, 0));
    let segment = pair.sent.iter().find(|(_, data)| data.number == number).expect("it").1.offset / SEGMENT;
    assert_eq!(resent_segments(&pair), [2, segment]);
}

#[test]
fn by_sequence_a_timeout_repeats_everything_in_order() {
    let mut pair = Pair::new(
        &Config { loss_detection: LossDetection::Sequence, ..tcp() },
        ApplicationSpec::Fixed { bytes: 10 * SEGMENT },
    );
    pair.drop = (2..10).collect();
    pair.run_to(3000);
    assert_eq!((pair.delivered, pair.sender.stats().timeouts), (10 * SEGMENT, 1));
    assert_eq!(resent_segments(&pair), (2..10).collect::<Vec<_>>());
}

#[test]
fn undo_gives_the_window_back_only_if_it_is_on() {
    for (undo, most) in [(true, 23), (false, 18)] {
        let mut pair = greedy(&Config { undo, time_threshold: 0.0, ..tcp() });
        // Reordering that looks like a loss: packet 12 comes 3 ms late.
        pair.late = vec![(12, 3)];
        pair.run_to(290);
        let window = pair.sender.window_bytes() / SEGMENT;
        assert!(if undo { window >= most } else { window <= most }, "undo {undo}: {window} segments");
    }
}

#[test]
fn ns3s_rate_reduction_stalls_where_its_product_overflows() {
    let sent_during_the_first_round = |recovery| {
        let mut pair = greedy(&Config { recovery, initial_window: 600, ..tcp() });
        pair.drop = vec![0];
        pair.run_to(199);
        pair.sent_between(100, 199).len()
    };
    // 599 segments arrive in one instant: half as many leave, one for two.
    assert!((295..=305).contains(&sent_during_the_first_round(Reduction::Prr)));
    // 300 * 1448 * delivered does not fit 32 bits beyond seven segments; below ssthresh as many leave as arrive.
    let ns3 = sent_during_the_first_round(Reduction::PrrNs3);
    assert!((295..=305).contains(&ns3), "{ns3}");
}

/// Contents of each ACK for a controller: the sample, the smallest RTT, and the bytes.
type AckLog = Arc<Mutex<Vec<(Option<Span>, Span, u64)>>>;

#[derive(Debug)]
struct Witness(AckLog);

impl Controller for Witness {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.0.lock().expect("no panic").push((ack.rtt, ack.min_rtt, ack.growth_bytes));
    }
    fn control(&self) -> Control {
        Control::window(6 * SEGMENT)
    }
    fn fields(&self, _sink: &mut dyn FieldSink) {}
}

fn ack_log(config: &Config, script: impl FnOnce(&mut Pair)) -> Vec<(Option<Span>, Span, u64)> {
    let acks = AckLog::default();
    let witness = Box::new(Witness(acks.clone()));
    let mut pair = Pair::with(config, ApplicationSpec::Greedy, |_| witness, None);
    script(&mut pair);
    std::mem::take(&mut *acks.lock().expect("no panic"))
}

#[test]
fn timestamps_count_whole_ticks() {
    let acks = ack_log(&Config { timestamp_ms: 40.0, ..tcp() }, |pair| pair.run_to(210));
    // Sent in ticks 0 and 2 (at 100 ms), acknowledged in ticks 2 (100 ms) and 5 (200 ms).
    assert_eq!(acks[0].0, Some(Span::from_ms(80)));
    assert_eq!(acks[6].0, Some(Span::from_ms(120)));
    let acks = ack_log(&Config { timestamp_ms: 1000.0, ..tcp() }, |pair| pair.run_to(110));
    assert_eq!(acks[0].0, Some(Span::from_us(1)), "within one tick");
}

#[test]
fn smoothed_samples_stand_for_each_rtt() {
    let config = Config { timestamp_ms: 40.0, smoothed_samples: true, ..tcp() };
    let acks = ack_log(&config, |pair| pair.run_to(210));
    assert_eq!(acks[0], (Some(Span::from_ms(80)), Span::from_ms(80), SEGMENT));
    // 7/8 * 80 + 1/8 * 120 ms
    assert_eq!(acks[6], (Some(Span::from_ms(85)), Span::from_ms(80), SEGMENT));
}

#[test]
fn a_hole_lets_nothing_grow_and_cumulative_growth_counts_a_filled_one_at_once() {
    let bytes = |cumulative_growth| {
        let acks = ack_log(&Config { cumulative_growth, ..tcp() }, |pair| {
            pair.drop = vec![1];
            pair.run_to(205);
        });
        acks.iter().take(6).map(|(_, _, bytes)| bytes / SEGMENT).collect::<Vec<_>>()
    };
    assert_eq!(bytes(false), [1, 0, 0, 0, 0, 0]);
    // Packet 0; 2 to 5 above the hole; then packets 6, 7, ... of the next round trip until 1 is repaired.
    let growth = bytes(true);
    assert_eq!(growth[..5], [1, 0, 0, 0, 0]);
    let acks = ack_log(&Config { cumulative_growth: true, ..tcp() }, |pair| {
        pair.drop = vec![1];
        pair.run_to(205);
    });
    let repaired = acks.iter().map(|(_, _, bytes)| bytes / SEGMENT).max();
    assert!(repaired >= Some(5), "{acks:?}");
}

#[test]
fn the_receive_window_counts_from_the_first_missing_byte() {
    let config = Config { receive_window_bytes: 12 * SEGMENT, initial_window: 30, ..tcp() };
    let mut pair = greedy(&config);
    pair.drop = vec![0];
    pair.run_to(99);
    assert_eq!(pair.sent.len(), 12);
    // Eleven arrived, but the first is missing: only that one may leave.
    pair.run_to(199);
    assert_eq!(resent_segments(&pair), [0]);
    assert_eq!(pair.sent.len(), 13);
    pair.run_to(210);
    assert_eq!(pair.sent.len(), 25);
}

#[test]
fn with_the_impatient_timer_only_the_first_partial_ack_restarts_it() {
    // 60 segments lost of a window of 64: the repair takes rounds, each ACK of which is a partial one.
    let timeouts = |timer_restart| {
        let config = Config {
            timer_restart,
            initial_window: 64,
            loss_detection: LossDetection::Sequence,
            // There is no RTT before segment 60 arrives in order.
            timeout_initial_ms: 250.0,
            recovery: Reduction::Prr,
            ..tcp()
        };
        let mut pair = Pair::new(&config, ApplicationSpec::Fixed { bytes: 64 * SEGMENT });
        pair.drop = (0..60).collect();
        pair.run_to(4000);
        assert_eq!(pair.delivered, 64 * SEGMENT);
        pair.sender.stats().timeouts
    };
    assert_eq!((timeouts(TimerRestart::Any), timeouts(TimerRestart::FirstPartial)), (0, 1));
}

#[test]
fn an_option_costs_its_own_bytes_once() {
    let config = Config { ack_option_bytes: 4, ..Config::tcp() };
    let frame = |ranges: u64| AckFrame {
        ranges: (0..ranges).map(|index| Range { start: 2 * index, end: 2 * index + 1 }).collect(),
        ..AckFrame::default()
    };
    // 20 + 32 bytes; with SACK 2 + 8 n, padded to a multiple of 4 (RFC 2018 3).
    let sizes: Vec<u32> = (1..=4).map(|ranges| AckSize::new(&config).of(&frame(ranges))).collect();
    assert_eq!(sizes, [52, 64, 72, 80]);
}

/// libutp's rule for a connection with that first number.
fn utp(first_number: u16) -> Config {
    let first_number = Some(first_number);
    Config {
        loss_detection: LossDetection::Utp,
        first_number,
        initial_window: 60,
        tail_loss_probe: false,
        ..tcp()
    }
}

#[test]
fn libutp_repairs_at_once_or_by_a_timeout_as_the_first_number_has_it() {
    for (first_number, timeouts) in [(9158, 0), (40_000, 1)] {
        let mut pair = Pair::new(&utp(first_number), ApplicationSpec::Fixed { bytes: 60 * SEGMENT });
        pair.drop = vec![2];
        pair.run_to(3000);
        assert_eq!(
            (pair.delivered, pair.sender.stats().timeouts),
            (60 * SEGMENT, timeouts),
            "{first_number}"
        );
        assert_eq!(resent_segments(&pair)[0], 2);
    }
}

#[test]
fn what_an_ack_cannot_name_stays_in_flight_until_the_hole_is_filled() {
    let in_flight_before_repair = |sack_packets: u32| {
        let config = Config { sack_packets, ..utp(40_000) };
        let mut pair = Pair::new(&config, ApplicationSpec::Fixed { bytes: 60 * SEGMENT });
        pair.drop = vec![2];
        pair.run_to(150);
        pair.sender.in_flight_bytes() / SEGMENT
    };
    // The ACK names 30 of the 57 packets above the hole, or all.
    assert_eq!((in_flight_before_repair(30), in_flight_before_repair(0)), (1 + 27, 1));
}

#[test]
fn a_lost_ack_with_a_mask_says_nothing_that_the_next_does_not() {
    let mut pair = Pair::new(&Config { sack_packets: 30, ..utp(9158) }, ApplicationSpec::Greedy);
    pair.drop = vec![2];
    // All that name the hole but two.
    pair.drop_acks = (2..30).collect();
    pair.run_to(150);
    assert_eq!(resent_segments(&pair), [2]);
}

#[test]
fn a_timer_that_is_looked_at_now_and_then_expires_at_the_next_look() {
    let timeout_at = |timeout_check_ms: f64| {
        let mut pair = Pair::new(
            &Config { timeout_check_ms, ..utp(40_000) },
            ApplicationSpec::Fixed { bytes: 10 * SEGMENT },
        );
        pair.drop = vec![2];
        pair.run_to(3000);
        let again = pair.sent.iter().find(|(_, data)| data.retransmission).expect("one").0;
        again.as_ns() / 1_000_000
    };
    // RTT 100 ms, 200 ms of RTO's floor on top, after the last ACK at 100 ms.
    assert_eq!((timeout_at(0.0), timeout_at(500.0)), (400, 500));
}

#[test]
fn libutp_finds_a_lost_retransmission_by_the_timeout_alone() {
    // ACKs of later packets restart the timeout, until a mask can name no more of them.
    for (sack_packets, timeouts) in [(30, 1), (0, 0)] {
        let retransmission =
            |sent: &[Data]| sent.iter().find(|data| data.retransmission).expect("one").number;
        let (pair, _) = pair_with_losses(&Config { sack_packets, ..utp(9158) }, retransmission);
        assert_eq!(
            (pair.sender.stats().timeouts, resent_segments(&pair)[0]),
            (timeouts, 2),
            "{sack_packets}"
        );
    }
}
