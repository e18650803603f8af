//! Tests of the model of `FillP` 2, PACK by PACK.

use super::*;

const INTERVAL: Span = Span::from_ms(20);

/// Flow whose PACKs a test writes; RTT 40 ms.
struct Flow {
    fillp: Fillp2,
    now: Time,
    in_flight_bytes: u64,
    app_limited: bool,
}

fn flow(settings: &[(&str, &str)]) -> Flow {
    let mut parameters = Parameters::defaults(ENTRY.parameters);
    for (name, value) in settings {
        parameters.set(name, value).unwrap();
    }
    let start = Start { now: Time::ZERO, mss_bytes: 1300, initial_window_bytes: 13_000, seed: 1 };
    let mut fillp = Fillp2::new(&parameters, &start);
    fillp.on_established(Time::ZERO, Span::from_ms(40));
    Flow { fillp, now: Time::ZERO, in_flight_bytes: u64::MAX, app_limited: false }
}

impl Flow {
    fn pack_with(&mut self, rate_kbps: u32, loss_percent: u8) {
        self.now += INTERVAL;
        let pack = Pack { rate_kbps, loss_percent };
        self.fillp.on_pack(self.now, pack, self.app_limited, self.in_flight_bytes);
    }

    fn pack(&mut self, rate_kbps: u32) {
        self.pack_with(rate_kbps, 0);
    }

    /// Advances to the PACK before the first of `PROBE_BW` on a link of `rate_kbps`; the flight never exceeds the
    /// bound.
    fn reach_probe_bw(&mut self, rate_kbps: u32) {
        for _ in 0..40 {
            if self.fillp.state == State::ProbeBw {
                break;
            }
            self.now += INTERVAL;
            let received = rate_kbps.min(self.fillp.rate as u32);
            self.fillp.on_pack(self.now, Pack { rate_kbps: received, loss_percent: 0 }, false, 0);
        }
        assert_eq!(self.fillp.state, State::ProbeBw);
        self.in_flight_bytes = 0;
    }

    fn queue(&mut self, srtt_ms: u64) {
        self.fillp.on_rtt(self.now, Span::from_ms(srtt_ms), Span::from_ms(srtt_ms));
    }
}

#[test]
fn init_sends_at_three_times_2000_and_ends_with_the_first_data_or_the_fourth_pack() {
    let mut flow = flow(&[]);
    assert_eq!(flow.fillp.rate, 6000.0);
    (0..3).for_each(|_| flow.pack_with(0, 100));
    assert_eq!((flow.fillp.state, flow.fillp.rate), (State::Init, 6000.0));
    flow.pack_with(0, 100);
    assert_eq!(flow.fillp.state, State::Startup);
    let mut flow = super::tests::flow(&[]);
    flow.pack(5000);
    assert_eq!((flow.fillp.state, flow.fillp.rate), (State::Startup, 15_000.0));
}

#[test]
fn startup_triples_until_seven_packs_without_growth_then_drains_at_a_quarter() {
    let mut flow = flow(&[]);
    for rate in [5000, 15_000, 40_000, 40_000] {
        flow.pack(rate);
        assert_eq!(flow.fillp.rate, 3.0 * f64::from(rate));
    }
    // The mean of two grew with the last; six more make seven.
    (0..5).for_each(|_| flow.pack(40_000));
    assert_eq!(flow.fillp.state, State::Startup);
    flow.pack(40_000);
    assert_eq!((flow.fillp.state, flow.fillp.rate), (State::Drain, 10_000.0));
    flow.pack(40_000);
    assert_eq!(flow.fillp.state, State::Drain);
    // The rate of DRAIN holds until the first PACK of PROBE_BW.
    flow.pack(40_000);
    assert_eq!((flow.fillp.state, flow.fillp.rate), (State::ProbeBw, 10_000.0));
}

#[test]
fn startup_ends_with_a_loss_or_five_times_the_first_rtt() {
    let mut lossy = flow(&[]);
    (0..2).for_each(|_| lossy.pack(5000));
    lossy.fillp.lost_in_startup = true;
    lossy.pack(5000);
    assert_eq!(lossy.fillp.state, State::Drain);
    let mut queued = flow(&[]);
    (0..2).for_each(|_| queued.pack(5000));
    queued.queue(200);
    queued.pack(5000);
    assert_eq!(queued.fillp.state, State::Startup);
    queued.queue(201);
    queued.pack(5000);
    assert_eq!(queued.fillp.state, State::Drain);
}

#[test]
fn startup_ignores_slow_and_application_limited_packs() {
    let mut flow = flow(&[]);
    flow.pack(1000);
    (0..20).for_each(|_| flow.pack(349));
    flow.app_limited = true;
    (0..20).for_each(|_| flow.pack(1000));
    assert_eq!((flow.fillp.state, flow.fillp.plateau), (State::Startup, 0));
}

#[test]
fn drain_ends_when_the_pipe_is_no_longer_over_full() {
    let mut flow = flow(&[]);
    (0..8).for_each(|_| flow.pack(40_000));
    assert_eq!(flow.fillp.state, State::Drain);
    // The bound is 40 Mbit/s times the RTT of 40 ms and the interval of 20 ms.
    flow.in_flight_bytes = 300_000;
    flow.pack(40_000);
    assert_eq!(flow.fillp.state, State::ProbeBw);
}

#[test]
fn the_cycle_has_two_slots_up_one_down_and_a_mean_gain_of_one() {
    let mut flow = flow(&[("queue_rtts", "1000")]);
    flow.reach_probe_bw(40_000);
    let gains: Vec<f64> = (0..16)
        .map(|_| {
            flow.pack(40_000);
            flow.fillp.rate / 40_000.0
        })
        .collect();
    assert_eq!(gains.iter().sum::<f64>(), 16.0);
    let first = (0..16).find(|&slot| gains[slot] == 1.25 && gains[(slot + 1) % 16] == 1.25).unwrap();
    assert_eq!(gains[(first + 2) % 16], 0.5);
    assert_eq!(gains.iter().filter(|gain| **gain == 1.0).count(), 13);
}

#[test]
fn a_long_queue_falls_back_to_the_fourteenth_rate() {
    for (settings, factor) in [(&[("sheep", "false")], 3), (&[("sheep", "true")], 5)] {
        let mut flow = flow(settings);
        flow.reach_probe_bw(40_000);
        (0..21).for_each(|_| flow.pack(30_000));
        flow.pack(36_000);
        let (bandwidth, middle) = (flow.fillp.filter.largest(), flow.fillp.filter.middle());
        assert!(bandwidth > middle && middle == 30_000.0, "{bandwidth} {middle}");
        flow.queue(40 * factor);
        assert_eq!(flow.fillp.base(), bandwidth);
        flow.queue(40 * factor + 1);
        assert_eq!(flow.fillp.base(), middle);
    }
}

#[test]
fn rates_far_apart_cost_a_tenth_instead() {
    let mut flow = flow(&[("jump_limit", "false")]);
    flow.reach_probe_bw(4000);
    (0..21).for_each(|_| flow.pack(4000));
    flow.pack(30_000);
    flow.queue(121);
    assert_eq!(flow.fillp.base(), 27_000.0);
}

#[test]
fn heavy_loss_is_a_reason_for_sheep_only() {
    for (sheep, expected) in [("true", 30_000.0), ("false", 36_000.0)] {
        let mut flow = flow(&[("sheep", sheep), ("jump_limit", "false")]);
        flow.reach_probe_bw(30_000);
        (0..21).for_each(|_| flow.pack(30_000));
        // Two PACKs are needed, because Sheep's samples are means of two PACKs.
        (0..2).for_each(|_| flow.pack(36_000));
        assert_eq!(flow.fillp.base(), 36_000.0);
        flow.pack_with(30_000, 29);
        assert_eq!(flow.fillp.base(), 36_000.0);
        flow.pack_with(30_000, 30);
        assert_eq!(flow.fillp.base(), expected);
    }
}

#[test]
fn from_the_second_cycle_on_a_sample_raises_the_bandwidth_by_a_quarter_at_most() {
    let mut early = flow(&[]);
    early.reach_probe_bw(10_000);
    early.pack(90_000);
    assert_eq!(early.fillp.filter.largest(), 90_000.0);
    let mut flow = flow(&[]);
    flow.reach_probe_bw(10_000);
    (0..16).for_each(|_| flow.pack(10_000));
    flow.pack(90_000);
    assert_eq!(flow.fillp.filter.largest(), 12_500.0);
}

#[test]
fn packs_change_nothing_while_the_application_limits() {
    let mut flow = flow(&[]);
    flow.reach_probe_bw(10_000);
    flow.pack(10_000);
    flow.app_limited = true;
    let (rate, slot) = (flow.fillp.rate, flow.fillp.slot);
    (0..50).for_each(|_| flow.pack(11_000));
    assert_eq!((flow.fillp.bandwidth(), flow.fillp.rate, flow.fillp.slot), (10_000.0, rate, slot));
}

#[test]
fn the_queue_is_drained_every_60_or_10_seconds_for_200_ms() {
    for (sheep, seconds) in [("false", 60.0), ("true", 10.0)] {
        let mut flow = flow(&[("sheep", sheep)]);
        flow.reach_probe_bw(40_000);
        let began = flow.now;
        while flow.fillp.state == State::ProbeBw {
            flow.pack(40_000);
        }
        let waited = (flow.now - began).as_secs_f64();
        assert!((waited - seconds).abs() < 0.021, "{waited}");
        assert_eq!(flow.fillp.rate, 2000.0);
        (0..9).for_each(|_| flow.pack(2000));
        assert_eq!((flow.fillp.state, flow.fillp.rate), (State::ProbeRtt, 350.0));
        flow.pack(2000);
        assert_eq!((flow.fillp.state, flow.fillp.rate), (State::ProbeBw, 40_000.0));
    }
}

#[test]
fn a_smallest_rtt_counts_for_ten_seconds() {
    let mut flow = flow(&[]);
    let mut smallest = vec![];
    for second in [5, 10, 11] {
        flow.now = Time::ZERO + Span::from_secs(second);
        flow.queue(45);
        smallest.push(flow.fillp.min_rtt.get().unwrap());
    }
    assert_eq!(smallest, [40, 40, 45].map(Span::from_ms));
    assert_eq!(flow.fillp.interval(), Span::from_ms(20), "that of the set-up");
}

#[test]
fn what_is_in_flight_above_the_bound_is_skipped() {
    for sheep in ["false", "true"] {
        let mut flow = flow(&[("sheep", sheep)]);
        // The bound in INIT is three times three times 2000 kbit/s over 40 + 20 ms.
        assert_eq!(flow.fillp.cap_bytes(), 135_000);
        flow.reach_probe_bw(40_000);
        (0..2).for_each(|_| flow.pack(40_000));
        // The bound is 40 Mbit/s over 60 ms.
        assert_eq!(flow.fillp.cap_bytes(), 300_000);
        assert!(flow.fillp.skip.until <= flow.now);
        flow.in_flight_bytes = 350_000;
        flow.pack(40_000);
        let expected = flow.now + Span::from_secs_f64(50_000.0 * 8.0 / (flow.fillp.rate * 1e3));
        assert_eq!(flow.fillp.skip.until, expected, "50 kB at the rate");
        // The next PACK replaces the skipped bytes.
        flow.in_flight_bytes = 300_000;
        flow.pack(40_000);
        assert!(flow.fillp.skip.until <= flow.now);
    }
}

#[test]
fn what_is_skipped_at_the_end_of_startup_lasts_into_drain() {
    let mut flow = flow(&[]);
    flow.pack(40_000);
    flow.in_flight_bytes = 1_000_000;
    while flow.fillp.state == State::Startup {
        flow.pack(40_000);
    }
    // In STARTUP the bound is 120 Mbit/s over 60 ms: 900 kB. The rest of 100 kB is skipped at a quarter of the rate.
    assert_eq!(flow.fillp.state, State::Drain);
    let skipped = flow.fillp.skip.until - flow.now;
    assert_eq!(skipped, Span::from_secs_f64(100_000.0 * 8.0 / 10e6));
    flow.pack(40_000);
    assert_eq!(flow.fillp.skip.until - flow.now, skipped - INTERVAL);
}

#[test]
fn the_filter_agrees_with_a_sort_of_its_window() {
    let mut filter = RateFilter::new(21);
    let mut rng = Rng::new(1, "test");
    let mut all = vec![];
    for _ in 0..500 {
        let rate = rng.below(40) as f64;
        all.push(rate);
        filter.push(rate);
        let mut window: Vec<f64> = all.iter().rev().take(21).copied().collect();
        window.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(filter.largest(), window[0]);
        if window.len() == 21 {
            assert_eq!(filter.middle(), window[13]);
        }
    }
}

#[test]
fn packs_come_four_per_rtt_of_the_set_up_but_not_closer_than_20_ms() {
    let mut flow = flow(&[]);
    assert_eq!(flow.fillp.interval(), Span::from_ms(20));
    flow.fillp.first_rtt = Some(Span::from_ms(120));
    assert_eq!(flow.fillp.interval(), Span::from_ms(30));
}

#[test]
fn the_bound_counts_full_packets_and_what_is_in_flight_all_of_them() {
    let mut flow = flow(&[]);
    let full = flow.fillp.cap_bytes();
    let sent = |bytes| Sent {
        now: Time::ZERO,
        number: 0,
        bytes,
        in_flight_bytes: 0,
        retransmission: false,
        filler: false,
        frame: 0,
        frame_end: false,
        idle_timeouts: 0,
    };
    for bytes in [1300, 1300, 1300, 1300, 1300, 1300, 200] {
        let _interval = flow.fillp.message(&sent(bytes));
    }
    assert_eq!(flow.fillp.cap_bytes(), full * 8000 / (7 * 1300));
}
