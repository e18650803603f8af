use super::CobaltSpec;
use crate::Ecn;
use crate::queues::testing::{Bench, numbers};
use crate::queues::{Queue, QueueSpec};
use units::{Rate, Time};

fn spec(packets: Option<u64>, ecn: bool) -> QueueSpec {
    QueueSpec::Cobalt(CobaltSpec { packets, bytes: None, target_ms: 5.0, interval_ms: 100.0, ecn })
}

fn blue(bench: &Bench) -> f64 {
    let Queue::Cobalt(cobalt) = &bench.queue else { panic!("another queue") };
    cobalt.blue
}

fn count(bench: &Bench) -> u32 {
    let Queue::Cobalt(cobalt) = &bench.queue else { panic!("another queue") };
    cobalt.count
}

fn ms(events: &[(Time, crate::Packet)]) -> Vec<u64> {
    events.iter().map(|(time, _)| time.as_ns() / 1_000_000).collect()
}

/// Returns a bench on which 2000 packets of 1000 bytes arrive at time 0 and leave one per ms from 1 ms on, until
/// `until_ms`.
fn overloaded_bench(ecn: bool, until_ms: u64) -> Bench {
    let mut bench = Bench::new(&spec(None, ecn));
    (0..2000).for_each(|_| bench.arrive_with(0, 1000, if ecn { Ecn::ECT0 } else { Ecn::NOT_ECT }));
    for ms in 1..=until_ms {
        bench.at_ms(ms);
        bench.leave();
    }
    bench
}

#[test]
fn signals_follow_codels_law_from_an_interval_over_target_on() {
    // Over target from 6 ms on: the first signal is due at 106 ms, where count becomes 2. Then + 70.71 = 176.71, +
    // 57.74 = 234.45, + 50 = 284.45, + 44.72 = 329.17 ms, each at the next departure.
    let bench = overloaded_bench(false, 330);
    assert_eq!(ms(&bench.tap.dropped), [106, 177, 235, 285, 330]);
    let bench = overloaded_bench(true, 330);
    assert_eq!(ms(&bench.tap.marked), [106, 177, 235, 285, 330]);
    assert!(bench.tap.dropped.is_empty());
}

#[test]
fn below_target_the_count_falls_at_the_pace_it_grew() {
    let mut bench = overloaded_bench(false, 330);
    assert_eq!(count(&bench), 6);
    // The backlog leaves at once, then one fresh packet per ms. The next step is due at 329.17 + 40.82 = 369.99. Count
    // 5 ends after 44.72 ms more, 4 after 50, 3 after 57.74, 2 after 70.71, 1 after 100: count 0 at 693.2 ms.
    while bench.queue.packets() > 0 {
        bench.leave();
    }
    let already = bench.tap.dropped.len();
    let mut fell = Vec::new();
    let mut last = count(&bench);
    for ms in 331..=800 {
        bench.at_ms(ms);
        bench.arrive(0, 1000);
        bench.leave();
        if count(&bench) < last {
            last = count(&bench);
            fell.push(ms);
        }
    }
    assert_eq!(bench.tap.dropped.len(), already);
    assert_eq!(last, 0, "{fell:?}");
    assert!(fell.windows(2).all(|pair| pair[1] - pair[0] >= 40), "{fell:?}");
}

#[test]
fn overflow_drops_the_oldest_and_wakes_blue_once_per_target() {
    let mut bench = Bench::new(&spec(Some(3), true));
    bench.at_ms(10);
    (0..5).for_each(|_| bench.arrive_with(0, 1000, Ecn::ECT0));
    assert_eq!(numbers(&bench.tap.dropped), [0, 1]);
    assert_eq!(blue(&bench), 1.0 / 256.0);
    bench.at_ms(15);
    bench.arrive(0, 1000);
    assert_eq!(blue(&bench), 1.0 / 256.0);
    bench.at_ms(16);
    bench.arrive(0, 1000);
    assert_eq!(blue(&bench), 2.0 / 256.0);
}

#[test]
fn idle_times_calm_blue_and_the_last_packet_is_never_dropped() {
    let mut bench = Bench::new(&spec(Some(2), false));
    bench.queue.set_rate(Rate::from_mbps(8.0));
    // 300 overflows, 6 ms apart: BLUE's probability reaches 1.
    for step in 1..=300 {
        bench.at_ms(step * 6);
        (0..3).for_each(|_| bench.arrive(0, 1000));
    }
    assert_eq!(blue(&bench), 1.0);
    bench.at_ms(2000);
    assert!(bench.leave().is_some(), "one of two goes out");
    assert_eq!(bench.queue.packets(), 0);
    // Transmission takes 1 ms: the queue is empty at 2001 ms, which the next arrival handles.
    bench.at_ms(2010);
    bench.arrive(0, 1000);
    assert_eq!(blue(&bench), 1.0 - 1.0 / 4096.0);
    assert!(bench.leave().is_some());
    // The link is busy until 2011 ms: the queue did not run empty before.
    bench.now += units::Span::from_us(900);
    bench.arrive(0, 1000);
    assert_eq!(blue(&bench), 1.0 - 1.0 / 4096.0);
}

#[test]
fn on_a_slow_link_a_few_packets_are_no_standing_queue() {
    let dropped = |mbps: f64| {
        let mut bench = Bench::new(&spec(None, false));
        bench.queue.set_rate(Rate::from_mbps(mbps));
        // A new packet arrives when the packet three before leaves: each waits 36 ms.
        for step in 0..100 {
            bench.at_ms(step * 12);
            bench.arrive(0, 1500);
            if step >= 3 {
                bench.leave();
            }
        }
        bench.tap.dropped.len()
    };
    // At 1 Mbit/s a packet takes 12 ms: 36 ms are below 4 packet times. At 100 Mbit/s they are a standing queue.
    assert_eq!(dropped(1.0), 0);
    assert!(dropped(100.0) > 0);
}

#[test]
fn bad_changes_are_refused() {
    let mut queue = Bench::new(&spec(None, false)).queue;
    for (name, value, expected) in [
        ("target_ms", 0.0, "target_ms = 0: must be above 0"),
        ("interval_ms", f64::NAN, "interval_ms = NaN: must be above 0"),
        ("limit", 3.0, "limit cannot be changed; allowed: packets, bytes, target_ms, interval_ms"),
    ] {
        assert_eq!(queue.set(name, value).unwrap_err().to_string(), format!("queue `cobalt`: {expected}"));
    }
}
