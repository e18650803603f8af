//! One emulated run at a time on a machine: two at once would take the processors from each other.

use nix::fcntl::{Flock, FlockArg};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::thread;
use std::time::Duration;

/// How often it is looked whether the run before has ended.
const POLL: Duration = Duration::from_millis(20);

/// The right to run; given back when dropped, however the process ends.
#[derive(Debug)]
pub struct Turn {
    _lock: Option<Flock<File>>,
}

impl Turn {
    /// Waits until no other process emulates, or until `stop` says so.
    ///
    /// # Errors
    /// That the run was stopped meanwhile.
    pub fn wait(stop: &dyn Fn() -> bool) -> Result<Self, String> {
        let path = std::env::temp_dir().join("dumbbell-emulation.lock");
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o666).open(&path);
        // Without the file there is nothing to wait for: better a run that may be disturbed than none.
        let Ok(mut file) = file else { return Ok(Self { _lock: None }) };
        // For everybody, whatever the umask; only the owner of the file can, and needs to.
        let _shared = file.set_permissions(PermissionsExt::from_mode(0o666));
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => return Ok(Self { _lock: Some(lock) }),
                Err(_) if stop() => return Err("stopped".to_owned()),
                Err((unlocked, _)) => file = unlocked,
            }
            thread::sleep(POLL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn the_second_waits_for_the_first() {
        let first = Turn::wait(&|| false).unwrap();
        let looked = Cell::new(0);
        let impatient = || {
            looked.set(looked.get() + 1);
            looked.get() > 3
        };
        assert_eq!(Turn::wait(&impatient).unwrap_err(), "stopped");
        drop(first);
        assert!(Turn::wait(&|| false).is_ok());
    }
}
