//! One machine's end of a run between two: sockets, what is behind them, and the threads of the run.

use super::channel::{Channel, Exchange};
use super::hops::{Hop, trace};
use super::meeting::{Heard, meet};
use super::mtu::{self, PathMtu, discover};
use super::port::{self, Port};
use super::probe::{Probe, Probed, probe};
use super::report::{FlowHalf, MOST_FLOWS, SideReport};
use super::tunnel::{Encapsulation, Tunnel, TunnelReport};
use crate::emulation::{DEVICE, End, addresses};
use crate::flow::{PORT, readings};
use crate::live::{LiveFile, Publisher};
use crate::owner::{Owner, clean_up};
use crate::program_flow::{EndsHere, ProgramFlow};
use crate::scratch::Scratch;
use crate::tun::TunConfig;
use crate::{Cause, Error};
use congestion::Registry;
use endpoint::{
    Board, Clock, Journal, Key, MAX_DATAGRAM_BYTES, Meter, ReceiverReport, Scheduled, SenderReport, Session,
    Urgency, Wire, dropped_at, monotonic_ns, receive_tcp, receive_udp, send_tcp, send_udp,
};
use runs::{Ends, FlowEnd, RunSpec};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;
use strict_input::Refusal;
use units::{Span, Time};

/// How often programs and the request to stop are looked at.
const POLL: Duration = Duration::from_millis(2);
/// Time over which a rate is averaged before it is held against the cap.
const SECOND: Span = Span::from_secs(1);

/// What a side is asked to open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// Number of flows: each gets a socket, beside the one of the channel.
    pub flows: usize,
    /// Ports to choose from; whatever is free if absent.
    #[serde(default)]
    pub ports: Option<(u16, u16)>,
}

/// What it has opened.
#[derive(Clone, Debug, Serialize)]
pub struct Opened {
    /// Its ports: of the channel, then of the flows.
    pub ports: Vec<u16>,
}

/// Whom a side is to meet.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meet {
    /// Where the other side probably is; where it speaks from counts.
    pub address: Ipv4Addr,
    /// Its ports, as it opened them.
    pub ports: Vec<u16>,
    /// For each socket the keys of what leaves and of what arrives, 64 hexadecimal digits each.
    pub keys: Vec<(String, String)>,
    /// Whether this side asks and the other answers.
    pub asks: bool,
    /// How long it tries, s.
    pub patience_s: f64,
    /// Largest packet that is tried, bytes.
    pub most_mtu_bytes: u32,
    /// Whether it looks for routers on the way.
    pub trace: bool,
}

impl std::fmt::Debug for Meet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Meet").field("address", &self.address).finish_non_exhaustive()
    }
}

/// How that went.
#[derive(Clone, Debug, Serialize)]
pub struct Met {
    /// For each socket whether something of the peer was heard, and whether the peer heard something.
    pub(super) heard: Vec<(bool, bool)>,
    /// Where the peer is heard from, for each socket.
    pub(super) peers: Vec<String>,
    /// How long packets may be, by the side that asks.
    pub(super) mtu: Option<PathMtu>,
    /// Routers on the way.
    hops: Vec<Hop>,
}

/// What is around the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelKind {
    /// Nothing: our own ends speak for themselves.
    None,
    /// Our tunnel.
    Sealed,
    /// Pantheon's.
    Pantheon,
}

/// What one machine has to do in a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPart {
    /// Whether data of ordinary flows leaves here.
    pub sends: bool,
    /// Whether this is the first of the two: they have different addresses in their tunnels.
    pub first: bool,
    /// Of each flow.
    pub tunnels: Vec<TunnelKind>,
    /// Largest packet inside a tunnel, bytes.
    pub inner_mtu_bytes: u32,
    /// Questions a second while the run goes on, by the side that asks.
    pub asks_per_s: f64,
    /// Most that all flows of a side may send, averaged over a second: a run that sends more is stopped.
    #[serde(default)]
    pub bandwidth_cap_mbps: Option<f64>,
}

/// One machine's end of a run.
#[derive(Debug, Default)]
pub struct RemoteEndpoint {
    sockets: Vec<UdpSocket>,
    ports: Vec<Port>,
    channel: Option<Channel>,
    asks: bool,
    exchanges: Vec<Exchange>,
    asked: u64,
    report: Option<SideReport>,
}

impl RemoteEndpoint {
    /// Opens the sockets.
    ///
    /// # Errors
    /// One line: what the system refused.
    pub fn open(&mut self, request: &Open) -> Result<Opened, Error> {
        clean_up();
        *self = Self::default();
        if request.flows > MOST_FLOWS {
            return Err(Refusal::of_value("flows", request.flows, format!("allowed is 0 to {MOST_FLOWS}"))
                .at("open")
                .into());
        }
        let sockets = (0..=request.flows).map(|_| port::open(request.ports));
        let sockets = sockets.collect::<Result<Vec<_>, _>>()?;
        let ports = sockets.iter().map(|socket| socket.local_addr().map(|address| address.port()));
        let ports: Result<_, _> = ports.collect();
        let ports = ports.map_err(|error| Error::system("UDP socket", error))?;
        self.sockets = sockets;
        tracing::info!(?ports, "UDP sockets opened");
        Ok(Opened { ports })
    }

    /// Finds the other side, on all sockets, and begins to answer it.
    ///
    /// # Errors
    /// One line: what the system refused, or that the request does not fit what was opened.
    pub fn meet(&mut self, request: &Meet, stop: &dyn Fn() -> bool) -> Result<Met, Error> {
        let text = |error: std::io::Error| Error::system("UDP", error);
        if request.ports.len() != self.sockets.len() || request.keys.len() != self.sockets.len() {
            return Err(Error::OtherFlows {
                request: "meet",
                open: self.sockets.len(),
                what: "sockets are open here",
            });
        }
        let sizes = mtu::LEAST..=MAX_DATAGRAM_BYTES as u32;
        if !sizes.contains(&request.most_mtu_bytes) {
            let (found, least, most) = (request.most_mtu_bytes, sizes.start(), sizes.end());
            return Err(Refusal::of_value("most_mtu_bytes", found, format!("allowed is {least} to {most}"))
                .at("meet")
                .into());
        }
        let sockets = std::mem::take(&mut self.sockets);
        let asked = sockets.into_iter().zip(&request.ports).zip(&request.keys);
        let ports = asked.map(|((socket, port), (outgoing, incoming))| {
            let peer = SocketAddrV4::new(request.address, *port);
            Ok(Port::new(socket, peer, &Key::from_hex(outgoing)?, &Key::from_hex(incoming)?))
        });
        let mut ports = ports.collect::<Result<Vec<_>, Error>>()?;
        let patience = Duration::from_secs_f64(request.patience_s.clamp(0.1, 600.0));
        tracing::info!(address = %request.address, ports = ?request.ports, "looks for the other side");
        let heard = meet(&mut ports, !request.asks, patience, stop).map_err(text)?;
        let peers = ports.iter().map(|port| port.guard.peer().to_string()).collect();
        let mut channel = ports.remove(0);
        let met = heard.iter().all(|heard| *heard == Heard { peer: true, by_peer: true });
        let (mut mtu, mut hops) = (None, Vec::new());
        if met && request.asks {
            mtu = Some(discover(&mut channel, request.most_mtu_bytes).map_err(text)?);
            if request.trace {
                // A description only: without it the run is as good.
                hops = trace(&mut channel, Duration::from_millis(500)).unwrap_or_default();
            }
        }
        let (peer, by_peer) = heard.iter().fold((0, 0), |(peer, by_peer), each| {
            (peer + u32::from(each.peer), by_peer + u32::from(each.by_peer))
        });
        tracing::info!(
            met,
            sockets = heard.len(),
            heard = peer,
            heard_by_peer = by_peer,
            ?peers,
            ?mtu,
            hops = hops.len(),
            "looked for the other side"
        );
        (self.ports, self.asks, self.channel) = (ports, request.asks, Some(Channel::start(channel)?));
        Ok(Met { heard: heard.iter().map(|heard| (heard.peer, heard.by_peer)).collect(), peers, mtu, hops })
    }

    /// Asks for the time so often for so long; the exchanges.
    ///
    /// # Errors
    /// One line: that the other side was not met.
    pub fn ask(&mut self, seconds: f64, per_s: f64, stop: &dyn Fn() -> bool) -> Result<Vec<Exchange>, Error> {
        let channel = self.channel.as_ref().ok_or(Error::Early("the other side was not met"))?;
        let until = monotonic_ns() + (seconds.clamp(0.0, 3600.0) * 1e9) as u64;
        channel.ask_every(interval(per_s));
        while monotonic_ns() < until && !stop() {
            thread::sleep(POLL);
        }
        channel.ask_every(None);
        let (exchanges, asked) = channel.take();
        self.exchanges.extend_from_slice(&exchanges);
        self.asked = asked;
        Ok(exchanges)
    }

    /// Sends bursts over the first flow's socket, and listens to those of the other side.
    ///
    /// # Errors
    /// One line: that the other side was not met, what is not allowed, what the socket refused.
    pub fn probe(&mut self, request: &Probe, stop: &(dyn Fn() -> bool + Sync)) -> Result<Probed, Error> {
        let port = self.ports.first_mut().ok_or(Error::Early("the other side was not met for a flow"))?;
        probe(port, request, stop)
    }

    /// Does this side's part in the run of `spec`, with controllers of `registry`. When all is prepared, `ready` is asked
    /// when to begin, ns of this machine's clock; `live` shows how the part goes.
    ///
    /// # Errors
    /// One line: what this machine does not permit, which program failed, or that the run was stopped.
    pub fn run(
        &mut self,
        spec: &RunSpec,
        part: &RunPart,
        registry: &Registry,
        live: Option<&LiveFile>,
        ready: &dyn Fn() -> Result<u64, Cause>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Error> {
        if part.tunnels.len() != spec.flows.len() || self.ports.len() != spec.flows.len() {
            return Err(Error::OtherFlows {
                request: "run",
                open: self.ports.len(),
                what: "flows were opened",
            });
        }
        let owner = Owner::next();
        let scratch =
            spec.flows.iter().any(|flow| flow.program.is_some()).then(|| Scratch::create(owner.mark_text()));
        let scratch = scratch.transpose()?;
        let directory = scratch.as_ref().map_or(std::path::Path::new("/"), Scratch::path);
        let ports = std::mem::take(&mut self.ports);
        let mut ends = (0..spec.flows.len())
            .map(|index| part.end(index))
            .collect::<Result<Vec<Option<End>>, Error>>()?;
        let channel = self.channel.as_ref().ok_or(Error::Early("the other side was not met"))?;
        let sent = Arc::default();
        let boards: Vec<Board> = spec.flows.iter().map(|_| Board::default()).collect();
        let meters: Vec<Arc<Meter>> = spec.flows.iter().map(|_| Arc::default()).collect();
        let shown = Shown { boards: &boards, meters: &meters, live };
        let work = Work { spec, part, registry, directory, stop, sent: &sent, shown };
        tracing::info!(flows = spec.flows.len(), sends = part.sends, tunnels = ?part.tunnels, "run begins");
        let outcome = work.carry_out(ports, &ends, ready, channel, self.asks);
        channel.ask_every(None);
        if let Err(why) = &outcome {
            tracing::error!(%why, "run failed");
        }
        let mut report = outcome?;
        tracing::info!(real_time = report.real_time, "run is over");
        for end in ends.iter_mut().flatten() {
            report.lost_at_ends += end.lost()?;
        }
        self.report = Some(report);
        Ok(())
    }

    /// Ends the channel; what this side knows of the run.
    ///
    /// # Errors
    /// One line: that there was no run.
    pub fn finish(&mut self) -> Result<SideReport, Error> {
        let mut report = self.report.take().ok_or(Error::Early("there was no run"))?;
        if let Some(mut channel) = self.channel.take() {
            let (exchanges, asked) = channel.take();
            self.exchanges.extend(exchanges);
            self.asked = asked;
            report.guarded = channel.end()?;
        }
        report.exchanges = std::mem::take(&mut self.exchanges);
        report.asked = self.asked;
        Ok(report)
    }
}

fn interval(per_s: f64) -> Option<Duration> {
    (per_s > 0.0).then(|| Duration::from_secs_f64(1.0 / per_s.clamp(0.001, 10_000.0)))
}

impl RunPart {
    /// The end of flow number `index` behind its tunnel, if it has one.
    fn end(&self, index: usize) -> Result<Option<End>, Error> {
        if self.tunnels[index] == TunnelKind::None {
            return Ok(None);
        }
        let (address, peer) = self.inner(index);
        let (name, mtu_bytes) = (DEVICE.to_owned(), self.inner_mtu_bytes);
        let (ipv6, default_route, default_ipv6_route) = (None, true, false);
        let offloads = false; // packets leave for another machine as they are
        End::create(&TunConfig {
            name,
            address,
            peer,
            ipv6,
            mtu_bytes,
            offloads,
            default_route,
            default_ipv6_route,
        })
        .map(Some)
    }

    /// The addresses in a tunnel: of this side, of the other.
    fn inner(&self, index: usize) -> (Ipv4Addr, Ipv4Addr) {
        let (first, second) = addresses(index);
        if self.first { (first, second) } else { (second, first) }
    }
}

/// What the threads of a side's run need to know.
#[derive(Clone, Copy)]
struct Work<'a> {
    spec: &'a RunSpec,
    part: &'a RunPart,
    registry: &'a Registry,
    directory: &'a std::path::Path,
    stop: &'a (dyn Fn() -> bool + Sync),
    /// Bytes that this side has sent, headers of IP and UDP not among them.
    sent: &'a Arc<AtomicU64>,
    shown: Shown<'a>,
}

/// Where the run is shown while it goes on.
#[derive(Clone, Copy)]
struct Shown<'a> {
    /// Of each flow what its end here knows.
    boards: &'a [Board],
    /// What its tunnel counts, if it has one.
    meters: &'a [Arc<Meter>],
    live: Option<&'a LiveFile>,
}

/// What an end of ours gives.
enum Half {
    Sender(Box<SenderReport>),
    Receiver(Box<ReceiverReport>),
}

type Thread<'scope, T> = ScopedJoinHandle<'scope, Result<T, Error>>;

/// What is open for a flow before the run begins.
enum Sockets {
    /// Our end, on the network.
    Ours(Box<Port>),
    /// Behind the tunnel: ours, the kernel's, a program's.
    Inner(UdpSocket),
    Listener(TcpListener),
    Nothing,
}

impl<'a> Work<'a> {
    /// Whether data of flow number `index` leaves here.
    fn sends(self, index: usize) -> bool {
        self.part.sends != self.spec.flows[index].reverse
    }

    fn carry_out(
        self,
        ports: Vec<Port>,
        ends: &'a [Option<End>],
        ready: &dyn Fn() -> Result<u64, Cause>,
        channel: &Channel,
        asks: bool,
    ) -> Result<SideReport, Error> {
        let mut programs = Vec::new();
        for (index, end) in ends.iter().enumerate() {
            programs.push(self.program(index, end.as_ref())?);
        }
        programs.iter_mut().flatten().try_for_each(|program| program.wait_until_ready(self.stop))?;
        let (mut sockets, mut tunnels) = (Vec::new(), Vec::new());
        let watched: Vec<UdpSocket> = ports
            .iter()
            .map(|port| port.socket.try_clone())
            .collect::<Result<_, _>>()
            .map_err(|error| Error::system("UDP socket", error))?;
        for (index, (port, end)) in ports.into_iter().zip(ends).enumerate() {
            match end {
                None => {
                    sockets.push(Sockets::Ours(Box::new(port)));
                    tunnels.push(None);
                }
                Some(end) => {
                    sockets.push(self.inner_socket(index, end)?);
                    tunnels.push(Some(self.tunnel(index, end, port)?));
                }
            }
        }
        tracing::info!("ready: waits for the time to start");
        let start_ns = ready().map_err(Error::NotBegun)?;
        if asks {
            channel.ask_every(interval(self.part.asks_per_s));
        }
        let clock = Clock::starting_at(start_ns);
        let halves = self.in_threads(clock, start_ns, sockets, tunnels, ends, &mut programs);
        programs.iter_mut().flatten().for_each(ProgramFlow::end);
        let mut report = SideReport {
            start_ns,
            flows: halves?,
            programs: Vec::new(),
            asked: 0,
            exchanges: Vec::new(),
            guarded: endpoint::Guarded::default(),
            lost_at_ends: 0,
            real_time: channel.is_real_time(),
        };
        for ((half, program), socket) in report.flows.iter_mut().zip(&mut programs).zip(&watched) {
            half.dropped = dropped_at(socket);
            if let Some(program) = program {
                half.samples = program.samples(clock, None)?;
                half.objection = program.objection();
                report.programs.extend(program.reports());
                half.silence = Some(program.silence());
            }
        }
        Ok(report)
    }

    /// Of each flow, who knows its state, and who counts its packets.
    fn meters(self) -> impl Iterator<Item = (&'a Board, &'a Meter)> {
        let Shown { boards, meters, .. } = self.shown;
        let tunnels = &self.part.tunnels;
        boards.iter().zip(meters).zip(tunnels).map(|((board, meter), tunnel)| {
            (board, if *tunnel == TunnelKind::None { &board.meter } else { &**meter })
        })
    }

    /// The program of flow number `index` that runs here, if it has programs.
    fn program(self, index: usize, end: Option<&'a End>) -> Result<Option<ProgramFlow<'a>>, Error> {
        let Some(end) = end else { return Ok(None) };
        let (own, peer) = self.part.inner(index);
        let sends = self.sends(index);
        let ends = |_: &_, program: &runs::ProgramSpec| {
            let listens_here = (program.first == FlowEnd::Sender) == sends;
            EndsHere {
                sender: Some(end).filter(|_| sends),
                receiver: Some(end).filter(|_| !sends),
                listener: if listens_here { own } else { peer },
            }
        };
        ProgramFlow::start(self.spec, index, ends, self.directory)
    }

    fn tunnel(self, index: usize, end: &End, port: Port) -> Result<Tunnel, Error> {
        let (data, ack) = readings(&runs::FlowSpec { reverse: false, ..self.spec.flows[index].clone() })?;
        let (outgoing, incoming) = if self.sends(index) { (data, ack) } else { (ack, data) };
        let encapsulation = match self.part.tunnels[index] {
            TunnelKind::Pantheon => Encapsulation::Pantheon,
            _ => Encapsulation::Sealed,
        };
        let Port { socket, guard, .. } = port;
        let tun = Arc::clone(&end.tun);
        let (flow, sent_bytes) = (index as u32, Arc::clone(self.sent));
        let meter = Arc::clone(&self.shown.meters[index]);
        Ok(Tunnel { socket, guard, tun, encapsulation, flow, outgoing, incoming, sent_bytes, meter })
    }

    /// What flow number `index` needs behind its tunnel.
    fn inner_socket(self, index: usize, end: &End) -> Result<Sockets, Error> {
        let flow = &self.spec.flows[index];
        let (own, peer) = self.part.inner(index);
        let (own, peer) = (SocketAddrV4::new(own, PORT), SocketAddrV4::new(peer, PORT));
        if flow.is_core() {
            let open = || {
                let socket = UdpSocket::bind(own).map_err(|error| Error::system(format!("{own}"), error))?;
                socket.connect(peer).map_err(|error| Error::system(format!("{peer}"), error))?;
                Ok(socket)
            };
            return Ok(Sockets::Inner(end.namespace.run(open)?));
        }
        if let Some(kernel) = &flow.kernel {
            end.namespace.set_buffers(kernel)?;
        }
        if flow.kernel.is_some() && !self.sends(index) {
            let listen = || TcpListener::bind(own).map_err(|error| Error::system(format!("{own}"), error));
            return Ok(Sockets::Listener(end.namespace.run(listen)?));
        }
        Ok(Sockets::Nothing)
    }

    fn in_threads(
        self,
        clock: Clock,
        start_ns: u64,
        sockets: Vec<Sockets>,
        tunnels: Vec<Option<Tunnel>>,
        ends: &'a [Option<End>],
        programs: &mut [Option<ProgramFlow<'a>>],
    ) -> Result<Vec<FlowHalf>, Error> {
        let stopped = AtomicBool::new(false);
        let session = Session { clock, end: Time::ZERO + self.spec.duration(), stop: &stopped, board: None };
        thread::scope(|scope| {
            let started = (|| {
                let tunnels = tunnels.into_iter().enumerate().map(|(index, tunnel)| {
                    let Some(tunnel) = tunnel else { return Ok(None) };
                    let work = move || tunnel.run(session).map_err(Error::Tunnel);
                    self.spawn(scope, session, index, "tunnel", work).map(Some)
                });
                let tunnels = tunnels.collect::<Result<Vec<_>, _>>()?;
                // Before it the clock of the run stands still.
                while monotonic_ns() < start_ns && !(self.stop)() {
                    thread::sleep(Duration::from_nanos(
                        start_ns.saturating_sub(monotonic_ns()).min(Span::from_ms(20).as_ns()),
                    ));
                }
                let halves =
                    sockets.into_iter().zip(ends).enumerate().map(|(index, (sockets, end))| {
                        self.half(scope, session, index, end.as_ref(), sockets)
                    });
                Ok::<_, Error>((tunnels, halves.collect::<Result<Vec<_>, _>>()?))
            })();
            let watched = match &started {
                Ok(_) => self.watch(session, programs),
                Err(_) => Err(Error::Stopped),
            };
            if watched.is_err() {
                stopped.store(true, Ordering::Relaxed);
            }
            let (tunnels, halves) = started?;
            let mut failure = watched.err();
            let mut flows = Vec::new();
            for (tunnel, half) in tunnels.into_iter().zip(halves) {
                let mut flow = FlowHalf::default();
                let tunnel = tunnel.map(joined::<TunnelReport>).transpose();
                flow.tunnel = noted(tunnel, &mut failure).flatten();
                match noted(half.map(joined).transpose(), &mut failure).flatten() {
                    Some(Half::Sender(report)) => flow.sender = Some(*report),
                    Some(Half::Receiver(report)) => flow.receiver = Some(*report),
                    None => {}
                }
                flows.push(flow);
            }
            failure.map_or(Ok(flows), Err)
        })
    }

    /// Our end of flow number `index` in its thread; none where a program is the end.
    fn half<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        session: Session<'scope>,
        index: usize,
        end: Option<&'scope End>,
        sockets: Sockets,
    ) -> Result<Option<Thread<'scope, Half>>, Error>
    where
        'a: 'scope,
    {
        let flow = &self.spec.flows[index];
        let session = Session { board: Some(&self.shown.boards[index]), ..session };
        let sends = self.sends(index);
        let name = if sends { "sender" } else { "receiver" };
        if flow.is_core() {
            let Ends { config, sender, receiver } = self.spec.ends(index, self.registry)?;
            let journal = Journal::of(index, self.spec.log);
            let (socket, wire, journal) = match sockets {
                Sockets::Ours(port) => {
                    let Port { socket, guard, .. } = *port;
                    let wire = Wire::guarded_by(guard, Arc::clone(self.sent));
                    (socket, wire, journal.with_packets())
                }
                // The tunnel logs packets; what the receiver finds out shows in them.
                Sockets::Inner(socket) => {
                    (socket, Wire::plain(), if sends { journal } else { Journal::default() })
                }
                _ => return Ok(None),
            };
            let work = move || {
                if sends {
                    send_udp(self.spec, index, sender, (&socket, wire), session, journal)
                        .map(Box::new)
                        .map(Half::Sender)
                } else {
                    receive_udp(&config, receiver, (&socket, wire), session, journal)
                        .map(Box::new)
                        .map(Half::Receiver)
                }
            };
            return self.spawn(scope, session, index, name, work).map(Some);
        }
        match (&flow.kernel, sockets, end) {
            (Some(_), Sockets::Listener(listener), _) => {
                let work = move || receive_tcp(flow, &listener, session).map(Box::new).map(Half::Receiver);
                self.spawn(scope, session, index, name, work).map(Some)
            }
            (Some(kernel), _, Some(end)) => {
                let (_, peer) = self.part.inner(index);
                let address = SocketAddrV4::new(peer, PORT);
                let work = move || {
                    end.namespace.enter()?;
                    let report = send_tcp(self.spec, index, &kernel.congestion_control, address, session)?;
                    Ok::<_, Error>(Half::Sender(Box::new(report)))
                };
                self.spawn(scope, session, index, name, work).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn spawn<'scope, T: Send + 'scope, E: Into<Error>>(
        self,
        scope: &'scope Scope<'scope, '_>,
        session: Session<'scope>,
        index: usize,
        name: &str,
        work: impl FnOnce() -> Result<T, E> + Send + 'scope,
    ) -> Result<Thread<'scope, T>, Error> {
        let label = format!("flow {} ({}) {name}", index + 1, self.spec.flows[index].scheme);
        thread::Builder::new()
            .name(label.clone())
            .spawn_scoped(scope, move || {
                let _punctual = Scheduled::punctual(Urgency::End);
                let result = work().map_err(|error| error.into().at(label));
                if let Err(why) = &result {
                    tracing::error!("{why}");
                    session.stop.store(true, Ordering::Relaxed);
                }
                result
            })
            .map_err(|error| Error::system("cannot start a thread", error))
    }

    /// Waits for the end of the run; starts and ends programs meanwhile.
    fn watch(self, session: Session<'_>, programs: &mut [Option<ProgramFlow<'_>>]) -> Result<(), Error> {
        let (mut since, mut before) = (session.clock.now(), 0);
        let mut publisher = Publisher::of_side(self.shown.live, self.spec, self.meters());
        loop {
            let now = session.clock.now();
            let sent = self.sent.load(Ordering::Relaxed);
            // What a second may carry may not be exceeded in less: a run may end before the second does.
            let mbps = (sent - before) as f64 * 8e-6 / (now - since).as_secs_f64().max(1.0);
            if let Some(cap) = self.part.bandwidth_cap_mbps.filter(|cap| mbps > *cap) {
                return Err(Error::BandwidthCap { mbps, cap });
            }
            if session.is_over(now) {
                return Ok(());
            }
            if now >= since + SECOND {
                (since, before) = (now, sent);
            }
            for program in programs.iter_mut().flatten() {
                program.step(now)?;
            }
            publisher.publish(now);
            if (self.stop)() {
                return Err(Error::Stopped);
            }
            thread::sleep(POLL);
        }
    }
}

/// What a thread gave; a panic in it is an error too.
fn joined<T>(thread: Thread<'_, T>) -> Result<T, Error> {
    thread.join().unwrap_or_else(|_| Err(Error::Panicked("a thread of the run")))
}

/// The value; the first error is kept.
fn noted<T>(result: Result<T, Error>, failure: &mut Option<Error>) -> Option<T> {
    result.map_err(|error| failure.get_or_insert(error)).ok()
}
