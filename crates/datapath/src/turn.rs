//! One emulated run at a time on a machine: two at once would take the processors from each other.

use nix::fcntl::{Flock, FlockArg};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::process;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often it is looked whether the run before has ended.
const POLL: Duration = Duration::from_millis(20);

/// More than the longest line that says who has the turn.
const MOST_BYTES: usize = 64;

/// Who has the turn: a process, and when it got it, seconds since 1970.
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

    /// What the lock file says; nothing where its holder has not written it yet.
    fn read(file: &File) -> Option<Self> {
        let mut bytes = [0; MOST_BYTES];
        let length = file.read_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(&bytes[..length]).ok()?;
        let (process, since_s) = text.strip_suffix('\n')?.split_once(' ')?;
        Some(Self { process: process.parse().ok()?, since_s: since_s.parse().ok()? })
    }

    fn write(self, file: &File) -> std::io::Result<()> {
        file.set_len(0)?;
        file.write_all_at(format!("{} {}\n", self.process, self.since_s).as_bytes(), 0)
    }
}

/// The right to run; given back when dropped, however the process ends.
#[derive(Debug)]
pub struct Turn {
    _lock: Option<Flock<File>>,
}

impl Turn {
    /// Waits until no other process emulates, or until `stop` says so. `waits` is told of each holder that is waited for, as
    /// far as that is known.
    ///
    /// # Errors
    /// That the run was stopped meanwhile.
    pub fn wait(stop: &dyn Fn() -> bool, waits: &dyn Fn(Option<Holder>)) -> Result<Self, String> {
        let path = std::env::temp_dir().join("dumbbell-emulation.lock");
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o666).open(&path);
        // Without the file there is nothing to wait for: better a run that may be disturbed than none.
        let Ok(mut file) = file else { return Ok(Self { _lock: None }) };
        // For everybody, whatever the umask; only the owner of the file can, and needs to.
        let _shared = file.set_permissions(PermissionsExt::from_mode(0o666));
        let mut told = None;
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => {
                    // Only for others to read: a full disk keeps no run from starting.
                    let _written = Holder::now().write(&lock);
                    return Ok(Self { _lock: Some(lock) });
                }
                Err(_) if stop() => return Err("stopped".to_owned()),
                Err((unlocked, _)) => file = unlocked,
            }
            let holder = Holder::read(&file);
            if told != Some(holder) {
                waits(holder);
                told = Some(holder);
            }
            thread::sleep(POLL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    #[test]
    fn the_second_waits_for_the_first() {
        let first = Turn::wait(&|| false, &|_| {}).unwrap();
        let looked = Cell::new(0);
        let impatient = || {
            looked.set(looked.get() + 1);
            looked.get() > 3
        };
        let holders = RefCell::new(Vec::new());
        let told = |holder| holders.borrow_mut().push(holder);
        assert_eq!(Turn::wait(&impatient, &told).unwrap_err(), "stopped");
        let [Some(holder)] = holders.take()[..] else { panic!("told of one holder, once") };
        assert_eq!(holder.process, process::id());
        assert!(holder.since_s.abs_diff(Holder::now().since_s) < 60);
        drop(first);
        assert!(Turn::wait(&|| false, &told).is_ok());
        assert_eq!(holders.take(), []);
    }
}
