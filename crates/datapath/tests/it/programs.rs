//! What becomes of programs: their output, their verdict on the run, and what they start themselves.

use crate::{UDP_RECEIVER, core, delay, emulate, emulate_once, emulate_until, link, number, program, spec};
use nix::sys::signal::{SigHandler, Signal, signal};
use serde_json::{Value, json};
use std::io::Read;
use std::process::{Child, Command, Stdio};

/// A flow whose sender is this script of the shell; `$1` and `$2` are the receiver's address and port.
fn shell(script: &str) -> Value {
    let mut flow = program("", UDP_RECEIVER);
    flow["program"]["sender"] = json!(["sh", "-c", script, "sender", "{ip}", "{port}"]);
    flow
}

/// What makes a run of `seconds` with this flow alone, over a path without a bottleneck.
fn alone(flow: &Value, seconds: f64) -> Value {
    let path = json!({"data": [delay(25.0)], "ack": [delay(25.0)]});
    spec(&path, &json!([flow]), seconds)
}

/// Sends one packet every 10 ms for as long as the shell that runs it lives.
const SENDS: &str = "while :; do echo x; sleep 0.01; done | python3 -c 'import socket, sys\n\
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
    for line in sys.stdin: s.sendto(bytes(1000), (sys.argv[1], int(sys.argv[2])))' \"$1\" \"$2\" &\n";

pub(crate) fn output_is_drained_and_its_end_kept() {
    // 108 kB, where a pipe holds 64: who did not read would block it.
    let mut flow = shell("seq 1 20000; echo ready $NAME; exit 3");
    flow["program"]["environment"] = json!({"NAME": "value"});
    let error = emulate(&alone(&flow, 1.0)).unwrap_err().to_string();
    assert!(error.starts_with("flow 1 (made-up) sender: ended early, with exit status 3"), "{error}");
    assert!(error.ends_with("last output: 19999 | 20000 | ready value"), "{error}");
}

fn invalid(report: &Value) -> Option<&str> {
    report["emulation"]["invalid"].as_str()
}

pub(crate) fn a_program_calls_the_run_invalid_by_its_exit_status_alone() {
    for (status, objection) in [(3, Some("flow 1 (made-up) sender: too slow")), (4, None), (0, None)] {
        // Shells say on their standard error what a signal has ended, before or after.
        let script = format!(
            "exec 2>/dev/null; trap 'echo too slow; exit {status}' TERM\n{SENDS} while :; do sleep 0.01; done"
        );
        let flow = shell(&script);
        // A machine that stands still makes a run invalid too, for a reason of its own.
        let other = |report: &Value| invalid(report).filter(|why| !why.contains("flow 1")).map(str::to_owned);
        let report = emulate_until(&alone(&flow, 1.0), other).unwrap();
        assert_eq!(invalid(&report), objection, "exit status {status}");
    }
}

pub(crate) fn ending_a_program_ends_what_it_has_started() {
    // One in its group, one that leaves it and its environment, and the program itself, which does not listen.
    let flow =
        shell(&format!("sleep 77.25 & setsid env -i sleep 77.25 &\n{SENDS} trap '' TERM; wait; sleep 77.25"));
    let sleepers = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        lines.filter(|line| line.starts_with(b"sleep\x0077.25\0")).count()
    };
    std::thread::scope(|scope| {
        let run = scope.spawn(|| emulate_once(&alone(&flow, 1.0)));
        needs::wait_for(|| (sleepers() == 2).then_some(()));
        run.join().unwrap().unwrap();
    });
    needs::wait_for(|| (sleepers() == 0).then_some(()));
}

pub(crate) fn a_program_has_no_descriptor_of_ours_and_a_process_number_of_its_own_namespace() {
    // One that a program would inherit: the duplicate of a descriptor is not closed on exec.
    let _inherited = nix::unistd::dup(std::io::stdin()).unwrap();
    // The last one is the directory that `ls` reads.
    let flow =
        shell("echo $$ $(readlink /proc/self | wc -l) $(ls /proc/self/fd | wc -l); test -d /proc/$$; exit 3");
    let error = emulate(&alone(&flow, 1.0)).unwrap_err().to_string();
    assert!(error.ends_with("last output: 2 1 4"), "{error}");
}

#[allow(unsafe_code, reason = "how to have a signal ignored")]
pub(crate) fn a_program_ignores_no_signal_that_this_process_ignores() {
    // SAFETY: nothing in this process waits for the signal.
    unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) }.unwrap();
    let ignored = "echo $((0x$(sed -n 's/SigIgn:.//p' /proc/self/status) & 0x7fffffff)); exit 3";
    let error = emulate(&alone(&shell(ignored), 1.0)).unwrap_err().to_string();
    assert!(error.ends_with("last output: 0"), "{error}");
}

pub(crate) fn what_a_program_left_ends_with_its_flow_and_not_with_the_run() {
    let mut flow = shell(&format!("setsid env -i sleep 77.75 &\n{SENDS} wait"));
    flow["stop_s"] = json!(1.0);
    let sleeps = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        lines.any(|line| line.starts_with(b"sleep\x0077.75\0"))
    };
    std::thread::scope(|scope| {
        let run = scope.spawn(|| emulate_once(&alone(&flow, 4.0)));
        needs::wait_for(|| sleeps().then_some(()));
        needs::wait_for(|| (!sleeps()).then_some(()));
        assert!(!run.is_finished());
        run.join().unwrap().unwrap();
    });
}

/// Sends a packet every 2 ms, and never sleeps between them.
const SPINNING_SENDER: &str = "import socket, sys, time\n\
    s, at = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), time.monotonic()\n\
    while True:\n\
    \x20   if time.monotonic() >= at: s.sendto(bytes(1000), (sys.argv[1], int(sys.argv[2]))); at += 0.002";

/// Asks its socket all the time whether something is there.
const SPINNING_RECEIVER: &str = "import socket, sys\n\
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
    s.bind(('0.0.0.0', int(sys.argv[1]))); s.setblocking(False)\n\
    while True:\n\
    \x20   try: s.recv(2000)\n\
    \x20   except BlockingIOError: pass";

/// What the run of `report` says of an end.
fn end<'a>(report: &'a Value, flow: u64, side: &str) -> &'a Value {
    let ends = report["emulation"]["ends"].as_array().unwrap();
    ends.iter().find(|end| end["flow"] == flow && end["side"] == side).unwrap()
}

pub(crate) fn programs_that_spin_disturb_neither_the_path_nor_other_flows() {
    let path = json!({"data": [link(10.0, 50), delay(10.0)], "ack": [delay(10.0)]});
    let flows = json!([core("cubic"), program(SPINNING_SENDER, SPINNING_RECEIVER)]);
    let sides = ["sender", "receiver"];
    // From the beginning; what wants a processor for itself gets no priority.
    let is_lowered = |end: &Value| number(end, "lowered_s") > 0.5 * number(end, "watched_s");
    let run = || {
        let report = emulate_once(&spec(&path, &flows, 3.0)).unwrap();
        for side in sides {
            let spinning = end(&report, 2, side);
            // As many as processors, on small machines: without limit nothing else would run there.
            assert!(is_lowered(spinning), "{spinning}");
            assert_eq!(number(end(&report, 1, side), "lowered_s"), 0.0);
        }
        report
    };
    // Where programs keep their priority p99 is 8 to 35 ms in every run.
    let end_is_late = |report: &Value| {
        let latest_us = number(&report["emulation"], "ends_latest_us");
        (latest_us > 20_000.0).then(|| format!("an end was {latest_us} us late"))
    };
    needs::punctual(run, |report| path_is_late(report).or_else(|| end_is_late(report)));
}

/// Why the path itself was late, if it was: more than one packet of a hundred later than the bound, or too many pauses.
fn path_is_late(report: &Value) -> Option<String> {
    let late = &report["emulation"]["lateness_us"];
    let exceeds = |key, bound| number(late, key) > number(late, bound);
    (exceeds("p99", "bound") || exceeds("pauses", "pauses_bound")).then(|| late.to_string())
}

pub(crate) fn the_run_of_a_program_without_a_processor_is_degraded_with_the_figure() {
    // The sender has one processor alone, and more than half of that is somebody else's who goes before programs, and after
    // the path.
    let hog = "import os, time\n\
        os.sched_setaffinity(0, [0]); os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))\n\
        print(flush=True)\n\
        while True:\n\
        \x20   begun = time.monotonic()\n\
        \x20   while time.monotonic() < begun + 0.03: pass\n\
        \x20   time.sleep(0.02)";
    let sender = "import os, socket, sys, time\n\
        os.sched_setaffinity(0, [0])\n\
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
        while True: s.sendto(bytes(1000), (sys.argv[1], int(sys.argv[2]))); time.sleep(0.005)";
    let _hog = Guard::start(hog);
    // A run names a late path before a program that waited.
    let report = emulate_until(&alone(&program(sender, UDP_RECEIVER), 2.0), path_is_late).unwrap();
    let [sender, receiver] = ["sender", "receiver"].map(|side| number(end(&report, 1, side), "wait_p99_us"));
    // It waits for 7 to 10 ms, also where the rest of the machine spins; allowed are 2.5 ms.
    assert!(sender > 5_000.0 && sender > receiver, "{report}");
    let reason = report["emulation"]["degraded"].as_str().unwrap_or_default();
    assert!(reason.starts_with("flow 1 (made-up) sender waited for a processor: p99 "), "{report}");
}

/// A Python that has begun, and ends with the test.
struct Guard(Child);

impl Guard {
    /// Returns when the script has printed something.
    fn start(script: &str) -> Self {
        let child = Command::new("python3").args(["-c", script]).stdout(Stdio::piped()).spawn();
        let mut started = Self(child.unwrap());
        started.0.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        started
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
