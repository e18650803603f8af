//! Enclosures: each program has a PID namespace of its own, so that nothing it starts outlives it, wherever that puts itself.
//!
//! The first process of the namespace, the keeper, waits until its input ends, which it does when this process ends, however it
//! does. The input is a socket: a pipe could be opened once more by its name below `/proc`, and would then not end. With the
//! first process the kernel ends every other one of the namespace, and lets none begin
//! (Linux v6.12, `kernel/pid_namespace.c`, `zap_pid_ns_processes`).
#![allow(unsafe_code, reason = "between fork and exec only system calls are made, no memory is allocated")]

use crate::Error;
use crate::namespace::{Namespace, in_thread};
use endpoint::Scheduled;
use nix::sched::{CloneFlags, unshare};
use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::ptr;

/// What waits for the end of its input.
const KEEPER: &str = "cat";
/// First descriptor behind standard input, output and error.
const FIRST_OWN: libc::c_uint = 3;
/// Most descriptors that are looked at one by one, on a kernel that cannot mark them all at once.
const MOST_DESCRIPTORS: libc::rlim_t = 1 << 16;

/// Last of the standard signals.
const LAST_SIGNAL: libc::c_int = 31;

/// Which descriptors, beside the standard ones, a program finds open, and which signals ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inherits {
    /// None.
    Nothing,
    /// Those that the caller of this process meant to be so: for a command that the user gave.
    CallersOwn,
}

/// A file that a program finds in the place of another one.
#[derive(Clone, Debug)]
pub(crate) struct Cover {
    /// The file that the program finds.
    pub(crate) file: CString,
    /// The path at which the program finds it: a file that exists.
    pub(crate) at: CString,
}

/// The PID namespace of one program. Dropping it ends everything inside.
#[derive(Debug)]
pub(crate) struct Enclosure {
    keeper: Child,
    /// The other end of the keeper's input, which this process alone holds.
    _lifeline: UnixStream,
}

impl Enclosure {
    /// Starts `command` in a PID namespace of its own and in the network namespace `network`. It has a `/proc` of its own where
    /// this process may mount one: not within user namespaces of containers that hide parts of theirs. Nobody outside sees
    /// `covers`.
    ///
    /// # Errors
    /// One line: what this machine does not permit, or why the command cannot be started.
    pub(crate) fn start(
        command: &mut Command,
        network: &Namespace,
        covers: &[Cover],
        inherits: Inherits,
    ) -> Result<(Self, Child), Error> {
        let descriptor = network.raw();
        let covers = covers.to_vec();
        let prepare = move || {
            // SAFETY: plain system calls on numbers; the descriptor is open until the program has started.
            if unsafe { libc::setns(descriptor, libc::CLONE_NEWNET) } != 0 {
                return Err(io::Error::last_os_error());
            }
            if inherits == Inherits::Nothing {
                close_on_exec();
                heed_signals();
            }
            if own_mounts() {
                mount_proc();
                covers.iter().try_for_each(cover)?;
            } else if !covers.is_empty() {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        };
        // SAFETY: system calls only.
        unsafe { command.pre_exec(prepare) };
        let name = command.get_program().to_string_lossy().into_owned();
        // In which PID namespace children begin is a matter of the thread that starts them.
        in_thread(|| {
            // Programs that spin already would keep this thread from starting another.
            let watchful = (inherits == Inherits::Nothing).then(Scheduled::watchful);
            unshare(CloneFlags::CLONE_NEWPID)
                .map_err(|error| Error::not_permitted("cannot create a PID namespace", error, FIX))?;
            let mut enclosure = Self::empty()?;
            let started = command.spawn();
            drop(watchful);
            match started {
                Ok(child) => Ok((enclosure, child)),
                Err(error) => {
                    let _ended = enclosure.keeper.kill().and_then(|()| enclosure.keeper.wait());
                    Err(Error::system(format!("cannot start `{name}`"), error))
                }
            }
        })
    }

    /// The PID namespace that the children of this thread begin, with its keeper. What others leave to that is reaped by the
    /// kernel.
    fn empty() -> Result<Self, Error> {
        let (lifeline, input) =
            UnixStream::pair().map_err(|error| Error::system("cannot make a socket", error))?;
        let mut command = Command::new(KEEPER);
        command.stdin(OwnedFd::from(input)).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let prepare = || {
            close_on_exec();
            // SAFETY: takes numbers only. The setting stays over exec.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
            Ok(())
        };
        // SAFETY: system calls only.
        unsafe { command.pre_exec(prepare) };
        let keeper = command.spawn().map_err(|error| {
            Error::system(
                format!("cannot start `{KEEPER}`, which keeps a program's processes together"),
                error,
            )
        })?;
        Ok(Self { keeper, _lifeline: lifeline })
    }

    /// Ends everything inside, and waits until nothing is left; how the program `child` ended.
    pub(crate) fn end(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        let _ended = self.keeper.kill();
        let _unhurried = Scheduled::unhurried();
        // First: the keeper is not gone before every process of the namespace is.
        let status = child.wait();
        let _reaped = self.keeper.wait();
        status
    }
}

impl Drop for Enclosure {
    fn drop(&mut self) {
        // It is not waited for: that takes as long as nobody waits for the program.
        let _ended = self.keeper.kill();
    }
}

const FIX: &str = "run as root, or set user.max_pid_namespaces above 0";

/// Keeps all but the standard descriptors from the program that is about to take this process's place.
fn close_on_exec() {
    // SAFETY: system calls on numbers, and on a structure that outlives the call.
    unsafe {
        if libc::syscall(libc::SYS_close_range, FIRST_OWN, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) == 0
        {
            return;
        }
        // Before Linux 5.11.
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        for descriptor in libc::rlim_t::from(FIRST_OWN)..limit.rlim_cur.min(MOST_DESCRIPTORS) {
            libc::fcntl(descriptor as libc::c_int, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// Lets the program that is about to take this process's place begin with every signal as the system has it: what is ignored,
/// as SIGINT and SIGXFSZ are in a worker, stays ignored over exec.
fn heed_signals() {
    for signal in 1..=LAST_SIGNAL {
        // SAFETY: takes numbers only. SIGKILL and SIGSTOP cannot be set, which is no matter.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Gives the calling process mounts of its own, which nobody outside sees; false where that is not permitted.
fn own_mounts() -> bool {
    let flags = libc::MS_REC | libc::MS_SLAVE;
    // SAFETY: system calls on numbers and on a text that lives for ever.
    unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), flags, ptr::null()) == 0
    }
}

/// Mounts a `/proc` with the numbers of the new PID namespace; leaves the old one where that is not permitted.
fn mount_proc() {
    let proc = c"proc".as_ptr();
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: a system call on numbers and on texts that live for ever.
    unsafe { libc::mount(proc, c"/proc".as_ptr(), proc, flags, ptr::null()) };
}

fn cover(cover: &Cover) -> io::Result<()> {
    // SAFETY: a system call on texts that outlive it.
    let mounted = unsafe {
        libc::mount(cover.file.as_ptr(), cover.at.as_ptr(), ptr::null(), libc::MS_BIND, ptr::null())
    };
    if mounted == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
