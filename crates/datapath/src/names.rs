//! Names inside of a path: the files `/etc/hosts` and `/etc/resolv.conf` that a command finds there.

use crate::Error;
use crate::dns_relay::{DNS_PORT, DnsRelay};
use crate::emulation::End;
use crate::enclosure::Cover;
use crate::owner::Owner;
use crate::scratch::Scratch;
use std::ffi::CString;
use std::fs::{self, Permissions};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The name of the other end of a path.
pub(crate) const PEER: &str = "dumbbell-peer";
const HOSTS: &str = "/etc/hosts";
const RESOLVER: &str = "/etc/resolv.conf";
/// Sockets by which lookups reach a service outside of the network namespace, past the path.
const SHORTCUTS: [&str; 2] = ["/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket"];

/// The files of both ends, while they are needed.
#[derive(Debug)]
pub(crate) struct Names {
    scratch: Scratch,
    relay: Option<DnsRelay>,
}

impl Names {
    pub(crate) fn create() -> Result<Self, Error> {
        Ok(Self { scratch: Scratch::create(Owner::next().mark_text())?, relay: None })
    }

    /// Returns the file of names for an end whose peer is `peer`.
    pub(crate) fn hosts(&self, end: &str, peer: &End) -> Result<Vec<Cover>, Error> {
        let mut text = fs::read_to_string(HOSTS).unwrap_or_default();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let addresses = [IpAddr::from(peer.address)].into_iter().chain(peer.ipv6.map(IpAddr::from));
        text.extend(addresses.map(|address| format!("{address} {PEER}\n")));
        Ok(self.cover(&format!("hosts-{end}"), &text, HOSTS)?.into_iter().collect())
    }

    /// Returns what an end needs whose name servers are those of this machine. The address `outside` of this machine takes
    /// the place of loopback addresses, which are others inside: a relay there passes queries on.
    pub(crate) fn resolver(&mut self, outside: Ipv4Addr) -> Result<Vec<Cover>, Error> {
        let text = fs::read_to_string(RESOLVER).unwrap_or_default();
        let (text, on_loopback) = without_loopback(&text, outside);
        if let Some(server) = on_loopback {
            let (from, to) = (SocketAddr::from((outside, DNS_PORT)), SocketAddr::from((server, DNS_PORT)));
            self.relay = DnsRelay::start(from, to)
                .map_err(|error| Error::system(format!("internet: cannot relay names from {from}"), error))?;
        }
        let mut covers: Vec<Cover> = self.cover("resolv.conf", &text, RESOLVER)?.into_iter().collect();
        let shortcuts = SHORTCUTS.into_iter().filter(|socket| Path::new(socket).exists());
        covers.extend(shortcuts.filter_map(|socket| {
            Some(Cover { file: c"/dev/null".to_owned(), at: CString::new(socket).ok()? })
        }));
        Ok(covers)
    }

    /// Writes a file that is found at `at`, unless nothing is there now: only a file can be covered.
    fn cover(&self, name: &str, text: &str, at: &str) -> Result<Option<Cover>, Error> {
        if !Path::new(at).is_file() {
            return Ok(None);
        }
        let file = self.scratch.path().join(name);
        fs::write(&file, text)
            // Any user inside reads it.
            .and_then(|()| fs::set_permissions(&file, Permissions::from_mode(0o644)))
            .map_err(|error| Error::system(format!("{}", file.display()), error))?;
        let paths = (CString::new(file.as_os_str().as_bytes()), CString::new(at));
        let (Ok(file), Ok(at)) = paths else { return Ok(None) };
        Ok(Some(Cover { file, at }))
    }
}

/// Returns a resolver's configuration in which `outside` takes the place of all loopback addresses, and the first of these. A
/// configuration without a name server means one on this machine (resolv.conf(5)).
fn without_loopback(text: &str, outside: Ipv4Addr) -> (String, Option<IpAddr>) {
    let server = |line: &str| line.trim_start().strip_prefix("nameserver")?.trim().parse::<IpAddr>().ok();
    let is_named = text.lines().any(|line| line.trim_start().starts_with("nameserver"));
    let implied = (!is_named).then_some(IpAddr::from(Ipv4Addr::LOCALHOST));
    let replaced = implied.or_else(|| text.lines().filter_map(server).find(IpAddr::is_loopback));
    let kept = text.lines().filter(|line| server(line).is_none_or(|address| !address.is_loopback()));
    let instead = replaced.map(|_| format!("nameserver {outside}"));
    let mut lines: Vec<&str> = instead.iter().map(String::as_str).chain(kept).collect();
    lines.push("");
    (lines.join("\n"), replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_on_loopback_are_asked_through_the_address_of_this_machine() {
        let outside = Ipv4Addr::new(10, 77, 0, 2);
        let changed = |text| without_loopback(text, outside);
        let plain = "search home\nnameserver 192.0.2.1\nnameserver 2001:db8::1\n";
        assert_eq!(changed(plain), (plain.to_owned(), None));
        let stub = "# made by systemd-resolved\nnameserver 127.0.0.53\noptions edns0\n";
        assert_eq!(
            changed(stub),
            (
                "nameserver 10.77.0.2\n# made by systemd-resolved\noptions edns0\n".to_owned(),
                Some(IpAddr::from([127, 0, 0, 53]))
            )
        );
        assert_eq!(
            changed(" nameserver\t::1\nnameserver 192.0.2.1").1,
            Some(IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]))
        );
        assert_eq!(changed("").1, Some(IpAddr::from([127, 0, 0, 1])));
        assert_eq!(changed("nameserver fe80::1%eth0\n").1, None);
    }
}
