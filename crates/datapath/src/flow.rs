//! The two ends of one flow in their namespaces: our transport or the kernel's TCP. Flows of programs are in
//! `program_flow.rs`.

use crate::Error;
use crate::emulation::{End, Pair, joined};
use crate::inspect::Reading;
use crate::scheduling::{Watched, Who};
use congestion::Registry;
use endpoint::{
    Correction, FlowReport, Journal, ReceiverReport, Scheduled, SenderReport, Session, Urgency, Wire,
    receive_tcp, receive_udp, send_tcp, send_udp,
};
use nix::unistd::gettid;
use runs::{Ends, FlowSpec, RunSpec};
use std::net::{SocketAddrV4, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use strict_input::Refusal;

/// Port of every flow: each has namespaces of its own. Some programs know no other.
pub(crate) const PORT: u16 = 9000;

/// How the packets of a flow are to be read, from left to right and back.
pub(crate) fn readings(flow: &FlowSpec) -> Result<(Reading, Reading), Refusal> {
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
    pub(crate) fn open(flow: &FlowSpec, pair: &Pair) -> Result<Self, Error> {
        let (sender, receiver) = ends(flow, pair);
        let (from, to) = (SocketAddrV4::new(sender.address, PORT), SocketAddrV4::new(receiver.address, PORT));
        if flow.program.is_some() {
            return Ok(Self::Programs);
        }
        if let Some(kernel) = &flow.kernel {
            sender.namespace.set_buffers(kernel)?;
            receiver.namespace.set_buffers(kernel)?;
            let listen = || TcpListener::bind(to).map_err(|error| Error::system(format!("{to}"), error));
            return Ok(Self::Tcp { listener: receiver.namespace.run(listen)? });
        }
        let open = |local: SocketAddrV4, remote: SocketAddrV4| {
            let socket = UdpSocket::bind(local).map_err(|error| Error::system(format!("{local}"), error))?;
            socket.connect(remote).map_err(|error| Error::system(format!("{remote}"), error))?;
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
    sender: ScopedJoinHandle<'scope, Result<SenderReport, Error>>,
    receiver: ScopedJoinHandle<'scope, Result<ReceiverReport, Error>>,
    /// What both have of the processors.
    pub(crate) watched: [Watched; 2],
}

impl FlowThreads<'_> {
    /// Waits for both.
    ///
    /// # Errors
    /// One line: the end that failed, and how.
    pub(crate) fn join(self) -> Result<FlowReport, Error> {
        let (sent, received) = (joined(self.sender), joined(self.receiver));
        // Both have gone by the same clock.
        Ok(FlowReport::of((sent?, Correction::NONE), (received?, Correction::NONE)))
    }
}

/// Starts the ends of flow number `index`; `None` for programs. An end that fails sets the stop flag.
pub(crate) fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    spec: &'env RunSpec,
    registry: &'env Registry,
    session: Session<'env>,
    index: usize,
    pair: &'env Pair,
    sockets: Sockets,
) -> Result<Option<FlowThreads<'scope>>, Error> {
    let flow = &spec.flows[index];
    let label = |end| format!("flow {} ({}) {end}", index + 1, flow.scheme);
    let tasks = [0; 2].map(|_| Arc::new(AtomicI32::new(0)));
    let watched = tasks.clone().map(|task| Watched::new(Who::Thread(task), 0));
    let [near_task, far_task] = tasks;
    let threads = match (sockets, &flow.kernel) {
        (Sockets::Udp { sender: near, receiver: far }, _) => {
            let Ends { config, sender, receiver } = spec.ends(index, registry)?;
            // The path between the ends logs packets; what the receiver finds out shows in them.
            let journal = Journal::of(index, spec.log);
            let send = move || send_udp(spec, index, sender, (&near, Wire::plain()), session, journal);
            let receive =
                move || receive_udp(&config, receiver, (&far, Wire::plain()), session, Journal::default());
            FlowThreads {
                sender: spawn(scope, session.stop, (label("sender"), near_task), send)?,
                receiver: spawn(scope, session.stop, (label("receiver"), far_task), receive)?,
                watched,
            }
        }
        (Sockets::Tcp { listener }, Some(kernel)) => {
            let (from, to) = ends(flow, pair);
            let address = SocketAddrV4::new(to.address, PORT);
            let send = move || {
                from.namespace.enter()?;
                Ok::<_, Error>(send_tcp(spec, index, &kernel.congestion_control, address, session)?)
            };
            let receive = move || receive_tcp(flow, &listener, session);
            FlowThreads {
                sender: spawn(scope, session.stop, (label("sender"), near_task), send)?,
                receiver: spawn(scope, session.stop, (label("receiver"), far_task), receive)?,
                watched,
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(threads))
}

fn spawn<'scope, T: Send + 'scope, E: Into<Error>>(
    scope: &'scope Scope<'scope, '_>,
    stop: &'scope AtomicBool,
    (label, task): (String, Arc<AtomicI32>),
    work: impl FnOnce() -> Result<T, E> + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, Result<T, Error>>, Error> {
    thread::Builder::new()
        .name(label.clone())
        .spawn_scoped(scope, move || {
            let _punctual = Scheduled::punctual(Urgency::End);
            task.store(gettid().as_raw(), Ordering::Relaxed);
            let result = work().map_err(|error| error.into().at(label));
            if let Err(why) = &result {
                tracing::error!("{why}");
                stop.store(true, Ordering::Relaxed);
            }
            result
        })
        .map_err(Error::no_thread)
}
