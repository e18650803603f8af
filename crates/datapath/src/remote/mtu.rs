//! How long packets may be, each way: found by sending some (as RFC 8899 does), because routers need not tell.

use super::port::Port;
use endpoint::Kind;
use endpoint::{ENVELOPE_BYTES, IP_UDP_BYTES, word};
use serde::Serialize;
use std::io;
use std::time::{Duration, Instant};

/// What every path has to carry as a whole (RFC 791 asks of hosts to take it).
pub(super) const LEAST: u32 = 576;
/// Sizes that are tried first: those of Ethernet, of what is put around it, and of what is usual below.
const USUAL: [u32; 16] =
    [9000, 4352, 1500, 1492, 1480, 1472, 1460, 1440, 1420, 1400, 1380, 1350, 1280, 1200, 1000, 576];
/// Between two tries; answers to earlier ones count.
const PATIENCE: Duration = Duration::from_millis(300);
/// Each size is tried so often: the longest round trip that is waited for is a little less than all of them.
const TRIES: usize = 5;

/// Largest IP packets that have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct PathMtu {
    pub(super) there: u32,
    pub(super) back: u32,
}

/// Finds them, up to `most`; the other side answers.
///
/// # Errors
/// What the socket refused.
pub(super) fn discover(port: &mut Port, most: u32) -> io::Result<PathMtu> {
    let mut found = [LEAST; 2];
    for (way, found) in found.iter_mut().enumerate() {
        let mut candidates: Vec<u32> = USUAL.into_iter().filter(|size| *size <= most).collect();
        candidates.push(most);
        *found = largest(port, way, &candidates)?.unwrap_or(LEAST);
        let next = candidates.iter().copied().filter(|size| size > found).min();
        if let Some(next) = next {
            // Between what passed and what did not.
            let finer: Vec<u32> = (*found + 4..next).step_by(4).collect();
            *found = largest(port, way, &finer)?.unwrap_or(*found);
        }
    }
    Ok(PathMtu { there: found[0], back: found[1] })
}

/// The largest of `sizes` that passed; `way` 0 is there, 1 back.
fn largest(port: &mut Port, way: usize, sizes: &[u32]) -> io::Result<Option<u32>> {
    let mut best = None;
    let mut asked = Vec::new();
    for _ in 0..TRIES {
        for size in sizes.iter().copied().filter(|size| Some(*size) > best) {
            let short = IP_UDP_BYTES + ENVELOPE_BYTES as u32 + 2;
            let (own, wanted) = if way == 0 { (size, 0) } else { (short, size as u16) };
            let mut body = vec![0; (own - IP_UDP_BYTES) as usize - ENVELOPE_BYTES];
            body[..2].copy_from_slice(&wanted.to_le_bytes());
            let (number, _) = port.send(Kind::Ask, &body)?;
            asked.push((number, size));
        }
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            port.receive(|_, length, taken| {
                if taken.kind == Kind::Answer {
                    let asked = asked.iter().find(|(number, _)| *number == word(&taken.body, 0));
                    let passed = asked.map(|(_, size)| *size);
                    let whole = way == 0 || passed == Some(length as u32 + IP_UDP_BYTES);
                    best = if whole { best.max(passed) } else { best };
                }
            })?;
            if best == sizes.iter().copied().max() {
                return Ok(best);
            }
            port.wait(until.saturating_duration_since(Instant::now()).min(Duration::from_millis(20)))?;
        }
    }
    Ok(best)
}
