//! The way from an end of a path to what the caller's network namespace reaches: forwarded and translated there.
//!
//! Everything that is set in the caller's namespace goes with this process, however it ends: the settings of the device go with
//! the device, and the table belongs to a process of `nft`, whose end the kernel takes as the end of the table
//! (Linux v5.12, `net/netfilter/nf_tables_api.c`, `NFT_TABLE_F_OWNER`). That process ends with its input.
//! A user-space network stack would need no table, but it ends every TCP connection, so that the path would not be between
//! the two ends of a connection.

use crate::Error;
use crate::emulation::End;
use crate::sysctl;
use std::fs;
use std::io::{self, Write};
use std::net::IpAddr;
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

    /// Returns whether this network namespace forwards packets of IPv6, too.
    pub(crate) fn forwards_ipv6() -> bool {
        fs::read_to_string("/proc/sys/net/ipv6/conf/all/forwarding").is_ok_and(|text| text.trim() == "1")
    }

    /// Lets the calling thread's namespace forward: for the end of a path behind which there may be another path.
    pub(crate) fn forward() -> Result<(), Error> {
        let names = ["net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"];
        names.into_iter().try_for_each(|name| {
            sysctl::set(name, "1").map_err(|error| Error::not_permitted(name, error, "run as root"))
        })
    }

    /// Forwards what the end `inside` sends out of the device of the end `outside`, translated to an address of this machine.
    ///
    /// # Errors
    /// One line: `nft` is missing, or this kernel does not translate.
    pub(crate) fn share(outside: &End, inside: &End) -> Result<Self, Error> {
        let device = outside.tun.name();
        sysctl::set(&format!("net/ipv4/conf/{device}/forwarding"), "1").map_err(|error| {
            Error::not_permitted(format!("cannot forward from {device}"), error, "run as root")
        })?;
        let rule = |family: &str, address: IpAddr| {
            format!("{family} saddr {address} oifname != \"{device}\" masquerade; ")
        };
        let ipv6 = inside.ipv6.filter(|_| Self::forwards_ipv6());
        let rules = rule("ip", inside.address.into())
            + &ipv6.map_or_else(String::new, |ipv6| rule("ip6", ipv6.into()));
        let table = format!(
            "table inet {device} {{ flags owner; chain translate {{ type nat hook postrouting priority 100; {rules}}}; }}\n"
        );
        // With a check first: an `nft` that reads commands one by one goes on after an error.
        run_nft(&["--check", "--file", "-"], &table)?;
        let mut nft = start_nft(&["--interactive"], Stdio::null())?;
        if let Some(input) = &mut nft.stdin {
            input.write_all(table.as_bytes()).map_err(no_nft)?;
        }
        let internet = Self { nft };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match run_nft(&["list", "table", "inet", device], "") {
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

/// Starts `nft`, with a pipe to its input, in a process group of its own: Ctrl-C does not end it.
fn start_nft(arguments: &[&str], errors: Stdio) -> Result<Child, Error> {
    let mut command = Command::new(NFT);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(errors).process_group(0);
    command.spawn().map_err(no_nft)
}

/// Runs `nft` to its end.
fn run_nft(arguments: &[&str], input: &str) -> Result<(), Error> {
    let mut nft = start_nft(arguments, Stdio::piped())?;
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
