//! Behavior of the window-based controllers against published or computed figures.

use crate::harness::{bdp_packets, dumbbell, flow, run, spec};
use serde_json::{Value, json};

/// Returns a path without bottleneck: 100 Gbit/s, `rtt_ms`, and the given loss element.
fn lossy(rtt_ms: f64, loss: Value) -> Value {
    let mut path = dumbbell(100_000.0, rtt_ms, 1_000_000);
    path["data"].as_array_mut().expect("a list").insert(1, loss);
    path
}

/// Mathis et al. 1997: rate = C * MSS / (RTT * sqrt(p)), with p the rate of window halvings. Linux's Reno
/// has C = 1.25 +/- 0.06 (docs/evidence/derivations.md, Reno and CUBIC).
#[test]
fn reno_follows_the_square_root_law() {
    let loss = json!({"kind": "loss", "probability": 0.001});
    let outcome = run(&spec(lossy(100.0, loss), vec![flow("reno")], 400.0));
    let halvings = outcome.flow(1, "loss_episodes") / outcome.flow(1, "packets_sent");
    let packets_per_rtt = outcome.flow(1, "packets_delivered") / 400.0 * 0.1;
    let constant = packets_per_rtt * halvings.sqrt();
    assert!((1.19..=1.31).contains(&constant), "C = {constant:.3}");
}

/// RFC 5681: between two losses the window climbs from (BDP + queue) / 2 to BDP + queue, one segment per RTT.
#[test]
fn reno_draws_a_sawtooth() {
    let (rate, rtt, queue) = (12.0, 60.0, 60);
    let outcome = run(&spec(dumbbell(rate, rtt, queue), vec![flow("reno")], 120.0));
    let series = outcome.series(1, "cwnd", 40.0, 120.0);
    let (low, high) = series.iter().fold((f64::MAX, 0f64), |(low, high), (_, w)| (low.min(*w), high.max(*w)));
    // One packet is in service besides the queue.
    let full = bdp_packets(rate, rtt) + queue as f64 + 1.0;
    assert!((high / full - 1.0).abs() < 0.03, "peak {high:.1}, BDP + queue {full:.1}");
    assert!((low / (full / 2.0) - 1.0).abs() < 0.05, "trough {low:.1}, half of it {:.1}", full / 2.0);
    assert!(outcome.link("utilization") > 0.98, "a queue of one BDP keeps the link busy");
    assert_eq!(outcome.flow(1, "timeouts"), 0.0);
}

/// docs/evidence/derivations.md, Reno and CUBIC: with a queue of 0.38 BDP congestion avoidance reaches 93 % of the
/// link.
#[test]
fn reno_cannot_fill_a_link_with_a_shallow_buffer() {
    let queue = (0.38 * bdp_packets(20.0, 100.0)) as u64;
    let outcome = run(&spec(dumbbell(20.0, 100.0, queue), vec![flow("reno")], 300.0));
    let utilization = outcome.link("utilization");
    assert!((0.90..=0.96).contains(&utilization), "{utilization:.3}");
}

/// RFC 9438 5.1 (tables 1 and 2): average window under one loss every 1/p packets, within 5 %. The RFC's derivation has
/// no fast convergence, so it is off. One early loss ends slow start near the equilibrium, because the window doubles
/// once more before the loss is seen. Otherwise CUBIC without fast convergence needs many minutes to get there.
#[test]
fn cubic_matches_the_response_function_of_its_rfc() {
    for (p, rtt_ms, expected, seconds) in [
        (1e-3, 100.0, 38.0, 200.0),
        (1e-4, 100.0, 187.0, 300.0),
        (1e-5, 100.0, 1054.0, 200.0),
        (1e-3, 10.0, 38.0, 60.0),
        (1e-4, 10.0, 120.0, 100.0),
    ] {
        let mut path = lossy(rtt_ms, json!({"kind": "loss", "every": (1.0f64 / p).round() as u64}));
        // The mean of a cubic cycle is 0.925 of its maximum. Slow start adds one segment per acknowledged packet to
        // the initial ten, and the loss of packet n is seen three packets later.
        let early = (expected / 0.925f64 - 12.0).round() as u64;
        path["data"].as_array_mut().unwrap().insert(1, json!({"kind": "loss", "packets": [early]}));
        let mut cubic = flow("cubic");
        cubic["parameters"] = json!({"fast_convergence": "false"});
        let outcome = run(&spec(path, vec![cubic], seconds));
        let window = outcome.mean(1, "cwnd", seconds / 4.0, seconds);
        assert!(
            (window / expected - 1.0).abs() < 0.05,
            "p {p}, RTT {rtt_ms} ms: {window:.1}, RFC {expected}"
        );
    }
}

/// docs/evidence/derivations.md, Reno and CUBIC: full utilisation needs a queue of 0.43 BDP, because 0.7 * 1.43 = 1.
#[test]
fn cubic_fills_a_link_with_half_a_bdp_of_buffer() {
    let queue = (0.5 * bdp_packets(50.0, 40.0)) as u64;
    let outcome = run(&spec(dumbbell(50.0, 40.0, queue), vec![flow("cubic")], 60.0));
    assert!(outcome.link("utilization") > 0.98, "{}", outcome.link("utilization"));
}

/// Brakmo and Peterson 1995: between alpha = 2 and beta = 4 packets of its own in the queue. Slow start doubles once
/// more before the round that shows the queue is over, hence two BDPs of buffer for a run without loss.
#[test]
fn vegas_keeps_two_to_four_packets_queued() {
    let outcome = run(&spec(dumbbell(46.0, 20.0, 154), vec![flow("vegas")], 30.0));
    let queue = outcome.mean_queue(10.0, 30.0);
    assert!((1.5..=4.5).contains(&queue), "{queue:.2} packets");
    assert_eq!(outcome.link("packets_dropped"), 0.0);
    let share = outcome.flow(1, "goodput_mbps") / (46.0 * 1448.0 / 1500.0);
    assert!(share > 0.97, "{share:.3} of the link");
}

/// Caini and Firrincieli 2004: the sending rate grows by 1 / rtt0^2 packets/s per second in congestion avoidance at
/// every RTT from rtt0 = 25 ms on. One early loss ends slow start. Allowed: 5 %.
#[test]
fn hybla_gains_rate_alike_at_every_rtt() {
    for rtt_ms in [25.0, 50.0, 100.0, 200.0] {
        let mut hybla = flow("hybla");
        hybla["parameters"] = json!({"increase": "exact"});
        let path = lossy(rtt_ms, json!({"kind": "loss", "packets": [5]}));
        let outcome = run(&spec(path, vec![hybla], 8.0));
        let rate = |from: f64| outcome.mean(1, "cwnd", from, from + 0.1) / (rtt_ms / 1e3);
        let slope = (rate(7.0) - rate(4.0)) / 3.0;
        assert!((slope / 1600.0 - 1.0).abs() < 0.05, "RTT {rtt_ms} ms: {slope:.0} packets/s per second");
    }
}

/// Caini and Firrincieli 2004: under random loss the rate at every RTT equals that of Reno at rtt0: C / (rtt0 *
/// sqrt(p)). C of Linux's Reno is 1.25 (above). The law needs many round trips between losses: 20 at the longest RTT
/// here. Allowed: 15 %.
#[test]
fn hybla_is_as_fast_under_loss_at_every_rtt() {
    for rtt_ms in [25.0, 50.0, 100.0] {
        let mut hybla = flow("hybla");
        hybla["parameters"] = json!({"increase": "exact"});
        let path = lossy(rtt_ms, json!({"kind": "loss", "probability": 0.0001}));
        let outcome = run(&spec(path, vec![hybla], 200.0));
        let halvings = outcome.flow(1, "loss_episodes") / outcome.flow(1, "packets_sent");
        let constant = outcome.flow(1, "packets_delivered") / 200.0 * 0.025 * halvings.sqrt();
        assert!((constant / 1.25 - 1.0).abs() < 0.15, "RTT {rtt_ms} ms: C = {constant:.3}");
    }
}

/// docs/evidence/derivations.md, ns-3: the slow start of one NewReno flow on the India path in ns-3. First drop at
/// 0.3996 s, 362 drops until 0.47 s. Afterwards Reno with its exact increase climbs from 494 segments to BDP + queue
/// (626) in (626 - 494) round trips of 54 to 75 ms and halves a second time. So its average over 15 s is less than the
/// 91 to 94 Mbit/s of runs that halve once.
#[test]
fn reno_overshoots_on_the_india_path_as_ns3_does() {
    let outcome = run(&spec(dumbbell(100.42, 54.0, 173), vec![flow("reno")], 15.0));
    let dropped = outcome.link_series("dropped", 0.0, 15.0);
    let first = dropped.iter().find(|(_, count)| *count > 0.0).unwrap().0;
    assert!((0.39..=0.415).contains(&first), "first drop before {first} s");
    let overshoot = dropped.iter().find(|(time, _)| *time > 1.0).unwrap().1;
    assert!((354.0..=370.0).contains(&overshoot), "{overshoot} drops");
    assert!((outcome.mean(1, "cwnd", 0.6, 0.7) - 494.0).abs() < 5.0);
    assert_eq!((outcome.flow(1, "loss_episodes"), outcome.flow(1, "timeouts")), (2.0, 0.0));
    let goodput = outcome.flow(1, "goodput_mbps");
    assert!((86.5..=89.0).contains(&goodput), "{goodput:.2} Mbit/s");
}

/// Returns Jain's index of twenty flows with 15, 30, ... 300 ms of base RTT over a link with 300 ms of buffer; packets
/// are late by `jitter_ms` on average.
fn jain_of_twenty_rtts(controller: &str, rate_mbps: f64, seconds: f64, jitter_ms: f64) -> f64 {
    let flows = (1..=20)
        .map(|step| {
            let mut flow = flow(controller);
            flow["rtt_ms"] = json!(15.0 * f64::from(step));
            flow
        })
        .collect();
    let queue = bdp_packets(rate_mbps, 300.0) as u64;
    let mut path = dumbbell(rate_mbps, 0.0, queue);
    if jitter_ms > 0.0 {
        let jitter = json!({"kind": "jitter", "distribution": "exponential", "mean_ms": jitter_ms, "preserve_order": false});
        path["data"].as_array_mut().expect("a list").insert(0, jitter);
    }
    let outcome = run(&spec(path, flows, seconds));
    let goodputs: Vec<f64> = (1..=20).map(|flow| outcome.flow(flow, "goodput_mbps")).collect();
    let sum: f64 = goodputs.iter().sum();
    sum * sum / (20.0 * goodputs.iter().map(|goodput| goodput * goodput).sum::<f64>())
}

/// Arun et al., NSDI 2018, figure 6: 0.37 for NewReno and 0.12 for CUBIC with 100 Mbit/s, 300 ms of buffer, 100 s. Six
/// runs of NewReno have 0.37 to 0.63 here, 0.51 on average. CUBIC's figure is not reproduced, and Linux's own CUBIC
/// does not give it either: with real packets and 12 Mbit/s (300 packets, 60 s) that has 0.95. Without any jitter phase
/// effects determine the figure. So packets are late by 20 us here, the minimum of real hosts.
#[test]
fn twenty_rtts_are_as_unequal_as_published_for_reno_and_as_equal_as_the_kernels_for_cubic() {
    let reno = jain_of_twenty_rtts("reno", 100.0, 100.0, 0.02);
    assert!((0.3..0.7).contains(&reno), "Reno: {reno:.2}, published 0.37");
    let cubic = jain_of_twenty_rtts("cubic", 100.0, 100.0, 0.02);
    assert!(cubic > 0.7, "CUBIC: {cubic:.2}, published 0.12");
    let slow = jain_of_twenty_rtts("cubic", 12.0, 60.0, 0.02);
    assert!((slow - 0.95).abs() < 0.07, "CUBIC at 12 Mbit/s: {slow:.2}, the kernel's 0.95");
    let even = jain_of_twenty_rtts("cubic", 12.0, 60.0, 0.0);
    assert!(even < 0.7, "CUBIC at 12 Mbit/s, nothing ever late: {even:.2}");
}

/// Linux 6.18's own CUBIC over an equal path with real packets (`--schemes kernel-cubic`): 2.39 Mbit/s in five runs, 95
/// % interval 2.16 to 2.64. Allowed: 15 % in the mean of ten runs.
#[test]
fn cubic_as_linux_has_it_gets_what_the_kernel_gets_under_one_percent_of_loss() {
    let mut path = dumbbell(20.0, 60.0, 100);
    path["data"].as_array_mut().unwrap().insert(1, json!({"kind": "loss", "probability": 0.01}));
    let cubic = json!({"scheme": "cubic-linux", "controller": "cubic", "transport": {"profile": "tcp"},
                       "parameters": {"slow_start": "hystart", "growth": "counted"}});
    let rates = (1..=10).map(|seed| {
        let mut spec = spec(path.clone(), vec![cubic.clone()], 30.0);
        spec["seed"] = json!(seed);
        run(&spec).flow(1, "throughput_mbps")
    });
    let mean = rates.sum::<f64>() / 10.0;
    assert!((2.03..=2.75).contains(&mean), "{mean:.2} Mbit/s");
}

/// Returns Mbit/s and the p95 of the one-way delay, ms, of a flow over a link of 12 Mbit/s, 40 ms, with an infinite
/// queue.
fn over_an_endless_queue(scheme: &str, transport: &Value) -> (f64, f64) {
    let mut path = dumbbell(12.0, 40.0, 1);
    path["data"][0]["queue"] = json!({"kind": "infinite"});
    let mut flow = flow(scheme);
    for (key, value) in transport.as_object().expect("a table") {
        flow["transport"][key] = value.clone();
    }
    let outcome = run(&spec(path, vec![flow], 60.0));
    (outcome.flow(1, "throughput_mbps"), outcome.flow(1, "delay_p95_ms"))
}

/// Linux's `tcp_wmem` holds 1,821 packets, 1.82 s at 12 Mbit/s. Without this limit the queue of an infinite buffer
/// grows as long as the window grows.
#[test]
fn a_send_buffer_bounds_the_queue_of_an_endless_buffer() {
    for scheme in ["reno", "cubic"] {
        let (mbps, p95_ms) = over_an_endless_queue(scheme, &json!({"profile": "linux"}));
        let (_, unbounded_ms) = over_an_endless_queue(scheme, &json!({}));
        println!("{scheme}: {mbps:.2} Mbit/s, p95 {p95_ms:.0} ms, unbounded {unbounded_ms:.0} ms");
        // One packet takes 1 ms; the rest of the 1,821 packets is in flight, and a fraction of a third waits to be
        // written.
        assert!((1500.0..=1825.0).contains(&p95_ms), "{scheme}: {p95_ms:.0} ms");
        assert!(unbounded_ms > 1.2 * p95_ms, "{scheme}: {unbounded_ms:.0} ms without buffers");
        assert!(mbps > 11.8, "{scheme}: {mbps:.2} Mbit/s");
    }
}

/// This bound also holds if the bandwidth-delay product is larger. With 1,821 packets per RTT of 400 ms the rate is 53
/// Mbit/s, and a third of the buffer is written only when it is free.
#[test]
fn a_send_buffer_bounds_throughput_over_a_long_path() {
    let carried = |wmem: Value| {
        let mut flow = flow("cubic");
        flow["transport"]["profile"] = json!("linux");
        flow["transport"]["tcp_wmem"] = wmem;
        let mut spec = spec(dumbbell(100.0, 400.0, 4000), vec![flow], 60.0);
        spec["warmup_s"] = json!(15.0);
        run(&spec).flow(1, "goodput_mbps")
    };
    let (linux, raised) =
        (carried(json!([4096, 16384, 4_194_304])), carried(json!([4096, 16384, 67_108_864])));
    println!("{linux:.1} and {raised:.1} Mbit/s");
    assert!((35.0..=53.0).contains(&linux), "{linux:.1} Mbit/s");
    // Half of the 6 MiB of the receiver's buffer, now the only bound: 3 MiB per RTT are 63 Mbit/s.
    assert!((55.0..=64.0).contains(&raised), "{raised:.1} Mbit/s");
}
