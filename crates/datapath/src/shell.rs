//! A command inside a path: what `dumbbell emulate` does.

use crate::Error;
use crate::direction_thread::{DirectionReport, Gauges};
use crate::emulation::{
    DEVICE, End, Pair, Traffic, Work, addresses, close, device_mtu, ipv6_addresses, joined, start_directions,
};
use crate::enclosure::{Cover, Enclosure, Inherits};
use crate::inspect::Reading;
use crate::internet::Internet;
use crate::lateness::Lateness;
use crate::lateness_error::{LatenessError, Verdict};
use crate::live::{LiveFile, Publisher};
use crate::names::{Names, PEER};
use crate::owner::clean_up;
use crate::tun::TunConfig;
use endpoint::{Clock, ClockedLog, Meter, Session, merged};
use nix::ifaddrs::getifaddrs;
use packetlog::PacketLogWriter;
use path::PathSpec;
use runs::DEFAULT_MOST_PACKETS;
use serde::Deserialize;
use std::io::{IsTerminal, Write};
use std::net::Ipv4Addr;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use strict_input::Refusal;
use units::{Span, Time};

/// Between two lines of statistics.
const TELL: Duration = Duration::from_secs(1);
/// How often the command is looked at.
const POLL: Duration = Duration::from_millis(5);
/// Links are sampled this often, for the statistics.
const SAMPLES: Span = Span::from_ms(200);

/// A command, and the path it is to be put into.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShellSpec {
    /// Seed of the path's random streams.
    pub seed: u64,
    /// The path: `data` is what the command sends, `ack` what it receives.
    pub path: PathSpec,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Whether somebody types at the command: it is told what can be typed, and no statistics run over its prompt.
    #[serde(default)]
    pub interactive: bool,
    /// A command for the other end, which then gets a namespace of its own; without it the other end is in the namespace
    /// of the caller.
    #[serde(default)]
    pub server: Option<Vec<String>>,
    /// Whether the command reaches, behind the other end, what the caller's namespace reaches, with its name servers. Not
    /// with `server`.
    #[serde(default)]
    pub internet: bool,
    /// Packet log to write.
    #[serde(default)]
    pub log: Option<PathBuf>,
    /// No statistics.
    #[serde(default)]
    pub quiet: bool,
    /// File that shows the path while the command runs, for whoever watches.
    #[serde(default)]
    pub live: Option<PathBuf>,
    /// Whether the caller tells statistics itself, from that file.
    #[serde(default)]
    pub watched: bool,
}

/// Runs a command inside a path until it ends; returns its exit status (128 and the signal's number if one ended it).
/// The command finds the address of the other end in `DUMBBELL_PEER` and `MAHIMAHI_BASE`.
///
/// # Errors
/// One line: what is wrong with the specification, what this machine does not permit, or what cannot be written.
pub fn run_shell(spec: &ShellSpec) -> Result<i32, Error> {
    spec.path.validate()?;
    spec.path.validate_real()?;
    if spec.command.is_empty() {
        return Err(Refusal::of_key("command", "must not be empty").into());
    }
    if spec.internet && spec.server.is_some() {
        return Err(Refusal::of_key("internet", "must not be true with `server`").into());
    }
    clean_up();
    // Opened first: a log that cannot be written should not cost the user a session.
    let writer = spec.log.as_ref().map(PacketLogWriter::create).transpose()?;
    if spec.internet {
        Internet::require_forwarding()?;
    }
    let pair = create_pair(spec)?;
    let outside = Outside::create(spec, &pair)?;
    let stop = AtomicBool::new(false);
    let gauges = [(); 2].map(|()| Arc::new(Gauges::of(1)));
    let work = Work {
        path: &spec.path,
        seed: spec.seed,
        session: Session { clock: Clock::start(), end: Time::NEVER, stop: &stop, board: None },
        sample_interval: SAMPLES,
        most_packets: DEFAULT_MOST_PACKETS,
        log: writer.is_some(),
        full_log: false,
        gauges: &gauges,
    };
    tracing::info!(seed = spec.seed, command = spec.command.join(" "), "emulation begins");
    let traffic =
        Traffic { data: Reading::Foreign, ack: Reading::Acks, readable_ranges: None, extra: Span::ZERO };
    let pairs = [pair];
    let (status, mut directions) = thread::scope(|scope| {
        let directions = start_directions(scope, work, &pairs, &[traffic]);
        let status = directions.as_ref().map_or(Err(Error::Stopped), |_| {
            commands(spec, &pairs[0], &outside, &gauges, work.session.clock)
        });
        stop.store(true, Ordering::Relaxed);
        let [data, ack] = directions?;
        let directions = [joined(data)?, joined(ack)?];
        Ok::<_, Error>((status?, directions))
    })?;
    if !spec.quiet {
        summarize(&mut directions, &spec.path, work.session.clock.now() - Time::ZERO);
    }
    if let Some(mut writer) = writer {
        merged(directions.iter().map(|direction| ClockedLog::from(&direction.log)))
            .try_for_each(|record| writer.write(&record))?;
        writer.finish()?;
    }
    drop(outside);
    close(pairs.into());
    tracing::info!(status, "network namespaces closed");
    Ok(status)
}

fn create_pair(spec: &ShellSpec) -> Result<Pair, Error> {
    let mtu_bytes = device_mtu(&spec.path);
    if spec.server.is_some() {
        return Pair::create(0, mtu_bytes);
    }
    // Inside of another one of these the addresses of that one are taken.
    let taken: Vec<Ipv4Addr> = getifaddrs()
        .map_err(|error| Error::system("cannot list the addresses of this namespace", error))?
        .filter_map(|interface| Some(interface.address?.as_sockaddr_in()?.ip()))
        .collect();
    for index in 0..=u8::MAX {
        let (inside, outside) = addresses(usize::from(index));
        if !taken.contains(&inside) && !taken.contains(&outside) {
            let (inside_ipv6, outside_ipv6) = ipv6_addresses(usize::from(index));
            let right = TunConfig {
                name: format!("dumbbell-{index}"),
                address: outside,
                peer: inside,
                ipv6: Some(outside_ipv6),
                mtu_bytes,
                offloads: true,
                default_route: false,
                default_ipv6_route: false,
            };
            let left = TunConfig {
                name: DEVICE.to_owned(),
                address: inside,
                peer: outside,
                ipv6: Some(inside_ipv6),
                mtu_bytes,
                offloads: true,
                default_route: true,
                // Without a route a connection over IPv6 fails at once. With a route and no forwarding it would wait for an answer.
                default_ipv6_route: !spec.internet || Internet::forwards_ipv6(),
            };
            let right = End::here(&right).map_err(|error| Error::NoDevice(Box::new(error)))?;
            let left = End::create_with(&left, || if spec.internet { Internet::forward() } else { Ok(()) })?;
            return Ok(Pair { left, right });
        }
    }
    Err(Error::NoAddress)
}

/// What the ends find outside of their namespaces.
struct Outside {
    /// Files in the place of those of this machine, for the command and for the server.
    covers: [Vec<Cover>; 2],
    _names: Names,
    _internet: Option<Internet>,
}

impl Outside {
    fn create(spec: &ShellSpec, pair: &Pair) -> Result<Self, Error> {
        let mut names = Names::create()?;
        let mut covers = [names.hosts("left", &pair.right)?, names.hosts("right", &pair.left)?];
        let mut internet = None;
        if spec.internet {
            internet = Some(Internet::share(&pair.right, &pair.left)?);
            covers[0].extend(names.resolver(pair.right.address)?);
        }
        Ok(Self { covers, _names: names, _internet: internet })
    }
}

/// Runs the commands; the exit status of the one inside.
fn commands(
    spec: &ShellSpec,
    pair: &Pair,
    outside: &Outside,
    gauges: &[Arc<Gauges>; 2],
    clock: Clock,
) -> Result<i32, Error> {
    if !spec.quiet {
        introduce(spec, pair.right.address);
    }
    let [for_command, for_server] = &outside.covers;
    let mut server = spec.server.as_ref().map(|words| start_server(words, pair, for_server)).transpose()?;
    let mut command = Command::new(&spec.command[0]);
    command
        .args(&spec.command[1..])
        .envs(peer_variables(&pair.right))
        .env("MAHIMAHI_BASE", pair.right.address.to_string());
    let (mut enclosure, mut child) =
        Enclosure::start(&mut command, &pair.left.namespace, for_command, Inherits::CallersOwn)?;
    let status = attend(&mut child, spec, gauges, clock);
    // Whatever the two have left in the background: the path ends here.
    let _ended = enclosure.end(&mut child);
    if let Some((enclosure, server)) = &mut server {
        let _ended = enclosure.end(server);
    }
    status
}

/// Returns the variables in which an end finds the addresses of the other one.
fn peer_variables(peer: &End) -> impl Iterator<Item = (&'static str, String)> {
    let ipv6 = peer.ipv6.map(|address| ("DUMBBELL_PEER6", address.to_string()));
    [("DUMBBELL_PEER", peer.address.to_string())].into_iter().chain(ipv6)
}

/// Says where the other end is, and to who types what to type.
fn introduce(spec: &ShellSpec, peer: Ipv4Addr) {
    let here = if spec.internet {
        "is this machine, outside of the path, and forwards to what this machine reaches"
    } else {
        "is this machine, outside of the path"
    };
    let end =
        spec.server.as_ref().map_or_else(|| here.to_owned(), |words| format!("runs `{}`", words.join(" ")));
    tell_line(&format!("the other end, {peer} (DUMBBELL_PEER, {PEER}), {end}"));
    if spec.interactive {
        tell_line(&format!("try `ping {peer}`; `exit` ends it"));
    }
    if spec.interactive && spec.server.is_none() {
        tell_line(&format!(
            "or `iperf3 -s` where you started this, in another terminal, and `iperf3 -c {peer}` here"
        ));
    }
}

fn start_server(words: &[String], pair: &Pair, covers: &[Cover]) -> Result<(Enclosure, Child), Error> {
    let program = words.first().ok_or_else(|| Refusal::of_key("server", "must not be empty"))?;
    let mut command = Command::new(program);
    command
        .args(&words[1..])
        .envs(peer_variables(&pair.left))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0);
    let started = Enclosure::start(&mut command, &pair.right.namespace, covers, Inherits::Nothing)?;
    // Most servers are up by then; what they need beyond it is up to the command.
    thread::sleep(Duration::from_millis(300));
    Ok(started)
}

/// Waits for the command and tells what happens meanwhile.
fn attend(
    child: &mut Child,
    spec: &ShellSpec,
    gauges: &[Arc<Gauges>; 2],
    clock: Clock,
) -> Result<i32, Error> {
    let live = spec.live.clone().map(|file| LiveFile { file, attempt: 1 });
    let mut publisher = Publisher::of_path(live.as_ref(), gauges);
    let (mut told, mut before) = (Instant::now(), [Counts::default(); 2]);
    loop {
        if let Some(status) = child.try_wait().map_err(Error::Wait)? {
            return Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
        }
        if !spec.quiet && !spec.interactive && !spec.watched && told.elapsed() >= TELL {
            let seconds = told.elapsed().as_secs_f64();
            let counts = [Counts::read(&gauges[0]), Counts::read(&gauges[1])];
            tell(&format!(
                "up {} | down {}",
                counts[0].since(before[0], seconds),
                counts[1].since(before[1], seconds)
            ));
            (told, before) = (Instant::now(), counts);
        }
        Gauges::require_room(gauges)?;
        publisher.publish(clock.now());
        thread::sleep(POLL);
    }
}

/// One line that replaces the one before on a terminal.
fn tell(line: &str) {
    let mut stream = std::io::stderr().lock();
    let (begin, end) = if stream.is_terminal() { ("\r\x1b[K", "") } else { ("", "\n") };
    // Statistics that cannot be shown are no reason to end the user's command.
    let _shown = write!(stream, "{begin}dumbbell: {line}{end}").and_then(|()| stream.flush());
}

/// One line that stays.
fn tell_line(line: &str) {
    let _shown = writeln!(std::io::stderr(), "dumbbell: {line}");
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    bytes: u64,
    packets: u64,
    dropped: u64,
    queued: u64,
}

impl Counts {
    fn read(gauges: &Gauges) -> Self {
        let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let passed = || gauges.meters.iter().map(Meter::read);
        Self {
            bytes: passed().map(|meter| meter.delivered_bytes).sum(),
            packets: passed().map(|meter| meter.delivered_packets).sum(),
            dropped: read(&gauges.dropped_packets),
            queued: read(&gauges.queued_packets),
        }
    }

    fn since(self, before: Self, seconds: f64) -> String {
        format!(
            "{:.2} Mbit/s, {:.0} packets/s, {} queued, {} dropped",
            (self.bytes - before.bytes) as f64 * 8.0 / 1e6 / seconds,
            (self.packets - before.packets) as f64 / seconds,
            self.queued,
            self.dropped
        )
    }
}

/// What happened in all.
fn summarize(directions: &mut [DirectionReport; 2], path: &PathSpec, lasted: Span) {
    let mut lateness = Lateness::default();
    for direction in &*directions {
        lateness.merge(&direction.lateness);
    }
    let report = lateness.report(path.base_rtt(), lasted, false);
    let error = LatenessError::none(path.base_rtt()).with_path(
        directions.each_mut().map(|direction| &mut direction.lateness),
        &report,
        lasted,
    );
    let Verdict { degraded, remark } = error.verdict(report.remark().as_deref());
    let degraded = degraded.map(|reason| format!("; degraded: {reason}"));
    if report.packets == 0 {
        tell_line("no packet has passed");
        return;
    }
    tell(&format!(
        "{} packets, late by {} us (median), {} us (p99), {} us (max){}",
        report.packets,
        report.p50,
        report.p99,
        report.max,
        degraded.or_else(|| Some(format!("; {}", remark?))).unwrap_or_default(),
    ));
    if std::io::stderr().is_terminal() {
        let _ended = writeln!(std::io::stderr());
    }
}
