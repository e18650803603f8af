//! The way from an end of a path to what the caller's network namespace reaches: forwarded and translated there.
//!
//! Everything that is set in the caller's namespace goes with this process, however it ends: the settings of the device go with
//! the device, and the table belongs to a process of `nft`, whose end the kernel takes as the end of the table
//! (Linux v5.12, `net/netfilter/nf_tables_api.c`, `NFT_TABLE_F_OWNER`). That process ends with its input.
//! A user-space network stack would need no table, but it ends every TCP connection, so that the path would not be between
//! the two ends of a connection.

use crate::Error;
use crate::sysctl;
use std::fs;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The program that sets up translation.
const NFT: &str = "nft";
/// Longest wait for the table.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two looks for it.
const LOOK: Duration = Duration::from_millis(5);

/// Translation of the addresses of one end of a path. Dropping it ends the translation.
#[derive(Debug)]
pub(crate) struct Internet {
    nft: Child,
}

impl Internet {
    /// Makes sure that this network namespace forwards packets.
    ///
    /// # Errors
    /// One line with the fix if it does not.
    pub(crate) fn require_forwarding() -> Result<(), Error> {
        let forwards = fs::read_to_string("/proc/sys/net/ipv4/ip_forward").unwrap_or_default();
        if forwards.trim() == "1" {
            return Ok(());
        }
        Err(Error::not_permitted(
            "internet",
            io::Error::other("this machine forwards no packets (net.ipv4.ip_forward is 0)"),
            "allow it with `sysctl -w net.ipv4.ip_forward=1`",
        ))
    }

    /// Forwards what `inside` sends through `device`, translated to an address of this machine.
    ///
    /// # Errors
    /// One line: `nft` is missing, or this kernel does not translate.
    pub(crate) fn share(device: &str, inside: Ipv4Addr) -> Result<Self, Error> {
        sysctl::set(&format!("net/ipv4/conf/{device}/forwarding"), "1").map_err(|error| {
            Error::not_permitted(format!("cannot forward from {device}"), error, "run as root")
        })?;
        let table = format!(
            "table ip {device} {{ flags owner; chain translate {{ type nat hook postrouting priority 100; \
             ip saddr {inside} oifname != \"{device}\" masquerade; }}; }}\n"
        );
        // With a check first: an `nft` that reads commands one by one goes on after an error.
        translated(Command::new(NFT).args(["--check", "--file", "-"]), &table)?;
        let mut nft = Command::new(NFT)
            .arg("--interactive")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(no_nft)?;
        if let Some(input) = &mut nft.stdin {
            input.write_all(table.as_bytes()).map_err(no_nft)?;
        }
        let internet = Self { nft };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match translated(Command::new(NFT).args(["list", "table", "ip", device]), "") {
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => thread::sleep(LOOK),
                Ok(()) => return Ok(internet),
            }
        }
    }
}

impl Drop for Internet {
    fn drop(&mut self) {
        drop(self.nft.stdin.take());
        let _ended = self.nft.wait();
    }
}

/// Runs `nft` to its end.
fn translated(command: &mut Command, input: &str) -> Result<(), Error> {
    let mut nft = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(no_nft)?;
    if let Some(mut stdin) = nft.stdin.take() {
        // A program that does not read says why in its output.
        let _written = stdin.write_all(input.as_bytes());
    }
    let done = nft.wait_with_output().map_err(no_nft)?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let why = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("nft failed").to_owned();
    Err(Error::not_permitted(
        "internet: cannot translate addresses",
        io::Error::other(why),
        "run as root, on a kernel with nftables and masquerading (Linux 5.12 or later)",
    ))
}

fn no_nft(error: io::Error) -> Error {
    Error::not_permitted("internet: `nft` cannot be started", error, "install the package `nftables`")
}
