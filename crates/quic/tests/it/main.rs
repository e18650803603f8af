//! Two processes of `dumbbell-quic` over the loopback interface.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test of real processes and sockets")]

use std::net::UdpSocket;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_dumbbell-quic");

/// A process that does not outlive a failed test.
struct Guard(Option<Child>);

impl Guard {
    fn start(arguments: &[&str]) -> Self {
        let child = Command::new(PROGRAM)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self(Some(child))
    }

    fn ask_to_stop(&self) {
        kill(Pid::from_raw(self.0.as_ref().unwrap().id() as i32), Signal::SIGTERM).unwrap();
    }

    fn output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A receiver that listens already, and its address.
fn receiver() -> (Guard, String) {
    let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let receiver = Guard::start(&["receive", "--listen", &free.to_string()]);
    let local = format!(":{:04X} ", free.port());
    needs::wait_for(|| std::fs::read_to_string("/proc/net/udp").unwrap().contains(&local).then_some(()));
    (receiver, free.to_string())
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn received_bytes(output: &Output) -> u64 {
    lines(output)[0]["received_bytes"].as_u64().unwrap()
}

/// Each algorithm for a second: data arrives all the time, and the statistics tell so.
fn transfer_for_a_second(congestion_control: &str) {
    let (receiver, address) = receiver();
    let start = Instant::now();
    let sender =
        Guard::start(&["send", &address, "--cc", congestion_control, "--duration", "1", "--stats"]).output();
    let took = start.elapsed();
    let receiver = receiver.output();
    assert!(sender.status.success() && receiver.status.success(), "{}{}", error(&sender), error(&receiver));
    assert!(took.as_secs_f64() >= 1.0, "{took:?}");

    let received = received_bytes(&receiver);
    assert!(received > 5_000_000, "{received} bytes in a second");
    let statistics = lines(&sender);
    // A line each tenth of a second, until the receiver, which may be late, has room for the last packet.
    let most = took.as_secs_f64() * 10.0;
    assert!((5.0..=most).contains(&(statistics.len() as f64)), "{} lines in {took:?}", statistics.len());
    for line in &statistics {
        assert!(line["cwnd_bytes"].as_u64().unwrap() >= 2 * 1200, "{line}");
        // before the first sample, on a busy machine the first line, there is no smallest RTT
        let min_rtt_ms = line["min_rtt_ms"].as_f64().unwrap_or(0.0);
        assert!(line["rtt_ms"].as_f64().unwrap() >= min_rtt_ms * 0.99, "{line}");
        assert!(line["lost"].as_u64().unwrap() <= line["sent"].as_u64().unwrap(), "{line}");
    }
    let times: Vec<f64> = statistics.iter().map(|line| line["t_s"].as_f64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let last = &statistics[statistics.len() - 1];
    assert!(last["sent_bytes"].as_u64().unwrap() > 5_000_000, "{last}");
    assert!(last["delivery_rate_mbps"].as_f64().unwrap() > 1.0, "{last}");
    assert!(last["min_rtt_ms"].as_f64().unwrap() > 0.0, "{last}");
}

#[test]
fn cubic_transfers_for_a_second() {
    transfer_for_a_second("cubic");
}

#[test]
fn reno_transfers_for_a_second() {
    transfer_for_a_second("reno");
}

#[test]
fn bbr2_transfers_for_a_second() {
    transfer_for_a_second("bbr2");
}

#[test]
fn a_number_of_bytes_arrives_exactly() {
    let (receiver, address) = receiver();
    let sender = Guard::start(&["send", &address, "--bytes", "3000001", "--max-datagram", "1200"]).output();
    assert!(sender.status.success(), "{}", error(&sender));
    assert!(sender.stdout.is_empty(), "statistics only when asked for");
    assert_eq!(received_bytes(&receiver.output()), 3_000_001);
}

/// A relay to `server` that forwards what `passes` lets through, told whether it goes to the server and how many bytes went
/// there before. It ends with the test's process.
fn relay(server: String, mut passes: impl FnMut(bool, usize) -> bool + Send + 'static) -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let server = server.parse().unwrap();
        let (mut client, mut bytes, mut buffer) = (None, 0, [0; 2048]);
        loop {
            // If a side has gone, the kernel reports so here, of a datagram that was sent to it before.
            let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
            let there = from != server;
            if there {
                client = Some(from);
                bytes += length;
            }
            if passes(there, bytes) {
                let _ = socket.send_to(&buffer[..length], if there { server } else { client.unwrap() });
            }
        }
    });
    address
}

/// A lost `CONNECTION_CLOSE` left the other side waiting for five minutes.
#[test]
fn the_end_arrives_when_what_says_so_first_is_lost() {
    let (receiver, address) = receiver();
    let start = Instant::now();
    let lost = Duration::from_millis(450)..Duration::from_millis(550);
    let address = relay(address, move |there, _| !there || !lost.contains(&start.elapsed()));
    let sender = Guard::start(&["send", &address, "--duration", "0.5"]).output();
    let receiver = receiver.output();
    assert!(sender.status.success() && receiver.status.success(), "{}{}", error(&sender), error(&receiver));

    let (receiver, address) = self::receiver();
    let mut complete = None;
    let address = relay(address, move |there, bytes| {
        if bytes >= 3_000_001 {
            complete = complete.or_else(|| Some(Instant::now()));
        }
        there || complete.is_none_or(|at: Instant| at.elapsed() > Duration::from_millis(100))
    });
    let sender = Guard::start(&["send", &address, "--bytes", "3000001"]).output();
    assert!(sender.status.success(), "{}", error(&sender));
    assert_eq!(received_bytes(&receiver.output()), 3_000_001);
}

#[test]
fn sigterm_ends_both_sides_cleanly() {
    let (receiver, address) = receiver();
    let sender = Guard::start(&["send", &address, "--duration", "60"]);
    std::thread::sleep(Duration::from_millis(500));
    sender.ask_to_stop();
    let (sender, receiver) = (sender.output(), receiver.output());
    assert!(sender.status.success() && receiver.status.success(), "{}{}", error(&sender), error(&receiver));
    assert!(received_bytes(&receiver) > 0);
}

#[test]
fn sigterm_ends_a_receiver_that_nobody_called() {
    let (receiver, _) = receiver();
    receiver.ask_to_stop();
    let output = receiver.output();
    assert!(output.status.success(), "{}", error(&output));
    assert_eq!(received_bytes(&output), 0);
}

#[test]
fn a_receiver_that_is_not_there_is_one_line_and_status_1() {
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let output = Guard::start(&["send", &closed, "--duration", "1"]).output();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(error(&output), format!("dumbbell-quic: nothing listens at {closed}\n"));
}

#[test]
fn wrong_arguments_are_one_line_and_status_2() {
    for (arguments, expected) in [
        (&["send", "127.0.0.1:1", "--cc", "vegas"][..], "--cc \"vegas\"; allowed: cubic, reno, bbr2"),
        (
            &["send", "127.0.0.1:1", "--duration", "-1"],
            "--duration \"-1\"; allowed: seconds, 0.001 to 1000000",
        ),
        (&["receive", "--port", "1"], "receive: unknown argument \"--port\"; allowed: --listen IP:PORT"),
    ] {
        let output = Guard::start(arguments).output();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(error(&output), format!("dumbbell-quic: {expected}\n"));
    }
}

#[test]
fn a_receiver_that_dies_is_one_line_and_status_1() {
    let (receiver, address) = receiver();
    let sender = Guard::start(&["send", &address, "--duration", "60"]);
    std::thread::sleep(Duration::from_millis(500));
    drop(receiver); // killed: it says nothing
    let output = sender.output();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(error(&output), format!("dumbbell-quic: the receiver at {address} is gone\n"));
}

#[test]
fn a_receiver_that_never_answers_is_one_line_and_status_1() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let output = Guard::start(&["send", &address, "--duration", "0.5"]).output();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(error(&output), format!("dumbbell-quic: no answer from {address} within 0.5 s\n"));

    let sender = Guard::start(&["send", &address, "--duration", "60"]);
    std::thread::sleep(Duration::from_millis(300));
    sender.ask_to_stop();
    assert!(sender.output().status.success());
}
