use super::{Dualpi2, Dualpi2Spec};
use crate::Ecn;
use crate::queues::testing::{Bench, numbers};
use crate::queues::{Queue, QueueSpec};

fn spec(more: &str) -> QueueSpec {
    serde_json::from_str(&format!(r#"{{"kind": "dualpi2"{more}}}"#)).unwrap()
}

fn inner(bench: &mut Bench) -> &mut Dualpi2 {
    let Queue::Dualpi2(queue) = &mut bench.queue else { panic!("another queue") };
    queue
}

#[test]
fn defaults_are_those_of_rfc_9332() {
    let QueueSpec::Dualpi2(spec) = spec("") else { panic!("another queue") };
    let expected = Dualpi2Spec {
        packets: None,
        bytes: None,
        target_ms: 15.0,
        t_update_ms: 16.0,
        alpha_hz: 0.16,
        beta_hz: 3.2,
        coupling: 2.0,
        l4s_min_ms: 0.8,
        l4s_range_ms: 0.4,
        l4s_spared_packets: 1,
        classic_share: 0.1,
    };
    assert_eq!(spec, expected);
}

/// One classic packet arrives at 24 ms and stays. Updates at 16 n ms see delays of 0, 8, 24, 40 ms:
/// 0; 0 + 0.16 (8 - 15) / 1000 + 3.2 x 0.008 = 0.02448; + 0.16 x 0.009 + 3.2 x 0.016 = 0.07712; + 0.16 x 0.025 + 0.0512
/// = 0.13232.
#[test]
fn the_controller_follows_the_rfcs_formula() {
    let mut bench = Bench::new(&spec(""));
    bench.at_ms(24);
    bench.arrive(0, 1500);
    for (ms, expected) in [(24, 0.0), (32, 0.02448), (48, 0.07712), (64, 0.13232)] {
        bench.at_ms(ms);
        let now = bench.now;
        let queue = inner(&mut bench);
        queue.catch_up(now);
        assert!((queue.base - expected).abs() < 1e-12, "{ms} ms: {}", queue.base);
    }
    // Without packets p' falls by 0.16 x 0.015 per update, at first also by the decrease of the delay. It falls to 0
    // and stays there.
    assert!(bench.leave().is_some());
    bench.at_ms(10_000);
    let now = bench.now;
    inner(&mut bench).catch_up(now);
    assert_eq!(inner(&mut bench).base, 0.0);
    assert!(inner(&mut bench).next_update > now);
}

/// With p' held at 0.1, L4S packets are marked with 0.2, classic ones signalled with 0.01.
#[test]
fn the_coupling_squares_for_classic_and_doubles_for_l4s() {
    for (ecn, expected) in [(Ecn::ECT1, 200), (Ecn::ECT0, 10), (Ecn::NOT_ECT, 10)] {
        let mut bench = Bench::new(&spec(""));
        (0..1001).for_each(|_| bench.arrive_with(0, 1500, ecn));
        inner(&mut bench).base = 0.1;
        while bench.leave().is_some() {}
        let signals = bench.tap.marked.len() + bench.tap.dropped.len();
        assert!(signals.abs_diff(expected) <= 1, "{ecn:?}: {signals}");
        assert_eq!(bench.tap.dropped.is_empty(), ecn != Ecn::NOT_ECT);
    }
}

#[test]
fn the_ramp_marks_by_delay_and_spares_a_lone_packet() {
    let marked = |more: &str, packets: u64, us: u64| {
        let mut bench = Bench::new(&spec(more));
        (0..packets).for_each(|_| bench.arrive_with(0, 1500, Ecn::ECT1));
        bench.now += units::Span::from_us(us);
        while bench.leave().is_some() {}
        bench.tap.marked.len()
    };
    // Probability 0 up to 0.8 ms, a half at 1 ms, 1 from 1.2 ms on; the last packet is alone.
    assert_eq!((marked("", 101, 800), marked("", 101, 1000), marked("", 101, 1200)), (0, 49, 100));
    assert_eq!(marked("", 1, 1200), 0);
    let step = r#", "l4s_min_ms": 1, "l4s_range_ms": 0"#;
    assert_eq!((marked(step, 101, 999), marked(step, 101, 1000)), (0, 100));
}

#[test]
fn l4s_goes_first_but_classic_keeps_its_share() {
    let mut bench = Bench::new(&spec(""));
    for _ in 0..400 {
        bench.arrive_with(1, 1500, Ecn::NOT_ECT);
        bench.arrive_with(2, 1500, Ecn::ECT1);
    }
    let flows: Vec<u32> = (0..200).map(|_| bench.leave_packet().unwrap().flow).collect();
    // A burst of L4S packets may be 9 packets ahead; then 1 packet in 10 is classic.
    assert!(flows[..9].iter().all(|flow| *flow == 2), "{flows:?}");
    let classic = flows.iter().filter(|flow| **flow == 1).count();
    assert!((19..=20).contains(&classic), "{classic}");
}

#[test]
fn ce_is_l4s_and_both_codepoints_of_classic_are_not() {
    let mut bench = Bench::new(&spec(""));
    for ecn in [Ecn::NOT_ECT, Ecn::ECT0, Ecn::ECT1, Ecn::CE] {
        bench.arrive_with(0, 1500, ecn);
    }
    (0..4).for_each(|_| _ = bench.leave());
    assert_eq!(numbers(&bench.tap.dequeued), [2, 3, 0, 1]);
}

/// At p' = 0.6 the coupled probability would be 1.2. So both queues drop 36 % of all packets, with any codepoint, and
/// mark the remaining L4S packets. The last packet stays.
#[test]
fn overload_drops_whatever_is_capable() {
    for ecn in [Ecn::ECT0, Ecn::ECT1] {
        let mut bench = Bench::new(&spec(""));
        (0..1000).for_each(|_| bench.arrive_with(0, 1500, ecn));
        inner(&mut bench).base = 0.6;
        while bench.leave().is_some() {}
        assert!(bench.tap.dropped.len().abs_diff(360) <= 1, "{}", bench.tap.dropped.len());
        let expected = if ecn == Ecn::ECT1 { bench.tap.dequeued.len() } else { 0 };
        assert_eq!(bench.tap.marked.len(), expected);
        assert_eq!(bench.tap.dequeued.last().unwrap().1.number, 999);
    }
}

#[test]
fn the_limit_is_over_both_queues() {
    let mut bench = Bench::new(&spec(r#", "packets": 3"#));
    for ecn in [Ecn::ECT1, Ecn::NOT_ECT, Ecn::ECT1, Ecn::ECT1, Ecn::NOT_ECT] {
        bench.arrive_with(0, 1500, ecn);
    }
    assert_eq!(numbers(&bench.tap.dropped), [3, 4]);
}

#[test]
fn bad_values_are_refused_by_name() {
    for (more, part) in [
        (r#", "classic_share": 1"#, "classic_share = 1: allowed is a number above 0, below 1"),
        (r#", "coupling": 0"#, "coupling = 0"),
        (r#", "l4s_min_ms": 0"#, "l4s_min_ms = 0"),
        (r#", "l4s_range_ms": -1"#, "l4s_range_ms = -1"),
        (r#", "alpha_hz": -1"#, "alpha_hz = -1"),
        (r#", "packets": 0"#, "packets = 0"),
    ] {
        let error = spec(more).validate().unwrap_err().to_string();
        assert!(error.starts_with("queue `dualpi2`: ") && error.contains(part), "{error}");
    }
    let mut queue = Bench::new(&spec("")).queue;
    assert!(queue.set("beta_hz", 0.0).unwrap_err().to_string().contains("beta_hz = 0"));
    assert!(queue.set("coupling", 4.0).is_ok());
}
