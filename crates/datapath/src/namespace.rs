//! Network namespaces: one for each end of a flow. They have no name; they vanish with the last descriptor, thread or
//! process that holds them, however this process ends.

use crate::Error;
use crate::sysctl::set;
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};
use runs::KernelSpec;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::thread;

/// A network namespace.
#[derive(Debug)]
pub(crate) struct Namespace {
    descriptor: File,
}

impl Namespace {
    /// A fresh one, with its loopback up and `prepare` done inside.
    ///
    /// # Errors
    /// One line with the fix if namespaces are not permitted.
    pub(crate) fn create<T: Send>(
        prepare: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<(Self, T), Error> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|error| {
                let fix = if error == Errno::ENOSPC { "raise user.max_net_namespaces" } else { FIX };
                Error::not_permitted("cannot create a network namespace", error, fix)
            })?;
            settle().map_err(|error| {
                Error::not_permitted("cannot prepare a network namespace", error, "run as root")
            })?;
            let prepared = prepare()?;
            let namespace = Self::current().map_err(|error| Error::system("/proc", error))?;
            Ok((namespace, prepared))
        })
    }

    /// The one of the calling thread.
    pub(crate) fn current() -> io::Result<Self> {
        Ok(Self { descriptor: File::open("/proc/thread-self/ns/net")? })
    }

    /// Moves the calling thread into the namespace.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        setns(&self.descriptor, CloneFlags::CLONE_NEWNET)
            .map_err(|error| Error::not_permitted("cannot enter a network namespace", error, FIX))
    }

    /// What `work` gives in a thread of its own inside the namespace.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        in_thread(|| self.enter().and_then(|()| work()))
    }

    /// Packets that sockets of the namespace had no room for.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub(crate) fn dropped_at_sockets(&self) -> Result<u64, Error> {
        self.run(|| {
            let read = |table: &str| {
                fs::read_to_string(format!("/proc/thread-self/net/{table}")).unwrap_or_default()
            };
            let (basic, extended) = (read("snmp"), read("netstat"));
            Ok(counter(&basic, "Udp:", "RcvbufErrors")
                + counter(&extended, "TcpExt:", "TCPBacklogDrop")
                + counter(&extended, "TcpExt:", "TCPRcvQDrop"))
        })
    }

    /// Gives sockets of TCP that are opened from now on the buffers that `kernel` asks for.
    pub(crate) fn set_buffers(&self, kernel: &KernelSpec) -> Result<(), Error> {
        self.run(|| {
            set_buffers(kernel).map_err(|error| {
                Error::not_permitted("cannot set the sysctls of a network namespace", error, "run as root")
            })
        })
    }

    /// For `setns` in a child process.
    pub(crate) fn raw(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

/// A counter of the kernel's tables: a line with the names, and one with the values. Kernels without it count nothing.
fn counter(table: &str, protocol: &str, name: &str) -> u64 {
    let mut lines = table.lines().filter(|line| line.starts_with(protocol));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return 0 };
    let found = names.split_whitespace().zip(values.split_whitespace()).find(|(known, _)| *known == name);
    found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
}

const FIX: &str = "run as root, or allow user namespaces (see `dumbbell doctor`)";

/// Threads of their own, because a namespace belongs to a thread and cannot be left again reliably.
pub(crate) fn in_thread<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    thread::scope(|scope| {
        thread::Builder::new()
            .name("namespace".to_owned())
            .spawn_scoped(scope, work)
            .map_err(Error::no_thread)?
            .join()
            .unwrap_or_else(|_| Err(Error::Panicked("a thread in a network namespace")))
    })
}

/// What every namespace needs: nothing remembered between connections, buffers far above any
/// bandwidth-delay product unless a flow asks for others, `ping` for everybody.
const SYSCTLS: [(&str, &str); 4] = [
    ("net/ipv4/tcp_no_metrics_save", "1"),
    ("net/ipv4/tcp_rmem", "4096 131072 268435456"),
    ("net/ipv4/tcp_wmem", "4096 131072 268435456"),
    ("net/ipv4/ping_group_range", "0 2147483647"),
];

/// Gives TCP in the calling thread's namespace the socket buffers that `kernel` asks for: sockets that are opened from now on.
fn set_buffers(kernel: &KernelSpec) -> io::Result<()> {
    for (name, sizes) in [("net/ipv4/tcp_wmem", kernel.tcp_wmem), ("net/ipv4/tcp_rmem", kernel.tcp_rmem)] {
        if let Some([least, first, most]) = sizes {
            set(name, &format!("{least} {first} {most}"))?;
        }
    }
    Ok(())
}

fn settle() -> io::Result<()> {
    for (name, value) in SYSCTLS {
        match set(name, value) {
            // Group numbers that a user namespace does not map cannot be named; only ping needs them.
            Err(_) if name.ends_with("ping_group_range") => {}
            result => result?,
        }
    }
    crate::tun::bring_up("lo")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_name() {
        let table = "Tcp: InSegs\nTcp: 5\nUdp: InDatagrams RcvbufErrors\nUdp: 70 12\n";
        assert_eq!(counter(table, "Udp:", "RcvbufErrors"), 12);
        assert_eq!((counter(table, "Udp:", "Nonsense"), counter("", "Udp:", "RcvbufErrors")), (0, 0));
        let own = fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
        assert!(own.contains("RcvbufErrors"));
    }
}
