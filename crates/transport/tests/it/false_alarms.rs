//! Packets that are late and not lost: no retransmission once reordering was seen, and reductions that are taken back.

use crate::harness::Pair;
use congestion::{Control, Controller, FieldSink, Loss};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use transport::{ApplicationSpec, Config, Reordering};
use units::Time;

const SEGMENT: u64 = 1448;

fn greedy(config: &Config) -> Pair {
    let config = Config { max_window_bytes: 200 * SEGMENT, ..config.clone() };
    Pair::new(&config, ApplicationSpec::Greedy)
}

/// A flow of 2000 ms in which three packets of four arrive 5 ms late: retransmissions and loss episodes.
fn three_of_four_late(config: &Config) -> (u64, u64) {
    let mut pair = greedy(config);
    pair.late = (12..4000).filter(|number| number % 4 != 0).map(|number| (number, 5)).collect();
    pair.run_to(2000);
    let stats = pair.sender.stats();
    (stats.retransmissions, stats.episodes)
}

#[test]
fn three_packets_of_four_late_cause_next_to_no_retransmission() {
    let (retransmissions, episodes) = three_of_four_late(&Config::tcp());
    assert!(retransmissions <= 3 && episodes <= 1, "{retransmissions} {episodes}");
    let (distance, _) = three_of_four_late(&Config { reordering: Reordering::Distance, ..Config::quic() });
    let (fixed, _) = three_of_four_late(&Config::quic());
    assert!(fixed > 100 && distance < fixed / 2, "{fixed} {distance}");
}

/// Controller that counts the reported episodes and undone episodes, with a window of ten segments.
#[derive(Debug)]
struct Counter {
    episodes: Arc<AtomicU64>,
    undone: Arc<AtomicU64>,
}

impl Controller for Counter {
    fn on_ack(&mut self, _ack: &congestion::Ack<'_>) {}
    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.episodes.fetch_add(u64::from(loss.new_episode), Ordering::Relaxed);
    }
    fn on_spurious_loss(&mut self, _now: Time) {
        self.undone.fetch_add(1, Ordering::Relaxed);
    }
    fn control(&self) -> Control {
        Control::window(10 * SEGMENT)
    }
    fn fields(&self, _sink: &mut dyn FieldSink) {}
}

/// Returns the number of episodes and of undone episodes in a flow of 3000 ms that `script` changes.
fn count_undone(config: &Config, script: impl FnOnce(&mut Pair)) -> (u64, u64) {
    let (episodes, undone) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    let counter = Counter { episodes: episodes.clone(), undone: undone.clone() };
    let mut pair = Pair::with(config, ApplicationSpec::Greedy, |_| Box::new(counter), None);
    script(&mut pair);
    pair.run_to(3000);
    (episodes.load(Ordering::Relaxed), undone.load(Ordering::Relaxed))
}

#[test]
fn an_episode_is_undone_by_a_packet_that_comes_rounds_after_it_ended() {
    for config in [Config::tcp(), Config::quic()] {
        for late_ms in [60, 160, 360, 900] {
            let counts = count_undone(&config, |pair| pair.late = vec![(43, late_ms)]);
            assert_eq!(counts, (1, 1), "{} {late_ms}", config.profile);
        }
    }
}

#[test]
fn an_episode_with_one_real_loss_is_not_undone() {
    for config in [Config::tcp(), Config::quic()] {
        let counts = count_undone(&config, |pair| (pair.late, pair.drop) = (vec![(43, 160)], vec![44]));
        assert_eq!(counts.1, 0, "{}", config.profile);
    }
}

/// A flow whose packets from 40 on are all held until `until_ms`.
fn spike(config: &Config, until_ms: u64) -> Pair {
    let mut pair = greedy(config);
    pair.hold = Some((400, until_ms));
    pair.run_to(4000);
    pair
}

#[test]
fn a_delay_of_a_second_and_a_half_is_no_loss() {
    let pair = spike(&Config::tcp(), 1900);
    let stats = pair.sender.stats();
    assert!(stats.timeouts >= 1 && stats.retransmissions <= 4, "{stats:?}");
    let window = pair.sender.window_bytes() / SEGMENT;
    let calm = {
        let mut pair = greedy(&Config::tcp());
        pair.run_to(2500);
        pair.sender.window_bytes() / SEGMENT
    };
    assert!(window >= calm, "{window} {calm}: it goes on from where it stood");
    let without = spike(&Config { undo: false, ..Config::tcp() }, 1900).sender.stats().retransmissions;
    assert!(without > 20, "{without}");
}

#[test]
fn after_an_outage_that_drops_packets_nothing_is_undone() {
    let counts = count_undone(&Config::tcp(), |pair| pair.drop = (40..60).collect());
    assert_eq!(counts.1, 0);
}

#[test]
fn a_lost_packet_is_found_after_reordering_by_time() {
    let mut pair = greedy(&Config::tcp());
    pair.late = (12..40).filter(|number| number % 4 != 0).map(|number| (number, 5)).collect();
    pair.drop = vec![60];
    pair.run_to(2000);
    let stats = pair.sender.stats();
    let real = stats.packets_lost - stats.spurious_losses;
    assert_eq!((real, stats.timeouts, stats.probes), (1, 0, 0), "{stats:?}");
}

#[test]
fn after_an_outage_the_first_missing_segment_is_sent_first_although_it_was_sent_again_before() {
    let outage = |end: u64, ms: u64| {
        let mut pair = greedy(&Config::tcp());
        pair.drop = (100..end).collect();
        pair.run_to(ms);
        pair
    };
    // Whatever leaves within 2 s is lost from packet 100 on: a flight, a probe, two or three retransmissions.
    let end = outage(u64::MAX >> 40, 2000).sender.packets_sent();
    let pair = outage(end, 6000);
    let first = pair.sent.iter().find(|(_, data)| data.number == 100).expect("it").1.offset;
    let again = pair.sent.iter().filter(|(_, data)| data.retransmission && data.number < end + 3);
    let offsets: Vec<u64> = again.map(|(_, data)| (data.offset - first) / SEGMENT).collect();
    assert!(pair.sender.stats().timeouts >= 2, "{:?}", pair.sender.stats());
    assert!(offsets.ends_with(&[0, 0, 0, 1, 2]), "{offsets:?}");
}
