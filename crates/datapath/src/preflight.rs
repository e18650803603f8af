//! What this machine permits, with the fix for each miss; and how to do without root.

use crate::Error;
use crate::emulation::Pair;
use crate::enclosure::{Enclosure, Inherits};
use crate::namespace::Namespace;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use serde::Serialize;
use std::fs;
use std::process::Command;

/// One thing that emulation needs.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// What it is.
    pub name: &'static str,
    /// Whether it is there.
    pub good: bool,
    /// What was found.
    pub found: String,
    /// What to do if it is not.
    pub fix: String,
}

/// Tries everything that an emulated run needs, in the order in which it needs it.
pub fn check_emulation() -> Vec<Check> {
    let namespace = Namespace::create(|| Ok(()));
    let pair = Pair::create(0, 1500);
    let enclosed = Namespace::create(|| Ok(())).and_then(|(namespace, ())| {
        let (mut enclosure, mut child) =
            Enclosure::start(&mut Command::new("true"), &namespace, &[], Inherits::Nothing)?;
        enclosure.end(&mut child).map(drop).map_err(|error| Error::system("true", error))
    });
    let of = |name, result: Result<(), Error>, found: &str| match result {
        Ok(()) => Check { name, good: true, found: found.to_owned(), fix: String::new() },
        Err(error) => {
            let (found, fix) = match error {
                Error::NotPermitted { what, source, fix } => (format!("{what}: {source}"), fix),
                other => (other.to_string(), "run as root"),
            };
            let fix = fix.to_owned();
            Check { name, good: false, found, fix }
        }
    };
    // The first user namespace maps every number to itself.
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let everybody = map.split_whitespace().eq(["0", "0", "4294967295"]);
    let who = if everybody { "root" } else { "user namespace" };
    vec![
        of("network namespaces", namespace.map(|_| ()), &format!("can be created ({who})")),
        of("TUN devices", pair.map(|_| ()), "can be created in a namespace"),
        of("PID namespaces", enclosed, "can be created: programs end with all that they have started"),
    ]
}

/// Makes an ordinary user root in a user namespace of its own, where network namespaces and devices can be made. Call it
/// before the process has a second thread.
///
/// # Errors
/// One line with the fix if the kernel does not permit it.
pub fn enter_user_namespace() -> Result<(), Error> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| {
        Error::not_permitted(
            "cannot create a user namespace",
            error,
            "run as root, or set user.max_user_namespaces above 0 \
             (kernel.unprivileged_userns_clone = 1, kernel.apparmor_restrict_unprivileged_userns = 0 where they exist)",
        )
    })?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text)
            .map_err(|error| Error::system(format!("/proc/self/{file}"), error))?;
    }
    Ok(())
}
