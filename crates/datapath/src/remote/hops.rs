//! The routers on the way, as far as they tell: datagrams that may take few hops, over the socket that is used anyway, so
//! that no privilege is needed.

use super::port::Port;
use endpoint::word;
use endpoint::{Kind, keep_refusals, monotonic_ns, set_hops, take_refusal};
use serde::Serialize;
use std::io;
use std::time::{Duration, Instant};

/// Hops that are tried, and how often each.
const MOST: u8 = 24;
const TRIES: usize = 2;
/// The hops that datagrams may take otherwise.
const USUAL: u8 = 64;
/// Between two datagrams: routers answer few at a time.
const SPACING: Duration = Duration::from_millis(5);
/// Time for answers.
const PATIENCE: Duration = Duration::from_millis(500);

/// A router that told of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Hop {
    /// How many hops away, from 1.
    pub(super) hops: u8,
    pub(super) router: String,
    /// Until it was heard, ms.
    pub(super) rtt_ms: f64,
}

/// What tells of itself on the way to the peer, nearest first.
///
/// # Errors
/// What the socket refused.
pub(super) fn trace(port: &mut Port, rtt: Duration) -> io::Result<Vec<Hop>> {
    keep_refusals(&port.socket, true)?;
    let result = tried(port, rtt);
    set_hops(&port.socket, USUAL)?;
    keep_refusals(&port.socket, false)?;
    result
}

fn tried(port: &mut Port, rtt: Duration) -> io::Result<Vec<Hop>> {
    let (mut asked, mut found): (Vec<(u64, u8, u64)>, Vec<Hop>) = (Vec::new(), Vec::new());
    for _ in 0..TRIES {
        let mut reached = MOST;
        for hops in 1..=MOST {
            if hops > reached {
                break;
            }
            set_hops(&port.socket, hops)?;
            let (number, sent_ns) = port.send(Kind::Ask, &[0; 2])?;
            asked.push((number, hops, sent_ns));
            let until = Instant::now() + if hops == MOST { rtt + PATIENCE } else { SPACING };
            while Instant::now() < until {
                collect(port, &asked, &mut found);
                port.receive(|_, _, taken| {
                    let number = word(&taken.body, 0);
                    let arrived =
                        asked.iter().find(|(asked, ..)| taken.kind == Kind::Answer && *asked == number);
                    reached = arrived.map_or(reached, |(_, hops, _)| reached.min(*hops));
                })?;
                port.wait(Duration::from_millis(1))?;
            }
        }
    }
    found.sort_by_key(|hop| hop.hops);
    found.dedup_by_key(|hop| hop.hops);
    Ok(found)
}

fn collect(port: &Port, asked: &[(u64, u8, u64)], found: &mut Vec<Hop>) {
    while let Some(refusal) = take_refusal(&port.socket) {
        let number = word(&refusal.payload, 0) & !(0xff << 56);
        let asked = asked.iter().find(|(known, ..)| *known == number && !refusal.router.is_unspecified());
        if let Some((_, hops, sent_ns)) = asked {
            let rtt_ms = monotonic_ns().saturating_sub(*sent_ns) as f64 / 1e6;
            found.push(Hop { hops: *hops, router: refusal.router.to_string(), rtt_ms });
        }
    }
}
