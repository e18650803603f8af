use super::*;
use crate::Files;
use crate::testing::{Driver, MSS_BYTES};

fn agent(line: &str, start_mbps: &str) -> Driver {
    let files = Files::from([("line".to_owned(), line.as_bytes().into())]);
    Driver::with_files(&AGENT, &[("policy", "line"), ("start_mbps", start_mbps)], files)
}

fn decide(driver: &mut Driver, action: &[f32]) {
    let now = driver.now;
    driver.controller.agent().unwrap().act(now, action);
}

#[test]
fn a_step_by_time_ends_at_its_time_and_shows_what_happened() {
    let mut driver = agent("sees=send_ratio,loss_ratio history=2 step=time_ms:10 action=rate_mult:0.5", "2");
    driver.send();
    driver.send();
    let ends = driver.control().wake_at;
    assert_eq!(ends, driver.now + Span::from_ms(10));
    driver.now += Span::from_ms(4);
    driver.ack(1);
    driver.lose(1, true);
    driver.now = ends;
    driver.controller.on_wake(ends);
    let agent = driver.controller.agent().unwrap();
    assert!(agent.is_waiting());
    assert_eq!(agent.observation(), [1.0, 0.0, 2.0, 0.5]);
    decide(&mut driver, &[-1.0]);
    assert_eq!(driver.control().pacing, Some(Rate::from_mbps(2.0 / 1.5)));
    decide(&mut driver, &[1.0]);
    assert_eq!(driver.control().pacing, Some(Rate::from_mbps(2.0 / 1.5)), "nothing was due");
}

#[test]
fn a_step_by_rtt_lasts_a_share_of_the_mean_of_the_step_before() {
    let mut driver = agent("sees=latency_ratio step=rtt:0.5", "1");
    driver.send();
    assert_eq!(driver.control().wake_at, driver.now + FIRST_STEP);
    driver.rtt = Span::from_ms(80);
    driver.ack(1);
    driver.rtt = Span::from_ms(120);
    driver.ack(1);
    driver.now = driver.control().wake_at;
    driver.controller.on_wake(driver.now);
    assert_eq!(driver.control().wake_at, driver.now + Span::from_ms(50));
    let values = *driver.controller.agent().unwrap().values();
    let of = |name: &str| values[crate::step_field(name).unwrap()];
    assert_eq!((of("rtt_mean_ms"), of("rtt_change_ms"), of("acks")), (100.0, 40.0, 2.0));
}

#[test]
fn acks_end_steps_where_they_are_counted_or_required() {
    let mut driver = agent("sees=acks step=acks:2 action=cwnd_mult2", "0");
    driver.send();
    driver.ack(1);
    assert!(!driver.controller.agent().unwrap().is_waiting());
    driver.ack(1);
    assert!(driver.controller.agent().unwrap().is_waiting());
    decide(&mut driver, &[0.5]);
    assert_eq!(driver.control().window_bytes, 20 * u64::from(MSS_BYTES));
    let mut driver = agent("sees=acks step=time_ms:10 require_ack=true action=indigo5", "0");
    driver.send();
    driver.now = driver.control().wake_at;
    driver.controller.on_wake(driver.now);
    assert!(!driver.controller.agent().unwrap().is_waiting());
    assert_eq!(driver.control().wake_at, Time::NEVER);
    driver.now += Span::from_ms(7);
    driver.ack(1);
    assert!(driver.controller.agent().unwrap().is_waiting());
    decide(&mut driver, &[0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(driver.control().window_bytes, 20 * u64::from(MSS_BYTES));
}

#[test]
fn an_action_can_take_effect_late() {
    let mut driver = agent("sees=acks step=time_ms:10 delay_ms=3 action=cwnd_mult2:1", "0");
    driver.send();
    driver.now = driver.control().wake_at;
    driver.controller.on_wake(driver.now);
    decide(&mut driver, &[1.0]);
    assert_eq!(driver.control().window_bytes, 10 * u64::from(MSS_BYTES));
    assert_eq!(driver.control().wake_at, driver.now + Span::from_ms(3));
    driver.now += Span::from_ms(3);
    driver.controller.on_wake(driver.now);
    assert_eq!(driver.control().window_bytes, 20 * u64::from(MSS_BYTES));
    assert_eq!(driver.control().wake_at, driver.now + Span::from_ms(7));
}

#[test]
fn what_is_no_number_changes_nothing() {
    let mut driver = agent("sees=acks step=acks:1", "4");
    driver.send();
    driver.ack(1);
    decide(&mut driver, &[f32::NAN]);
    assert_eq!(driver.control().pacing, Some(Rate::from_mbps(4.0)));
}

#[test]
fn a_file_holds_the_policy_and_its_network() {
    let kernel: [(&str, &[usize], &[f32]); 2] =
        [("0.kernel", &[2, 1], &[1.0, 2.0]), ("0.bias", &[1], &[0.0])];
    let build = |policy: Option<&str>| {
        let mut entries = vec![("layers", "dense")];
        entries.extend(policy.map(|policy| ("policy", policy)));
        let contents = crate::network::packed_with(&entries, &kernel);
        let files = Files::from([("w".to_owned(), contents.into())]);
        let mut parameters = Parameters::defaults(ENTRY.parameters).with_files(files);
        parameters.set("weights", "w").unwrap();
        let start = Start { now: Time::ZERO, mss_bytes: 1000, initial_window_bytes: 10_000, seed: 1 };
        ENTRY.build(&parameters, &start).map(|controller| controller.control())
    };
    let control = build(Some("sees=send_ratio,acks start_mbps=3")).unwrap();
    assert_eq!(control.pacing, Some(Rate::from_mbps(3.0)));
    assert_eq!(build(None).unwrap_err().to_string(), "`weights` = `w`: no `policy` in its metadata");
    assert_eq!(
        build(Some("sees=acks")).unwrap_err().to_string(),
        "`weights` = `w`: `0.kernel` has the shape [2, 1]: allowed is [1, any]"
    );
    let refused = build(Some("sees=x")).unwrap_err().to_string();
    assert!(refused.starts_with("`weights` = `w`: policy: `sees` = `x`: allowed are"), "{refused}");
}

#[test]
fn an_agent_needs_its_line() {
    let start = Start { now: Time::ZERO, mss_bytes: 1000, initial_window_bytes: 10_000, seed: 1 };
    let refused = AGENT.build(&Parameters::defaults(AGENT.parameters), &start).unwrap_err().to_string();
    assert_eq!(refused, "`policy`: no file named: allowed is a line of words KEY=VALUE");
}
