//! Controllers come into the kernel, can be chosen in new network namespaces, and leave nothing behind.

use crate::support::{Connection, Hold, Path, dumbbell_kernel, is_available, wait_until_gone};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ALL: [&str; 4] = ["bpf_copa_delay", "bpf_ledbat", "bpf_ledbat_2017", "bpf_vegas"];

/// `by` of every controller as `list --json` has it.
fn registrars() -> Vec<serde_json::Value> {
    let output = dumbbell_kernel(&["list", "--json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    rows.iter().map(|row| row["by"].clone()).collect()
}

pub(crate) fn a_held_controller_carries_data_in_a_new_namespace_and_is_gone_afterwards() {
    let path = Path::new("a", 20, 100_000);
    let hold = Hold::start(&ALL);
    assert_eq!(registrars(), ["held"; 4]);
    for name in ALL {
        // `send` asserts that the connection runs the controller.
        let sent = path.send(name, 0.5);
        let least = if name == "bpf_ledbat_2017" { 0.1 } else { 5.0 };
        assert!(sent.rate_mbps > least, "{name}: {sent:?}");
    }
    hold.end();
    ALL.into_iter().for_each(wait_until_gone);
    assert_eq!(registrars(), vec![serde_json::Value::Null; 4]);
}

pub(crate) fn a_killed_hold_leaves_nothing_registered() {
    let mut hold = Hold::start(&ALL);
    assert!(ALL.iter().all(|name| is_available(name)));
    hold.0.kill().unwrap();
    ALL.into_iter().for_each(wait_until_gone);
}

pub(crate) fn two_holds_share_a_registration_until_the_last_one_ends() {
    let path = Path::new("b", 20, 100_000);
    let mut first = Hold::start(&["bpf_vegas"]);
    let second = Hold::start(&["bpf_vegas"]);
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    assert!(path.send("bpf_vegas", 0.3).rate_mbps > 2.0);
    second.end();
    wait_until_gone("bpf_vegas");
}

pub(crate) fn an_open_connection_outlives_the_registration_and_the_name_is_free_again() {
    let path = Path::new("c", 20, 100_000);
    let hold = Hold::start(&["bpf_copa_delay"]);
    let mut connection = Connection::open(&path, "bpf_copa_delay");
    let began = Instant::now();
    connection.send_until(began + Duration::from_millis(200));
    hold.end();
    wait_until_gone("bpf_copa_delay");
    let again = Hold::start(&["bpf_copa_delay"]);
    connection.send_until(began + Duration::from_millis(700));
    let (bytes, lasted) = connection.finish(began);
    assert!(bytes as f64 * 8.0 / lasted.as_secs_f64() > 5e6, "{bytes} bytes in {lasted:?}");
    again.end();
    wait_until_gone("bpf_copa_delay");
}

pub(crate) fn a_loaded_controller_stays_until_it_is_unloaded() {
    // In a mount namespace of its own: the machine's BPF file system stays as it is.
    let script = "mount -t bpf bpf /sys/fs/bpf && $0 load bpf_vegas bpf_copa_delay && $0 load bpf_vegas && $0 list --json \
        && echo | $0 hold bpf_vegas && $0 unload bpf_vegas && $0 list --json && $0 unload --all && $0 list --json \
        && test ! -e /sys/fs/bpf/dumbbell && $0 unload bpf_vegas";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_dumbbell-kernel")])
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let by: Vec<&str> = stdout.lines().filter_map(|line| line.trim().strip_prefix("\"by\": ")).collect();
    let (pinned, not) = ("\"pinned\",", "null,");
    let (both, one) = ([pinned, not, not, pinned], [pinned, not, not, not]);
    assert_eq!(by, [both, one, [not; 4]].concat(), "{stdout}{stderr}");
    assert!(stdout.contains("ready bpf_vegas\n") && stdout.ends_with("]\n"), "{stdout}");
    assert_eq!(
        stderr,
        "dumbbell-kernel: bpf_vegas: not loaded (/sys/fs/bpf/dumbbell/bpf_vegas does not exist)\n"
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(!is_available("bpf_vegas") && !is_available("bpf_copa_delay"));
}

pub(crate) fn without_the_rights_of_root_one_line_says_so() {
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", env!("CARGO_BIN_EXE_dumbbell-kernel"), "hold", "bpf_vegas"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert_eq!(
        stderr,
        "dumbbell-kernel: rights: root only of a user namespace; run as root of the machine\n"
    );
}

pub(crate) fn an_unknown_name_is_refused_with_the_known_ones() {
    let output = dumbbell_kernel(&["hold", "vegas"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "dumbbell-kernel: vegas: no such controller; allowed: bpf_copa_delay, bpf_ledbat, bpf_ledbat_2017, bpf_vegas\n"
    );
}
