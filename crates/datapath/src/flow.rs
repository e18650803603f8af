//! The two ends of one flow at work: our transport or the kernel's TCP. Flows of programs are in `program_flow.rs`.

use crate::clock::Clock;
use crate::emulation::{End, Pair, joined};
use crate::endpoint::{
    Decisions, Progress, Samples, StreamedFrame, connect_tcp, decoded, run_receiver, run_sender,
    run_tcp_receiver, run_tcp_sender,
};
use crate::inspect::Reading;
use crate::sys::{Urgency, be_punctual};
use congestion::Registry;
use measure::SenderCounters;
use runs::{Ends, FlowSpec, RunSpec, media_counters, sender_counters};
use std::net::{SocketAddrV4, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;
use transport::{Application, ApplicationSpec, DecodedFrame};
use units::{Span, Time};

/// Port of every flow: each has namespaces of its own. Some programs know no other.
pub(crate) const PORT: u16 = 9000;
/// Longest sleep of a flow that waits for its start.
const POLL: Duration = Duration::from_millis(2);

/// What all flows share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage<'a> {
    pub(crate) spec: &'a RunSpec,
    pub(crate) registry: &'a Registry,
    pub(crate) clock: Clock,
    pub(crate) end: Time,
    pub(crate) stop: &'a AtomicBool,
}

/// What both ends of a flow know.
#[derive(Debug)]
pub(crate) struct FlowReport {
    pub(crate) counters: SenderCounters,
    pub(crate) samples: Samples,
    /// What a sender of ours found out and decided.
    pub(crate) decisions: Decisions,
    /// Frames of a live source that could be decoded, in time order.
    pub(crate) frames: Vec<DecodedFrame>,
}

/// What the sending end of a flow knows.
#[derive(Debug)]
pub(crate) struct Sent {
    counters: SenderCounters,
    samples: Samples,
    decisions: Decisions,
    /// Frames written to a stream that cannot carry marks.
    frames: Vec<StreamedFrame>,
}

/// What the receiving end of a flow knows of a live source.
#[derive(Debug)]
pub(crate) enum Received {
    /// What it decoded.
    Frames(Vec<DecodedFrame>),
    /// When bytes of the stream arrived.
    Stream(Vec<Progress>),
}

/// How the packets of a flow are to be read, from left to right and back.
pub(crate) fn readings(flow: &FlowSpec) -> Result<(Reading, Reading), String> {
    let data =
        if flow.is_core() { Reading::Ours { reliable: flow.config()?.reliable } } else { Reading::Foreign };
    Ok(if flow.reverse { (Reading::Acks, data) } else { (data, Reading::Acks) })
}

/// The sending and the receiving end.
pub(crate) fn ends<'a>(flow: &FlowSpec, pair: &'a Pair) -> (&'a End, &'a End) {
    if flow.reverse { (&pair.right, &pair.left) } else { (&pair.left, &pair.right) }
}

/// Sockets of a flow, open before the run starts.
#[derive(Debug)]
pub(crate) enum Sockets {
    /// Our transport.
    Udp { sender: UdpSocket, receiver: UdpSocket },
    /// The kernel's.
    Tcp { listener: TcpListener },
    /// Programs open theirs themselves.
    Programs,
}

impl Sockets {
    /// Opens what flow number `index` needs.
    pub(crate) fn open(flow: &FlowSpec, pair: &Pair) -> Result<Self, String> {
        let (sender, receiver) = ends(flow, pair);
        let (from, to) = (SocketAddrV4::new(sender.address, PORT), SocketAddrV4::new(receiver.address, PORT));
        if flow.program.is_some() {
            return Ok(Self::Programs);
        }
        if flow.kernel.is_some() {
            let listen = || TcpListener::bind(to).map_err(|error| format!("{to}: {error}"));
            return Ok(Self::Tcp { listener: receiver.namespace.run(listen)? });
        }
        let open = |local: SocketAddrV4, remote: SocketAddrV4| {
            let socket = UdpSocket::bind(local).map_err(|error| format!("{local}: {error}"))?;
            socket.connect(remote).map_err(|error| format!("{remote}: {error}"))?;
            Ok(socket)
        };
        Ok(Self::Udp {
            sender: sender.namespace.run(|| open(from, to))?,
            receiver: receiver.namespace.run(|| open(to, from))?,
        })
    }
}

/// The ends of a flow in their threads.
pub(crate) struct FlowThreads<'scope> {
    sender: ScopedJoinHandle<'scope, Result<Sent, String>>,
    receiver: ScopedJoinHandle<'scope, Result<Received, String>>,
}

impl FlowThreads<'_> {
    /// Waits for both.
    ///
    /// # Errors
    /// One line: the end that failed, and how.
    pub(crate) fn join(self) -> Result<FlowReport, String> {
        let (sent, received) = (joined(self.sender), joined(self.receiver));
        let (Sent { counters, samples, decisions, frames }, received) = (sent?, received?);
        let frames = match received {
            Received::Frames(frames) => frames,
            Received::Stream(progress) => decoded(&frames, &progress),
        };
        Ok(FlowReport { counters, samples, decisions, frames })
    }
}

/// Starts the ends of flow number `index`; `None` for programs. An end that fails sets the stop flag.
pub(crate) fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    stage: Stage<'env>,
    index: usize,
    pair: &'env Pair,
    sockets: Sockets,
) -> Result<Option<FlowThreads<'scope>>, String> {
    let flow = &stage.spec.flows[index];
    let label = format!("flow {} ({})", index + 1, flow.scheme);
    match (sockets, &flow.kernel) {
        (Sockets::Udp { sender, receiver }, _) => {
            let Ends { config, sender: mut sending, receiver: mut receiving } =
                stage.spec.ends(index, stage.registry)?;
            let send = move || {
                let mut samples = Samples::every(Span::from_secs_f64(stage.spec.sample_interval_s));
                let mut decisions = Decisions::of(index, stage.spec.log);
                let (clock, end) = (stage.clock, stage.end);
                run_sender(&sender, &mut sending, clock, end, &mut samples, &mut decisions, stage.stop)
                    .map_err(|error| format!("sending socket: {error}"))?;
                let counters = sender_counters(stage.spec, index, &sending);
                Ok(Sent { counters, samples, decisions, frames: Vec::new() })
            };
            let receive = move || {
                run_receiver(&receiver, &mut receiving, &config, stage.clock, stage.end, stage.stop)
                    .map_err(|error| format!("receiving socket: {error}"))?;
                Ok(Received::Frames(std::iter::from_fn(|| receiving.take_frame()).collect()))
            };
            Ok(Some(FlowThreads {
                sender: spawn(scope, stage.stop, format!("{label} sender"), send)?,
                receiver: spawn(scope, stage.stop, format!("{label} receiver"), receive)?,
            }))
        }
        (Sockets::Tcp { listener }, Some(kernel)) => {
            let (from, to) = ends(flow, pair);
            let address = SocketAddrV4::new(to.address, PORT);
            let name = kernel.congestion_control.as_str();
            let is_live = matches!(flow.application, ApplicationSpec::Encoder(_));
            let send = move || {
                from.namespace.enter()?;
                send_tcp(stage, index, address, name)
            };
            let receive = move || {
                let mut progress = Vec::new();
                let noted = is_live.then_some(&mut progress);
                run_tcp_receiver(&listener, stage.clock, stage.end, stage.stop, noted)
                    .map_err(|error| format!("receiving socket: {error}"))?;
                Ok(Received::Stream(progress))
            };
            Ok(Some(FlowThreads {
                sender: spawn(scope, stage.stop, format!("{label} sender"), send)?,
                receiver: spawn(scope, stage.stop, format!("{label} receiver"), receive)?,
            }))
        }
        _ => Ok(None),
    }
}

fn send_tcp(stage: Stage<'_>, index: usize, address: SocketAddrV4, name: &str) -> Result<Sent, String> {
    let flow = &stage.spec.flows[index];
    let (start, stop_at) = (flow.start(), flow.stop(stage.spec.duration()));
    while stage.clock.now() < start && !stage.stop.load(Ordering::Relaxed) {
        thread::sleep(POLL.min(Duration::from_nanos((start - stage.clock.now()).as_ns())));
    }
    let mut samples = Samples::every(Span::from_secs_f64(stage.spec.sample_interval_s));
    let payload_bytes = transport::Config::tcp().payload_bytes;
    let application =
        Application::new(flow.application.clone(), start, payload_bytes, stage.spec.flow_seed(index));
    let stream = connect_tcp(address, name, stage.clock, stop_at, stage.stop)?;
    let outcome = run_tcp_sender(&stream, application, stage.clock, start, stop_at, &mut samples, stage.stop)
        .map_err(|error| format!("sending socket: {error}"))?;
    let media = outcome.encoder.map(|stats| media_counters(flow, &stats));
    // The kernel does not tell what it decides, or when.
    let decisions = Decisions::default();
    Ok(Sent { counters: outcome.counters(index, media), samples, decisions, frames: outcome.frames })
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    stop: &'scope AtomicBool,
    label: String,
    work: impl FnOnce() -> Result<T, String> + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, Result<T, String>>, String> {
    thread::Builder::new()
        .name(label.clone())
        .spawn_scoped(scope, move || {
            be_punctual(Urgency::End);
            let result = work().map_err(|error| format!("{label}: {error}"));
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            result
        })
        .map_err(|error| format!("cannot start a thread: {error}"))
}
