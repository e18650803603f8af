//! Errors of this crate.

use std::io;
use std::net::SocketAddrV4;
use strict_input::Refusal;
use thiserror::Error;

/// Reason why an end of a flow cannot work.
#[derive(Debug, Error)]
pub enum Error {
    /// An input is not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The sending socket.
    #[error("sending socket: {0}")]
    Sending(#[source] io::Error),
    /// The receiving socket.
    #[error("receiving socket: {0}")]
    Receiving(#[source] io::Error),
    /// The connection to the other end failed.
    #[error("cannot connect to {address}: {source}")]
    Connect {
        /// Address of the other end.
        address: SocketAddrV4,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The kernel does not have a congestion control.
    #[error("congestion control {name}: not offered by this kernel: it has {available}")]
    NotOffered {
        /// Name of the congestion control.
        name: String,
        /// Available congestion controls.
        available: String,
    },
    /// The kernel does not permit this process to use a congestion control.
    #[error("congestion control {name}: not permitted without CAP_NET_ADMIN: allowed are {allowed}")]
    NotPermitted {
        /// Name of the congestion control.
        name: String,
        /// Allowed congestion controls.
        allowed: String,
    },
    /// The kernel refuses a congestion control for another reason.
    #[error("congestion control {name}: {source}")]
    CongestionControl {
        /// Name of the congestion control.
        name: String,
        /// Error of the operating system.
        source: io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn each_error_is_one_line_and_the_systems_is_its_source() {
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        let (address, name) = (SocketAddrV4::new([10, 0, 0, 1].into(), 7), || "cubic".to_owned());
        for (error, line, has_source) in [
            (
                Refusal::new("a key of the run is not 64 hexadecimal digits").into(),
                "a key of the run is not 64 hexadecimal digits",
                false,
            ),
            (Error::Sending(refused()), "sending socket: connection refused", true),
            (Error::Receiving(refused()), "receiving socket: connection refused", true),
            (
                Error::Connect { address, source: refused() },
                "cannot connect to 10.0.0.1:7: connection refused",
                true,
            ),
            (
                Error::NotOffered { name: name(), available: "reno".to_owned() },
                "congestion control cubic: not offered by this kernel: it has reno",
                false,
            ),
            (
                Error::NotPermitted { name: name(), allowed: "reno".to_owned() },
                "congestion control cubic: not permitted without CAP_NET_ADMIN: allowed are reno",
                false,
            ),
            (
                Error::CongestionControl { name: name(), source: refused() },
                "congestion control cubic: connection refused",
                true,
            ),
        ] {
            assert_eq!(error.to_string(), line);
            let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
            assert_eq!(cause.map(io::Error::kind), has_source.then_some(io::ErrorKind::ConnectionRefused));
        }
    }
}
