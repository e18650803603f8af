//! Registrations that outlive the program: links pinned in the BPF file system.

use crate::controllers::Controller;
use crate::error::Error;
use crate::{lock, registration};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const BPFFS: &str = "/sys/fs/bpf";
const DIRECTORY: &str = "/sys/fs/bpf/dumbbell";
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Where `name` is pinned if it is.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(name)
}

/// What is pinned now.
pub(crate) fn pinned_names() -> Vec<String> {
    let entries = fs::read_dir(DIRECTORY).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Registers `controller` and pins it; nothing happens if it is pinned already.
pub(crate) fn load(controller: &Controller) -> Result<(), Error> {
    let name = controller.name;
    let _lock = lock::acquire(name, LOCK_WAIT)?;
    let path = path(name);
    if path.exists() {
        return Ok(());
    }
    mount()?;
    fs::create_dir_all(DIRECTORY).map_err(Error::of(DIRECTORY))?;
    let mut link = registration::register(controller)?;
    link.pin(&path).map_err(|source| Error::Pin { path, source })
}

/// Removes the pin of `name`; runs that use the controller keep it until they end.
pub(crate) fn unload(name: &str) -> Result<(), Error> {
    let _lock = lock::acquire(name, LOCK_WAIT)?;
    let path = path(name);
    if !path.exists() {
        return Err(Error::NotLoaded { name: name.to_owned(), path });
    }
    fs::remove_file(&path).map_err(Error::of(path.display()))?;
    if pinned_names().is_empty() {
        // Tidiness only: an empty directory harms nobody.
        let _ = fs::remove_dir(DIRECTORY);
    }
    registration::await_end(name);
    Ok(())
}

/// Mounts the BPF file system where it is missing.
fn mount() -> Result<(), Error> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    if is_mounted(&mounts) {
        return Ok(());
    }
    let command = ["mount", "-t", "bpf", "bpf", BPFFS];
    let mounted = Command::new(command[0]).args(&command[1..]).output();
    if mounted.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    Err(Error::NotMounted { place: BPFFS, command: command.join(" ") })
}

/// Whether the table `mounts` has the BPF file system in its place.
fn is_mounted(mounts: &str) -> bool {
    mounts.lines().any(|line| {
        let mut words = line.split_whitespace().skip(1);
        words.next() == Some(BPFFS) && words.next() == Some("bpf")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bpf_file_system_in_its_place_counts_as_mounted() {
        assert!(is_mounted("sysfs /sys sysfs rw 0 0\nbpf /sys/fs/bpf bpf rw 0 0\n"));
        assert!(!is_mounted("sysfs /sys sysfs rw 0 0\ntmpfs /sys/fs/bpf tmpfs rw 0 0\n"));
        assert!(!is_mounted("bpf /elsewhere/sys/fs/bpf bpf rw 0 0\n"));
    }
}
