//! The emulated path of a run: a pair of namespaces for each flow, and two threads that carry packets between them.

use crate::Error;
use crate::direction_thread::{DirectionConfig, DirectionReport, DirectionThread, Gauges, Port};
use crate::inspect::Reading;
use crate::namespace::Namespace;
use crate::tun::{Tun, TunConfig};
use endpoint::{MOST_FLOWS, Session};
use path::{Direction, PathSpec};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::thread::{self, Scope, ScopedJoinHandle};
use units::Span;

/// MTU where the path names none.
const DEFAULT_MTU: u32 = 1500;
/// The device at each end.
pub(crate) const DEVICE: &str = "dumbbell0";

/// Maximum number of pairs that are closed at a time.
const CLOSED_AT_ONCE: usize = 128;

/// One end of a flow: its namespace and its device there.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) namespace: Namespace,
    pub(crate) address: Ipv4Addr,
    /// The address of IPv6, where that works.
    pub(crate) ipv6: Option<Ipv6Addr>,
    pub(crate) tun: Arc<Tun>,
}

/// Both ends of a flow; data of ordinary flows goes from left to right.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) left: End,
    pub(crate) right: End,
}

/// Addresses of pair number `index`: 10.77.0.x to 10.77.255.x, then 10.78.0.x and so on.
pub(crate) fn addresses(index: usize) -> (Ipv4Addr, Ipv4Addr) {
    const _: () = assert!(77 + (MOST_FLOWS - 1) / 256 <= 255, "10.0.0.0/8 has no more addresses");
    let address = |end| Ipv4Addr::new(10, 77 + (index >> 8) as u8, index as u8, end);
    (address(1), address(2))
}

/// IPv6 addresses of pair number `index`: of a prefix that belongs to nobody (RFC 4193), whose digits read "dumbb".
pub(crate) fn ipv6_addresses(index: usize) -> (Ipv6Addr, Ipv6Addr) {
    let address = |end| Ipv6Addr::new(0xfd64, 0x756d, 0x6262, index as u16, 0, 0, 0, end);
    (address(1), address(2))
}

/// Largest IP packet that fits the path.
pub(crate) fn device_mtu(path: &PathSpec) -> u32 {
    path.mtu_bytes.unwrap_or(DEFAULT_MTU) - path.overhead_bytes
}

impl End {
    /// An end in a namespace of its own.
    pub(crate) fn create(device: &TunConfig) -> Result<Self, Error> {
        Self::create_with(device, || Ok(()))
    }

    /// The same, in a namespace of which `prepare` sets more.
    pub(crate) fn create_with(
        device: &TunConfig,
        prepare: impl FnOnce() -> Result<(), Error> + Send,
    ) -> Result<Self, Error> {
        let (namespace, tun) = Namespace::create(|| prepare().and_then(|()| Tun::create(device)))?;
        tracing::debug!(address = %device.address, peer = %device.peer, device = device.name, "network namespace made");
        Ok(Self::of(namespace, device, tun))
    }

    /// Packets that its device lost in silence.
    fn dropped(&self) -> Result<u64, Error> {
        self.namespace.run(|| self.tun.dropped().map_err(Error::Counters))
    }

    /// The same, and those that sockets behind it had no room for.
    pub(crate) fn lost(&self) -> Result<u64, Error> {
        Ok(self.dropped()? + self.namespace.dropped_at_sockets()?)
    }

    /// An end in the namespace of the calling thread.
    pub(crate) fn here(device: &TunConfig) -> Result<Self, Error> {
        let namespace = Namespace::current().map_err(|error| Error::system("/proc", error))?;
        Ok(Self::of(namespace, device, Tun::create(device)?))
    }

    fn of(namespace: Namespace, device: &TunConfig, tun: Tun) -> Self {
        let ipv6 = device.ipv6.filter(|_| tun.has_ipv6());
        Self { namespace, address: device.address, ipv6, tun: Arc::new(tun) }
    }
}

impl Pair {
    /// Pair number `index`, each end in its own namespace.
    pub(crate) fn create(index: usize, mtu_bytes: u32) -> Result<Self, Error> {
        let (left, right) = addresses(index);
        let (left_ipv6, right_ipv6) = ipv6_addresses(index);
        let device = |address, peer, ipv6| TunConfig {
            name: DEVICE.to_owned(),
            address,
            peer,
            ipv6: Some(ipv6),
            mtu_bytes,
            offloads: true,
            default_route: true,
            default_ipv6_route: true,
        };
        Ok(Self {
            left: End::create(&device(left, right, left_ipv6))?,
            right: End::create(&device(right, left, right_ipv6))?,
        })
    }

    /// Packets that the devices lost in silence, in all.
    pub(crate) fn dropped(&self) -> Result<u64, Error> {
        Ok(self.left.dropped()? + self.right.dropped()?)
    }

    /// Packets that sockets at either end had no room for.
    pub(crate) fn dropped_at_sockets(&self) -> Result<u64, Error> {
        Ok(self.left.namespace.dropped_at_sockets()? + self.right.namespace.dropped_at_sockets()?)
    }
}

/// Closes the devices, in parallel: each takes the kernel about 30 ms.
pub(crate) fn close(pairs: Vec<Pair>) {
    let mut pairs = pairs.into_iter();
    while pairs.len() > 0 {
        thread::scope(|scope| {
            for Pair { left, right } in pairs.by_ref().take(CLOSED_AT_ONCE) {
                scope.spawn(move || drop(left));
                scope.spawn(move || drop(right));
            }
        });
    }
}

/// How the packets of a flow are read in each direction, and the flow's own delay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    /// From left to right.
    pub(crate) data: Reading,
    /// From right to left.
    pub(crate) ack: Reading,
    /// Most ranges of the ACKs, if they are of our transport and devices on the way can read them.
    pub(crate) readable_ranges: Option<usize>,
    pub(crate) extra: Span,
}

/// What a packet takes that is simulated, and what a real one takes besides its content, bytes of memory.
const SIMULATED_PACKET_BYTES: u64 = 280;
/// So many packets may be inside in any case.
const LEAST_PACKETS: usize = 1000;

/// What both directions need to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    pub(crate) path: &'a PathSpec,
    pub(crate) seed: u64,
    pub(crate) session: Session<'a>,
    pub(crate) sample_interval: Span,
    /// As of the run, which is for simulated packets.
    pub(crate) most_packets: u64,
    pub(crate) log: bool,
    pub(crate) full_log: bool,
    pub(crate) gauges: &'a [Arc<Gauges>; 2],
}

/// A direction at work in its thread.
pub(crate) type DirectionHandle<'scope> = ScopedJoinHandle<'scope, Result<DirectionReport, Error>>;

/// Starts the two directions.
///
/// # Errors
/// What is wrong with the path, or a thread that cannot be started.
pub(crate) fn start_directions<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    work: Work<'env>,
    pairs: &[Pair],
    traffic: &[Traffic],
) -> Result<[DirectionHandle<'scope>; 2], Error> {
    let start = |number: usize| -> Result<DirectionHandle<'scope>, Error> {
        let (elements, name) = [(&work.path.data, "data"), (&work.path.ack, "ack")][number];
        let mut direction = Direction::build(elements, name, work.seed)?;
        if let Some(at) = work.path.last_change(work.session.end) {
            direction.watch_from(at);
        }
        let ports = pairs.iter().zip(traffic).map(|(pair, traffic)| {
            let (from, to) = if number == 0 { (&pair.left, &pair.right) } else { (&pair.right, &pair.left) };
            let reading = if number == 0 { traffic.data } else { traffic.ack };
            let (from, to) = (Arc::clone(&from.tun), Arc::clone(&to.tun));
            Port { from, to, reading, readable_ranges: traffic.readable_ranges, extra: traffic.extra }
        });
        let config = DirectionConfig {
            number,
            clock: work.session.clock,
            overhead_bytes: work.path.overhead_bytes,
            mtu_bytes: device_mtu(work.path),
            most_packets: real_packets(work.most_packets, device_mtu(work.path)),
            full_log: work.full_log,
            log: work.log,
            sample_interval: work.sample_interval,
        };
        let direction =
            DirectionThread::new(config, direction, ports.collect(), Arc::clone(&work.gauges[number]))
                .map_err(|error| Error::system("the emulator cannot start", error))?;
        thread::Builder::new()
            .name(format!("path-{name}"))
            .spawn_scoped(scope, move || {
                direction.run(work.session).map_err(|error| Error::system("the emulator failed", error))
            })
            .map_err(Error::no_thread)
    };
    Ok([start(0)?, start(1)?])
}

/// How many real packets have room in the memory of so many simulated ones.
fn real_packets(simulated: u64, mtu_bytes: u32) -> usize {
    let bytes = simulated.saturating_mul(SIMULATED_PACKET_BYTES);
    usize::try_from(bytes / (u64::from(mtu_bytes) + SIMULATED_PACKET_BYTES))
        .unwrap_or(usize::MAX)
        .max(LEAST_PACKETS)
}

/// What a thread gave; a panic in it is an error too.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, Error>>) -> Result<T, Error> {
    thread.join().unwrap_or_else(|_| Err(Error::Panicked("a thread of the emulator")))
}
