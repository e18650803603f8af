use crate::Error;
use crate::{Arrays, Autoreset, Environment, Task, TaskSpec, Vector};
use runs::{LogLevel, Observer};
use serde_json::{Value, json};
use std::sync::Arc;

struct Count(u64);

impl Observer for Count {
    fn record(&mut self, record: &record::Record) {
        self.0 = self.0.wrapping_mul(31).wrapping_add(record.time_ns ^ record.seq);
    }
}

fn spec(agents: usize, change: impl FnOnce(&mut Value)) -> TaskSpec {
    let flow = json!({"scheme": "agent", "controller": "agent-neural", "parameters": {"policy": "policy"},
                      "transport": {"profile": "datagram"}});
    let mut spec = json!({
        "scenarios": [{
            "run": {
                "seed": 0, "duration_s": 1.0,
                "path": {
                    "data": [{"kind": "link", "rate_mbps": 1.0, "queue": {"kind": "droptail", "packets": 30}},
                             {"kind": "loss", "probability": 0.01}, {"kind": "delay", "delay_ms": 10.0}],
                    "ack": [{"kind": "delay", "delay_ms": 10.0}], "mtu_bytes": 1500},
                "flows": vec![flow; agents]},
            "variations": [{"name": "rate", "draw": {"kind": "uniform", "low": 4.0, "high": 12.0},
                            "targets": [{"pointer": "/path/data/0/rate_mbps"}]}]}],
        "agents": agents, "policy": "sees=latency_ratio,acks action=cwnd_mult2:1 step=time_ms:10",
        "reward": {"kind": "log_share"}, "duration_s": 0.5});
    change(&mut spec);
    serde_json::from_value(spec).unwrap()
}

fn task(agents: usize, change: impl FnOnce(&mut Value)) -> Arc<Task> {
    Arc::new(Task::new(spec(agents, change), Vec::new()).unwrap())
}

/// Returns the rewards of an episode's steps, while the window grows and shrinks.
fn episode(environment: &mut Environment, agents: usize, seed: u64) -> Vec<f64> {
    environment.reset(Some(seed)).unwrap();
    let mut rewards = Vec::new();
    while !environment.is_over() {
        let action = if rewards.len() % 3 == 0 { 0.5 } else { -0.1 };
        environment.step(&vec![action; agents]).unwrap();
        rewards.extend(environment.shown().iter().map(|shown| shown.reward));
    }
    rewards
}

#[test]
fn an_episode_repeats_itself_and_its_recording_is_the_same_run() {
    let mut environment = Environment::new(task(1, |_| {}), true);
    let first = episode(&mut environment, 1, 3);
    // Decisions every 10 ms from the first packet until 0.5 s.
    assert_eq!(first.len(), 49);
    let hashed = || {
        let mut count = Count(0);
        environment.record(LogLevel::Packets, 0.1).unwrap().replay(&mut count).unwrap();
        count.0
    };
    let replayed = hashed();
    assert_eq!(replayed, hashed());
    let rate = environment.drawn()["rate"];
    assert_ne!(episode(&mut environment, 1, 4), first);
    assert_ne!(environment.drawn()["rate"], rate);
    assert_eq!(episode(&mut environment, 1, 3), first);
    environment.reset(None).unwrap();
    assert_ne!(environment.drawn()["rate"], rate, "another episode of the same seed");
}

#[test]
fn several_agents_decide_in_the_same_instant() {
    let mut environment = Environment::new(task(3, |_| {}), false);
    environment.reset(Some(1)).unwrap();
    for step in 1..20 {
        assert!(environment.shown().iter().all(|shown| shown.due), "{step}");
        environment.step(&[0.1, 0.2, -0.3]).unwrap();
    }
    let sent: Vec<f64> = (0..3).map(|agent| environment.values(agent)[2]).collect();
    assert!(sent[1] > sent[2], "{sent:?}");
    assert!(environment.record(LogLevel::Packets, 0.1).is_err(), "actions are not kept");
}

#[test]
fn a_finite_transfer_terminates() {
    let finite = |spec: &mut Value| {
        spec["scenarios"][0]["run"]["flows"][0]["application"] = json!({"kind": "fixed", "bytes": 20_000});
        spec["scenarios"][0]["run"]["flows"][0]["transport"] = json!({"profile": "tcp"});
    };
    let mut environment = Environment::new(task(1, finite), false);
    episode(&mut environment, 1, 1);
    let shown = &environment.shown()[0];
    assert!(shown.terminated && !shown.truncated && environment.now_s() < 0.4, "{shown:?}");
}

#[test]
fn how_many_threads_there_are_changes_nothing() {
    let run = |threads: usize, autoreset: Autoreset| {
        let mut vector = Vector::new(task(2, |_| {}), 9, threads, autoreset, false).unwrap();
        let seeds: Vec<Option<u64>> = (0..9).map(Some).collect();
        vector.reset(&seeds, None).unwrap();
        for step in 0..70 {
            let actions = vector.arrays.actions.iter_mut().enumerate();
            for (row, action) in actions {
                *action = ((row + step) % 5) as f32 / 4.0 - 0.5;
            }
            vector.step().unwrap();
        }
        let Arrays { observations, values, rewards, oracle, .. } = vector.arrays;
        (observations, values, rewards, oracle)
    };
    for autoreset in [Autoreset::NextStep, Autoreset::SameStep] {
        assert_eq!(run(1, autoreset), run(4, autoreset));
    }
}

#[test]
fn more_environments_than_fit_into_memory_are_refused_in_one_line() {
    let made = |count, agents| Vector::new(task(agents, |_| {}), count, 2, Autoreset::NextStep, false);
    for count in [65_537, 1 << 40, 1 << 59, 1 << 63, usize::MAX] {
        let allowed = "allowed are up to 65536 where each has 1 flows that see 2 numbers";
        assert_eq!(made(count, 1).unwrap_err().to_string(), format!("num_envs = {count}: {allowed}"));
    }
    assert!(
        made(32_769, 2)
            .unwrap_err()
            .to_string()
            .starts_with("num_envs = 32769: allowed are up to 32768 where")
    );
    let wide = |spec: &mut Value| {
        spec["policy"] = "sees=latency_ratio,acks history=1000 action=cwnd_mult2:1 step=time_ms:10".into();
    };
    let why = Vector::new(task(1, wide), 65_536, 2, Autoreset::NextStep, false).unwrap_err().to_string();
    assert!(why.ends_with("that see 2000 numbers"), "{why}");
}

#[test]
fn a_run_that_costs_too_much_ends_in_one_line() {
    let greedy = |spec: &mut Value| spec["scenarios"][0]["run"]["most_packets"] = json!(5);
    let mut vector = Vector::new(task(1, greedy), 2, 2, Autoreset::NextStep, false).unwrap();
    vector.reset(&[Some(1), Some(2)], None).unwrap();
    vector.arrays.actions.fill(1.0);
    let error = (0..60).find_map(|_| vector.step().err()).unwrap().to_string();
    assert!(error.starts_with("most_packets = 5: ") && !error.contains('\n'), "{error}");
}

#[test]
fn wrong_tasks_are_refused_in_one_line() {
    let refusal = |change: fn(&mut Value)| {
        let task = Task::new(spec(1, change), Vec::new());
        task.map_err(Error::from)
            .and_then(|task| Environment::new(Arc::new(task), false).reset(Some(1)))
            .unwrap_err()
            .to_string()
    };
    for (refused, expected) in [
        (refusal(|spec| spec["scenarios"] = json!([])), "scenarios: at least one is needed"),
        (refusal(|spec| spec["agents"] = json!(0)), "agents = 0: at least one is needed"),
        (refusal(|spec| spec["agents"] = json!(2)), "agents = 2: the run has 1 flows"),
        (refusal(|spec| spec["most_steps"] = json!(0)), "most_steps = 0: allowed is"),
        (
            refusal(|spec| spec["scenarios"][0]["run"]["flows"][0]["controller"] = json!("cubic")),
            "flows[0] (agent): unknown parameter `policy`",
        ),
        (
            refusal(|spec| {
                let flow = &mut spec["scenarios"][0]["run"]["flows"][0];
                flow["controller"] = json!("cubic");
                flow["parameters"] = json!({});
            }),
            "flows[0]: allowed is an agent",
        ),
        (refusal(|spec| spec["policy"] = Value::Null), "flows[0] (agent): `policy` = `policy`: allowed is"),
    ] {
        assert!(refused.starts_with(expected) && !refused.contains('\n'), "{refused}");
    }
}
