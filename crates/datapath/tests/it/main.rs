//! Real packets in real network namespaces. Rates are low, for machines with two cores. A run for which the machine was late is
//! repeated ([`needs::punctual`]). What the figures are when it is quiet is measured in `bench/` (docs/develop/speed.md).
#![allow(clippy::disallowed_methods, reason = "the tests start processes and read /proc")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod programs;

use congestion::Registry;
use datapath::{Emulated, EmulationLock, EmulationReport};
use measure::RunMeter;
use packetlog::{Key, PacketLogReader, SampleTable, read_samples};
use record::Event;
use recorder::Recorder;
use runs::{Backend, RunSpec, meter_config};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Tests side by side. They take a seventh of a processor each, and most of their time by the clock.
const AT_ONCE: usize = 4;

/// Why there can be no emulation on this machine, if there can be none.
fn missing() -> Option<String> {
    let miss = datapath::check_emulation().into_iter().find(|check| !check.good)?;
    Some(format!("{}: {}: {}", miss.name, miss.found, miss.fix))
}

/// The same, or why nothing here may have real-time priority.
fn no_priority() -> Option<String> {
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    missing().or_else(|| (!is_root).then(|| "real-time priority takes root".to_owned()))
}

/// Runs it, with its files in `directory` if there is one; its statistics too.
fn record(
    spec: &RunSpec,
    directory: Option<&Path>,
) -> Result<(Emulated, Value), Box<dyn Error + Send + Sync>> {
    let meter = RunMeter::new(meter_config(spec, Backend::Emulation));
    let mut observers = (meter, Recorder::create(directory, spec)?);
    let lock = EmulationLock::wait(&|| false, &|_| {})?;
    let emulated = datapath::run(spec, &Registry::builtin(), lock, None, None, &mut observers)?;
    let (meter, recorder) = observers;
    recorder.finish()?;
    let stats = emulated.totals.stats(meter)?;
    Ok((emulated, serde_json::to_value(stats).unwrap()))
}

/// A run with its report, or why there is none.
type Outcome = Result<Value, Box<dyn Error + Send + Sync>>;

/// Runs it until the machine is in time for it.
fn emulate(spec: &Value) -> Outcome {
    emulate_until(spec, late)
}

/// Runs it until `late` does not say that the machine was late.
fn emulate_until(spec: &Value, late: fn(&Value) -> Option<String>) -> Outcome {
    needs::punctual(|| emulate_once(spec), |outcome| outcome.as_ref().ok().and_then(late))
}

fn emulate_once(spec: &Value) -> Outcome {
    let spec: RunSpec = serde_json::from_value(spec.clone()).unwrap();
    let (emulated, mut stats) = record(&spec, None)?;
    stats["emulation"] = serde_json::to_value(emulated.emulation).unwrap();
    Ok(stats)
}

/// Returns why the run calls itself invalid or degraded, if it does.
fn late(report: &Value) -> Option<String> {
    let emulation = &report["emulation"];
    ["invalid", "degraded"].into_iter().find_map(|key| emulation[key].as_str().map(str::to_owned))
}

/// Records it in `directory` until `late` does not say that the machine was late.
fn record_until(
    spec: &RunSpec,
    directory: &Path,
    late: impl Fn(&EmulationReport) -> Option<String>,
) -> (Emulated, Value) {
    needs::punctual(|| record(spec, Some(directory)).unwrap(), |(emulated, _)| late(&emulated.emulation))
}

fn link(rate_mbps: f64, packets: u64) -> Value {
    json!({"kind": "link", "rate_mbps": rate_mbps, "queue": {"kind": "droptail", "packets": packets}})
}

fn delay(ms: f64) -> Value {
    json!({"kind": "delay", "delay_ms": ms})
}

/// 20 Mbit/s, 50 ms RTT, 1.5 bandwidth-delay products of queue. Of a path with a shorter RTT less lateness is allowed.
fn path() -> Value {
    json!({"data": [link(20.0, 125), delay(25.0)], "ack": [delay(25.0)]})
}

fn spec(path: &Value, flows: &Value, duration_s: f64) -> Value {
    json!({"seed": 1, "duration_s": duration_s, "warmup_s": 0.5, "log": "none", "path": path, "flows": flows})
}

fn core(controller: &str) -> Value {
    json!({"scheme": controller, "controller": controller})
}

fn kernel(name: &str) -> Value {
    json!({"scheme": format!("kernel-{name}"), "kernel": {"congestion_control": name}})
}

fn program(sender: &str, receiver: &str) -> Value {
    json!({"scheme": "made-up", "program": {
        "sender": ["python3", "-c", sender, "{ip}", "{port}"],
        "receiver": ["python3", "-c", receiver, "{port}"],
    }})
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is missing in {value}"))
}

/// 1448 bytes of payload in 1500: what a flow can get of a link.
fn assert_fills(report: &Value, link_mbps: f64) {
    let share = number(&report["flows"][0], "goodput_mbps") / (link_mbps * 1448.0 / 1500.0);
    // Above 1 only by what the queue held when the warm-up ended.
    assert!((0.8..=1.05).contains(&share), "{share} of the link: {}", report["flows"][0]);
}

fn the_kernels_tcp_fills_a_link_and_no_more() {
    let report = emulate(&spec(&path(), &json!([kernel("cubic")]), 2.5)).unwrap();
    assert_fills(&report, 20.0);
    let flow = &report["flows"][0];
    // The propagation delay is never undercut; the queue adds at most 125 packets of 0.6 ms.
    assert!(number(flow, "owd_min_ms") >= 25.0);
    assert!(number(flow, "mean_srtt_ms") > 50.0);
    assert!(number(flow, "mean_cwnd_bytes") > 20_000.0);
}

fn our_transport_fills_a_link_over_udp() {
    for controller in ["cubic", "bbr"] {
        let report = emulate(&spec(&path(), &json!([core(controller)]), 2.5)).unwrap();
        assert_fills(&report, 20.0);
        assert!(number(&report["flows"][0], "owd_min_ms") >= 25.0);
    }
}

fn a_delay_based_controller_keeps_the_queue_short_with_real_packets() {
    // What slow start leaves in the queue goes at one packet per RTT.
    let path = json!({"data": [link(5.0, 31), delay(25.0)], "ack": [delay(25.0)]});
    let mut spec = spec(&path, &json!([core("vegas")]), 4.0);
    spec["warmup_s"] = json!(2.0);
    let report = emulate(&spec).unwrap();
    assert_fills(&report, 5.0);
    // Two to four packets of 2.4 ms, where the queue holds 75 ms; wide for late wake-ups.
    let median = number(&report["flows"][0], "owd_p50_ms");
    assert!(median < 45.0, "median one-way delay {median} ms");
}

fn flows_of_all_kinds_share_a_link_with_their_own_rtts_and_directions() {
    let mut near = kernel("reno");
    near["rtt_ms"] = json!(50.0);
    let mut far = core("reno");
    (far["rtt_ms"], far["start_s"]) = (json!(100.0), json!(0.3));
    let mut back = core("cubic");
    (back["reverse"], back["stop_s"]) = (json!(true), json!(2.0));
    // The return direction has no link: without a bound of its own this flow would take all of the machine.
    back["application"] = json!({"kind": "constant", "rate_mbps": 5.0});
    let report = emulate(&spec(&path(), &json!([near, far, back]), 3.0)).unwrap();
    let flows = report["flows"].as_array().unwrap();
    for flow in flows {
        assert!(number(flow, "goodput_mbps") > 0.3, "{flow}");
    }
    assert!(number(&flows[0], "owd_min_ms") < 40.0);
    assert!(number(&flows[1], "owd_min_ms") >= 50.0);
    assert!(number(&flows[2], "owd_p50_ms") < 40.0);
    // Over the time of the run: the throughput of each is over its own, which is less if it began late.
    let sum_bytes = number(&flows[0], "bytes_delivered") + number(&flows[1], "bytes_delivered");
    let sum_mbps = sum_bytes * 8e-6 / 3.0;
    assert!(sum_mbps < 21.0, "{sum_mbps} Mbit/s over a link of 20");
}

fn planned_losses_and_copies_happen_to_real_packets() {
    let path = json!({
        "data": [{"kind": "loss", "every": 50}, {"kind": "duplicate", "probability": 0.05}, delay(5.0)],
        "ack": [delay(5.0)],
    });
    let mut flow = core("reno");
    flow["application"] = json!({"kind": "constant", "rate_mbps": 4.0});
    let report = emulate(&spec(&path, &json!([flow]), 2.0)).unwrap();
    let flow = &report["flows"][0];
    let dropped = number(flow, "packets_dropped") / number(flow, "packets_sent");
    assert!((0.018..=0.022).contains(&dropped), "{dropped} dropped instead of every 50th");
    // Copies arrive twice and count once.
    assert!(number(flow, "packets_delivered") > number(flow, "packets_sent"), "{flow}");
    assert!(number(flow, "goodput_mbps") < 4.2, "{flow}");
}

/// In full logs our sender tells what it finds out, after the ACK that told it arrived; the kernel's tells nothing.
fn our_senders_verdicts_are_logged_in_order() {
    let path =
        json!({"data": [{"kind": "loss", "every": 100}, link(10.0, 50), delay(10.0)], "ack": [delay(10.0)]});
    let directory = std::env::temp_dir().join(format!("dumbbell-verdicts-{}", std::process::id()));
    let run = |log: &str| {
        std::fs::create_dir_all(&directory).unwrap();
        let mut spec = spec(&path, &json!([core("reno"), kernel("cubic")]), 1.5);
        spec["log"] = log.into();
        let spec: RunSpec = serde_json::from_value(spec).unwrap();
        let (emulated, _) = record_until(&spec, &directory, |report| {
            report.invalid.as_ref().or(report.degraded.as_ref()).cloned()
        });
        let log = PacketLogReader::open(directory.join("packets.parquet")).unwrap();
        let records: Vec<_> = log.map(Result::unwrap).collect();
        let samples = read_samples(directory.join("flows.parquet"), SampleTable::Flows).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
        (emulated.totals.events, records, samples)
    };
    let (events, records, samples) = run("full");
    assert_eq!(events, records.len() as u64);
    assert!(records.is_sorted_by_key(|record| record.time_ns));
    let (mut arrived, mut acks, mut acked, mut lost) = (BTreeSet::new(), 0, BTreeSet::new(), BTreeSet::new());
    for record in &records {
        match record.event {
            Event::Deliver if record.flow == 1 => {
                arrived.insert(record.seq);
            }
            Event::AckDeliver if record.flow == 1 => acks += 1,
            Event::Acked => {
                assert!(record.flow == 1 && acks > 0 && arrived.contains(&record.seq), "{record:?}");
                assert!(acked.insert(record.seq), "acknowledged twice: {record:?}");
            }
            Event::Lost => {
                assert!(record.flow == 1 && acks > 0, "{record:?}");
                lost.insert(record.seq);
            }
            _ => {}
        }
    }
    // All but those whose acknowledgement was on its way at the end: 40 ms and the queue of 50 packets.
    assert!(acked.len() > 200 && acked.len() + 100 > arrived.len(), "{} of {}", acked.len(), arrived.len());
    // A machine that stands still makes timers expire: those packets arrived all the same.
    assert!(lost.difference(&arrived).count() >= 3, "{lost:?}");
    // Far more than the samples every 0.1 s, in order of time.
    let windows: Vec<_> = samples
        .iter()
        .filter(|s| s.key == Key::Flow(1) && &*s.field == "window")
        .map(|s| s.time_ns)
        .collect();
    assert!(windows.len() > 100 && windows.is_sorted(), "{}", windows.len());

    let (_, records, samples) = run("packets");
    assert!(records.iter().all(|record| record.event != Event::Acked));
    assert!(records.iter().any(|record| record.event == Event::Lost && record.flow == 1));
    let of_flow = samples.iter().filter(|s| s.key == Key::Flow(1) && &*s.field == "in_flight").count();
    assert!(of_flow <= 15, "{of_flow} samples in 1.5 s");
}

fn an_aqm_marks_real_packets_and_the_sender_hears_of_it() {
    let queue = json!({"kind": "codel", "packets": 1000, "target_ms": 5, "interval_ms": 50, "ecn": true});
    let path = json!({"data": [{"kind": "link", "rate_mbps": 20.0, "queue": queue}, delay(10.0)], "ack": [delay(10.0)]});
    let mut flow = core("cubic");
    flow["transport"] = json!({"profile": "tcp", "ecn": "ect0"});
    let report = emulate(&spec(&path, &json!([flow]), 3.0)).unwrap();
    let flow = &report["flows"][0];
    assert!(number(flow, "packets_marked") >= 1.0, "{flow}");
    // A sender that were deaf to marks would go on until the 1000 packets of the queue are full; the path holds 33.
    assert_eq!((number(flow, "packets_dropped"), number(flow, "loss_episodes")), (0.0, 0.0), "{flow}");
    assert!(number(flow, "mean_cwnd_bytes") < 300_000.0, "{flow}");
}

/// A router behind the queue clears the field of real packets: a QUIC sender that tests the path sends nothing more that can be
/// marked (RFC 9000, section 13.4.2), one that does not is marked.
fn a_sender_whose_path_clears_ecn_stops_using_it() {
    let queue = json!({"kind": "step", "packets": 100, "threshold_ms": 1.0});
    let bleach = json!({"kind": "remark", "codepoint": "capable", "becomes": "not-ect"});
    let data = json!([{"kind": "link", "rate_mbps": 20.0, "queue": queue}, bleach, delay(10.0)]);
    let path = json!({"data": data, "ack": [delay(10.0)]});
    let marked = |validation: &str| {
        let mut flow = core("reno");
        flow["transport"] = json!({"profile": "quic", "ecn": "ect0", "ecn_validation": validation});
        let report = emulate_until(&spec(&path, &json!([flow]), 2.0), |_| None).unwrap();
        number(&report["flows"][0], "packets_marked")
    };
    assert_eq!(marked("counts"), 0.0);
    assert!(marked("none") > 100.0);
}

/// A way back of 100 kbit/s with a filter: ACKs of the kernel's TCP and of ours are dropped there, and the link stays full.
fn superfluous_acks_are_filtered_of_the_kernel_and_of_ours() {
    let filter = json!({"kind": "link", "rate_mbps": 0.1, "queue": {"kind": "ack-filter", "packets": 100}});
    let path = json!({"data": [link(20.0, 200), delay(10.0)], "ack": [filter, delay(10.0)]});
    for flow in [core("cubic"), kernel("cubic")] {
        let report = emulate_until(&spec(&path, &json!([flow]), 3.0), |_| None).unwrap();
        let back = &report["links"][1];
        assert!(number(back, "packets_dropped") > 500.0, "{back}");
        // 240 ACKs of 52 bytes a second, and the handshake.
        assert!(number(back, "packets_out") < 3.0 * 250.0 + 10.0, "{back}");
        assert!(number(&report["flows"][0], "goodput_mbps") > 15.0, "{report}");
    }
}

/// A camera over our transport, and over the kernel's TCP: about all frames arrive, little later than the path's 25 ms (one
/// frame has at most a dozen packets of 0.6 ms each), at about the encoder's highest rate.
fn frames_of_live_encoders_are_measured() {
    let encoder = json!({"kind": "encoder", "start_rate_mbps": 2.0, "max_rate_mbps": 2.0});
    for mut flow in [core("cubic"), kernel("cubic")] {
        flow["application"] = encoder.clone();
        let report = emulate(&spec(&path(), &json!([flow]), 3.0)).unwrap();
        let media = &report["flows"][0]["media"];
        let (written, decoded) = (number(media, "frames_written"), number(media, "frames_decoded"));
        assert!((85.0..=90.0).contains(&written) && decoded >= written - 5.0, "{media}");
        let delay = number(media, "frame_delay_p50_ms");
        assert!((25.0..35.0).contains(&delay), "{media}");
        assert!((1.5..=2.2).contains(&number(media, "media_rate_mbps")), "{media}");
    }
}

fn datagrams_above_the_mtu_travel_in_fragments() {
    let mut path = path();
    (path["overhead_bytes"], path["mtu_bytes"], path["fragment"]) = (json!(36), json!(1500), json!(true));
    let mut flow = core("reno");
    flow["transport"] = json!({"profile": "datagram", "payload_bytes": 1440, "header_bytes": 28});
    flow["application"] = json!({"kind": "constant", "rate_mbps": 2.0});
    let report = emulate(&spec(&path, &json!([flow]), 2.0)).unwrap();
    let flow = &report["flows"][0];
    // Two packets for each 1440 bytes of payload, each with its own headers.
    let packets = number(flow, "bytes_delivered") / number(flow, "packets_delivered");
    assert!((700.0..=800.0).contains(&packets), "{packets} bytes per packet");
    assert!((1.7..=2.2).contains(&number(flow, "goodput_mbps")), "{flow}");
}

const UDP_SENDER: &str = "import socket, sys, time\n\
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
    while True: s.sendto(bytes(1000), (sys.argv[1], int(sys.argv[2]))); time.sleep(0.005)";
const UDP_RECEIVER: &str = "import socket, sys\n\
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', int(sys.argv[1])))\n\
    while True: print(len(s.recv(2000)) * 'x')";

fn programs_are_started_measured_and_ended() {
    // The receiver prints about 1 kB for each packet: more than a pipe holds.
    let report = emulate(&spec(&path(), &json!([program(UDP_SENDER, UDP_RECEIVER)]), 2.0)).unwrap();
    let flow = &report["flows"][0];
    // 8 kbit every 5 ms and a bit: 1.5 Mbit/s.
    assert!((0.4..=1.7).contains(&number(flow, "goodput_mbps")), "{flow}");
    let programs = report["emulation"]["programs"].as_array().unwrap();
    assert_eq!(programs.len(), 2);
}

/// Sends like the other, writes what it counts, and calls the run invalid when it is asked to end.
const SELF_CRITICAL_SENDER: &str = "import json, signal, socket, sys, time\n\
    def end(*_): print('only a test', flush=True); sys.exit(3)\n\
    signal.signal(signal.SIGTERM, end)\n\
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect((sys.argv[1], int(sys.argv[2])))\n\
    samples = open(sys.argv[3], 'w', buffering=1); n = 0\n\
    while True:\n    s.send(bytes(1000)); n += 1; time.sleep(0.01)\n\
    \x20   print(json.dumps({{'monotonic_ns': time.monotonic_ns(), 'field': 'sent', 'unit': 'packets', 'value': n}}), \
    file=samples)";

fn programs_add_samples_of_their_own_and_may_call_the_run_invalid() {
    let mut flow = program(SELF_CRITICAL_SENDER, UDP_RECEIVER);
    flow["program"]["sender"].as_array_mut().unwrap().push(json!("{samples}"));
    let directory = std::env::temp_dir().join(format!("dumbbell-test-samples-{}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    let spec: RunSpec = serde_json::from_value(spec(&path(), &json!([flow]), 1.5)).unwrap();
    let verdict = "flow 1 (made-up) sender: only a test";
    // A machine that stands still makes a run invalid too, for a reason of its own.
    let (emulated, _) = record_until(&spec, &directory, |report| {
        report.invalid.clone().filter(|why| why != verdict).or_else(|| report.degraded.clone())
    });
    let samples = packetlog::read_samples(directory.join("flows.parquet"), packetlog::SampleTable::Flows);
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(emulated.emulation.invalid.unwrap(), verdict);
    let samples = samples.unwrap();
    // A hundred a second at most, and the second side starts with the clock.
    assert!((20..=150).contains(&samples.len()), "{} samples", samples.len());
    for (index, sample) in samples.iter().enumerate() {
        assert_eq!((&*sample.field, &*sample.unit), ("sent", "packets"));
        assert_eq!(sample.value, (index + 1) as f64);
        assert!(sample.time_ns <= 1_500_000_000);
    }
    assert!(samples.windows(2).all(|pair| pair[0].time_ns < pair[1].time_ns));
}

fn failing_programs_fail_the_run_with_their_last_words() {
    let refused_within = |ready_s: f64, sender: &str, receiver: &str| {
        let mut flow = program(sender, receiver);
        flow["program"]["ready_timeout_s"] = json!(ready_s);
        emulate(&spec(&path(), &json!([flow]), 1.5)).unwrap_err().to_string()
    };
    // Python itself may take seconds to start on a busy machine.
    let refused = |sender: &str, receiver: &str| refused_within(10.0, sender, receiver);
    let error = refused("import sys; print('no such luck'); sys.exit(3)", UDP_RECEIVER);
    assert!(error.starts_with("flow 1 (made-up) sender: ended early, with exit status 3"), "{error}");
    assert!(error.ends_with("last output: no such luck"), "{error}");
    let error = refused(UDP_SENDER, "raise SystemExit('cannot bind')");
    assert!(error.contains("receiver: ended before it was ready, with exit status 1"), "{error}");
    let error = refused_within(0.5, UDP_SENDER, "import time; time.sleep(60)");
    assert!(error.contains("not ready (listen) after 0.5 s; last output: it printed nothing"), "{error}");
    let error = refused("import time; time.sleep(60)", UDP_RECEIVER);
    assert!(error.contains("sender: sent no data"), "{error}");
    let connects = "import socket, sys, time; s = socket.create_connection((sys.argv[1], int(sys.argv[2]))); time.sleep(60)";
    let accepts = "import socket, sys, time; s = socket.create_server(('', int(sys.argv[1]))); s.accept(); time.sleep(60)";
    assert!(refused(connects, accepts).contains("sender: sent no data"));
    let mut missing = program("", "");
    missing["program"]["receiver"] = json!(["no-such-program-anywhere"]);
    let error = emulate(&spec(&path(), &json!([missing]), 1.0)).unwrap_err().to_string();
    assert!(error.contains("cannot start `no-such-program-anywhere`"), "{error}");
}

fn a_queue_without_end_takes_no_memory_without_end() {
    let endless = json!({"kind": "link", "rate_mbps": 1.0, "queue": {"kind": "infinite"}});
    let transport = json!({
        "profile": "datagram", "payload_bytes": 1472, "header_bytes": 28, "ack_every": 1_000_000, "ack_delay_ms": 1000.0,
        "ack_on_gap": false, "timer": "silence", "timeout_initial_ms": 10_000.0,
    });
    let application = json!({"kind": "constant", "rate_mbps": 40.0});
    let mut flood = core("unresponsive");
    (flood["transport"], flood["application"]) = (transport, application);
    let mut spec = spec(&json!({"data": [endless], "ack": [delay(1.0)]}), &json!([flood]), 20.0);
    spec["most_packets"] = json!(8000);
    let error = emulate(&spec).unwrap_err().to_string();
    // Long before the end of its 20 s.
    let (_, at) = error.split_once("packets are on the path at ").unwrap_or_else(|| panic!("{error}"));
    let at_s: f64 = at.split_once(" s").unwrap_or_else(|| panic!("{error}")).0.parse().unwrap();
    assert!(at_s < 15.0 && error.contains("`most_packets`"), "{error}");
}

fn what_the_kernel_does_not_offer_is_named() {
    let error = emulate(&spec(&path(), &json!([kernel("copa")]), 2.0)).unwrap_err().to_string();
    assert!(error.contains("congestion control copa: not offered by this kernel: it has"), "{error}");
    assert!(error.contains("cubic") && !error.contains('\n'), "{error}");
}

fn a_command_runs_inside_a_path() {
    let path = json!({"data": [delay(20.0)], "ack": [delay(20.0)]});
    // One UDP round trip to the other end takes 40 ms at least; the exit status says whether it did.
    let command = "import os, socket, sys, time\n\
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(60)\n\
        peer = (os.environ['DUMBBELL_PEER'], 7)\n\
        for attempt in range(50):\n\
        \x20 t = time.monotonic(); s.sendto(b'x', peer)\n\
        \x20 try: s.recv(9)\n\
        \x20 except ConnectionError: time.sleep(0.1); continue\n\
        \x20 sys.exit(3 if 0.040 <= time.monotonic() - t < 2 else 4)";
    let server = "import socket\n\
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 7))\n\
        while True: d, a = s.recvfrom(9); s.sendto(d, a)";
    let log = std::env::temp_dir().join(format!("dumbbell-shell-{}.parquet", std::process::id()));
    let shell: datapath::ShellSpec = serde_json::from_value(json!({
        "seed": 1, "path": path, "quiet": true, "log": log,
        "command": ["python3", "-c", command], "server": ["python3", "-c", server],
    }))
    .unwrap();
    assert_eq!(datapath::run_shell(&shell).unwrap(), 3);
    let records = packetlog::PacketLogReader::open(&log).unwrap().count();
    std::fs::remove_file(&log).unwrap();
    assert!(records >= 4, "{records} records");
}

/// The network namespaces that threads of this process, or processes marked by it, are in.
fn namespaces() -> BTreeSet<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter_map(|task| std::fs::read_link(task.path().join("ns/net")).ok())
        .map(|link| link.display().to_string())
        .collect()
}

fn nothing_is_left_after_runs() {
    let before = (namespaces(), std::fs::read_dir("/proc/self/fd").unwrap().count());
    // A program has to start within its run, and on a busy machine Python takes its time.
    for (flow, duration_s) in
        [(kernel("cubic"), 0.7), (core("cubic"), 0.7), (program(UDP_SENDER, UDP_RECEIVER), 2.0)]
    {
        emulate(&spec(&path(), &json!([flow]), duration_s)).unwrap();
    }
    let after = (namespaces(), std::fs::read_dir("/proc/self/fd").unwrap().count());
    assert_eq!(after, before);
}

fn a_killed_run_takes_everything_with_it_that_its_programs_have_started() {
    // The sender starts a process that leaves its group, its parent and its environment.
    let sender = format!(
        "import subprocess\nsubprocess.Popen(['setsid', 'env', '-i', 'sleep', '77.5'])\n{UDP_SENDER}"
    );
    let text = spec(&path(), &json!([program(&sender, UDP_RECEIVER)]), 60.0).to_string();
    let file = std::env::temp_dir().join(format!("dumbbell-killed-{}.json", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_datapath-run")).arg(&file).spawn().unwrap();
    // What escaped, and the two programs: a fork that has not become another program yet looks like its parent.
    let alive = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let lines: Vec<_> =
            processes.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok()).collect();
        let count = |is: fn(&[u8]) -> bool| lines.iter().filter(|line| is(line)).count();
        (count(|line| line.starts_with(b"sleep\x0077.5\0")), count(|line| line.ends_with(b"9000\0")))
    };
    // A moment later another test may have programs like these.
    needs::wait_for(|| {
        let (escaped, programs) = alive();
        (escaped >= 1 && programs >= 2).then_some(())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(&file).unwrap();
    needs::wait_for(|| (alive() == (0, 0)).then_some(()));
    // The private directory of its programs is left until somebody looks.
    datapath::clean_up();
}

fn main() -> ExitCode {
    // For all tests together: each of them stands in a queue of its own.
    let _lock = (!needs::is_apart()).then(|| EmulationLock::wait(&|| false, &|_| {}));
    // The longest first.
    let tests = needs::tests![
        frames_of_live_encoders_are_measured,
        our_transport_fills_a_link_over_udp,
        failing_programs_fail_the_run_with_their_last_words,
        our_senders_verdicts_are_logged_in_order,
        flows_of_all_kinds_share_a_link_with_their_own_rtts_and_directions,
        an_aqm_marks_real_packets_and_the_sender_hears_of_it,
        a_sender_whose_path_clears_ecn_stops_using_it,
        superfluous_acks_are_filtered_of_the_kernel_and_of_ours,
        the_kernels_tcp_fills_a_link_and_no_more,
        a_delay_based_controller_keeps_the_queue_short_with_real_packets,
        nothing_is_left_after_runs,
        planned_losses_and_copies_happen_to_real_packets,
        datagrams_above_the_mtu_travel_in_fragments,
        programs_are_started_measured_and_ended,
        programs_add_samples_of_their_own_and_may_call_the_run_invalid,
        a_command_runs_inside_a_path,
        programs::output_is_drained_and_its_end_kept,
        programs::a_program_calls_the_run_invalid_by_its_exit_status_alone,
        programs::ending_a_program_ends_what_it_has_started,
        programs::a_program_has_no_descriptor_of_ours_and_a_process_number_of_its_own_namespace,
        programs::a_program_ignores_no_signal_that_this_process_ignores,
        programs::what_a_program_left_ends_with_its_flow_and_not_with_the_run,
        a_killed_run_takes_everything_with_it_that_its_programs_have_started,
        a_queue_without_end_takes_no_memory_without_end,
        what_the_kernel_does_not_offer_is_named,
    ];
    let urgent = needs::tests![
        programs::programs_that_spin_disturb_neither_the_path_nor_other_flows,
        programs::the_run_of_a_program_without_a_processor_is_degraded_with_the_figure,
    ];
    needs::run_apart(AT_ONCE, vec![(missing, tests)], vec![(no_priority, urgent)])
}
