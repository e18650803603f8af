//! The errors of this program.

use std::borrow::Cow;
use std::net::SocketAddr;

use thiserror::Error;

/// Why there was no complete transfer.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// The command line: what is wrong, and what is allowed.
    #[error("{0}")]
    Usage(Cow<'static, str>),
    /// The system, TLS or quiche refuses.
    #[error("{what}: {source}")]
    Failed { what: String, source: Box<dyn std::error::Error + Send + Sync> },
    /// The receiver does not answer.
    #[error("no answer from {peer} within {seconds} s")]
    NoAnswer { peer: SocketAddr, seconds: f64 },
    /// The receiver has fallen silent.
    #[error("no packet from {0} for too long")]
    ReceiverSilent(SocketAddr),
    /// The sender has fallen silent.
    #[error("no packet from the sender for too long")]
    SenderSilent,
    /// The receiver ends the connection.
    #[error("{peer} closed the connection (code {code:#x}) {reason}")]
    Closed { peer: SocketAddr, code: u64, reason: String },
    /// The connection to the receiver breaks a rule of QUIC.
    #[error("the connection to {peer} failed (code {code:#x})")]
    SendingFailed { peer: SocketAddr, code: u64 },
    /// The connection from the sender breaks a rule of QUIC.
    #[error("the connection failed (code {0:#x})")]
    ReceivingFailed(u64),
    /// The receiver's port is closed after it had answered.
    #[error("the receiver at {0} is gone")]
    Gone(SocketAddr),
    /// The receiver's port is closed.
    #[error("nothing listens at {0}")]
    NothingListens(SocketAddr),
}

impl Error {
    /// `what` is refused because of `source`.
    pub(crate) fn failed(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { what: what.into(), source: source.into() }
    }

    /// The command line is wrong.
    pub(crate) fn usage(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Usage(why.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;
    use std::io;

    #[test]
    fn each_error_is_one_line_and_the_systems_is_its_source() {
        let peer = SocketAddr::from(([10, 0, 0, 1], 7));
        for (error, line) in [
            (Error::usage("a command is missing"), "a command is missing"),
            (Error::NoAnswer { peer, seconds: 1.5 }, "no answer from 10.0.0.1:7 within 1.5 s"),
            (Error::ReceiverSilent(peer), "no packet from 10.0.0.1:7 for too long"),
            (Error::SenderSilent, "no packet from the sender for too long"),
            (
                Error::Closed { peer, code: 16, reason: "over".to_owned() },
                "10.0.0.1:7 closed the connection (code 0x10) over",
            ),
            (Error::SendingFailed { peer, code: 16 }, "the connection to 10.0.0.1:7 failed (code 0x10)"),
            (Error::ReceivingFailed(16), "the connection failed (code 0x10)"),
            (Error::Gone(peer), "the receiver at 10.0.0.1:7 is gone"),
            (Error::NothingListens(peer), "nothing listens at 10.0.0.1:7"),
        ] {
            assert_eq!(error.to_string(), line);
            assert!(error.source().is_none());
        }
        let failed = Error::failed("socket", io::Error::from(io::ErrorKind::AddrInUse));
        assert_eq!(failed.to_string(), "socket: address in use");
        let cause = failed.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        assert_eq!(cause.map(io::Error::kind), Some(io::ErrorKind::AddrInUse));
    }
}
