//! Runs between two machines: each has a [`RemoteEndpoint`], with its ends of the flows, sockets on the network, and a log by its
//! own clock; [`join`] makes one run of what both report.
//!
//! A datagram on the network is `[kind and number: 8 bytes][time stamp: 8][body][tag: 16]`. The kind is the uppermost byte
//! of the number (little endian); the stamp is `CLOCK_MONOTONIC` of the sender, ns. The body is encrypted, head and body
//! are authenticated with a key for each socket and direction (`ChaCha20-Poly1305`, RFC 8439). Our own ends without a
//! tunnel send datagrams of their own form with a tag in front ([`endpoint::Wire`]).

mod channel;
mod hops;
mod join;
mod meeting;
mod mtu;
mod port;
mod probe;
mod remote_endpoint;
mod report;
#[cfg(test)]
mod tests;
mod tunnel;

pub use channel::Exchange;
pub use join::{Carried, Compared, Joined, join};
pub use probe::{Burst, Probe, Probed};
pub use remote_endpoint::{Meet, Met, Open, Opened, RemoteEndpoint, RunPart, TunnelKind};
pub use report::SideReport;
