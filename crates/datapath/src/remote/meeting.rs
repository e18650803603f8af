//! Two sides find each other: both speak until they know that they were heard, so that either may be behind a NAT.

use super::port::{Port, wait};
use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Between two greetings.
const SPACING: Duration = Duration::from_millis(50);
/// Greetings after it is known that the other side heard: it has to know too.
const FAREWELLS: u32 = 6;

/// How long a side that only has a guess where the other one is waits to hear it: the guess may lead another way than
/// the one that is to be measured, where a machine has several.
const GUESSES_AFTER: Duration = Duration::from_secs(3);

/// How far a socket has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    /// Something of the peer has come.
    pub(super) peer: bool,
    /// The peer has said that it heard something.
    pub(super) by_peer: bool,
}

/// Greets on all sockets until each was heard by its peer and has heard it, at most for `patience`. Whoever only `guesses`
/// where the peer is first waits to be greeted.
///
/// # Errors
/// What a socket refused.
pub(super) fn meet(
    ports: &mut [Port],
    guesses: bool,
    patience: Duration,
    stop: &dyn Fn() -> bool,
) -> io::Result<Vec<Heard>> {
    let speak_from = Instant::now() + if guesses { GUESSES_AFTER } else { Duration::ZERO };
    let until = Instant::now() + patience;
    let mut heard = vec![Heard::default(); ports.len()];
    let mut left = vec![FAREWELLS; ports.len()];
    let mut next = Instant::now();
    while left.iter().any(|left| *left > 0) && Instant::now() < until && !stop() {
        for (port, heard) in ports.iter_mut().zip(&mut heard) {
            port.receive(|_, _, _| {})?;
            if port.guard.is_heard() && !heard.peer {
                next = Instant::now();
            }
            *heard = Heard { peer: port.guard.is_heard(), by_peer: port.guard.is_reached() };
        }
        if Instant::now() >= next {
            next = Instant::now() + SPACING;
            for ((port, heard), left) in ports.iter_mut().zip(&heard).zip(&mut left) {
                if *left > 0 && (heard.peer || Instant::now() >= speak_from) {
                    port.guard.greet(&port.socket);
                }
                if heard.peer && heard.by_peer {
                    *left = left.saturating_sub(1);
                }
            }
        }
        let sockets: Vec<&UdpSocket> = ports.iter().map(|port| &port.socket).collect();
        wait(&sockets, next.saturating_duration_since(Instant::now()))?;
    }
    Ok(heard)
}
