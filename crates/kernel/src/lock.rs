//! A lock per controller: one process at a time looks who has it registered and changes that.

use crate::Failure;
use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

const RETRY: Duration = Duration::from_millis(20);

/// Where the lock files are: in a directory that only root can write to, as whoever registers controllers is.
fn directory() -> Result<PathBuf, Failure> {
    let directory = PathBuf::from("/run/dumbbell");
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(directory)
}

/// The lock of controller `name`, held until the file is dropped; waits up to `wait` for it.
pub(crate) fn acquire(name: &str, wait: Duration) -> Result<File, Failure> {
    let path = directory()?.join(format!("kernel-{name}.lock"));
    let deadline = Instant::now() + wait;
    let file = File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(RETRY),
            Err(TryLockError::WouldBlock) => {
                let seconds = wait.as_secs_f64();
                return Err(format!("{name}: {} is still locked after {seconds} s", path.display()));
            }
            Err(TryLockError::Error(error)) => return Err(format!("{}: {error}", path.display())),
        }
    }
}
