//! Readings of runs whose causes are known.

use crate::runs_in_memory::{SimulatedRun, flow, path, run};
use record::Event;
use serde_json::{Value, json};
use views::View;

fn read(ran: &SimulatedRun, facts: &Value) -> Vec<Value> {
    let text = View::new(&ran.pyramid, &ran.memory).reading(&facts.to_string()).unwrap();
    let reading: Value = serde_json::from_str(&text).unwrap();
    let sentences = reading["sentences"].as_array().unwrap().clone();
    assert!(sentences.len() <= 30);
    for one in &sentences {
        assert!(one["from_ns"].as_u64().unwrap() <= one["to_ns"].as_u64().unwrap(), "{one}");
        assert!(one["text"].as_str().unwrap().ends_with('.'), "{one}");
    }
    sentences
}

fn of_kind<'a>(sentences: &'a [Value], kind: &str) -> Vec<&'a Value> {
    sentences.iter().filter(|one| one["kind"] == kind).collect()
}

fn number(sentence: &Value, name: &str) -> f64 {
    sentence["evidence"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {sentence}"))
}

fn text(sentence: &Value) -> &str {
    sentence["text"].as_str().unwrap()
}

fn dropped(ran: &SimulatedRun) -> f64 {
    ran.memory.packets.event.iter().filter(|&&event| event == Event::Drop as u8).count() as f64
}

#[test]
fn cubic_in_a_small_buffer_loses_by_the_queue_and_is_limited_by_the_path() {
    for log in ["packets", "full"] {
        let ran = run(&path(20.0, 40.0, 30, &[]), &[flow("cubic")], 20.0, log);
        let read = read(&ran, &json!({"flows": [{"flow": 1, "scheme": "cubic", "application": "greedy"}]}));
        let losses = of_kind(&read, "loss");
        assert!(!losses.is_empty() && losses.iter().all(|one| number(one, "cause") == 1.0), "{losses:?}");
        assert!(text(losses[0]).contains("by the queue of link data/"), "{losses:?}");
        assert_eq!(losses.iter().map(|one| number(one, "packets")).sum::<f64>(), dropped(&ran));
        let queue = of_kind(&read, "queue")[0];
        assert!((25.0..=31.0).contains(&number(queue, "queue_packets")), "{queue}");
        let limit = of_kind(&read, "limit")[0];
        assert!(number(limit, "path_share") > 0.5, "{log}: {limit}");
        let start = of_kind(&read, "slow_start")[0];
        assert_eq!(number(start, "left"), 1.0);
    }
}

#[test]
fn reno_leaves_slow_start_at_the_first_loss() {
    let ran = run(&path(20.0, 40.0, 30, &[]), &[flow("reno")], 10.0, "full");
    let packets = &ran.memory.packets;
    let first = (0..packets.seq.len()).find(|&row| packets.event[row] == Event::Lost as u8).unwrap();
    let read = read(&ran, &json!({}));
    let start = of_kind(&read, "slow_start")[0];
    assert_eq!(number(start, "cause"), 1.0, "{start}");
    assert_eq!(number(start, "left_ns"), packets.time_ns[first] as f64);
    assert!(text(start).contains("because packets were declared lost"), "{start}");
}

#[test]
fn a_mark_ends_slow_start_where_queues_mark() {
    let path = json!({"data": [
        {"kind": "link", "rate_mbps": 20.0, "queue": {"kind": "step", "packets": 2000, "threshold_packets": 20}},
        {"kind": "delay", "delay_ms": 20.0}], "ack": [{"kind": "delay", "delay_ms": 20.0}]});
    let mut sender = flow("reno");
    sender["transport"]["ecn"] = json!("ect0");
    let ran = run(&path, &[sender], 10.0, "full");
    let read = read(&ran, &json!({}));
    let start = of_kind(&read, "slow_start")[0];
    assert_eq!(number(start, "cause"), 2.0, "{start}");
    let marks = of_kind(&read, "mark")[0];
    let marked = ran.memory.packets.event.iter().filter(|&&event| event == Event::Mark as u8).count() as f64;
    assert_eq!(number(marks, "packets"), marked);
    assert!(of_kind(&read, "loss").is_empty());
}

#[test]
fn random_loss_is_not_a_queue() {
    let loss = json!({"kind": "loss", "probability": 0.005});
    let ran = run(&path(50.0, 40.0, 2_000, &[loss]), &[flow("cubic")], 20.0, "packets");
    let read = read(&ran, &json!({}));
    let losses = of_kind(&read, "loss");
    assert!(!losses.is_empty() && losses.iter().all(|one| number(one, "cause") == 4.0), "{losses:?}");
    assert_eq!(losses.iter().map(|one| number(one, "packets")).sum::<f64>(), dropped(&ran));
    assert!(text(losses[0]).contains("loss episodes") && text(losses[0]).contains("not by a queue"));
}

#[test]
fn an_outage_is_told_with_its_time() {
    let blackout = json!({"kind": "loss", "probability": 0.0,
        "schedule": [{"at_s": 5.0, "probability": 1.0}, {"at_s": 6.0, "probability": 0.0}]});
    let ran = run(&path(20.0, 40.0, 400, &[blackout]), &[flow("cubic")], 12.0, "packets");
    let read = read(&ran, &json!({}));
    let outage: Vec<_> =
        of_kind(&read, "loss").into_iter().filter(|one| number(one, "cause") == 3.0).collect();
    assert!(!outage.is_empty(), "{read:?}");
    assert!(
        outage.iter().all(|one| (4.9e9..=6.1e9).contains(&one["from_ns"].as_f64().unwrap())),
        "{outage:?}"
    );
    let stall = of_kind(&read, "stall")[0];
    assert!(
        number(stall, "ns") > 0.8e9 && (4.9e9..=5.2e9).contains(&stall["from_ns"].as_f64().unwrap()),
        "{stall}"
    );
    let limits = of_kind(&read, "limit");
    assert!((0.07..=0.15).contains(&number(limits[0], "outage_share")), "{}", limits[0]);
    let blamed = limits.iter().filter(|one| !text(one).contains("nothing arrived"));
    let within = |one: &&&Value| (5.1e9..5.9e9).contains(&one["from_ns"].as_f64().unwrap());
    assert_eq!(blamed.filter(within).count(), 0, "{limits:?}");
}

#[test]
fn an_application_that_has_little_to_send_is_the_limit() {
    let mut sender = flow("cubic");
    sender["application"] = json!({"kind": "constant", "rate_mbps": 2.0});
    let ran = run(&path(20.0, 40.0, 100, &[]), &[sender], 10.0, "full");
    let read = read(&ran, &json!({}));
    let limit = of_kind(&read, "limit")[0];
    assert!(number(limit, "application_share") > 0.9, "{limit}");
    assert!(of_kind(&read, "loss").is_empty());
}

#[test]
fn who_always_has_data_never_waits_for_the_application() {
    let outage = json!({"kind": "loss", "probability": 0.0,
        "schedule": [{"at_s": 3.0, "probability": 1.0}, {"at_s": 3.7, "probability": 0.0}]});
    for (scheme, log) in [("bbr", "packets"), ("bbr", "full"), ("cubic", "full"), ("copa", "full")] {
        let ran = run(&path(20.0, 40.0, 60, std::slice::from_ref(&outage)), &[flow(scheme)], 6.0, log);
        let facts = json!({"flows": [{"flow": 1, "scheme": scheme, "application": "greedy"}]});
        let read = read(&ran, &facts);
        for limit in of_kind(&read, "limit") {
            assert!(!text(limit).contains("application"), "{scheme}, {log}: {limit}");
        }
    }
}

#[test]
fn a_window_below_the_bandwidth_delay_product_is_the_limit() {
    let mut sender = flow("reno");
    sender["transport"]["max_window_bytes"] = json!(20 * 1448);
    let ran = run(&path(100.0, 100.0, 1_000, &[]), &[sender], 10.0, "full");
    let read = read(&ran, &json!({}));
    let limit = of_kind(&read, "limit")[0];
    assert!(number(limit, "window_share") > 0.8, "{limit}");
}

#[test]
fn the_modes_of_bbr_are_told_by_name() {
    let ran = run(&path(20.0, 40.0, 200, &[]), &[flow("bbr")], 25.0, "full");
    let read = read(&ran, &json!({"flows": [{"flow": 1, "scheme": "bbr"}]}));
    let modes = of_kind(&read, "mode")[0];
    for name in ["`startup`", "`drain`", "`probe_bw`", "`probe_rtt`"] {
        assert!(text(modes).contains(name), "{modes}");
    }
    let start = of_kind(&read, "slow_start")[0];
    assert!(text(start).contains("left `startup` at"), "{start}");
    assert_eq!(number(start, "cause"), 3.0, "{start}");
    let flows = &ran.memory.flows;
    let left = (0..flows.value.len())
        .find(|&row| flows.field.get(row) == "mode" && flows.value[row] == 1.0)
        .unwrap();
    assert_eq!(number(start, "left_ns"), flows.time_ns[left] as f64);
}

#[test]
fn shares_of_two_flows_add_up_and_idle_times_are_told() {
    let mut sender = flow("cubic");
    sender["application"] = json!({"kind": "on-off", "on_ms": 2_000.0, "off_ms": 3_000.0});
    let ran = run(&path(20.0, 40.0, 100, &[]), &[flow("reno"), sender], 12.0, "packets");
    let read =
        read(&ran, &json!({"flows": [{"flow": 1, "scheme": "reno", "metrics": {"retransmissions": 12}}]}));
    let share = of_kind(&read, "share")[0];
    assert!((number(share, "largest_share") + number(share, "smallest_share") - 1.0).abs() < 1e-9);
    let idle: Vec<_> = of_kind(&read, "idle").into_iter().filter(|one| one["flow"] == 2).collect();
    assert!(number(idle[0], "ns") > 2.5e9, "{idle:?}");
    assert!(of_kind(&read, "retransmission").len() == 1);
}

#[test]
fn reordering_that_looks_like_loss_is_spurious() {
    let reorder = json!({"kind": "reorder", "probability": 0.01, "delay_ms": 30.0});
    // The thresholds of QUIC are fixed, the thresholds of TCP adapt.
    let mut sender = flow("reno");
    sender["transport"] = json!({"profile": "quic"});
    let ran = run(&path(20.0, 40.0, 400, &[reorder]), &[sender], 10.0, "packets");
    let read = read(&ran, &json!({}));
    let spurious = of_kind(&read, "spurious");
    assert!(spurious.len() == 1 && number(spurious[0], "packets") > 5.0, "{read:?}");
}

#[test]
fn a_timeout_and_persistent_congestion_are_told_apart() {
    let ran = run(&path(20.0, 40.0, 100, &[]), &[flow("reno")], 3.0, "packets");
    let timeout_text = |timer: &str| {
        let fact = json!({"flow": 1, "scheme": "reno", "timer": timer, "metrics": {"timeouts": 2}});
        let read = read(&ran, &json!({"flows": [fact]}));
        text(of_kind(&read, "timeout")[0]).to_owned()
    };
    assert!(timeout_text("pto").contains("had persistent congestion 2 times"), "{}", timeout_text("pto"));
    assert!(timeout_text("rto").contains("had 2 timeouts"), "{}", timeout_text("rto"));
    let none = read(&ran, &json!({"flows": [{"flow": 1, "metrics": {"timeouts": 0}}]}));
    assert!(of_kind(&none, "timeout").is_empty());
}

#[test]
fn what_a_run_does_not_tell_is_not_told() {
    let ran = run(&path(20.0, 40.0, 400, &[]), &[flow("reno")], 3.0, "none");
    let read = read(&ran, &json!({}));
    assert!(of_kind(&read, "loss").is_empty() && of_kind(&read, "delay").is_empty());
    assert!(
        View::new(&ran.pyramid, &ran.memory)
            .reading("[]")
            .unwrap_err()
            .to_string()
            .starts_with("facts = []: allowed is")
    );
}
