//! Two network namespaces joined by a slow link, data across it, and `dumbbell-kernel` as a child.

use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket, sockopt::TcpCongestion,
};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;
use std::process::{Child, Command, Output, Stdio};
use std::str::FromStr as _;
use std::thread;
use std::time::{Duration, Instant};

const PORT: u16 = 5201;
const RECEIVER: &str = "10.99.0.2";

/// Why no controller can be registered on this machine, if none can. The registry is host-wide.
pub(crate) fn missing() -> Option<String> {
    let check = dumbbell_kernel(&["check"]);
    if !check.status.success() {
        let report = String::from_utf8_lossy(&check.stdout).into_owned();
        let missing = report.lines().find(|line| line.starts_with("NO")).unwrap_or("check failed");
        return Some(missing.to_owned());
    }
    let is_ours = |name: &String| name.starts_with("bpf_");
    available().iter().any(is_ours).then(|| "a run on this machine has controllers registered".to_owned())
}

/// The same, or why nobody can be root of a user namespace only.
pub(crate) fn missing_or_no_user_namespaces() -> Option<String> {
    let unshare = || Command::new("unshare").args(["--user", "--map-root-user", "true"]).output();
    missing().or_else(|| {
        let output = unshare().expect("util-linux is installed");
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).trim().to_owned())
    })
}

/// Runs `dumbbell-kernel` to its end.
pub(crate) fn dumbbell_kernel(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_dumbbell-kernel");
    Command::new(program).args(arguments).stdin(Stdio::null()).output().expect("the program starts")
}

/// Names that a socket can choose.
pub(crate) fn available() -> Vec<String> {
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    names.expect("Linux has TCP").split_whitespace().map(String::from).collect()
}

pub(crate) fn is_available(name: &str) -> bool {
    available().iter().any(|available| available == name)
}

/// Waits until `name` is gone, which after a kill takes a moment.
pub(crate) fn wait_until_gone(name: &str) {
    needs::wait_for(|| (!is_available(name)).then_some(()));
}

/// `dumbbell-kernel hold NAME...`, killed when dropped.
pub(crate) struct Hold(pub(crate) Child);

impl Hold {
    /// Returns when it has said that it is ready.
    pub(crate) fn start(names: &[&str]) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_dumbbell-kernel"))
            .arg("hold")
            .args(names)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut hold = Self(child);
        let mut line = String::new();
        let stdout = hold.0.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        assert_eq!(line, format!("ready {}\n", names.join(" ")));
        hold
    }

    /// Closes its standard input and waits for its end.
    pub(crate) fn end(mut self) {
        drop(self.0.stdin.take());
        let status = self.0.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let output = Command::new(words[0]).args(&words[1..]).output().expect("iproute2 is installed");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Namespaces of a sender, a router and a receiver; what the router passes on to the receiver waits in a queue.
///
/// The queue is not the sender's own, where the kernel would keep it short (TCP small queues).
pub(crate) struct Path {
    sender: String,
    router: String,
    receiver: String,
}

impl Path {
    /// A link of `rate_mbps` behind a droptail queue of `queue_bytes`. `label` makes the names unique.
    pub(crate) fn new(label: &str, rate_mbps: u32, queue_bytes: u32) -> Self {
        let name = |role| format!("dbk{}{label}{role}", std::process::id());
        let path = Self { sender: name("s"), router: name("m"), receiver: name("r") };
        let Self { sender, router, receiver } = &path;
        for line in [
            format!("ip netns add {sender}"),
            format!("ip netns add {router}"),
            format!("ip netns add {receiver}"),
            format!("ip -n {sender} link add fast type veth peer name fast netns {router}"),
            format!("ip -n {receiver} link add slow type veth peer name slow netns {router}"),
            format!("ip -n {sender} address add 10.98.0.1/24 dev fast"),
            format!("ip -n {router} address add 10.98.0.9/24 dev fast"),
            format!("ip -n {router} address add 10.99.0.9/24 dev slow"),
            format!("ip -n {receiver} address add {RECEIVER}/24 dev slow"),
            format!("ip -n {sender} link set fast up"),
            format!("ip -n {router} link set fast up"),
            format!("ip -n {router} link set slow up"),
            format!("ip -n {receiver} link set slow up"),
            format!("ip -n {sender} route add default via 10.98.0.9"),
            format!("ip -n {receiver} route add default via 10.99.0.9"),
            format!("ip netns exec {router} sysctl -qw net.ipv4.ip_forward=1"),
            format!(
                "tc -n {router} qdisc add dev slow root tbf rate {rate_mbps}mbit burst 3200 limit {queue_bytes}"
            ),
        ] {
            command(&line);
        }
        path
    }

    /// Sends through `controller` for `seconds` and looks at the connection several times in the last third.
    pub(crate) fn send(&self, controller: &str, seconds: f64) -> Sent {
        let mut connection = Connection::open(self, controller);
        let began = Instant::now();
        let (mut rtts_ms, mut retransmissions) = (vec![], 0);
        for tenth in 0..10 {
            if tenth >= 7 {
                let seen = self.look(controller);
                rtts_ms.push(seen.rtt_ms);
                retransmissions = seen.retransmissions;
            }
            connection.send_until(began + Duration::from_secs_f64(seconds * f64::from(tenth + 1) / 10.0));
        }
        let (received_bytes, lasted) = connection.finish(began);
        Sent {
            rtt_ms: rtts_ms.iter().sum::<f64>() / rtts_ms.len() as f64,
            rate_mbps: received_bytes as f64 * 8.0 / 1e6 / lasted.as_secs_f64(),
            retransmissions,
        }
    }

    /// What `ss` says of the only connection; asserts that it runs `controller`.
    fn look(&self, controller: &str) -> Seen {
        let ss = ["netns", "exec", &self.sender, "ss", "-tinH", "dport", "=", &format!(":{PORT}")];
        let output = Command::new("ip").args(ss).output().expect("iproute2 is installed");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.split_whitespace().any(|word| word == controller), "{controller} is not in use: {text}");
        // "rtt:MEAN/VARIATION", and "retrans:NOW/TOTAL" if there was any.
        let value = |key| text.split_whitespace().find_map(|word| word.strip_prefix(key)?.split_once('/'));
        Seen {
            rtt_ms: value("rtt:").and_then(|(mean, _)| mean.parse().ok()).expect("an RTT"),
            retransmissions: value("retrans:").and_then(|(_, total)| total.parse().ok()).unwrap_or(0),
        }
    }
}

struct Seen {
    rtt_ms: f64,
    retransmissions: u32,
}

impl Drop for Path {
    fn drop(&mut self) {
        for name in [&self.sender, &self.router, &self.receiver] {
            // Best effort: the failure that brought us here matters more.
            let _ = Command::new("ip").args(["netns", "delete", name]).output();
        }
    }
}

/// What a transfer showed.
#[derive(Debug)]
pub(crate) struct Sent {
    /// Mean smoothed RTT in the last third.
    pub(crate) rtt_ms: f64,
    /// Payload that arrived, over the whole time.
    pub(crate) rate_mbps: f64,
    /// Packets sent again.
    pub(crate) retransmissions: u32,
}

/// An open TCP connection and the thread that reads its other end.
pub(crate) struct Connection {
    stream: TcpStream,
    reader: thread::JoinHandle<u64>,
}

impl Connection {
    /// Connects across `path`, with `controller` chosen before the handshake.
    pub(crate) fn open(path: &Path, controller: &str) -> Self {
        let listener =
            inside(&path.receiver, || TcpListener::bind((RECEIVER, PORT)).expect("the port is free"));
        let reader = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            // A connection that stalls ends like one that is closed: with too few bytes. On a busy machine two seconds without
            // a byte are none that stalls.
            stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
            let (mut buffer, mut bytes) = (vec![0; 1 << 16], 0);
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                bytes += read as u64;
            }
            bytes
        });
        let stream = inside(&path.sender, || {
            let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)
                .expect("a socket");
            setsockopt(&socket, TcpCongestion, &controller.into()).expect("the controller can be chosen");
            let address = SocketAddrV4::from_str(&format!("{RECEIVER}:{PORT}")).expect("an address");
            connect(socket.as_raw_fd(), &SockaddrIn::from(address)).expect("connects");
            TcpStream::from(socket)
        });
        stream.set_write_timeout(Some(Duration::from_millis(20))).expect("a timeout");
        Self { stream, reader }
    }

    /// Sends all it can until `deadline`.
    pub(crate) fn send_until(&mut self, deadline: Instant) {
        let data = [0; 1 << 14];
        while Instant::now() < deadline {
            match self.stream.write(&data) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("sending: {error}"),
            }
        }
    }

    /// Closes; the bytes that arrived, and how long after `began` the last one did.
    pub(crate) fn finish(self, began: Instant) -> (u64, Duration) {
        drop(self.stream);
        let bytes = self.reader.join().expect("the reader ends");
        (bytes, began.elapsed())
    }
}

/// Runs `work` in the network namespace called `name`.
fn inside<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let namespace = File::open(format!("/run/netns/{name}")).expect("the namespace exists");
            setns(namespace, CloneFlags::CLONE_NEWNET).expect("root");
            work()
        });
        thread.join().expect("no panic in the namespace")
    })
}
