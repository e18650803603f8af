//! Registering a controller with the kernel, or sharing another process's registration.
//!
//! A registration is a BPF link, which lives as long as anybody has a descriptor of it. Two runs that want the same
//! controller share one link: whoever ends last unregisters, however it ends.

use crate::controllers::Controller;
use crate::error::Error;
use crate::{lock, sys};
use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter};
use libbpf_rs::{ErrorKind, Link, MapCore as _, MapType, Object, ObjectBuilder, PrintLevel};
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

const RETRY: Duration = Duration::from_millis(20);
/// How long the kernel may take to let go of a controller.
const LETTING_GO: Duration = Duration::from_secs(1);

/// What libbpf and the verifier said of the latest object.
static MESSAGES: Mutex<String> = Mutex::new(String::new());

/// Our share in a registration.
#[derive(Debug)]
#[expect(dead_code, reason = "held for its end, which closes the descriptor")]
pub(crate) enum Held {
    /// Registered by us.
    Own(Link),
    /// Registered by another process of ours, or pinned.
    Shared(OwnedFd),
}

/// Whether the messages of libbpf go to standard error as well.
pub(crate) fn set_verbose(verbose: bool) {
    #[allow(clippy::needless_pass_by_value, reason = "the callback's type")]
    fn keep(_level: PrintLevel, text: String) {
        *MESSAGES.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += &text;
    }
    fn show(level: PrintLevel, text: String) {
        // Nothing is left to do if nobody reads it.
        let _ = io::stderr().write_all(text.as_bytes());
        keep(level, text);
    }
    libbpf_rs::set_print(Some(if verbose { (PrintLevel::Debug, show) } else { (PrintLevel::Warn, keep) }));
}

/// Names that sockets can choose, of every kind.
pub(crate) fn available() -> Vec<String> {
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    names.split_whitespace().map(String::from).collect()
}

/// Number of the link that registers a controller of ours called `name`.
pub(crate) fn link_id(name: &str) -> Option<u32> {
    let maps: Vec<u32> = MapInfoIter::default()
        .filter(|map| map.ty == MapType::StructOps && map.name.to_str() == Some(name))
        .map(|map| map.id)
        .collect();
    LinkInfoIter::default().find_map(|link| match link.info {
        LinkTypeInfo::StructOps(ops) if maps.contains(&ops.map_id) => Some(link.id),
        _ => None,
    })
}

/// Loads the programs of `controller`: the verifier looks at them, sockets do not see them yet.
pub(crate) fn verify(controller: &Controller) -> Result<Object, Error> {
    let name = controller.name;
    let bytes = controller.object.ok_or(Error::WithoutClang)?;
    MESSAGES.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
    ObjectBuilder::default()
        .open_memory(bytes)
        .and_then(libbpf_rs::OpenObject::load)
        .map_err(|source| Error::Program { name, source, said: first_message() })
}

/// Registers `controller`, or takes a share in the link of who did; waits up to `wait` for those who are at it.
pub(crate) fn obtain(controller: &Controller, wait: Duration) -> Result<Held, Error> {
    let name = controller.name;
    let deadline = Instant::now() + wait;
    let _lock = lock::acquire(name, wait)?;
    loop {
        if let Some(id) = link_id(name) {
            // An error: its last holder has just gone, look again.
            if let Ok(link) = sys::open_link(id) {
                return Ok(Held::Shared(link));
            }
        } else {
            match register(controller) {
                Ok(link) => return Ok(Held::Own(link)),
                Err(Error::Taken(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if Instant::now() >= deadline {
            return Err(Error::Foreign(name));
        }
        thread::sleep(RETRY);
    }
}

/// Waits until `name` is not registered any more: the kernel lets go of it some time after its last pin. Where a run holds
/// it, it stays, and the wait is in vain.
pub(crate) fn await_end(name: &str) {
    let deadline = Instant::now() + LETTING_GO;
    while available().iter().any(|available| available == name) && Instant::now() < deadline {
        thread::sleep(RETRY);
    }
}

/// Registers `controller`; the link keeps it so.
pub(crate) fn register(controller: &Controller) -> Result<Link, Error> {
    let name = controller.name;
    let mut object = verify(controller)?;
    let Some(mut map) = object.maps_mut().find(|map| map.name().to_str() == Some(name)) else {
        return Err(Error::NoStructOps(name));
    };
    map.attach_struct_ops().map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => Error::Taken(name),
        _ => Error::Registration { name, source },
    })
}

/// The first thing libbpf complained about, as the end of a line.
fn first_message() -> String {
    let messages = MESSAGES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    messages.lines().next().map_or_else(String::new, |line| format!(" ({line}; --verbose tells more)"))
}
