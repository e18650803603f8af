//! One emulated run at a time on a machine: two at once would take the processors from each other. Those who want to run
//! stand in a queue that the kernel keeps, for all users together: the connections that wait at a socket with a name of
//! its own kind (an abstract one: no file, which could be a link, be somebody else's or be left behind). Whoever has the
//! socket holds the lock; who gives it back hands the socket, and with it the queue, to the first in line.

use crate::Error;
use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, getsockopt, recvmsg, sendmsg, sockopt::AcceptConn,
};
use std::fs;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::process;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Time between two tries to take the lock.
const POLL: Duration = Duration::from_millis(20);
/// Time between two look-ups of the process that holds the lock.
const LOOK: Duration = Duration::from_millis(500);
/// What the socket is called.
const NAME: &str = "dumbbell-turn";
/// Names another queue than the machine's, for tests that are made to go side by side.
const OTHER: &str = "DUMBBELL_TURN";
/// What the sockets that say who holds the lock are called, after the queue: the process and since when follow.
const HELD: &str = "/held/";

/// Who holds the lock: a process, and when it got it, seconds since 1970.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Holder {
    /// The process, by the number that it has for itself.
    pub process: u32,
    /// When its run began.
    pub since_s: u64,
}

impl Holder {
    /// This process, from now on.
    fn now() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        Self { process: process::id(), since_s: since_1970.map_or(0, |passed| passed.as_secs()) }
    }

    /// The process that says that it holds the lock of a queue; nobody in the moment between two.
    fn of(queue: &str) -> Option<Self> {
        // Names of this kind are listed with an @ for each null byte, of which they have the first.
        let start = format!("@{queue}{HELD}");
        let sockets = fs::read_to_string("/proc/thread-self/net/unix").ok()?;
        sockets.lines().filter_map(|line| line.split_once(&start)).find_map(|(_, told)| {
            let (process, since_s) = told.split_once('/')?;
            Some(Self { process: process.parse().ok()?, since_s: since_s.parse().ok()? })
        })
    }
}

/// The right to run; given back when dropped, and by the kernel however the process ends.
#[derive(Debug)]
pub struct EmulationLock {
    _held: Option<Held>,
}

/// The queue, at whose head this process is.
#[derive(Debug)]
struct Held {
    queue: UnixListener,
    /// For others to read: without it they wait all the same.
    note: Option<UnixDatagram>,
}

impl EmulationLock {
    /// Waits for the lock, first come first served, or until `stop` says so. `waits` is told of each holder
    /// that is waited for, as far as that is known.
    ///
    /// # Errors
    /// That the run was stopped meanwhile, or the queue has no possible name.
    pub fn wait(stop: &dyn Fn() -> bool, waits: &dyn Fn(Option<Holder>)) -> Result<Self, Error> {
        let queue = match std::env::var(OTHER) {
            Ok(name) if !name.is_empty() => format!("{NAME}/{name}"),
            _ => NAME.to_owned(),
        };
        Self::wait_in(&queue, stop, waits)
    }

    fn wait_in(queue: &str, stop: &dyn Fn() -> bool, waits: &dyn Fn(Option<Holder>)) -> Result<Self, Error> {
        let address = SocketAddr::from_abstract_name(queue)
            .map_err(|error| Error::system(format!("{OTHER}: `{queue}`"), error))?;
        let mut news = News { queue, waits, told: None, looked: None };
        loop {
            match UnixListener::bind_addr(&address) {
                Ok(listener) => return Ok(Self::of(listener, queue)),
                Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                // Where there is no queue to stand in: better a run that may be disturbed than none.
                Err(_) => return Ok(Self { _held: None }),
            }
            // Whoever has it may be giving it back at this moment: then it is tried again.
            if let Ok(place) = UnixStream::connect_addr(&address)
                && let Some(listener) = stand(&place, &address, stop, &mut news)
            {
                return Ok(Self::of(listener, queue));
            }
            if stop() {
                return Err(Error::Stopped);
            }
            thread::sleep(POLL);
        }
    }

    fn of(listener: UnixListener, queue: &str) -> Self {
        let Holder { process, since_s } = Holder::now();
        let note = SocketAddr::from_abstract_name(format!("{queue}{HELD}{process}/{since_s}"))
            .and_then(|address| UnixDatagram::bind_addr(&address));
        Self { _held: Some(Held { queue: listener, note: note.ok() }) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.note = None;
        // Nobody waits, or whoever did has gone: then the name is free once this is closed.
        let _left = self.queue.set_nonblocking(true);
        while let Ok((first, _)) = self.queue.accept() {
            let socket = [self.queue.as_raw_fd()];
            let sent = sendmsg::<()>(
                first.as_raw_fd(),
                &[IoSlice::new(b"turn")],
                &[ControlMessage::ScmRights(&socket)],
                MsgFlags::MSG_NOSIGNAL,
                None,
            );
            if sent.is_ok() {
                return;
            }
        }
    }
}

/// Waits in the queue, in which `place` is this process's; nothing if the queue is lost with whoever had it, or it is told to
/// stop. A lock that comes in that moment goes on to the next.
fn stand(
    place: &UnixStream,
    address: &SocketAddr,
    stop: &dyn Fn() -> bool,
    news: &mut News<'_>,
) -> Option<UnixListener> {
    place.set_nonblocking(true).ok()?;
    loop {
        let stopped = stop();
        match received(place) {
            Ok(socket) => {
                let listener = UnixListener::from(socket?);
                let is_queue = listener
                    .local_addr()
                    .is_ok_and(|own| own.as_abstract_name() == address.as_abstract_name())
                    && getsockopt(&listener, AcceptConn).unwrap_or(false);
                let held = is_queue.then_some(listener)?;
                if stopped {
                    drop(Held { queue: held, note: None });
                    return None;
                }
                return Some(held);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
        if stopped {
            return None;
        }
        news.look();
        thread::sleep(POLL);
    }
}

/// The socket that was handed over; nothing if the other side closed without.
fn received(place: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut word = [0; 8];
    let mut space = cmsg_space!([RawFd; 1]);
    let mut buffers = [IoSliceMut::new(&mut word)];
    let message =
        recvmsg::<()>(place.as_raw_fd(), &mut buffers, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let mut sockets = Vec::new();
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(numbers) = control {
            // SAFETY: the kernel has just made these descriptors for this process, and nobody else knows them.
            #[allow(unsafe_code, reason = "descriptors arrive as numbers")]
            sockets.extend(numbers.into_iter().map(|number| unsafe { OwnedFd::from_raw_fd(number) }));
        }
    }
    Ok(sockets.pop())
}

/// What is told to who waits.
struct News<'a> {
    queue: &'a str,
    waits: &'a dyn Fn(Option<Holder>),
    told: Option<Holder>,
    looked: Option<Instant>,
}

impl News<'_> {
    /// Looks who holds the lock, not too often, and tells it once.
    fn look(&mut self) {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return;
        }
        let is_first = self.looked.replace(Instant::now()).is_none();
        let holder = Holder::of(self.queue);
        if is_first || self.told != holder {
            (self.waits)(holder);
            self.told = holder;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    /// A queue of a test's own.
    fn own(test: &str) -> String {
        format!("dumbbell-turn-test/{}/{test}", process::id())
    }

    fn take(queue: &str) -> EmulationLock {
        EmulationLock::wait_in(queue, &|| false, &|_| {}).unwrap()
    }

    #[test]
    fn the_second_waits_for_the_first() {
        let queue = own("second");
        let began_s = Holder::now().since_s;
        let first = take(&queue);
        let looked = Cell::new(0);
        let impatient = || {
            looked.set(looked.get() + 1);
            looked.get() > 3
        };
        let holders = RefCell::new(Vec::new());
        let told = |holder| holders.borrow_mut().push(holder);
        assert_eq!(EmulationLock::wait_in(&queue, &impatient, &told).unwrap_err().to_string(), "stopped");
        let [Some(holder)] = holders.take()[..] else { panic!("told of one holder, once") };
        assert_eq!(holder.process, process::id());
        assert!((began_s..=Holder::now().since_s).contains(&holder.since_s));
        drop(first);
        assert!(EmulationLock::wait_in(&queue, &|| false, &told).is_ok());
        assert_eq!(holders.take(), []);
    }

    /// How many wait in a queue.
    fn waiting(queue: &str) -> usize {
        let sockets = fs::read_to_string("/proc/thread-self/net/unix").unwrap();
        // Whoever waits has a socket without the name; those at the queue's end that are not accepted have it.
        sockets.lines().filter(|line| line.ends_with(&format!("@{queue}"))).count() - 1
    }

    #[test]
    fn turns_come_in_the_order_of_asking_and_those_who_left_are_passed_over() {
        const COUNT: usize = 8;
        let queue = own("order");
        let first = take(&queue);
        let (tell, hear) = mpsc::channel();
        let all_wait = AtomicBool::new(false);
        thread::scope(|scope| {
            let mut leaving = Vec::new();
            for number in 0..COUNT {
                let (tell, queue, all_wait) = (tell.clone(), &queue, &all_wait);
                let leaves = number % 3 == 1;
                let waits = scope.spawn(move || {
                    let stop = || leaves && all_wait.load(Ordering::Relaxed);
                    let lock = EmulationLock::wait_in(queue, &stop, &|_| {});
                    assert_eq!(lock.is_err(), leaves);
                    if lock.is_ok() {
                        tell.send(number).unwrap();
                    }
                });
                if leaves {
                    leaving.push(waits);
                }
                needs::wait_for(|| (waiting(queue) > number).then_some(()));
            }
            all_wait.store(true, Ordering::Relaxed);
            for waits in leaving {
                waits.join().unwrap();
            }
            drop(first);
        });
        drop(tell);
        assert_eq!(hear.iter().collect::<Vec<_>>(), [0, 2, 3, 5, 6]);
    }

    #[test]
    fn the_queue_outlives_a_holder_that_dies() {
        let queue = own("dies");
        let address = SocketAddr::from_abstract_name(&queue).unwrap();
        // What a process that was killed leaves: a socket that is closed, and nothing handed over.
        let killed = UnixListener::bind_addr(&address).unwrap();
        thread::scope(|scope| {
            let waits = scope.spawn(|| drop(take(&queue)));
            needs::wait_for(|| (waiting(&queue) > 0).then_some(()));
            drop(killed);
            waits.join().unwrap();
        });
    }

    #[test]
    fn what_is_handed_over_must_be_the_queue() {
        let (address, foreign) = (
            SocketAddr::from_abstract_name(own("real")).unwrap(),
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(own("foreign")).unwrap()).unwrap(),
        );
        let (ours, theirs) = UnixStream::pair().unwrap();
        let socket = [foreign.as_raw_fd()];
        let rights = [ControlMessage::ScmRights(&socket)];
        sendmsg::<()>(theirs.as_raw_fd(), &[IoSlice::new(b"turn")], &rights, MsgFlags::empty(), None)
            .unwrap();
        let queue = own("real");
        let mut news = News { queue: &queue, waits: &|_| {}, told: None, looked: None };
        assert!(stand(&ours, &address, &|| false, &mut news).is_none());
    }
}
