//! The socket beside those of the flows: over it the sides ask each other for the time, before, during and after a run.

use super::port::Port;
use endpoint::{Clock, Guarded, Kind, monotonic_ns};
use endpoint::{ENVELOPE_BYTES, IP_UDP_BYTES, MAX_DATAGRAM_BYTES, word};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use units::Time;

/// Longest time without a look at what is asked of the thread.
const PATIENCE: Duration = Duration::from_millis(20);

/// A question and its answer: four times, ns, the first and the last of the clock of the side that asked, the others of the
/// one that answered (RFC 5905, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The question left.
    pub asked_ns: u64,
    /// It arrived.
    pub heard_ns: u64,
    /// The answer left.
    pub answered_ns: u64,
    /// It arrived.
    pub returned_ns: u64,
}

/// What a channel's thread shares with who has it.
#[derive(Debug, Default)]
struct Shared {
    /// Between two questions, ns; zero: none are asked.
    interval_ns: AtomicU64,
    ends: AtomicBool,
    asked: AtomicU64,
    /// Whether the scheduler prefers the thread to ordinary programs.
    real_time: AtomicBool,
    exchanges: Mutex<Vec<Exchange>>,
}

/// A channel at work in a thread of its own: it answers, and asks as often as it is told to.
#[derive(Debug)]
pub(super) struct Channel {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<io::Result<Guarded>>>,
}

impl Channel {
    /// Begins to answer.
    ///
    /// # Errors
    /// One line: a thread that cannot be started.
    pub(super) fn start(port: Port) -> Result<Self, String> {
        let shared = Arc::<Shared>::default();
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("channel".to_owned())
            .spawn(move || {
                own.real_time.store(endpoint::be_punctual(endpoint::Urgency::Path), Ordering::Relaxed);
                let done = Worker { port, clock: Clock::starting_at(0), pending: Vec::new() }.run(&own);
                endpoint::be_unhurried();
                done
            })
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// From now on asks so often; not at all with `None`.
    pub(super) fn ask_every(&self, interval: Option<Duration>) {
        let ns = interval.map_or(0, |interval| interval.as_nanos() as u64);
        self.shared.interval_ns.store(ns, Ordering::Relaxed);
    }

    /// Whether the scheduler prefers its thread, and those of a run, to ordinary programs.
    pub(super) fn is_real_time(&self) -> bool {
        self.shared.real_time.load(Ordering::Relaxed)
    }

    /// The exchanges since the last call, and how many questions there were in all.
    pub(super) fn take(&self) -> (Vec<Exchange>, u64) {
        let mut exchanges = self.shared.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut exchanges), self.shared.asked.load(Ordering::Relaxed))
    }

    /// Ends the thread; what was not the peer's.
    ///
    /// # Errors
    /// One line: what the socket refused.
    pub(super) fn end(&mut self) -> Result<Guarded, String> {
        self.shared.ends.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return Ok(Guarded::default()) };
        let ended = thread.join().map_err(|_| "the channel's thread panicked".to_owned())?;
        ended.map_err(|error| format!("channel: {error}"))
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let _ended = self.end();
    }
}

struct Worker {
    port: Port,
    /// Its times are those of [`monotonic_ns`].
    clock: Clock,
    /// Questions without an answer yet: number and when they left.
    pending: Vec<(u64, u64)>,
}

/// Questions that are remembered.
const MOST_PENDING: usize = 4096;

impl Worker {
    fn run(mut self, shared: &Shared) -> io::Result<Guarded> {
        let mut next_ns = 0;
        while !shared.ends.load(Ordering::Relaxed) {
            let interval_ns = shared.interval_ns.load(Ordering::Relaxed);
            let now_ns = monotonic_ns();
            let mut wait = PATIENCE;
            if interval_ns > 0 {
                if now_ns >= next_ns {
                    next_ns = now_ns + interval_ns;
                    shared.asked.fetch_add(1, Ordering::Relaxed);
                    self.ask()?;
                }
                wait = wait.min(Duration::from_nanos(next_ns.saturating_sub(monotonic_ns())));
            }
            self.port.wait(wait)?;
            let exchanges = self.attend()?;
            shared.exchanges.lock().unwrap_or_else(PoisonError::into_inner).extend(exchanges);
        }
        Ok(self.port.guard.guarded())
    }

    fn ask(&mut self) -> io::Result<()> {
        let asked = self.port.send(Kind::Ask, &[0; 2])?;
        if self.pending.len() == MOST_PENDING {
            self.pending.remove(0);
        }
        self.pending.push(asked);
        Ok(())
    }

    /// Answers questions; what was answered to own questions.
    fn attend(&mut self) -> io::Result<Vec<Exchange>> {
        let Self { port, clock, pending } = self;
        let now = Time::from_ns(monotonic_ns());
        let (mut questions, mut exchanges) = (Vec::new(), Vec::new());
        port.receive(|datagram, _, taken| {
            let arrived_ns = datagram.arrived(*clock, now.max(Time::from_ns(monotonic_ns()))).as_ns();
            match taken.kind {
                Kind::Ask => questions.push((taken.number, arrived_ns, word(&padded(&taken.body), 0) as u16)),
                Kind::Answer => {
                    let number = word(&taken.body, 0);
                    if let Some(at) = pending.iter().position(|(asked, _)| *asked == number) {
                        let (_, asked_ns) = pending.remove(at);
                        exchanges.push(Exchange {
                            asked_ns,
                            heard_ns: word(&taken.body, 8),
                            answered_ns: taken.stamp_ns,
                            returned_ns: arrived_ns,
                        });
                    }
                }
                _ => {}
            }
        })?;
        for (number, heard_ns, wanted) in questions {
            let mut body = [number.to_le_bytes(), heard_ns.to_le_bytes()].concat();
            let whole = (usize::from(wanted).min(MAX_DATAGRAM_BYTES))
                .saturating_sub(IP_UDP_BYTES as usize + ENVELOPE_BYTES);
            body.resize(body.len().max(whole), 0);
            port.send(Kind::Answer, &body)?;
        }
        Ok(exchanges)
    }
}

/// The first bytes of a question, of which two count.
fn padded(body: &[u8]) -> [u8; 8] {
    let mut first = [0; 8];
    for (to, from) in first.iter_mut().zip(body.iter().take(2)) {
        *to = *from;
    }
    first
}
