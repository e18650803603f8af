//! Whose a private directory is: its name outlives the process that made it, and says whether that has ended.

use crate::scratch;
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Marks what cannot be told whose it is: nobody takes it for left behind.
const NOWHERE: u64 = 0;

/// Marks what belongs to one run by `SPACE.CLOCK.PID.START.NUMBER`: the PID namespace of the process that makes the run and its
/// time namespace, its process number and its start time there, and the number of the run.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    mark: String,
}

/// Counts the runs of this process.
static RUNS: AtomicU64 = AtomicU64::new(0);

impl Owner {
    /// A mark for the next run of this process.
    pub(crate) fn next() -> Self {
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let pid = std::process::id();
        let start = start_time(pid).unwrap_or_default();
        let (space, clock) = numbering().unwrap_or((NOWHERE, NOWHERE));
        Self { mark: format!("{space}.{clock}.{pid}.{start}.{number}") }
    }

    /// The mark, which is fit to name a file.
    pub(crate) fn mark_text(&self) -> &str {
        &self.mark
    }
}

/// Removes the private directories that runs of dumbbell that were killed have left behind. What runs in other PID or time
/// namespaces own is theirs: from here nobody can see whether they live.
pub fn clean_up() {
    scratch::remove_orphaned(is_orphaned);
}

/// Whether the owner that a mark names has certainly ended. What is no mark names nobody.
fn is_orphaned(mark: &str) -> bool {
    let Ok(numbers) = mark.split('.').map(str::parse).collect::<Result<Vec<u64>, _>>() else { return false };
    let [space, clock, pid, start, _] = numbers[..] else { return false };
    let Ok(pid) = i32::try_from(pid) else { return false };
    if pid == 0 || numbering() != Some((space, clock)) {
        return false;
    }
    match start_time(pid.unsigned_abs()) {
        Some(found) => found != start.to_string(),
        // It may be hidden from this user.
        None => kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH),
    }
}

/// The PID and the time namespace of this process, if `/proc` lists its processes: else numbers found there are not those
/// that signals go to. When a process started is another time in another time namespace (Linux v6.12, fs/proc/array.c).
fn numbering() -> Option<(u64, u64)> {
    let own = fs::read_link("/proc/self").ok()?;
    (own == Path::new(&std::process::id().to_string())).then_some(())?;
    let clock = fs::metadata("/proc/self/ns/time").map_or(NOWHERE, |found| found.ino());
    Some((fs::metadata("/proc/self/ns/pid").ok()?.ino(), clock))
}

/// When a process started, in the kernel's ticks: tells a process from a later one of the same number.
fn start_time(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold spaces and parentheses; field 22 is the 20th after it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that no process has: above the most that Linux gives, 2^22.
    const NOBODY: u64 = 4_194_305;

    #[test]
    fn what_a_run_in_another_pid_or_time_namespace_owns_is_left_alone() {
        let (space, clock) = numbering().unwrap();
        assert!(is_orphaned(&format!("{space}.{clock}.{NOBODY}.0.1")));
        assert!(!is_orphaned(&format!("{}.{clock}.{NOBODY}.0.1", space + 1)));
        assert!(!is_orphaned(&format!("{space}.{}.{NOBODY}.0.1", clock + 1)));
        assert!(!is_orphaned(&format!("{NOWHERE}.{NOWHERE}.{NOBODY}.0.1")));
    }

    #[test]
    fn the_living_own_what_they_made_and_a_later_process_of_the_same_number_does_not() {
        let owner = Owner::next();
        assert!(!is_orphaned(&owner.mark));
        let mut parts: Vec<&str> = owner.mark.split('.').collect();
        parts[3] = "1";
        assert!(is_orphaned(&parts.join(".")));
        for text in ["", "dbus", "1.2.3.4", "1.2.3.4.5.6", "a.b.c.d.e", "-1.1.1.1.1", "0.0.0.0.0"] {
            assert!(!is_orphaned(text), "{text}");
        }
    }
}
