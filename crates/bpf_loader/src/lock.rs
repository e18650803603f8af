//! A lock per controller: one process at a time looks who has it registered and changes that.

use crate::error::Error;
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

const RETRY: Duration = Duration::from_millis(20);
/// Who can open a lock file can hold its lock: nobody but root.
const MODE: u32 = 0o600;

/// Where the lock files are: in a directory that only root can write to, as whoever registers controllers is.
fn directory() -> Result<PathBuf, Error> {
    let directory = PathBuf::from("/run/dumbbell");
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.map_err(Error::of(directory.display()))?;
    Ok(directory)
}

/// The lock of controller `name`, held until the file is dropped; waits up to `wait` for it.
pub(crate) fn acquire(name: &str, wait: Duration) -> Result<File, Error> {
    let path = directory()?.join(format!("kernel-{name}.lock"));
    let deadline = Instant::now() + wait;
    let file = open(&path).map_err(Error::of(path.display()))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(RETRY),
            Err(TryLockError::WouldBlock) => {
                let seconds = wait.as_secs_f64();
                return Err(Error::Locked { name: name.to_owned(), path, seconds });
            }
            Err(TryLockError::Error(error)) => return Err(Error::of(path.display())(error)),
        }
    }
}

/// The lock file, closed to others also where it or its directory was made open to them.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(MODE).open(path)?;
    file.set_permissions(Permissions::from_mode(MODE))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Anybody could hold the lock of a controller, where `/run/dumbbell` can be entered.
    #[test]
    fn nobody_else_can_open_a_lock_file() {
        let path = std::env::temp_dir().join(format!("dumbbell-lock-{}", std::process::id()));
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        for _ in 0..2 {
            let file = open(&path).unwrap();
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, MODE);
            std::fs::remove_file(&path).unwrap();
        }
    }
}
